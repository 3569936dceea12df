"""Loops as machine code by numba where that pays, and as they are where the work is small.

Numba takes 0.1 s to import and seconds to compile a loop, once on a machine; a small file should not wait for that.
Numba's cache watches a loop's own file: after a change to a helper in another one, touch the loop's file.
Arrays given to one loop should always have the same type, order and writability: every other combination compiles anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_helpers: list[Callable] = []


def helper(function: Callable) -> Callable:
    """Decorate a function that loops call, so that compiled ones can."""
    _helpers.append(function)
    return function


def run(loop: Callable, *arguments: Any, small: bool = False) -> Any:
    """What the loop returns for these arguments; compiled unless the work is ``small``."""
    if small:
        with np.errstate(all="ignore"):  # as machine code does
            return loop(*arguments)
    while _helpers:
        from numba.extending import register_jitable

        register_jitable(_helpers.pop())
    return _compiled(loop)(*arguments)


@cache
def _compiled(loop: Callable) -> Callable:
    """The loop as machine code, which holds no lock and divides as NumPy does.

    It is cached beside the source, or in the user's cache folder where that is read-only; not, where neither can be
    written.
    """
    from numba import njit

    try:
        return njit(cache=True, nogil=True, error_model="numpy")(loop)
    except RuntimeError:
        return njit(nogil=True, error_model="numpy")(loop)
