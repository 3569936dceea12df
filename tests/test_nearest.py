"""The test files that a drawn fault is run against: those whose words are likest to its source's."""

from __future__ import annotations

from pathlib import Path

import mutate
import nearest
import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_a_test_of_a_listed_fault_is_mostly_among_the_nearest_four(monkeypatch: pytest.MonkeyPatch) -> None:
    """By words and names alone, without what the list says: 0.71 of all faults in shaders, 0.83 of those in modules."""
    monkeypatch.setattr(nearest, "_catching", dict)
    caught: dict[str, list[bool]] = {".glsl": [], ".py": []}
    for fault in mutate.faults()[::3]:
        path = ROOT / fault.file
        if fault.file.startswith(("viewer/", "shaders/")) and path.suffix in caught:
            files = {ROOT / test.split("::")[0] for test in fault.tests}
            line = fault.line(path.read_text("utf-8"))
            caught[path.suffix].append(not files.isdisjoint(nearest.nearest(path, 4, line)))
    assert sum(caught[".glsl"]) > 0.65 * len(caught[".glsl"]) > 30
    assert sum(caught[".py"]) > 0.78 * len(caught[".py"]) > 100
