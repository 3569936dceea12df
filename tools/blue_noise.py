"""Makes assets/blue_noise.npy: two 64 x 64 blue-noise tiles by void and cluster, side by side, 16 bit.

Ulichney, "The void-and-cluster method for dither array generation", SPIE 1913 (1993). Run `python tools/blue_noise.py`;
the same seeds give the same file. A pixel of rank r (0 .. 4095) holds 16 r + 8: the tile's values are evenly spread.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIZE = 64  # texels along a side of a tile
SIGMA = 1.9  # texels, of the Gaussian that measures clusters and voids; Ulichney found 1.5 for 1-bit patterns
TILES = 2
FIRST = 0.1  # share of the texels in the pattern that is first made even
ASSET = Path(__file__).resolve().parents[1] / "assets" / "blue_noise.npy"


def kernel(size: int, sigma: float = SIGMA) -> NDArray[np.float64]:
    """(size, size) Gaussian around texel (0, 0) of a torus."""
    axis = np.minimum(np.arange(size), size - np.arange(size)).astype(np.float64)
    line = np.exp(-(axis**2) / (2 * sigma**2))
    return line[:, None] * line


class Pattern:
    """A set of texels on a torus, with the energy that its members lay on every texel."""

    def __init__(self, size: int) -> None:
        self.size, self.kernel = size, kernel(size)
        self.member = np.zeros((size, size), bool)
        self.energy = np.zeros((size, size))

    def put(self, texel: int, member: bool) -> None:
        """Add the texel to the set or take it out."""
        y, x = divmod(texel, self.size)
        self.member[y, x] = member
        self.energy += (1.0 if member else -1.0) * np.roll(self.kernel, (y, x), (0, 1))

    def cluster(self) -> int:
        """The member in the tightest cluster."""
        return int(np.where(self.member, self.energy, -np.inf).argmax())

    def void(self) -> int:
        """The texel outside the set in the largest void."""
        return int(np.where(self.member, np.inf, self.energy).argmin())


def ranks(size: int, seed: int) -> NDArray[np.int64]:
    """(size, size) ranks 0 .. size^2 - 1, every value once."""
    pattern = Pattern(size)
    total, first = size * size, max(1, int(FIRST * size * size))
    for texel in np.random.default_rng(seed).choice(total, first, replace=False):
        pattern.put(int(texel), True)
    while True:  # move members out of clusters into voids until that changes nothing
        tight = pattern.cluster()
        pattern.put(tight, False)
        empty = pattern.void()
        pattern.put(empty, True)
        if empty == tight:
            break
    texel_ranks = np.zeros(total, np.int64)
    start = pattern.member.copy()
    for rank in range(first - 1, -1, -1):
        texel = pattern.cluster()
        pattern.put(texel, False)
        texel_ranks[texel] = rank
    for texel in np.flatnonzero(start):
        pattern.put(int(texel), True)
    # Ulichney changes here to the clusters of the minority once half is filled; a Gaussian over the whole torus sums to
    # a constant, so that the tightest cluster of empty texels is the largest void of the full ones.
    for rank in range(first, total):
        texel = pattern.void()
        pattern.put(texel, True)
        texel_ranks[texel] = rank
    return texel_ranks.reshape(size, size)


def tiles() -> NDArray[np.uint16]:
    """(SIZE, TILES * SIZE) of 16-bit values."""
    step = (1 << 16) // SIZE**2
    return np.hstack([ranks(SIZE, seed) * step + step // 2 for seed in range(TILES)]).astype(np.uint16)


def main() -> None:
    """Write the file, or say whether it is what this script makes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    texture = tiles()
    if parser.parse_args().check:
        print("the same" if np.array_equal(np.load(ASSET), texture) else "different")
        return
    np.save(ASSET, texture)
    print(f"{ASSET}: {ASSET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
