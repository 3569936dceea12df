"""How a picture would go on many more workers than there are: a simulation by costs that were measured.

Workers start, are told apart by their builds, get the scene, each from one that has it, and prepare it; then each does
one tile at a time. The process that asks for the picture gives tiles out and takes films in, one after the other.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewer.farm.units import tile_side, tile_units

FILM_BYTES = 32  # of a pixel: eight floats


@dataclass(frozen=True)
class Costs:
    """What was measured, in seconds.

    starting : of a worker's process. preparing : the scene's structures, and shaders. tile : of every tile, whatever
    its size. sample : of one sample of one pixel, on average. spread : ratios of tiles' costs to that average.
    giving : the asking process's time for a unit, beside its bytes. second_bytes : bytes a second of its line.
    scene_bytes : of the scene.
    """

    starting: float
    preparing: float
    tile: float
    sample: float
    spread: tuple[float, ...]
    giving: float
    second_bytes: float
    scene_bytes: int


@dataclass(frozen=True)
class Forecast:
    """Of a picture on so many workers: seconds, the share of the workers' time that is samples of the picture, and
    how long what bounds it takes: before a worker has begun, the asking process, and the end, when workers wait for the
    last tile."""

    workers: int
    tiles: int
    seconds: float
    efficiency: float
    before: float
    asking: float
    tail: float

    @property
    def bound(self) -> str:
        """What takes most of the time that is lost."""
        lost = {"start": self.before, "the asking process": self.asking, "the last tiles": self.tail}
        return max(lost, key=lambda name: lost[name])


def forecast(size: tuple[int, int], samples: int, workers: int, costs: Costs, seed: int = 0) -> Forecast:
    """A picture of ``size`` (width, height) on so many workers."""
    units = list(tile_units(size, samples, tile_side(size, workers)))
    random = np.random.default_rng(seed)
    drawn = random.choice(np.array(costs.spread), len(units))
    work = [unit.cost * costs.sample * ratio + costs.tile for unit, ratio in zip(units, drawn.tolist(), strict=True)]
    sent = [unit.width * unit.height * FILM_BYTES / costs.second_bytes for unit in units]
    generations = math.ceil(math.log2(workers)) if workers > 1 else 0
    scene = (generations + 1) * costs.scene_bytes / costs.second_bytes
    begin = costs.starting + scene + costs.preparing
    ends, asked, first_idle = _run(work, sent, workers, begin, costs.giving)
    useful = sum(unit.cost * costs.sample for unit in units)
    return Forecast(
        workers,
        len(units),
        ends,
        useful / (workers * ends),
        begin,
        max(0.0, asked - useful / workers),
        ends - first_idle,
    )


def _run(
    work: Sequence[float], sent: Sequence[float], workers: int, begin: float, giving: float
) -> tuple[float, float, float]:
    """When the last film is in, how long the asking process was busy, and when the first worker had nothing to do."""
    free = [(begin, number) for number in range(workers)]
    heapq.heapify(free)
    asking = begin  # when the asking process is free again
    busy, first_idle, last = 0.0, math.inf, begin
    following = 0
    results: list[tuple[float, int]] = []
    while following < len(work) or results:
        if following < len(work) and free and (not results or free[0][0] <= results[0][0]):
            at, _ = heapq.heappop(free)
            asking = max(asking, at) + giving
            busy += giving
            heapq.heappush(results, (asking + work[following], following))
            following += 1
            continue
        at, unit = heapq.heappop(results)
        heapq.heappush(free, (at, unit))
        if following == len(work):
            first_idle = min(first_idle, at)
        else:
            continue_at = max(asking, at) + giving  # the next one is given before this one's film is taken
            heapq.heappop(free)
            busy += giving
            heapq.heappush(results, (continue_at + work[following], following))
            asking = continue_at
            following += 1
        asking = max(asking, at) + sent[unit]
        busy += sent[unit]
        last = max(last, asking)
    return last, busy, min(first_idle, last)
