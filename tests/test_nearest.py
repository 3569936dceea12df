"""The test files that a drawn fault is run against: those whose words are likest to its source's."""

from __future__ import annotations

from pathlib import Path

import mutate
import nearest
import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_a_test_of_a_listed_fault_is_mostly_among_the_nearest_four(monkeypatch: pytest.MonkeyPatch) -> None:
    """By words and names alone, without what the list says: 0.71 of all faults in shaders, 0.80 of those in modules."""
    monkeypatch.setattr(nearest, "_catching", dict)
    caught: dict[str, list[bool]] = {".glsl": [], ".py": []}
    for fault in mutate.faults()[::3]:
        path = ROOT / fault.file
        if fault.file.startswith(("viewer/", "shaders/")) and path.suffix in caught:
            files = {ROOT / test.split("::")[0] for test in fault.tests}
            caught[path.suffix].append(not files.isdisjoint(nearest.nearest(path, 4)))
    assert sum(caught[".glsl"]) > 0.6 * len(caught[".glsl"]) > 30
    assert sum(caught[".py"]) > 0.7 * len(caught[".py"]) > 100


def test_what_the_list_says_of_a_file_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    source = ROOT / "shaders/lib/far.glsl"
    before = nearest.nearest(source, 600)
    chosen = before[20]
    monkeypatch.setattr(nearest, "_catching", lambda: {source: {chosen}})
    monkeypatch.setattr(nearest, "CAUGHT", 9.0)
    after = nearest.nearest(source, 600)
    assert after[0] == chosen and sorted(after) == sorted(before)


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("shaders/photons/redistribute.glsl", "tests/photons/test_sort.py"),  # by the module that names it
        ("shaders/kernels/find_photon.glsl", "tests/kernels/test_estimates_by_value.py"),
        ("viewer/pyrender/viewer.py", "tests/window/test_pyrender_viewer.py"),  # of another folder
    ],
)
def test_sources_whose_tests_lie_elsewhere(source: str, test: str) -> None:
    assert ROOT / test in nearest.nearest(ROOT / source, 4)
