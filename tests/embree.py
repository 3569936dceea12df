"""Embree, the oracle of hits: float32, to some 1e-6 of the distance; tests skip where it is not installed."""

from __future__ import annotations

from typing import Any

import exact
import numpy as np
import pytest
from numpy.typing import NDArray


def embree_scene(corners: NDArray[np.float32], robust: bool = True) -> Any:
    """Embree's scene of triangles (T, 3, 3); its ``run(origins, directions, output=1)`` gives primID, tfar and more.

    robust : edges that two triangles share have no gaps.
    """
    pytest.importorskip("embreex", reason="Embree is the oracle")
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    scene = EmbreeScene(robust=robust)
    TriangleMesh(scene, np.ascontiguousarray(corners))
    return scene


def nearest(scene: Any, origins: NDArray[np.float32], directions: NDArray[np.float32]) -> exact.Exact:
    """The nearest hits of rays (R, 3)."""
    answer = scene.run(origins, directions, output=1)
    return exact.Exact(answer["primID"], np.where(answer["primID"] >= 0, answer["tfar"], np.inf))
