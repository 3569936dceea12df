"""Table 6.2 of T. J. Purcell, Ray Tracing on a Stream Processor (Stanford 2004) = table 2 of T. J. Purcell et al.,
"Photon Mapping on Programmable Graphics Hardware" (2003), and what their text says of it (D 6.3.2, 6.4.1; P3 3.2,
4.1)."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """Instructions of one iteration, nothing unrolled: all, texture fetches, for addresses, for packing."""

    all: int
    textures: int
    addresses: int
    packing: int


TABLE_6_2: dict[str, Row] = {
    "Bitonic Sort": Row(52, 2, 13, 0),
    "Binary Search": Row(18, 1, 13, 0),
    "Rad. Estimate (sort)": Row(202, 6, 47, 41),
    "Stencil Routing": Row(42, 0, 25, 0),
    "Rad. Estimate (stencil)": Row(193, 5, 20, 41),
}
HAND_CODED_SORT = 19  # in place of Cg's 52
ESTIMATE_OVERHEAD = (1 / 3, 1 / 2)  # "a third to a half" for addresses and packing
LEAST_PER_TEXTURE = 20  # "at least 20 arithmetic operations for every texture access"
