"""The wavelet denoiser on the device: against its twin, and on films of which the right answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from wavelet_twin import denoised

from viewer.denoise.filter import Wavelets, deviations
from viewer.denoise.upsampling import Upsampling
from viewer.film.device_film import Buffer, FilmBuffer
from viewer.film.error.convergence import Halves, SampleBudget
from viewer.film.film import Film
from viewer.kernels.records import FEATURES, FILM
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE
from viewer.stream.gl.device import Device
from viewer.stream.jobs import returned

SIZE = 40, 28
CAMERA = Camera((0.0, 0.5, 4.0), (0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def wavelets(device: Device) -> Wavelets:
    with device.current():
        return Wavelets(device)


def picture_of(wavelets: Wavelets, film: FilmBuffer, features: Buffer) -> NDArray[np.float32]:
    """(H, W, 3), by the wavelets alone."""
    light = returned(wavelets.filter(wavelets.demodulate(film, features, CAMERA), CAMERA, film.samples))
    upsampling = Upsampling(wavelets.device)
    picture = upsampling.compose(light, features.blocks[0].stream, CAMERA).fields(("rgb",))["rgb"].copy()
    upsampling.release()
    return picture


def run(
    wavelets: Wavelets,
    film: NDArray,
    features: NDArray,
    halves: Halves | None = None,
    efficiency: float = 1.0,
) -> NDArray[np.float32]:
    """The picture (H, W, 3) of records."""
    device, size = wavelets.device, film.shape[::-1]
    arrays = {name: np.ascontiguousarray(film[name]) for name in ("sum", "compensation", "square", "count")}
    with device.current():
        whole = Film(*size, arrays)
        whole.halves = halves
        held, buffer = FilmBuffer(device, size, whole), Buffer(device, FEATURES, size)
        held.efficiency = efficiency
        buffer.write(features)
        picture = picture_of(wavelets, held, buffer)
        for each in (held, buffer):
            each.release()
    return picture


def wall(size: tuple[int, int] = SIZE, samples: int = 1) -> NDArray:
    """Features of a wall at z = 0 that fills the picture."""
    from wavelet_twin import through

    made = np.zeros(size[::-1], FEATURES.dtype)
    view, _, _ = through(CAMERA, size)
    made["depth"] = samples * np.linalg.norm(view, axis=-1) * (-CAMERA.origin[2] / view[..., 2])
    made["normal"], made["albedo"] = (0, 0, samples), 0.5 * samples
    made["hits"] = made["count"] = samples
    return made


def film_of(light: NDArray, features: NDArray, samples: int, rng: np.random.Generator, spread: float = 0.0) -> NDArray:
    """A film of irradiance (H, W, 3), with noise of a standard deviation relative to it, on surfaces by their features;
    what is seen of lights has none."""
    made = np.zeros(features.shape, FILM.dtype)
    noise = 1 + spread * rng.standard_normal((samples, *features.shape, 1))
    values = (light * features["albedo"] * noise + features["emission"]) / features["count"][..., None]
    made["sum"], made["count"] = values.sum(axis=0), samples
    luminance = values @ [0.2126, 0.7152, 0.0722]
    made["square"] = ((luminance - luminance.mean(axis=0)) ** 2).sum(axis=0)
    return made


@pytest.mark.parametrize("samples", [1, 3, 8])
def test_the_picture_is_the_twin_s(wavelets: Wavelets, samples: int) -> None:
    rng = np.random.default_rng(5)
    features = wall(samples=samples)
    # A second surface in front, a third one turned, partly covered pixels, misses, and a lamp.
    features["depth"][:, 20:] *= 0.7
    features["normal"][18:, :] = (0, samples, 0)
    features["hits"][:, 19], features["normal"][:, 19] = 0.5 * samples, (0, 0, 0.5 * samples)
    features["depth"][:, 19] *= 0.5
    for name in ("hits", "depth", "normal", "albedo"):
        features[name][:5, :5] = 0
    features["albedo"] *= rng.uniform(0.1, 1.5, (*features.shape, 1))
    features["emission"][2:8, 30:34] = 7 * samples
    film = film_of(rng.uniform(0.5, 2, (*features.shape, 3)), features, samples, rng, 0.3)
    halves = None
    if samples == 8:
        first = film["sum"] @ LUMINANCE * rng.uniform(0.45, 0.55, features.shape)
        halves = Halves(first.astype(np.float32), np.full(features.shape, 4, np.float32))
    efficiency = 0.25 if samples == 3 else 1.0
    found = run(wavelets, film, features, halves, efficiency)
    expected = denoised(film, features, CAMERA, halves, efficiency)
    # float32: weights are eighth powers of differences, of which nearness loses five digits
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


def test_noise_goes_and_texture_edges_and_lamps_stay(wavelets: Wavelets) -> None:
    rng = np.random.default_rng(2)
    features = wall()
    features["albedo"] = rng.uniform(0.2, 0.9, features["albedo"].shape)  # a texture as fine as pixels
    features["depth"][:, 20:] *= 0.8
    features["emission"][10:14, 5:9] = 50
    light = np.ones((*features.shape, 3))
    light[:, 20:] = 3
    clean = run(wavelets, film_of(light, features, 1, rng), features)
    noisy = film_of(light, features, 1, rng, 0.5)
    found = run(wavelets, noisy, features)
    truth = light * features["albedo"] + features["emission"]
    np.testing.assert_allclose(clean, truth, rtol=1e-5)

    def error(picture: NDArray) -> float:
        return float(np.sqrt(np.mean(((picture - truth) / (truth - features["emission"])) ** 2)))

    # 5 steps of (1, 2, 1) weigh some 40 pixels and more; edges have fewer.
    assert error(found) < 0.3 * error(noisy["sum"])
    np.testing.assert_allclose(found.mean(), noisy["sum"].mean(), rtol=0.01)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("slope", [0.0, 0.4, 1.0, 3.0])
def test_the_edge_of_a_hard_shadow_stays_sharp(wavelets: Wavelets, slope: float, samples: int) -> None:
    """One sample is light or dark; of four the pixels that the edge crosses have some of both."""
    rng, features = np.random.default_rng(1), wall(samples=samples)
    y, x = np.indices(features.shape)
    at = rng.uniform(-0.5, 0.5, (2, samples, *features.shape))
    light = (slope * (x + at[0] - 20) - (y + at[1] - 14) * (1.0 if slope < 3 else 0.5) > 0).astype(float)
    film = film_of(np.zeros((*features.shape, 3)), features, samples, rng)
    film["sum"] = 0.5 * light.sum(axis=0)[..., None]
    film["square"] = ((0.5 * light - 0.5 * light.mean(axis=0)) ** 2).sum(axis=0)
    found = run(wavelets, film, features)
    # A filter whose range is the spread around moves a fifth of the light of every pixel beside the edge, and more.
    whole = (light.min(axis=0) == light.max(axis=0))[2:-2, 2:-2]
    apart = np.abs(found - film["sum"] / samples)[2:-2, 2:-2][whole]
    assert apart.mean() < 0.002 and (apart > 0.1).mean() < 0.005


def test_a_firefly_s_light_is_spread_and_not_lost(wavelets: Wavelets) -> None:
    rng, features = np.random.default_rng(3), wall()
    film = film_of(np.ones((*features.shape, 3)), features, 1, rng)
    film["sum"][14, 20] = 30
    found = run(wavelets, film, features)
    assert found.max() < 0.25 * 30
    # It is 5 % of the light. Two pixels' weights differ where their luminances do, by the smallest range alone.
    np.testing.assert_allclose(found.mean(), film["sum"].mean(), rtol=2e-3)


def test_highlights_on_a_black_texture_shine_no_brighter_beside_a_white_one(wavelets: Wavelets) -> None:
    rng, features = np.random.default_rng(6), wall()
    features["albedo"][:, ::2] = 0.01
    film = film_of(np.ones((*features.shape, 3)), features, 1, rng)
    film["sum"] += rng.uniform(0, 0.2, (*features.shape, 1))  # what the surface mirrors, whatever its texture
    found = run(wavelets, film, features)
    assert abs(found - film["sum"]).max() > 0.02
    np.testing.assert_allclose(found.mean(), film["sum"].mean(), rtol=2e-3)  # as above


def test_what_has_converged_stays_as_it_is(wavelets: Wavelets) -> None:
    rng, features = np.random.default_rng(7), wall(samples=4)
    film = film_of(rng.uniform(0.5, 2, (*features.shape, 3)), features, 4, rng)
    film["square"] = 0
    film["square"][:, 30:] = 3.0
    found, given = run(wavelets, film, features), film["sum"] / 4
    np.testing.assert_allclose(found[:, :28], given[:, :28], rtol=1e-5)
    assert abs(found - given)[:, 32:].max() > 0.1


def test_of_many_samples_a_smaller_range_counts_as_alike(wavelets: Wavelets) -> None:
    """A step of light of twice the noise in it: of few samples the filter blurs it, of many it stays."""
    assert [deviations(n) for n in (0, 1, 4, 64, 10**6)] == [3.0, 3.0, 3.0, 1.5, 1.0]
    moved = []
    for samples in (4, 64):
        features = wall(samples=samples)
        light = np.ones((*features.shape, 3))
        light[:, 19:] = 1.2
        film = film_of(light, features, samples, np.random.default_rng(9))
        film["square"] = 0.1**2 * samples * (samples - 1) * (film["sum"][..., 0] / samples / light[..., 0]) ** 2
        found, given = run(wavelets, film, features), film["sum"] / samples
        moved.append(float(np.mean(abs(found - given))))
    # Two deviations of 3 or of 1.5 are an exponent of 0.7 or of 1.3, at each of the steps.
    assert 0 < moved[1] < 0.8 * moved[0]


def test_adaptive_sampling_tells_the_variance_of_every_pixel(wavelets: Wavelets) -> None:
    rng, features = np.random.default_rng(8), wall(samples=4)
    film = film_of(rng.uniform(0.5, 2, (*features.shape, 3)), features, 32, rng)
    film["sum"] /= 8
    device, size = wavelets.device, features.shape[::-1]
    film["count"][:, 20:] = 64
    film["sum"][:, 20:] *= 2
    halves = Halves((film["sum"] @ LUMINANCE / 2).astype(np.float32), film["count"] / 2)  # both alike: no variance
    film["square"] = 1e3
    whole = Film(*size, {name: np.ascontiguousarray(film[name]) for name in ("sum", "compensation", "square", "count")})
    whole.halves, whole.sample_budget = (
        halves,
        SampleBudget(film["count"].copy(), np.zeros(features.shape, np.float32), 0.1, 1.0),
    )
    with device.current():
        held, buffer = FilmBuffer(device, size, whole), Buffer(device, FEATURES, size)
        buffer.write(features)
        found = picture_of(wavelets, held, buffer)
        held.release()
        buffer.release()
    np.testing.assert_allclose(found, film["sum"] / film["count"][..., None], rtol=1e-4)


@pytest.mark.parametrize("case", ["one pixel", "no hits", "lamps alone"])
def test_defined_pictures(wavelets: Wavelets, case: str) -> None:
    features = wall((1, 1) if case == "one pixel" else (6, 4))
    if case != "one pixel":
        features["albedo"], features["emission"] = 0, 2.5
    if case == "no hits":
        features["hits"] = features["depth"] = 0
        features["normal"] = 0
    film = film_of(np.ones((*features.shape, 3)), features, 1, np.random.default_rng(0))
    np.testing.assert_allclose(run(wavelets, film, features), film["sum"], rtol=1e-6, atol=1e-6)


def test_no_pixel_of_an_even_wall_stands_out_of_the_filtered_noise(wavelets: Wavelets) -> None:
    """However much the halves of its samples agree by chance: a squared difference is below a hundredth of the variance
    in 8 % of the pixels."""
    size = 96, 96
    rng, features = np.random.default_rng(12), wall(size, samples=32)
    parts = 1.0 + 0.4 * rng.standard_normal((2, *features.shape))
    film = film_of(np.zeros((*features.shape, 3)), features, 32, rng)
    film["sum"] = (8.0 * parts.sum(axis=0))[..., None]  # a mean of 0.5, of an albedo of 0.5
    halves = Halves((8.0 * parts[0]).astype(np.float32), np.full(features.shape, 16, np.float32))
    found = run(wavelets, film, features, halves)[8:-8, 8:-8, 0]
    near = [np.roll(found, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    apart = abs(found - np.median(near, axis=0))[1:-1, 1:-1]
    # The noise has a standard deviation of 0.14, of which more than half stays in such a pixel.
    assert (apart > 0.07).mean() < 2e-3


def fireflies_of_agreeing_halves(size: tuple[int, int], noise: float) -> tuple[NDArray, NDArray, Halves, NDArray]:
    """Film, features, halves, and which pixels (H, W): lone ones three times as bright as an even wall of irradiance 1,
    by a rare path in either half of their samples."""
    rng, features = np.random.default_rng(21), wall(size, samples=32)
    parts = 1.0 + noise * rng.standard_normal((2, *features.shape))
    lone = np.zeros(features.shape, bool)
    lone[11::16, 9::16] = True
    parts[:, lone] += 2.0
    film = film_of(np.zeros((*features.shape, 3)), features, 32, rng)
    film["sum"] = (8.0 * parts.sum(axis=0))[..., None]
    return film, features, Halves((8.0 * parts[0]).astype(np.float32), np.full(features.shape, 16, np.float32)), lone


def test_no_firefly_stays_whose_halves_agree(wavelets: Wavelets) -> None:
    """Its light is spread, and not lost."""
    film, features, halves, lone = fireflies_of_agreeing_halves((96, 96), 0.2)
    found = run(wavelets, film, features, halves)[..., 0]
    assert abs(found[lone] - 0.5).max() < 0.15  # it was 1 above
    np.testing.assert_allclose(found.mean(), film["sum"][..., 0].mean() / 32, rtol=2e-3)


def test_a_lone_bright_pixel_without_noise_stays(wavelets: Wavelets) -> None:
    film, features, halves, _ = fireflies_of_agreeing_halves((96, 96), 0.0)
    np.testing.assert_allclose(run(wavelets, film, features, halves), film["sum"] / 32, rtol=1e-3)


def test_what_varies_by_more_than_noise_keeps_its_variance(wavelets: Wavelets) -> None:
    """Sharp stripes, as a mirror shows them, with little noise beside a patch of much."""
    rng, features = np.random.default_rng(13), wall(samples=32)
    _, x = np.indices(features.shape)
    light = np.where(x // 2 % 2 == 0, 0.2, 1.0)
    parts = light + np.where(x < 6, 0.3, 0.01) * rng.standard_normal((2, *features.shape))
    film = film_of(np.zeros((*features.shape, 3)), features, 32, rng)
    film["sum"] = (8.0 * parts.sum(axis=0))[..., None]
    halves = Halves((8.0 * parts[0]).astype(np.float32), np.full(features.shape, 16, np.float32))
    found = run(wavelets, film, features, halves)[..., 0]
    assert abs(found - 0.5 * light)[:, 12:].max() < 0.05


@pytest.mark.parametrize("sample", [1e20, 1e30])
def test_the_brightest_samples_of_halves_leave_no_broken_pixels(wavelets: Wavelets, sample: float) -> None:
    rng, features = np.random.default_rng(3), wall(samples=32)
    film = film_of(np.ones((*features.shape, 3)), features, 32, rng)
    halves = Halves((film["sum"] @ LUMINANCE / 2).astype(np.float32), np.full(features.shape, 16, np.float32))
    film["sum"][14, 20] = sample
    assert np.isfinite(run(wavelets, film, features, halves)).all()


@pytest.mark.parametrize("sample", [1e20, 1e30])
def test_the_brightest_samples_that_a_film_takes_leave_no_broken_pixels(wavelets: Wavelets, sample: float) -> None:
    """NaN and infinite samples do not come into a film (`test_accumulate`); what is just below them stays in its place:
    every pixel is a finite number, and those that it does not reach are what they were."""
    rng, features = np.random.default_rng(3), wall()
    film = film_of(np.ones((*features.shape, 3)), features, 1, rng)
    film["sum"][14, 20] = sample
    assert np.isfinite(run(wavelets, film, features)).all()
