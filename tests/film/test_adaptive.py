"""Where the samples of an adaptive picture go: decisions on films, and the account that lets them be resumed."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.film.adaptive import (
    EDGE,
    MIN_SAMPLES,
    first_decision,
    grant_samples,
    next_round,
    store_halves,
    variances,
)
from raystream.film.device_film import FilmBuffer
from raystream.film.error import Halves, SampleBudget, bound
from raystream.film.files.checkpoint import resume, save
from raystream.film.film import Film, luminance

SIZE = (24, 16)


def noisy(size: tuple[int, int] = SIZE, seed: int = 0) -> np.ndarray:
    """(H, W) standard deviation of samples of mean 1: ten times as large on the right."""
    return np.where(np.arange(size[0]) < size[0] // 2, 0.05, 0.5) * np.ones((size[1], 1))


def filled(samples: int, deviation: np.ndarray, seed: int = 0) -> Film:
    """Of independent samples, with the first half kept as a render keeps it."""
    rng, film = np.random.default_rng(seed), Film(*deviation.shape[::-1])
    for number in range(samples):
        if number == samples // 2:
            film.store_half()
        values = 1 + deviation * rng.standard_normal(deviation.shape)
        film.add(np.repeat(values[..., None], 3, axis=-1))
    return film


def granted(film: Film) -> np.ndarray:
    assert film.sample_budget is not None
    return film.sample_budget.granted


def test_the_numbers_go_with_the_standard_deviation() -> None:
    """Neyman's allocation: of 0.05 and 0.5 a tenth, where neither is at a bound; the sum of variances is the goal's."""
    deviation = noisy((80, 64))
    film = filled(MIN_SAMPLES, deviation)
    grant_samples(film, 0.03)
    left, right = granted(film)[:, :32], granted(film)[:, 48:]
    assert (left == MIN_SAMPLES).all()
    # s mean(s) / E^2 = 0.5 * 0.275 / 0.0009 = 153: beyond twice what there is, to which every pixel goes at most.
    assert np.median(right) == 2 * MIN_SAMPLES
    film = filled(MIN_SAMPLES, deviation)
    grant_samples(film, 0.054)
    needed = 0.5 * 0.275 / 0.054**2  # 47
    # 192 differences of halves tell s to 5 %, of independent samples 6 % too little (`test_beside`), and the numbers
    # are rounded up to quarters of 32.
    assert 0.88 * needed < np.mean(granted(film)[:, 48:]) < 1.3 * needed
    assert film.error() == pytest.approx(np.sqrt((0.05**2 + 0.5**2) / 2 / MIN_SAMPLES), rel=0.1)  # 5,120 pixels


def test_a_picture_that_is_good_enough_gets_no_more() -> None:
    film = filled(MIN_SAMPLES, noisy())
    grant_samples(film, 0.5)
    assert (granted(film) == MIN_SAMPLES).all() and film.error() < 0.5
    chosen, end = next_round(film.count, granted(film), 1000)
    assert not chosen.any() and end == 0


def test_an_estimate_that_is_known_badly_has_to_be_lower() -> None:
    """Of six blocks, whose error is known to a third: what is just above the estimate is not believed to be reached."""
    film = filled(MIN_SAMPLES, noisy())
    grant_samples(film, 1.0)
    error, relative_std_error = film.error(), film.relative_std_error()
    assert relative_std_error > 0.2
    grant_samples(film, 1.05 * error)
    assert (granted(film) > MIN_SAMPLES).any() and film.error() == error  # the figure that is shown is the mean
    grant_samples(film, 1.01 * bound(error, relative_std_error))
    assert (granted(film) == MIN_SAMPLES).all()


def test_no_pixel_s_own_samples_decide_on_its_number() -> None:
    """Where the halves of one pixel's samples are far apart its neighbours in other blocks go on, its own does not."""
    film = filled(MIN_SAMPLES, np.full((32, 32), 0.2))
    assert film.halves is not None
    film.halves.sum[...] = luminance(film.sum) / 2  # no noise is seen,
    # but here, by a bright sample of the first half, in the block from (16, 16) to (23, 23), four pixels within it
    film.sum[18, 18] += 32.0
    film.halves.sum[18, 18] += 32.0
    grant_samples(film, 0.02)
    more = granted(film) > granted(film).min()  # the least is what all get for noise that no others tell of
    assert not more[16:24, 16:24].any()
    assert more[8:16, 8:16].all() and more[8:16, 16:24].all() and not more[24:, :].any()


def test_where_too_few_would_go_on_more_do() -> None:
    """Of an error that the neighbours do not tell of: a single noisy pixel of a quiet picture."""
    deviation = np.full((3 * EDGE, 3 * EDGE), 0.0)
    deviation[EDGE + EDGE // 2, EDGE + EDGE // 2] = 5.0  # in the middle of a block: no other one looks there
    film = filled(MIN_SAMPLES, deviation)
    grant_samples(film, 1e-3)
    # All of them, as no neighbours tell of it: a quarter of the variance is to go, by a third more samples or more.
    assert film.error() > 1e-3 and (granted(film) >= MIN_SAMPLES * 4 / 3).all()


def test_numbers_in_between_go_by_the_spread_of_the_first_half() -> None:
    """48 samples in a texture, of whose first 32 the spread has fallen by 32^1.5: half of what is known by the power.
    4,096 squares tell their mean to 2 %, and 64 of them a block's power."""
    size, rng = (64, 64), np.random.default_rng(3)
    film = filled(48, np.full(size, 0.2))
    texture = 100 * rng.random(size)
    apart = (0.2 * np.sqrt(4 / 32) * rng.standard_normal(size)).astype(np.float32)  # of halves of 16
    first = np.full(size, 32, np.float32)
    film.sum[...] += 48 * texture[..., None].astype(np.float32)
    film.halves = Halves((32 * (1 + texture)).astype(np.float32), first)
    film.square *= np.float32(32**0.5 / (2**1.5 - 1))
    film.sample_budget = SampleBudget(np.full(size, 64, np.float32), apart)
    expected = float(np.mean(apart**2)) / 4 / np.sqrt(2**1.5 - 1) * 32 / 48
    assert float(np.mean(variances(film))) == pytest.approx(expected, rel=0.04)


@pytest.mark.parametrize("size", [(1, 1), (3, 1), (2, 2)])
def test_small_and_black_pictures(size: tuple[int, int]) -> None:
    film = filled(MIN_SAMPLES, np.full(size[::-1], 0.3))
    grant_samples(film, 0.01)
    assert (granted(film) >= MIN_SAMPLES).all() and (granted(film) > MIN_SAMPLES).any()
    black = Film(*size)
    for _ in range(MIN_SAMPLES):
        black.add(np.zeros((*size[::-1], 3)))
    grant_samples(black, 0.01)
    assert black.error() == 0.0 and (granted(black) == MIN_SAMPLES).all()


def test_runs_bring_the_fewest_first_and_end_at_powers_of_two() -> None:
    count = np.array([[32, 64, 40, 64]], np.float32)
    goal = np.array([[128, 80, 40, 64]], np.float32)
    seen = []
    while True:
        chosen, end = next_round(count, goal, 100)
        if not end:
            break
        seen.append((chosen[0].tolist(), end))
        count = np.where(chosen, np.float32(end), count)
    assert seen == [
        ([True, False, False, False], 64),
        ([True, True, False, False], 80),
        ([True, False, False, False], 100),
    ]
    assert first_decision(0) == first_decision(32) == 32 and first_decision(33) == first_decision(64) == 64


def test_halves_are_kept_of_those_that_go_on() -> None:
    film = filled(64, noisy())
    grant_samples(film, 0.02)
    assert film.halves is not None and film.sample_budget is not None
    assert film.halves.count.min() == 32
    going = np.zeros(film.count.shape, bool)
    going[:, EDGE:] = True  # whole blocks, as all decisions are
    told = variances(film)
    store_halves(film, going)
    assert (film.halves.count[:, EDGE:] == 64).all() and (film.halves.count[:, :EDGE] == 32).all()
    # What is known of a pixel before its next samples is what its halves have told.
    np.testing.assert_allclose(variances(film)[:, EDGE:], told[:, EDGE:], rtol=1e-5)  # kept in float32
    np.testing.assert_array_equal(variances(film)[:, :EDGE], told[:, :EDGE])


def test_without_halves_samples_are_taken_for_independent() -> None:
    film = filled(MIN_SAMPLES, noisy())
    film.halves = None
    np.testing.assert_array_equal(variances(film), film.variance())
    grant_samples(film, 0.03)
    store_halves(film, granted(film) > film.count)
    assert film.halves is not None


def test_a_state_holds_the_account(tmp_path) -> None:
    film = filled(MIN_SAMPLES, noisy())
    grant_samples(film, 0.03)
    save(tmp_path / "a.exr", film, {"seed": 1})
    back = resume(tmp_path / "a.exr", SIZE, {"seed": 1})
    assert isinstance(back.sample_budget, SampleBudget) and back.error() == film.error()
    np.testing.assert_array_equal(granted(back), granted(film))
    assert back.relative_std_error() == film.relative_std_error() > 0
    assert back.efficiency() == film.efficiency()


def test_an_even_film_forgets_its_account(device) -> None:
    film = filled(MIN_SAMPLES, noisy())
    grant_samples(film, 0.03)
    buffer = FilmBuffer(device, SIZE, film)
    assert buffer.error() == film.error() and buffer.film().sample_budget is film.sample_budget
    buffer.reset_adaptive()
    assert buffer.sample_budget is None and buffer.samples == MIN_SAMPLES and buffer.film().halves is None
    buffer.release()


def test_the_mean_stays_where_it_is() -> None:
    """Rare bright samples, four in a block after 32: where the samples of a block decided on their own number, blocks
    that have met fewer would have fewer samples for good, and the picture would be 7 % too dark."""
    rng, side, chance, goal = np.random.default_rng(2), 128, 0.002, 3.2
    film = Film(side, side)

    def add(chosen: np.ndarray, samples: int) -> None:
        bright = rng.random((samples, side, side)) < chance
        for number in range(samples):
            before = {name: array.copy() for name, array in film.arrays.items()}
            film.add(np.repeat(bright[number, ..., None] / chance, 3, axis=-1))
            for name, array in film.arrays.items():
                array[~chosen] = before[name][~chosen]

    everywhere = np.ones((side, side), bool)
    add(everywhere, MIN_SAMPLES // 2)
    film.store_half()
    add(everywhere, MIN_SAMPLES // 2)
    grant_samples(film, goal)
    while True:
        chosen, end = next_round(film.count, granted(film), 2 * MIN_SAMPLES)
        if not end:
            break
        store_halves(film, chosen)
        add(chosen, end - int(film.count[chosen].max()))
    assert len(np.unique(film.count)) > 3  # there was something to decide
    # Three times the spread over seeds, 1.5 % of some 1,600 bright samples.
    assert abs(float(film.mean()[..., 0].mean(dtype=np.float64)) - 1.0) < 0.045
