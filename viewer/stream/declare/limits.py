"""Limits of the graphics hardware of the papers' day, imposed by ``--limits``. No OpenGL here.

2002: the machine simulated by Purcell et al. 2002 (sections 2 and 3): 32-bit floats, two outputs of four words, 8-bit
states in a stencil buffer, textures of 2048 x 2048 texels. It takes programs of any length; 1,024 stands for that, as
on the first card with nearly unlimited programs.
2004: the ATI Radeon 9700 Pro of Purcell 2004, section 5.3: stored values are 24-bit floats, s16e7, exact for integers
to 131,072; four outputs, all RGBA floats; 64 arithmetic instructions and four levels of dependent fetches in a program.

Arithmetic is the device's own, in 32 bits; values written to streams and memories are rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MANTISSA = 16  # bits of s16e7
DROPPED = 23 - MANTISSA
BIAS = 63
SMALLEST = (127 + 1 - BIAS) << 23  # smallest normal number as 32-bit float bits: below is zero
LARGEST = (127 + BIAS) << 23 | ((1 << MANTISSA) - 1) << DROPPED
INFINITY = 0x7F800000  # as float32 bits; greater bits, without the sign, are NaN


@dataclass(frozen=True)
class Limits:
    """Limits of a machine.

    floats : stored format, ``s23e8`` or ``s16e7``. integers : exact in it from 0 on: addressable records of a table.
    outputs : RGBA textures per pass. states : per ray. texture : largest edge, texels. samplers : per program.
    instructions : arithmetic, per program; fetches : levels of dependent ones.
    """

    name: str
    about: str
    floats: str
    integers: int
    outputs: int
    states: int
    texture: int
    samplers: int
    instructions: int
    fetches: int

    @property
    def rounds(self) -> bool:
        """Whether stored values have fewer bits than the device's floats."""
        return self.floats != "s23e8"


LIMITS = {
    "2002": Limits("2002", "the machine simulated in 2002", "s23e8", 1 << 22, 2, 256, 2048, 16, 1024, 1024),
    "2004": Limits("2004", "the Radeon 9700 Pro", "s16e7", 1 << 17, 4, 256, 2048, 16, 64, 4),
}


def rounded(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values rounded to s16e7, to nearest even; underflow gives zero, overflow and infinities the largest number; NaN
    stays. The twin of ``shaders/lib/stored.glsl``.

    values : (...) float32; gives a new array of the same shape.
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    sign, magnitude = bits & np.uint32(0x80000000), bits & np.uint32(0x7FFFFFFF)
    last_bit = (magnitude >> np.uint32(DROPPED)) & np.uint32(1)  # of the short mantissa: a tie goes to the even one
    just_below_half, mask = np.uint32((1 << (DROPPED - 1)) - 1), np.uint32(0xFFFFFFFF << DROPPED & 0xFFFFFFFF)
    nearest = (magnitude + just_below_half + last_bit) & mask
    nearest = np.where(nearest < SMALLEST, np.uint32(0), np.minimum(nearest, np.uint32(LARGEST)))
    bits_rounded = np.where(magnitude > INFINITY, bits, sign | nearest)
    return np.asarray(bits_rounded, np.uint32).view(np.float32).reshape(np.shape(values))
