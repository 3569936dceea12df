"""The camera's samples: GLSL against the NumPy twin, filters and lens against their densities."""

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
    thin_lens,
)
from raystream.scene.camera import Camera

SAMPLE = "void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction)"
CENTRE = "void camera_ray(ivec2 pixel, out vec3 origin, out vec3 direction)"
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


@pytest.mark.parametrize("aperture", [0.0, 0.25])
def test_the_lens_is_as_wide_as_its_aperture(aperture: float) -> None:
    """Its axes are the camera's, times the radius; sharp at the focus distance, where there is a lens."""
    camera = CAMERA.with_lens(aperture, 4.0)
    right, up, _ = camera.basis()
    uniforms = lens_uniforms(camera, (64, 48), "tent")
    np.testing.assert_array_equal(uniforms["camera_lens_right"], right * aperture)
    np.testing.assert_array_equal(uniforms["camera_lens_up"], up * aperture)
    assert uniforms["camera_nearness"] == (0.25 if aperture else 0.0) and uniforms["camera_filter"] == 1
    slope = math.tan(math.radians(25))
    np.testing.assert_allclose(uniforms["camera_right"], right * slope * 64 / 48, rtol=1e-14)
    np.testing.assert_allclose(uniforms["camera_up"], up * slope, rtol=1e-14)


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


@pytest.mark.parametrize(
    ("lens", "words"),
    [
        ({"aperture": -1}, "aperture -1 is out of range"),
        ({"aperture": math.nan}, "aperture nan is out of range"),
        ({"aperture": math.inf}, "aperture inf is out of range"),
        ({"aperture": "wide"}, "aperture wide is out of range"),
        ({"focus": 0}, "focus distance 0 is out of range"),
        ({"focus": -2.0}, "focus distance -2.0 is out of range"),
        ({"focus": math.inf}, "focus distance inf is out of range"),
    ],
)
def test_lenses_out_of_range(lens, words) -> None:
    with pytest.raises(ViewerError, match=words):
        Camera((0, 0, 0), (0, 0, -1), **lens)
