"""Random numbers of kernels that tests call, as plain functions of pixel, sample and dimension, in GLSL and NumPy."""

from __future__ import annotations

from numpy.typing import NDArray

# The first dimension of a path's surfaces, how many each has, and the dimensions of what is chosen there.
CAMERA, SURFACE, DIRECTION, LOBE, LIGHT_CHOICE, POINT, CHANNEL = 4, 10, 0, 2, 4, 6, 8
DIMENSIONS = {
    "DIMENSIONS_OF_CAMERA": CAMERA,
    "DIMENSIONS_OF_SURFACE": SURFACE,
    "DIMENSION_BSDF": DIRECTION,
    "DIMENSION_LOBE": LOBE,
    "DIMENSION_LIGHT": LIGHT_CHOICE,
    "DIMENSION_POINT": POINT,
    "DIMENSION_CHANNEL": CHANNEL,
}
NUMBERS = """
float sample_1d(ivec2 pixel, int number, int dimension) {
    return fract(float(dimension) * 0.0625 + float(number) * 0.03125 + float(pixel.x) * 0.015625);
}
vec2 sample_2d(ivec2 pixel, int number, int dimension) {
    return vec2(sample_1d(pixel, number, dimension), sample_1d(pixel, number, dimension + 1));
}
"""


def random_number(pixel: NDArray, number: NDArray, dimension: NDArray | int) -> NDArray:
    """``sample_1d`` of pixels (N, 2) and samples (N,)."""
    return (dimension * 0.0625 + number * 0.03125 + pixel[:, 0] * 0.015625) % 1.0
