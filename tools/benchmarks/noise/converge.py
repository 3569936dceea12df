"""Convergence: seconds until a picture is within a given error of its reference, beside other renderers.

Pictures of 1, 2, 4 ... samples per pixel are rendered from scratch, each by one timed call of the renderer's interface;
for errors see `errors`. Every seed gives the seconds and samples at which the error falls below a limit; tables show
the seeds' median. The error of pixels takes many more samples, but a picture has enough pixels for a single seed, the
first. Renderers take turns, seed by seed.

DamagedHelmet and ToyCar under ``lobes.hdr``, as in ``gltf_refs``, stand beside Cycles by its own importer. They have
references of few samples only, so that the variance is that between a renderer's own pictures of unlike seeds, over
the square of the mean picture, or of a tenth of its mean; work is variance times CPU seconds: the relative time for
equal noise, at any number of samples.

Raystream is measured beside Mitsuba 3 and Cycles where they are installed, see `peers`. The average of all pictures of
a renderer must agree with the reference, or its figures are void.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, cpus, facts, say
from benchmarks.errors import DARKEST, LUMINANCE, Reference, block_means, crossing, middle
from benchmarks.noise.peers import Job, Missing, Process, Shot, write_arrays
from benchmarks.scenes import Absent, reference_picture, required, shared

ABOUT = "path tracing: seconds until a picture is within a given error of its reference, beside other renderers"

SCENES = {"cornell": "cornell_depth5_128", "bunny": "bunny_ground_depth5_256"}  # references


@dataclass(frozen=True)
class Limit:
    """A target error: relative, of means of blocks ``edge`` pixels wide (1: of pixels)."""

    edge: int
    error: float

    def __str__(self) -> str:
        return f"{_blocks(self.edge)} {100 * self.error:g} %"


def _blocks(edge: int) -> str:
    return "pixels" if edge == 1 else f"{edge} x {edge}"


LIMITS = (Limit(8, 0.05), Limit(8, 0.02), Limit(8, 0.01), Limit(16, 0.01), Limit(1, 0.05))
BY_BLOCKS = tuple(limit for limit in LIMITS if limit.edge > 1)  # of the seeds after the first: see above
EDGES = tuple(dict.fromkeys(limit.edge for limit in LIMITS))
BLOCK = 8  # of the agreement with the reference, and of models' noise
AGREE = 0.01  # of the average of all pictures with the reference, by blocks
SHOWN = Limit(BLOCK, 0.01)  # limit of the CPU times shown
SEEDS, FIRST_SEED = 3, 1000  # references have small seeds: equal ones would hide their noise
MOST_SAMPLES, MOST_SECONDS = 4096, 60.0  # limits of one picture
COSTS = ("seconds", "cpu_seconds", "samples")

# title -> module, variant, sampler.
SINGLEPASS = ("peers", "singlepass", "sobol")
SOBOL, ZORDER = ("peers", "multipass", "sobol"), ("peers", "multipass", "zorder")
CYCLES = ("peers_cycles", "CPU", "TABULATED_SOBOL")
Renderers = dict[str, tuple[str, str, str]]
RENDERERS: Renderers = {
    "Raystream sobol": SOBOL,
    "Raystream zorder": ZORDER,
    "Raystream independent": ("peers", "multipass", "independent"),
    "Raystream singlepass, sobol": SINGLEPASS,
    **{
        f"Mitsuba 3 {variant}, {sampler}": ("peers_mitsuba", variant, sampler)
        for variant in ("scalar_rgb", "llvm_ad_rgb")
        for sampler in ("independent", "multijitter")
    },
    "Cycles": CYCLES,
}
OF_MODELS: Renderers = {
    "Raystream sobol": SOBOL,
    "Raystream zorder": ZORDER,
    "Raystream singlepass, sobol": SINGLEPASS,
    "Cycles": CYCLES,
    "Cycles, blue noise": ("peers_cycles", "CPU", "BLUE_NOISE"),
}
MODELS, MODEL_SAMPLES, MODEL_SEEDS, MODEL_FIRST_SEED = ("DamagedHelmet", "ToyCar"), 16, 5, 2000
MODELS_AGREE = 0.05  # of the means of blocks of a model, root mean square
MODEL_BLOCK, MODEL_DARKEST = 20, 0.02  # pixels of such a block; the least mean that a difference is divided by


@dataclass
class Climb:
    """One seed of one renderer: pictures of increasing sample counts. errors : one list for each of `EDGES`."""

    samples: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    errors: dict[int, list[float]] = field(default_factory=lambda: {edge: [] for edge in EDGES})

    def add(self, shot: Shot, reference: Reference) -> None:
        """Measure a picture."""
        for cost in COSTS:
            getattr(self, cost).append(getattr(shot, cost))
        for edge in EDGES:
            self.errors[edge].append(reference.error(shot.picture, edge))

    def at(self, limit: Limit) -> dict[str, float | None]:
        """Seconds, CPU seconds and samples per pixel from which the error stays within a limit."""
        return {cost: crossing(getattr(self, cost), self.errors[limit.edge], limit.error) for cost in COSTS}

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
        blocks, whole = reference.error(picture, BLOCK), reference.mean_error(picture)
        return {"samples": self._samples, "blocks": blocks, "mean": whole, "agrees": blocks <= AGREE}


def run(options: Options) -> Result:
    """Measure everything."""
    data: dict[str, Any] = {"facts": facts(options.open()), "threads": cpus()}
    data |= {"seeds": 1 if options.quick else SEEDS, "missing": [], "scenes": {}, "models": {}}
    data["limits"] = {str(limit): {"edge": limit.edge, "error": limit.error} for limit in LIMITS}
    cases: tuple[Any, ...] = (("scenes", _scene, tuple(SCENES)), ("models", model_rows, MODELS))
    for kind, measure, names in cases:
        for name in names[: 1 if options.quick else None]:
            try:
                data[kind][name] = measure(name, options, data["missing"])
            except (Absent, Missing) as error:
                data["missing"].append(f"{name}: {error}")
    data["missing"] = list(dict.fromkeys(data["missing"]))
    return Result(data, _tables(data))


@contextmanager
def _started(renderers: Renderers, missing: list[str], **job: Any) -> Iterator[dict[str, Process]]:
    """The processes of those renderers that are there, with a remark on each that is missing."""
    with ExitStack() as stack:
        processes = {}
        for title, (module, variant, sampler) in renderers.items():
            try:
                one = Job(title=title, module=module, variant=variant, sampler=sampler, threads=cpus(), **job)
                processes[title] = stack.enter_context(Process(one))
            except Missing as error:
                missing.append(str(error))
        yield processes


def _scene(name: str, options: Options, missing: list[str]) -> dict[str, Any]:
    """All series of all renderers. Raises Absent for a missing scene or reference."""
    reference, scene, surfaces, path = reference_picture(SCENES[name])
    out: dict[str, Any] = {"reference": SCENES[name], "size": reference.size, "triangles": scene.triangle_count}
    out |= {"surfaces": surfaces, "floors": {edge: reference.floor(edge) for edge in EDGES}, "renderers": {}}
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        arrays = Path(folder) / "scene.npz"
        write_arrays(arrays, scene)
        job: dict[str, Any] = {"scene": str(path), "arrays": str(arrays), "size": reference.size}
        with _started(RENDERERS, missing, **job, surfaces=surfaces, device=options.device) as processes:
            climbs: dict[str, list[Climb]] = {title: [] for title in processes}
            averages = {title: Average() for title in processes}
            for seed in range(1 if options.quick else SEEDS):
                for title in list(climbs):
                    say(f"{name}: {title}, seed {seed + 1}")
                    most, limits = 4 if options.quick else MOST_SAMPLES, BY_BLOCKS if seed else LIMITS
                    try:
                        climb = _climb(processes[title], reference, averages[title], limits, FIRST_SEED + seed, most)
                        climbs[title].append(climb)
                    except Missing as error:
                        missing.append(str(error))
                        del climbs[title]
            for title, of_seeds in climbs.items():
                out["renderers"][title] = _summary(processes[title], of_seeds, averages[title].agreement(reference))
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
    reached: dict[str, dict[str, Any]] = {}
    for limit in LIMITS:
        costs = [climb.at(limit) for climb in (climbs if limit in BY_BLOCKS else climbs[:1])]
        reached[str(limit)] = {key: middle([each[key] for each in costs]) for key in COSTS}
        reached[str(limit)]["seeds"] = [each["seconds"] for each in costs]
    start = {"seconds": process.start, **process.phases}
    summary = {"version": process.version, "start": start, "limits": reached, "agreement": agreement}
    return {**summary, "climbs": [vars(climb) for climb in climbs]}


def model_rows(name: str, options: Options, missing: list[str]) -> dict[str, Any]:
    """Variances and work of every renderer, taking turns, seed by seed. Raises Absent without the references."""
    folder = shared() / "gltf_refs"
    about = json.loads(required(folder / f"{name}.json").read_text(encoding="utf-8"))
    with np.load(required(folder / f"{name}.npz")) as arrays:
        lobes = arrays.get("ggx_lobes")
    view = {key: about["camera"][key] for key in ("origin", "target", "up", "fov_vertical")}
    job: dict[str, Any] = {"scene": str(required(shared() / "scenes" / "models" / about["model"])), "arrays": ""}
    job |= {"size": (about["size"],) * 2, "surfaces": about["settings"]["same_depth_in_raystream"]}
    job |= {"view": {**view, "environment": str(required(folder / "lobes.hdr"))}, "device": options.device}
    out: dict[str, Any] = {"size": job["size"], "samples": MODEL_SAMPLES, "renderers": {}}
    averages: dict[str, NDArray[np.float64]] = {}
    with _started(OF_MODELS, missing, **job) as processes:
        shots: dict[str, list[Shot]] = {title: [] for title in processes}
        for seed in range(2 if options.quick else MODEL_SEEDS):
            for title, process in processes.items():
                say(f"{name}: {title}, seed {seed + 1}")
                shots[title].append(process.render(MODEL_SAMPLES, MODEL_FIRST_SEED + seed))
        for title, of_seeds in shots.items():
            pictures = np.stack([shot.picture.astype(np.float64) @ LUMINANCE for shot in of_seeds])
            averages[title] = pictures.mean(axis=0)
            cpu = float(np.median([shot.cpu_seconds for shot in of_seeds]))
            row = {"version": processes[title].version, "cpu_seconds": cpu, "off": None}
            out["renderers"][title] = row | {f"variance_{edge}": variance(pictures, edge) for edge in (1, BLOCK)}
    # Without one under these lights that of Cycles itself.
    reference = averages.get("Cycles") if lobes is None else lobes.astype(np.float64) @ LUMINANCE
    if reference is not None:
        blocks = block_means(reference, MODEL_BLOCK)
        for title, mean in averages.items():
            off = (block_means(mean, MODEL_BLOCK) - blocks) / np.maximum(blocks, MODEL_DARKEST)
            out["renderers"][title]["off"] = float(np.sqrt(np.mean(off**2)))
    return out


def variance(pictures: NDArray[np.float64], edge: int) -> float:
    """Of blocks, between pictures (N, H, W) of luminance, over the squared mean; the mean over all blocks."""
    blocks = np.stack([block_means(picture, edge) for picture in pictures])
    mean = blocks.mean(axis=0)
    return float(np.mean(blocks.var(axis=0, ddof=1) / np.maximum(mean, DARKEST * mean.mean()) ** 2))


def _tables(data: dict[str, Any]) -> list[Table]:
    scenes = [table for name, scene in data["scenes"].items() for table in _scene_tables(name, scene, data)]
    return scenes + [model_table(name, rows) for name, rows in data["models"].items()]


def _scene_tables(name: str, scene: dict[str, Any], data: dict[str, Any]) -> tuple[Table, Table]:
    times, counts = [], []
    for title, row in scene["renderers"].items():
        label, agrees = f"{title} ({row['version']})", row["agreement"]
        valid = agrees["agrees"] or data["seeds"] < SEEDS  # a quick run tells too little
        reached = [row["limits"][str(limit)] if valid else dict.fromkeys(COSTS, "void") for limit in LIMITS]
        cpu = row["limits"][str(SHOWN)]["cpu_seconds"] if valid else None
        times.append((label, row["start"]["seconds"], *(each["seconds"] for each in reached), cpu))
        average = (100 * agrees["blocks"], 100 * agrees["mean"], agrees["samples"])
        counts.append((label, *(each["samples"] for each in reached), *average))
    width, height = scene["size"]
    limits = [str(limit) for limit in LIMITS]
    floors = ", ".join(f"{_blocks(edge)} {100 * scene['floors'][edge]:.2g} %" for edge in EDGES)
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


def model_table(name: str, data: dict[str, Any]) -> Table:
    """Noise, CPU seconds and work; work beside that of Cycles, where it is there."""

    def works(row: Mapping[str, Any]) -> list[float]:
        return [row[f"variance_{edge}"] * row["cpu_seconds"] for edge in (1, BLOCK)]

    of_cycles = [works(row) for title, row in data["renderers"].items() if "Cycles" in title]
    best = [min(column) for column in zip(*of_cycles, strict=True)] or [None, None]
    lines: list[tuple[Any, ...]] = []
    for title, row in data["renderers"].items():
        noise = [100 * row[f"variance_{edge}"] ** 0.5 for edge in (1, BLOCK)]
        shares: list[Any] = [work / other if other else None for work, other in zip(works(row), best, strict=True)]
        off = None if row["off"] is None else 100 * row["off"]
        shares = shares if off is None or off <= 100 * MODELS_AGREE else ["void", "void"]
        lines.append((f"{title} ({row['version']})", *noise, row["cpu_seconds"], *shares, off))
    columns = ("renderer", "pixels %", f"{BLOCK} x {BLOCK} %", "CPU s", "work: pixels", "blocks", "off %")
    note = (
        f"{data['size'][0]} x {data['size'][1]}, {data['samples']} samples, under lobes.hdr. Relative RMS noise "
        "between a renderer's own pictures; work: its square times CPU seconds, beside that of the better of Cycles' "
        f"patterns. off: of the mean of {MODEL_BLOCK} x {MODEL_BLOCK} blocks against the reference's of one scattering "
        f"(if there is one under these lights; else of Cycles), RMS; void beyond {100 * MODELS_AGREE:g} %."
    )
    return Table(f"{name}: time for equal noise", columns, lines, note)
