"""Jobs: algorithms as generators of steps, run by one executor on any machine.

>>> def job(film, rows):
...     yield Copy(film, rows, corner, size)
...     yield Run(program, "picture", shape, rays=count, streams={"film": rows})
...     yield Host(lambda: print("done"))

A job holds no machine and no context. It can be abandoned between steps, and between passes of a run; streams keep the
results of the steps before.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

from raystream.base.errors import DeviceError
from raystream.stream.declare.program import Program
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import Machine, RunProgress
from raystream.stream.machines.counters import Stats


@dataclass(frozen=True)
class Run:
    """Run a program over the first ``rays`` rays of streams of ``size`` (width, height).

    key : identifies the machine besides the size, for its reuse. streams : inputs and results; the others are the
    machine's own, filled by ``fill``, and read through `Executor.machine` after the run. uniforms : of modules. chosen
    : stream of `CHOICE` with the rays of the run; by default all.
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
    """Draw triangles, points or a square into streams: ``draw()`` is a prepared pass of the ordinary pipeline."""

    draw: Callable[[], None]


@dataclass(frozen=True)
class Copy:
    """Copy a rectangle of ``size`` (width, height), from its ``corner`` on, to the first elements of a stream in row
    order; with ``back`` in the reverse direction."""

    rectangle: Stream
    rows: Stream
    corner: tuple[int, int]
    size: tuple[int, int]
    back: bool = False


@dataclass(frozen=True)
class Clear:
    """Fill the first ``rays`` elements of a stream (by default all) with constant texels (by default zeros)."""

    stream: Stream
    texels: Sequence[Sequence[float]] = ()
    rays: int | None = None


@dataclass(frozen=True)
class Host:
    """Call a function on the host, with the context current."""

    function: Callable[[], Any]


@dataclass(frozen=True)
class TimedStage:
    """Begin a timed stage of this name: see `Executor.times`."""

    name: str


Step = Run | Draw | Copy | Clear | Host | TimedStage
Job = Generator[Step, Any, Any]


class Executor:
    """Runs jobs: one step after the other, yielding after each, and after each pass of a run.

    machine_of : the machine for a run, with its streams made. stats : over all runs and draws of the current job.
    times : a dictionary here receives the seconds of every `TimedStage`, at the cost of waiting for the device at each
    stage's end.
    compiles_by_steps : a run does not wait for compilation, which takes steps of its own.
    """

    def __init__(self, device: Device, resources: Resources, machine_of: Callable[[Run], Machine]) -> None:
        self.device, self.resources, self._machine_of = device, resources, machine_of
        self.machine: Machine | None = None  # of the last run
        self.stats = Stats()
        self.times: dict[str, float] | None = None
        self.compiles_by_steps = False
        self._stage: tuple[str, float] | None = None  # name and start time of the current stage
        self._job = 0  # number of the current job
        self._running = False
        self._drawn_before = 0  # draws since the last job that belong to the next one

    def run(self, job: Job) -> Iterator[float]:
        """Yields the completed fraction of the last run, 0 before one. The result of a `Host` function, and a run's
        machine, are sent into the job.

        Raises DeviceError for a job continued after another one has begun, in any thread: its streams then hold the
        other's rays.
        """
        self.stats, self._stage = Stats(draws=self._drawn_before), None
        self._job, self._running, self._drawn_before = self._job + 1, True, 0
        job_index = self._job
        result: Any = None
        fraction = 0.0
        try:
            while True:
                with self._job_context(job_index):
                    try:
                        step = job.send(result)
                    except StopIteration:
                        self._begin_stage(None)
                        return
                if isinstance(step, TimedStage):
                    with self._job_context(job_index):
                        self._begin_stage(step.name)
                    result = None
                elif isinstance(step, Run):
                    for fraction in self._run(step, job_index):
                        yield fraction
                    result, fraction = self.machine, 1.0
                else:
                    with self._job_context(job_index):
                        result = self._execute(step)
                yield fraction
        finally:
            if job_index == self._job:
                self._running = False

    def _begin_stage(self, stage: str | None) -> None:
        """Begin a stage, ending the previous one."""
        if self.times is None:
            self._stage = None
            return
        self.device.wait()
        now = perf_counter()
        if self._stage is not None:
            name, began = self._stage
            self.times[name] = self.times.get(name, 0.0) + now - began
        self._stage = None if stage is None else (stage, now)

    def count(self, draws: int) -> None:
        """Add draws made outside of steps to the statistics of the current job, or between two jobs of the next."""
        if self._running:
            self.stats.draws += draws
        else:
            self._drawn_before += draws

    def abandon(self) -> None:
        """Forbid the current job to continue, as its inputs have changed."""
        self._running = False
        self._job += 1

    @contextmanager
    def _job_context(self, job_index: int) -> Iterator[None]:
        """The context for a step of that job."""
        with self.device.current():
            if job_index != self._job:
                raise DeviceError(
                    "renderer",
                    "this picture cannot continue: another one has begun, or the scene has changed",
                    "finish one before the next, or make a Renderer for each",
                )
            yield

    def _execute(self, step: Draw | Copy | Clear | Host) -> Any:
        """Execute a step that is no run; returns the function's result of a `Host` step."""
        if isinstance(step, Draw):
            self.stats.draws += 1
            return step.draw()
        if isinstance(step, Clear):
            return step.stream.clear(step.texels, step.rays)
        if isinstance(step, Host):
            return step.function()
        copies = self.resources.copies
        if step.back:
            return copies.from_rows(step.rows, step.rectangle, step.corner, step.size)
        return copies.to_rows(step.rectangle, step.rows, step.corner, step.size)

    def _run(self, step: Run, job_index: int) -> Iterator[float]:
        """Execute a run, pass by pass; yields the fraction of its rays that are done."""
        with self._job_context(job_index):
            machine = self.machine = self._machine_of(step)
            steps = machine.batch.steps()
        while self.compiles_by_steps:
            with self._job_context(job_index):
                if next(steps, None) is None:
                    break
            yield 0.0
        with self._job_context(job_index):
            machine.batch.finish()
            machine.borrow(step.streams)
            machine.set(step.uniforms)
            machine.choose(step.chosen)
            if step.fill is not None:
                step.fill(machine)
        passes = machine.run(None if step.rays == machine.rays else step.rays)
        while True:
            with self._job_context(job_index):
                state: RunProgress | None = next(passes, None)
            if state is None:
                break
            yield 1 - state.active / max(1, state.rays)
        self.stats.add(machine.stats)


T = TypeVar("T")


def returned(steps: Generator[Any, None, T]) -> T:
    """The value that a generator returns once it has been run to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
