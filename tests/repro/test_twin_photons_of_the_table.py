"""Photons 256 places apart in their stream were copies of each other: the table of random numbers repeated itself."""

from __future__ import annotations

from typing import Any

import glsl_call
import numpy as np

from raystream.lighting.sampler import sampler


def test_pixels_have_numbers_of_their_own(device: Any) -> None:
    """Of 512 x 512 pixels, in the dimensions of a photon's place and direction; some eight pairs by chance."""
    function = glsl_call.Function(
        device, "vec2 sample_2d(ivec2 p, int number, int dimension)", modules=[sampler("table")]
    )
    pixels = np.stack(np.meshgrid(*[np.arange(512)] * 2), axis=-1).reshape(-1, 2)
    drawn = [function(pixels, np.zeros(len(pixels), int), np.full(len(pixels), k))[0] for k in (2, 4)]
    assert len(np.unique(np.concatenate(drawn, axis=1), axis=0)) > 0.999 * len(pixels)
