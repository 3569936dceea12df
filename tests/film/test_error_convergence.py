"""The rate at which means converge: errors of evenly spread points, estimated from their halves."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.film.device_film import FilmBuffer
from raystream.film.error import EARLIER_SHARE, EDGE, FIRST_HALF, Halves, round_ends, variance_of_mean
from raystream.film.files.checkpoint import film_metadata, resume, save
from raystream.film.film import Film

SIZE = (40, 30)
ROUNDING = (EDGE * EDGE + 16) * 2.0**-24  # of a sum over a block of pixels in float32, see test_buffers


def stratified(samples: int, share: float, seed: int = 0, size: tuple[int, int] = SIZE) -> np.ndarray:
    """(samples, H, W): of mean 1 noise, and an edge anywhere seen from points of which each aligned 2^k lie one in each
    of 2^k equal intervals: its mean errs by 1 / n."""
    rng, (width, height) = np.random.default_rng(seed), size
    total = 1 << (samples - 1).bit_length()
    order = np.zeros((height, width, 1), int)
    while order.shape[-1] < total:  # nested uniform scrambling of van der Corput's points
        n = order.shape[-1]
        flips = rng.integers(0, 2, (height, width, n))
        order = np.concatenate([2 * order + flips, 2 * order + 1 - flips], axis=-1)
    # order[i] is the interval of 2^-m of point i; the second half's points lie in the other halves of the first's.
    points = (order + rng.random(order.shape)) / order.shape[-1]
    edge = rng.random((height, width, 1))
    values = 1 + share * ((points < edge) - edge) + (1 - share) * (rng.random(points.shape) - 0.5)
    return np.moveaxis(values, -1, 0)[:samples]


def filled(values: np.ndarray) -> Film:
    """Of grey samples (n, H, W), with the halves that a render keeps."""
    film, done = Film(*values.shape[:0:-1]), 0
    for end in round_ends(0, len(values)):
        film.store_half()
        for sample in values[done:end]:
            film.add(np.repeat(sample[..., None], 3, axis=-1))
        done = end
    return film


@pytest.mark.parametrize("samples", [8, 12, 16, 40, 64])
@pytest.mark.parametrize("share", [0.0, 0.7, 1.0])
def test_the_error_falls_at_the_points_own_rate(samples: int, share: float) -> None:
    """1,200 pixels, each with its own scrambling: the errors are known to 2 %, and a difference of halves to 4 %; the
    fit of two rates extrapolates it by up to three times that. Taken for independent the error is up to 5 times it."""
    film = filled(stratified(samples, share))
    real = float(np.sqrt(np.mean((film.mean()[..., 0] - 1.0) ** 2)))
    naive = float(np.sqrt(np.mean(film.variance())))
    assert film.error() == pytest.approx(real, rel=0.15)
    assert film.efficiency() == pytest.approx((film.error() / naive) ** 2, rel=0.02)  # the mean is not just 1
    if share == 1.0:
        assert naive > 2 * real


def test_without_halves_samples_are_independent() -> None:
    assert variance_of_mean(0.5, 100, {}) == 0.5
    assert variance_of_mean(0.5, 100, {7: 0.1}) == 0.5  # of more samples than there are
    assert variance_of_mean(0.0, 100, {3: 0.1}) == 0.0
    film = filled(stratified(7, 1.0))
    assert film.convergence_history() == ({}, {}, {}) and film.relative_std_error() == 0 and film.efficiency() == 1.0


@pytest.mark.parametrize("samples", [8, 11, 33, 48, 100, 256])
def test_what_the_fit_is_given_it_gives_back(samples: int) -> None:
    """V(n) = a / n + b / n^2, of which every number is exact; between powers of two only a / n is."""
    for a, b in ((1.0, 0.0), (0.0, 1.0), (0.3, 0.7)):

        def of(n: float, a: float = a, b: float = b) -> float:
            return a / n + b / n**2

        told = {k: 4 * (of(2 ** (k - 1)) - of(2**k)) for k in range(3, samples.bit_length())}
        spread = (a + b - of(samples)) / (samples - 1)
        found = variance_of_mean(spread, samples, told)
        if samples & (samples - 1) == 0 or b == 0:
            # Of two rates at once the last differences tell one that is between.
            assert found == pytest.approx(of(samples), rel=1e-6 if a * b == 0 else 0.05)
        else:
            assert of(2 ** samples.bit_length()) <= found <= spread  # one point more than a net spoils it


def test_measured_variances_of_fewer_samples_have_a_say() -> None:
    """V(n) = 1 / n by the differences; what is measured goes before, by `EARLIER_SHARE` what was measured earlier."""
    differences = {k: 4 * 2.0**-k for k in (3, 4, 5)}
    assert variance_of_mean(1 / 16, 16, differences, {4: 0.05}) == pytest.approx(0.05)
    assert variance_of_mean(1.0, 16, differences, {4: 0.05, 5: 9.0}) == pytest.approx(0.05)  # of more samples
    assert variance_of_mean(1 / 16, 16, differences, {3: 0.1, 4: 0.05}) == pytest.approx(0.05)  # both 0.8 / n
    off = {3: 0.1 * 2.0**-4, 4: 0.05 * 2.0**-2, 5: 0.025}
    expected = 0.025 * 2.0 ** (EARLIER_SHARE * (1 - EARLIER_SHARE) * -2 + EARLIER_SHARE**2 * -4)
    assert variance_of_mean(1 / 32, 32, differences, off) == pytest.approx(expected)


@pytest.mark.parametrize("told", [{3: 0.0}, {3: 0.0, 4: 0.0}, {3: 1e30, 4: 1e-30}, {4: 5.0}])
def test_differences_of_any_size_give_a_variance(told: dict[int, float]) -> None:
    assert 0 < variance_of_mean(0.01, 20, told) <= 0.01


def test_runs_end_where_halves_do() -> None:
    assert (
        round_ends(0, 3) == [3]
        and round_ends(0, 20) == [4, 8, 16, 20]
        and round_ends(5, 8) == [8]
        and round_ends(16, 17) == [17]
    )
    assert round_ends(100, 300) == [128, 256, 300] and FIRST_HALF == 4


@pytest.mark.parametrize("samples", [5, 8, 13, 16])
def test_the_device_keeps_the_same_halves(device, samples: int) -> None:
    values = stratified(samples, 0.8, size=(53, 37))
    film, buffer = Film(53, 37), FilmBuffer(device, (53, 37))
    done = 0
    for end in round_ends(0, samples):
        film.store_half()
        buffer.store_half()
        for sample in values[done:end]:
            film.add(np.repeat(sample[..., None], 3, axis=-1))
        buffer.write(film.records())
        buffer.samples = done = end
    back = buffer.film()
    assert film.halves is not None and back.halves is not None
    np.testing.assert_array_equal(back.halves.sum, film.halves.sum)
    np.testing.assert_array_equal(back.halves.count, film.halves.count)
    assert back.convergence_history()[0] == pytest.approx(film.convergence_history()[0], rel=ROUNDING) and len(
        back.convergence_history()[0]
    ) >= (samples >= 8)
    assert buffer.error() == pytest.approx(film.error(), rel=ROUNDING)
    # of sums of squares, each with its rounding; the host sums the film that is read back by itself
    assert (
        buffer.relative_std_error
        == pytest.approx(film.relative_std_error(), rel=4 * ROUNDING)
        == back.relative_std_error()
    )
    assert (film.relative_std_error() > 0) == (samples >= 8)
    assert buffer.efficiency == pytest.approx(film.efficiency(), rel=2 * ROUNDING)
    again = FilmBuffer(device, (53, 37), back)
    assert again.error() == buffer.error() and again.relative_std_error == buffer.relative_std_error
    buffer.clear()
    assert buffer.half == 0 and buffer.film().halves is None
    again.release()
    buffer.release()


def test_a_state_holds_the_halves_and_one_without_them_can_be_resumed(tmp_path) -> None:
    film = filled(stratified(20, 0.8))
    assert film.halves is not None and film.halves.differences.keys() == {3, 4}
    save(tmp_path / "a.exr", film, {"seed": 1})
    back = resume(tmp_path / "a.exr", SIZE, {"seed": 1})
    assert back.halves is not None and back.halves.differences == film.halves.differences
    assert back.halves.sum.tobytes() == film.halves.sum.tobytes() and back.error() == film.error()
    assert back.relative_std_error() == film.relative_std_error() == film.halves.relative_std_errors[4] > 0
    halves, film.halves = film.halves, None
    save(tmp_path / "old.exr", film, {"seed": 1})
    old = resume(tmp_path / "old.exr", SIZE, {"seed": 1})
    assert old.halves is None and old.efficiency() == 1.0 and old.error() > 1.5 * back.error()
    film.halves = Halves(halves.sum, halves.count, {3: 1.0})
    assert film_metadata(film, {})["film.differences"] == "3:1.0"
