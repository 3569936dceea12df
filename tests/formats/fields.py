"""Shared by the tests of files of the field: the files, and pictures of scenes in a white furnace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import places
import pytest
from documents import SHARED

from raystream.scene.scene import Scene


def field(name: str) -> Path:
    """A file of the field; skips where the scene data are absent."""
    path = SHARED / "field" / name
    if not path.exists():
        pytest.skip("no scene data: field")
    return path


def picture(scene: Scene, device: Any, spp: int = 16, **options: Any) -> np.ndarray:
    """(24, 24, 3): the scene in a white furnace, as its own camera sees it."""
    return places.picture(scene, (24, 24), spp, device=device, environment=(1, 1, 1), **options).linear
