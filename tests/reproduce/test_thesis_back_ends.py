"""The thesis's back ends on its own structure: one picture, by the processor, by OpenCL and by fragment programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reproduction.simulators.whitted.back_ends import Emulation, NoOpenClError, OpenCl, Processor, device
from reproduction.simulators.whitted.model import SETTINGS, Traced, build

from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.scene import builtin
from raystream.scene.camera import Camera
from raystream.scene.hierarchy import compose
from raystream.scene.material import ClassicMaterial, Material
from raystream.scene.scene import Instance, Scene

SKY, SIZE, DEPTH = (0.5, 0.7, 1.0), (40, 40), 3
# float32, in another order of operations: where rounding decides which side of an edge or of the critical angle a ray
# meets, pictures differ by more, in a few pixels.
MEDIAN, ALIKE, SHARE = 1e-5, 1e-3, 0.98
KINDS = {
    "glass": {},
    "channels that part": {"indices": (1.35, 1.5, 1.65)},
    "a sheet": {"thickness": 0.3},
    "a slab whose channels part": {"thickness": 0.3, "thickness_model": "slab", "indices": (1.35, 1.5, 1.65)},
}


def sphere(**fields: object) -> Scene:
    """The thesis's, its glass with other fields, its texture without mip levels."""
    scene = builtin.build("sphere")
    glass = scene.materials[0]
    assert glass.classic is not None
    own = replace(glass, classic=replace(glass.classic, **fields))  # type: ignore[arg-type]
    textures = [replace(each, minification="linear") for each in scene.textures]
    return replace(scene, materials=[own, *scene.materials[1:]], textures=textures)


def machine(scene: Scene, camera: Camera) -> np.ndarray:
    """The picture by a single pass of fragment programs."""
    renderer = Renderer(
        scene,
        program="whitted",
        machine="singlepass",
        depth=DEPTH,
        environment=",".join(map(str, SKY)),
        pixel_filter="point",
        **SETTINGS,
    )
    renderer.update(camera=camera)
    picture = renderer.render(SIZE, spp=1).linear.copy()
    renderer.release()
    return picture


def assert_alike(one: np.ndarray, other: np.ndarray) -> None:
    apart = np.abs(one - other).max(axis=2)
    assert np.median(apart) < MEDIAN and (apart < ALIKE).mean() > SHARE, (np.median(apart), (apart < ALIKE).mean())


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_same_picture(device: object, kind: str) -> None:
    scene = sphere(**KINDS[kind])
    camera, traced = scene.camera(), Traced.of(scene, SKY, DEPTH)
    recursive = Processor(traced).render(camera, SIZE)
    assert_alike(recursive.pixels, machine(scene, camera))
    if kind == "glass":
        serial = Emulation(traced).render(camera, SIZE)
        assert_alike(recursive.pixels, serial.pixels)
        assert recursive.intersections == serial.intersections > 3 * SIZE[0] * SIZE[1]


@pytest.mark.parametrize("kind", list(KINDS))
def test_opencl_draws_it_too(kind: str) -> None:
    try:
        device()
    except NoOpenClError as error:
        pytest.skip(f"nothing to run OpenCL C on: {error}")
    traced = Traced.of(sphere(**KINDS[kind]), SKY, DEPTH)
    recursive, parallel = (end(traced).render(traced.scene.camera(), SIZE) for end in (Processor, OpenCl))
    assert_alike(recursive.pixels, parallel.pixels)
    assert abs(parallel.intersections / recursive.intersections - 1) < 0.01


def test_instances_that_are_turned_mirrored_and_moved(device: object) -> None:
    rng, count = np.random.default_rng(4), 12
    scale = rng.uniform(0.3, 0.8, (count, 3)) * np.where(np.arange(count) % 3 == 0, -1, 1)[:, None]
    maps = compose(rng.uniform(-2.5, 2.5, (count, 3)), rng.normal(size=(count, 4)), scale)
    glass = ClassicMaterial(bias=0.1, scale=0.9, reflectivity=0.6, transmittance=0.5)
    scene = builtin.build("sphere")
    materials = [Material(each.name, kind="classic", classic=glass) for each in scene.materials]
    scene = replace(scene, materials=materials, instances=[Instance(0, each) for each in maps])
    low, high = scene.bounds()
    middle = (low + high) / 2
    camera = Camera(tuple(map(float, middle + [0.0, 0.0, 1.2 * (high - low).max()])), tuple(map(float, middle)), fov=50)
    found = Processor(Traced.of(scene, SKY, DEPTH)).render(camera, SIZE)
    assert 1.3 * SIZE[0] * SIZE[1] < found.intersections
    # Uneven scales: normals of small triangles, and rays along edges, differ more often.
    apart = np.abs(found.pixels - machine(scene, camera)).max(axis=2)
    assert np.median(apart) < MEDIAN and (apart < 0.02).mean() > 0.95, (np.median(apart), (apart < 0.02).mean())


def test_one_primitive_in_a_leaf_and_escape_indices() -> None:
    model = build(builtin.build("sphere"))
    leaf = model.links[:, 2] > 0
    assert set(model.links[leaf, 2].tolist()) == {1} and len(model.numbers) == leaf.sum() == 10_000
    after = np.arange(1, len(leaf) + 1)
    assert (model.links[:, 0] >= after).all() and (model.links[leaf, 0] >= after[leaf]).all()
    assert model.top_links.tolist() == [[3, -1], [2, model.top_links[1, 1]], [3, model.top_links[2, 1]]]
    assert set(model.top_links[1:, 1].tolist()) == {0, 1}
    several = build(builtin.build("sphere"), {**SETTINGS, "build": "sah"})
    assert several.links[:, 2].max() > 1


def test_other_materials_are_refused() -> None:
    with pytest.raises(ViewerError, match="is not a classic one"):
        Traced.of(builtin.build("cornell"))
