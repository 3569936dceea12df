"""Photon mapping beside the published figures: T. J. Purcell, *Ray Tracing on a Stream Processor* (2004), chapter 6,
and T. J. Purcell et al., "Photon Mapping on Programmable Graphics Hardware" (2003).

Seconds by stage of the three scenes, whose geometry and lights are unpublished: built-in stand-ins (table 6.1);
instructions of the kernels (table 6.2); the radiance estimate as one quad, in tiles and under masks (section 6.3.3);
the sort of 2^20 photons (section 6.2.2); and the share of photon read-back (section 6.4.2).
"""

from __future__ import annotations

import statistics
from typing import Any

from reproduction import photon_cases, timed
from reproduction.photon_cases import MAPS, TILES
from reproduction.photon_stages import STAGES
from reproduction.published.chapter6 import TABLE_6_1
from reproduction.published.chapter6_instructions import TABLE_6_2, Row
from reproduction.simulators.counts import NoCompiler
from reproduction.simulators.counts.photons import photon_instructions
from reproduction.timed import Cases

from benchmarks.common import Options, Result, Table, facts, say
from raystream.stream.gl.device import Device

ABOUT = "photon mapping by stages, beside the papers' tables 6.1 and 6.2 and their tiles"
QUARTER = 0.25  # of the published time: the goal for a picture
RUNS = 3

TILED_PART = 4  # of the published width and height
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
        name: tile_gains(name, device, options.quick, data["runs"])
        for name in names
        if TABLE_6_1[name].quad is not None
    }
    return Result(data, _tables(data))


# -- measured ------------------------------------------------------------------------------------------------------


def _timed(cases: Cases, runs: int) -> dict[str, dict[str, float]]:
    """The medians of what each case gives."""
    with cases as named:
        found = timed.measured(named, runs)["cases"]
    return {
        name: {part: statistics.median(values) for part, values in each["parts"].items()}
        for name, each in found.items()
    }


def stage_times(name: str, device: Device, quick: bool, runs: int) -> dict[str, Any]:
    """By map the seconds of each stage; and the photons stored, and the size."""
    say(f"{name}: stages")
    found: dict[str, Any] = _timed(photon_cases.stages(name, device, quick, photon_cases.FAST), runs)
    renderer, size = photon_cases.renderer_of(name, device, quick)
    found |= {"size": size, "machine": renderer.settings.facts(), "stored": int(found["sort"]["stored"])}
    renderer.release()
    return found


def tile_gains(name: str, device: Device, quick: bool, runs: int) -> dict[str, dict[str, float]]:
    """Seconds, passes and tiles of the picture after the map, by mask, nothing fused."""
    say(f"{name}: masks")
    ways = {way: {"mask": mask} for way, mask in TILES.items()}
    return _timed(photon_cases.masks(name, device, quick, TILED_PART, ways), runs)


def sorts(device: Device, counts: tuple[int, ...], runs: int) -> list[dict[str, Any]]:
    """Milliseconds of sorts and searches."""
    say("sorts")
    rows = []
    found = _timed(photon_cases.sorts(device, counts), runs)
    for photons in counts:
        each = found[str(photons)]
        row = {"photons": photons, "passes": int(each["passes"]), "sorted": bool(each["sorted"])}
        rows.append({**row, "ms": 1e3 * each["sort"], "search_ms": 1e3 * each["search"]})
    return rows


def read_backs(device: Device, counts: tuple[int, ...], runs: int) -> list[dict[str, Any]]:
    """For a map by stencil routing: seconds to build it with and without read-back, and of the read-back itself."""
    say("photons read back")
    found = _timed(photon_cases.read_backs(device, counts), runs)
    rows = []
    for photons in counts:
        fetch, back = (found[f"{photons} {way}"] for way in ("fetch", "read-back"))
        row = {"emitted": photons, "fetch": fetch["build"], "read-back": back["build"], "reading": back["reading"]}
        rows.append({**row, "trace": back["trace"], "stored": int(back["stored"])})
    return rows


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
            total, theirs = sum(ours[stage] for stage in STAGES), sum(published)
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
        quad = TABLE_6_1[name].quad
        assert quad is not None
        old = {"one quad": quad, "16 x 16 tiles": TABLE_6_1[name].sort[-1]}
        for way, row in ways.items():
            ratio = ways["one quad"]["seconds"] / max(row["seconds"], 1e-9)
            theirs = quad / old[way] if way in old else None
            rows.append((f"{name}, {way}", row["seconds"], old.get(way), ratio, theirs, row["passes"], row["tiles"]))
    note = (
        "Map by sort, nothing fused; seconds, passes and tiles drawn are "
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
