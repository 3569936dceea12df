"""The variance of means by neighbours: of errors that go with each other in a pixel, in a row, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.film.adaptive import grant_samples, variances
from raystream.film.device_film import FilmBuffer
from raystream.film.error import (
    EDGE,
    INDEPENDENT,
    MAX_SMOOTH_RATIO,
    block_sums,
    blocks,
    neighbour_variances,
    ratios,
    ratios_by_spread,
    relative_std_error,
)
from raystream.film.film import Film, luminance

SIDE = 128  # pixels: 16,384 differences tell a variance to 1 %


def told(first: np.ndarray, second: np.ndarray, rate: float = 0.5, power: float = 1.0) -> float:
    """V of 16 samples by the means of their halves (H, W), whose differences have fallen at that rate before, of
    samples whose spread has fallen by that power: 1 of independent ones."""
    squares = (first - second) ** 2
    square = float(np.mean(squares))
    spreads = blocks(squares) / 4 / (2**power - 1) * 16 ** (power - 1)
    sums = block_sums((first + second) / 2, first - second)
    return float(np.sum(neighbour_variances(sums, spreads, 4, first.size, {3: square / rate, 4: square}))) / first.size


def errors(together: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, float]:
    """Of two halves (H, W), of variance 1 each, that correlate so in every pixel, and the variance of their mean."""
    rng = np.random.default_rng(seed)
    first, other = rng.standard_normal((2, SIDE, SIDE))
    second = together * first + np.sqrt(1 - together**2) * other
    return first, second, (1 + together) / 2


@pytest.mark.parametrize("together", [0.0, -0.5, -0.8])
def test_halves_that_err_in_opposite_ways_are_seen(together: float) -> None:
    """A smooth picture. The smaller of two ratios of 112 differences is some 10 % too small where the halves are
    independent, which makes an error 6 % too small, and less where it is far below a quarter."""
    first, second, real = errors(together)
    slope = np.linspace(0, 1, SIDE)  # smooth: what pixels side by side differ by is far below the noise
    assert 0.85 * real < told(first + slope, second + slope) < 1.05 * real


@pytest.mark.parametrize("turned", [False, True])
def test_an_edge_along_the_rows_or_columns_is_smooth_one_way(turned: bool) -> None:
    """A lamp's edge: ten times the noise beside it, and what its pixels have to become is known along it alone."""
    first, second, real = errors(-0.8)
    light = np.where(np.arange(SIDE) < SIDE // 2 + 3, 1000.0, 0.0)[:, None] * np.ones(SIDE)
    light[SIDE // 2 + 3] = 370.0
    noise = np.where(light == 370.0, 10.0, 0.1)
    pair = [light + noise * first, light + noise * second]
    if turned:
        pair = [each.T for each in pair]
    mean = light if not turned else light.T
    erred = float(np.mean(((pair[0] + pair[1]) / 2 - mean) ** 2))  # of the 128 pixels of the edge, nearly all
    # A block has 8 of these: by chance the ratio of one is not believed. The differences alone say 9 times as much.
    assert 0.75 * erred < told(*pair) < 1.5 * erred
    assert float(np.mean((pair[0] - pair[1]) ** 2)) / 4 > 6 * erred and real < 0.2


def test_a_texture_is_left_to_the_rate() -> None:
    """A quarter of the squared difference is V of independent samples; by the rate 1 / 4 it is a third of that, as by a
    spread that has fallen with the square of n; a spread that has not makes it larger."""
    first, second, _ = errors(0.0)
    texture = 100 * np.random.default_rng(1).random((SIDE, SIDE))
    assert np.isnan(ratios(block_sums(texture + first, first - second))).all()
    square = float(np.mean((first - second) ** 2))
    both = texture + first, texture + second
    assert told(*both) == pytest.approx(square / 4, rel=0.01)
    assert told(*both, 0.25, 2.0) == pytest.approx(square / 12, rel=0.1)  # by least squares
    assert told(*both, 0.25, 1.0) > 2 * told(*both, 0.25, 2.0)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("samples", [8, 32, 256])
def test_a_power_of_n_is_told_by_the_spread(power: float, samples: int) -> None:
    """What falls by a power of n from the samples' own variance on; between 65 powers it is interpolated."""
    variance = 3.0 * samples**-power
    squares, spreads = 4 * (2**power - 1) * variance, 3.0 / samples
    found = ratios_by_spread(np.array([squares, 0.0, squares]), np.array([spreads, spreads, 0.0]), samples)
    assert found[0] * squares == pytest.approx(variance, rel=1e-6)
    assert found[1] == found[2] == INDEPENDENT  # nothing errs, or nothing is known
    more = ratios_by_spread(np.array([10 * 4 * spreads, 1e-9 * spreads]), np.full(2, spreads), samples)
    assert more == pytest.approx([INDEPENDENT, INDEPENDENT / 7])  # of no power that there is


def test_edges_aslant_are_told_by_the_spread() -> None:
    """Lamps whose edges neighbours do not share: V of 16 samples is their spread's by 16^1.5, 1.8 times less than a
    quarter of the squared difference. The rate of two differences alone, by powers 1 and 2, says less."""
    first, second, _ = errors(-0.5)
    texture = 100 * np.random.default_rng(1).random((SIDE, SIDE))
    real = float(np.mean((first - second) ** 2)) / 4 / (2**1.5 - 1)
    both = texture + first, texture + second
    assert real < told(*both, 2**-1.5, 1.5) < 1.3 * real < 1.6 * real < told(*both, 2**-1.5)


def test_errors_of_all_pixels_alike_are_not_overlooked() -> None:
    """One throw of points for all pixels: neighbours do not differ, and tell nothing."""
    first, second, real = errors(0.0)
    rows = np.ones((SIDE, 1)) * first[:1], np.ones((SIDE, 1)) * second[:1]  # alike down the columns
    assert told(*rows) > 0.5 * real  # 8 numbers in a block: the ratio is too small by chance
    everywhere = np.full((SIDE, SIDE), 1.5), np.full((SIDE, SIDE), 0.5)
    assert told(*everywhere) == pytest.approx(INDEPENDENT, rel=1e-3)  # of rate 1 / 2, up to its least squares


def test_blocks_count_their_own_pixels_alone() -> None:
    """What is beyond a block, or left out, has no say in it: another block's numbers are independent of its samples."""
    rng = np.random.default_rng(0)
    mean, apart = rng.random((2, 2 * EDGE + 3, 2 * EDGE + 1))
    sums = block_sums(mean, apart)
    assert sums.shape == (3, 3, 5)
    changed = mean.copy()
    changed[EDGE : 2 * EDGE, EDGE : 2 * EDGE] += 100
    other = block_sums(changed, apart)
    same = np.ones((3, 3), bool)
    same[1, 1] = False
    np.testing.assert_array_equal(other[same], sums[same])
    some = np.ones(mean.shape, bool)
    some[3, 4] = False
    changed = mean.copy()
    changed[3, 4] = np.nan
    left = block_sums(changed, np.where(some, apart, np.nan), some)
    assert np.isfinite(left).all() and left[0, 0, 0] == pytest.approx(sums[0, 0, 0] - apart[3, 4] ** 2)
    np.testing.assert_array_equal(left.reshape(9, 5)[1:], sums.reshape(9, 5)[1:])
    # Within: the differences across of 8 rows of 7 pairs, and those down.
    one = mean[:EDGE, :EDGE]
    assert sums[0, 0, 1] == pytest.approx(np.sum(np.diff(one, axis=1) ** 2))
    assert sums[0, 0, 3] == pytest.approx(np.sum(np.diff(one, axis=0) ** 2))


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (3, 3)])
def test_small_pictures_have_a_variance(shape: tuple[int, int]) -> None:
    first, second = np.random.default_rng(0).random((2, *shape))
    square = float(np.mean((first - second) ** 2))
    assert 0 <= told(first, second) <= MAX_SMOOTH_RATIO * square + 1e-12
    assert told(first, first) == 0.0


def test_the_device_sums_what_neighbours_say(device) -> None:
    """Sums of 64 float32 numbers, of squared differences of numbers of one size: 2^-24 of each, and of the sum."""
    size, rng = (53, 37), np.random.default_rng(0)
    film, buffer = Film(*size), FilmBuffer(device, size)
    for number in range(16):
        if number == 8:
            film.store_half()
            buffer.write(film.records())
            buffer.samples = 8
            buffer.store_half()
        film.add(rng.random((*size[::-1], 3)) ** 3)
    buffer.write(film.records())
    buffer.samples = 16
    assert film.halves is not None and buffer.halves is not None
    total, first = luminance(film.sum).astype(float), film.halves.sum.astype(float)
    expected = block_sums(total / 16, first / 8 - (total - first) / 8)
    found = buffer._reduction(None).sums(buffer.blocks[0].stream, buffer.halves.blocks[0].stream)
    np.testing.assert_allclose(found[..., 3:], expected, rtol=1e-5)
    assert buffer.error() == pytest.approx(film.error(), rel=1e-5)
    buffer.release()


@pytest.mark.parametrize("size", [(1, 1), (17, 9)])
def test_broken_samples_leave_an_error_that_is_a_number(device, size: tuple[int, int]) -> None:
    """NaN, infinite and the brightest samples, beside others: on the host and on the device."""
    film, buffer, rng = Film(*size), FilmBuffer(device, size), np.random.default_rng(1)
    for number in range(64):
        if number in (4, 8, 16, 32):
            film.store_half()
            buffer.write(film.records())
            buffer.samples = number
            buffer.store_half()
        sample = rng.random((*size[::-1], 3))
        sample[0, 0] = (np.nan, np.inf, -np.inf, 1e30)[number % 4]
        film.add(sample)
    buffer.write(film.records())
    buffer.samples = 64
    assert np.isfinite(film.error()) and film.error() > 0
    assert buffer.error() == pytest.approx(film.error(), rel=1e-4)  # sums of one number that is beyond all others
    grant_samples(film, 0.01)
    assert np.isfinite(film.error()) and np.isfinite(variances(film)).all()
    buffer.release()


def test_an_error_that_few_blocks_make_is_known_badly() -> None:
    """Of K blocks that err alike the error's own standard error is 1 / sqrt(2 K), as sums of K squared deviates say."""
    rng = np.random.default_rng(4)
    for many in (1, 8, 200):
        found = relative_std_error(np.concatenate([np.full(many, 3.0), np.zeros(50)]))
        assert found == pytest.approx((2 * many) ** -0.5)
        roots = np.sqrt(np.mean(rng.standard_normal((4000, many)) ** 2, axis=1))
        # 4,000 draws tell a spread to 1.1 %; that of the root is half of the square's for small ones alone
        assert many == 1 or roots.std() / roots.mean() == pytest.approx(found, rel=0.07)
    assert (
        relative_std_error(np.array([100.0, 1e-9])) == pytest.approx(0.5**0.5)
        and relative_std_error(np.zeros(4)) == 0.0
    )
