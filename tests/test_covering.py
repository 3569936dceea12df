"""Which tests cover a file: found by imports and names, and run by ``tools/test --for``."""

from __future__ import annotations

from pathlib import Path

import covering

ROOT = Path(__file__).resolve().parents[1]


def names(*paths: str) -> set[str]:
    """The tests of paths, from the project's folder."""
    return {each.relative_to(ROOT).as_posix() for each in covering.tests_for([ROOT / path for path in paths])}


def test_a_module_has_the_tests_that_import_it() -> None:
    found = names("tools/pages.py")
    assert found == {"tests/test_pages.py"}
    assert "tests/film/test_film.py" in names("viewer/film/tonemap.py")


def test_a_folder_has_those_of_the_folder_that_mirrors_it() -> None:
    own = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "photons").rglob("test_*.py")}
    found = names("viewer/photons")
    assert own and own <= found
    assert found - own  # and others that import from it


def test_a_shader_has_those_of_shaders_that_include_it() -> None:
    """`moving_box.glsl` is named by no module; shaders of `accel` include it."""
    own = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "accel").rglob("test_*.py")}
    assert own and own <= names("shaders/lib/moving_box.glsl")


def test_no_source_without_an_answer() -> None:
    folders = {"viewer": "*.py", "shaders": "*.glsl", "tools": "*.py"}
    files = [path for folder, kind in folders.items() for path in (ROOT / folder).rglob(kind)]
    assert len(files) > 1000
    assert [path.relative_to(ROOT).as_posix() for path in files if not covering.tests_for([path])] == []
