"""The camera against closed forms, pyrr's matrices and the reference hits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.scene.camera import Camera

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


def test_extreme_coordinates_keep_the_basis_finite() -> None:
    for size in (5e-324, 1e-300, 1e150, 1.7e308):
        basis = np.array(Camera((-size, 0, 0), (size, 0, 0)).basis())
        np.testing.assert_allclose(basis[2], [1, 0, 0])


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
    "bounds",
    [
        np.zeros((2, 3)),
        np.full((2, 3), 7.0),
        [[np.inf] * 3, [-np.inf] * 3],
        [[-1e18] * 3, [1e18] * 3],
        [[1e18] * 3] * 2,
    ],
)
def test_framing_boxes_that_are_none(bounds) -> None:
    camera = Camera.framing(bounds)
    assert np.isfinite(np.array(camera.basis())).all() and camera.origin != camera.target


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "0 points"),
        ("1,2,3", "1 points"),
        ("1,2,3 4,5,6 0,1,0 9,9,9", "4 points"),
        ("1,2 4,5,6", "origin '1,2' has 2 numbers"),
        ("1,2,3 4,5,6,7", "target '4,5,6,7' has 4 numbers"),
        ("1,2,3 4,5,6 0,x,0", "up '0,x,0': 'x' is not a number"),
        ("1,2,nan 4,5,6", "origin 1.0,2.0,nan is not finite"),
        ("1,2,3 4,inf,6", "target 4.0,inf,6.0 is not finite"),
        ("1,2,3 1,2,3", "same point"),
        ("1,2,3 4,5,6 0,0,0", "up is zero"),
    ],
)
def test_a_bad_text_says_what_is_wrong(text: str, word: str) -> None:
    with pytest.raises(ViewerError, match=word.replace("(", r"\(")):
        Camera.parse(text)


@pytest.mark.parametrize("fov", [0, -1, 180, 400, np.nan, np.inf, "wide", None])
def test_fields_of_view_out_of_range(fov) -> None:
    with pytest.raises(ViewerError, match="between 0 and 180"):
        Camera((0, 0, 0), (0, 0, 1), fov=fov)


def test_with_fov_keeps_the_rest() -> None:
    camera = Camera((0, 0, 0), (0, 0, 1), name="a")
    assert camera.with_fov(90) == Camera((0, 0, 0), (0, 0, 1), fov=90, name="a")


def test_rays_hit_what_the_reference_rays_hit(shared_scenes, shared_refs) -> None:
    """The reference distances along our rays end on the reference triangles, of the bunny's own file."""
    reference = json.loads((shared_refs / "primary_bunny_512.json").read_text())["camera"]
    camera = Camera(reference["origin"], reference["target"], reference["up"], reference["fov"])
    with np.load(shared_refs / "primary_bunny_512.npz") as data:
        distance, triangle = data["t"], data["tri"]
    content = (shared_scenes / "bunny.ply").read_bytes()
    head, body = content[: content.index(b"end_header\n")].decode(), content[content.index(b"end_header\n") + 11 :]
    vertices = int(head.split("element vertex ")[1].split()[0])
    faces = int(head.split("element face ")[1].split()[0])
    points = np.frombuffer(body, "<f4", vertices * 3).reshape(-1, 3).astype(np.float64)
    index = np.frombuffer(body[vertices * 12 :], [("n", "u1"), ("i", "<i4", 3)], faces)["i"]
    origins, directions = camera.rays(512, 512)
    hit = triangle >= 0
    assert hit.mean() == pytest.approx(0.4048805236816406)
    corner = points[index[triangle[hit]]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    along = ((corner[:, 0] - origins[hit]) * normal).sum(axis=-1) / (directions[hit] * normal).sum(axis=-1)
    # Embree works in float32; grazing triangles (a few) magnify its rounding.
    assert np.mean(np.abs(along - distance[hit]) < 1e-5 * distance[hit]) > 0.999


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
