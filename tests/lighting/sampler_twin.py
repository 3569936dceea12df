"""The samplers of ``shaders/shading/sampler_*.glsl`` in NumPy, to the bit: uint32 arithmetic that wraps, as in GLSL."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint32]
TINY = np.float32(2.0**-24)


def words(values: ArrayLike) -> Words:
    """Integers as they wrap to 32 bits; at least one axis, for NumPy warns about scalars that overflow."""
    return np.atleast_1d(np.asarray(values, np.int64) & 0xFFFFFFFF).astype(np.uint32)


def unit(value: Words) -> NDArray[np.float32]:
    """The upper 24 bits as a float in [0, 1)."""
    return (value >> np.uint32(8)).astype(np.float32) * TINY


def pcg3d(x: Words, y: Words, z: Words) -> tuple[Words, Words, Words]:
    """Jarzynski and Olano 2020, listing of pcg3d."""
    m, a, s = np.uint32(1664525), np.uint32(1013904223), np.uint32(16)
    x, y, z = x * m + a, y * m + a, z * m + a
    x = x + y * z
    y = y + z * x
    z = z + x * y
    x, y, z = x ^ (x >> s), y ^ (y >> s), z ^ (z >> s)
    x = x + y * z
    y = y + z * x
    z = z + x * y
    return x, y, z


def pcg4d(x: Words, y: Words, z: Words, w: Words) -> tuple[Words, Words, Words, Words]:
    """Jarzynski and Olano 2020, listing of pcg4d."""
    m, a, s = np.uint32(1664525), np.uint32(1013904223), np.uint32(16)
    x, y, z, w = x * m + a, y * m + a, z * m + a, w * m + a
    x = x + y * w
    y = y + z * x
    z = z + x * y
    w = w + y * z
    x, y, z, w = x ^ (x >> s), y ^ (y >> s), z ^ (z >> s), w ^ (w >> s)
    x = x + y * w
    y = y + z * x
    z = z + x * y
    w = w + y * z
    return x, y, z, w


def reverse(value: Words) -> Words:
    """The 32 bits in the opposite order."""
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        s, m = np.uint32(shift), np.uint32(mask)
        value = ((value >> s) & m) | ((value & m) << s)
    return (value >> np.uint32(16)) | (value << np.uint32(16))


def pascal(value: Words) -> Words:
    """Multiplication by Pascal's triangle modulo 2, bit by bit from the definition: C(column, row) is odd."""
    out = np.zeros_like(value)
    for column in range(32):
        bit = (value >> np.uint32(column)) & np.uint32(1)
        rows = np.uint32(sum(1 << row for row in range(column + 1) if row & column == row))  # Lucas 1878
        out = out ^ (bit * rows)
    return out


def scramble(value: Words, key: Words) -> Words:
    """Vegdahl's hash of the kind of Laine and Karras 2011: a bit changes only those above it."""
    value = value ^ (value * np.uint32(0x3D20ADEA))
    value = value + key
    value = value * ((key >> np.uint32(16)) | np.uint32(1))
    value = value ^ (value * np.uint32(0x05526C56))
    return value ^ (value * np.uint32(0x53A22864))


def independent_1d(pixel: ArrayLike, number: ArrayLike, dimension: ArrayLike, seed: ArrayLike) -> NDArray[np.float32]:
    return unit(_independent(pixel, number, dimension, seed)[0])


def independent_2d(pixel: ArrayLike, number: ArrayLike, dimension: ArrayLike, seed: ArrayLike) -> NDArray[np.float32]:
    a, b, _, _ = _independent(pixel, number, dimension, seed)
    return np.stack([unit(a), unit(b)], axis=-1)


def _independent(pixel: ArrayLike, number: ArrayLike, dimension: ArrayLike, seed: ArrayLike) -> tuple[Words, ...]:
    at, which = words(pixel), words(np.asarray(number) | (np.asarray(dimension) << 16))
    return pcg4d(*np.broadcast_arrays(at[..., 0], at[..., 1], which, words(seed)))


def sobol_1d(pixel: ArrayLike, number: ArrayLike, dimension: ArrayLike, seed: ArrayLike, tiles: NDArray) -> NDArray:
    """tiles: (side, side, 2) of 16 bits."""
    keys = _keys(pixel, dimension, seed, 1, len(tiles))
    return unit(sobol_points(number, keys)[0] ^ _shift(pixel, keys, tiles)[..., 0])


def sobol_2d(pixel: ArrayLike, number: ArrayLike, dimension: ArrayLike, seed: ArrayLike, tiles: NDArray) -> NDArray:
    keys = _keys(pixel, dimension, seed, 2, len(tiles))
    shift = _shift(pixel, keys, tiles)
    x, y = sobol_points(number, keys)
    return np.stack([unit(x ^ shift[..., 0]), unit(y ^ shift[..., 1])], axis=-1)


def sobol_points(number: ArrayLike, keys: list[Words]) -> tuple[Words, Words]:
    """Before the shift; of one dimension only the first coordinate is used."""
    order, x, y, _ = keys
    i = reverse(scramble(reverse(words(number)), order))
    return reverse(scramble(i, x)), reverse(scramble(pascal(i), y))


def zorder_1d(pixel: ArrayLike, number: ArrayLike, dimension: ArrayLike, seed: ArrayLike) -> NDArray[np.float32]:
    keys = _keys(pixel, dimension, seed, 1, 64)
    return unit(reverse(scramble(pascal(_zorder_index(pixel, number, keys)), keys[1])))


def zorder_2d(pixel: ArrayLike, number: ArrayLike, dimension: ArrayLike, seed: ArrayLike) -> NDArray[np.float32]:
    """Directions of every second surface, at dimensions 16, 32 ..., have the index of those of the surface before."""
    own, before = (_keys(pixel, np.asarray(dimension) - back, seed, 2, 64) for back in (0, 8))
    second = (np.asarray(dimension) >= 8) & (np.asarray(dimension) % 16 == 0)
    index = np.where(
        second, joint_index(_zorder_index(pixel, number, before)), _zorder_index(pixel, number, own)
    ).astype(np.uint32)
    found = zip(net_2d(index), own[1:3], strict=True)
    return np.stack([unit(reverse(scramble(word, key))) for word, key in found], axis=-1)


def z_order(pixel: ArrayLike) -> Words:
    """Bit by bit: bit b of x goes to 11 - 2 b, of y to 10 - 2 b."""
    x, y = np.moveaxis(np.asarray(pixel, np.int64), -1, 0)
    return words(sum((x >> b & 1) << 11 - 2 * b | (y >> b & 1) << 10 - 2 * b for b in range(6)))


def shuffled_within(number: Words, key: Words) -> Words:
    """A nested permutation that keeps 0."""
    value = reverse(number)
    value = (value ^ (value * np.uint32(0x3D20ADEA))) * (key | np.uint32(1))
    value = (value ^ (value * np.uint32(0x05526C56))) * ((key >> np.uint32(16)) | np.uint32(1))
    return reverse(value ^ (value * np.uint32(0x53A22864)))


def net_2d(index: Words) -> tuple[Words, Words]:
    """Digit by digit from the definition: sums of binomials times powers of alpha."""
    times = np.array([[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]], np.uint32)  # of digits by alpha^0, alpha, alpha^2
    digits = [(index >> np.uint32(2 * j)) & np.uint32(3) for j in range(16)]

    def coordinate(power: int, row: Callable[[int], int]) -> Words:
        out = np.zeros_like(index)
        for i in range(16):
            terms = (times[power * j % 3][digits[j]] for j in range(i, 16) if i & j == i)  # Lucas 1878
            digit = functools.reduce(np.bitwise_xor, terms)
            out = out | (times[row(i) % 3][digit] << np.uint32(2 * i))
        return out

    return coordinate(1, lambda i: 2 - i), coordinate(2, lambda i: i)


def joint_index(index: Words) -> Words:
    """Column by column; from bit 18 on the identity."""
    place = (0x5E9, 0x2E6, 0x64C, 0x428, 0x670, 0x220, 0xDC0, 0x880, 0x700, 0x200, 0xC00, 0x800)
    columns = (*place, 0x1000, 0x3000, 0x6000, 0xA000, 0x18000, 0x25000, *(1 << bit for bit in range(18, 32)))
    terms = (np.where(index & np.uint32(1 << bit), np.uint32(column), 0) for bit, column in enumerate(columns))
    return functools.reduce(np.bitwise_xor, terms).astype(np.uint32)


def _zorder_index(pixel: ArrayLike, number: ArrayLike, keys: list[Words]) -> Words:
    place = scramble(z_order(pixel), keys[3]) & np.uint32(0xFFF)
    order = keys[0] ^ (place * np.uint32(0x9E3779B9))
    return (shuffled_within(words(number), order) << np.uint32(12)) | place


def _keys(pixel: ArrayLike, dimension: ArrayLike, seed: ArrayLike, width: int, side: int) -> list[Words]:
    block = np.asarray(pixel, np.int64) // side
    place = words(block[..., 0] + block[..., 1] * 65536)
    keys = pcg4d(*np.broadcast_arrays(words(dimension), words(width), words(seed), place))
    return [key ^ (key >> np.uint32(16)) for key in keys]


def _shift(pixel: ArrayLike, keys: list[Words], tiles: NDArray) -> Words:
    place = keys[3].astype(np.int64)
    at, side = np.asarray(pixel, np.int64), len(tiles)
    x, y = (at[..., 0] + (place >> 16)) % side, (at[..., 1] + (place & 0xFFFF)) % side
    return words(tiles[y, x].astype(np.int64) << 16)
