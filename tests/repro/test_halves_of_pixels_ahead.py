"""A render that went on from some tiles that were done kept 'halves' that were all of their samples: its error, and
that of all that went on from it, was several times too large."""

from __future__ import annotations

import numpy as np

import raystream
from raystream.film.film import Film
from raystream.renderer.sampling.partial_film import FilmPart, film_of_part

SIZE, SAMPLES = (16, 16), 16


def test_halves_are_of_half_of_the_samples() -> None:
    renderer = raystream.Renderer("cornell", machine="singlepass", depth=2)
    whole = film_of_part(renderer, FilmPart(SIZE, SAMPLES))
    begun = Film(*SIZE)
    begun.store(whole.records(0, 0, 16, 8))  # the upper half is done
    film = film_of_part(renderer, FilmPart(SIZE, SAMPLES), begun)
    further = film_of_part(renderer, FilmPart(SIZE, 4 * SAMPLES), film)
    renderer.release()
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(film.arrays[name], array, err_msg=name)
    assert whole.halves is not None and film.halves is None
    # From there on all pixels are alike.
    assert further.halves is not None and set(further.halves.count.flat) == {2 * SAMPLES}
