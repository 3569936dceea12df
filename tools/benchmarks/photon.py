"""Photon mapping beside the published figures: T. J. Purcell, *Ray Tracing on a Stream Processor* (2004), chapter 6,
and T. J. Purcell et al., "Photon Mapping on Programmable Graphics Hardware" (2003).

Seconds by stage of the three scenes, whose geometry and lights are unpublished: built-in stand-ins (table 6.1);
instructions of the kernels (table 6.2); the radiance estimate as one quad, in tiles and under masks (section 6.3.3);
the sort of 2^20 photons (section 6.2.2); and the share of photon read-back (section 6.4.2).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from reproduction.photon_stages import STAGES, stage_seconds
from reproduction.published.chapter6 import TABLE_6_1
from reproduction.published.chapter6_instructions import TABLE_6_2, Row
from reproduction.simulators.counts import NoCompiler
from reproduction.simulators.counts.photons import photon_instructions

import viewer
from viewer.kernels.photons import ENTRY, FIRST
from viewer.photons.routing import VERTEX, read_vertices
from viewer.photons.sort import PhotonSort, cell_size, list_size
from viewer.renderer.device.tile_job import PICTURE
from viewer.renderer.renderer import Renderer
from viewer.scene.builtin.caustics import PUBLISHED
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream

from .common import Options, Result, Table, facts, say

ABOUT = "photon mapping by stages, beside the papers' tables 6.1 and 6.2 and their tiles"
QUARTER = 0.25  # of the published time: the goal for a picture
RUNS = 3


MAPS = ("sort", "stencil")
TILES = {"one quad": "none", "16 x 16 tiles": "tiles", "depth mask": "depth", "stencil mask": "stencil"}
TILED_PART = 8  # of the published width and height: an unmasked quad takes five minutes at a half, on a CPU
ESTIMATE_LOOPS, MANY = ("cell", "photon"), 65536  # states, and kernel calls per pass of the others
TINY = 1e-6  # scene units
SORTED = (1 << 20, 1 << 13, 1 << 14, 1 << 16)  # photons: the paper's, and those of its three scenes
READ_BACK = (5_000, 65_000, 1_000_000)  # photons emitted


def run(options: Options) -> Result:
    """All of it; the longest parts last."""
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "missing": []}
    data["runs"] = 1 if options.quick else RUNS
    data["instructions"], data["not_counted"] = _instructions(device)
    data["sort"] = sorts(device, SORTED[1:2] if options.quick else SORTED, data["runs"])
    data["read_back"] = read_backs(device, (1_000,) if options.quick else READ_BACK, data["runs"])
    names = ("GLASS BALL",) if options.quick else tuple(TABLE_6_1)
    data["stages"] = {name: stage_times(name, device, options.quick, data["runs"]) for name in names}
    data["tiles"] = {
        name: tile_gains(name, device, options.quick) for name in names if TABLE_6_1[name].quad is not None
    }
    return Result(data, _tables(data))


# -- table 6.1 -----------------------------------------------------------------------------------------------------


def renderer_of(name: str, device: Device, quick: bool, **more: Any) -> tuple[Renderer, tuple[int, int]]:
    """The renderer of a published scene with its settings, and the size of its pictures."""
    settings = dict(PUBLISHED[TABLE_6_1[name].scene])
    width, height = settings.pop("size")
    size = (width // 8, height // 8) if quick else (width, height)
    if quick:
        settings |= {"photons": 512, "caustic_photons": 512, "photon_grid": (25, 1, 25), "light_samples": 1}
    choices = {"program": "photon", "estimate": "published", "machine": "multipass", **settings, **more}
    return Renderer(viewer.load(TABLE_6_1[name].scene), device=device, **choices), size


def stored(renderer: Renderer) -> int:
    """Photons in the map of the last picture."""
    with renderer.device.current():
        return int((renderer.photon_map.streams["photons"].fields(["stored"])["stored"] > 0).sum())


def stage_times(name: str, device: Device, quick: bool, runs: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    renderer, size = renderer_of(name, device, quick)
    for kind in MAPS:
        say(f"{name}, {kind}: stages")
        renderer.update(photon_map=kind)
        several = [stage_seconds(renderer, size) for _ in range(runs)]
        found[kind] = {stage: statistics.median(each[stage] for each in several) for stage in STAGES}
    found |= {"stored": stored(renderer), "size": size, "machine": renderer.settings.facts()}
    renderer.release()
    return found


# -- section 6.3.3 -------------------------------------------------------------------------------------------------


def tile_gains(name: str, device: Device, quick: bool) -> dict[str, dict[str, float]]:
    """Seconds of the picture after the map, by mask: estimates with one kernel call per pass, as published, other rays
    without a limit."""
    found = {}
    for way, mask in TILES.items():
        say(f"{name}: {way}")
        renderer, whole = renderer_of(name, device, quick, fuse="none", mask=mask)
        size = whole[0] // TILED_PART, whole[1] // TILED_PART
        program = renderer.bind(renderer.program(), True).program
        calls = 64 if quick else 1
        unroll = [str(calls if state in ESTIMATE_LOOPS else MANY) for state in program.looping()]
        renderer.update(unroll=",".join(unroll), photon_radius=TINY)
        renderer.render(size, spp=1)  # compiles, and finds nothing
        renderer.update(photon_radius=0)
        with renderer.sampler.timed() as times:
            stats = renderer.render(size, spp=1).stats
        found[way] = {"seconds": times[PICTURE], "passes": stats.kernel_passes, "tiles": stats.tiles}
        renderer.release()
    return found


# -- section 6.2.2: the sort ---------------------------------------------------------------------------------------


def sorts(device: Device, counts: tuple[int, ...], runs: int) -> list[dict[str, Any]]:
    rows = []
    with device.current():
        for photons in counts:
            say(f"{photons:,} photons sorted")
            size = list_size(photons)
            sort, cells = PhotonSort(device, size), 1 << 16
            first = Stream(device, FIRST, cell_size(cells))
            entries = np.zeros(size[0] * size[1], ENTRY.dtype)
            entries["cell"] = cells  # beyond all others, in the padding of the list
            entries["cell"][:photons] = np.random.default_rng(1).integers(0, cells, photons)
            entries["photon"] = np.arange(len(entries))
            seconds, searches = [], []
            for number in range(1 + runs):
                sort.list.write(entries.reshape(size[::-1]))
                device.context.finish()
                times = [_drawn(device, sort.sort), _drawn(device, lambda sort=sort, first=first: sort.search(first))]
                if number:  # the first one compiles
                    seconds.append(times[0])
                    searches.append(times[1])
            right = bool((np.diff(sort.list.read().ravel()["cell"]) >= 0).all())
            row = {"photons": photons, "passes": sort.passes, "sorted": right}
            rows.append({**row, "ms": 1e3 * statistics.median(seconds), "search_ms": 1e3 * statistics.median(searches)})
            sort.release()
            first.release()
    return rows


def _drawn(device: Device, job: Callable[[], Any]) -> float:
    """Seconds of a job of draws."""
    began = perf_counter()
    for step in job():
        step.draw()
    device.context.finish()
    return perf_counter() - began


# -- section 6.4.2: reading photons back ---------------------------------------------------------------------------


def read_backs(device: Device, counts: tuple[int, ...], runs: int) -> list[dict[str, Any]]:
    """For a map by stencil routing: seconds to build it with and without read-back, and of the read-back itself."""
    rows = []
    for photons in counts:
        say(f"{photons:,} photons read back")
        row: dict[str, Any] = {"emitted": photons}
        for way in ("fetch", "read-back"):
            renderer = Renderer(
                viewer.load("glass_ball"),
                **{"device": device, "program": "photon", "estimate": "published", "photon_grid": "250x1x250"},
                **{"photon_map": "stencil", "photon_points": way, "photons": photons, "caustic_photons": 0},
            )
            renderer.render((8, 8), spp=1)
            several = []
            for _ in range(runs):
                with renderer.sampler.timed() as times:
                    renderer.render((8, 8), spp=1)
                several.append(times)
            row[way] = statistics.median(times["build grid"] for times in several)
            row["trace"] = statistics.median(times["trace photons"] for times in several)
            row["stored"] = stored(renderer)
            if way == "read-back":
                row["reading"] = statistics.median(_reading(renderer) for _ in range(runs))
            renderer.release()
        rows.append(row)
    return rows


def _reading(renderer: Renderer) -> float:
    """Seconds to read the photons back and upload them as vertices, as in `StencilRouting`."""
    photons = renderer.photon_map.streams["photons"]
    with renderer.device.current():
        context = renderer.device.context
        context.finish()
        began = perf_counter()
        context.buffer(read_vertices(photons).tobytes() or bytes(VERTEX.itemsize)).release()
        context.finish()
        return perf_counter() - began


# -- table 6.2 -----------------------------------------------------------------------------------------------------


def _instructions(device: Device) -> tuple[dict[str, dict[str, int]], str]:
    """Counts by the names of table 6.2; an estimate is three kernels here: the next shell of cells, the next cell and
    the next photon. With a remark if they cannot be counted."""
    try:
        found = photon_instructions(device)
    except NoCompiler as error:
        return {}, f"not counted: {error}"
    return {name: {part: getattr(each, part) for part in Row._fields} for name, each in found.items()}, ""


# -- output --------------------------------------------------------------------------------------------------------


def _tables(data: dict[str, Any]) -> list[Table]:
    return [_table_61(data), _table_tiles(data), _table_62(data), _table_sort(data), _table_read_back(data)]


def _table_61(data: dict[str, Any]) -> Table:
    rows = []
    for name, found in data["stages"].items():
        for kind in MAPS:
            published, ours = getattr(TABLE_6_1[name], kind), found[kind]
            total, theirs = sum(ours.values()), sum(published)
            each = [f"{ours[stage]:.3g} / {old:g}" for stage, old in zip(STAGES, published, strict=True)]
            size = "{} x {}".format(*found["size"])
            rows.append((f"{name} by {kind}", size, *each, f"{total:.3g} / {theirs:g}", total / (QUARTER * theirs)))
    held = ", ".join(f"{name} {each['stored']:,}" for name, each in data["stages"].items())
    note = (
        f"Ours / published in 2003 (GeForce FX 5900 Ultra). Median of {data['runs']}; estimate published, machine "
        f"multipass. Photons stored: {held}. The last column is the whole time "
        "as a share of a quarter of the published one, for pictures of the published size."
    )
    return Table("table 6.1: seconds", ("scene", "size", *STAGES, "total", "of a quarter"), rows, note)


def _table_tiles(data: dict[str, Any]) -> Table:
    rows = []
    for name, ways in data["tiles"].items():
        old = {"one quad": TABLE_6_1[name].quad, "16 x 16 tiles": TABLE_6_1[name].sort[-1]}
        for way, row in ways.items():
            ratio = ways["one quad"]["seconds"] / max(row["seconds"], 1e-9)
            theirs = TABLE_6_1[name].quad / old[way] if way in old else None
            rows.append((f"{name}, {way}", row["seconds"], old.get(way), ratio, theirs, row["passes"], row["tiles"]))
    note = (
        "Map by sort, nothing fused, one call of an estimate's kernel in a pass; seconds, passes and tiles drawn are "
        f"of the picture, rays included, of 1 / {TILED_PART} of the published width and height. Gain: the quad's time "
        "by this one's."
    )
    heads = ("radiance estimate", "seconds", "published", "gain", "published gain", "passes", "tiles")
    return Table("section 6.3.3: masks of finished pixels", heads, rows, note)


def _table_62(data: dict[str, Any]) -> Table:
    rows = []
    for name, (all_, textures, addresses, packing) in TABLE_6_2.items():
        ours = data["instructions"].get(name)
        pairs = zip((all_, textures, addresses, packing), ours.values() if ours else [None] * 4, strict=True)
        rows.append((name, *(f"{'-' if mine is None else mine} / {old}" for old, mine in pairs)))
    for name, ours in data["instructions"].items():
        if name not in TABLE_6_2:
            rows.append((f"of it {name}", *(str(mine) for mine in ours.values())))
    rule = "viewer/stream/analysis/instructions.py"
    note = f"Ours / published. One iteration, counted by the rules in {rule}."
    note += f" {data['not_counted']}"
    return Table("table 6.2: instructions", ("kernel", "Inst", "TEX", "Addr", "Pack"), rows, note)


def _table_sort(data: dict[str, Any]) -> Table:
    rows = [tuple(row.values()) for row in data["sort"]]
    note = "Random cells. Published: 210 passes for 1024 x 1024 photons."
    return Table("bitonic merge sort", ("photons", "passes", "sorted", "ms", "search ms"), rows, note)


def _table_read_back(data: dict[str, Any]) -> Table:
    rows = [
        (
            row["emitted"],
            row["stored"],
            row["emitted"] / row["trace"],
            row["stored"] / row["trace"],
            1e3 * row["fetch"],
            1e3 * row["read-back"],
            100 * row["reading"] / row["read-back"],
        )
        for row in data["read_back"]
    ]
    note = "glass_ball, map by stencil. Published: about 10 % of few photons' building, 60 % and more of many."
    heads = ("photons", "stored", "traced a second", "stored a second", "build ms", "with read-back ms", "its share %")
    return Table("photons traced, and read back for stencil routing", heads, rows, note)
