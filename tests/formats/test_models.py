"""The real scenes: triangle counts of their table, bounds, cameras, normals."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from documents import SHARED

from raystream.formats import load
from raystream.scene.geometry.quadrics import Quadrics

# What the table counts otherwise: without the extension's instances; without sharing between two equal meshes.
INSTANCED = {"forest_gpuinst.glb": 1_000_192, "SimpleInstancing.glb": 1_500}
SHARED_MESHES = {"TransmissionTest.glb": 128_759}
# The table's bounds leave instances out, take in points and lines, or are of a mesh before its node scales it by 100.
OTHER_BOUNDS = {"forest_gpuinst.glb", "SimpleInstancing.glb", "MeshPrimitiveModes.glb", "AnimatedMorphCube.glb"}


def rows(folder: Path) -> dict[str, tuple[int, int, np.ndarray | None]]:
    """name -> (triangles stored, after instancing, bounds (2, 3) or None where the table has none)."""
    found = {}
    pattern = re.compile(r"\| ([\w.]+\.(?:glb|ply|obj)) \| [\d,]+ \| ([\d, /]+) \| (?:\(([^)]*)\)\.\.\(([^)]*)\)|-) \|")
    for line in (folder / "SOURCES.md").read_text(encoding="utf-8").splitlines():
        match = pattern.match(line)
        if match:
            counts = [int(number.replace(",", "")) for number in match[2].split("/")]
            bounds = np.array([[float(x) for x in match[k].split(",")] for k in (3, 4)]) if match[3] else None
            found[match[1]] = (counts[0], counts[-1], bounds)
    return found


def pytest_generate_tests(metafunc):
    """One test per file where the scenes are there; else one that skips."""
    if "model" in metafunc.fixturenames:
        folder = SHARED / "scenes"
        found = sorted(path.name for path in (folder / "models").glob("*.glb"))
        metafunc.parametrize("model", dict.fromkeys([*rows(folder), *found]) if folder.is_dir() else ["the scenes"])


def test_model(model, shared_scenes):
    path = shared_scenes / model
    scene = load(path if path.exists() else shared_scenes / "models" / model)
    stored, drawn, bounds = rows(shared_scenes).get(model, (None, None, None))  # a model may be new
    if stored is not None:
        polygons = (mesh for mesh in scene.meshes if not isinstance(mesh, Quadrics))
        assert sum(len(mesh.triangles) for mesh in polygons) == SHARED_MESHES.get(model, stored)
        assert scene.triangle_count - scene.quadric_count == INSTANCED.get(model, drawn)
    assert np.isfinite(scene.bounds()).all()
    if bounds is not None and model not in OTHER_BOUNDS:
        # Its bounds are of transformed boxes, so they hold ours; and are written with four digits.
        slack = 1e-3 * np.abs(bounds).max()
        found = scene.bounds()
        assert (found[0] >= bounds[0] - slack).all()
        assert (found[1] <= bounds[1] + slack).all()
        assert (np.ptp(found, axis=0) > 0.9 * np.ptp(bounds, axis=0) - slack).all()
    for mesh in scene.meshes:
        if mesh.normals is not None:
            assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-5)
    for camera in scene.cameras:
        assert 0 < camera.fov < 180


def test_the_three_forests_are_one(shared_scenes):
    """Nodes and gpu instances place the same trees: triangle by triangle, whatever their order."""
    plain, gpu = load(shared_scenes / "forest.glb"), load(shared_scenes / "forest_gpuinst.glb")

    def middles(scene) -> np.ndarray:
        found = np.sort(scene.flatten().corners().mean(axis=1, dtype=np.float64).round(2), axis=0)
        return found

    # float32 rotations against float64 ones, over 100 units
    assert np.allclose(middles(plain), middles(gpu), atol=0.03)


def test_dragon_is_the_files_own_arrays(shared_scenes):
    mesh = load(shared_scenes / "dragon.ply").meshes[0]
    data = (shared_scenes / "dragon.ply").read_bytes()
    at = data.index(b"end_header\n") + 11
    assert np.array_equal(mesh.positions.ravel(), np.frombuffer(data, "<f4", 3 * 437_645, at))
    faces = np.frombuffer(data, [("n", "u1"), ("v", "<i4", 3)], 871_414, at + mesh.positions.nbytes)
    assert np.array_equal(mesh.triangles, faces["v"])
