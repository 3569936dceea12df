"""Tangents by MikkTSpace: along +u, signed by how the image is shown, smooth where faces share corners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.formats import load
from raystream.scene.geometry.normals import with_tangents
from raystream.scene.mesh import Mesh


def grid(columns: int, rows: int, **more: Any) -> Mesh:
    """A square grid in the plane z = 0 with corners at whole numbers, seen from +z."""
    x, y = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1))
    points = np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3).astype(np.float32)
    low = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    right, up = low + 1, low + columns + 1
    triangles = np.stack([low, right, up + 1, low, up + 1, up], axis=1).reshape(-1, 3)
    return Mesh(points, triangles, normals=np.tile(np.float32([0, 0, 1]), (len(points), 1)), **more)


@pytest.mark.parametrize("uv_set", [0, 1])
@pytest.mark.parametrize(
    ("u", "v", "tangent"),
    [
        ((2, 0), (0, -3), (1, 0, 0, 1)),
        ((2, 0), (0, 3), (1, 0, 0, -1)),
        ((0, 1), (1, 0), (0, 1, 0, 1)),
        ((-1, 0), (0, -1), (-1, 0, 0, -1)),
        ((3, 4), (4, -3), (0.6, 0.8, 0, 1)),
        ((1, 0), (0.5, -1), (0.8**0.5, 0.2**0.5, 0, 1)),
    ],
)
def test_along_u(uv_set, u, v, tangent):
    """The tangent is where u grows and v stays; the sign makes cross(normal, tangent) point along -v."""
    flat = grid(3, 2)
    uvs = (flat.positions[:, :2] @ np.transpose([u, v])).astype(np.float32)
    made = with_tangents(replace(flat, **{"uvs_1" if uv_set else "uvs": uvs}), uv_set)
    assert np.allclose(made.tangents, tangent, atol=1e-6)
    assert with_tangents(made, uv_set) is made
    assert with_tangents(flat, uv_set) is flat


def test_a_mirrored_image_splits_its_seam():
    mesh = grid(4, 2, uvs=None)
    mesh.uvs = np.stack([np.abs(mesh.positions[:, 0] - 2), -mesh.positions[:, 1]], axis=1)
    mesh.colors = np.random.default_rng(0).random((len(mesh.positions), 4), np.float32)
    made = with_tangents(mesh)
    assert len(made.positions) == len(mesh.positions) + 3  # the vertices at x = 2
    for name in ("positions", "normals", "uvs", "colors"):
        assert np.array_equal(getattr(made, name)[made.triangles], getattr(mesh, name)[mesh.triangles])
    right = made.positions[made.triangles][..., 0].mean(axis=1) > 2
    expected = np.where(right[:, None], (1, 0, 0, 1), (-1, 0, 0, -1))
    assert np.allclose(made.tangents[made.triangles], expected[:, None], atol=1e-6)


def test_a_smooth_surface():
    """On a cylinder around y, whose u runs around: the tangent at a vertex is that of the circle."""
    mesh = grid(24, 2)
    angle = mesh.positions[:, 0] / 24 * 2 * np.pi
    mesh.normals = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1).astype(np.float32)
    mesh.uvs = mesh.positions[:, :2] * np.float32([1, -1])
    mesh.positions = mesh.normals + mesh.positions * np.float32([0, 1, 0])
    made = with_tangents(mesh)
    inner = (mesh.uvs[:, 0] > 0) & (mesh.uvs[:, 0] < 24)
    expected = np.stack([np.cos(angle), 0 * angle, -np.sin(angle), 1 + 0 * angle], axis=1)
    assert np.allclose(made.tangents[inner], expected[inner], atol=1e-6)


def test_no_direction():
    """Texture coordinates at one point, a face without area, and a corner that is not finite."""
    mesh = grid(2, 1)
    mesh.uvs = np.zeros((6, 2), np.float32)
    assert not with_tangents(mesh).tangents.any()
    mesh.uvs = mesh.positions[:, :2] * np.float32([1, -1])
    mesh.uvs[[2, 5]] = mesh.uvs[[1, 4]]  # the right half shows a line
    mesh.positions[5] = np.nan
    made = with_tangents(mesh)
    assert np.allclose(made.tangents[[0, 1, 3, 4]], (1, 0, 0, 1)) and len(made.positions) == 6


@pytest.mark.parametrize("name", ["Avocado", "AlphaBlendModeTest"])
def test_those_that_files_bring(name, shared_scenes):
    """Of MikkTSpace; within the rounding of texture coordinates but where the exporter had other faces around."""
    for mesh in load(shared_scenes / "models" / f"{name}.glb").meshes:
        theirs = mesh.tangents[mesh.triangles].reshape(-1, 4)
        made = with_tangents(replace(mesh, tangents=None))
        ours = made.tangents[made.triangles].reshape(-1, 4)
        assert (theirs[:, 3] == ours[:, 3]).mean() > 0.998
        assert np.quantile((theirs[:, :3] * ours[:, :3]).sum(axis=1), 0.01) > 0.998


def test_meshes_without_what_they_need():
    bare = Mesh(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.zeros((0, 3)), uvs=np.zeros((3, 2)))
    assert with_tangents(bare) is bare  # without normals
    normals = np.tile(np.float32([0, 0, 1]), (3, 1))
    made = with_tangents(replace(bare, normals=normals))
    assert made.tangents.shape == (3, 4) and not made.tangents.any()
    assert with_tangents(replace(bare, normals=normals, uvs=None)).tangents is None
