"""Convergence: seconds until a picture is within a given error of its reference, beside other renderers.

Pictures of 1, 2, 4 ... samples per pixel are rendered from scratch, each by one timed call of the renderer's interface;
for errors see `errors`. Every seed gives the seconds and samples at which the error falls below a limit; tables show
the seeds' median. The error of pixels takes many more samples, but a picture has enough pixels for a single seed, the
first. Renderers take turns, seed by seed.

Models of glTF at equal counts: see `equal_counts`.

Raystream is measured beside Mitsuba 3 and Cycles where they are installed, see `peers`. The average of all pictures of
a renderer must agree with the reference, or its figures are void.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Options, Result, Table, cpus, facts, say
from benchmarks.errors import Reference, crossing, middle
from benchmarks.light.transport_scenes import SCENES as LOADED
from benchmarks.noise.equal_counts import MODELS, model_rows, model_table
from benchmarks.noise.peers import Job, Missing, Process, Shot, write_arrays
from benchmarks.scenes import Absent, _file, shared

ABOUT = "path tracing: seconds until a picture is within a given error of its reference, beside other renderers"

SCENES = {"cornell": ("cornell", "cornell_depth5_128"), "bunny": ("bunny_ground", "bunny_ground_depth5_256")}


@dataclass(frozen=True)
class Limit:
    """A target error: relative, of means of blocks ``edge`` pixels wide (1: of pixels)."""

    edge: int
    error: float

    def __str__(self) -> str:
        what = "pixels" if self.edge == 1 else f"{self.edge} x {self.edge}"
        return f"{what} {100 * self.error:g} %"


LIMITS = (Limit(8, 0.05), Limit(8, 0.02), Limit(8, 0.01), Limit(16, 0.01), Limit(1, 0.05))
BY_BLOCKS = tuple(limit for limit in LIMITS if limit.edge > 1)  # of the seeds after the first: see above
EDGES = tuple(dict.fromkeys(limit.edge for limit in LIMITS))
BLOCK = 8  # of plotted errors, and of the agreement with the reference
AGREE = 0.01  # of the average of all pictures with the reference, by blocks
SHOWN = Limit(BLOCK, 0.01)  # limit of the CPU times shown
SEEDS, FIRST_SEED = 3, 1000  # references have small seeds: equal ones would hide their noise
MOST_SAMPLES, MOST_SECONDS = 4096, 60.0  # limits of one picture

# title -> module, variant, sampler.
RENDERERS = {
    "Raystream sobol": ("peers_raystream", "multipass", "sobol"),
    "Raystream zorder": ("peers_raystream", "multipass", "zorder"),
    "Raystream independent": ("peers_raystream", "multipass", "independent"),
    "Raystream singlepass, sobol": ("peers_raystream", "singlepass", "sobol"),
    "Mitsuba 3 scalar_rgb, independent": ("peers_mitsuba", "scalar_rgb", "independent"),
    "Mitsuba 3 scalar_rgb, multijitter": ("peers_mitsuba", "scalar_rgb", "multijitter"),
    "Mitsuba 3 llvm_ad_rgb, independent": ("peers_mitsuba", "llvm_ad_rgb", "independent"),
    "Mitsuba 3 llvm_ad_rgb, multijitter": ("peers_mitsuba", "llvm_ad_rgb", "multijitter"),
    "Cycles": ("peers_cycles", "CPU", "TABULATED_SOBOL"),
}


@dataclass
class Climb:
    """One seed of one renderer: pictures of increasing sample counts. errors : one list for each of `EDGES`."""

    samples: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    errors: dict[int, list[float]] = field(default_factory=lambda: {edge: [] for edge in EDGES})

    def add(self, shot: Shot, reference: Reference) -> None:
        """Measure a picture."""
        self.samples.append(shot.samples)
        self.seconds.append(shot.seconds)
        self.cpu_seconds.append(shot.cpu_seconds)
        for edge in EDGES:
            self.errors[edge].append(reference.error(shot.picture, edge))

    def at(self, limit: Limit) -> dict[str, float | None]:
        """Seconds, CPU seconds and samples per pixel from which the error stays within a limit."""
        errors = self.errors[limit.edge]
        costs: dict[str, list[Any]] = {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "samples": self.samples,
        }
        return {name: crossing(each, errors, limit.error) for name, each in costs.items()}

    def within(self, limits: Sequence[Limit]) -> bool:
        """Whether the last picture is within all of them."""
        return all(self.errors[limit.edge][-1] <= limit.error for limit in limits)


class Average:
    """The mean of pictures, weighted by samples."""

    def __init__(self) -> None:
        self._sum: Any = 0.0
        self._samples = 0

    def add(self, shot: Shot) -> None:
        """Add a picture."""
        self._sum = self._sum + shot.samples * shot.picture.astype(np.float64)
        self._samples += shot.samples

    def agreement(self, reference: Reference) -> dict[str, Any]:
        """Relative difference of the mean from the reference: blocks and the whole picture."""
        picture = self._sum / self._samples
        blocks = reference.error(picture, BLOCK)
        whole = reference.mean_error(picture)
        return {"samples": self._samples, "blocks": blocks, "mean": whole, "agrees": blocks <= AGREE}


def run(options: Options) -> Result:
    """Measure everything."""
    data: dict[str, Any] = {
        "facts": facts(options.open()),
        "threads": cpus(),
        "seeds": 1 if options.quick else SEEDS,
        "limits": {str(limit): {"edge": limit.edge, "error": limit.error} for limit in LIMITS},
        "missing": [],
        "scenes": {},
        "models": {},
    }
    for name in ("cornell",) if options.quick else SCENES:
        try:
            data["scenes"][name] = _scene(name, options, data["missing"])
        except (Absent, Missing) as error:
            data["missing"].append(f"{name}: {error}")
    for model in MODELS[:1] if options.quick else MODELS:
        try:
            data["models"][model] = model_rows(model, options, data["missing"])
        except Absent as error:
            data["missing"].append(f"{model}: {error}")
    data["missing"] = list(dict.fromkeys(data["missing"]))
    return Result(data, _tables(data))


# -- measurements --------------------------------------------------------------------------------------------------


def _scene(name: str, options: Options, missing: list[str]) -> dict[str, Any]:
    """All series of all renderers. Raises Absent for a missing scene or reference."""
    file, picture = SCENES[name]
    folder = shared() / "refs"
    reference = Reference.load(_file(folder / f"{picture}.npz"))
    said = json.loads(_file(folder / f"{picture}.json").read_text(encoding="utf-8"))
    scene = LOADED[name]()
    out: dict[str, Any] = {
        "reference": picture,
        "size": reference.size,
        "triangles": scene.triangle_count,
        "surfaces": said["integrator"]["max_depth"] - 1,  # Mitsuba counts the edges of a path
        "floors": {edge: reference.floor(edge) for edge in EDGES},
        "renderers": {},
    }
    with ExitStack() as stack:
        arrays = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="raystream-bench-"))) / "scene.npz"
        write_arrays(arrays, scene)
        base: dict[str, Any] = {"scene": str(folder / f"{file}.glb"), "arrays": str(arrays), "size": reference.size}
        base |= {"surfaces": out["surfaces"], "threads": cpus(), "device": options.device}
        processes = {}
        for title, (module, variant, sampler) in RENDERERS.items():
            job = Job(title=title, module=module, variant=variant, sampler=sampler, **base)
            try:
                processes[title] = stack.enter_context(Process(job))
            except Missing as error:
                missing.append(str(error))
        climbs: dict[str, list[Climb]] = {title: [] for title in processes}
        averages = {title: Average() for title in processes}
        for seed in range(1 if options.quick else SEEDS):
            for title in list(climbs):
                say(f"{name}: {title}, seed {seed + 1}")
                most = 4 if options.quick else MOST_SAMPLES
                limits = LIMITS if seed == 0 else BY_BLOCKS
                try:
                    climb = _climb(processes[title], reference, averages[title], limits, FIRST_SEED + seed, most)
                    climbs[title].append(climb)
                except Missing as error:
                    missing.append(str(error))
                    del climbs[title]
        for title, several in climbs.items():
            out["renderers"][title] = _summary(processes[title], several, averages[title].agreement(reference))
    return out


def _climb(
    process: Process, reference: Reference, average: Average, limits: Sequence[Limit], seed: int, most: int
) -> Climb:
    """Double the samples until all limits are met, or the time is up."""
    climb, samples = Climb(), 1
    while samples <= most and not (climb.seconds and (climb.within(limits) or climb.seconds[-1] > MOST_SECONDS)):
        shot = process.render(samples, seed)
        climb.add(shot, reference)
        average.add(shot)
        samples *= 2
    return climb


def _summary(process: Process, climbs: list[Climb], agreement: dict[str, Any]) -> dict[str, Any]:
    """Medians of the seeds, their spread, and all measurements."""
    reached = {}
    for limit in LIMITS:
        found = [climb.at(limit) for climb in (climbs if limit in BY_BLOCKS else climbs[:1])]
        reached[str(limit)] = {
            **{key: middle([each[key] for each in found]) for key in ("seconds", "cpu_seconds", "samples")},
            "seeds": [each["seconds"] for each in found],
        }
    return {
        "version": process.version,
        "start": {"seconds": process.start, **process.phases},
        "limits": reached,
        "agreement": agreement,
        "climbs": [vars(climb) for climb in climbs],
    }


# -- output --------------------------------------------------------------------------------------------------------


def _tables(data: dict[str, Any]) -> list[Table]:
    scenes = [table for name, scene in data["scenes"].items() for table in _scene_tables(name, scene, data)]
    return scenes + [model_table(name, rows) for name, rows in data["models"].items()]


def _scene_tables(name: str, scene: dict[str, Any], data: dict[str, Any]) -> tuple[Table, Table]:
    times, counts = [], []
    for title, row in scene["renderers"].items():
        label = f"{title} ({row['version']})"
        agrees = row["agreement"]
        reached = row["limits"] if agrees["agrees"] or data["seeds"] < SEEDS else {}  # a quick run tells too little

        def each(key: str, reached: dict[str, Any] = reached) -> list[Any]:
            return [reached[str(limit)][key] if reached else "void" for limit in LIMITS]

        cpu = reached[str(SHOWN)]["cpu_seconds"] if reached else None
        times.append((label, row["start"]["seconds"], *each("seconds"), cpu))
        counts.append((label, *each("samples"), 100 * agrees["blocks"], 100 * agrees["mean"], agrees["samples"]))
    width, height = scene["size"]
    limits = [str(limit) for limit in LIMITS]
    floors = ", ".join(
        f"{'pixels' if edge == 1 else f'{edge} x {edge}'} {100 * scene['floors'][edge]:.2g} %" for edge in EDGES
    )
    note = (
        f"{width} x {height}, {scene['triangles']:,} triangles, {scene['surfaces']} surfaces, {data['threads']} "
        f"threads, median of {data['seeds']} seeds, of pixels the first. Relative RMS error in luminance of the means "
        "of blocks of that width, each by the reference's block or a tenth of the picture's mean; wall time of "
        "the call that renders a picture of the samples that it takes. start: process, imports, scene, compilation, "
        f"first sample. CPU s: user and system, all threads, at {SHOWN}. -: not reached. The reference's own noise "
        f"({floors}) is taken off."
    )
    more = (
        f"Average: of all pictures, against the reference: a check that the renderers agree, void beyond "
        f"{100 * AGREE:g} % at {BLOCK} x {BLOCK}."
    )
    columns = ("average: blocks %", "mean %", "of samples")
    return (
        Table(f"{name}: seconds to an error", ("renderer", "start s", *limits, "CPU s"), times, note),
        Table(f"{name}: samples of a pixel to an error", ("renderer", *limits, *columns), counts, more),
    )
