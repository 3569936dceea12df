"""Noise within one block of 8 x 8 pixels, which none around it has: its neighbours told of none, so that it got no more
samples, all others got ever more, and the picture never came to its error."""

from __future__ import annotations

import numpy as np

from raystream.film.adaptive import MIN_SAMPLES, grant_samples, next_round, store_halves
from raystream.film.film import Film

GOAL = 0.02


def test_noise_that_no_neighbours_tell_of_comes_to_an_end() -> None:
    rng, side = np.random.default_rng(0), 40
    deviation = np.full((side, side), 0.01)
    deviation[17:23, 17:23] = 1.5  # within the block from (16, 16) to (23, 23)
    film = Film(side, side)

    def add(chosen: np.ndarray, samples: int) -> None:
        before = {name: array.copy() for name, array in film.arrays.items()}
        for _ in range(samples):
            values = np.where(chosen, 1 + deviation * rng.standard_normal(deviation.shape), 0)
            film.add(np.repeat(values[..., None], 3, axis=-1))
        for name, array in film.arrays.items():
            array[~chosen] = before[name][~chosen]

    everywhere = np.ones(deviation.shape, bool)
    add(everywhere, MIN_SAMPLES // 2)
    film.store_half()
    add(everywhere, MIN_SAMPLES // 2)
    grant_samples(film, GOAL)
    assert film.sample_budget is not None and film.error() > GOAL
    # 36 pixels of 1,600 leave 0.04 after 32 samples; all of the picture with 128 would leave 0.02.
    for _ in range(40):
        chosen, end = next_round(film.count, film.sample_budget.granted, 4096)
        if end:
            store_halves(film, chosen)
            add(chosen, end - int(film.count[chosen].max()))
            continue
        grant_samples(film, GOAL)
        if (film.sample_budget.granted == film.count).all():
            break
    # A single block tells its error within 0.7 of it, so that the estimate is to be 1.7 times smaller than the goal.
    assert film.error() <= GOAL and film.count.max() <= 2048
