"""Cryptomatte: names as hashes with their coverage of each pixel (J. Friedman and A. C. Jones, "Fully Automatic ID
Mattes with Support for Motion Blur and Transparency", 2015; the specification, version 1.2, Psyop 2018).

A name's id is MurmurHash3_32 of its UTF-8, as the bits of a float; a pixel's pairs of id and coverage are ranked by
coverage, two in each layer of RGBA.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.film.mattes.coverage import ranked, summed

RANKS = 6  # pairs of id and coverage of a pixel: three layers of RGBA
_MASK = 0xFFFFFFFF


def murmur3_32(data: bytes, seed: int = 0) -> int:
    """A. Appleby, MurmurHash3_x86_32 (2011, public domain)."""
    hashed = seed
    for at in range(0, len(data), 4):
        block = data[at : at + 4]
        mixed = int.from_bytes(block, "little") * 0xCC9E2D51 & _MASK
        mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & _MASK
        hashed ^= mixed
        if len(block) == 4:
            hashed = ((hashed << 13 | hashed >> 19) * 5 + 0xE6546B64) & _MASK
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _MASK
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _MASK
    return hashed ^ hashed >> 16


def name_bits(name: str) -> int:
    """A name's id: its hash, with an exponent that is neither all zeros nor all ones, as denormals, infinities and NaN
    do not outlive every program ("uint32_to_float32")."""
    bits = murmur3_32(name.encode("utf-8"))
    return bits ^ 1 << 23 if bits >> 23 & 255 in (0, 255) else bits


def layer_of(
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ids: NDArray[np.uint32], samples: NDArray
) -> NDArray[np.float32]:
    """(H, W, 2 `RANKS`) float32: ids and coverages in turn.

    pairs : pixels, names by number and counts, as of `raystream.film.mattes.coverage.Coverage.pairs`; equal ones are
    added up. ids : bits of the names. samples : (H, W) of each pixel.
    """
    height, width = samples.shape
    most, (pixels, numbers, counts) = max(1, len(ids)), pairs
    single = np.bincount(pixels, minlength=1)[pixels] == 1  # most: of these there is nothing to add up, nor to rank
    keys, sums = summed((pixels * most + numbers)[~single], counts[~single])
    ranked_numbers, times = ranked(keys // most, keys % most, sums, height * width, RANKS)
    ranked_numbers[pixels[single], 0], times[pixels[single], 0] = numbers[single], counts[single]
    out = np.zeros((height * width, RANKS, 2), np.float32)
    present = ranked_numbers >= 0
    out[..., 0][present] = ids[ranked_numbers[present]].view(np.float32)
    out[..., 1] = times / np.maximum(samples.reshape(-1, 1), 1)
    return out.reshape(height, width, 2 * RANKS)


def metadata(layer: str, names: Mapping[str, int]) -> dict[str, str]:
    """The attributes of a layer by its name in files, with a manifest of these names and their bits."""
    key = f"cryptomatte/{name_bits(layer):08x}"[:-1]
    manifest = {name: f"{bits:08x}" for name, bits in names.items()}
    return {
        f"{key}/name": layer,
        f"{key}/hash": "MurmurHash3_32",
        f"{key}/conversion": "uint32_to_float32",
        f"{key}/manifest": json.dumps(manifest, separators=(",", ":")),
    }


def clashes(names: Sequence[str], bits: Iterable[int]) -> int:
    """Names whose id is another one's, too: with 32 bits some of very many."""
    return len(names) - len(set(bits))
