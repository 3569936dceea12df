"""Whether a mesh is smooth is found out once, and forgotten with the mesh."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from raystream.materials import surface_features
from raystream.scene.mesh import Mesh


def test_a_mesh_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    bent = surface_features._varying_normals
    monkeypatch.setattr(
        surface_features,
        "_varying_normals",
        lambda corners, normals: looks.append(len(corners)) or bent(corners, normals),
    )
    corners = np.float32([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    normals = {False: np.float32([(0, 0, 1)] * 3), True: np.float32([(0, 0, 1), (0.6, 0, 0.8), (0, 0, 1)])}
    for curved, vectors in normals.items():
        mesh = Mesh(corners, np.int32([(0, 1, 2)]), np.zeros(1, np.int32), vectors)
        before, known = len(looks), len(surface_features._smooth_cache)
        assert [surface_features.is_smooth(mesh) for _ in range(3)] == [curved] * 3
        assert len(looks) == before + 1 and len(surface_features._smooth_cache) == known + 1
        del mesh
        gc.collect()
        assert len(surface_features._smooth_cache) == known
