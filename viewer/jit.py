"""Numba with its cache on disk; import it inside the function that needs it, since numba takes 0.2 s to load."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit


def machine_code(loop: Callable) -> Callable:
    """The loop as machine code, compiled at its first call, cached, without Python's lock; divides as NumPy does.

    The cache lies beside the source, or in the user's cache folder where that is read-only; where neither can be
    written there is none.
    """
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:
        return njit(nogil=True)(loop)
