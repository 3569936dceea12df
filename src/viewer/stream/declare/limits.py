"""What the graphics hardware of the papers' day allowed: the limits that ``--limits`` imposes. No OpenGL here.

2002: the machine that Purcell et al. 2002 simulated (sections 2 and 3): floats of 32 bits, two outputs of four words,
states of 8 bits in a stencil buffer, textures of 2048 x 2048 texels. It takes programs of any length; 1,024 stands for
that, as on the first card that did nearly.
2004: the ATI Radeon 9700 Pro of Purcell 2004, section 5.3: floats of 24 bits, s16e7, which tell 131,072 integers apart,
in all that is stored; four outputs, all of RGBA floats; 64 arithmetic instructions and four levels of dependent
fetches in a program.

Arithmetic stays that of the device, of 32 bits; what is written to streams and memories is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MANTISSA = 16  # bits of s16e7
DROPPED = 23 - MANTISSA
BIAS = 63
SMALLEST = (127 + 1 - BIAS) << 23  # of normal numbers, as the bits of a float of 32 bits: below is zero
LARGEST = (127 + BIAS) << 23 | ((1 << MANTISSA) - 1) << DROPPED
NAN = 0x7F800000  # and above, without the sign


@dataclass(frozen=True)
class Limits:
    """What a machine allows.

    floats : of what is stored, ``s23e8`` or ``s16e7``. integers : that these tell apart from 0 on: records of a table
    that an address reaches. outputs : RGBA textures that a pass writes. states : that a ray may be in. texture : edge
    of a texture, texels. samplers : textures that a program reads. instructions : arithmetic ones of a program;
    fetches : levels of dependent ones.
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
        """Whether what is stored has fewer bits than the device's floats."""
        return self.floats != "s23e8"


LIMITS = {
    "2002": Limits("2002", "the machine simulated in 2002", "s23e8", 1 << 22, 2, 256, 2048, 16, 1024, 1024),
    "2004": Limits("2004", "the Radeon 9700 Pro", "s16e7", 1 << 17, 4, 256, 2048, 16, 64, 4),
}


def rounded(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values as s16e7 holds them: the nearest, of two as near the even one; what is too small is zero, what is too
    large the largest, also infinities; NaN stays. The twin of ``shaders/lib/stored.glsl``.

    values : (...) float32; gives a new array of the same shape.
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    sign, size = bits & np.uint32(0x80000000), bits & np.uint32(0x7FFFFFFF)
    odd = (size >> np.uint32(DROPPED)) & np.uint32(1)
    near = (size + np.uint32((1 << (DROPPED - 1)) - 1) + odd) & np.uint32(0xFFFFFFFF << DROPPED & 0xFFFFFFFF)
    near = np.where(near < SMALLEST, np.uint32(0), np.minimum(near, np.uint32(LARGEST)))
    made = np.where(size > NAN, bits, sign | near)
    return np.asarray(made, np.uint32).view(np.float32).reshape(np.shape(values))
