"""The share of a render outside of OpenGL: the second picture of a renderer, after all compilation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from itertools import product
from typing import Any

import moderngl

import raystream
from benchmarks.common import Options, Result, Table, cpus, facts, say
from benchmarks.scenes import found
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device

ABOUT = "the share of a render that the host spends outside of OpenGL"
SIZE, RUNS = 512, 15
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("cast", {}),
    ("cast", {"layers": "depth,normal,triangle"}),
    ("shadow", {}),
    ("whitted", {}),
    ("path", {}),
)
QUICK = (CASES[0], CASES[-1])
MACHINES = ("singlepass", "multipass")
KINDS: tuple[str, ...] = (
    "Context",
    "Texture",
    "Texture3D",
    "Buffer",
    "Framebuffer",
    "VertexArray",
    "Query",
    "Program",
    "Uniform",
)
KINDS += ("ConditionalRender",)


@dataclass
class Clock:
    """Time inside of OpenGL's calls, including waits for the device and read-back.

    wall : seconds inside. cpu : seconds of this thread's CPU time inside. calls : outermost ones.
    """

    wall: float = 0.0
    cpu: float = 0.0
    calls: int = 0
    _depth: int = field(default=0, repr=False)

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with the clock running inside."""

        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            if self._depth:
                return function(*given, **named)
            self._depth += 1
            wall, cpu = time.perf_counter(), time.thread_time()
            try:
                return function(*given, **named)
            finally:
                self.wall += time.perf_counter() - wall
                self.cpu += time.thread_time() - cpu
                self.calls += 1
                self._depth -= 1

        return call

    def reset(self) -> None:
        """Begin at 0."""
        self.wall, self.cpu, self.calls = 0.0, 0.0, 0

    @contextmanager
    def watching(self, device: Device) -> Iterator[None]:
        """Meanwhile every method and property of moderngl's classes runs the clock, and so does the barrier of machines
        made in the block."""
        barrier = device.texture_barrier
        device.__dict__["texture_barrier"] = barrier and self.timed(barrier)
        before: list[tuple[type, str, Any]] = []
        for kind in (getattr(moderngl, name) for name in KINDS if hasattr(moderngl, name)):
            for name, member in list(vars(kind).items()):
                if name.startswith("__") and name not in ("__enter__", "__exit__"):
                    continue
                if isinstance(member, property):
                    get, put, drop = (part and self.timed(part) for part in (member.fget, member.fset, member.fdel))
                    other: Any = property(get, put, drop)
                elif callable(member) and not isinstance(member, (type, staticmethod, classmethod)):
                    other = self.timed(member)
                else:
                    continue
                before.append((kind, name, member))
                setattr(kind, name, other)
        try:
            yield
        finally:
            device.__dict__["texture_barrier"] = barrier
            for kind, name, member in before:
                setattr(kind, name, member)


def run(options: Options) -> Result:
    """The bunny at one sample, by every program."""
    device = options.open()
    edge, runs = (64, 2) if options.quick else (SIZE, RUNS)
    views, missing = found(("cornell",) if options.quick else ("bunny",))
    cases = list(product(MACHINES[:1], QUICK) if options.quick else product(MACHINES, CASES))
    rows: list[list[Any]] = []
    data: dict[str, Any] = {"facts": facts(device), "missing": missing, "size": edge, "cases": {}}
    clock = Clock()
    with clock.watching(device):
        for view in views:
            scene = raystream.load(view.source)
            for machine, (program, more) in cases:
                name = " ".join([view.name, machine, program, *more.values()])
                say(name)
                renderer = Renderer(scene, camera=view.camera, program=program, machine=machine, device=device)
                renderer.render((edge, edge), spp=1, **more)
                again = partial(renderer.render, (edge, edge), spp=1, **more)
                parts = [measured(clock, again) for _ in range(runs)]
                host, opengl, busy = (1e3 * statistics.median(values) for values in zip(*parts, strict=True))
                inside = busy / cpus() if device.software else opengl
                found_ = {"outside_ms": host, "opengl_ms": opengl, "opengl_cpu_ms": busy, "calls": clock.calls}
                data["cases"][name] = {**found_, "share": host / (host + inside)}
                rows.append([name, *data["cases"][name].values()])
                renderer.release()
    table = Table(
        f"A second picture of {edge} x {edge} pixels, one sample",
        ("case", "outside ms", "in OpenGL ms", "CPU ms", "calls", "share outside"),
        rows,
        "in OpenGL: calls of moderngl, waits for the device and reading back included. outside: CPU time of the thread "
        "else.\nshare: of a software driver by its CPU time over all CPUs, which other load disturbs less.",
    )
    return Result(data, [table])


def measured(clock: Clock, case: Callable[[], Any]) -> tuple[float, float, float]:
    """For one run: seconds of this thread's CPU time outside of OpenGL, seconds inside, and CPU seconds of all threads
    except the former."""
    clock.reset()
    thread, process = time.thread_time(), time.process_time()
    case()
    thread, process = time.thread_time() - thread, time.process_time() - process
    return thread - clock.cpu, clock.wall, process - (thread - clock.cpu)
