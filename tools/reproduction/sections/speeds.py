"""Speeds that the papers' texts name: copies of memory (T fig. 8-1), rays and tests a second (D 5.3, P2 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import raystream
from raystream.scene.camera import Camera
from reproduction.simulators.machines import WORD

from .. import measured, timed
from ..context import Context
from ..published.chapter5 import HARDWARE, RATES, TABLE_5_1
from ..published.thesis import BANDWIDTH, COPIED
from ..report import ARITHMETIC, NOT_RUN, AbsentError, Cell, Check, Parts, beside, concluded, section, tabled, unprinted

RATIO = "the claim is that CUDA is better in every type of copy; the ratio is that of the printed numbers"
MACHINES = ("multipass", "singlepass")
STACKED = 256  # triangles that every ray tests
# A grid, as the papers cast; passes by the machine's own choice.
SETTINGS: dict[str, Any] = {"program": "cast", "accel": "grid"}


@section("copies", paper="T 8", title="Copies of memory (figure 8-1)", order=1, timed=True)
def copies(context: Context) -> Parts:
    """Of 32 MiB, into a buffer of the device, out of it, and to another."""
    found = timed.keep(context, ("copies", COPIED), lambda: _copies(context))
    rows, slower = [], []
    for kind, theirs in BANDWIDTH.items():
        printed = (beside(theirs[by], None, NOT_RUN) for by in ("CUDA", "OpenCL"))
        speed = found[kind].wall.of(lambda seconds: COPIED / 1e6 / seconds).text(4)
        ratio = theirs["CUDA"] / theirs["OpenCL"]
        rows.append((kind, *printed, speed, Cell("> 1", f"{ratio:.2f}", ratio > 1, RATIO)))
        slower += [kind] if ratio < 1 else []
    what, many = "CUDA is faster in every type of copy", f"{len(BANDWIDTH) - len(slower)} of 3"
    why = f"by the figure's own numbers not {' and '.join(slower)}"
    check = Check(ARITHMETIC, what, "3 of 3", many, not slower, why)
    heads = {"CUDA / OpenCL": ("claimed", "derived")}
    yield tabled("mb_a_second", rows, [check], heads=heads, device=context.device_name)
    yield concluded(
        "cuda_copies", [kind not in slower for kind in BANDWIDTH], f"in {many} by the figure; neither runs here"
    )


@contextmanager
def _copies(context: Context, size: int = COPIED) -> Iterator[dict[str, timed.Case]]:
    """Each kind of copy, the device waited for."""
    gl = context.device.context
    data, back = np.arange(size // 4, dtype=np.uint32), np.empty(size // 4, np.uint32)
    with context.device.current():
        one, two = gl.buffer(reserve=size), gl.buffer(reserve=size)
    ways: dict[str, Callable[[], Any]] = {
        "host to device": lambda: one.write(data),
        "device to device": lambda: gl.copy_buffer(two, one, size),
        "device to host": lambda: two.read_into(back),
    }

    def case(copy: Callable[[], Any]) -> None:
        with context.device.current():
            copy()
            gl.finish()

    try:
        yield {kind: partial(case, copy) for kind, copy in ways.items()}
    finally:
        with context.device.current():
            for buffer in (one, two):
                buffer.release()
    assert (back == data).all()


@section("rates", paper="D 5.3, P2 5.2", title="Rays and ray-triangle tests a second", order=6, timed=True)
def rates(context: Context) -> Parts:
    """What the texts name, and the bunny's eye rays here."""
    rows: list[tuple[Any, ...]] = [_published(name, value) for name, value in RATES.items()]
    edge = measured.size(context)[0]
    try:
        work = measured.workload(context, measured.BUNNY)
        found = timed.keep(context, ("rays a second", edge), lambda: cast(context, edge))
        for machine in MACHINES:
            speed = edge * edge / found[machine].median
            both = (unprinted(_short(each)) for each in (speed * work["t"], speed))
            rows.append((f"ours, {machine}", f"{context.device_name}", *both))
    except AbsentError as error:
        yield error.part
    best = timed.keep(context, ("at best", edge), lambda: at_best(context, edge))
    for machine in MACHINES:
        few, many = (edge * edge / best[f"{machine} {n}"].median for n in (1, STACKED))
        both = (unprinted(_short(each)) for each in (many * STACKED, few))
        rows.append((f"ours at best, {machine}", context.device_name, *both))
    yield tabled("a_second", rows, [_bytes()], edge=edge, stacked=STACKED)


def _bytes() -> Check:
    """What P2 says of the memory's bandwidth at four times the instructions."""
    test = TABLE_5_1["MIMD"]["Intersect"]
    tests, most = RATES["ray-triangle tests at 8 G (P2)"], HARDWARE["GeForce3 (P2)"]["bytes"]
    assert isinstance(tests, float)
    moved = tests * WORD * test.random
    what = "222 M tests a second, of 10 words each, do not use all of the memory's bandwidth (P2 5.2)"
    why = "by table 1 a test fetches a list's entry and nine words of a triangle"
    return Check(ARITHMETIC, what, f"< {most / 1e9:g} GB/s", f"{moved / 1e9:.1f} GB/s", moved < most, why)


def cast(context: Context, edge: int) -> timed.Cases:
    """The bunny's eye rays on each machine."""
    view = measured.SOURCES[measured.BUNNY]
    scene = view.load(context)
    own: dict[str, Any] = {"device": context.device, "grid": view.grid, "camera": view.look(scene), **SETTINGS}
    return timed.pictures({each: raystream.Renderer(scene, machine=each, **own) for each in MACHINES}, (edge, edge))


def at_best(context: Context, edge: int) -> timed.Cases:
    """Rays that each test one triangle or all of many behind one another, in a grid of one voxel."""
    pairs = [(machine, count) for machine in MACHINES for count in (1, STACKED)]
    renderers = {f"{machine} {count}": stacked(context, machine, count) for machine, count in pairs}
    return timed.pictures(renderers, (edge, edge))


def stacked(context: Context, machine: str, triangles: int) -> raystream.Renderer:
    """Triangles behind one another, all in one voxel and in the way of every ray."""
    corners = np.tile(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32), (triangles, 1))
    corners[:, 2] = -np.repeat(np.arange(triangles) / triangles, 3)
    scene = raystream.Scene.from_triangles(corners, np.arange(3 * triangles).reshape(-1, 3))
    camera = Camera((0.3, 0.3, 4.0), (0.3, 0.3, 0.0), fov=4.0)
    return raystream.Renderer(scene, device=context.device, machine=machine, grid=1, camera=camera, **SETTINGS)


DEVICES = {
    "peak (D)": ("D", "Radeon 9700 Pro"),
    "tests (P2)": ("P2", "simulated, 2 G instructions a second"),
    "8 G (P2)": ("P2", "simulated, 8 G instructions a second"),
    "rays (D)": ("D", "Radeon 9700 Pro"),
    "Ray Engine": ("Ray Engine", "Radeon 8500, fixed point"),
    "Pentium III": ("compared in D", "Pentium III 800 MHz"),
    "Pentium 4 3.0": ("compared in D", "Pentium 4 3.0 GHz"),
    "unshaded": ("compared in D, without shading", "Pentium 4 2.5 GHz"),
    "rays shaded": ("compared in D, with shading", "Pentium 4 2.5 GHz"),
}


def _published(name: str, value: float | tuple[float, float]) -> tuple[Any, ...]:
    who, device = next(text for part, text in DEVICES.items() if part in name)
    text = " to ".join(_short(each) for each in value) if isinstance(value, tuple) else _short(value)
    there = beside(text, None, NOT_RUN)
    return (who, device, there, None) if "tests" in name else (who, device, None, there)


def _short(value: float) -> str:
    return f"{value / 1e6:.3g} M" if value >= 1e6 else f"{value / 1e3:.3g} K"
