"""How the films of units become that of the picture, whatever order they come in.

What a collector has is at any time a film to go on from.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from viewer.farm.units import Unit
from viewer.film.error.convergence import Halves
from viewer.film.film import Film

Collector = Generator[None, tuple[int, Unit, Film], None]  # is sent a unit's number, the unit and its film


def tiles(made: Film) -> Collector:
    """Takes films of tiles into the picture's; closed, it also has the halves of the samples where all tiles have."""
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
    """Takes films of ranges of samples into the picture's, in the order of their numbers."""
    early: dict[int, Film] = {}
    following = 0
    while True:
        number, _, film = yield
        early[number] = film
        while following in early:
            made.join(early.pop(following))
            following += 1


def _whole(made: Film, parts: list[tuple[Unit, Halves]]) -> Halves | None:
    """The halves of a picture by those of its tiles: of differences and variances, which are means over pixels, the
    means. None where tiles lack them, or had begun with different numbers of samples."""
    total, count = np.zeros_like(made.square), np.zeros_like(made.count)
    for unit, halves in parts:
        total[unit.region], count[unit.region] = halves.sum, halves.count
    if not count.size or count.min() == 0 or count.min() < count.max() or made.count.min() < made.count.max():
        return None
    pixels = [unit.width * unit.height / count.size for unit, _ in parts]
    told = [halves for _, halves in parts]
    differences, variances = (
        {level: sum(share * of[level] for share, of in zip(pixels, each, strict=True)) for level in _common(each)}
        for each in ([halves.differences for halves in told], [halves.variances for halves in told])
    )
    return Halves(total, count, differences, variances, _relative_std_errors(told, pixels, variances))


def _common(each: list[dict[int, float]]) -> list[int]:
    """The keys that all have."""
    return sorted(set.intersection(*map(set, each)))


def _relative_std_errors(told: list[Halves], pixels: list[float], variances: dict[int, float]) -> dict[int, float]:
    """The relative standard errors of the roots of the variances: tiles err independently."""
    found = {}
    for level in _common([halves.relative_std_errors for halves in told]):
        errors = [
            share * of.variances[level] * of.relative_std_errors[level] for share, of in zip(pixels, told, strict=True)
        ]
        found[level] = math.hypot(*errors) / variances[level] if variances[level] > 0 else 0.0
    return found
