"""Tables and plot of the benchmark ``accel``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproduction.plots import COLORS, figure

from benchmarks.common import Table

STACK, STACKLESS = "bvh, stack", "bvh, octants"
SINGLE, FUSED, UNFUSED = "singlepass", "multipass ray", "multipass none"
SHOWN = (f"{STACK}, {SINGLE}", f"{STACKLESS}, {SINGLE}", f"{STACKLESS}, {UNFUSED}", f"grid, dda, {SINGLE}")
SHOWN_TWO = (f"two-level-bvh, stack, {SINGLE}", f"two-level-grid, adinetz, {SINGLE}")


def _embree(rates: dict[str, Any]) -> str | None:
    return next((name for name in rates if name.startswith("Embree")), None)


def tables(data: dict[str, Any]) -> list[Table]:
    """All of them."""
    out = [_builds(data)]
    note = (
        f"Median of {data['runs']} runs in turn after {data['warm_up']}. Mrays/s by wall time, and in brackets by the "
        f"CPU time of all threads (of one core). Same: share of the primary rays that hit at the first row's distance."
    )
    for name, scene in data["scenes"].items():
        rates = scene["rates"]
        rows = [
            (
                setting,
                rates["primary"][setting]["ms"],
                rates["primary"][setting]["cpu_ms"],
                *(f"{rates[kind][setting]['mrays']:.3g} ({rates[kind][setting]['cpu_mrays']:.3g})" for kind in rates),
                scene["same_hits"]["primary"].get(setting),
            )
            for setting in rates["primary"]
        ]
        counts = ", ".join(f"{count:,} {kind}" for kind, count in scene["rays"].items())
        columns = ("setting", "ms", "CPU ms", *rates, "same")
        out.append(Table(f"{name}: {scene['triangles']:,} triangles; {counts} rays", columns, rows, note))
    return out + list(_addresses(data))


def _builds(data: dict[str, Any]) -> Table:
    rows = []
    for name, scene in data["scenes"].items():
        for structure, build in scene["builds"].items():
            for traversal, held in scene["memory"].items():
                if traversal.rpartition(", ")[0] == structure:
                    triangles = held.get("triangles", 0)
                    rest = sum(held.values()) - triangles
                    row = (build["ms"], build["cpu_ms"], rest / 2**20, triangles / 2**20)
                    rows.append((f"{name}: {traversal}", *row))
    columns = ("scene: structure, traversal", "build ms", "CPU ms", "structure MiB", "triangles MiB")
    note = "Structure: textures of the traversal. Triangles: unshared corners and numbers, in the order of the leaves."
    return Table("builds and memory", columns, rows, note)


def _addresses(data: dict[str, Any]) -> Iterator[Table]:
    """By scene, structure and kind of rays; nothing without any."""
    ways, rows = ("1-D", "2-D"), list[tuple[Any, ...]]()
    for name, scene in data["scenes"].items():
        for structure, kinds in scene.get("addresses", {"rates": {}})["rates"].items():
            for kind, timed in kinds.items():
                row = [timed[way][key] for key in ("ms", "cpu_ms") for way in ways]
                rows.append((f"{name}: {structure}, {kind}", *row, row[3] / max(row[2], 1e-6)))
    heads = ("scene: structure, rays", *(f"{way} ms" for way in ways), *(f"{way} CPU ms" for way in ways), "CPU ratio")
    if rows:
        yield Table("1-D addresses (buffer textures) against 2-D and 3-D ones, singlepass", heads, rows)


def plot(data: dict[str, Any]) -> Any:
    """Rates of the main settings and Embree, by kind of ray."""
    if not data["scenes"]:
        return None
    drawn, axes = figure(13.0, 4.4, ncols=3)
    scenes = data["scenes"]
    for axis, kind in zip(axes, next(iter(scenes.values()))["rates"], strict=True):
        for place, scene in enumerate(scenes.values()):
            rates = scene["rates"][kind]
            shown = [name for name in (*SHOWN, *SHOWN_TWO, _embree(rates) or "") if name in rates]
            width = 0.85 / len(shown)
            for number, name in enumerate(shown):
                color = COLORS[_color(name)]
                at = place + (number - (len(shown) - 1) / 2) * width
                label = f"_{name}" if any(name in s["rates"][kind] for s in list(scenes.values())[:place]) else name
                axis.bar(at, rates[name]["cpu_mrays"], 0.92 * width, color=color, label=label)
        axis.set_xticks(range(len(scenes)), [name.replace(", ", ",\n").replace(" in ", "\nin ") for name in scenes])
        axis.tick_params(axis="x", labelsize=8)
        axis.grid(False, axis="x")
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_title(f"{kind} rays", fontsize=10)
    axes[0].set_ylabel("million rays per second of one core's time")
    handles = [axis.get_legend_handles_labels() for axis in axes]
    drawn.legend(*handles[0], frameon=False, fontsize=8, loc="outside lower center", ncols=4)
    drawn.suptitle(f"Acceleration structures, {data['facts']['renderer']}", fontsize=10)
    return drawn


def _color(name: str) -> int:
    names = (*SHOWN, *SHOWN_TWO)
    return names.index(name) if name in names else len(COLORS) - 1
