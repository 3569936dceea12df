"""Cameras: against closed forms, pyrr's matrices and reference hits; what they see, framing, names and turns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.scene.animation import Animation, turntable
from raystream.scene.camera import Camera
from raystream.scene.edits.framed import framed
from raystream.scene.geometry.framing import overview
from raystream.scene.mesh import Mesh
from raystream.scene.projections import Equirectangular, Orthographic
from raystream.scene.scene import Instance, Scene
from tests.scene.unit_square import square

number = st.floats(-1e6, 1e6, allow_nan=False)
vector = st.tuples(number, number, number)


def cameras():
    def make(origin, target, up, fov):
        return Camera(origin, target, up, fov)

    return (
        st.tuples(vector, vector, vector, st.floats(1, 170))
        .filter(lambda c: c[0] != c[1] and any(c[2]))
        .map(lambda c: make(*c))
    )


@settings(max_examples=300, deadline=None)
@given(cameras())
def test_basis_is_orthonormal_right_handed_and_looks_at_the_target(camera: Camera) -> None:
    right, up, forward = basis = np.array(camera.basis())
    # A few float64 roundings; up almost along the view (sine 1e-6) magnifies them by 1e6.
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(np.cross(right, up), -forward, atol=1e-9)
    view = np.subtract(camera.target, camera.origin)
    np.testing.assert_allclose(forward, (view / abs(view).max()) / np.linalg.norm(view / abs(view).max()), atol=1e-12)


@settings(max_examples=300, deadline=None)
@given(cameras())
def test_text_comes_back_exactly(camera: Camera) -> None:
    assert Camera.parse(camera.text(), fov=camera.fov) == camera


@pytest.mark.parametrize("up", [(0, 1, 0), (0, -3, 0), (1e-9, 1, 0)])
@pytest.mark.parametrize("target", [(0, 0, 0), (0, 9, 0)])
def test_up_along_the_view_is_mended(up, target) -> None:
    right, new_up, forward = Camera((0, 5, 0), target, up).basis()
    assert np.isfinite([right, new_up, forward]).all()
    np.testing.assert_array_equal(new_up, [0, 0, -1])  # the top of a map: -Z


def test_rays_in_closed_form() -> None:
    origins, directions = Camera((1, 2, 3), (1, 2, -4), fov=90).rays(4, 2)
    assert origins.shape == directions.shape == (2, 4, 3) and directions.dtype == np.float64
    np.testing.assert_array_equal(origins[1, 3], [1, 2, 3])
    # tan 45 deg = 1, aspect 2: the upper left pixel's centre is at x = -1.5, y = +0.5 on the plane z = -1.
    np.testing.assert_allclose(directions[0, 0], np.array([-1.5, 0.5, -1]) / np.sqrt(3.5), atol=1e-15)
    np.testing.assert_allclose(directions[1, 3], np.array([1.5, -0.5, -1]) / np.sqrt(3.5), atol=1e-15)


@settings(max_examples=100, deadline=None)
@given(cameras(), st.integers(1, 40), st.integers(1, 40))
def test_matrices_send_rays_to_their_pixels(camera: Camera, width: int, height: int) -> None:
    origins, directions = camera.rays(width, height)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=-1), 1, atol=1e-15)
    distance = 3.0 + np.abs(camera.origin).max()
    points = np.concatenate([origins + distance * directions, np.ones((height, width, 1))], axis=-1)
    clip = points @ (camera.projection_matrix(width / height, 0.1, 1e8) @ camera.view_matrix()).T
    screen = clip[..., :2] / clip[..., 3:]
    # The point is as far away as the origin is from zero: cancellation costs a few bits, at the picture's edge a
    # wide field of view (cosine 0.03 across 40:1) magnifies them by 1 / cos^2.
    wide = 1e-9 if camera.fov < 100 and width < 4 * height else 1e-5
    np.testing.assert_allclose(
        screen[..., 0], np.broadcast_to(2 * (np.arange(width) + 0.5) / width - 1, (height, width)), atol=wide
    )
    np.testing.assert_allclose(
        screen[..., 1], np.broadcast_to(1 - 2 * (np.arange(height)[:, None] + 0.5) / height, (height, width)), atol=wide
    )


def test_projection_is_that_of_opengl() -> None:
    matrix = Camera((0, 0, 0), (0, 0, -1), fov=60).projection_matrix(1.5, 0.5, 20)
    for z, depth in ((-0.5, -1.0), (-20.0, 1.0)):
        clip = matrix @ [0, 0, z, 1]
        assert clip[2] / clip[3] == pytest.approx(depth)
    clip = matrix @ [0, np.tan(np.radians(30)) * 7, -7, 1]
    assert clip[1] / clip[3] == pytest.approx(1)


@settings(max_examples=200, deadline=None)
@given(vector, st.tuples(*[st.one_of(st.just(0.0), st.floats(1e-3, 1e3))] * 3), st.floats(5, 150), vector)
def test_framing_sees_the_whole_box(low, size, fov, direction) -> None:
    if not any(direction):
        return
    bounds = np.array([low, np.add(low, size)])
    camera = Camera.framing(bounds, fov, direction)
    right, up, forward = camera.basis()
    corners = np.array([bounds[[i, j, k], [0, 1, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    offset = corners - camera.origin
    depth = offset @ forward
    assert (depth > 0).all()
    extent = np.maximum(np.abs(offset @ right), np.abs(offset @ up)) / depth / np.tan(np.radians(fov) / 2)
    assert extent.max() < 1


@pytest.mark.parametrize(
    "bounds", [np.full((2, 3), 7.0), [[np.inf] * 3, [-np.inf] * 3], [[-1e18] * 3, [1e18] * 3], [[1e18] * 3] * 2]
)
def test_framing_boxes_that_are_none(bounds) -> None:
    camera = Camera.framing(bounds)
    assert np.isfinite(np.array(camera.basis())).all() and camera.origin != camera.target


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "0 points"),
        ("1,2,3", "1 points"),
        ("1,2 4,5,6", "origin '1,2' has 2 numbers"),
        ("1,2,3 4,5,6 0,x,0", "up '0,x,0': 'x' is not a number"),
        ("1,2,nan 4,5,6", "origin 1.0,2.0,nan is not finite"),
        ("1,2,3 1,2,3", "same point"),
        ("1,2,3 4,5,6 0,0,0", "up is zero"),
    ],
)
def test_a_bad_text_says_what_is_wrong(text: str, word: str) -> None:
    with pytest.raises(ViewerError, match=word.replace("(", r"\(")):
        Camera.parse(text)


@pytest.mark.parametrize(
    ("target", "up", "right", "top"),
    [
        ((0, -1, 0), (0, 1, 0), (1, 0, 0), (0, 0, -1)),  # down: away from whom it stands before is up
        ((0, 1, 0), (0, 1, 0), (-1, 0, 0), (0, 0, -1)),
        ((0, 0, -1), (0, 0, 5), (1, 0, 0), (0, 1, 0)),
        ((1, 0, 0), (-3, 0, 0), (0, 0, 1), (0, 1, 0)),
        ((0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 0, 1)),
        ((0, 0, -1), (1, 1, 7), (0.5**0.5, -(0.5**0.5), 0), (0.5**0.5, 0.5**0.5, 0)),
    ],
)
def test_the_top_of_the_picture(target, up, right, top) -> None:
    found = Camera((0, 0, 0), target, up).basis()
    np.testing.assert_allclose(found, (right, top, target), atol=1e-12)
    assert not any(np.signbit(vector[vector == 0]).any() for vector in found)


AHEAD = Camera((0, 0, 0), (0, 0, -1), fov=90)


def cube() -> Mesh:
    """Of side 2, its six sides facing outwards."""
    corners = np.float32([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Mesh(corners, [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])


def box(x: float, y: float, z: float, half: float = 1.0) -> list[list[float]]:
    return [[x - half, y - half, z - half], [x + half, y + half, z + half]]


@pytest.mark.parametrize(
    ("bounds", "seen"),
    [
        (box(0, 0, -10), True),
        (box(0, 0, 10), False),
        (box(0, 0, 0.99), True),  # it is in the box
        (box(0, 0, 1), False),  # that ends where it stands
        (box(0, 11.9, -10), True),  # 45 degrees up: 11 at most at its far side
        (box(0, 12.1, -10), False),
        (box(22.9, 0, -10), True),  # twice as wide
        (box(23.1, 0, -10), False),
        (box(0, 0, -86), True),  # its radius is sqrt(3): at least 0.02 of the distance
        (box(0, 0, -87), False),
        ([[0, 0, -5], [0, 0, -5]], True),
        ([[math.inf] * 3, [-math.inf] * 3], True),
    ],
)
def test_what_a_camera_sees(bounds: list[list[float]], seen: bool) -> None:
    assert AHEAD.sees(bounds) == seen
    # Whichever way it looks.
    turned = Camera((5, 6, 7), (6, 6, 7), fov=90)
    low, high = np.array(bounds, float)
    moved = np.stack([np.array([-low[2], low[1], low[0]]), np.array([-high[2], high[1], high[0]])])
    moved = np.sort(moved, axis=0) if np.isfinite(moved).all() and (low <= high).all() else moved
    assert turned.sees(moved + (5, 6, 7)) == seen


@pytest.mark.parametrize(
    ("bounds", "seen"),
    [
        (box(0, 0, -1e4), True),  # however far
        (box(0, 0, 10), False),
        (box(0, 6.9, -10), True),  # 6 and 1 at most
        (box(0, 7.1, -10), False),
        (box(12.9, 0, -10), True),
        (box(-13.1, 0, -10), False),
        (box(0, 0, -10, 0.0694), True),  # its radius is sqrt(3) times that: at least 0.02 of 6
        (box(0, 0, -10, 0.0692), False),
    ],
)
def test_what_parallel_rays_see(bounds: list[list[float]], seen: bool) -> None:
    assert AHEAD.with_projection(Orthographic(12.0)).sees(bounds) == seen
    assert AHEAD.with_projection(Equirectangular()).sees(bounds)


@pytest.mark.parametrize(
    ("origin", "height", "fault"),
    [
        ((0, 0, 500), 2.5, ""),  # a perspective would show it small
        ((0, 0, 1.5), 2.5, ""),  # or cut it off
        ((0, 0, 5), 8.0, "shows the model at 25 % of the picture's size"),
        ((0, 0, 5), 1.0, "cuts off"),
        ((0, 0, -5), 2.5, "sees nothing"),
    ],
)
def test_parallel_rays_that_show_an_object_badly(origin: Any, height: float, fault: str) -> None:
    camera = Camera(origin, (origin[0], origin[1], origin[2] - 1)).with_projection(Orthographic(height))
    found = framed(Scene([cube()], [Instance(0)], cameras=[camera]))
    assert bool(found.warnings) == bool(fault) and fault in "".join(found.warnings)
    around = camera.with_projection(Equirectangular())
    assert not framed(Scene([cube()], [Instance(0)], cameras=[around])).warnings


def test_scenes_whose_camera_sees_nothing_are_framed() -> None:
    scene = Scene(
        [square()], [Instance(0)], cameras=[replace(AHEAD, name="own", origin=(0, 0, -9), target=(0, 0, -10))]
    )
    found = framed(scene)
    assert found.cameras == scene.cameras and found.own_camera is None and scene.own_camera is scene.cameras[0]
    assert found.warnings == ["scene: camera 'own' sees nothing: the scene is framed (--camera 'own' takes it)"]
    assert found.camera() == replace(scene, cameras=[]).camera() and found.camera("own") is scene.cameras[0]
    right = replace(scene, cameras=[replace(AHEAD, origin=(0.5, 0.5, 1.0), target=(0.5, 0.5, 0.0))])
    assert framed(right) is right
    moving = replace(scene, animations=[Animation("a")])
    none = replace(scene, cameras=[])
    assert framed(moving) is moving and framed(none) is none


@pytest.mark.parametrize(
    ("origin", "target", "fault"),
    [
        ((0, 0, 4), (0, 0, 0), ""),
        ((0, 0, 9), (0, 0, 0), "shows the model at 25 % of the picture's size"),
        ((0, 0, 3), (0, 1.8, 0), "cuts off"),
        ((0, 0, 0), (0, 0, -1), "sees 6 % of the model"),  # within it
        ((0, 0, 1.01), (1, 0, 1), "sees 5 % of the model"),  # beside its front, along it
    ],
)
def test_cameras_that_show_an_object_badly(origin: Any, target: Any, fault: str) -> None:
    """Of a cube of side 2, seen by a field of view of 53 degrees: half of it in the distance."""
    camera = Camera(origin, target, fov=math.degrees(2 * math.atan(0.5)), name="own")
    found = framed(Scene([cube()], [Instance(0)], cameras=[camera]))
    assert found.framed is bool(fault) and len(found.warnings) == bool(fault)
    assert all(f"camera 'own' {fault}" in each for each in found.warnings)


@pytest.mark.parametrize(("half", "fault"), [(1.95, ""), (2.2, "cuts off 8 % of the model")])
def test_cameras_that_cut_the_ends_of_an_object(half: float, fault: str) -> None:
    """Of a beam, by a picture that is 4 wide where it stands."""
    camera = Camera((0, 0, 3.1), (0, 0, 0), fov=math.degrees(2 * math.atan(0.5)), name="own")
    beam = Mesh(cube().positions * np.float32([half, 0.1, 0.1]), cube().triangles)
    found = framed(Scene([beam], [Instance(0)], cameras=[camera]))
    assert found.framed is bool(fault) and fault in "".join(found.warnings)


@pytest.mark.parametrize(("height", "kept"), [(-1.0, True), (0.5, False)])
def test_a_base_may_be_cut(height: float, kept: bool) -> None:
    """As the cloth under a toy: a slab that all else stands on; not one through its middle."""
    place = np.diag([2.5, 0.05, 2.5, 1.0])
    place[1, 3] = height
    camera = Camera((0, 1.0, 5), (0, 0, 0), fov=math.degrees(2 * math.atan(0.35)), name="own")
    scene = Scene([cube()], [Instance(0), Instance(0, place)], cameras=[camera])
    assert framed(scene).framed is not kept


def test_a_camera_in_a_room_may_see_little_of_it() -> None:
    """Of a room, which faces inwards, a camera within sees one wall and is kept; one outside that sees less goes."""
    room = cube()
    room = Mesh(room.positions, room.triangles[:, ::-1])
    near = Camera((0.9, 0.0, 0.0), (1.0, 0.0, 0.0), fov=10.0)
    away = Camera((-9.0, 0.0, 0.0), (-8.0, 0.0, 0.1), fov=1.0)
    scenes = [Scene([room], [Instance(0)], cameras=[each]) for each in (near, away)]
    assert [framed(scene).framed for scene in scenes] == [False, True]


@pytest.mark.parametrize(
    ("field", "value", "right"),
    [
        *((("aperture", value, True)) for value in (0, 1e18, 0.5)),
        *((("aperture", value, False)) for value in (-1e-9, 1.1e18, math.nan, "wide", None)),
        *((("focus", value, True)) for value in (1e-18, 1e18, None)),
        *((("focus", value, False)) for value in (0.9e-18, 1.1e18, math.inf, "far", -1)),
        *((("origin", value, False)) for value in ("abc", (1, 2), (1, 2, 3, 4), (1, 2, None), (math.nan, 0, 0))),
        *((("up", value, False)) for value in ((0, 0, 0), 5)),
        *((("fov", value, False)) for value in (0, 180, math.nan, "wide")),
        ("fov", 179.9, True),
        ("fov", 1e-3, True),
    ],
)
def test_numbers_of_a_camera(field: str, value: Any, right: bool) -> None:
    if right:
        made = replace(AHEAD, **{field: value})
        assert getattr(made, field) == value
    else:
        with pytest.raises(ViewerError):
            replace(AHEAD, **{field: value})


def test_focus_is_the_target_s_distance_unless_given() -> None:
    camera = Camera((1, 2, 3), (1, 5, 7))
    assert camera.focus_distance == 5 and camera.with_lens(focus=2).focus_distance == 2
    assert Camera((0, 0, 0), (1e-20, 0, 0)).focus_distance == 1e-18
    assert Camera((0, 0, 0), (1e20, 0, 0)).focus_distance == 1e18
    lens = camera.with_lens(0.5, 4)
    assert (lens.aperture, lens.focus) == (0.5, 4)
    assert (
        lens.with_lens() == lens and lens.with_lens(aperture=0).focus == 4 and lens.with_lens(focus=1).aperture == 0.5
    )


@pytest.mark.parametrize("aspect", [1e-9, 1e-3, 0.25, 1, 2])
def test_framing_fits_the_narrower_side(aspect: float) -> None:
    camera = Camera.framing([[-1, -1, -1], [1, 1, 1]], 40, (0, 0, 1), aspect=aspect)
    slope = math.tan(math.radians(20)) / 1.1 * min(max(aspect, 1e-3), 1)
    assert camera.origin == pytest.approx((0, 0, 1 + 1 / slope), rel=1e-9) and camera.target == (0, 0, 0)
    assert (camera.fov, camera.name) == (40, "camera")


def test_cameras_of_a_scene_by_name() -> None:
    cameras = [replace(AHEAD, name=name) for name in ("a", "b")]
    scene = Scene([square()], [Instance(0)], cameras=cameras)
    assert scene.camera() is cameras[0] and scene.camera("b") is cameras[1]
    with pytest.raises(ViewerError, match=r"no camera 'c' \(cameras: a, b; or give"):
        scene.camera("c")
    bare = Scene([square()], [Instance(0)])
    assert bare.camera() == overview(bare.silhouette()) and bare.camera(aspect=0.5) != bare.camera()
    with pytest.raises(ViewerError, match="cameras: none"):
        bare.camera("c")


@pytest.mark.parametrize(
    ("share", "origin"),
    [
        (0, (3, 5, 4)),
        (1, (3, 5, 4)),
        (0.25, (5, 5, 0)),
        (0.5, (1, 5, -2)),
        (-0.25, (-1, 5, 2)),
    ],
)
def test_turns_of_the_table(share: float, origin: tuple[float, ...]) -> None:
    """About the middle (2, ., 1), from +Z towards +X: (1, 3) becomes (3, -1), and so on."""
    camera = Camera((3, 5, 4), (2, 0, 1), name="a", aperture=0.5, focus=2)
    found = turntable(camera, [[0, 0, 0], [4, 9, 2]], share)
    assert found.origin == origin and found.target == (2, 0, 1) and found.up == (0, 1, 0)
    assert (found.name, found.aperture, found.focus, found.fov) == ("a", 0.5, 2, 40)
