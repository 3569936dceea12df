"""The ray/triangle tests: modules that provide ``triangle_test`` over unshared corners (Purcell 2004, figure 5.1)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from viewer.kernels.records import HIT, RAY, TRIANGLE
from viewer.stream.kernel import Module, Table
from viewer.stream.record import Field, Record

TESTS = {
    "watertight": Record(
        "Shear",
        Field("axis", "int", about="0, 1, 2: the direction's largest component"),
        Field("by", "vec3", about="shear of x and y, and the scale of z"),
    ),
    "moller-trumbore": Record("Shear"),
}


def module(test: str, corners: NDArray[np.float32], extent: float = 1.0) -> Module:
    """The test's module. test: a key of `TESTS`; corners: (T, 3, 3) float32, world space; extent: about the scene's."""
    _, exponent = math.frexp(extent)
    scale = 2.0 ** max(-100, min(100, -exponent))
    data = np.ascontiguousarray(corners, np.float32).reshape(-1, 9).view(TRIANGLE.dtype).reshape(-1)  # a, b, c in a row
    return Module(
        test,
        provides=("triangle_shear", "triangle_test"),
        source=f"accel/triangle_{test.replace('-', '_')}.glsl",
        memories=(Table("triangles", TRIANGLE, data),),
        uniforms={"triangle_scale": ("float", scale)} if test == "watertight" else {},
        keeps=TESTS[test],
        uses=(RAY, HIT),
    )
