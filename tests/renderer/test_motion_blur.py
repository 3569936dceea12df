"""Motion blur against means in closed form and of pictures that stand still; of moments and frames."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import places
import pytest
from motion import (
    HALF,
    MOST,
    OPTIONS,
    SHINING,
    SIZE,
    VIEW,
    animated,
    assert_alike,
    following,
    morphing,
    passing,
    quaternion,
    rendered,
    sliding,
    square,
    stills,
    swept,
    turning,
)

import raystream
from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.cli import main as cli
from raystream.film.files import image
from raystream.renderer.sequence import render_frames
from raystream.scene.animation import turntable
from raystream.scene.builtin.parts import shapes as parts
from raystream.scene.camera import Camera
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.exposure import exposed, key_count
from raystream.scene.hierarchy import Deformer, Skin, compose
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Instance
from raystream.scene.projections import Fisheye
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.gl.device import Device

STRUCTURES = ("two-level-bvh", "two-level-grid", "bvh", "grid", "none")
MACHINES = (
    {"machine": "singlepass"},
    {"machine": "multipass", "fuse": "none"},
    {"machine": "multipass", "fuse": "ray"},
    {"machine": "multipass", "fuse": "surface"},
)


def assert_swept(picture) -> None:
    """The sliding square, in every row that it covers whole; of chance alone by its own binomial."""
    mean, _ = picture
    expected, spp = swept(), 256
    unit = 2 * 5.0 * np.tan(np.radians(15.0)) / SIZE[1]
    rows = slice(int(np.ceil(SIZE[1] / 2 - HALF / unit)), int(SIZE[1] / 2 + HALF / unit))
    error = MOST * np.sqrt(expected * (1 - expected) / spp) + 1e-6  # of independent samples; they are better
    assert (np.abs(mean[rows] - expected) <= error).all()
    assert 0.2 < expected.max() < 1 and mean[: rows.start - 1].max() == mean[rows.stop + 1 :].max() == 0


@pytest.mark.parametrize("accel", STRUCTURES)
def test_a_square_that_slides(device, accel):
    assert_swept(rendered(exposed(sliding(), 0.0, 1.0), 256, accel=accel))


def test_a_camera_that_passes_sees_the_same_as_one_that_is_passed(device):
    scene = exposed(passing(), 0.0, 1.0)
    assert scene.cameras[0].motion and key_count(scene) == 1
    assert_swept(rendered(scene, 256))
    moved, passed = rendered(exposed(sliding(), 0.0, 1.0), 256)[0], rendered(scene, 256)[0]
    assert np.abs(moved - passed).max() <= 2 / 256 + 1e-6


def test_a_camera_of_another_projection_passes(device):
    """As what it passes moves, which its own motion does not."""

    def of(made):
        cameras = [each.with_projection(Fisheye(60.0)) for each in made.cameras]
        return rendered(exposed(replace(made, cameras=cameras), 0.0, 1.0), 256)[0]

    moved, passed = of(sliding()), of(passing())
    assert moved.max() > 0 and np.abs(moved - passed).max() <= 2 / 256 + 1e-6


@pytest.mark.parametrize("accel", STRUCTURES)
def test_a_mesh_that_deforms(device, accel):
    assert_swept(rendered(morphing(), 256, accel=accel))


@pytest.mark.parametrize("accel", ["two-level-bvh", "bvh"])
def test_a_mesh_that_follows_joints(device, accel):
    blurred = exposed(following(), 0.0, 1.0)
    assert key_count(blurred) == 2 and blurred.instances[0].motion is None
    assert_swept(rendered(blurred, 256, accel=accel))


def test_planes_do_not_move(device):
    with pytest.raises(ViewerError, match="takes no triangles that move"):
        Renderer(morphing(), **{**OPTIONS, "intersection": "planes"})


@pytest.mark.parametrize("accel", ["two-level-bvh", "bvh"])
def test_a_fan_is_the_mean_of_stills(device, accel):
    """Half a turn, at so many keys that arcs are chords: against 96 moments; they miss its edges by a half of what the
    tip sweeps in each, 0.9 pi / 96 / 2 of a unit, which is at most that share of a pixel's time."""
    blurred = exposed(turning(), 0.0, 1.0)
    assert 17 <= key_count(blurred) <= 33
    assert_alike(rendered(blurred, 256, accel=accel), turned(), bias=1.5 / 96)


@cache
def turned() -> tuple[np.ndarray, np.ndarray]:
    """Of 96 moments."""
    return stills(turning(), 96, 16)


@pytest.mark.parametrize("options", MACHINES[1:], ids=["none", "ray", "surface"])
@pytest.mark.parametrize("program", ["path", "whitted", "shadow", "photon"])
def test_every_machine_makes_the_same_bits(device, program, options):
    """A lamp that moves over a floor, a mirror that tilts and glass that deforms; photons, gathers and shadow rays."""
    one = of_single_pass(program)
    assert one.max() > 0 and np.array_equal(one, of_lamp_and_mirror(program, **options))


@cache
def of_single_pass(program: str) -> np.ndarray:
    """Rendered once for all machines."""
    return of_lamp_and_mirror(program, **MACHINES[0])


def of_lamp_and_mirror(program: str, **options: Any) -> np.ndarray:
    blurred = lamp_and_mirror()
    shared = {"depth": 2, "program": program, "camera": blurred.cameras[0]}
    if program == "photon":
        shared |= {"photons": 2000, "final_gather": 2}
    return rendered(blurred, 2, **shared, **options)[0]


def lamp_and_mirror() -> Scene:
    scene = exposed(lamp_over_floor(), 0.0, 1.0, 3)
    flat = scene.instances[0].transform
    mirror = np.stack([lifted(0.3, -0.8) @ compose([[0, 0, 0]], [quaternion(turn)], [[1, 1, 1]])[0] for turn in TILTS])
    glass = morphing().meshes[0]
    scene.meshes += [square(0.7), glass]
    scene.materials += [Material(kind="mirror"), Material(kind="dielectric", ior=1.5)]
    scene.instances += [Instance(2, mirror[0] @ flat, 2, motion=mirror @ flat), Instance(3, lifted(0.4, 0.2) @ flat, 3)]
    return scene


TILTS = (0.0, 0.05, 0.1)


def lifted(height: float, along: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = along, height, 0.5
    return matrix


def lamp_over_floor(kind: str = "area") -> Scene:
    """A lamp that moves over a floor, which the camera looks down on."""
    turned = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]])  # +Z is up
    lamp = square()
    lamp.triangles = lamp.triangles[:, ::-1].copy()
    lamp.normals = -lamp.normals
    scene = Scene(
        [square(2.0), lamp],
        [Instance(0, turned, 0), Instance(1, turned, 1)],
        [Material(base_color=(0.8, 0.8, 0.8, 1.0)), Material(emission=(5.0, 5.0, 5.0))],
        [Camera((0.0, 6.0, 0.01), (0.0, 0.0, 0.0), fov=40.0)],
    )
    way = [[-1.5, 1.5, 0.0], [1.5, 1.5, 0.0]]
    if kind == "area":
        return animated(scene, "translation", way, instance_nodes=[-1, 0])
    del scene.instances[1]
    scene.lights = [Light(kind, "lamp", intensity=(3.0, 3.0, 3.0), outer=0.9)]
    return animated(scene, "translation", way, instance_nodes=[-1], light_nodes=[0])


LIT = {
    "power": {"light_sampler": "power"},
    "tree": {"light_sampler": "tree"},
    "candidates": {"light_candidates": 4},
    "lights": {"strategy": "lights"},
    "bsdf": {"strategy": "bsdf"},
    "shadow": {"program": "shadow"},
    "whitted": {"program": "whitted"},
}


@pytest.mark.parametrize("name", LIT)
def test_light_of_a_lamp_that_moves(device, name):
    """Sampled where it is at the path's time, whichever way light is found."""
    scene = lamp_over_floor()
    options = {"depth": 1, "sampler": "independent", "camera": scene.cameras[0], **LIT[name]}
    blurred = rendered(exposed(scene, 0.0, 1.0), 64, **options)
    still = stills(scene, 16, 16, **options)
    floor = (slice(20, 28), slice(4, 28))  # beside the lamp's way
    one, other = (means[floor].mean() for means, _ in (blurred, still))
    error = np.sqrt(sum(variance[floor].sum() for _, variance in (blurred, still))) / blurred[0][floor].size
    assert abs(one - other) <= MOST * error + 0.01 * other  # 16 moments of the way, of which light is a smooth function
    assert other > 0.02


@pytest.mark.parametrize("kind", ["point", "spot"])
def test_lights_without_extent_move(device, kind):
    scene = lamp_over_floor(kind)
    if kind == "spot":
        scene.hierarchy = replace(scene.hierarchy, rotation=np.array([[-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]]))
    options = {"depth": 1, "sampler": "independent"}
    blurred, still = rendered(exposed(scene, 0.0, 1.0), 256, **options), stills(scene, 32, 8, **options)
    assert_alike(blurred, still, bias=0.02)  # the light is a smooth function of time, a spot's edge aside
    assert still[0].max() > 0.1


@pytest.mark.parametrize("program", ["path", "shadow", "whitted"])
def test_shadows_of_what_moves_are_blurred(device, program):
    """A board slides between a lamp and the floor."""
    scene = lamp_over_floor()
    scene.materials[1] = Material(base_color=(0.0, 0.0, 0.0, 1.0))
    scene.lights = [Light("point", "lamp", (0.0, 3.0, 0.0), intensity=(3.0, 3.0, 3.0))]
    options = {"depth": 1, "sampler": "independent", "program": program}
    blurred, still = rendered(exposed(scene, 0.0, 1.0), 256, **options), stills(scene, 64, 4, **options)
    assert_alike(blurred, still, bias=1.5 / 64 * still[0].max())  # of 64 moments an edge is off by a half
    lit = rendered(scene.posed(1.0), 4, **options)[0]
    assert np.abs(lit - still[0]).max() > 0.3 * still[0].max()


def test_a_ball_that_moves(device):
    """A quadric under two levels; flat structures refuse it."""
    scene = Scene([Quadric.sphere((0, 0, 0), HALF)], [Instance(0)], [SHINING], [VIEW])
    animated(scene, "translation", [[0, 0, 0], [1, 0, 0]], instance_nodes=[0])
    assert_alike(rendered(exposed(scene, 0.0, 1.0), 256), stills(scene, 64, 16), bias=1.5 / 64)
    with pytest.raises(ViewerError, match="a quadric that moves"):
        Renderer(exposed(scene, 0.0, 1.0), **OPTIONS, accel="bvh")


@pytest.mark.parametrize("accel", ["two-level-bvh", "bvh"])
def test_a_square_that_grows_and_leans(device, accel):
    """By a map whose determinant changes on its way, and whose inverse is not linear."""
    blurred = exposed(growing(), 0.0, 1.0)
    assert key_count(blurred) == 2
    assert_alike(rendered(blurred, 256, accel=accel), grown(), bias=1.5 / 64)


def growing() -> Scene:
    scene = Scene([square()], [Instance(0)], [SHINING], [VIEW])
    animated(scene, "scale", [[0.5, 0.5, 0.5], [2, 1, 3]], instance_nodes=[0])
    leaning = np.array([[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    scene.hierarchy = replace(scene.hierarchy, offsets=leaning[None])
    return scene


@cache
def grown() -> tuple[np.ndarray, np.ndarray]:
    """Of 64 moments."""
    return stills(growing(), 64, 16)


WHITE = Material(base_color=(1, 1, 1, 1))
FURNACE = {"environment": (1, 1, 1), "depth": 8, "roulette": "never", "strategy": "bsdf"}


def test_surfaces_that_move_hide_none_of_their_own_light(device):
    """A white furnace: rays leave a ball that turns and slides, scaled unevenly, as they leave one that stands still;
    inverses are found in float32."""
    keys = compose([[0, 0, 0], [1, 0, 0]], [quaternion(0.0), quaternion(0.02)], [[1, 0.2, 1]] * 2)
    ball = parts.sphere(24, 24).mesh("ball")
    mean, _ = rendered(Scene([ball], [Instance(0, keys[0], motion=keys)], [WHITE], [VIEW]), 16, **FURNACE)
    assert np.abs(mean - 1).max() < 1e-5  # rounding of a product for each of 8 surfaces


@pytest.mark.parametrize("accel", ["two-level-bvh", "bvh"])
def test_surfaces_that_deform_hide_none_of_their_own_light(device, accel):
    """The same of a ball that becomes flatter as it slides: a point's corners are those of its time."""
    ball = parts.sphere(24, 24).mesh("ball")
    target = MorphTarget(positions=ball.positions * np.float32([0, -0.5, 0]) + np.float32([1, 0, 0]))
    still = np.zeros((len(ball.positions), 0))
    deformation = Deformation(still.astype(np.int32), still.astype(np.float32), (target,))
    poses = tuple(MeshPose(weights=np.array([weight])) for weight in (0.0, 0.5, 1.0))
    scene = Scene([DeformedMesh(ball, deformation, poses[0], poses)], [Instance(0)], [WHITE], [VIEW])
    mean, _ = rendered(scene, 16, accel=accel, **FURNACE)
    assert np.abs(mean - 1).max() < 1e-5


@pytest.mark.parametrize("deforms", [False, True], ids=["turns", "deforms"])
def test_tangents_turn_with_their_surface(device, deforms):
    """A normal map that leans along the tangent, under a light from one side: a flat structure keeps tangents at the
    keys, an instance turns them; as vertices follow a joint, too."""
    board = square(1.5)
    board.uvs = np.float32([[0, 0], [1, 0], [1, 1], [0, 1]])
    board.tangents = np.float32([[1, 0, 0, 1]] * 4)
    leaning = Texture(Image(np.full((1, 1, 4), [235, 128, 192, 255], np.uint8)), content="normal")
    board_material = Material("board", kind="principled", roughness=1.0, normal_texture=0)
    lights = [Light("directional", "sun", direction=(-1, 0, -0.5), intensity=(2, 2, 2))]
    scene = Scene([board], [Instance(0)], [board_material], [VIEW], lights, textures=[leaning])
    turns = [quaternion(each) for each in (0.0, 0.125, 0.25)]
    if deforms:
        joints, weights = np.zeros((4, 1), np.int32), np.ones((4, 1), np.float32)
        scene.meshes = [DeformedMesh(board, Deformation(joints, weights), MeshPose(joints=np.eye(4)[None]))]
    animated(scene, "rotation", turns, instance_nodes=[-1 if deforms else 0])
    if deforms:
        skin = Skin(np.zeros(1, np.int64), np.eye(4)[None])
        scene.hierarchy = replace(scene.hierarchy, deformers=(Deformer(0, 0, skin),))
    blurred, options = exposed(scene, 0.0, 1.0), {"depth": 1, "environment": "none"}
    flat, two = (rendered(blurred, 64, accel=accel, **options) for accel in ("bvh", "two-level-bvh"))
    still = stills(scene, 16, 8, **options)
    for one in (flat, two):
        inner = slice(8, 24)  # the board covers it all the time; 16 moments of a smooth function
        assert np.abs(one[0] - still[0])[inner, inner].max() < 0.03 * still[0].max()
    alone = rendered(scene.posed(0.0), 4, **options)[0]
    assert np.abs(alone - still[0])[8:24, 8:24].min() > 0.1 * still[0].max()


def test_an_instance_that_becomes_flat(device):
    """No inverse takes rays to its space: it moves as triangles of the world."""
    scene = Scene([square()], [Instance(0)], [SHINING], [VIEW])
    animated(scene, "scale", [[1, 1, 1], [0, 1, 1]], instance_nodes=[0])
    blurred = exposed(scene, 0.0, 1.0)
    assert_alike(rendered(blurred, 256), stills(scene, 64, 16), bias=1.5 / 64)


def test_pictures_tell_of_motion_and_go_on_with_the_same_alone(device, tmp_path):
    file = str(tmp_path / "slide.exr")
    for scene, other in (
        (exposed(sliding(), 0.0, 1.0), exposed(sliding(), 0.0, 0.5)),
        (exposed(passing(), 0.0, 1.0), exposed(passing(), 0.0, 0.5)),
    ):
        whole, half, wrong = (Renderer(each, **OPTIONS) for each in (scene, scene, other))
        part = half.render(SIZE, spp=4)
        assert part.metadata["motion keys"] == "2"
        part.save(file)
        assert np.array_equal(half.render(SIZE, spp=8, resume=file).linear, whole.render(SIZE, spp=8).linear)
        with pytest.raises(ViewerError, match=r"another scene|camera motion"):
            wrong.render(SIZE, spp=8, resume=file)


@pytest.mark.parametrize("accel", ["two-level-bvh", "bvh"])
def test_later_frames_compile_nothing(device, accel, monkeypatch):
    """Their keys take the places of the first one's."""
    scene, compiled, program = sliding(), [], Device.program
    shown = {"size": SIZE, "spp": 4}
    frames = render_frames(scene, range(3), fps=4, shutter=(0, 1), render=shown, **OPTIONS, accel=accel)
    first = next(frames)
    monkeypatch.setattr(Device, "program", lambda *a, **k: compiled.append(a) or program(*a, **k))
    later = list(frames)
    assert not compiled
    for k, frame in enumerate(later, 1):
        other = places.picture(exposed(scene, k / 4, (k + 1) / 4), **shown, **OPTIONS, accel=accel)
        assert np.array_equal(frame.picture.linear, other.linear)
    assert not np.array_equal(first.picture.linear, later[0].picture.linear)


def test_the_turntable_blurs(device):
    """A quarter of the turn in each of four frames: against stills along the first of them."""
    scene = Scene([square(0.3)], [Instance(0, np.array([[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))])
    scene.materials = [Material(emission=(1.0, 1.0, 1.0), double_sided=True)]
    scene.cameras = [VIEW]
    shown = {"size": SIZE, "spp": 256}
    (first,) = (
        frame.picture
        for frame in render_frames(scene, range(4), turntable=True, shutter=(0, 0.5), render=shown, **OPTIONS)
        if frame.number == 0
    )
    bounds = scene.bounds(ground=False)
    renderer, means, noise = Renderer(scene, **OPTIONS), [], []
    for k in range(48):
        renderer.update(camera=turntable(VIEW, bounds, (k + 0.5) / 48 / 8), seed=k)
        film = renderer.render(SIZE, spp=8).film
        means.append(film.mean().mean(axis=-1, dtype=np.float64))
        noise.append(film.variance().astype(np.float64))
    film = first.film
    blurred = film.mean().mean(axis=-1, dtype=np.float64), film.variance().astype(np.float64)
    assert_alike(blurred, (np.mean(means, axis=0), np.sum(noise, axis=0) / 48**2), bias=1.5 / 48)


def test_the_command_exposes_a_moment_and_frames(device, tmp_path):
    """As Python does."""
    common = ["--size", "24", "--spp", "2", "--fps", "2", "--shutter", "0,0.5", "--quiet"]
    moment, frames = str(tmp_path / "moment.exr"), str(tmp_path / "f%d.exr")
    assert cli.main(["render", "balls", "--moment", "1", "-o", moment, *common]) == 0
    assert cli.main(["render", "balls", "--frames", "2-3", "-o", frames, *common]) == 0
    one, two, three = (read_exr(each) for each in (moment, str(tmp_path / "f2.exr"), str(tmp_path / "f3.exr")))
    expected = raystream.render("balls", moment=1.0, shutter=(0, 0.5), fps=2, size=24, spp=2).linear
    assert np.array_equal(one, expected) and np.array_equal(one, two)
    assert not np.array_equal(two, three)


def read_exr(path: str) -> np.ndarray:
    _, channels = image.read_exr(path, list("RGB"))
    return np.stack([channels[name] for name in "RGB"], axis=-1)


def test_a_program_without_samples_shows_the_first_moment(device):
    scene = sliding()
    one, other = (Renderer(each, program="cast") for each in (exposed(scene, 0.25, 1.0), scene.posed(0.25)))
    assert np.array_equal(one.render(SIZE).linear, other.render(SIZE).linear)
    assert any("the moment at which the shutter opens" in note for note in one.notes) and not other.notes


def test_first_hits_fall_back_to_rays(device):
    renderer = Renderer(
        exposed(sliding(), 0.0, 1.0), **{**OPTIONS, "accel": "bvh"}, first_hits="raster", offsets="sample"
    )
    assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == "rays"
    assert any("the shutter is open for a while; first hits are found by rays" in note for note in renderer.notes)
    shared = Renderer(exposed(sliding(), 0.0, 1.0), **OPTIONS, eye_rays="shared")
    assert shared.gpu_scene.first_hits(shared.settings, shared.camera).mode == "rays" and any(
        "shutter" in note for note in shared.notes
    )


def test_what_is_wrong_is_told_in_a_line(device):
    scene = sliding()
    for shutter, words in (
        ("0,1.5", "two numbers from 0 to 1"),
        ("0.5,0.2", "closes at 0.2, before it opens"),
        ("1", "two"),
    ):
        with pytest.raises(ViewerError, match=words):
            raystream.render(scene, moment=0.0, shutter=shutter, size=SIZE, spp=1)
    for keys in (1, 34, "few"):
        with pytest.raises(ViewerError, match="auto or a whole number from 2 to 33"):
            raystream.render(scene, moment=0.0, shutter=(0, 1), motion_keys=keys, size=SIZE, spp=1)
    with pytest.raises(ViewerError, match="closes at"):
        exposed(scene, 1.0, 0.5)
