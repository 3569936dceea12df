"""Different values and quantiles, beside NumPy's own; and that neither loads masked arrays."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.base.ordered import distinct, quantile


@pytest.mark.parametrize("values", [[], [5], [3, 1, 3, 1, 2], [[2, 1], [1, 2]], [-1, -1, 0]])
def test_distinct_values_are_those_of_numpy(values: list) -> None:
    array = np.array(values, np.int64)
    np.testing.assert_array_equal(distinct(array), np.unique(array))


@pytest.mark.parametrize("count", [1, 2, 3, 10, 997])
def test_quantiles_are_those_of_numpy_to_the_bit(count: int) -> None:
    values = np.sort(np.random.default_rng(count).random(count) ** 3)
    for share in (0.0, 0.05, 1 / 3, 0.5, 0.95, 1.0):
        assert quantile(values, share) == np.quantile(values, share)
