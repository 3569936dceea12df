"""Path tracing: seconds per sample by machine, time by kernel, and value of a sample.

256 x 256 pixels, 5 surface interactions. "Per sample" is the time of one sample of every pixel. Compared is a user's
whole call of `Renderer.render`, with the picture read back; beside it is the device's part, a run into a film there.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import plots
from benchmarks.common import Options, Result, Timing, cpus, facts, interleave, say
from benchmarks.light import path_tables
from benchmarks.light.path_tables import FUSED, SAMPLERS, SINGLEPASS, SURFACE, UNFUSED
from benchmarks.light.transport_scenes import found
from benchmarks.scenes import Absent, _file, shared
from raystream.film.device_film import FilmBuffer
from raystream.film.film import LUMINANCE
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.frame_plan import FramePlan, TileDone
from raystream.scene.scene import Scene
from raystream.stream.machines.count import COUNT_MODES

ABOUT = "path tracing: seconds per sample, by machine and kernel; errors of the samplers"

SETTINGS: dict[str, dict[str, Any]] = {
    SINGLEPASS: {"machine": "singlepass"},
    SURFACE: {"machine": "multipass"},
    FUSED: {"machine": "multipass", "fuse": "ray"},
    UNFUSED: {"machine": "multipass", "fuse": "none"},
}
RENDERED, IN_DEVICE_RUN = 32, 16  # samples per call, and per timed run on the device alone
IN_RUN = (1, 4, 16)  # samples per pixel in one run
COUNTS, SEEDS = (1, 4, 16, 64), 4  # for the comparison of samplers
REFERENCE, REFERENCE_DEPTH = "cornell_depth5_128", 4
BLOCK = 16


def run(options: Options) -> Result:
    """Measure everything."""
    names = ("cornell",) if options.quick else ("cornell", "bunny", "dragon")
    scenes, missing = found(names)
    size = (32, 32) if options.quick else (256, 256)
    runs, few = (2, 1) if options.quick else (5, 3)
    rendered, in_run = (4, 2) if options.quick else (RENDERED, IN_DEVICE_RUN)
    data: dict[str, Any] = {
        "facts": facts(options.open()),
        "threads": cpus(),
        "size": size,
        "depth": 5,
        "runs": runs,
        "samples": rendered,
        "samples_in_a_device_run": in_run,
        "missing": missing,
        "scenes": {},
        "errors": [],
    }
    for name, scene in scenes.items():
        say(f"{name}: machines")
        renderers = {key: _renderer(scene, options, **setting) for key, setting in SETTINGS.items()}
        measured = _scene(renderers, size, runs, rendered, in_run)
        say(f"{name}: kernels")
        measured["kernels"] = _kernels(renderers[UNFUSED], size, few)
        if name == "cornell":
            say("cornell: samples in a run, and counts")
            data["in_run"] = _in_runs(renderers, size, few)
            data["counts"] = _counts(renderers, size, few)
            say("cornell: samplers")
            data["samplers"] = _samplers(scene, options, size, runs)
        data["scenes"][name] = {"triangles": scene.triangle_count, **measured}
        for renderer in renderers.values():
            renderer.release()
    if "cornell" in scenes:
        say("cornell: errors of samplers")
        try:
            data["errors"] = _errors(scenes["cornell"], options)
        except Absent as error:
            missing.append(f"errors: {error}")
    data["targets"] = path_tables.targets(data)
    return Result(data, path_tables.tables(data), plots.drawn(path_tables.figure, data))


def _renderer(scene: Scene, options: Options, **setting: Any) -> Renderer:
    return Renderer(scene, depth=5, program="path", device=options.open(), **setting)


# -- measurements --------------------------------------------------------------------------------------------------


def _film(renderer: Renderer, size: tuple[int, int]) -> FilmBuffer:
    with renderer.device.current():
        return FilmBuffer(renderer.device, size)


def _fill(renderer: Renderer, film: FilmBuffer, samples: int, in_run: int) -> None:
    """Add samples to an empty film on the device, a few per run, and wait for the device."""
    with renderer.device.current():
        film.clear()
    film.samples = 0
    for number in range(in_run, samples + 1, in_run):
        for _ in renderer.sampler.render_tiles(
            FramePlan(renderer.settings, renderer.camera, film.size, samples=number), film
        ):
            pass
    with renderer.device.current():
        renderer.device.context.finish()


def _case(renderer: Renderer, size: tuple[int, int], samples: int, in_run: int) -> Callable[[], None]:
    """`_fill` of its own film, repeatedly."""
    film = _film(renderer, size)
    return lambda: _fill(renderer, film, samples, in_run)


def _call(renderer: Renderer, size: tuple[int, int], samples: int) -> Callable[[], None]:
    """A user's call."""

    def call() -> None:
        renderer.render(size, spp=samples)

    return call


def _per_sample(timing: Timing, samples: int) -> dict[str, float]:
    """Medians, seconds: wall, and CPU of all threads."""
    return {"s": statistics.median(timing.wall) / samples, "cpu_s": statistics.median(timing.cpu) / samples}


def _compared(timing: Timing, base: Timing, samples: int) -> dict[str, float]:
    return {**_per_sample(timing, samples), "ratio": timing.ratio(base), "cpu_ratio": timing.cpu_ratio(base)}


def _scene(
    renderers: dict[str, Renderer], size: tuple[int, int], runs: int, rendered: int, in_run: int
) -> dict[str, Any]:
    """Every setting's time per sample, interleaved, of calls and of the device; first calls; passes and memory."""
    first = {}
    for name, renderer in renderers.items():
        (timing,) = interleave({name: _call(renderer, size, 1)}, 1, warm_up=0).values()
        first[name] = timing.wall[0]
    calls = interleave({name: _call(each, size, rendered) for name, each in renderers.items()}, runs)
    device = interleave({name: _case(each, size, in_run, in_run) for name, each in renderers.items()}, runs)
    rows = {}
    for name, renderer in renderers.items():
        rows[name] = {
            **_compared(calls[name], calls[SINGLEPASS], rendered),
            "device": _compared(device[name], device[SINGLEPASS], in_run),
            "first_s": first[name],
            "passes": _passes(renderer, size, 1)[0],
        }
        rows[name]["passes_in_run"], rows[name]["stream_bytes_per_ray"] = _passes(renderer, size, in_run)
    memories = renderers[SINGLEPASS].gpu_scene.resources.bytes()
    return {"settings": rows, "memory_textures": {**memories, "total": sum(memories.values())}}


def _passes(renderer: Renderer, size: tuple[int, int], samples: int) -> tuple[int, float]:
    """Kernel passes of a run of ``samples`` samples; bytes per ray of all streams, with film and pixels."""
    film = _film(renderer, size)
    *_, last = renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, size, samples=samples), film)
    assert isinstance(last, TileDone)
    machine = last.tile.machine
    streams = [*machine.streams.values(), *machine.counts.values()]
    with renderer.device.current():
        film.release()
    return machine.stats.kernel_passes, sum(stream.bytes for stream in streams) / machine.rays


def _kernels(renderer: Renderer, size: tuple[int, int], runs: int) -> list[dict[str, Any]]:
    """Every kernel's calls per sample, and its passes' device time, each a pass of its own.

    Counting is a separate program, in a pass outside of these times.
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
    """The device's time per sample by samples per pixel in one run: path regeneration."""
    chosen = [name for name in renderers if name != UNFUSED]
    keys = {f"{name} {count}": (name, count) for name in chosen for count in IN_RUN}
    timings = interleave({key: _case(renderers[name], size, count, count) for key, (name, count) in keys.items()}, runs)
    out: dict[str, dict[int, dict[str, float]]] = {name: {} for name in chosen}
    for key, (name, count) in keys.items():
        out[name][count] = _per_sample(timings[key], count)
    return out


def _counts(renderers: dict[str, Renderer], size: tuple[int, int], runs: int) -> dict[str, dict[str, dict[str, float]]]:
    """The device's time per sample with ray counts by occlusion queries and by the census: 4 in a run."""
    films = {name: _film(renderers[name], size) for name in (SURFACE, FUSED, UNFUSED)}

    def case(name: str, count: str) -> Callable[[], None]:
        def fill() -> None:
            renderers[name].update(count=count)  # compiles nothing
            _fill(renderers[name], films[name], 4, 4)

        return fill

    timings = interleave({f"{name} {count}": case(name, count) for name in films for count in COUNT_MODES}, runs)
    for name in films:
        renderers[name].update(count=COUNT_MODES[0])
    return {name: {count: _per_sample(timings[f"{name} {count}"], 4) for count in COUNT_MODES} for name in films}


def _samplers(scene: Scene, options: Options, size: tuple[int, int], runs: int) -> dict[str, dict[str, float]]:
    renderers = {name: _renderer(scene, options, machine="singlepass", sampler=name) for name in SAMPLERS}
    timings = interleave({name: _case(each, size, 4, 4) for name, each in renderers.items()}, runs)
    for renderer in renderers.values():
        renderer.release()
    return {name: _per_sample(timing, 4) for name, timing in timings.items()}


def _errors(scene: Scene, options: Options) -> list[dict[str, Any]]:
    """Root mean square errors against the reference, relative to its mean: of pixels, of the picture from afar (a
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
            film = _film(renderer, truth.shape[::-1])
            for number, count in enumerate(counts):
                for _ in renderer.sampler.render_tiles(
                    FramePlan(renderer.settings, renderer.camera, film.size, samples=count), film
                ):
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
