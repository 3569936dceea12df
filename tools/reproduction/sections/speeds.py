"""Speeds that the papers' texts name: copies of memory (T fig. 8-1), rays and tests a second (D 5.3, P2 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import viewer

from .. import measured, timed
from ..context import Context
from ..model import ARITHMETIC, AbsentError, Check, Conclusion, Part, Table
from ..published.chapter5 import RATES
from ..published.thesis import BANDWIDTH, COPIED
from ..registry import section

MACHINES = ("multipass", "singlepass")
# As the papers cast: a grid, one call of a kernel a pass where passes are.
SETTINGS: dict[str, Any] = {"program": "cast", "accel": "grid"}


@section("copies", paper="T 8", title="Copies of memory (figure 8-1)", order=1, timed=True)
def copies(context: Context) -> Iterator[Part]:
    """Of 32 MiB, into a buffer of the device, out of it, and to another."""
    found = timed.keep(context, ("copies", COPIED), lambda: _copies(context))
    rows = [
        (kind, theirs["CUDA"], theirs["OpenCL"], _speed(found[kind]), f"{theirs['CUDA'] / theirs['OpenCL']:.2f}")
        for kind, theirs in BANDWIDTH.items()
    ]
    faster = [kind for kind, theirs in BANDWIDTH.items() if theirs["CUDA"] < theirs["OpenCL"]]
    yield Table(
        "MB a second",
        ("copy", "CUDA, GTX 280", "OpenCL, GTX 280", "ours, OpenGL", "CUDA / OpenCL"),
        rows,
        note=f"32 MiB; ours on {context.device_name}, buffer objects; where the device is the "
        "processor itself, all three are copies within its memory.",
        checks=[
            Check(
                ARITHMETIC,
                "CUDA is faster in every type of copy",
                "3 of 3",
                f"{len(BANDWIDTH) - len(faster)} of 3",
                not faster,
                f"by the figure's own numbers not {' and '.join(faster)}",
            )
        ],
    )
    yield Conclusion(
        "T 8, fig. 8-1",
        "CUDA is better in every type of memory copy.",
        [kind not in faster for kind in BANDWIDTH],
        f"in {len(BANDWIDTH) - len(faster)} of 3 by the figure; neither runs here",
        ARITHMETIC,
    )


def _speed(found: timed.Timed) -> str:
    return found.wall.of(lambda seconds: COPIED / 1e6 / seconds).text(4)


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

    yield {kind: partial(case, copy) for kind, copy in ways.items()}
    with context.device.current():
        for buffer in (one, two):
            buffer.release()
    assert (back == data).all()


@section("rates", paper="D 5.3, P2 4", title="Rays and ray-triangle tests a second", order=6, timed=True)
def rates(context: Context) -> Iterator[Part]:
    """What the texts name, and the bunny's eye rays here."""
    rows: list[tuple[Any, ...]] = [_published(name, value) for name, value in RATES.items()]
    edge = measured.size(context)[0]
    try:
        work = measured.workload(context, measured.BUNNY)
        found = timed.keep(context, ("rays a second", edge), lambda: cast(context, edge))
        for machine in MACHINES:
            speed = edge * edge / found[machine].median
            rows.append((f"ours, {machine}", f"{context.device_name}", _short(speed * work["t"]), _short(speed)))
    except AbsentError as error:
        yield error.part
    yield Table(
        "A second",
        ("what", "on", "ray-triangle tests", "rays"),
        rows,
        note=f"Ours: eye rays of the bunny on its ground, {edge} x {edge}, a grid of 64 voxels along the shortest "
        "side, shading included, rendering again what is compiled and built; tests are rays by t of figure 5.2. "
        "D's and P2's tests are of the kernel alone.",
    )


@contextmanager
def cast(context: Context, edge: int) -> Iterator[dict[str, timed.Case]]:
    """The bunny's eye rays on each machine, ready to be cast again."""
    view = measured.SOURCES[measured.BUNNY]
    scene = view.load(context)
    renderers = {
        machine: viewer.Renderer(scene, device=context.device, machine=machine, grid=view.grid, **SETTINGS)
        for machine in MACHINES
    }

    def case(renderer: viewer.Renderer) -> None:
        renderer.render((edge, edge), spp=1)

    for renderer in renderers.values():
        renderer.update(camera=view.look(scene))
    yield {machine: partial(case, renderer) for machine, renderer in renderers.items()}
    for renderer in renderers.values():
        renderer.release()


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
    return (who, device, text, None) if "tests" in name else (who, device, None, text)


def _short(value: float) -> str:
    return f"{value / 1e6:.3g} M" if value >= 1e6 else f"{value / 1e3:.3g} K"
