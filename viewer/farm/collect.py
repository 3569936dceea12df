"""Merging of units' films into the picture's, in any order of arrival.

A collector's film can be resumed at any time.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from viewer.farm.units import Unit
from viewer.film.error.convergence import Halves
from viewer.film.film import Film

Collector = Generator[None, tuple[int, Unit, Film], None]  # receives a unit's number, the unit and its film


def tiles(made: Film) -> Collector:
    """Merges films of tiles into the picture's; on close, also the halves of the samples if all tiles have them."""
    halves: list[tuple[Unit, Halves]] = []
    try:
        while True:
            _, unit, film = yield
            made.store(film.records(), unit.left, unit.top)
            if film.halves is not None:
                halves.append((unit, film.halves))
    finally:
        made.halves = _whole(made, halves)


def ranges(made: Film) -> Collector:
    """Merges films of ranges of samples into the picture's, in the order of their numbers."""
    early: dict[int, Film] = {}
    following = 0
    while True:
        number, _, film = yield
        early[number] = film
        while following in early:
            made.join(early.pop(following))
            following += 1


def _whole(made: Film, parts: list[tuple[Unit, Halves]]) -> Halves | None:
    """The halves of a picture from its tiles': differences and variances are means over pixels. None if tiles lack
    them, or began with different sample counts."""
    total, count = np.zeros_like(made.square), np.zeros_like(made.count)
    for unit, halves in parts:
        total[unit.region], count[unit.region] = halves.sum, halves.count
    if not count.size or count.min() == 0 or count.min() < count.max() or made.count.min() < made.count.max():
        return None
    pixels = [unit.width * unit.height / count.size for unit, _ in parts]
    of_tiles = [halves for _, halves in parts]
    differences, variances = (
        {level: sum(share * of[level] for share, of in zip(pixels, each, strict=True)) for level in _common(each)}
        for each in ([halves.differences for halves in of_tiles], [halves.variances for halves in of_tiles])
    )
    return Halves(total, count, differences, variances, _relative_std_errors(of_tiles, pixels, variances))


def _common(each: list[dict[int, float]]) -> list[int]:
    """The keys common to all."""
    return sorted(set.intersection(*map(set, each)))


def _relative_std_errors(of_tiles: list[Halves], pixels: list[float], variances: dict[int, float]) -> dict[int, float]:
    """Relative standard errors of the variances' roots: tiles' errors are independent."""
    found = {}
    for level in _common([halves.relative_std_errors for halves in of_tiles]):
        errors = [
            share * of.variances[level] * of.relative_std_errors[level]
            for share, of in zip(pixels, of_tiles, strict=True)
        ]
        found[level] = math.hypot(*errors) / variances[level] if variances[level] > 0 else 0.0
    return found
