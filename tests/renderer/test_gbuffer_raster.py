"""Features of moving pictures by the rasteriser are those that rays find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import deforming
import numpy as np
import places
import pytest

from raystream import Camera, Renderer
from raystream.film.device_film import Buffer
from raystream.kernels.records import FEATURES
from raystream.renderer.preview.gbuffer import GBuffer, GBufferRaster, GBufferTracer
from raystream.renderer.preview.motion import of_motion
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.raster import ONE_SIDED

SIZE = 96, 72
RED = Material("red", (0.8, 0.1, 0.1, 1.0), kind="lambert", backface_culling=True)
LAMP = Material("lamp", (0.5, 0.5, 0.5, 1.0), emission=(0.0, 2.0, 0.0), double_sided=True)


def terrain(count: int = 40) -> Scene:
    """Waves of 2 count^2 triangles over (-8 .. 8)^2 before a wall that shines, the camera among them."""
    steps = np.linspace(-8, 8, count + 1)
    x, y = np.meshgrid(steps, steps)
    points = np.stack([x, y, 0.5 * np.sin(1.3 * x) * np.cos(1.1 * y)], axis=-1).astype(np.float32)
    quads = np.stack([points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]], axis=2).reshape(-1, 4, 3)
    wall = places.quads([[(-9, 7, -3), (9, 7, -3), (9, 7, 4), (-9, 7, 4)]])
    waves = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    camera = Camera((0.3, -2.0, 0.9), (0.0, 6.0, 0.2), up=(0.0, 0.0, 1.0), fov=60.0)
    return places.scene([places.flat(waves, 0), places.flat(wall, 1)], [RED, LAMP], camera)


def both(device: Any, scene: Any, camera: Camera | None = None, **options: Any) -> tuple[Any, Any, GBufferRaster]:
    """What is drawn, and of blended surfaces cast; what rays find; and what has drawn."""
    # A studio's floor is a surface to a G-buffer: these are about the scenes'.
    options = {"ground": "none", **options}
    renderer = Renderer(scene, device=device, program="path", machine="singlepass", **options)
    camera = camera or renderer.camera
    drawn, cast = Buffer(device, FEATURES, SIZE), Buffer(device, FEATURES, SIZE)
    features = GBufferRaster(device, renderer.prepared, renderer.gpu_scene.resources)
    features.draw(camera, drawn.blocks[0].stream)
    if not renderer.prepared.surfaces.blend:
        drawn.set_samples(1)
    for buffer in (drawn, cast):
        for _ in GBufferTracer(renderer).fill(buffer, 1, camera, 1e9, of_motion(renderer.settings), blended="layers"):
            pass
    return drawn.blocks[0].stream.read(), cast.blocks[0].stream.read(), features


def agree(drawn: Any, cast: Any) -> None:
    """But where edges run within a rasteriser's step of 1 / 256 pixel of a centre, or surfaces touch."""
    other = drawn["triangle"] != cast["triangle"]
    assert other.mean() < 0.005
    padded = np.pad(cast["triangle"], 1, constant_values=-2)
    for row, column in np.argwhere(other):
        assert drawn["triangle"][row, column] in padded[row : row + 3, column : column + 3]
    same = ~other
    for name in ("count", "instance"):
        np.testing.assert_array_equal(drawn[name][same], cast[name][same])
    # Weights of the corners are float32's, of triangles far smaller than their distance from the origin.
    for name in ("normal", "albedo", "emission", "depth", "hits"):
        np.testing.assert_allclose(drawn[name][same], cast[name][same], rtol=1e-3, atol=1e-3)


def test_what_lies_outside_is_left_out(device: Any) -> None:
    drawn, cast, features = both(device, terrain())
    assert (cast["triangle"] < 0).any() and cast["emission"].any()
    assert 0 < features.meshes.drawn < 0.8 * 3202
    agree(drawn, cast)


def test_what_is_near_is_not_cut(device: Any) -> None:
    """The floor reaches from behind the eye to the wall, and the eye is a hair above it."""
    floor = places.quads([[(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)]])
    wall = places.quads([[(-9, 7, -3), (9, 7, -3), (9, 7, 4), (-9, 7, 4)]])
    camera = Camera((0.1, 0.0, 0.001), (0.1, 1.0, -0.2), up=(0.0, 0.0, 1.0), fov=90.0)
    scene = places.scene([places.flat(floor, 0), places.flat(wall, 1)], [LAMP, LAMP], camera)
    drawn, cast, _ = both(device, scene)
    assert cast["depth"][cast["triangle"] >= 0].min() < 0.002 and len(np.unique(cast["triangle"])) == 5
    agree(drawn, cast)


@pytest.mark.parametrize("side", [1, -1])
def test_back_faces_are_culled_as_for_rays(device: Any, side: int) -> None:
    plate = places.quads([[(-9, -9, 0), (9, -9, 0), (9, 8.1, 0), (-9, 8.1, 0)]])
    behind = [places.flat(plate + np.array([0, 0, z], np.float32), 1) for z in (-3.0, 3.0)]
    scene = places.scene(
        [behind[0], places.flat(plate, 0), behind[1]], [RED, LAMP], Camera((0, 0, 2 * side), (0, 0, 0))
    )
    drawn, cast, features = both(device, scene)
    assert [int(mesh.kinds.max()) for mesh in features.meshes.groups.meshes] == [0, ONE_SIDED, 0]
    assert ((cast["albedo"][..., 0] > 0.7).mean() > 0.5) == (side == 1)
    agree(drawn, cast)


def thicket(copies: int = 60) -> Scene:
    """Boxes and balls of few meshes, turned, squeezed and mirrored, some in a material of their own, on a floor."""
    random = np.random.default_rng(7)
    floor = places.quads([[(-9, -9, -1), (9, -9, -1), (9, 9, -1), (-9, 9, -1)]])
    meshes = [places.flat(floor, 1), places.flat(places.box(), 0), places.flat(places.sphere(2), 2)]
    instances = [Instance(0)]
    for number in range(copies):
        turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
        transform = np.eye(4)
        transform[:3, :3] = turn * random.uniform(0.1, 0.5, 3) * (-1) ** (number // 3)
        transform[:3, 3] = random.uniform((-4, 0, -0.8), (4, 8, 2))
        instances.append(Instance(1 + number % 2, transform, 3 * (number % 2) if number % 5 == 0 else None))
    blue = Material("blue", (0.1, 0.2, 0.8, 1.0), kind="lambert", double_sided=True)
    pink = replace(RED, name="pink", base_color=(0.9, 0.5, 0.6, 1.0))
    camera = Camera((0.3, -2.0, 0.9), (0.0, 6.0, 0.2), up=(0.0, 0.0, 1.0), fov=60.0)
    return Scene(meshes, instances, materials=[RED, LAMP, blue, pink], cameras=[camera], name="thicket")


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_instances_are_drawn_from_one_copy_of_their_meshes(device: Any, accel: str) -> None:
    scene = thicket()
    drawn, cast, features = both(device, scene, accel=accel)
    agree(drawn, cast)
    levels = Renderer(scene, device=device, accel=accel).prepared.structure.levels
    found = np.unique(cast["instance" if levels == 2 else "triangle"])
    assert levels == (2 if accel == "two-level-bvh" else 1) and len(found) > 15
    assert len(features.meshes.groups.corners) == 2 + 2 * 12 + 2 * 128  # boxes and balls in two materials each
    assert any(draw.instances > 1 for draw in features.meshes.draws) and any(d.mirrored for d in features.meshes.draws)


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_fronts_stay_in_front_under_mirrors(device: Any, accel: str) -> None:
    """Of a mesh that is seen once; a box open to the eye shows its far sides from within, where fronts are there."""
    meshes = [places.flat(places.box(inwards)[:10], 0) for inwards in (False, True)]  # without the side at the eye
    instances = []
    for number in range(2):
        transform = np.diag([-0.8, 0.8, 0.8, 1.0])
        transform[0, 3] = 2.0 * number - 1.0
        instances.append(Instance(number, transform))
    scene = Scene(meshes, instances, [RED], cameras=[Camera((0.0, 0.0, 6.0), (0.0, 0.0, 0.0), fov=40.0)])
    drawn, cast, features = both(device, scene, accel=accel)
    assert all(draw.mirrored for draw in features.meshes.draws) and 0.05 < cast["hits"].mean() < 0.5
    agree(drawn, cast)


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_what_moves_is_followed_without_other_buffers(device: Any, accel: str) -> None:
    renderer = Renderer(thicket(), device=device, program="path", machine="singlepass", accel=accel)
    before = GBufferRaster(device, renderer.prepared, renderer.gpu_scene.resources)
    quarter = np.array([[0, -0.4, 0, 0], [0.4, 0, 0, 4], [0, 0, 0.4, 0.5], [0, 0, 0, 1]], np.float64)
    turned = [quarter + np.outer((1, 0, 0, 0), (0, 0, 0, x)) for x in (-1.3, 0.0, 1.2)]
    renderer.move({3: turned[0], 4: turned[1], 9: turned[2]})
    buffer = GBuffer(renderer)
    buffer._raster = before
    buffer.window_pixels = 10**4
    assert buffer.chosen(), "at once, though the scene is another one"
    assert (buffer._raster is before) == (accel == "two-level-bvh"), "the same scene at other places"
    assert buffer._raster is not None and buffer._raster.meshes is before.meshes
    drawn, cast = Buffer(device, FEATURES, SIZE), Buffer(device, FEATURES, SIZE)
    buffer.draw(drawn, renderer.camera)
    for _ in GBufferTracer(renderer).fill(cast, 1, renderer.camera, 1e9, of_motion(renderer.settings)):
        pass
    agree(drawn.blocks[0].stream.read(), cast.blocks[0].stream.read())


def holes() -> Scene:
    """Leaves with holes and half-clear panes before a wall."""
    texels = np.full((8, 8, 4), 255, np.uint8)
    texels[..., 3] = np.where(np.add.outer(np.arange(8), np.arange(8)) % 2, 255, 40)
    leaf = Material("leaf", (0.1, 0.7, 0.2, 1.0), kind="lambert", alpha_mode="mask", texture=0, double_sided=True)
    pane = Material("pane", (0.8, 0.8, 0.9, 0.4), kind="lambert", alpha_mode="blend", double_sided=True)
    wall = Material("wall", (0.9, 0.5, 0.1, 1.0), kind="lambert")
    square = places.quads([[(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]])
    meshes = [places.flat(square, number) for number in range(3)]
    for mesh in meshes:
        mesh.uvs = (0.5 + 0.5 * mesh.positions[:, :2]).astype(np.float32)
    instances = []
    for mesh, place in ((0, (-0.8, 0.2, 1.0)), (1, (0.7, 0, 0.5)), (0, (0.5, 0.6, 1.4)), (2, (0, 0, -1))):
        transform = np.diag([3.0, 3.0, 1.0, 1.0]) if mesh == 2 else np.eye(4)
        transform[:3, 3] = place
        instances.append(Instance(mesh, transform))
    textures = [Texture(Image(texels), nearest=True, minification="nearest")]
    materials = [leaf, pane, wall]
    return Scene(meshes, instances, materials=materials, textures=textures, cameras=[places.FRONT], name="holes")


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_what_lets_rays_pass_lets_them_pass(device: Any, accel: str) -> None:
    """By a texture's holes; panes are left to rays."""
    drawn, cast, features = both(device, holes(), accel=accel)
    pane = cast["instance"] == 1 if accel == "two-level-bvh" else np.isin(cast["triangle"], (2, 3))
    assert 0.05 < pane.mean() < 0.5 and cast["hits"].all() and (cast["alike"][pane] < 1).all()
    agree(drawn, cast)
    rest = Buffer(device, FEATURES, SIZE)
    features.draw(places.FRONT, rest.blocks[0].stream)
    np.testing.assert_array_equal(rest.read()["count"] == 0, drawn["alike"] < drawn["hits"])


def test_few_triangles_are_drawn(device: Any) -> None:
    """For the pixels of the window: a box of 38 in one of 38 and more. Nothing is made ready for another one."""
    renderer = Renderer("cornell", device=device, program="path", accel="two-level-bvh")
    features = GBuffer(renderer)
    features.window_pixels = 37
    assert features.ready and not (features.chosen() or features.chosen())
    features.window_pixels = 38
    assert not features.ready
    with device.current():
        features.warm()
    assert features.ready and features.pictures == 0 and features.chosen()
    buffer = Buffer(device, FEATURES, SIZE)
    features.draw(buffer, renderer.camera)
    assert features.pictures == 1 and buffer.samples == 1 and buffer.read()["hits"].mean() > 0.5


def test_a_scene_is_drawn_from_its_second_picture_on(device: Any) -> None:
    """One whose meshes change with every picture is not worth new buffers; where only light is another they stay."""
    renderer = Renderer("cornell", device=device, program="path", machine="singlepass")
    features = GBuffer(renderer)
    features.window_pixels = 100
    assert not features.chosen() and features.chosen()
    made = features._raster
    assert made is not None
    renderer.update(environment="sky")
    assert features.chosen()
    assert features._raster is not made and features._raster.meshes is made.meshes  # type: ignore[union-attr]


def test_every_mesh_is_drawn_in_its_pose(device: Any) -> None:
    """The first one, too: its bounds, and its vertices, as the rays that find it say."""
    base = deforming.scene(*(deforming.skinned_tube(joints=3, influences=2) for _ in range(3)))
    renderer = Renderer(base, device=device, program="path", machine="singlepass", environment="sky")
    buffer = GBuffer(renderer)
    buffer.window_pixels = 1 << 22
    with device.current():
        assert not buffer.chosen() and buffer.chosen()
    renderer.update(deforming.posed(base, 30))
    features, cast = Buffer(device, FEATURES, SIZE), Buffer(device, FEATURES, SIZE)
    with device.current():
        assert buffer.chosen()
        buffer.draw(features, renderer.camera)
    for _ in GBufferTracer(renderer).fill(cast, 1, renderer.camera, 1e9, of_motion(renderer.settings)):
        pass
    with device.current():
        one, other = (each.blocks[0].stream.read() for each in (features, cast))
    for number in range(len(base.instances)):
        there = other["instance"] == number
        assert there.sum() > 20
        same = there & (one["instance"] == number) & (one["triangle"] == other["triangle"])
        assert same.sum() > 0.9 * there.sum()  # but for silhouettes
        assert np.abs(one["depth"] - other["depth"])[same].max() < 1e-3
    buffer.release()
