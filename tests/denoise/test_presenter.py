"""What the eye gets at rest: what was known blended with new samples, beside its NumPy twin, and what is held back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import wavelet_twin as twin
from gl_objects import lent
from numpy.typing import NDArray

from viewer.denoise.records import IRRADIANCE, LIT
from viewer.denoise.upsampling import SHOWN
from viewer.kernels.records import FEATURES
from viewer.renderer.preview.presenter import LIKELY, Presenter
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream

SIZE = 24, 16
CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
SPREAD, SUPPORT, ALONE, LIKELY_OFF, ENOUGH = 1.0, 16.0, 0.3, 1.5, 5.0  # of blend.glsl
AROUND = [(0, 0), *(t for s in (-1, 1) for t in ((3 * s, 0), (0, 3 * s), (2 * s, 2), (2 * s, -2)))]


@pytest.fixture(scope="module")
def presenter(device: Device) -> Iterator[Presenter]:
    yield from lent(device, Presenter)


def surfaces(rng: np.random.Generator) -> NDArray:
    """`LIT` of two walls that face the camera, one before the other, of noisy light."""
    lit = np.zeros(SIZE[::-1], LIT.dtype)
    lit["normal"], lit["nearness"] = (0, 0, 1), np.where(np.arange(SIZE[0]) < 11, 0.25, 0.4)
    lit["rgb"] = rng.gamma(2.0, 0.5, (*SIZE[::-1], 3))
    lit["variance"] = twin.with_reflected(rng.uniform(0, 0.5, SIZE[::-1]), np.full(SIZE[::-1], 0.5))
    return lit


def irradiance(rgb: NDArray, variance: NDArray | float) -> NDArray:
    made = np.zeros(rgb.shape[:2], IRRADIANCE.dtype)
    made["rgb"], made["variance"] = rgb, twin.with_reflected(np.broadcast_to(variance, rgb.shape[:2]), np.array(0.5))
    return made


def stream(device: Device, record: object, records: NDArray) -> Stream:
    made = Stream(device, record, records.shape[::-1])  # type: ignore[arg-type]
    made.write(records)
    return made


def knowing(presenter: Presenter, known: NDArray) -> None:
    """Have light known, of white surfaces."""
    shown, features = np.zeros(known.shape[:2], SHOWN.dtype), np.zeros(known.shape[:2], FEATURES.dtype)
    shown["rgb"], features["albedo"], features["hits"], features["count"] = known, 1.0, 1.0, 1.0
    made = stream(presenter.device, SHOWN, shown), stream(presenter.device, FEATURES, features)
    presenter.remember(*made)
    for each in made:
        each.release()


def blended(presenter: Presenter, lit: NDArray, light: NDArray, known: NDArray, samples: int) -> NDArray:
    device = presenter.device
    with device.current():
        knowing(presenter, known)
        streams = stream(device, LIT, lit), stream(device, IRRADIANCE, light)
        found = presenter.blend(*streams, CAMERA, samples).read()
        for each in streams:
            each.release()
    return found


def expected(lit: NDArray, light: NDArray, known: NDArray, samples: int) -> tuple[NDArray, NDArray]:
    """(H, W, 3) light, and (H, W) the share of what was known."""
    size = lit.shape[::-1]
    guide = lit["normal"].astype(float), lit["nearness"].astype(float)
    view = twin.through(CAMERA, size)
    rows, columns = np.indices(lit.shape)
    last = lit.shape[0] - 1, lit.shape[1] - 1
    scale = known.shape[0] / lit.shape[0], known.shape[1] / lit.shape[1]
    there = known[((rows + 0.5) * scale[0]).astype(int), ((columns + 0.5) * scale[1]).astype(int)].astype(float)
    film, noise = light["rgb"].astype(float), np.maximum(light["variance"].astype(float), 0)
    difference = ((film - there) @ LUMINANCE) ** 2
    apart = variance = total = np.zeros(lit.shape)
    taps = []  # but the pixel itself: weight, light and its luminance
    for offset in AROUND:
        at, outside = twin.moved_by((rows, columns), offset, last)
        weight = np.where(outside, 0, twin.falling(twin.unlike(guide, twin.pick(guide, at), view, 3.0, offset)))
        apart, variance = apart + weight * difference[at], variance + weight * noise[at]
        total = total + weight
        if offset != (0, 0):
            taps.append((weight, film[at], film[at] @ LUMINANCE))
    film = likely(film, there, lit, taps, samples)
    bright = np.maximum(film @ LUMINANCE, there @ LUMINANCE)
    least = SPREAD * bright**2 / (samples * (1 + SUPPORT * (total - 1)))
    error = np.maximum(variance / total, least)
    share = error / (error + apart / total)
    return film + share[..., None] * (there - film), share


def likely(film: NDArray, known: NDArray, lit: NDArray, taps: list, samples: int) -> NDArray:
    """Light moved towards that around, or towards what is known, as far as nothing makes it likely."""
    weights, lights, values = (np.array(each) for each in zip(*taps, strict=True))
    inside = weights > 0.5
    ends = [np.where(inside, values, sign * np.inf) for sign in (1, -1)]
    picked = [np.argmin(ends[0], axis=0), np.argmax(ends[1], axis=0)]
    total, sums = weights.sum(0), (weights[..., None] * lights).sum(0)
    first, second = (weights * values).sum(0), (weights * values**2).sum(0)
    for pick in picked:
        value = np.take_along_axis(values, pick[None], 0)[0]
        sums = sums - np.take_along_axis(lights, pick[None, ..., None], 0)[0]
        total, first, second = total - 1, first - value, second - value**2
    lone = weights.sum(0) < ENOUGH
    around = np.where(lone[..., None], known, sums / total[..., None])
    mean = around @ LUMINANCE
    off = np.where(lone, ALONE * mean, LIKELY_OFF * np.sqrt(np.maximum(second / total - (first / total) ** 2, 0)))
    error = np.maximum(np.sqrt(np.maximum(lit["variance"], 0)), mean * np.sqrt(SPREAD / samples))
    error = np.where(samples > 1, error, 1e30)
    value, own = film @ LUMINANCE, lit["rgb"].astype(float) @ LUMINANCE
    held = np.clip(value, np.minimum(mean - off, own + error), np.maximum(mean + off, own - error))
    share = np.where(value == held, 0.0, (value - held) / np.where(value == mean, 1.0, value - mean))
    return film + share[..., None] * (around - film)


@pytest.mark.parametrize("samples", [1, 7])
@pytest.mark.parametrize("size", [SIZE, (12, 8)], ids=["same", "smaller"])
def test_the_blend_is_its_twins(presenter: Presenter, samples: int, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    lit, known = surfaces(rng), rng.gamma(2.0, 0.5, (*size[::-1], 3)).astype(np.float32)
    light = irradiance(lit["rgb"] * 0.7 + 0.2, rng.uniform(0, 0.05, SIZE[::-1]))
    found = blended(presenter, lit, light, known, samples)
    wanted, share = expected(lit, light, known, samples)
    np.testing.assert_allclose(found["rgb"], wanted, rtol=2e-3, atol=2e-3)
    assert share.min() < 0.2 < share.max()


def test_what_was_known_goes_as_the_samples_noise_falls(presenter: Presenter) -> None:
    """Where it is wrong; where both agree it is of no matter."""
    rng = np.random.default_rng(6)
    lit = surfaces(rng)
    film, known = np.full((*SIZE[::-1], 3), 0.5), np.full((*SIZE[::-1], 3), 1.0, np.float32)
    lit["rgb"], left = film, []
    for samples in (1, 4, 64, 4096):
        lit["variance"] = irradiance(film, 0.25 / samples)["variance"]
        found = blended(presenter, lit, irradiance(film, 0.25 / samples), known, samples)
        left.append(float((found["rgb"] - 0.5).mean() / 0.5))
    assert left == sorted(left, reverse=True) and left[0] > 0.45 and left[-1] < 0.02


def test_an_edge_of_one_sample_is_never_black(presenter: Presenter) -> None:
    """A pixel of a surface that no pixel around shows, whose only sample found no light, takes what was known."""
    lit = surfaces(np.random.default_rng(7))
    lit["nearness"][8, 5] = 2.0
    film, known = np.full((*SIZE[::-1], 3), 0.8), np.full((*SIZE[::-1], 3), 0.8, np.float32)
    film[8, 5] = 0.0
    found = blended(presenter, lit, irradiance(film, 0.0), known, 1)
    assert found["rgb"][8, 5].min() >= 0.5


def test_pepper_is_held_back_until_the_pixels_own_samples_confirm_it(presenter: Presenter) -> None:
    """White and black points that no pixel around shows, in light that the filter has left as it was."""
    lit = surfaces(np.random.default_rng(8))
    film = lit["rgb"] = np.full((*SIZE[::-1], 3), 0.8)
    known = np.full((*SIZE[::-1], 3), 0.8, np.float32)
    for wrong in (0.0, 40.0):
        left = []
        film[8, 5] = wrong
        lit["rgb"][8, 5] = wrong
        for samples in (1, 4, 64, 4096):
            lit["variance"] = twin.with_reflected(np.full(SIZE[::-1], wrong**2 / samples), np.full(SIZE[::-1], 0.5))
            found = blended(presenter, lit, irradiance(film, 1e-8), known, samples)["rgb"][8, 5].mean()
            left.append(abs(float(found) - 0.8) / abs(wrong - 0.8))
        assert left[0] < 0.05 and left == sorted(left) and left[-1] > 0.9


def held(presenter: Presenter, lit: NDArray) -> NDArray:
    device = presenter.device
    with device.current():
        knowing(presenter, np.full((*SIZE[::-1], 3), 0.05, np.float32))
        given = stream(device, LIT, lit)
        found = presenter.hold(given, CAMERA).read()
        given.release()
    return found


def test_one_bright_sample_is_held_back_until_others_confirm_it(presenter: Presenter) -> None:
    lit = np.zeros(SIZE[::-1], LIT.dtype)
    lit["normal"], lit["nearness"], lit["rgb"] = (0, 0, 1), 0.25, 0.5
    lit["variance"] = twin.with_reflected(np.full(SIZE[::-1], 0.01), np.full(SIZE[::-1], 0.5))
    shares = {}
    for confirming, samples in ((1, 8), (2, 8), (4, 8), (64, 64)):
        mean = 40.0
        bright = mean * samples / confirming  # of so many samples; the others are black
        square = confirming * (bright - mean) ** 2 + (samples - confirming) * mean**2
        lit["rgb"][8, 6] = mean
        lit["variance"][8, 6] = twin.with_reflected(np.array(square / (samples * (samples - 1))), np.array(0.5))
        found = held(presenter, lit)
        shares[confirming] = float(found["rgb"][8, 6, 0]) / mean
        others = np.ones(SIZE[::-1], bool)
        others[8, 6] = False
        np.testing.assert_array_equal(found[others], lit[others])
    assert shares[1] == pytest.approx(LIKELY * 0.5 / 40.0, rel=0.02)  # as its neighbourhood has it
    assert shares[1] < shares[2] < shares[4] < shares[64] and shares[64] > 0.99


def test_what_pixels_around_show_too_is_likely(presenter: Presenter) -> None:
    lit = np.zeros(SIZE[::-1], LIT.dtype)
    lit["normal"], lit["nearness"], lit["rgb"] = (0, 0, 1), 0.25, 0.5
    lit["rgb"][8, 6:8] = 40.0
    for variance in (1600.0, -1.0):  # of one sample nothing is known
        lit["variance"] = twin.with_reflected(np.full(SIZE[::-1], variance), np.full(SIZE[::-1], 0.5))
        np.testing.assert_array_equal(held(presenter, lit)["rgb"], lit["rgb"])
