"""Makes assets/blue_noise.npy: two 64 x 64 blue-noise tiles by void and cluster, side by side, 16 bit.

Ulichney, "The void-and-cluster method for dither array generation", SPIE 1913 (1993). Run `python tools/blue_noise.py`;
the same seeds give the same file. A pixel of rank r (0 .. 4095) holds 16 r + 8: the tile's values are evenly spread.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIZE = 64  # texels along a side of a tile
SIGMA = 1.9  # texels, of the Gaussian that measures clusters and voids; Ulichney found 1.5 for 1-bit patterns
TILES = 2
FIRST = SIZE * SIZE // 10  # texels of the pattern that is first made even
ASSET = Path(__file__).resolve().parents[1] / "assets" / "blue_noise.npy"


class Pattern:
    """A set of texels on a torus, with the energy that its members lay on every texel."""

    def __init__(self) -> None:
        axis = np.minimum(np.arange(SIZE), SIZE - np.arange(SIZE)).astype(np.float64)
        line = np.exp(-(axis**2) / (2 * SIGMA**2))
        self.kernel = line[:, None] * line  # around texel (0, 0)
        self.member, self.energy = np.zeros((SIZE, SIZE), bool), np.zeros((SIZE, SIZE))

    def put(self, texel: int, member: bool) -> int:
        """Add the texel to the set or take it out; returns it."""
        y, x = divmod(texel, SIZE)
        self.member[y, x] = member
        self.energy += (1.0 if member else -1.0) * np.roll(self.kernel, (y, x), (0, 1))
        return texel

    def cluster(self) -> int:
        """The member in the tightest cluster, which leaves the set."""
        return self.put(int(np.where(self.member, self.energy, -np.inf).argmax()), False)

    def void(self) -> int:
        """The texel outside the set in the largest void, which enters it."""
        return self.put(int(np.where(self.member, np.inf, self.energy).argmin()), True)


def ranks(seed: int) -> NDArray[np.int64]:
    """(SIZE, SIZE) ranks 0 .. SIZE^2 - 1, every value once."""
    pattern, out = Pattern(), np.zeros(SIZE * SIZE, np.int64)
    for texel in np.random.default_rng(seed).choice(SIZE * SIZE, FIRST, replace=False):
        pattern.put(int(texel), True)
    while pattern.cluster() != pattern.void():
        pass  # members move out of clusters into voids until that changes nothing
    start = np.flatnonzero(pattern.member)
    for rank in range(FIRST - 1, -1, -1):
        out[pattern.cluster()] = rank
    for texel in start:
        pattern.put(int(texel), True)
    # Ulichney changes here to the clusters of the minority once half is filled; a Gaussian over the whole torus sums to
    # a constant, so that the tightest cluster of empty texels is the largest void of the full ones.
    for rank in range(FIRST, SIZE * SIZE):
        out[pattern.void()] = rank
    return out.reshape(SIZE, SIZE)


if __name__ == "__main__":
    step = (1 << 16) // SIZE**2
    np.save(ASSET, np.hstack([ranks(seed) * step + step // 2 for seed in range(TILES)]).astype(np.uint16))
