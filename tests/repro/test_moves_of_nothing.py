"""`move({1.5: ...})` moved instance 1, and other wrong words were told in NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.scene_update import checked_transforms

HERE = np.eye(4)
NO_INSTANCES = (1.5, "a", None, True, np.True_, (0, 1), -1, 2, 10**30, np.float64(1.0))
NO_MATRICES = (None, "x", 1.0, {}, HERE[:3], [HERE, HERE], HERE * 1j, np.full((4, 4), np.inf), [[10**400] * 4] * 4)
NO_LISTS = (5, None, "abc", HERE, [HERE], [HERE, HERE * 1j], [[1, 2], [3]], [[HERE], [HERE]])


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        *(
            ({0: HERE, key: HERE}, r"there is no instance .* \(they are numbered from 0 to 1\)$")
            for key in NO_INSTANCES
        ),
        *(({1: matrix}, r"instance 1: .*\(4, 4\)") for matrix in NO_MATRICES),
        *((moves, r".*\(give \(I, 4, 4\)") for moves in NO_LISTS),
    ],
)
def test_what_is_no_move(moves: Any, words: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(ViewerError, match=f"^move: {words}"):
        checked_transforms(moves, 2)


def test_what_is_right() -> None:
    there = HERE.copy()
    there[0, 3] = 2.0
    for moves in ({np.int64(1): there, 0: HERE}, [HERE, there.tolist()]):
        numbers, matrices = checked_transforms(moves, 2)
        assert numbers.tolist() == [0, 1] and np.array_equal(matrices, [HERE, there])
    numbers, matrices = checked_transforms({}, 2)
    assert numbers.shape == (0,) and matrices.shape == (0, 4, 4)
