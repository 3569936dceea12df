"""Grids of more than 2^24 voxels were refused, the published forest's 581 x 128 x 581 among them, though a voxel is
addressed by three whole numbers and not by one float."""

from __future__ import annotations

import meshes
import numpy as np
import pytest

from raystream import Renderer
from raystream.scene.builtin import forest

BOX = np.array([2040.0, 132.0, 64.0])  # at 64 voxels along the shortest side 17,233,920, over 2^24 = 16,777,216


@pytest.fixture(scope="module")
def corners() -> np.ndarray:
    rng = np.random.default_rng(4)
    middles = rng.uniform(0.02, 0.98, (300, 1, 3)) * BOX
    middles[150:, :, 2] = rng.uniform(62, 63.5, (150, 1))  # in the last layers of voxels, beyond the 2^24th
    corners = middles + rng.uniform(-12, 12, (300, 3, 3)) * [1, 1, 0.1]
    low, high = [[0, 0, 0], [1, 0, 0], [0, 0, 1]], [BOX, BOX - [1, 0, 0], BOX - [0, 0, 1]]  # so that it is that box
    return np.concatenate([np.clip(corners, 0, BOX), [low, high]])


@pytest.mark.parametrize("memory", ["auto", "texture"])  # a buffer texture; a 3-D one
def test_hits_are_those_of_a_tree(device, corners: np.ndarray, memory: str) -> None:
    scene = meshes.scene(corners.astype(np.float32))
    rng = np.random.default_rng(5)
    origins = rng.uniform(-0.1, 1.1, (2000, 3)) * BOX
    aims = corners[rng.integers(0, 300, 2000)].mean(axis=1)
    options = {"program": "cast", "machine": "singlepass", "memory": memory}
    grid = Renderer(scene, accel="grid", grid=64, **options)
    nx, ny, nz = grid.prepared.structure.built.resolution
    assert nx * ny * nz > 1 << 24 and nz == 64
    found = grid.trace(origins, aims - origins)
    assert (found.triangle >= 0).mean() > 0.9 and (found.triangle >= 150).any()
    for mine, other in zip(found, Renderer(scene, accel="bvh", **options).trace(origins, aims - origins), strict=True):
        assert np.array_equal(mine, other)
    grid.release()


@pytest.mark.slow
def test_the_forest_at_its_published_grid() -> None:
    scene = forest.build()
    grid = Renderer(scene, program="cast", machine="singlepass", accel="grid", grid=128)
    assert grid.prepared.structure.facts["grid"] == "581x128x581"
    tree = Renderer(scene, program="cast", machine="singlepass", accel="bvh")
    for camera in scene.cameras:
        rays = [part.reshape(-1, 3) for part in camera.rays(96, 96)]
        found, expected = grid.trace(*rays), tree.trace(*rays)
        assert (found.triangle >= 0).mean() > 0.5
        for mine, other in zip(found, expected, strict=True):
            assert np.array_equal(mine, other)
