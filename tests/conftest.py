"""Shared fixtures: the scene data (skipped with a clear word where absent) and one headless OpenGL context."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

SHARED = Path(os.environ.get("RAYSTREAM_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"scene data not found: {folder} (set RAYSTREAM_SHARED to the folder that holds {name}/)")
    return folder


@pytest.fixture(scope="session")
def shared_scenes() -> Path:
    """The folder of common scenes: bunny.ply, dragon.ply, forest.glb, models/, broken/."""
    return _folder("scenes")


@pytest.fixture(scope="session")
def shared_refs() -> Path:
    """The folder of reference hits and pictures with standard errors."""
    return _folder("refs")


@pytest.fixture(autouse=True)
def _strict_numpy():
    """NumPy raises on invalid arithmetic (0/0, inf - inf) in every test; code that means it says so with errstate."""
    with np.errstate(invalid="raise", divide="raise"):
        yield
