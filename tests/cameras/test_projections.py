"""Projections and lenses: the shaders against their float64 forms, places against directions, and what is no camera."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from glsl_call import Function

from raystream.base.errors import ViewerError
from raystream.cameras.lens import (
    FILTER_RADIUS,
    FILTER_SIGMA,
    FILTERS,
    filter_offsets,
    lens_rays,
    lens_uniforms,
    projected,
    thin_lens,
)
from raystream.scene.camera import Camera
from raystream.scene.projections import (
    NO_LIMIT,
    Equirectangular,
    Fisheye,
    Intrinsics,
    Orthographic,
    brown_conrady,
    opencv_fisheye,
)
from raystream.stream.declare.kernel import Module
from raystream.stream.gl.device import Device

SAMPLE = "void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction)"
CENTRE = "void camera_ray(ivec2 pixel, out vec3 origin, out vec3 direction)"
BASE = Camera((1, 2, 3), (0.5, -1, -4), (0.1, 1, 0), fov=50)
MEASURED = {"fx": 410.0, "fy": 395.0, "cx": 330.5, "cy": 228.25, "size": (640, 480)}
BARREL = (-0.31, 0.12, 1.2e-3, -8e-4, -0.02)
RATIONAL = (0.21, -0.05, 5e-4, 3e-4, 0.01, 0.4, 0.02, 0.003)
MODELS = {
    "orthographic": Orthographic(3.5),
    "equirectangular": Equirectangular(),
    "equidistant": Fisheye(180.0),
    "all around": Fisheye(360.0),
    "equisolid": Fisheye(250.0, equisolid=True),
    "matrix": Intrinsics(**MEASURED, skew=3.0),
    "barrel": Intrinsics(**MEASURED, distortion=BARREL),
    "rational": Intrinsics(**MEASURED, distortion=RATIONAL),
    "pincushion": Intrinsics(**MEASURED, distortion=(0.25, 0.06, 0.0, 0.0)),
    "measured fisheye": Intrinsics(**MEASURED, distortion=(0.05, -0.01, 0.003, -0.001), fisheye=True),
}
CAMERAS = {name: replace(BASE, projection=model) for name, model in MODELS.items()}
CAMERAS |= {
    f"pair of {name}": replace(CAMERAS[name], eyes=0.3) for name in ("orthographic", "equirectangular", "barrel")
}
CAMERAS["pair"] = replace(BASE, eyes=0.3)


def module(camera: Camera, size: tuple[int, int], pixel_filter: str = "box") -> Module:
    made = projected(camera.kind)
    values = lens_uniforms(camera, size, pixel_filter)
    return replace(made, uniforms={name: (made.uniforms[name][0], value) for name, value in values.items()})


def samples(count: int, size: tuple[int, int], seed: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    film, lens = (rng.integers(0, 1 << 24, (count, 2)) / (1 << 24) for _ in range(2))
    return rng.integers(0, size, (count, 2)), film, lens


@pytest.mark.parametrize("size", [(64, 40), (30, 44)])
@pytest.mark.parametrize("name", CAMERAS)
def test_rays_are_the_twin_s(device: Device, name: str, size: tuple[int, int]) -> None:
    """Directions within a few roundings of float32; what is seen by one is by the other, but for the very edge."""
    camera = CAMERAS[name]
    given = samples(3000, size)
    origin, direction = Function(device, SAMPLE, modules=[module(camera, size)])(*given)
    origins, directions = lens_rays(camera, size, *given, "box")
    seen = np.isfinite(directions).all(axis=1)
    told = (direction != 0).any(axis=1)
    assert (seen != told).mean() < 2e-3 and told.any()
    both = seen & told
    np.testing.assert_allclose(direction[both], directions[both], atol=4e-6)
    np.testing.assert_allclose(origin[both], origins[both], atol=3e-6)
    np.testing.assert_allclose(np.linalg.norm(direction[told], axis=1), 1, atol=3e-7)
    assert name not in ("equidistant", "equisolid", "all around") or 0.2 < told.mean() < 0.85


@pytest.mark.parametrize("name", CAMERAS)
def test_centres_are_seen_by_both_functions_alike(device: Device, name: str) -> None:
    """`camera_ray`, `camera_sample` in the middle, and `Camera.rays`."""
    size, camera = (34, 20), CAMERAS[name]
    pixels = np.stack(np.meshgrid(np.arange(34), np.arange(20)), -1).reshape(-1, 2)
    made, half = module(camera, size), np.full((len(pixels), 2), 0.5)
    sampled = Function(device, SAMPLE, modules=[made])(pixels, half, half)
    centred = Function(device, CENTRE, modules=[made])(pixels)
    # Of an eye beside the camera a compiler adds the three terms in either order. Below 4 a float32 sum is off by 2^-23
    # at most: two of them in each function, and as much for all products, which are below 1/4.
    np.testing.assert_allclose(sampled[0], centred[0], rtol=0, atol=5 * 2.0**-23 if camera.eyes else 0)
    np.testing.assert_array_equal(sampled[1], centred[1])
    origins, directions = (part.reshape(-1, 3) for part in camera.rays(*size))
    seen = np.isfinite(directions).all(axis=1) & (sampled[1] != 0).any(axis=1)
    np.testing.assert_allclose(sampled[1][seen], directions[seen], atol=4e-6)
    np.testing.assert_allclose(sampled[0][seen], origins[seen], atol=3e-6)


@pytest.mark.parametrize("name", CAMERAS)
def test_points_are_projected_where_their_rays_came_from(name: str) -> None:
    """Round trips in float64, at any distance; of a pair by the eye that has the place's half."""
    size, camera = (64, 40), CAMERAS[name]
    film = np.random.default_rng(5).uniform(0, size, (2000, 2))
    origins, directions = camera.unproject(film, size)
    seen = np.isfinite(directions).all(axis=1)
    assert seen.mean() > 0.3
    distance = np.random.default_rng(6).uniform(2.0, 9.0, (2000, 1))
    points = origins + distance * directions
    left = film[:, 0] < size[0] / 2
    for eye, own in ((-1, left), (1, ~left)) if camera.eyes else ((-1, np.ones(2000, bool)),):
        found = camera.project(points[seen & own], size, eye)
        np.testing.assert_allclose(found, film[seen & own], atol=2e-6)


@pytest.mark.parametrize("name", MODELS)
def test_cones_are_as_wide_as_pixels(device: Device, name: str) -> None:
    """The spread times a distance is at most the distance of the next rays beside it, and half of that at least where a
    projection is not squeezed; a camera's `pixel` is that of its middle."""
    size, camera = (200, 150), CAMERAS[name]
    made = module(camera, size, "point")
    pixels = np.array([[100, 75], [97, 70], [104, 78]])
    origin, direction = Function(device, CENTRE, modules=[made])(pixels)
    _, beside = Function(device, CENTRE, modules=[made])(pixels + [0, 1])
    (spread,) = Function(device, "float camera_spread(vec3 direction)", modules=[made])(direction)
    (width,) = Function(device, "float camera_pixel(vec3 point)", modules=[made])(origin + 5 * direction)
    if name == "orthographic":
        assert not spread.any()
        np.testing.assert_allclose(width, 3.5 / 150, rtol=1e-5)
        assert camera.pixel(150) == pytest.approx(3.5 / 150)
        return
    angle = np.linalg.norm(np.cross(direction, beside), axis=1)
    np.testing.assert_allclose(spread, angle, rtol=0.12)
    np.testing.assert_allclose(width, 5 * camera.pixel(150), rtol=1e-4)
    np.testing.assert_allclose(width, 5 * angle, rtol=0.12)


def test_parallel_rays_through_a_lens_meet_in_the_plane_of_focus(device: Device) -> None:
    """And those of a matrix; all around there is no such plane, and no lens."""
    count = 300
    _, _, lens = samples(count, (20, 20))
    pixels, film = np.full((count, 2), 7), np.tile([0.2, 0.9], (count, 1))
    for name in ("orthographic", "barrel"):
        camera = CAMERAS[name].with_lens(0.3, 5.5)
        origin, way = (
            values.astype(np.float64)
            for values in Function(device, SAMPLE, modules=[module(camera, (20, 20))])(pixels, film, lens)
        )
        forward = camera.basis()[2]
        met = origin + way * ((5.5 - (origin - camera.origin) @ forward) / (way @ forward))[:, None]
        np.testing.assert_allclose(met, np.broadcast_to(met.mean(axis=0), met.shape), atol=1e-5)
        assert np.ptp(origin, axis=0).max() > 0.4
    assert lens_uniforms(CAMERAS["equirectangular"].with_lens(0.3, 5.5), (20, 20))["camera_nearness"] == 0


def test_angles_of_a_fisheye() -> None:
    """Equidistant: the angle is the radius; equisolid: equal solid angles have equal areas."""
    radius = np.linspace(0.05, 0.95, 10)
    at = np.stack([radius, 0 * radius], axis=1)
    _, ways = Fisheye(200.0).rays(at, (10, 10))
    np.testing.assert_allclose(np.degrees(np.arccos(ways[:, 2])), 100 * radius, rtol=1e-12)
    _, ways = Fisheye(200.0, equisolid=True).rays(at, (10, 10))
    np.testing.assert_allclose((1 - ways[:, 2]) / radius**2, 1 - math.cos(math.radians(100)), rtol=1e-12)
    assert np.isnan(Fisheye(200.0).rays([[0.9, 0.9]], (10, 10))[1]).all()


def test_a_panorama_looks_around() -> None:
    """The middle along the view, a quarter to the right, the back at both sides, up at the top."""
    camera = Camera((0, 0, 0), (0, 0, -1), projection=Equirectangular())
    film = np.array([[32, 16], [48, 16], [0, 16], [64, 16], [32, 0]], float)
    _, ways = camera.unproject(film, (64, 32))
    np.testing.assert_allclose(ways, [[0, 0, -1], [1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 0]], atol=1e-15)


def test_a_matrix_by_opencv_s_conventions() -> None:
    """Points are where K and the distortion of OpenCV's manual put them; the upper left pixel's centre is (0, 0)."""
    model = MODELS["rational"]
    assert isinstance(model, Intrinsics)
    camera = Camera((0, 0, 0), (0, 0, 1), (0, -1, 0), projection=model)  # OpenCV's axes: x right, y down, z forward
    points = np.random.default_rng(8).uniform((-1, -0.8, 2), (1, 0.8, 4), (40, 3))
    x, y = points[:, 0] / points[:, 2], points[:, 1] / points[:, 2]
    k1, k2, p1, p2, k3, k4, k5, k6 = RATIONAL
    r = x * x + y * y
    radial = (1 + k1 * r + k2 * r**2 + k3 * r**3) / (1 + k4 * r + k5 * r**2 + k6 * r**3)
    u = x * radial + 2 * p1 * x * y + p2 * (r + 2 * x * x)
    v = y * radial + p1 * (r + 2 * y * y) + 2 * p2 * x * y
    expected = np.stack([model.fx * u + model.cx, model.fy * v + model.cy], axis=1)
    np.testing.assert_allclose(camera.project(points, (640, 480)) - 0.5, expected, rtol=1e-12)
    half = camera.project(points, (320, 240))  # another size shows the same
    np.testing.assert_allclose(2 * half - 0.5, expected, rtol=1e-12)


def test_a_matrix_without_a_size_is_of_the_picture_at_hand() -> None:
    open_ = replace(BASE, projection=Intrinsics(100.0, 100.0, 49.5, 29.5))
    (middle,) = open_.unproject([[50, 30]], (100, 60))[1]
    np.testing.assert_allclose(middle, BASE.basis()[2], atol=1e-15)
    bound = open_.with_picture_size((100, 60))
    (same,) = bound.unproject([[25, 15]], (50, 30))[1]
    np.testing.assert_allclose(same, middle, atol=1e-15)
    assert bound.with_picture_size((7, 7)) is bound and BASE.with_picture_size((7, 7)) is BASE


def test_nothing_is_seen_beyond_where_a_distortion_folds() -> None:
    """Of barrel distortion the radius grows up to 1 / sqrt(-3 k1) alone."""
    model = brown_conrady((-0.4, 0.0, 0.0, 0.0))
    assert model.limit == pytest.approx(1 / 1.2) and brown_conrady(()).limit == NO_LIMIT
    edge = math.sqrt(1 / 1.2)
    most = edge * (1 - 0.4 * edge**2)
    x, _ = model.undistorted(np.array([0.5 * most, 0.999 * most, 1.001 * most, 3.0]), np.zeros(4))
    assert np.isfinite(x).tolist() == [True, True, False, False] and (x[:2] < edge).all()
    np.testing.assert_allclose(x[:2] * (1 - 0.4 * x[:2] ** 2), [0.5 * most, 0.999 * most], rtol=1e-9)
    assert np.isnan(model.distorted(np.array([1.0]), np.array([0.0]))[0]).all()
    fisheye = opencv_fisheye((-0.1, 0.0, 0.0, 0.0))
    assert fisheye.limit == pytest.approx(1 / 0.3) and opencv_fisheye(()).limit == pytest.approx(math.pi**2)
    assert np.isnan(fisheye.angle(np.array([1.3]))).all() and np.isfinite(fisheye.angle(np.array([1.2]))).all()


@pytest.mark.parametrize("fisheye", [False, True])
def test_a_shader_sees_nothing_beyond_where_a_distortion_folds(device: Device, fisheye: bool) -> None:
    """As many pixels as the float64 form, but for the very edge: beyond a barrel distortion's limit there are other
    places that fall into the picture."""
    model = Intrinsics(12.0, 12.0, 19.5, 14.5, distortion=(-0.2, 0.0, 0.0, 0.0), fisheye=fisheye)
    camera, size = replace(BASE, projection=model), (40, 30)
    pixels = np.stack(np.meshgrid(np.arange(40), np.arange(30)), -1).reshape(-1, 2)
    direction = Function(device, CENTRE, modules=[module(camera, size)])(pixels)[1]
    seen = np.isfinite(camera.rays(*size)[1]).all(axis=2).ravel()
    assert 200 < seen.sum() < 400 and ((direction != 0).any(axis=1) != seen).sum() <= 4


@pytest.mark.parametrize("name", ["matrix", "barrel", "rational", "pincushion", "measured fisheye"])
def test_the_principal_point_looks_straight_ahead(device: Device, name: str) -> None:
    """Where the centre of a pixel falls on it, no angle is left: it is seen all the same, and so are those around."""
    lens = replace(MODELS[name], fx=40.0, fy=40.0, cx=15.0, cy=10.0, skew=0.0, size=(31, 21))
    camera = replace(BASE, projection=lens)
    pixels = np.array([[x, y] for y in (9, 10, 11) for x in (14, 15, 16)])
    _, directions = Function(device, CENTRE, modules=[module(camera, (31, 21))])(pixels)
    ahead = directions @ camera.basis()[2]
    assert ahead[4] == pytest.approx(1.0, abs=3e-7) and (np.delete(ahead, 4) < 0.9998).all() and (ahead > 0.998).all()


def test_eyes_of_a_pair_are_apart() -> None:
    """Parallel, so that a point's two places differ by focal length times the distance of the eyes over its depth."""
    camera = Camera((0, 0, 0), (0, 0, -1), fov=90, eyes=0.2)
    point = [[0.3, 0.1, -4.0]]
    left, right = (camera.project(point, (200, 100), eye)[0] for eye in (-1, 1))
    assert left[1] == right[1] and 0 < left[0] < 100 < right[0] < 200
    assert left[0] - (right[0] - 100) == pytest.approx(50 * 0.2 / 4.0)


def test_a_half_of_a_pair_ends_at_the_seam() -> None:
    """Beyond it lies the other eye's picture: nothing of this eye is there, though it may be of the whole picture."""
    camera = Camera((0, 0, 0), (0, 0, -1), fov=90, eyes=0.2)
    points = [[5.0, 0.1, -4.0], [-5.0, 0.1, -4.0], [1.0, 0.1, -4.0]]
    for eye, middle in ((-1, 50), (1, 150)):
        found = camera.project(points, (200, 100), eye)
        assert np.isnan(found[:2, 0]).all() and found[2, 0] == pytest.approx(middle + 50 * (1.0 - 0.1 * eye) / 4)


def test_a_measured_pair_s_matrix_is_of_a_half() -> None:
    """The axis of each eye is in the middle of its half, of pictures whose size the matrix leaves open."""
    pair = replace(BASE, projection=Intrinsics(100.0, 100.0, 49.5, 49.5), eyes=0.2).with_picture_size((200, 100))
    far = [np.asarray(BASE.origin) + 1e9 * BASE.basis()[2]]
    places = [pair.project(far, (200, 100), eye)[0] for eye in (-1, 1)]
    np.testing.assert_allclose(places, [[50, 50], [150, 50]], atol=1e-5)


K = [[400.0, 0.0, 320.0], [0.0, 410.0, 240.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Orthographic(0.0), "height 0.0 is not above 0"),
        (lambda: Orthographic("tall"), "height tall is not above 0"),  # type: ignore[arg-type]
        (lambda: Fisheye(361.0), "361.0 degrees across"),
        (lambda: Fisheye(0.0), "0.0 degrees across"),
        (lambda: Intrinsics.of_matrix(np.eye(4)), "shape (4, 4) is not (3, 3)"),
        (lambda: Intrinsics.of_matrix(np.zeros((3, 3))), "is no K"),
        (lambda: Intrinsics.of_matrix([[1, 0, 0], [0, 0, 0], [0, 0, 1]]), "focal length fy 0 is not above 0"),
        (lambda: Intrinsics.of_matrix(np.array(K) * [[-1], [1], [1]]), "focal length fx -400 is not above 0"),
        (lambda: Intrinsics.of_matrix([[math.nan] * 3] * 3), "not all of its numbers are finite"),
        (lambda: Intrinsics.of_matrix(K, distortion=(1.0, 2.0)), "2 coefficients"),
        (
            lambda: Intrinsics.of_matrix(K, distortion=(math.inf, 0, 0, 0)),
            "not all of inf, 0, 0, 0 are numbers within +-1e+09",
        ),
        (lambda: Intrinsics.of_matrix(K, distortion=(0.1,) * 5, fisheye=True), "5 coefficients"),
        (lambda: Intrinsics.of_matrix(K, size=(0, 4)), "is not a width and a height"),
        (lambda: Intrinsics(math.inf, 1, 0, 0), "fx inf is not a number of pixels"),
        (lambda: replace(BASE, eyes=-0.1), "distance of the eyes -0.1 is out of range"),
    ],
)
def test_what_is_no_camera(make, words: str) -> None:
    with pytest.raises(ViewerError) as found:
        make()
    assert words in str(found.value) and "\n" not in str(found.value)


CAMERA = Camera((1, 2, 3), (0.5, -1, -4), (0.1, 1, 0), fov=50, aperture=0.3, focus=5.5)


def uniform(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 24, (count, 2)) / (1 << 24)


@pytest.mark.parametrize("name", FILTERS)
def test_samples_are_the_twin_s(device, name) -> None:
    size, count = (64, 40), 3000
    pixels = np.random.default_rng(2).integers(0, size, (count, 2))
    film, lens = uniform(count, 3), uniform(count, 4)
    lens[:4] = [[0.5, 0.5], [0, 0], [0.5, 0], [0, 0.5]]
    found = Function(device, SAMPLE, modules=[thin_lens(CAMERA, size, name)])(pixels, film, lens)
    for got, expected in zip(found, lens_rays(CAMERA, size, pixels, film, lens, name), strict=True):
        # float32, and the device's sine, cosine and logarithm: a few 1e-7 of the picture's width, or of the origin.
        np.testing.assert_allclose(got, expected, atol=3e-6)
    np.testing.assert_allclose(np.linalg.norm(found[1], axis=1), 1, atol=3e-7)


def test_without_an_aperture_the_middle_is_the_pixel_s_centre_to_the_bit(device) -> None:
    size = (33, 17)
    pixels = np.stack(np.meshgrid(np.arange(33), np.arange(17)), -1).reshape(-1, 2)
    module = thin_lens(CAMERA.with_lens(aperture=0.0), size)
    half = np.full((len(pixels), 2), 0.5)
    sampled = Function(device, SAMPLE, modules=[module])(pixels, half, uniform(len(pixels)))
    for got, expected in zip(sampled, Function(device, CENTRE, modules=[module])(pixels), strict=True):
        np.testing.assert_array_equal(got, expected)
    origins, directions = CAMERA.rays(*size)
    np.testing.assert_allclose(sampled[1], directions.reshape(-1, 3), atol=3e-7)
    np.testing.assert_allclose(sampled[0], origins.reshape(-1, 3))


def test_rays_of_one_point_of_the_film_meet_in_the_plane_of_focus(device) -> None:
    count = 500
    pixels, film = np.full((count, 2), 7), np.tile([0.2, 0.9], (count, 1))
    found = Function(device, SAMPLE, modules=[thin_lens(CAMERA, (20, 20))])(pixels, film, uniform(count))
    origin, direction = (values.astype(np.float64) for values in found)
    forward = CAMERA.basis()[2]
    depth = (origin - CAMERA.origin) @ forward
    np.testing.assert_allclose(depth, 0, atol=1e-6)  # the lens stands across the view
    assert np.linalg.norm(origin - CAMERA.origin, axis=1).max() <= 0.3 * (1 + 1e-6)
    met = origin + direction * ((5.5 - depth) / (direction @ forward))[:, None]
    np.testing.assert_allclose(met, np.broadcast_to(met.mean(axis=0), met.shape), atol=5e-6)


def test_the_lens_is_covered_evenly(device) -> None:
    disc = Function(device, "vec2 concentric_disc(vec2 u)", includes=["lib/disc.glsl"])
    (points,) = disc(uniform(50_000))
    radius, angle = np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0])
    cell = np.minimum((radius**2 * 5).astype(int), 4) * 8 + np.minimum(((angle / math.pi + 1) * 4).astype(int), 7)
    chi = ((np.bincount(cell, minlength=40) - 1250.0) ** 2 / 1250).sum()
    assert chi < 80  # chi-square, 39 degrees of freedom: exceeded once in 9,000


@pytest.mark.parametrize("name", [name for name in FILTERS if name != "point"])
def test_offsets_have_the_filter_s_density(device, name) -> None:
    count = 60_000
    offset = Function(device, "vec2 filter_offset(int kind, vec2 u)", includes=["lib/filter.glsl"])
    u = uniform(count, 5)
    (found,) = offset(np.full(count, FILTERS[name]), u)
    # In the Gaussian's middle, 1 - u keeps 24 bits of a small u, and the root doubles the error's exponent.
    np.testing.assert_allclose(found, filter_offsets(name, u), atol=2e-4 if name == "gaussian" else 2e-6)
    assert np.abs(found).max() <= {"box": 0.5, "tent": 1.0, "gaussian": FILTER_RADIUS}[name] * (1 + 1e-5)
    edges = np.linspace(-FILTER_RADIUS, FILTER_RADIUS, 25)
    # Masses of the cells of a grid, by the filter's own formula at a finer one.
    fine = (np.arange(1200) + 0.5) / 1200 * 2 * FILTER_RADIUS - FILTER_RADIUS
    x, y = np.meshgrid(fine, fine, indexing="ij")
    density = {
        "box": (np.abs(x) < 0.5) * (np.abs(y) < 0.5),
        "tent": np.maximum(1 - np.abs(x), 0) * np.maximum(1 - np.abs(y), 0),
        "gaussian": np.exp(-(x * x + y * y) / (2 * FILTER_SIGMA**2)) * (x * x + y * y < FILTER_RADIUS**2),
    }[name]
    expected = density.reshape(24, 50, 24, 50).sum(axis=(1, 3))
    expected = expected / expected.sum() * count
    counts = np.histogram2d(found[:, 0], found[:, 1], bins=[edges, edges])[0]
    likely = expected > 5
    chi = ((counts - expected)[likely] ** 2 / expected[likely]).sum()
    degrees = np.count_nonzero(likely) - 1
    assert chi < degrees + 5 * math.sqrt(2 * degrees)  # five standard deviations of chi-square
    assert abs(found.mean(axis=0)).max() < 0.02  # no shift of the picture


def test_each_key_of_a_moving_lens_has_its_own_focus() -> None:
    """Of targets at 1 and 4, and of a distance that the keys tell."""
    keys = Camera((0, 0, 0), (0, 0, -1)), Camera((0, 0, 0), (0, 0, -4))
    moving = replace(keys[0], motion=keys).with_lens(0.1)
    rows = lens_uniforms(moving, (8, 8))["camera_keys"]
    assert [rows[4 * key][3] for key in range(2)] == [1, 0.25]
    moving = replace(
        moving, motion=tuple(each.with_lens(focus=focus) for each, focus in zip(keys, (2, 8), strict=True))
    )
    assert [lens_uniforms(moving, (8, 8))["camera_keys"][4 * key][3] for key in range(2)] == [0.5, 0.125]
