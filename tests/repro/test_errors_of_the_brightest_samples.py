"""A sample just below what counts as infinite: its variance was that of a luminance with a bound, the picture's mean
was not, so that the error was as good as none and a render ended."""

from __future__ import annotations

import numpy as np

from raystream.film.film import Film


def test_one_bright_sample_is_no_end_of_noise() -> None:
    film, rng = Film(5, 4), np.random.default_rng(0)
    for number in range(16):
        sample = rng.random((4, 5, 3))
        if number == 9:
            sample[1, 2] = 1e30
        film.add(sample)
    # All light is one of 16 samples of a pixel: its standard error is its mean, or a sixteenth where both are at the
    # bound; of 20 pixels sqrt(20) times that.
    assert 0.2 < film.error() < 5
