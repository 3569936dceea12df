"""The compiled scanner of ASCII STL."""

from __future__ import annotations

import numpy as np

from raystream.base.jit import helper
from raystream.formats.text import at_word_end, number, skip_blanks, skip_space, skip_word

_VERTEX, _FACET, _ENDFACET, _OUTER, _ENDLOOP, _SOLID, _ENDSOLID = (
    np.frombuffer(word, np.uint8).copy()
    for word in (b"vertex", b"facet", b"endfacet", b"outer", b"endloop", b"solid", b"endsolid")
)


@helper
def _is(data, at, after, word):
    if after - at != len(word):
        return False
    for k in range(len(word)):  # noqa: SIM110 (numba)
        if (data[at + k] | 32) != word[k]:
            return False
    return True


FULL = 5  # no fault


def scan_facets(data, at, corners, count, in_facet, closed):
    """The corners of all facets into corners (., 3) float64, from the beginning or where an array was full: (count,
    corners of the current facet or -1, whether the solid was closed, fault or 0 or FULL, its byte).

    data: (N,) uint8. Keywords in any case, one statement a line; text after 'solid', 'facet' and 'outer' is ignored.
    """
    end = len(data)
    while True:
        at = skip_space(data, at, end)
        if at >= end:
            break
        after = skip_word(data, at, end)
        if _is(data, at, after, _VERTEX):
            if in_facet < 0 or in_facet == 3:
                return count, in_facet, closed, 2, at
            if count == len(corners):
                return count, in_facet, closed, FULL, at
            for k in range(3):
                after = skip_blanks(data, after, end)
                value, ended = number(data, after, end)
                if ended < 0 or not at_word_end(data, ended, end):
                    return count, in_facet, closed, 4, at
                corners[count, k] = value
                after = ended
            count += 1
            in_facet += 1
            after = skip_blanks(data, after, end)
            if after < end and data[after] != 10:
                return count, in_facet, closed, 1, at
        elif _is(data, at, after, _FACET):
            if in_facet >= 0:
                return count, in_facet, closed, 2, at
            in_facet = 0
            closed = False
            while after < end and data[after] != 10 and data[after] != 13:
                after += 1
        elif _is(data, at, after, _ENDFACET):
            if in_facet != 3:
                return count, in_facet, closed, 2, at
            in_facet = -1
        elif _is(data, at, after, _OUTER) or _is(data, at, after, _SOLID) or _is(data, at, after, _ENDSOLID):
            if _is(data, at, after, _ENDSOLID):
                closed = True
            while after < end and data[after] != 10 and data[after] != 13:
                after += 1
        elif not _is(data, at, after, _ENDLOOP):
            return count, in_facet, closed, 3, at
        at = after
    if in_facet >= 0:
        return count, in_facet, closed, 2, end
    return count, in_facet, closed, 0, end
