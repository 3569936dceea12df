"""`move({1.5: ...})` moved instance 1, and other wrong words were told in NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.scene_update import checked_transforms

HERE = np.eye(4)


@pytest.mark.parametrize("key", [1.5, "a", None, True, np.True_, (0, 1), -1, 2, 10**30, np.float64(1.0)])
def test_what_is_no_instance(key: Any) -> None:
    with pytest.raises(ViewerError, match=r"^move: there is no instance .* \(they are numbered from 0 to 1\)$"):
        checked_transforms({0: HERE, key: HERE} if key != 0 else {key: HERE}, 2)


@pytest.mark.parametrize(
    "matrix",
    [
        None,
        "x",
        1.0,
        {},
        HERE[:3],
        [HERE, HERE],
        HERE * 1j,
        np.full((4, 4), np.inf),
        [[10**400] * 4] * 4,
        np.datetime64(0, "D"),
    ],
)
def test_what_is_no_matrix(matrix: Any) -> None:
    with np.errstate(all="ignore"), pytest.raises(ViewerError, match=r"^move: instance 1: .*\(4, 4\)"):
        checked_transforms({1: matrix}, 2)


@pytest.mark.parametrize("given", [5, None, "abc", HERE, [HERE], [HERE, HERE * 1j], [[1, 2], [3]], [[HERE], [HERE]]])
def test_what_is_no_list_of_matrices(given: Any) -> None:
    with pytest.raises(ViewerError, match=r"^move: .*\(give \(I, 4, 4\)"):
        checked_transforms(given, 2)


def test_what_is_right() -> None:
    there = HERE.copy()
    there[0, 3] = 2.0
    for given in ({np.int64(1): there, 0: HERE}, [HERE, there.tolist()]):
        numbers, matrices = checked_transforms(given, 2)
        assert numbers.tolist() == [0, 1] and np.array_equal(matrices, [HERE, there])
    numbers, matrices = checked_transforms({}, 2)
    assert numbers.shape == (0,) and matrices.shape == (0, 4, 4)
