"""Pictures by many processes: efficiency, bits after workers' deaths, and a forecast of scaling.

Processes are workers of `raystream.farm` on this machine, each with one thread of the software driver. Efficiency is
the time of one process over that of n processes times n, for the whole call, starts and ends included. Then workers are
killed at random moments, and every picture is compared with that of one process. The measured costs of units and
transfers go into a simulation of more workers: they start, report their builds, get the scene, each from one that has
it, and prepare it; then each does one tile at a time. The asking process hands out tiles and collects films, one after
the other.
"""

from __future__ import annotations

import heapq
import math
import os
import pickle
import random
import signal
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import raystream
from benchmarks.common import Options, Result, Table, facts, say
from raystream.farm.cluster import processes
from raystream.farm.pictures import render_on
from raystream.farm.units import Unit, tile_side, tile_units
from raystream.farm.worker import Traced

ABOUT = "pictures by many processes: efficiency, deaths of workers, and a forecast for more"

SCENE, SIZE, SPP = "cornell", (512, 512), 192
SMALL, FEW, DEATHS = (128, 128), 24, 10
WORKERS, FORECAST = (1, 2, 4), (1, 2, 4, 16, 64, 256, 1024)
FORECASTS = {"512 x 512, 192 samples": (SIZE, SPP), "1920 x 1080, 4,096 samples": ((1920, 1080), 4096)}
LINE = 1.25e8  # bytes per second: gigabit Ethernet of the asking process


def run(options: Options) -> Result:
    """Measure everything."""
    size, spp, deaths, counts = (SMALL, FEW, 1, (1, 2)) if options.quick else (SIZE, SPP, DEATHS, WORKERS)
    data: dict[str, Any] = {"facts": facts(options.open()), "scene": SCENE, "size": size, "spp": spp}
    data |= {"load": os.getloadavg(), "cores": os.cpu_count(), "workers": {}}
    renderer, runs = raystream.Renderer(SCENE, machine="singlepass"), list[Run]()
    for count in counts:
        say(f"{count} worker{'s' * (count > 1)}")
        units: list[tuple[Unit, Traced, float]] = []
        began = time.perf_counter()
        render_on(renderer, f"local:{count}", size=size, spp=spp, on_unit=lambda *each: units.append(each))  # noqa: B023
        runs.append(Run(count, units, time.perf_counter() - began))
    for run in runs:
        efficiency = runs[0].seconds / run.seconds / min(run.workers, data["cores"])
        row = {"seconds": run.seconds, "tiles": len(run.units), "efficiency": efficiency}
        data["workers"][str(run.workers)] = row
    say("deaths")
    data["deaths"] = _deaths(renderer, deaths)
    costs = _costs(renderer, runs)
    data["costs"] = {name: value for name, value in vars(costs).items() if name != "spread"}
    data["forecast"] = {}
    for name, (size, spp) in FORECASTS.items():
        forecasts = [forecast(size, spp, workers, costs) for workers in FORECAST]
        alone = forecasts[0].seconds  # efficiency by the time of one worker
        data["forecast"][name] = [
            {**vars(each), "bound": each.bound, "efficiency": alone / each.seconds / each.workers} for each in forecasts
        ]
    renderer.release()
    return Result(data, _tables(data))


class Run(NamedTuple):
    """A picture by so many workers: its units with results and seconds of their trips, and the seconds of all."""

    workers: int
    units: list[tuple[Unit, Traced, float]]
    seconds: float


def _deaths(renderer: raystream.Renderer, deaths: int) -> dict[str, Any]:
    """Pictures during which a worker was killed, and how many of them have the bits of one process."""
    import distributed

    alone, moments = renderer.render(SMALL, FEW), random.Random(1)
    assert alone.film is not None
    same, killed, lost = 0, 0, 0
    with processes(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        for _ in range(deaths):
            client.wait_for_workers(2, timeout=60)
            pids, at = list(client.run(os.getpid).values()), moments.random()
            notes: list[str] = []

            def kill(share: float | None, text: str, pids: list[int] = pids, at: float = at) -> None:
                if share is not None and share >= at and pids:
                    os.kill(moments.choice(pids), signal.SIGKILL)
                    pids.clear()

            told: dict[str, Any] = {"progress": kill, "notify": notes.append}
            film = render_on(renderer, cluster.scheduler_address, size=SMALL, spp=FEW, **told).film
            assert film is not None
            same += all(np.array_equal(array, alone.film.arrays[name]) for name, array in film.arrays.items())
            killed, lost = killed + (not pids), lost + len(notes)
    return {"pictures": deaths, "killed": killed, "seen before the end": lost, "same bits": same}


def _costs(renderer: raystream.Renderer, runs: list[Run]) -> Costs:
    """Costs from the runs with at most as many workers as cores."""
    runs = [run for run in runs if run.workers <= (os.cpu_count() or 1)]
    units = [unit for run in runs for unit in run.units]
    own = np.array([traced.seconds - traced.preparing for _, traced, _ in units])
    cost = np.array([unit.cost for unit, _, _ in units])
    # Tiles of two sizes, of one and of two workers, give a tile's fixed cost.
    sizes = np.unique(cost)
    means = np.array([own[cost == size].mean() for size in sizes])
    slope, tile = np.polyfit(sizes, means, 1) if len(sizes) > 1 else (means[0] / sizes[0], 0.0)
    tile, sample = max(float(tile), 0.0), float(slope if tile > 0 else (own.sum() / cost.sum()))
    # A worker's first unit makes its renderer and compiles: its time above the median of its size.
    firsts = [each for run in runs for each in sorted(run.units, key=lambda unit: -unit[1].preparing)[: run.workers]]
    preparing = statistics.median(traced.preparing for _, traced, _ in firsts)
    usual = {size: float(np.median(own[cost == size])) for size in sizes.tolist()}
    above = [traced.seconds - traced.preparing - usual[unit.cost] for unit, traced, _ in firsts]
    giving = statistics.median(max(0.0, trip - traced.seconds) for _, traced, trip in units)
    starting = runs[0].seconds - sum(trip for _, _, trip in runs[0].units)
    spread = tuple((own / np.maximum(cost * sample + tile, 1e-9)).tolist())
    scene = len(pickle.dumps(renderer.prepared.given, pickle.HIGHEST_PROTOCOL))
    return Costs(
        max(starting, 0.0), preparing + max(statistics.median(above), 0.0), tile, sample, spread, giving, LINE, scene
    )


def _tables(data: dict[str, Any]) -> list[Table]:
    rows: list[tuple[Any, ...]]
    rows = [(name, row["tiles"], row["seconds"], 100 * row["efficiency"]) for name, row in data["workers"].items()]
    size = "{} x {}".format(*data["size"])
    note = f"{SCENE}, {size}, {data['spp']} samples; efficiency by the cores that there are, {data['cores']}."
    deaths = data["deaths"]
    tables = [
        Table("processes on this machine", ("workers", "tiles", "seconds", "efficiency, %"), rows, note),
        Table("a worker is killed at random moments", tuple(deaths), [tuple(deaths.values())]),
    ]
    for name, each in data["forecast"].items():
        rows = [(row["workers"], row["tiles"], row["seconds"], 100 * row["efficiency"], row["bound"]) for row in each]
        columns = ("workers", "tiles", "seconds", "efficiency, %", "most is lost to")
        tables.append(Table(f"simulated: {name}", columns, rows, "By the costs measured above and a line of 1 Gbit/s."))
    return tables


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
    """A picture on ``workers`` workers: seconds, and the durations of its bounds: before the start of a worker, in the
    asking process, and at the end, when workers wait for the last tile."""

    workers: int
    tiles: int
    seconds: float
    before: float
    asking: float
    tail: float

    @property
    def bound(self) -> str:
        """The cause of most of the time lost."""
        lost = {"start": self.before, "the asking process": self.asking, "the last tiles": self.tail}
        return max(lost, key=lambda name: lost[name])


def forecast(size: tuple[int, int], samples: int, workers: int, costs: Costs) -> Forecast:
    """Forecast of a picture of ``size`` (width, height) on ``workers`` workers."""
    units = list(tile_units(size, samples, tile_side(size, workers)))
    random = np.random.default_rng(0)
    drawn = random.choice(np.array(costs.spread), len(units))
    work = [unit.cost * costs.sample * ratio + costs.tile for unit, ratio in zip(units, drawn.tolist(), strict=True)]
    sent = [unit.width * unit.height * FILM_BYTES / costs.second_bytes for unit in units]
    generations = math.ceil(math.log2(workers)) if workers > 1 else 0
    scene = (generations + 1) * costs.scene_bytes / costs.second_bytes
    begin = costs.starting + scene + costs.preparing
    ends, asked, first_idle = _run(work, sent, workers, begin, costs.giving)
    useful = sum(unit.cost * costs.sample for unit in units)
    return Forecast(workers, len(units), ends, begin, max(0.0, asked - useful / workers), ends - first_idle)


def _run(
    work: Sequence[float], sent: Sequence[float], workers: int, begin: float, giving: float
) -> tuple[float, float, float]:
    """Time of the last film, busy time of the asking process, and time of the first idle worker."""
    asking = last = begin  # the asking process is free again
    busy, first_idle, following = 0.0, math.inf, 0
    idle: list[tuple[float, int]] = [(begin, -1)] * workers  # when a worker is, and the unit that it has done
    while idle:
        at, unit = heapq.heappop(idle)
        if following < len(work):  # the next one is assigned before this one's film is collected
            asking, busy = max(asking, at) + giving, busy + giving
            heapq.heappush(idle, (asking + work[following], following))
            following += 1
        elif unit >= 0:
            first_idle = min(first_idle, at)
        if unit >= 0:
            asking, busy = max(asking, at) + sent[unit], busy + sent[unit]
            last = max(last, asking)
    return last, busy, min(first_idle, last)
