"""Forecast of a picture on many more workers: a simulation from measured costs.

Workers start, report their builds, get the scene, each from one that has it, and prepare it; then each does one tile at
a time. The asking process hands out tiles and collects films, one after the other.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from raystream.farm.units import tile_side, tile_units

FILM_BYTES = 32  # of a pixel: eight floats


@dataclass(frozen=True)
class Costs:
    """Measured costs, in seconds.

    starting : of a worker's process. preparing : the scene's structures, and shaders. tile : fixed, per tile. sample :
    of one sample of one pixel, on average. spread : ratios of tiles' costs to that average. giving : the asking
    process's time per unit, without its bytes. second_bytes : bytes per second of its line. scene_bytes : of the scene.
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
    """A picture on ``workers`` workers: seconds, the share of the workers' time spent on samples, and the durations of
    its bounds: before the start of a worker, in the asking process, and at the end, when workers wait for the last
    tile."""

    workers: int
    tiles: int
    seconds: float
    efficiency: float
    before: float
    asking: float
    tail: float

    @property
    def bound(self) -> str:
        """The cause of most of the time lost."""
        lost = {"start": self.before, "the asking process": self.asking, "the last tiles": self.tail}
        return max(lost, key=lambda name: lost[name])


def forecast(size: tuple[int, int], samples: int, workers: int, costs: Costs, seed: int = 0) -> Forecast:
    """Forecast of a picture of ``size`` (width, height) on ``workers`` workers."""
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
    """Time of the last film, busy time of the asking process, and time of the first idle worker."""
    free = [(begin, number) for number in range(workers)]
    heapq.heapify(free)
    asking = begin  # the asking process is free again
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
            continue_at = max(asking, at) + giving  # the next one is assigned before this one's film is collected
            heapq.heappop(free)
            busy += giving
            heapq.heappush(results, (continue_at + work[following], following))
            asking = continue_at
            following += 1
        asking = max(asking, at) + sent[unit]
        busy += sent[unit]
        last = max(last, asking)
    return last, busy, min(first_idle, last)
