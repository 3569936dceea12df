"""Merging of units' films into the picture's, in any order of arrival.

A collector's film can be resumed at any time.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from raystream.farm.units import Unit
from raystream.film.error.convergence import Halves
from raystream.film.film import Film

Collector = Generator[None, tuple[int, Unit, Film], None]  # receives a unit's number, the unit and its film


def tiles(picture_film: Film) -> Collector:
    """Merges films of tiles into the picture's; on close, also the halves of the samples if all tiles have them."""
    halves: list[tuple[Unit, Halves]] = []
    try:
        while True:
            _, unit, film = yield
            picture_film.store(film.records(), unit.left, unit.top)
            if film.halves is not None:
                halves.append((unit, film.halves))
    finally:
        picture_film.halves = _whole(picture_film, halves)


def ranges(picture_film: Film) -> Collector:
    """Merges films of ranges of samples into the picture's, in the order of their numbers."""
    early: dict[int, Film] = {}
    following = 0
    while True:
        number, _, film = yield
        early[number] = film
        while following in early:
            picture_film.join(early.pop(following))
            following += 1


def _whole(picture_film: Film, parts: list[tuple[Unit, Halves]]) -> Halves | None:
    """The halves of a picture from its tiles': differences and variances are means over pixels. None if tiles lack
    them, or began with different sample counts."""
    total, count = np.zeros_like(picture_film.square), np.zeros_like(picture_film.count)
    for unit, halves in parts:
        total[unit.region], count[unit.region] = halves.sum, halves.count
    counts = picture_film.count
    if not count.size or count.min() == 0 or count.min() < count.max() or counts.min() < counts.max():
        return None
    weights = [unit.width * unit.height / count.size for unit, _ in parts]
    of_tiles = [halves for _, halves in parts]
    differences, variances = (
        {
            level: sum(weight * of[level] for weight, of in zip(weights, tables, strict=True))
            for level in _common(tables)
        }
        for tables in ([halves.differences for halves in of_tiles], [halves.variances for halves in of_tiles])
    )
    return Halves(total, count, differences, variances, _relative_std_errors(of_tiles, weights, variances))


def _common(tables: list[dict[int, float]]) -> list[int]:
    """The keys common to all."""
    return sorted(set.intersection(*map(set, tables)))


def _relative_std_errors(of_tiles: list[Halves], weights: list[float], variances: dict[int, float]) -> dict[int, float]:
    """Relative standard errors of the variances' roots: tiles' errors are independent."""
    result = {}
    for level in _common([halves.relative_std_errors for halves in of_tiles]):
        errors = [
            weight * of.variances[level] * of.relative_std_errors[level]
            for weight, of in zip(weights, of_tiles, strict=True)
        ]
        result[level] = math.hypot(*errors) / variances[level] if variances[level] > 0 else 0.0
    return result
