"""Tables, targets and plot of the benchmark ``path``."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import plots
from benchmarks.common import Table, target_tables

SINGLEPASS, SURFACE, FUSED, UNFUSED = "singlepass", "multipass", "multipass --fuse ray", "multipass --fuse none"
SAMPLERS = ("sobol", "independent", "table")

# Targets on two cores of llvmpipe: seconds per sample in the single pass, and the largest ratio of default multipass to
# it.
SECONDS = {"cornell": 0.045, "bunny": 0.036, "dragon": 0.060}
RATIO = 1.12


def targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Each target by wall and by CPU time, which is less sensitive to other load. CPU seconds are divided among the
    threads."""
    out = []
    for name, limit in SECONDS.items():
        if name in data["scenes"]:
            rows = data["scenes"][name]["settings"]
            single, multi = rows[SINGLEPASS], rows[SURFACE]
            for what, most, wall, cpu in (
                (f"{name}: {SINGLEPASS}, s", limit, single["s"], single["cpu_s"] / data["threads"]),
                (f"{name}: {SURFACE} / {SINGLEPASS}", RATIO, multi["ratio"], multi["cpu_ratio"]),
            ):
                met = {"met": wall <= most, "met_by_cpu": cpu <= most}
                out.append({"target": what, "limit": most, "wall": wall, "cpu": cpu, **met})
    return out


def tables(data: dict[str, Any]) -> list[Table]:
    """All of them."""
    out = [_call_table(data), _device_table(data)]
    out += [_kernel_table(name, scene["kernels"]) for name, scene in data["scenes"].items()]
    if "in_run" in data:
        out.append(_choice_table(data))
    if data["errors"]:
        out.append(_error_table(data["errors"]))
    return out + target_tables(data)


def _call_table(data: dict[str, Any]) -> Table:
    rows = [
        (f"{name}: {scene['triangles']:,}" if setting == SINGLEPASS else "", setting)
        + tuple(row[key] for key in ("s", "cpu_s", "ratio", "cpu_ratio", "first_s"))
        for name, scene in data["scenes"].items()
        for setting, row in scene["settings"].items()
    ]
    width, height = data["size"]
    note = (
        f"{width} x {height}, {data['depth']} surfaces, median of {data['runs']} calls in turn after an untimed one. "
        f"s: of one sample of every pixel, in a call of Renderer.render of {data['samples']}; CPU: all threads; ratio: "
        "to singlepass, median over rounds; first: a call of one sample, with the driver's compilation."
    )
    columns = ("scene: triangles", "setting", "s", "CPU s", "ratio", "CPU ratio", "first s")
    return Table("path tracing: one sample, of a picture", columns, rows, note)


def _device_table(data: dict[str, Any]) -> Table:
    in_run = data["samples_in_a_device_run"]
    rows = [
        (name if setting == SINGLEPASS else "", setting)
        + tuple(row["device"][key] for key in ("s", "cpu_s", "ratio", "cpu_ratio"))
        + tuple(row[key] for key in ("passes", "passes_in_run", "stream_bytes_per_ray"))
        + (scene["memory_textures"]["total"] / 2**20 if setting == SINGLEPASS else None,)
        for name, scene in data["scenes"].items()
        for setting, row in scene["settings"].items()
    ]
    note = (
        f"A run of {in_run} samples into a film on the device, nothing read back; passes: of kernels, in a run of one "
        f"sample, and of {in_run}; stream bytes: of textures, for each ray, film included; memories: the scene's."
    )
    columns: tuple[str, ...] = ("scene", "setting", "s", "CPU s", "ratio", "CPU ratio", "passes", f"passes of {in_run}")
    columns += ("stream bytes", "memories MiB")
    return Table("path tracing: one sample, the device's part", columns, rows, note)


def _kernel_table(name: str, kernels: list[dict[str, Any]]) -> Table:
    rows = [
        tuple(each[key] for key in ("state", "kernel", "calls_per_pixel", "ns_per_call"))
        + (100 * each["share"], each["words_random_per_call"], each["state_bytes"])
        for each in kernels
    ]
    note = "Of a sample with a pass for each kernel (--fuse none): calls counted, device time by timer queries."
    columns = ("state", "kernel", "calls per pixel", "ns per call", "% of time", "words fetched", "state bytes")
    return Table(f"{name}: time by kernel", columns, rows, note)


def _choice_table(data: dict[str, Any]) -> Table:
    rows: list[tuple[Any, ...]] = [
        (f"{name}, {count} in a run", found["s"], found["cpu_s"])
        for name, counts in data["in_run"].items()
        for count, found in counts.items()
    ]
    rows += [
        (f"{name}, rays counted by {count}", found["s"], found["cpu_s"])
        for name, counts in data["counts"].items()
        for count, found in counts.items()
    ]
    rows += [(f"singlepass, {name} numbers", found["s"], found["cpu_s"]) for name, found in data["samplers"].items()]
    note = "Of the device; counts and samplers with 4 samples in a run."
    return Table("cornell: samples in a run, counts and samplers", ("case", "s per sample", "CPU s"), rows, note)


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


def figure(data: dict[str, Any]) -> Any:
    """Seconds by setting and scene, their shares by kernel, errors by sampler."""
    if not data["scenes"]:
        return None
    drawing, (bars, kernels, errors) = plots.figure(12.0, 4.0, 3)
    names = list(data["scenes"])
    settings = list(data["scenes"][names[0]]["settings"])
    values = {each: [scene["settings"][each]["s"] for scene in data["scenes"].values()] for each in settings}
    plots.bars(bars, names, values, width=0.85, text="%.3f", size=6)
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
    return drawing
