"""Large meshes of glTF without normals: a flat one of 5 million triangles took 3.8 GiB, three vertices for each; one of
6 million had more than can be addressed, and was refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import Document

import raystream
from raystream.formats.gltf import meshes
from raystream.materials import surface_features
from raystream.scene.quadric import Quadric


def test_large_flat_meshes_share_their_vertices(device: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Their normals are 0, which shaders take for those of the faces: the picture is the same but for rounding."""
    sphere = Quadric.sphere().tessellated(12)
    doc = Document()
    doc.mesh({"POSITION": doc.accessor(sphere.positions)}, doc.accessor(sphere.triangles.astype(np.uint16).ravel()))
    path = doc.write(tmp_path)
    plain = raystream.load(path)
    monkeypatch.setattr(meshes, "_MIN_SHARED", 10)
    shared = raystream.load(path)
    (before,), (mesh,) = plain.meshes, shared.meshes
    assert len(before.positions) > len(mesh.positions) == len(sphere.positions)
    assert mesh.normals is not None and not mesh.normals.any()
    np.testing.assert_array_equal(mesh.positions[mesh.triangles], before.positions[before.triangles])
    with monkeypatch.context() as patch:
        patch.setattr(surface_features, "_varying_normals", None)  # not looked at
        assert not surface_features.has_smooth_meshes(shared)
    pictures = []
    for scene in (plain, shared):
        pictures.append(raystream.render(scene, size=(32, 24), spp=1, accel="bvh").linear)
        pictures.append(raystream.render(scene, size=(32, 24), spp=1, accel="two-level-bvh").linear)
    assert np.ptp(pictures[0]) > 0.1
    for one, other in ((0, 2), (1, 3)):
        # A sum of three equal unit normals is off by their rounding; a path goes on from there.
        np.testing.assert_allclose(pictures[other], pictures[one], rtol=1e-3, atol=1e-5)
    exported = pytest.importorskip("trimesh") and shared.to_trimesh()
    (geometry,) = exported.geometry.values()
    assert np.isfinite(geometry.vertex_normals).all() and geometry.vertex_normals.any(axis=1).all()
