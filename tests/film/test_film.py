"""Film, tone curve, exposure and layers."""

from __future__ import annotations

import io

import glsl_call
import numpy as np
import pytest
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.film import tonemap
from raystream.film.error import Stop
from raystream.film.film import Film, luminance
from raystream.film.tonemap import MIDDLE_GREY, block_means, srgb8, stops
from raystream.renderer.preview.scheduler import METERED
from raystream.renderer.sampling.picture import Picture
from raystream.renderer.sequence import Frame, save_frames
from raystream.stream.gl.stream import float_texture
from raystream.stream.machines.counters import Stats
from raystream.viewport.picture_texture import ADAPTING, AutoExposure


def published(linear: np.ndarray) -> np.ndarray:
    """IEC 61966-2-1:1999 in float64: the code to nearest, before rounding."""
    value = np.clip(np.asarray(linear, np.float64), 0, 1)
    return 255 * np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)


def test_srgb_rounds_to_the_nearest_code() -> None:
    linear = np.random.default_rng(1).uniform(0, 1, 300_000).astype(np.float32)
    linear = np.concatenate([linear, linear * np.float32(0.01), np.float32(2.0) ** np.arange(-30, 3)])
    exact = published(linear)
    # The published constants of the two directions meet only to 1e-6 of a code near the toe.
    assert np.abs(srgb8(linear) - exact).max() <= 0.5 + 1e-4
    assert np.unique(srgb8(linear)).tolist() == list(range(256))


def test_srgb_changes_exactly_half_way() -> None:
    """At the float32 numbers on either side of every exact half-way point."""
    half = tonemap.decode((np.arange(255) + 0.5) / 255)
    for way in (np.float32(0), np.float32(2)):
        near = half.astype(np.float32)
        near = np.where((near < half) == (way > 1), np.nextafter(near, way), near)
        assert ((near >= half) == (way > 1)).all()
        np.testing.assert_array_equal(srgb8(near), np.arange(255) + (way > 1))


def test_srgb_of_what_is_no_colour() -> None:
    values = np.array([np.nan, np.inf, -np.inf, -1, -0.0, 1, 1e38, 3e38, 1e-45], np.float32)
    assert srgb8(values).tolist() == [0, 255, 0, 0, 0, 255, 255, 255, 0]
    assert srgb8(values, exposure=10).tolist() == [0, 255, 0, 0, 0, 255, 255, 255, 0]


def test_exposure_is_in_stops() -> None:
    linear = np.linspace(0, 0.25, 1000, dtype=np.float32)
    np.testing.assert_array_equal(srgb8(linear, exposure=2), srgb8(linear * 4))
    np.testing.assert_array_equal(srgb8(linear, exposure=-1), srgb8(linear / 2))


def test_film_is_the_mean_of_its_samples() -> None:
    film = Film(7, 5)
    assert film.size == (7, 5) and not film.linear.any()
    samples = np.random.default_rng(2).uniform(0, 4, (8, 5, 7, 3)).astype(np.float32)
    film.add(samples[0])
    np.testing.assert_array_equal(film.linear, samples[0])  # one sample stays what it is, to the bit
    for sample in samples[1:]:
        film.add(sample)
    # eight float32 additions
    np.testing.assert_allclose(film.linear, samples.astype(np.float64).mean(axis=0), rtol=8 * 2**-24)
    assert film.linear.dtype == np.float32
    film.clear()
    assert not film.linear.any() and not film.count.any()


def test_film_takes_pieces() -> None:
    film, whole = Film(6, 4), np.random.default_rng(3).uniform(size=(4, 6, 3)).astype(np.float32)
    for x in (0, 4):
        for y in (0, 1):
            film.add(whole[y : y * 4 + 1, x : x + 4][: 3 if y else 1], x, y)
    np.testing.assert_array_equal(film.linear, whole)
    np.testing.assert_array_equal(film.count, 1)
    with pytest.raises(ValueError, match="do not fit"):
        film.add(np.zeros((2, 2, 3)), 5, 0)


# -- tone maps -------------------------------------------------------------------------------------------------------

COLORS = np.concatenate(
    [
        np.random.default_rng(6).lognormal(0, 2, (3000, 3)),
        np.outer(2.0 ** np.arange(-16, 12), [1, 1, 1]),
        [[0, 0, 0], [1e-8, 0, 0], [1e5, 0, 0], [0, 1e30, 0], [-1, 0.5, 2]],
    ]
).astype(np.float32)


@pytest.mark.parametrize("name", list(tonemap.TONEMAPS))
def test_tonemaps_on_the_device(device, name) -> None:
    function = glsl_call.Function(device, "vec3 tonemap(int which, vec3 linear)", ["lib/tonemap.glsl"])
    (found,) = function(np.full(len(COLORS), list(tonemap.TONEMAPS).index(name)), COLORS)
    twin = tonemap.TONEMAPS[name](COLORS)
    assert np.isfinite(twin).all() and twin.dtype == np.float32
    # Quotients and matrices of float32; of AgX the logarithm and the power of llvmpipe, good to about 2^-17 of a stop.
    # A code of 8 bits is a step of 4e-3.
    np.testing.assert_allclose(found, twin, rtol=2e-6, atol=2e-4 if name == "agx" else 2e-6)


@pytest.mark.parametrize("name", ["reinhard", "aces", "agx"])
def test_tonemaps_are_curves(name) -> None:
    """Grey stays grey, more light is never darker, black is black, and the brightest is white."""
    grey = np.outer(np.linspace(0, 1000, 50_000, dtype=np.float32), np.ones(3, np.float32))
    mapped = tonemap.TONEMAPS[name](grey)
    np.testing.assert_allclose(
        mapped, mapped[:, :1] * np.ones(3), atol=2e-3
    )  # the rows of AgX and ACES sum to 1 only so
    steps = np.diff(mapped[:, 1].astype(np.float64))
    assert steps.min() > -2e-5  # AgX's polynomial turns over by 1e-5 at its upper end
    assert abs(mapped[0]).max() < 1e-3
    codes = srgb8(np.array([[np.inf] * 3, [1e30] * 3, [np.nan] * 3, [-np.inf] * 3], np.float32), tonemap=name)
    assert codes[:2].min() >= 250 and codes[2:].max() == 0


def test_tonemaps_at_published_points() -> None:
    """Reinhard: white at 4. Hill's ACES: by hand. AgX: middle grey (0.18) is half of the display's code values."""
    at = lambda name, value: float(tonemap.TONEMAPS[name](np.full((1, 3), value, np.float32))[0, 1])  # noqa: E731
    assert at("reinhard", 4.0) == pytest.approx(1, abs=1e-6) and at("reinhard", 1.0) == pytest.approx(17 / 32, abs=1e-6)
    v = 0.18 * (0.076 + 0.90834 + 0.01566)
    fit = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.432951) + 0.238081)
    assert at("aces", 0.18) == pytest.approx(fit, rel=1e-3)
    assert at("agx", 0.18) ** (1 / 2.2) == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize("name", list(tonemap.TONEMAPS))
def test_the_window_shows_what_a_png_holds(device, name) -> None:
    """``film/show.glsl`` into an 8-bit target, against `srgb8`: the same code, or the next one where it is close."""
    from raystream.viewport.picture_texture import Display

    display = Display(device)
    linear = COLORS[: 16 * 16].reshape(16, 16, 3)
    context = device.context
    picture = context.texture((16, 16), 4, np.dstack([linear, np.ones((16, 16), np.float32)]).tobytes(), dtype="f4")
    target = context.framebuffer([context.texture((16, 16), 3)])
    wanted = srgb8(linear, -1.5, name)
    display.draw(picture, target, (16, 16), -1.5, name)
    shown = np.frombuffer(target.read(components=3, alignment=1), np.uint8).reshape(16, 16, 3)[::-1]
    assert np.abs(shown.astype(int) - wanted).max() <= 1
    assert (shown == wanted).mean() > 0.97


def test_a_small_picture_is_enlarged_as_it_is_displayed(device) -> None:
    """Between the codes of the four pixels around."""
    from raystream.viewport.picture_texture import Display

    display, context = Display(device), device.context
    linear = COLORS[: 8 * 6].reshape(6, 8, 3)
    picture = context.texture((8, 6), 4, np.dstack([linear, np.ones((6, 8), np.float32)]).tobytes(), dtype="f4")
    target = context.framebuffer([context.texture((16, 12), 3)])
    display.draw(picture, target, (16, 12), -1.5, "agx")
    shown = np.frombuffer(target.read(components=3, alignment=1), np.uint8).reshape(12, 16, 3)[::-1].astype(int)
    codes = srgb8(linear, -1.5, "agx").astype(float)
    for axis, length in ((0, 12), (1, 16)):
        at = np.clip((np.arange(length) + 0.5) / 2 - 0.5, 0, codes.shape[axis] - 1)
        low = np.minimum(at.astype(int), codes.shape[axis] - 2)
        share = (at - low).reshape(-1, *([1] * (2 - axis)))
        codes = np.take(codes, low, axis) * (1 - share) + np.take(codes, low + 1, axis) * share
    assert np.abs(shown - codes).max() <= 2  # of a code off by one, and a sampler's eight bits


def test_films_join_as_one_addition() -> None:
    """The sum is that of all samples in two floats, and the squared deviations those of all, but for the rounding of a
    few float32 operations."""
    random = np.random.default_rng(3)
    samples = random.gamma(0.3, size=(37, 4, 5, 3)).astype(np.float32)
    one, other = Film(5, 4), Film(5, 4)
    for k, sample in enumerate(samples):
        (one if k < 21 else other).add(sample)
    one.join(other)
    exact = samples.sum(axis=0, dtype=np.float64)
    np.testing.assert_allclose(one.sum + one.compensation.astype(np.float64), exact, rtol=2**-44)
    spread = luminance(samples).astype(np.float64).var(axis=0) * 37
    np.testing.assert_allclose(one.square, spread, rtol=1e-5)
    assert (one.count == 37).all() and one.halves is None
    with pytest.raises(ValueError, match="does not join"):
        one.join(Film(5, 3))


@pytest.mark.parametrize(
    ("rule", "samples", "seconds", "share"),
    [
        (Stop(10), 5, 99.0, 0.5),
        (Stop(10), 0, 99.0, 0.0),
        (Stop(10, seconds=20.0), 1, 5.0, 0.25),
        (Stop(10, seconds=20.0), 8, 5.0, 0.8),
        (Stop(10, seconds=20.0), 2.5, 5.0, 0.25),
        (Stop(10, seconds=20.0), 1, 30.0, 1.0),
        (Stop(10, error=0.1), 4, 9.0, 0.4),
        (Stop(10), 12, 0.0, 1.0),
    ],
)
def test_progress_is_that_of_the_rule_that_is_nearer_its_end(
    rule: Stop, samples: float, seconds: float, share: float
) -> None:
    assert rule.share(samples, seconds) == share


RNG = np.random.default_rng(13)
PICTURE = (MIDDLE_GREY * np.exp(RNG.normal(0, 1, (60, 90, 1))) * [1.2, 1.0, 0.8]).astype(np.float32)


def auto(picture) -> float:
    return stops("auto", picture)


@pytest.mark.parametrize("size", [(1, 1), (7, 100), (33, 20), (90, 60)])
def test_the_device_measures_the_same(device, size) -> None:
    width, height = size
    picture = np.resize(PICTURE, (height, width, 3))
    picture[0, 0] = np.nan if size[0] > 1 else 0.5
    texture = float_texture(device, size)
    texture.write(np.concatenate([picture, np.ones((height, width, 1), np.float32)], axis=2).tobytes())
    with device.current():
        # Sums of up to nine numbers in float32 against float64.
        assert AutoExposure(device).measure(texture) == pytest.approx(auto(picture), abs=1e-5)
    tall, wide = block_means(picture).shape
    assert max(tall, wide) <= 32


def test_the_meter_follows(device) -> None:
    bright, dim = (float_texture(device, (2, 2)) for _ in range(2))
    bright.write(np.full((2, 2, 4), 64.0, np.float32).tobytes())
    dim.write(np.full((2, 2, 4), 1 / 64, np.float32).tobytes())
    meter = AutoExposure(device)
    with device.current():
        meter.follow(dim, 0.0, 0.03, last=False)
        first = meter.stops
        assert meter.reached and first == meter.measure(dim) > 2  # at once
        meter.follow(bright, METERED / 2, ADAPTING, last=False)
        assert meter.reached and meter.stops == first  # not looked at yet
        meter.follow(bright, METERED, ADAPTING, last=False)
        assert not meter.reached and meter.stops < first
        for _ in range(30):
            meter.follow(bright, METERED, ADAPTING, last=True)
        assert meter.reached and meter.stops == meter.measure(bright) < -2
        assert not meter.follow(dim, 10 * METERED, ADAPTING, last=True, same=True) and meter.reached  # nothing is new
        meter.begin()  # another scene, in the same moment
        assert meter.follow(dim, 10 * METERED, 0.03, last=False, same=True) and meter.stops == first


def test_pictures_take_it_where_no_number_is_given(tmp_path) -> None:
    picture = Picture(PICTURE / 64, {}, Stats())
    shown = picture.stops()
    assert shown > 3
    np.testing.assert_array_equal(picture.srgb8(), srgb8(picture.linear, shown, "agx"))
    np.testing.assert_array_equal(picture.srgb8(0, "none"), srgb8(picture.linear))
    with Image.open(io.BytesIO(picture.png())) as file:
        assert file.info["exposure"] == f"{shown:.4g} (auto)" and file.info["tonemap"] == "agx"
        np.testing.assert_array_equal(np.asarray(file), picture.srgb8())
    picture.save(tmp_path / "a.exr", "auto")
    with pytest.raises(ViewerError, match="expected auto or a number of stops from -32 to 32"):
        picture.srgb8("automatic")


def test_frames_are_exposed_as_the_first_one(tmp_path) -> None:
    frames = [Picture(PICTURE * np.float32(2.0**-k), {}, Stats()) for k in range(3)]
    save_frames(str(tmp_path / "%d.png"), (Frame(k, 0.0, each) for k, each in enumerate(frames)), 30)
    for number, each in enumerate(frames):
        with Image.open(tmp_path / f"{number}.png") as file:
            np.testing.assert_array_equal(np.asarray(file), each.srgb8(frames[0].stops()))
