"""Alias tables hold their probabilities exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.lighting import alias


def dealt(table: alias.AliasTable) -> np.ndarray:
    """Quanta that each number really gets, summed over the slots."""
    out = np.zeros(len(table.threshold), np.int64)
    out += table.threshold
    np.add.at(out, table.alias, table.levels - table.threshold)
    return out


weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-300, 1e300)), min_size=1, max_size=70).filter(any)


@settings(max_examples=400, deadline=None)
@given(weights, st.sampled_from([1, 2]), st.sampled_from([1, 2, 3, 16, 4096, 65536]))
def test_the_slots_hold_what_the_table_says(given, more, levels) -> None:
    slots = alias.power_of_two(len(given)) * more
    table = alias.build(given, slots, levels)
    found = dealt(table)
    np.testing.assert_array_equal(found[: len(given)], table.quanta)
    assert not found[len(given) :].any() and found.sum() == slots * levels
    assert table.threshold.min() >= 0 and table.threshold.max() <= levels
    np.testing.assert_array_equal(table.quanta > 0, np.asarray(given) > 0)
    assert table.probability.sum() == pytest.approx(1, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=50))
def test_probabilities_are_the_weights_to_a_quantum(given) -> None:
    total = alias.power_of_two(len(given)) * (1 << 16)
    requested = np.asarray(given) / np.sum(given) * total
    quanta = alias.build(given, alias.power_of_two(len(given)), 1 << 16).quanta
    assert np.abs(quanta - requested).max() <= 1


@pytest.mark.parametrize("count", [1, 2, 8, 5000])
def test_of_equal_weights_each_keeps_its_slot(count: int) -> None:
    table = alias.build(np.ones(count), alias.power_of_two(count), 16 if count < 5000 else 4096)
    if alias.power_of_two(count) == count:
        assert (table.threshold == table.levels).all() and (table.alias == np.arange(count)).all()
    np.testing.assert_array_equal(dealt(table)[:count], table.quanta)


@pytest.mark.parametrize(("count", "power"), [(0, 1), (1, 1), (2, 2), (3, 4), (1024, 1024), (1025, 2048)])
def test_powers_of_two(count, power) -> None:
    assert alias.power_of_two(count) == power


def test_two_million_slots() -> None:
    given = np.random.default_rng(1).random(1 << 21) ** 8
    table = alias.build(given, 1 << 21, 1 << 16)
    np.testing.assert_array_equal(dealt(table), table.quanta)
