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
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raystream
from benchmarks.common import Options, Result, Table, cpus, facts, say
from benchmarks.errors import DARKEST, LUMINANCE, Reference, block_means, crossing, middle
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
    scene = raystream.load(str(_file(folder / f"{file}.glb")))
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


# -- models of glTF ------------------------------------------------------------------------------------------------

MODELS, MODEL_SAMPLES, MODEL_SEEDS, MODEL_FIRST_SEED = ("DamagedHelmet", "ToyCar"), 16, 5, 2000
OF_MODELS = {
    "Raystream sobol": ("peers_raystream", "multipass", "sobol"),
    "Raystream zorder": ("peers_raystream", "multipass", "zorder"),
    "Raystream singlepass, sobol": ("peers_raystream", "singlepass", "sobol"),
    "Cycles": ("peers_cycles", "CPU", "TABULATED_SOBOL"),
    "Cycles, blue noise": ("peers_cycles", "CPU", "BLUE_NOISE"),
}
MODELS_AGREE = 0.05  # of the means of 20 x 20 blocks of a model, root mean square


def model_rows(name: str, options: Options, missing: list[str]) -> dict[str, Any]:
    """Variances and work of every renderer, taking turns, seed by seed. Raises Absent without the references."""
    folder = shared() / "gltf_refs"
    about = json.loads(_file(folder / f"{name}.json").read_text(encoding="utf-8"))
    with np.load(_file(folder / f"{name}.npz")) as held:
        found = held.get("ggx_lobes")
    reference = None if found is None else found.astype(np.float64) @ LUMINANCE
    camera = {key: about["camera"][key] for key in ("origin", "target", "up", "fov_vertical")}
    base: dict[str, Any] = {"scene": str(_file(shared() / "scenes" / "models" / about["model"])), "arrays": ""}
    base |= {"size": (about["size"], about["size"]), "surfaces": about["settings"]["same_depth_in_raystream"]}
    base |= {"threads": cpus(), "device": options.device}
    base["view"] = {**camera, "environment": str(_file(folder / "lobes.hdr"))}
    out: dict[str, Any] = {"size": base["size"], "samples": MODEL_SAMPLES, "renderers": {}}
    with ExitStack() as stack:
        processes: dict[str, Process] = {}
        for title, (module, variant, sampler) in OF_MODELS.items():
            job = Job(title=title, module=module, variant=variant, sampler=sampler, **base)
            try:
                processes[title] = stack.enter_context(Process(job))
            except Missing as error:
                missing.append(str(error))
        shots: dict[str, list[Any]] = {title: [] for title in processes}
        for seed in range(2 if options.quick else MODEL_SEEDS):
            for title, process in processes.items():
                say(f"{name}: {title}, seed {seed + 1}")
                shots[title].append(process.render(MODEL_SAMPLES, MODEL_FIRST_SEED + seed))
        averages: dict[str, NDArray[np.float64]] = {}
        for title, several in shots.items():
            pictures = np.stack([shot.picture.astype(np.float64) @ LUMINANCE for shot in several])
            cpu = float(np.median([shot.cpu_seconds for shot in several]))
            row = {"version": processes[title].version, "cpu_seconds": cpu, "off": None}
            averages[title] = pictures.mean(axis=0)
            row |= {f"variance_{edge}": variance(pictures, edge) for edge in (1, BLOCK)}
            out["renderers"][title] = row
    if reference is None:  # none under these lights: that of Cycles itself
        reference = next((mean for title, mean in averages.items() if title == "Cycles"), None)
    if reference is not None:
        scale = np.maximum(block_means(reference, 20), 0.02)
        for title, mean in averages.items():
            off = block_means(mean, 20) - block_means(reference, 20)
            out["renderers"][title]["off"] = float(np.sqrt(np.mean((off / scale) ** 2)))
    return out


def variance(pictures: NDArray[np.float64], edge: int) -> float:
    """Of blocks, between pictures (N, H, W) of luminance, over the squared mean; the mean over all blocks."""
    blocks = np.stack([block_means(picture, edge) for picture in pictures])
    mean = blocks.mean(axis=0)
    return float(np.mean(blocks.var(axis=0, ddof=1) / np.maximum(mean, DARKEST * mean.mean()) ** 2))


def model_table(name: str, data: dict[str, Any]) -> Table:
    """Noise, CPU seconds and work; work beside that of Cycles, where it is there."""
    rows = data["renderers"]
    lines: list[tuple[Any, ...]] = []
    for title, row in rows.items():
        works = [row[f"variance_{edge}"] * row["cpu_seconds"] for edge in (1, BLOCK)]
        best = [
            min((r[f"variance_{edge}"] * r["cpu_seconds"] for t, r in rows.items() if "Cycles" in t), default=None)
            for edge in (1, BLOCK)
        ]
        noise = [100 * row[f"variance_{edge}"] ** 0.5 for edge in (1, BLOCK)]
        shares: list[Any] = [work / other if other else None for work, other in zip(works, best, strict=True)]
        off = None if row["off"] is None else 100 * row["off"]
        shares = shares if off is None or off <= 100 * MODELS_AGREE else ["void", "void"]
        lines.append((f"{title} ({row['version']})", *noise, row["cpu_seconds"], *shares, off))
    columns = ("renderer", "pixels %", f"{BLOCK} x {BLOCK} %", "CPU s", "work: pixels", "blocks", "off %")
    note = (
        f"{data['size'][0]} x {data['size'][1]}, {data['samples']} samples, under lobes.hdr. Relative RMS noise "
        "between a renderer's own pictures; work: its square times CPU seconds, beside that of the better of Cycles' "
        "patterns. "
        f"off: of the mean of 20 x 20 blocks against the reference's of one scattering (if there is one under "
        f"these lights; else of Cycles), RMS; void beyond {100 * MODELS_AGREE:g} %."
    )
    return Table(f"{name}: time for equal noise", columns, lines, note)
