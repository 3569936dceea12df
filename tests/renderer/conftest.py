"""The renderer that tests of pictures share, where a file has none of its own; builds, and a cache of tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pictures import triangles_with_normals

from raystream import Renderer, Scene
from raystream.accel import structures
from raystream.accel.two_level import structure as two_level
from raystream.renderer.device import tuning as tunings


@pytest.fixture(scope="module")
def scene() -> Scene:
    return triangles_with_normals()


@pytest.fixture(scope="module")
def renderer(scene: Scene) -> Renderer:
    """All machines can walk octants, so that they count the same steps."""
    return Renderer(scene, traversal="octants", program="cast")


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the structures that are built."""
    made: list[str] = []

    def noting(name: str, build: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: made.append(name) or build(*given)

    for name, build in list(structures.FLAT.items()):
        monkeypatch.setitem(structures.FLAT, name, noting(name, build))  # type: ignore[arg-type]
    monkeypatch.setattr(two_level, "two_level_structure", noting("two-level", two_level.two_level_structure))
    return made


@pytest.fixture
def tuning_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache without results."""
    monkeypatch.setattr(tunings, "tuning_path", lambda: tmp_path / "devices.json")
    tunings.tuning.cache_clear()
    yield tmp_path
    tunings.tuning.cache_clear()
