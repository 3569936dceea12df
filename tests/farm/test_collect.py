"""Films of units, in any order, become the picture's."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.farm.pictures import _merged_halves, merge_ranges, merge_tiles
from raystream.farm.units import Unit, sample_units, tile_units
from raystream.film.error import Halves
from raystream.film.film import Film

SIZE, SAMPLES = (80, 48), 16


@pytest.fixture(scope="module")
def samples() -> np.ndarray:
    return np.random.default_rng(0).random((SAMPLES, *SIZE[::-1], 3), np.float32)


def filled(samples: np.ndarray) -> Film:
    film = Film(samples.shape[2], samples.shape[1])
    for sample in samples:
        film.store_half()
        film.add(sample)
    return film


def test_tiles_have_the_halves_of_the_whole(samples: np.ndarray) -> None:
    whole, made = filled(samples), Film(*SIZE)
    collected = merge_tiles(made)
    next(collected)
    units = list(enumerate(tile_units(SIZE, SAMPLES, 32)))
    for k, unit in reversed(units):
        assert made.halves is None  # of a part they tell nothing
        collected.send((k, unit, filled(samples[:, *unit.region])))
    collected.close()
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(made.arrays[name], array, err_msg=name)
    assert whole.halves is not None and made.halves is not None and len(units) > 4
    np.testing.assert_array_equal(made.halves.sum, whole.halves.sum)
    np.testing.assert_array_equal(made.halves.count, whole.halves.count)
    assert made.halves.differences == pytest.approx(whole.halves.differences, rel=1e-12)  # means of float64, regrouped
    # The ratio of neighbours is each tile's own estimate, of 500 to 800 pixels.
    assert made.halves.variances == pytest.approx(whole.halves.variances, rel=0.2)
    assert made.halves.relative_std_errors.keys() == whole.halves.relative_std_errors.keys() != set()
    assert made.error() == pytest.approx(whole.error(), rel=0.1)


def test_no_halves_where_a_tile_had_begun(samples: np.ndarray) -> None:
    made = Film(*SIZE)
    collected = merge_tiles(made)
    next(collected)
    for k, unit in enumerate(tile_units(SIZE, SAMPLES, 32)):
        film = filled(samples[:, *unit.region])
        film.halves = None if k == 1 else film.halves
        collected.send((k, unit, film))
    collected.close()
    assert made.halves is None and made.count.min() == SAMPLES


def test_ranges_join_in_their_order(samples: np.ndarray) -> None:
    """A film to go on from at any time: what is early waits."""
    units = list(sample_units(SIZE, 0, SAMPLES, 5))
    films = [filled(samples[unit.first : unit.first + unit.samples]) for unit in units]
    straight, mixed = Film(*SIZE), Film(*SIZE)
    for film in films:
        straight.join(film)
    collected = merge_ranges(mixed)
    next(collected)
    for k, there in ((2, 0), (0, 5), (3, 5), (1, SAMPLES)):
        collected.send((k, units[k], films[k]))
        assert set(mixed.count.flat) == {there}
    for name, array in straight.arrays.items():
        np.testing.assert_array_equal(mixed.arrays[name], array, err_msg=name)


def test_errors_of_tiles_add_as_independent_ones(samples: np.ndarray) -> None:
    """By their shares of the pixels: tiles of an edge are smaller."""
    made, parts = Film(*SIZE), []
    collected = merge_tiles(made)
    next(collected)
    for k, unit in enumerate(tile_units(SIZE, SAMPLES, 32)):
        film = filled(samples[:, *unit.region])
        assert film.halves is not None
        parts.append((unit.width * unit.height / (SIZE[0] * SIZE[1]), film.halves))
        collected.send((k, unit, film))
    collected.close()
    assert made.halves is not None and len({share for share, _ in parts}) > 1
    for level, error in made.halves.relative_std_errors.items():
        variance = sum(share * halves.variances[level] for share, halves in parts)
        squares = [
            (share * halves.variances[level] * halves.relative_std_errors[level]) ** 2 for share, halves in parts
        ]
        assert made.halves.variances[level] == pytest.approx(variance, rel=1e-12)
        assert error == pytest.approx(sum(squares) ** 0.5 / variance, rel=1e-12)


def part(left: int, width: int, count: float, *levels: dict[int, float]) -> tuple[Unit, Halves]:
    """A tile of a picture 4 pixels wide and 2 high. levels : differences, variances, relative standard errors."""
    shape = 2, width
    held = Halves(np.full(shape, 10.0 + left, np.float32), np.full(shape, count, np.float32), *levels)
    return Unit(left, 0, width, 2, 4), held


def halves(*parts: tuple[Unit, Halves], count: float = 4) -> Halves | None:
    made = Film(4, 2)
    made.count[:] = count
    return _merged_halves(made, list(parts))


def test_halves_by_hand() -> None:
    """Means over the pixels, of the levels that all tiles have; errors as the roots of their squares' sums."""
    one = part(0, 1, 4, {0: 9.0, 1: 2.0, 2: 4.0}, {1: 8.0, 2: 4.0}, {1: 0.5, 2: 0.25})
    other = part(1, 3, 4, {1: 6.0, 2: 0.0, 3: 9.0}, {1: 8.0, 2: 12.0, 3: 1.0}, {2: 0.5, 3: 1.0})
    for parts in ((one, other), (other, one)):
        found = halves(*parts)
        assert found is not None
        assert found.differences == {1: 0.25 * 2 + 0.75 * 6, 2: 0.25 * 4} == {1: 5.0, 2: 1.0}
        assert found.variances == {1: 8.0, 2: 0.25 * 4 + 0.75 * 12} == {1: 8.0, 2: 10.0}
        # (0.25 * 4 * 0.25, 0.75 * 12 * 0.5) = (0.25, 4.5)
        assert found.relative_std_errors == {2: pytest.approx((0.0625 + 20.25) ** 0.5 / 10, rel=1e-12)}
        np.testing.assert_array_equal(found.sum, np.float32([[10, 11, 11, 11]] * 2))
        np.testing.assert_array_equal(found.count, np.float32([[4, 4, 4, 4]] * 2))


def test_halves_without_noise() -> None:
    found = halves(*(part(left, 2, 4, {1: 0.0}, {1: 0.0}, {1: 0.5}) for left in (0, 2)))
    assert found is not None
    assert (found.differences, found.variances, found.relative_std_errors) == ({1: 0.0}, {1: 0.0}, {1: 0.0})


def test_halves_that_do_not_fit() -> None:
    """Of some tiles alone, of other samples, or of a picture whose pixels differ: they tell nothing of it."""
    left, right = part(0, 2, 4, {1: 1.0}), part(2, 2, 4, {1: 1.0})
    assert halves(left, right) is not None and halves(left, part(2, 2, 4, {2: 1.0})) is not None
    assert halves(left) is None and halves(right) is None and halves() is None
    assert halves(left, part(2, 2, 2, {1: 1.0})) is None and halves(part(0, 2, 2, {1: 1.0}), right) is None
    made = Film(4, 2)
    made.count[:] = 4
    made.count[0, 3] = 5
    assert _merged_halves(made, [left, right]) is None


def test_a_picture_without_tiles_keeps_no_halves(samples: np.ndarray) -> None:
    """Nothing came: it is no error, and says nothing."""
    made = filled(samples)
    collected = merge_tiles(made)
    next(collected)
    collected.close()
    assert made.halves is None and made.count.min() == SAMPLES
