"""Path tracing: seconds per sample by machine, by samples in a run, and by the way of counting rays.

256 x 256 pixels, 5 surface interactions. "Per sample" is the time of one sample of every pixel, in a user's whole call
of `Renderer.render`, with the picture read back, or in a run into a film on the device.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import raystream
from benchmarks.common import Options, Result, Table, Timing, cpus, facts, interleave, say
from benchmarks.scenes import Absent, _file, shared
from raystream.film.device_film import FilmBuffer
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.sampler import FramePlan, TileDone
from raystream.scene.scene import Scene
from raystream.stream.machines.mask import COUNT_MODES

ABOUT = "path tracing: seconds per sample, by machine, samples in a run, and counts of rays"

SINGLEPASS, SURFACE, FUSED, UNFUSED = "singlepass", "multipass", "multipass --fuse ray", "multipass --fuse none"
SETTINGS: dict[str, dict[str, Any]] = {
    SINGLEPASS: {"machine": "singlepass"},
    SURFACE: {"machine": "multipass"},
    FUSED: {"machine": "multipass", "fuse": "ray"},
    UNFUSED: {"machine": "multipass", "fuse": "none"},
}
SCENES = {"cornell": "cornell", "bunny": "bunny_ground"}  # files of the references
RENDERED = 32  # samples of a call
IN_RUN = (1, 4, 16)  # samples per pixel in one run
COUNTED = 4  # of them, by either count


def run(options: Options) -> Result:
    """Measure everything."""
    size = (32, 32) if options.quick else (256, 256)
    runs, few = (2, 1) if options.quick else (5, 3)
    rendered = 4 if options.quick else RENDERED
    data: dict[str, Any] = {"facts": facts(options.open()), "threads": cpus(), "size": size, "depth": 5, "runs": runs}
    data |= {"samples": rendered, "missing": [], "scenes": {}}
    for name in ("cornell",) if options.quick else SCENES:
        try:
            scene = raystream.load(str(_file(shared() / "refs" / f"{SCENES[name]}.glb")))
        except Absent as error:
            data["missing"].append(f"{name}: {error}")
            continue
        say(f"{name}: machines")
        renderers = {key: _renderer(scene, options, **setting) for key, setting in SETTINGS.items()}
        data["scenes"][name] = {"triangles": scene.triangle_count, "settings": _calls(renderers, size, runs, rendered)}
        if name == "cornell":
            say("cornell: samples in a run, and counts")
            data["in_run"], data["counts"] = _in_runs(renderers, size, few), _counts(renderers, size, few)
        for renderer in renderers.values():
            renderer.release()
    return Result(data, _tables(data))


def _renderer(scene: Scene, options: Options, **setting: Any) -> Renderer:
    return Renderer(scene, depth=5, program="path", device=options.open(), **setting)


# -- measurements --------------------------------------------------------------------------------------------------


def _calls(renderers: dict[str, Renderer], size: tuple[int, int], runs: int, rendered: int) -> dict[str, Any]:
    """A user's call by machine; a first one compiles."""
    first = {}
    for name, renderer in renderers.items():
        (timing,) = interleave({name: partial(renderer.render, size, spp=1)}, 1, warm_up=0).values()
        first[name] = timing.wall[0]
    cases = {name: partial(renderer.render, size, spp=rendered) for name, renderer in renderers.items()}
    timings = interleave(cases, runs)
    base = timings[SINGLEPASS]
    return {
        name: {
            **_per_sample(timing, rendered),
            "ratio": timing.ratio(base),
            "cpu_ratio": timing.cpu_ratio(base),
            "first_s": first[name],
            **_passes(renderers[name], size),
        }
        for name, timing in timings.items()
    }


def _passes(renderer: Renderer, size: tuple[int, int]) -> dict[str, float]:
    """Kernel passes of a run of one sample; bytes per ray of all streams, with film and pixels."""
    film = _film(renderer, size)
    *_, last = renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, size, samples=1), film)
    assert isinstance(last, TileDone)
    machine = last.tile.machine
    streams = [*machine.streams.values(), *machine.counts.values()]
    with renderer.device.current():
        film.release()
    stored = sum(stream.bytes for stream in streams) / machine.rays
    return {"passes": machine.stats.kernel_passes, "stream_bytes_per_ray": stored}


def _film(renderer: Renderer, size: tuple[int, int]) -> FilmBuffer:
    with renderer.device.current():
        return FilmBuffer(renderer.device, size)


def _fill(renderer: Renderer, film: FilmBuffer, samples: int) -> None:
    """Add samples to an empty film on the device in one run, and wait for the device."""
    with renderer.device.current():
        film.clear()
    film.samples = 0
    for _ in renderer.sampler.render_tiles(
        FramePlan(renderer.settings, renderer.camera, film.size, samples=samples), film
    ):
        pass
    with renderer.device.current():
        renderer.device.context.finish()


def _per_sample(timing: Timing, samples: int) -> dict[str, float]:
    """Medians, seconds: wall, and CPU of all threads."""
    return {"s": statistics.median(timing.wall) / samples, "cpu_s": statistics.median(timing.cpu) / samples}


def _in_runs(
    renderers: dict[str, Renderer], size: tuple[int, int], runs: int
) -> dict[str, dict[int, dict[str, float]]]:
    """The device's time per sample by samples per pixel in one run: path regeneration."""
    films = {name: _film(renderers[name], size) for name in renderers if name != UNFUSED}
    cases = {
        (name, count): partial(_fill, renderers[name], film, count) for name, film in films.items() for count in IN_RUN
    }
    timings = interleave({f"{name} {count}": case for (name, count), case in cases.items()}, runs)
    return {name: {count: _per_sample(timings[f"{name} {count}"], count) for count in IN_RUN} for name in films}


def _counts(renderers: dict[str, Renderer], size: tuple[int, int], runs: int) -> dict[str, dict[str, dict[str, float]]]:
    """The device's time per sample with ray counts by occlusion queries and by the census."""
    films = {name: _film(renderers[name], size) for name in (SURFACE, FUSED, UNFUSED)}

    def case(name: str, count: str) -> Callable[[], None]:
        def fill() -> None:
            renderers[name].update(count=count)  # compiles nothing
            _fill(renderers[name], films[name], COUNTED)

        return fill

    timings = interleave({f"{name} {count}": case(name, count) for name in films for count in COUNT_MODES}, runs)
    for name in films:
        renderers[name].update(count=COUNT_MODES[0])
    return {name: {count: _per_sample(timings[f"{name} {count}"], COUNTED) for count in COUNT_MODES} for name in films}


# -- output --------------------------------------------------------------------------------------------------------


def _tables(data: dict[str, Any]) -> list[Table]:
    keys = {"s": "s", "cpu_s": "CPU s", "ratio": "ratio", "cpu_ratio": "CPU ratio", "first_s": "first s"}
    keys |= {"passes": "passes", "stream_bytes_per_ray": "stream bytes"}
    rows = [
        (f"{name}: {scene['triangles']:,}" if setting == SINGLEPASS else "", setting, *(row[key] for key in keys))
        for name, scene in data["scenes"].items()
        for setting, row in scene["settings"].items()
    ]
    width, height = data["size"]
    note = (
        f"{width} x {height}, {data['depth']} surfaces, median of {data['runs']} calls in turn after an untimed one. "
        f"s: of one sample of every pixel, in a call of Renderer.render of {data['samples']}; CPU: all threads; ratio: "
        "to singlepass, median over rounds; first: a call of one sample, with the driver's compilation; passes: of "
        "kernels, in a run of one sample; stream bytes: of textures, for each ray, film included."
    )
    out = [Table("path tracing: one sample, of a picture", ("scene: triangles", "setting", *keys.values()), rows, note)]
    if "in_run" in data:
        choices = [
            (f"{name}, {what.format(count)}", measured["s"], measured["cpu_s"])
            for key, what in (("in_run", "{} in a run"), ("counts", "rays counted by {}"))
            for name, counts in data[key].items()
            for count, measured in counts.items()
        ]
        note = f"Of the device; counts with {COUNTED} samples in a run."
        out.append(Table("cornell: samples in a run, and counts", ("case", "s per sample", "CPU s"), choices, note))
    return out
