"""How errors are estimated: the rate at which means converge, late figures, and variances by neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.film.adaptive import grant_samples, variances
from raystream.film.device_film import FilmBuffer
from raystream.film.error import (
    EARLIER_SHARE,
    EDGE,
    FIRST_HALF,
    INDEPENDENT,
    MAX_SMOOTH_RATIO,
    block_sums,
    blocks,
    neighbour_variances,
    ratios,
    ratios_by_spread,
    relative_std_error,
    round_ends,
    variance_of_mean,
)
from raystream.film.film import Film, luminance
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device

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


@pytest.mark.parametrize("samples", [3, 4])
def test_the_error_of_then(device: Device, samples: int) -> None:
    film = Renderer("cornell", device=device, program="path").render(size=(20, 12), spp=samples, error=1e-9).film
    assert film is not None
    with device.current():
        buffer = FilmBuffer(device, (20, 12), film)
        wanted, spread = buffer.error(), buffer.relative_std_error
        coming = buffer.begin_error()
        device.context.finish()
        waits = device.waits
        buffer.set_samples(2 * samples)
        assert coming is not None and coming.ready
        assert buffer.resolve_error(coming) == wanted > 0
        assert buffer.relative_std_error == spread
        assert device.waits == waits
        buffer.release()


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
