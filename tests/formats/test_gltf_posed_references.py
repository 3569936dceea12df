"""Poses beside Cycles' pictures of them: silhouettes, and how light falls on what has no colour of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viewer.formats import load
from viewer.renderer.renderer import Renderer
from viewer.scene.camera import Camera
from viewer.scene.deform.mesh import DeformedMesh
from viewer.scene.material import Material
from viewer.scene.mesh import Mesh
from viewer.scene.scene import Scene

# Of a silhouette at half coverage: a pixel along the edge lowers the intersection over union of the thinnest by this.
AGREE = 0.92
BLOCK, NEAR = 8, 0.05
FINE = 4  # rays along the edge of a pixel
SPP = 64  # of 64 pixels: a block's mean to a percent

QUICK = ["RiggedSimple_0_1.0", "MorphStressTest_1_1.25"]
OTHERS = [
    "AnimatedMorphCube_0_1.0",
    "AnimatedMorphCube_0_2.5",
    "BrainStem_0_1.0",
    "BrainStem_0_5.5",
    "CesiumMilkTruck_0_0.4",
    "InterpolationTest_4_0.5",
    "MorphStressTest_1_0.5",
    "RiggedSimple_0_0.5",
]


def grey(scene: Scene) -> Scene:
    """Everything diffuse, of albedo 0.8, with normals as the reference has them.

    It keeps how far a file's normals lean from the mean of the faces around their vertex, and makes those means anew;
    glTF turns normals by the joints' matrices, which differs by up to 6 % in light where a tube bends.
    """
    materials = [Material(base_color=(0.8, 0.8, 0.8, 1.0)) for _ in scene.materials]
    meshes = [_leaning(each) if isinstance(each, DeformedMesh) else each for each in scene.meshes]
    return scene.with_parts(materials=materials, meshes=meshes)


def _leaning(mesh: DeformedMesh) -> Mesh:
    before, after = (_fans(each.astype(np.float64), mesh.triangles) for each in (mesh.rest.positions, mesh.positions))
    normals = mesh.rest.normals.astype(np.float64)
    # The smallest rotation from one mean to the other (Rodrigues): n + w x n + w x (w x n) / (1 + cosine).
    w, cosine = np.cross(before, after), np.sum(before * after, axis=1, keepdims=True)
    first = np.cross(w, normals)
    turned = normals + first + np.cross(w, first) / np.maximum(1.0 + cosine, 1e-6)
    return Mesh(mesh.positions, mesh.triangles, mesh.materials, turned.astype(np.float32))


def _fans(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(V, 3) unit vectors: the means of the faces around each vertex, weighted by their angles there."""
    total = np.zeros_like(points)
    corners = points[triangles]
    faces = _unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    for k in range(3):
        a, b = (_unit(corners[:, (k + step) % 3] - corners[:, k]) for step in (1, 2))
        angle = np.arccos(np.clip((a * b).sum(axis=1), -1.0, 1.0))
        np.add.at(total, triangles[:, k], faces * angle[:, None])
    return _unit(total)


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(each, marks=pytest.mark.slow) for each in OTHERS)])
def test_poses_are_those_of_the_reference(device: Any, gltf_references: Path, shared_scenes: Path, name: str) -> None:
    about = json.loads((gltf_references / "posed" / f"{name}.json").read_text())
    held = np.load(gltf_references / "posed" / f"{name}.npz")
    mask, size = held["mask"].astype(np.float64), about["size"]
    scene = load(shared_scenes / "models" / about["model"])
    scene.play(about["animation"])
    scene = grey(scene.posed(about["time"]))
    place = about["camera"]
    camera = Camera(place["origin"], place["target"], place["up"], place["fov_vertical"])
    renderer = Renderer(
        scene,
        device=device,
        camera=camera,
        environment=str(gltf_references / "lobes.hdr"),
        machine="singlepass",
        pixel_filter="box",
        depth=9,
    )
    origins, directions = camera.rays(FINE * size, FINE * size)
    hits = renderer.trace(origins.reshape(-1, 3), directions.reshape(-1, 3))
    covered = (hits.instance >= 0).reshape(size, FINE, size, FINE).mean(axis=(1, 3))
    seen, expected = covered > 0.5, mask > 0.5
    assert (seen & expected).sum() > AGREE * (seen | expected).sum()

    whole = _blocks((covered > 0.99) & (mask > 0.99)) == BLOCK * BLOCK
    ours, theirs = (
        _blocks(each.astype(np.float64) @ (0.2126, 0.7152, 0.0722))[whole]
        for each in (renderer.render(size=(size, size), spp=SPP).linear, held["grey"])
    )
    renderer.release()
    off = np.abs(ours / theirs - 1.0)
    assert len(off) >= 10 and np.quantile(off, 0.9) < NEAR and abs(ours.sum() / theirs.sum() - 1.0) < NEAR / 2


def _blocks(picture: np.ndarray) -> np.ndarray:
    """(H / 8, W / 8): sums of blocks of (H, W)."""
    tall, wide = picture.shape
    return picture.reshape(tall // BLOCK, BLOCK, wide // BLOCK, BLOCK).sum(axis=(1, 3))
