"""The ray caster on real scenes: against Embree and float64, and the same bits from every machine."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import exact
import numpy as np
import pytest
from embree import embree_scene, nearest

import raystream
from raystream import Camera, Renderer, Scene
from raystream.renderer.sampling.sampler import FramePlan, TileDone

LARGEST_EXCLUDED = 1e-4  # share of rays that may pass an edge too near to tell


class Judged(NamedTuple):
    """A scene with its renderer, its corners (T, 3, 3) and Embree's answer to rays (R, 3)."""

    scene: Scene
    renderer: Renderer
    corners: np.ndarray
    embree: Any

    def check(self, origins: np.ndarray, directions: np.ndarray, triangle: np.ndarray, t: np.ndarray) -> None:
        other = nearest(self.embree, origins, directions)
        exact.assert_right(self.corners, origins, directions, triangle, t, other, LARGEST_EXCLUDED)


@pytest.fixture(scope="module", params=[pytest.param("forest", marks=pytest.mark.slow), "teapotahedron"])
def judged(request: pytest.FixtureRequest) -> Iterator[Judged]:
    """Built-in scenes; tests/accel/test_structures.py asks Embree about files, a forest among them."""
    name = request.param
    scene = raystream.load(name)
    renderer = Renderer(scene, program="cast")
    corners = renderer.prepared.triangles.corners()
    yield Judged(scene, renderer, corners, embree_scene(corners))
    renderer.gpu_scene.resources.release()


def test_primary_rays(judged: Judged) -> None:
    size = (256, 256)
    picture = judged.renderer.render(size, layers=("triangle", "depth"))
    origins, directions = (a.reshape(-1, 3).astype(np.float32) for a in judged.renderer.camera.rays(*size))
    triangle, depth = picture.layers["triangle"].ravel(), picture.layers["depth"].ravel()
    judged.check(origins, directions, triangle, depth)


@pytest.mark.parametrize("start", ["inside", "outside"])
def test_random_rays(judged: Judged, start: str) -> None:
    count = 100_000
    rng = np.random.default_rng(["inside", "outside"].index(start))
    low, high = judged.scene.bounds()
    if start == "inside":
        origins = rng.uniform(low, high, (count, 3))
    else:  # anywhere in a box three times as wide, but not in the scene's own
        origins = rng.uniform(low - (high - low), high + (high - low), (3 * count, 3))
        origins = origins[((origins < low) | (origins > high)).any(axis=1)][:count]
    origins = origins.astype(np.float32)
    directions = rng.uniform(low, high, origins.shape) - origins
    directions = (directions / np.linalg.norm(directions, axis=1, keepdims=True)).astype(np.float32)
    hits = judged.renderer.trace(origins, directions)
    judged.check(origins, directions, hits.triangle, hits.distance)


@pytest.mark.parametrize(
    "name", ["primary_bunny_512", pytest.param("primary_forest_flat_path_512", marks=pytest.mark.slow)]
)
def test_reference_hits(name: str, request: pytest.FixtureRequest) -> None:
    scenes, refs = (request.getfixturevalue(f) for f in ("shared_scenes", "shared_refs"))
    about = json.loads((refs / f"{name}.json").read_text())
    mesh = scenes / about["mesh"]
    scene = raystream.load(mesh if mesh.is_file() else request.getfixturevalue("flat_forest"))
    view = about["camera"]
    camera = Camera(tuple(view["origin"]), tuple(view["target"]), tuple(view["up"]), fov=view["fov"])
    size = (about["size"], about["size"])
    renderer = Renderer(scene, camera=camera, program="cast")
    picture = renderer.render(size, layers=("triangle", "depth"))
    with np.load(refs / f"{name}.npz") as held:
        other = exact.Exact(held["tri"].ravel(), np.where(held["tri"] >= 0, held["t"], np.inf).ravel())
    origins, directions = (a.reshape(-1, 3).astype(np.float32) for a in camera.rays(*size))
    triangle, depth = picture.layers["triangle"].ravel(), picture.layers["depth"].ravel()
    verdict = exact.judge(renderer.prepared.triangles.corners(), origins, directions, triangle, depth, other)
    share = len(verdict.near_edge) / triangle.size
    print(f"{name}: {share:.1e} of rays too near an edge; {(triangle != other.triangle).mean():.1e} differ")
    assert not len(verdict.wrong) and share < LARGEST_EXCLUDED
    same = (triangle == other.triangle) & (triangle >= 0)
    # both are float32, and the renderer's rays are rounded once more than the reference's
    assert np.percentile(np.abs(depth[same] - other.t[same]) / other.t[same], 99.9) < 2e-6


# --- the same bits


SIZE = (80, 64)
POLICIES, MASKS = ("sweep", "naive", "threshold", "most-work"), ("depth", "stencil", "kill", "tiles", "none")
UNROLLS = {"bunny": (1, (4, 2), "auto"), "stadium": ((16, 2048), "auto")}  # 57,000 triangles are in one of its voxels


def machines(scene: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(barrier, choices): every policy with every unroll, every mask with every fusion, in place and copying."""
    masks, barriers = cycle(MASKS), cycle(("auto", "off"))
    for policy in POLICIES:
        for unroll in UNROLLS[scene]:
            yield next(barriers), {"fuse": "none", "policy": policy, "unroll": unroll, "mask": next(masks)}
        if len(UNROLLS[scene]) % 2 == 0:
            next(barriers)
    for barrier in ("auto", "off"):
        for mask in MASKS:
            yield barrier, {"fuse": "ray", "policy": "sweep", "mask": mask}
            yield barrier, {"fuse": "none", "policy": "sweep", "mask": mask}
        yield barrier, {"fuse": "ray", "policy": "naive"}


def results(renderer: Renderer, **choices: Any) -> dict[str, np.ndarray]:
    """The streams that a picture leaves, as they are."""
    renderer.update(**choices)
    (part,) = [
        event.tile
        for event in renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, SIZE))
        if isinstance(event, TileDone)
    ]
    with renderer.device.current():
        return {name: part.machine.read(name) for name in ("hit", "radiance")}


@pytest.fixture(scope="module", params=["bunny", "stadium"])
def scene_of_machines(request: pytest.FixtureRequest) -> Scene:
    if request.param == "bunny":
        return raystream.load(request.getfixturevalue("shared_scenes") / "bunny.ply")
    return raystream.load("stadium")


@pytest.mark.parametrize(
    ("accel", "intersection"),
    [("auto", "watertight"), ("auto", "moller-trumbore"), ("octree", "watertight"), ("octree", "planes")],
)
def test_every_machine_gives_the_same_bits(scene_of_machines: Scene, accel: str, intersection: str) -> None:
    """In the stadium llvmpipe cuts long loops short, which the machines have to mend (`Machine._retry`)."""
    options: dict[str, Any] = {"accel": accel, "intersection": intersection, "program": "cast"}
    renderers = {b: Renderer(scene_of_machines, barrier=b, **options) for b in ("auto", "off")}
    assert renderers["off"].device.texture_barrier is None
    single = results(renderers["auto"], machine="singlepass")
    hit = single["hit"]["triangle"] >= 0
    assert hit.mean() > 0.02 and np.isfinite(single["radiance"]["rgb"]).all()
    every = list(machines("stadium" if "stadium" in scene_of_machines.name else "bunny"))
    policies = {choices["policy"]: (barrier, choices) for barrier, choices in reversed(every[: -4 * len(MASKS) - 2])}
    assert set(policies) == set(POLICIES)
    some = every if (accel, intersection) == ("auto", "watertight") else [*policies.values(), *every[1::6]]
    for barrier, choices in some:
        other = results(renderers[barrier], machine="multipass", **choices)
        for name, array in single.items():
            assert array.tobytes() == other[name].tobytes(), (name, barrier, choices)


# --- what a ray costs


@pytest.fixture
def walk_oracle(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The grid builder's float64 walk, under the one name that its compiled code is kept by."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "accel")
    return importlib.import_module("oracle").walk_oracle


def test_steps_and_tests_are_those_of_a_float64_walk(scene_of_machines: Scene, walk_oracle: Any) -> None:
    renderer = Renderer(scene_of_machines, machine="singlepass", accel="grid", program="cast")
    size = (160, 160)
    layers = renderer.render(size, layers=("steps", "tests", "triangle")).layers
    origins, directions = (a.reshape(-1, 3).astype(np.float32) for a in renderer.camera.rays(*size))
    traversal = walk_oracle(
        renderer.prepared.structure.built, renderer.prepared.triangles.corners(), origins, directions
    )
    steps, tests = layers["steps"].ravel(), layers["tests"].ravel()
    differ = (steps != traversal.steps) | (tests != traversal.tests)
    print(f"{scene_of_machines.name}: {differ.mean():.1e} of rays walk otherwise in float32")
    # A ray that passes a voxel's edge within the rounding of its distance, 1e-7 of some 100 voxels, may go round the
    # other side of it; with a hundred edges passed that is about one ray in a thousand.
    assert differ.mean() < 2e-3
    assert (np.abs(steps - traversal.steps) > 2).mean() < 1e-3
    assert steps.max() > 50 and tests.max() > 10
    for choices in ({"fuse": "ray"}, {"fuse": "none"}, {"fuse": "none", "policy": "threshold", "unroll": (8, 1024)}):
        renderer.update(machine="multipass", **choices)
        other = renderer.render(size, layers=("steps", "tests", "triangle")).layers
        assert all(np.array_equal(layers[name], other[name]) for name in layers), choices
