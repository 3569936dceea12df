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


@pytest.mark.parametrize(
    ("source", "text", "test"),
    [
        ("viewer/window/app.py", "least = max(scheduler.DRAWN_FILLING", "tests/window/test_draw_schedule.py"),
        ("viewer/scene/scene.py", "cached = self._outline", "tests/scene/test_framing.py"),
    ],
)
def test_a_line_of_a_large_module_has_tests_of_its_own(
    source: str, text: str, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That few words of the whole module have to do with."""
    monkeypatch.setattr(nearest, "_catching", dict)
    lines = (ROOT / source).read_text("utf-8").split("\n")
    line = next(number for number, each in enumerate(lines, 1) if text in each)
    assert ROOT / test not in nearest.nearest(ROOT / source, 4)
    assert ROOT / test in nearest.nearest(ROOT / source, 4, line)


def test_functions_and_their_lines(tmp_path: Path) -> None:
    source, shader = tmp_path / "lamp.py", tmp_path / "lamp.glsl"
    source.write_text(
        "def light():\n    return 1\n\n\n"
        "class Lamp:\n    def switch(self):\n        def nested():\n            return 2\n        return nested()\n"
    )
    assert nearest._functions(source) == (("light", 1, 2), ("switch", 6, 9), ("nested", 7, 8))
    shader.write_text(
        "float half_of(float x) {\n    if (x > 0.0) {\n        x *= 0.5;\n    }\n    return x;\n}\n\nvoid none() {}\n"
    )
    assert nearest._functions(shader) == (("half_of", 1, 6), ("none", 8, 8))


def test_what_the_list_says_of_a_file_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    source = ROOT / "shaders/lib/far.glsl"
    before = nearest.nearest(source, 600)
    chosen = before[20]
    monkeypatch.setattr(nearest, "_catching", lambda: {source: {chosen}})
    monkeypatch.setattr(nearest, "CAUGHT", 9.0)
    after = nearest.nearest(source, 600)
    assert after[0] == chosen and sorted(after) == sorted(before)


def test_a_folder_has_those_of_the_folder_that_mirrors_it() -> None:
    own = sorted((ROOT / "tests" / "photons").rglob("test_*.py"))
    chosen = nearest.tests_for(ROOT / "viewer" / "photons")
    assert own and chosen[: len(own)] == own and chosen[len(own) :]  # and others that are near to a file of it
    assert nearest.tests_for(ROOT / "tests" / "photons") == list(nearest.test_files(ROOT / "tests" / "photons"))


def test_a_path_outside_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither a file nor a folder of the project"):
        nearest.tests_for(tmp_path)


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("tools/pages.py", "tests/test_pages.py"),
        ("viewer/film/tonemap.py", "tests/film/test_film.py"),
        ("viewer/scene/builtin/palace.py", "tests/scene/test_builtin.py"),
        ("shaders/photons/redistribute.glsl", "tests/photons/test_sort.py"),  # by the module that names it
        ("shaders/kernels/find_photon.glsl", "tests/kernels/test_estimates_by_value.py"),
        ("viewer/pyrender/viewer.py", "tests/window/test_pyrender_viewer.py"),  # of another folder
    ],
)
def test_sources_whose_tests_lie_elsewhere(source: str, test: str) -> None:
    assert ROOT / test in nearest.nearest(ROOT / source, 4)
