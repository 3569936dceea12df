"""What the eye gets at rest: the blend of two estimates of a film's light, beside its NumPy twin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import regression_twin
import wavelet_twin as twin
from gl_objects import lent
from numpy.typing import NDArray
from surfaces import facing, fluted, release, stream

from viewer.denoise.reconstruction import Reconstruction
from viewer.denoise.records import IRRADIANCE, LIT, RELIEF
from viewer.denoise.regression import FittedLight
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE
from viewer.stream.gl.device import Device

SIZE = 24, 16
CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
DOUBT, FILTERED = 12.0, 1 / 12  # of blend.glsl
AROUND = [(x, y) for x in range(-2, 3) for y in range(-2, 3)]


@pytest.fixture(scope="module")
def reconstruction(device: Device) -> Iterator[Reconstruction]:
    yield from lent(device, Reconstruction)


def surfaces(rng: np.random.Generator) -> NDArray:
    """`LIT` of two walls, one before the other, of noisy light."""
    lit = facing(SIZE, np.where(np.arange(SIZE[0]) < 11, 0.25, 0.4)[None], fluted(0.2 * np.arange(SIZE[0]), 30.0)[None])
    lit["rgb"] = rng.gamma(2.0, 0.5, (*SIZE[::-1], 3))
    lit["variance"] = twin.with_reflected(rng.uniform(0, 0.5, SIZE[::-1]), np.full(SIZE[::-1], 0.5))
    return lit


def irradiance(rgb: NDArray, variance: NDArray | float) -> NDArray:
    made = np.zeros(rgb.shape[:2], IRRADIANCE.dtype)
    made["rgb"], made["variance"] = rgb, twin.with_reflected(np.broadcast_to(variance, rgb.shape[:2]), np.array(0.5))
    return made


def reliefs(rgb: NDArray, gradient: NDArray | float = 0.0, base: NDArray | float = 1.0) -> NDArray:
    made = np.zeros(rgb.shape[:2], RELIEF.dtype)
    made["rgb"], made["gradient"], made["base"] = rgb, gradient, base
    return made


def even(value: float) -> NDArray:
    return np.full((*SIZE[::-1], 3), value)


def blended(
    reconstruction: Reconstruction, lit: NDArray, light: NDArray, relief: NDArray, samples: int, stride: int = 1
) -> NDArray:
    device = reconstruction.device
    with device.current():
        streams = stream(device, LIT, lit), stream(device, RELIEF, relief), stream(device, IRRADIANCE, light)
        found = reconstruction.blend(FittedLight(*streams[:2], stride), streams[2], CAMERA, samples).read()
        release(streams)
    return found


def expected(lit: NDArray, light: NDArray, fitted: NDArray, samples: int) -> tuple[NDArray, NDArray]:
    """(H, W, 3) light, and (H, W) the share that each pixel keeps of what it alone is off by."""
    guide, view = (lit["normal"].astype(float), lit["nearness"].astype(float)), twin.through(CAMERA, lit.shape[::-1])
    last, places = (lit.shape[0] - 1, lit.shape[1] - 1), tuple(np.indices(lit.shape))
    film = light["rgb"].astype(float)
    apart, variance, total = np.zeros((4, *lit.shape)), np.zeros(lit.shape), np.zeros(lit.shape)
    moments = np.concatenate([film - fitted, (((film - fitted) @ LUMINANCE) ** 2)[..., None]], axis=-1)
    for offset in AROUND:
        at, outside = twin.moved_by(places, offset, last)
        weight = np.where(outside, 0, twin.falling(twin.unlike(guide, twin.pick(guide, at), view, 2.0, offset)))
        apart += weight * np.moveaxis(moments[at], -1, 0)
        variance, total = variance + weight * light["variance"].astype(float)[at], total + weight
    mean, square = np.moveaxis(apart[:3] / total, 0, -1), apart[3] / total
    least = DOUBT * (fitted @ LUMINANCE) ** 2 / (samples**2 * total)
    noise, shift = np.maximum(variance, least) / total, (mean @ LUMINANCE) ** 2
    low = np.maximum(shift - noise / total, 0) / (shift + 1e-30)
    rest, doubt = np.maximum(square - shift, 0), np.maximum(noise, FILTERED * lit["variance"].astype(float))
    high = np.maximum(rest - doubt, 0) / (rest + 1e-30)
    return fitted + low[..., None] * mean + high[..., None] * (film - fitted - mean), high


@pytest.mark.parametrize("samples", [1, 7, 200])
@pytest.mark.parametrize("stride", [1, 2])
def test_the_blend_is_its_twins(reconstruction: Reconstruction, samples: int, stride: int) -> None:
    """float32 beside float64; what the variance's low bits hold is part of the number to both."""
    rng = np.random.default_rng(5)
    lit, points = surfaces(rng), regression_twin.points_of(SIZE, stride)
    light = irradiance(lit["rgb"] * 0.7 + 0.2, rng.uniform(0, 1.0, SIZE[::-1]))
    shape = points[0].shape
    relief = reliefs(rng.gamma(2.0, 0.5, (*shape, 3)), rng.normal(size=(*shape, 3)), rng.uniform(0.5, 1.5, shape))
    guide = lit["normal"].astype(float), lit["nearness"].astype(float)
    parts = relief["rgb"].astype(float), relief["gradient"].astype(float), relief["base"].astype(float)
    fitted = regression_twin.relit(lit, parts, stride, guide, CAMERA)
    wanted, share = expected(lit, light, fitted, samples)
    found = blended(reconstruction, lit, light, relief, samples, stride)
    np.testing.assert_allclose(found["rgb"], wanted, rtol=1e-4, atol=1e-5)
    assert share.min() < 0.5 < share.max()


def test_what_the_regression_misses_goes_as_the_samples_noise_falls(reconstruction: Reconstruction) -> None:
    """Where it is wrong; where both agree it is of no matter."""
    lit, left = surfaces(np.random.default_rng(6)), []
    for samples in (1, 4, 64, 4096):
        lit["variance"] = irradiance(even(0.5), 0.25 / samples)["variance"]
        found = blended(reconstruction, lit, irradiance(even(0.5), 0.05 / samples), reliefs(even(1.0)), samples)
        left.append(float((found["rgb"] - 0.5).mean() / 0.5))
    assert left == sorted(left, reverse=True) and 0.2 < left[0] < 0.25 and left[-1] < 0.02


def test_noise_that_the_wavelets_leave_is_the_regressions_to_take(reconstruction: Reconstruction) -> None:
    """Light that is off by no more than its variance says is that of the regression."""
    lit, rng, left = surfaces(np.random.default_rng(6)), np.random.default_rng(12), []
    for samples in (4, 64):
        noise = 0.3 / np.sqrt(samples)
        light = irradiance(1 + noise * rng.normal(size=SIZE[::-1])[..., None] * np.ones(3), noise**2)
        found = blended(reconstruction, lit, light, reliefs(even(1.0)), samples)
        left.append(found["rgb"].std() / light["rgb"].std())
    assert max(left) < 0.3, "0.25 and 0.18 measured: of the mean of 25 pixels a fifth of the noise is left"


def test_an_edge_of_one_sample_is_never_black(reconstruction: Reconstruction) -> None:
    """A pixel of a surface that no pixel around shows, whose only sample found no light, takes what is fitted."""
    lit = surfaces(np.random.default_rng(7))
    lit["nearness"][8, 5], lit["variance"] = 2.0, -1.0
    film = even(0.8)
    film[8, 5] = 0.0
    found = blended(reconstruction, lit, irradiance(film, 0.0), reliefs(even(0.8)), 1)
    assert found["rgb"][8, 5].min() >= 0.5


@pytest.mark.parametrize(("wrong", "first"), [(0.0, 0.05), (40.0, 0.3)])
def test_pepper_is_held_back_until_the_pixels_own_samples_confirm_it(
    reconstruction: Reconstruction, wrong: float, first: float
) -> None:
    """White and black points that no pixel around shows, in light that the filter has left as it was, as if it had no
    noise. Of a white point's own spread a sixth still counts: 0.26 of it are left of one sample."""
    lit = surfaces(np.random.default_rng(8))
    film, left = even(0.8), []
    film[8, 5] = wrong
    lit["rgb"] = film
    for samples in (1, 4, 64, 4096):
        lit["variance"] = twin.with_reflected(np.full(SIZE[::-1], wrong**2 / samples), np.full(SIZE[::-1], 0.5))
        found = blended(reconstruction, lit, irradiance(film, 1e-8), reliefs(even(0.8)), samples)["rgb"][8, 5].mean()
        left.append(abs(float(found) - 0.8) / abs(wrong - 0.8))
    assert left[0] < first and left == sorted(left) and left[-1] > 0.9


def test_walls_of_two_depths_are_blended_by_themselves(reconstruction: Reconstruction) -> None:
    """What the regression misses on the one wall is none of the other's errors."""
    lit = surfaces(np.random.default_rng(6))
    lit["variance"] = irradiance(even(1.0), 0.3)["variance"]
    right = np.broadcast_to((np.arange(SIZE[0]) < 11)[None, :, None], (*SIZE[::-1], 3))
    light = irradiance(even(1.0), 0.05)
    alone = blended(reconstruction, lit, light, reliefs(even(1.1)), 16)
    found = blended(reconstruction, lit, light, reliefs(np.where(right, 1.1, 9.0)), 16)
    np.testing.assert_allclose(found["rgb"][right], alone["rgb"][right], rtol=1e-4)
    assert found["rgb"][~right].max() < 1.3, "and on the other the wavelets are believed"


@pytest.mark.parametrize("size", [(1, 1), (5, 3)])
@pytest.mark.parametrize("nearness", [0.0, 0.25])
def test_without_light_and_surfaces_numbers_are_finite(
    reconstruction: Reconstruction, size: tuple[int, int], nearness: float
) -> None:
    lit, black = facing(size, nearness), np.zeros((*size[::-1], 3))
    found = blended(reconstruction, lit, irradiance(black, 0.0), reliefs(black), 1)
    assert np.isfinite(found["variance"]).all() and not found["rgb"].any()


@pytest.mark.parametrize("bright", [1e15, 1e25])
def test_a_dazzling_pixel_leaves_numbers(reconstruction: Reconstruction, bright: float) -> None:
    """Of light whose square is none that a float32 holds, too."""
    lit, film = surfaces(np.random.default_rng(9)), even(0.8)
    film[8, 5] = bright
    found = blended(reconstruction, lit, irradiance(film, 1e-8), reliefs(even(0.8)), 16)["rgb"]
    assert np.isfinite(found).all() and found.min() > 0.4
