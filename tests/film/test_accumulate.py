"""The film's sum on the device: no drift over 65,536 samples, against float64; the spread; what is no radiance."""

from __future__ import annotations

import shutil

import glsl_call
import numpy as np
import pytest
from numpy.typing import NDArray

from raystream.base import paths
from raystream.film.error import Stop
from raystream.film.film import Film, clamp
from raystream.kernels.records import FILM
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import INOUT, Kernel
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.singlepass import Singlepass

SAMPLES = 65536
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])

# Sample k of a pixel: values that float32 sums badly, of 24 random bits and scales from 2^-8 to 2^7. All exact.
_LOOP = """
vec3 sample_of(int pixel, int k) {
    uint word = uint(pixel * 65536 + k) * 2654435769u;
    word ^= word >> 15u;
    word *= 2246822519u;
    word ^= word >> 13u;
    float size = exp2(float(int(word & 15u) - 8));
    vec3 whole = vec3(float(int(word >> 8u)), float(int((word >> 4u) & 0xFFFFu) * 256), 3000001.0);
    return whole * 5.9604644775390625e-8 * size;
}
void many(inout Film film, int pixel, int first, int count) {
    for (int k = 0; k < count; ++k) film_add(film, sample_of(pixel, first + k));
}"""


def samples_of(pixel: int, first: int, count: int) -> NDArray[np.float32]:
    """(count, 3): the samples of ``_LOOP``."""
    word = ((pixel * 65536 + first + np.arange(count, dtype=np.uint64)) * 2654435769 & 0xFFFFFFFF).astype(np.uint32)
    word ^= word >> np.uint32(15)
    word = (word.astype(np.uint64) * 2246822519 & 0xFFFFFFFF).astype(np.uint32)
    word ^= word >> np.uint32(13)
    size = 2.0 ** ((word & 15).astype(np.float64) - 8)
    blue = np.full(count, 3000001.0)
    whole = np.stack([(word >> 8).astype(np.float64), ((word >> 4) & 0xFFFF) * 256.0, blue], axis=-1)
    return (whole * 2.0**-24 * size[:, None]).astype(np.float32)


@pytest.fixture(scope="module")
def many(device):
    return glsl_call.Function(
        device,
        "void many(inout Film film, int pixel, int first, int count)",
        ["film/accumulate.glsl"],
        records=[FILM],
        text=_LOOP,
    )


def run(many, films: NDArray, first: int, count: int) -> NDArray:
    pixels = np.arange(len(films))
    (found,) = many(films, pixels, np.full(len(films), first), np.full(len(films), count))
    return found


def test_no_drift_over_65536_samples(many):
    # llvmpipe ends loops after 65,535 turns: two runs.
    found = run(many, run(many, np.zeros(64, FILM.dtype), 0, SAMPLES // 2), SAMPLES // 2, SAMPLES // 2)
    naive = 0.0
    for pixel in range(0, 64, 7):
        drawn = samples_of(pixel, 0, SAMPLES)
        exact = drawn.astype(np.float64).sum(axis=0)  # 64 bits have room for all of these sums
        total = found[pixel]["sum"].astype(np.float64) + found[pixel]["compensation"]
        # Each addition to the pair rounds at 2^-48 of it: 65,536 x 2^-48 = 2^-32, and the last digit is float32's.
        np.testing.assert_allclose(total, exact, rtol=2**-32)
        np.testing.assert_allclose(found[pixel]["sum"], exact, rtol=2**-24)
        naive = max(naive, np.abs(np.cumsum(drawn, axis=0, dtype=np.float32)[-1] / exact - 1).max())
        assert found[pixel]["count"] == SAMPLES
        light = drawn.astype(np.float64) @ LUMINANCE
        # A sum of 65,536 positive float32 whose roundings do not add up: measured 2e-5, at worst 65,536 x 2^-24.
        assert found[pixel]["square"] == pytest.approx(((light - light.mean()) ** 2).sum(), rel=2e-4)
    assert naive > 1e-6  # the test has samples that plain float32 sums wrongly


# A program whose kernel adds 64 samples in a call, and calls itself until 16,384 are in: as machines run programs.
AT = Record("At", Field("number", "int"), Field("first", "int"))
POUR = Kernel("pour", (INOUT("pixel", AT), INOUT("film", FILM)), ("again", "done"))
_POUR = f"""#include "film/accumulate.glsl"
{_LOOP}
int pour(inout At pixel, inout Film film) {{
    many(film, pixel.number, pixel.first, 64);
    pixel.first += 64;
    return pixel.first % {SAMPLES // 4} > 0 ? EXIT_AGAIN : EXIT_DONE;
}}
"""
POURED = Program(
    "pour",
    streams={"pixel": AT, "film": FILM},
    inputs=("pixel", "film"),
    results=("pixel", "film"),
    states=(State("pour", POUR, {"again": "pour", "done": DONE}),),
    start="pour",
)


def test_no_drift_in_the_programs_of_the_machines(device, tmp_path, monkeypatch):
    """As generated, all outputs ``invariant``: the compensation is neither simplified away nor computed otherwise."""
    shutil.copytree(paths.shaders(), tmp_path / "shaders")
    (tmp_path / "shaders" / "kernels" / "pour.glsl").write_text(_POUR)
    monkeypatch.setattr(paths, "shaders", lambda: tmp_path / "shaders")
    found = []
    for make in (Singlepass, lambda *given: Multipass(*given, unroll=100)):
        machine = make(device, LinkedProgram(POURED, ()), (8, 4))
        pixel = np.zeros((4, 8), AT.dtype)
        pixel["number"] = np.arange(32).reshape(4, 8)
        machine.write("pixel", pixel)
        machine.write("film", np.zeros((4, 8), FILM.dtype))
        for _ in range(4):  # llvmpipe ends loops after 65,535 turns of all together
            machine.finish()
        found.append(machine.read("film").reshape(-1))
        machine.release()
    np.testing.assert_array_equal(found[0], found[1])
    for number in (0, 13, 31):
        exact = samples_of(number, 0, SAMPLES).astype(np.float64).sum(axis=0)
        total = found[0][number]["sum"].astype(np.float64) + found[0][number]["compensation"]
        np.testing.assert_allclose(total, exact, rtol=2**-32)  # as above
        assert found[0][number]["count"] == SAMPLES


def test_bits_of_the_twin_and_of_a_resumed_sum(many):
    """Any cut into runs gives the same bits, and `Film.add` gives them too."""
    whole = run(many, np.zeros(48, FILM.dtype), 0, 300)
    first = run(many, np.zeros(48, FILM.dtype), 0, 113)
    np.testing.assert_array_equal(run(many, first, 113, 187), whole)
    film = Film(8, 6)
    drawn = np.stack([samples_of(pixel, 0, 300) for pixel in range(48)]).reshape(6, 8, 300, 3)
    for k in range(300):
        film.add(drawn[:, :, k])
    for name, array in film.arrays.items():
        np.testing.assert_array_equal(array.reshape(whole[name].shape), whole[name], err_msg=name)
    stored = Film(8, 6)
    stored.store(whole.reshape(6, 8))
    np.testing.assert_array_equal(stored.records(), film.records())
    np.testing.assert_array_equal(stored.records(2, 1, 5, 3), whole.reshape(6, 8)[1:4, 2:7])


BROKEN = [np.nan, np.inf, -np.inf, 3.4e38, -(2.0**100)]


def test_what_is_no_radiance_counts_as_black(device):
    add = glsl_call.Function(
        device, "void film_add(inout Film film, vec3 radiance)", ["film/accumulate.glsl"], records=[FILM]
    )
    samples = np.full((4 * len(BROKEN), 3), 0.5, np.float32)
    for k, value in enumerate(BROKEN):
        for component in range(3):
            samples[4 * k + component, component] = value
    before = np.zeros(len(samples), FILM.dtype)
    before["sum"], before["count"], before["square"] = 3.0, 2.0, 0.125
    (after,) = add(before, samples)
    film = Film(len(samples), 1)
    film.store(before[None])
    film.add(samples[None])
    np.testing.assert_array_equal(film.records()[0], after)
    broken = np.arange(len(samples)) % 4 < 3
    np.testing.assert_array_equal(after["count"], 3)
    np.testing.assert_array_equal(after["sum"], np.where(broken, 3, 3.5)[:, None] * np.ones(3))
    # Three samples, 1.5, 1.5 (with spread 1/8) and 0: the mean falls to 1, and the squares add (1.5 - 0) (1 - 0).
    np.testing.assert_allclose(after["square"][broken], 0.125 + 1.5, rtol=4 * 2**-24)
    assert all(np.isfinite(after[name]).all() for name in FILM.dtype.names)


def test_the_brightest_samples_stay_finite(device):
    add = glsl_call.Function(
        device,
        "void add_all(inout Film film, vec3 radiance, int count)",
        ["film/accumulate.glsl"],
        records=[FILM],
        text="""void add_all(inout Film film, vec3 radiance, int count) {
            for (int k = 0; k < count; ++k) film_add(film, k % 2 == 0 ? radiance : -radiance);
        }""",
    )
    (found,) = add(np.zeros(2, FILM.dtype), np.array([[1.2e30] * 3, [1e16] * 3], np.float32), [SAMPLES - 1] * 2)
    assert all(np.isfinite(found[name]).all() for name in FILM.dtype.names)


def test_clamp_keeps_the_hue(device):
    function = glsl_call.Function(
        device, "vec3 film_clamp(vec3 radiance, float most)", ["film/accumulate.glsl"], records=[FILM]
    )
    samples = np.random.default_rng(1).uniform(0, 30, (500, 3)).astype(np.float32)
    samples[:3] = (0, 0, 0), (10, 10, 10), (5, 10, 2)
    for most in (0.0, 10.0):
        (found,) = function(samples, np.full(500, most))
        twin = clamp(samples, most)
        np.testing.assert_allclose(found, twin, rtol=2 * 2**-24)  # a product and a quotient
        largest = samples.max(axis=1, keepdims=True)
        kept = (largest <= 10)[:, 0] | (most == 0)
        np.testing.assert_array_equal(found[kept], samples[kept])
        if most:
            np.testing.assert_allclose(found[~kept], (samples * 10 / np.maximum(largest, 10))[~kept], rtol=1e-6)


# -- spread ----------------------------------------------------------------------------------------------------------


def film_of(drawn: NDArray) -> Film:
    """drawn: (samples, H, W, 3)."""
    film = Film(drawn.shape[2], drawn.shape[1])
    for samples in drawn:
        film.add(samples)
    return film


def test_variance_is_that_of_the_mean():
    rng = np.random.default_rng(3)
    drawn = rng.gamma(2.0, 1.5, (64, 20, 30, 3)).astype(np.float32)
    film = film_of(drawn)
    light = drawn.astype(np.float64) @ LUMINANCE
    np.testing.assert_allclose(film.variance(), light.var(axis=0, ddof=1) / 64, rtol=64 * 2**-24)
    exact = np.sqrt((light.var(axis=0, ddof=1) / 64).mean()) / light.mean()
    assert film.error() == pytest.approx(exact, rel=1e-5)
    # The truth: the means scatter by that much around the gamma distribution's own mean, 3.
    assert np.sqrt(np.mean((light.mean(axis=0) - 3) ** 2)) / 3 == pytest.approx(
        film.error(), rel=0.12
    )  # 600 pixels: 4 x 2.9 %


def test_a_small_spread_on_a_bright_ground_is_not_lost():
    """Where a sum of squares cancels: a deviation of 1/1000 of the mean, after 512 samples."""
    drawn = (1000 + np.random.default_rng(4).normal(0, 1, (512, 4, 5, 1))).astype(np.float32) * np.ones(3, np.float32)
    light = drawn.astype(np.float64) @ LUMINANCE
    np.testing.assert_allclose(film_of(drawn).variance(), light.var(axis=0, ddof=1) / 512, rtol=0.01)


def test_films_without_spread():
    film = Film(3, 2)
    assert np.isposinf(film.variance()).all() and film.error() == np.inf and not film.mean().any()
    film.add(np.zeros((2, 3, 3)))
    assert film.error() == np.inf
    film.add(np.zeros((2, 3, 3)))
    assert film.error() == 0
    film.clear()
    for _ in range(100):
        film.add(np.full((2, 3, 3), 0.3))
    assert film.error() < 1e-7  # 100 x 0.3 is no float32: the mean is off by a rounding
    film.add(np.full((1, 1, 3), 0.3))  # a pixel may have more samples than another
    assert film.count[0, 0] == 101 and film.error() < 1e-7


def test_stop_rules():
    assert Stop(4).reason(3, 1e9) == "" and Stop(4).reason(4, 0) == "spp"
    assert Stop(9, seconds=2.0).reason(1, 1.99) == "" and Stop(9, seconds=2.0).reason(1, 2.0) == "time"
    film = film_of(np.random.default_rng(5).uniform(0, 1, (32, 8, 8, 3)).astype(np.float32))
    error = film.error()
    for bound, reason in ((error * 1.01, "error"), (error * 0.99, "")):
        rule = Stop(65536, error=bound)
        assert not rule.needs_error(15) and rule.needs_error(32)
        assert rule.reason(32, 0.0, error) == reason
        assert not rule.needs_error(35) and rule.needs_error(36)  # an eighth more
    assert not Stop(9).needs_error(1000)
