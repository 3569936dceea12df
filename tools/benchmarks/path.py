"""Path tracing: seconds per sample by machine, what the time goes into, and what a sample is worth.

256 x 256 pixels, 5 surface interactions. "Per sample" is the time of one sample of every pixel. A run is timed as a
renderer does it, film up and down included.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from viewer.film.buffers import FilmBuffer
from viewer.film.film import LUMINANCE
from viewer.renderer.renderer import Renderer
from viewer.scene.scene import Scene

from . import fresh, plots
from .common import Options, Result, Table, Timing, facts, interleave, say
from .scenes import Absent, _file, shared
from .transport_scenes import found

ABOUT = "path tracing: seconds per sample, by machine and kernel; errors of the samplers"

SINGLEPASS, FUSED, UNFUSED = "singlepass", "multipass --fuse ray", "multipass --fuse none"
SETTINGS: dict[str, dict[str, Any]] = {
    SINGLEPASS: {"machine": "singlepass"},
    FUSED: {"machine": "multipass", "fuse": "ray"},
    UNFUSED: {"machine": "multipass", "fuse": "none"},
}
SAMPLERS = ("sobol", "independent", "table")
IN_RUN = (1, 4, 16)  # samples of a pixel in one run
COUNTS, SEEDS = (1, 4, 16, 64), 4  # of the comparison of samplers
REFERENCE, REFERENCE_DEPTH = "cornell_depth5_128", 4
BLOCK, STARTS = 16, 3

# What the project set out to reach on two cores of llvmpipe, seconds: name -> (how to read it, limit).
TARGETS: dict[str, tuple[Callable[[dict[str, Any]], float], float]] = {
    "cornell, singlepass, s": (lambda d: d["scenes"]["cornell"]["settings"][SINGLEPASS]["s"], 0.060),
    "bunny, singlepass, s": (lambda d: d["scenes"]["bunny"]["settings"][SINGLEPASS]["s"], 0.055),
    "dragon, singlepass, s": (lambda d: d["scenes"]["dragon"]["settings"][SINGLEPASS]["s"], 0.120),
    "cornell, --fuse ray / singlepass": (lambda d: d["scenes"]["cornell"]["settings"][FUSED]["ratio"], 1.3),
    "bunny, --fuse ray / singlepass": (lambda d: d["scenes"]["bunny"]["settings"][FUSED]["ratio"], 1.3),
    "dragon, --fuse ray / singlepass": (lambda d: d["scenes"]["dragon"]["settings"][FUSED]["ratio"], 1.3),
    "cornell, command to first sample, s": (lambda d: d["starts"]["warm"]["seconds"], 2.0),
}


def run(options: Options) -> Result:
    """Measure all of it."""
    names = ("cornell",) if options.quick else ("cornell", "bunny", "dragon")
    scenes, missing = found(names)
    size = (32, 32) if options.quick else (256, 256)
    runs, samples = (2, 1) if options.quick else (5, 4)
    data: dict[str, Any] = {
        "benchmark": "path",
        "about": ABOUT,
        "facts": facts(options.open()),
        "size": size,
        "depth": 5,
        "runs": runs,
        "samples_in_a_run": samples,
        "missing": missing,
        "scenes": {},
        "errors": [],
    }
    for name, scene in scenes.items():
        say(f"{name}: machines")
        renderers = {key: _renderer(scene, options, **setting) for key, setting in SETTINGS.items()}
        measured = _scene(renderers, size, runs, samples)
        measured["kernels"] = _kernels(renderers[UNFUSED], size, 1 if options.quick else 3)
        if name == "cornell":
            say("cornell: samples in a run")
            data["in_run"] = _in_runs(renderers, size, 1 if options.quick else 3)
            say("cornell: samplers")
            data["samplers"] = _samplers(scene, options, size, runs, samples)
        data["scenes"][name] = {"triangles": scene.triangle_count, **measured}
        for renderer in renderers.values():
            renderer.release()
    if "cornell" in scenes:
        say("cornell: errors of samplers")
        try:
            data["errors"] = _errors(scenes["cornell"], options)
        except Absent as error:
            missing.append(f"errors: {error}")
        say("cornell: new processes")
        data["starts"] = _starts(scenes["cornell"], size, options.quick)
    data["targets"] = _targets(data)
    return Result(data, _tables(data), _figure(data))


def _renderer(scene: Scene, options: Options, **setting: Any) -> Renderer:
    return Renderer(scene, depth=5, program="path", device=options.open(), **setting)


# -- measurements --------------------------------------------------------------------------------------------------


def _case(renderer: Renderer, size: tuple[int, int], samples: int, in_run: int) -> Callable[[], None]:
    """Add so many samples to a new film, a few in each run; the last pixel has come back when it ends."""

    def case() -> None:
        with renderer.device.current():
            film = FilmBuffer(renderer.device, size)
        for number in range(in_run, samples + 1, in_run):
            for _ in renderer.slices(size, film=film, samples=number):
                pass
        with renderer.device.current():
            film.read()
            film.release()

    return case


def _per_sample(timing: Timing, samples: int) -> dict[str, float]:
    """Medians, seconds: wall, and CPU of all threads."""
    return {"s": statistics.median(timing.wall) / samples, "cpu_s": statistics.median(timing.cpu) / samples}


def _scene(renderers: dict[str, Renderer], size: tuple[int, int], runs: int, samples: int) -> dict[str, Any]:
    """Every setting's time per sample, in turn; first runs; memory."""
    first = {}
    for name, renderer in renderers.items():
        (timing,) = interleave({name: _case(renderer, size, 1, 1)}, 1, warm_up=0).values()
        first[name] = timing.wall[0]
    timings = interleave({name: _case(each, size, samples, samples) for name, each in renderers.items()}, runs)
    rows, base = {}, timings[SINGLEPASS]
    for name, timing in timings.items():
        *_, (_, part) = renderers[name].slices(size, samples=1)
        assert part is not None
        rows[name] = {
            **_per_sample(timing, samples),
            "ratio": timing.ratio(base),
            "cpu_ratio": timing.cpu_ratio(base),
            "first_s": first[name],
            "passes": part.machine.stats.kernel_passes,
            "stream_bytes_per_ray": part.machine.bytes / part.machine.rays,
        }
    memories = renderers[SINGLEPASS].resources.bytes()
    return {"settings": rows, "memory_textures": {**memories, "total": sum(memories.values())}}


def _kernels(renderer: Renderer, size: tuple[int, int], runs: int) -> list[dict[str, Any]]:
    """Every kernel's calls in a sample, and its passes' time on the device, each a pass of its own.

    Counting makes the calls themselves a little dearer; the shares are what is meant.
    """
    spent: dict[str, list[float]] = {}
    renderer.render(size, spp=1, stats=True)
    for _ in range(runs):
        stats = renderer.render(size, spp=1, stats=True).stats
        seconds = dict.fromkeys(stats.kernels, 0.0)
        for each in stats.passes:
            seconds[each.step] += each.seconds
        for name, value in seconds.items():
            spent.setdefault(name, []).append(value)
    total = sum(statistics.median(values) for values in spent.values())
    pixels = size[0] * size[1]
    return [
        {
            "state": name,
            "kernel": kernel.kernel,
            "calls_per_pixel": kernel.calls / pixels,
            "s": statistics.median(spent[name]),
            "share": statistics.median(spent[name]) / max(total, 1e-12),
            "ns_per_call": 1e9 * statistics.median(spent[name]) / max(1, kernel.calls),
            "words_random_per_call": kernel.words_random / max(1, kernel.calls),
            "state_bytes": kernel.state_bytes,
        }
        for name, kernel in stats.kernels.items()
    ]


def _in_runs(
    renderers: dict[str, Renderer], size: tuple[int, int], runs: int
) -> dict[str, dict[int, dict[str, float]]]:
    """Time per sample with more or fewer samples of a pixel in one run: path regeneration."""
    chosen = [name for name in renderers if name != UNFUSED]
    keys = {f"{name} {count}": (name, count) for name in chosen for count in IN_RUN}
    timings = interleave({key: _case(renderers[name], size, count, count) for key, (name, count) in keys.items()}, runs)
    out: dict[str, dict[int, Any]] = {name: {} for name in chosen}
    for key, (name, count) in keys.items():
        out[name][count] = _per_sample(timings[key], count)
    return out


def _samplers(scene: Scene, options: Options, size: tuple[int, int], runs: int, samples: int) -> dict[str, Any]:
    """Time per sample with each sampler, singlepass."""
    renderers = {name: _renderer(scene, options, machine="singlepass", sampler=name) for name in SAMPLERS}
    timings = interleave({name: _case(each, size, samples, samples) for name, each in renderers.items()}, runs)
    for renderer in renderers.values():
        renderer.release()
    return {name: _per_sample(timing, samples) for name, timing in timings.items()}


def _errors(scene: Scene, options: Options) -> list[dict[str, Any]]:
    """Root mean square errors against the reference, relative to its mean: of pixels, of the picture seen from afar (a
    Gaussian of one pixel), and of the means of 16 x 16 blocks."""
    truth = np.load(_file(shared() / "refs" / f"{REFERENCE}.npz"))["mean"].astype(np.float64) @ LUMINANCE
    counts, seeds = (COUNTS[:2], 1) if options.quick else (COUNTS, SEEDS)
    rows = []
    for name in SAMPLERS:
        renderer = Renderer(
            scene, depth=REFERENCE_DEPTH, machine="singlepass", sampler=name, device=options.open(), program="path"
        )
        squares = np.zeros((len(counts), 3))
        for seed in range(seeds):
            renderer.update(seed=seed)
            with renderer.device.current():
                film = FilmBuffer(renderer.device, truth.shape[::-1])
            for number, count in enumerate(counts):
                for _ in renderer.slices(film.size, film=film, samples=count):
                    pass
                with renderer.device.current():
                    mean = film.film().mean()
                squares[number] += _squares(mean.astype(np.float64) @ LUMINANCE - truth)
            with renderer.device.current():
                film.release()
        renderer.release()
        for count, values in zip(counts, np.sqrt(squares / seeds) / truth.mean(), strict=True):
            rows.append({"sampler": name, "count": count, **dict(zip(("pixel", "afar", "block"), values, strict=True))})
    return rows


def _squares(error: np.ndarray) -> tuple[float, float, float]:
    """Mean squares: of pixels, of a blurred picture, of blocks' means."""
    height, width = error.shape
    down, across = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
    blur = np.exp(-2 * np.pi**2 * (down**2 + across**2))
    afar = np.fft.ifft2(np.fft.fft2(error) * blur).real
    blocks = error.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK).mean(axis=(1, 3))
    return float(np.mean(error**2)), float(np.mean(afar**2)), float(np.mean(blocks**2))


def _starts(scene: Scene, size: tuple[int, int], quick: bool) -> dict[str, Any]:
    """From the command to the first sample's file, as a new process, by the state of the caches and the machine; then
    its parts. Quick: once, with the caches as they are."""
    path, camera = str(shared() / "refs" / "cornell.glb"), scene.camera()
    arguments = [path, camera.text(), str(camera.fov), *map(str, size), "path"]
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        command = ["-m", "viewer", "render", path, "-o", str(Path(folder) / "out.exr"), "--quiet", "--program", "path"]
        command += ["--spp", "1", "--size", f"{size[0]}x{size[1]}"]
        if quick:
            warm = fresh.process([*command, "--machine", "singlepass"], dict(os.environ))
            return {"warm singlepass": warm, "warm phases": fresh.phases(arguments, dict(os.environ))}
        environment = fresh.caches(Path(folder) / "caches")
        out = {"cold": fresh.process(command, environment)}
        for name, more in (("warm", []), ("warm singlepass", ["--machine", "singlepass"])):
            several = [fresh.process([*command, *more], environment) for _ in range(1 + STARTS)][1:]
            out[name] = {key: statistics.median(each[key] for each in several) for key in several[0]}
        several = [fresh.phases(arguments, environment) for _ in range(1 + STARTS)][1:]
        out["warm phases"] = {key: statistics.median(each[key] for each in several) for key in several[0]}
    return out


# -- what is shown -------------------------------------------------------------------------------------------------


def _targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for name, (read, limit) in TARGETS.items():
        try:
            value = read(data)
        except KeyError:
            continue
        out.append({"target": name, "limit": limit, "measured": value, "met": value <= limit})
    return out


def _tables(data: dict[str, Any]) -> list[Table]:
    width, height = data["size"]
    rows = [
        (f"{name}: {scene['triangles']:,}" if setting == SINGLEPASS else "", setting)
        + tuple(row[key] for key in ("s", "cpu_s", "ratio", "cpu_ratio", "first_s", "passes", "stream_bytes_per_ray"))
        + (scene["memory_textures"]["total"] / 2**20 if setting == SINGLEPASS else None,)
        for name, scene in data["scenes"].items()
        for setting, row in scene["settings"].items()
    ]
    note = (
        f"{width} x {height}, {data['depth']} surfaces, {data['samples_in_a_run']} samples in a run, median of "
        f"{data['runs']} runs in turn after an untimed one; s: of one sample of every pixel; CPU: all threads; ratio: "
        "to singlepass, median over rounds; first: with the driver's compilation; passes: of a run of one sample; "
        "stream bytes: of textures, for each ray; memories: textures of the scene."
    )
    columns = ("scene: triangles", "setting", "s", "CPU s", "ratio", "CPU ratio", "first s", "passes")
    columns += ("stream bytes", "memories MiB")
    tables = [Table("path tracing: one sample", columns, rows, note)]
    tables += [_kernel_table(name, scene["kernels"]) for name, scene in data["scenes"].items()]
    if "in_run" in data:
        tables.append(_choice_table(data))
    if data["errors"]:
        tables.append(_error_table(data["errors"]))
    if "starts" in data:
        tables.append(_start_table(data["starts"]))
    if data["targets"]:
        goals = [(t["target"], t["limit"], t["measured"], t["met"]) for t in data["targets"]]
        tables.append(Table("targets", ("what", "limit", "measured", "met"), goals, "set for two cores of llvmpipe"))
    return tables


def _kernel_table(name: str, kernels: list[dict[str, Any]]) -> Table:
    rows = [
        tuple(each[key] for key in ("state", "kernel", "calls_per_pixel", "ns_per_call"))
        + (100 * each["share"], each["words_random_per_call"], each["state_bytes"])
        for each in kernels
    ]
    note = "Of a sample with a pass for each kernel (--fuse none): calls counted, device time by timer queries."
    columns = ("state", "kernel", "calls per pixel", "ns per call", "% of time", "words fetched", "state bytes")
    return Table(f"{name}: what the time goes into", columns, rows, note)


def _choice_table(data: dict[str, Any]) -> Table:
    rows: list[tuple[Any, ...]] = [
        (f"{name}, {count} in a run", found["s"], found["cpu_s"])
        for name, counts in data["in_run"].items()
        for count, found in counts.items()
    ]
    rows += [(f"singlepass, {name} numbers", found["s"], found["cpu_s"]) for name, found in data["samplers"].items()]
    return Table("cornell: samples in a run, and samplers", ("case", "s per sample", "CPU s"), rows)


def _error_table(errors: list[dict[str, Any]]) -> Table:
    by = {(row["count"], row["sampler"]): row for row in errors}
    others = [name for name in SAMPLERS if name != "independent"]
    rows = []
    for count in dict.fromkeys(row["count"] for row in errors):
        base = by[count, "independent"]
        line: list[Any] = [count, base["pixel"]]
        line += [by[count, name][what] / base[what] for name in others for what in ("pixel", "afar", "block")]
        rows.append(line)
    columns = ("samples", "independent: error", *(f"{n}: {w}" for n in others for w in ("pixel", "afar", "block")))
    note = "Against the reference picture; the other samplers' errors as shares of the independent one's."
    return Table("cornell: errors at equal count", columns, rows, note)


def _start_table(starts: dict[str, Any]) -> Table:
    rows = [
        (name, starts[name]["seconds"], starts[name]["peak_bytes"] / 2**20) for name in starts if "phases" not in name
    ]
    parts = ", ".join(f"{part} {seconds:.2f}" for part, seconds in starts["warm phases"].items())
    note = f"raystream render --spp 1; caches of driver and loops empty (cold), or warm. Warm parts, seconds: {parts}."
    return Table("cornell: from the command to the first sample", ("caches", "s", "peak MiB"), rows, note)


def _figure(data: dict[str, Any]) -> Any:
    made = plots.figure(12.0, 4.0, 3)
    if made is None or not data["scenes"]:
        return None
    figure, (bars, kernels, errors) = made
    names = list(data["scenes"])
    for number, setting in enumerate(SETTINGS):
        values = [scene["settings"][setting]["s"] for scene in data["scenes"].values()]
        places = np.arange(len(values)) + (number - 1) * 0.27
        drawn = bars.bar(places, values, 0.25, color=plots.COLORS[number], label=setting)
        bars.bar_label(drawn, fmt="%.3f", fontsize=7, padding=1)
    bars.set_xticks(range(len(names)), names)
    bars.set_ylabel("seconds per sample")
    bars.set_title(f"{data['size'][0]} x {data['size'][1]}, {data['depth']} surfaces", fontsize=10)
    bars.legend(frameon=False, fontsize=7)
    left = np.zeros(len(names))
    for number, state in enumerate(each["state"] for each in data["scenes"][names[0]]["kernels"]):
        shares = [scene["kernels"][number]["share"] for scene in data["scenes"].values()]
        color, hatch = plots.COLORS[number % len(plots.COLORS)], "" if number < len(plots.COLORS) else "//"
        kernels.barh(range(len(names)), shares, left=left, color=color, hatch=hatch, edgecolor="white", label=state)
        left += shares
    kernels.set_yticks(range(len(names)), names)
    kernels.set_title("time by kernel, --fuse none", fontsize=10)
    kernels.legend(frameon=False, fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    for number, name in enumerate(SAMPLERS):
        rows = [row for row in data["errors"] if row["sampler"] == name]
        look: dict[str, Any] = {"color": plots.COLORS[number], "marker": plots.MARKERS[number]}
        errors.loglog([row["count"] for row in rows], [row["pixel"] for row in rows], label=name, **look)
        errors.loglog([row["count"] for row in rows], [row["afar"] for row in rows], linestyle="--", **look)
    errors.set_xlabel("samples per pixel")
    errors.set_title("cornell: error of pixels, and from afar (dashed)", fontsize=10)
    if data["errors"]:
        errors.legend(frameon=False, fontsize=7)
    return figure
