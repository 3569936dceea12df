"""Jobs: algorithms as generators of steps, run by one executor on any machine.

>>> def job(film, rows):
...     yield Copy(film, rows, corner, size)
...     yield Run(program, "picture", shape, rays=count, streams={"film": rows})
...     yield Host(lambda: print("done"))

A job holds no machine and no context. Between two steps, and between two passes of a run, it can be abandoned; the
streams then hold what the steps before have left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from viewer.base.errors import DeviceError
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream
from viewer.stream.machines.common import Machine, Progress
from viewer.stream.machines.counters import Stats


@dataclass(frozen=True)
class Run:
    """Run a program over the first ``rays`` rays of streams of ``size`` (width, height).

    key : what tells machines apart beside the size, so that one made before serves again. streams : inputs and results
    that it works on; the others are the machine's own, which ``fill`` may fill, and `Executor.machine` hands out after
    the run. uniforms : of modules. chosen : of `CHOICE`, the rays that it is of; without it all.
    """

    program: Program
    key: Hashable
    size: tuple[int, int]
    rays: int
    streams: Mapping[str, Stream] = field(default_factory=dict)
    uniforms: Mapping[str, Any] = field(default_factory=dict)
    fill: Callable[[Machine], None] | None = None
    counting: bool = False
    chosen: Stream | None = None


@dataclass(frozen=True)
class Draw:
    """Draw triangles, points or a square into streams: ``draw()`` is a pass of the ordinary pipeline that is ready."""

    draw: Callable[[], None]


@dataclass(frozen=True)
class Copy:
    """Copy a rectangle of ``size`` (width, height), from its ``corner`` on, into the first elements of a stream in row
    order, or with ``back`` from there to the rectangle."""

    rectangle: Stream
    rows: Stream
    corner: tuple[int, int]
    size: tuple[int, int]
    back: bool = False


@dataclass(frozen=True)
class Clear:
    """Give the first ``rays`` elements of a stream (all without) the same texels (zeros without)."""

    stream: Stream
    texels: Sequence[Sequence[float]] = ()
    rays: int | None = None


@dataclass(frozen=True)
class Host:
    """Call a function on the host, with the context current."""

    function: Callable[[], Any]


@dataclass(frozen=True)
class Stage:
    """From here on the job's time is that of a stage of this name, where it is measured: see `Executor.times`."""

    name: str


Step = Run | Draw | Copy | Clear | Host | Stage
Job = Generator[Step, Any, Any]


class Executor:
    """Runs jobs: one step after the other, yielding after each, and after each pass of a run.

    machine_of : the machine that serves a run, with its streams made. stats : of all runs of the job under way. times :
    where a dictionary is put here, the seconds of every `Stage` are added up in it, for which the device is waited for
    at each stage's end.
    """

    def __init__(self, device: Device, resources: Resources, machine_of: Callable[[Run], Machine]) -> None:
        self.device, self.resources, self._machine_of = device, resources, machine_of
        self.machine: Machine | None = None  # of the last run
        self.stats = Stats()
        self.times: dict[str, float] | None = None
        self._stage: tuple[str, float] | None = None  # the one under way, and when it began
        self._job = 0  # the number of the job under way

    def run(self, job: Job) -> Iterator[float]:
        """Yields the share of the last run that is done, 0 before there is one. What a `Host` function returns, and a
        run's machine, is sent into the job.

        A job that goes on after another one has begun, in this thread or another, would find that one's rays in its
        streams: raises DeviceError.
        """
        self.stats, self._stage = Stats(), None
        self._job += 1
        number = self._job
        answer: Any = None
        share = 0.0
        while True:
            with self._under_way(number):
                try:
                    step = job.send(answer)
                except StopIteration:
                    self._begin(None)
                    return
            if isinstance(step, Stage):
                with self._under_way(number):
                    self._begin(step.name)
                answer = None
            elif isinstance(step, Run):
                for share in self._run(step, number):
                    yield share
                answer, share = self.machine, 1.0
            else:
                with self._under_way(number):
                    answer = self._do(step)
            yield share

    def _begin(self, stage: str | None) -> None:
        """A stage begins, and the one before has ended."""
        if self.times is None:
            self._stage = None
            return
        self.device.wait()
        now = perf_counter()
        if self._stage is not None:
            name, began = self._stage
            self.times[name] = self.times.get(name, 0.0) + now - began
        self._stage = None if stage is None else (stage, now)

    def abandon(self) -> None:
        """What a job under way reads has changed: it must not go on."""
        self._job += 1

    @contextmanager
    def _under_way(self, number: int) -> Iterator[None]:
        """The context, for a step of the job of that number."""
        with self.device.current():
            if number != self._job:
                raise DeviceError(
                    "renderer",
                    "this picture cannot go on, since another has begun, or the scene has changed",
                    "finish one before the next, or make a Renderer for each",
                )
            yield

    def _do(self, step: Draw | Copy | Clear | Host) -> Any:
        if isinstance(step, Draw):
            return step.draw()
        if isinstance(step, Clear):
            return step.stream.clear(step.texels, step.rays)
        if isinstance(step, Host):
            return step.function()
        copies = self.resources.copies
        if step.back:
            return copies.from_rows(step.rows, step.rectangle, step.corner, step.size)
        return copies.to_rows(step.rectangle, step.rows, step.corner, step.size)

    def _run(self, step: Run, number: int) -> Iterator[float]:
        with self._under_way(number):
            machine = self.machine = self._machine_of(step)
            machine.borrow(step.streams)
            machine.set(step.uniforms)
            machine.choose(step.chosen)
            if step.fill is not None:
                step.fill(machine)
        passes = machine.run(None if step.rays == machine.rays else step.rays)
        while True:
            with self._under_way(number):
                state: Progress | None = next(passes, None)
            if state is None:
                break
            yield 1 - state.active / max(1, state.rays)
        self.stats.add(machine.stats)
