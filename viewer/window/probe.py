"""The pixel probe: the whole history of one ray on the dissertation's machine, pass by pass, and its way in space."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from viewer import kernels
from viewer.errors import ViewerError
from viewer.kernels import HIT, RAY
from viewer.render import COUNTED_LAYERS, Renderer
from viewer.scene.camera import Camera
from viewer.scene.scene import Triangles
from viewer.stream.kernel import Kept
from viewer.stream.machines import Multipass
from viewer.stream.program import DONE, RETURN, Call, Program, State, Target
from viewer.stream.record import Record
from viewer.values import PolicyChoice, Unroll
from viewer.window.false_color import FARTHEST
from viewer.window.unfused import fill, unfused
from viewer.window.walks import Visit, Walks, walks

COLUMNS = ("pass", "state", "kernel", "exit", "next", "what changed")


@dataclass(frozen=True)
class Change:
    """A field of a record that a pass changed; ``before`` is None where the record had never been written."""

    stream: str
    field: str
    before: Any
    after: Any

    def text(self) -> str:
        """``walk.voxel (3, 4, 5) -> (3, 4, 6)``, or ``walk.voxel = (3, 4, 6)``."""
        name = f"{self.stream}.{self.field}"
        if self.before is None:
            return f"{name} = {_text(self.after)}"
        return f"{name} {_text(self.before)} -> {_text(self.after)}"


@dataclass(frozen=True)
class Row:
    """One pass that the ray took part in, which is one kernel call.

    exits  : the exit taken; several where more than one leads the same way. next : the state after, or ``done``.
    triangle : the number of the triangle tested, if one was.
    """

    number: int
    state: str
    kernel: str
    exits: tuple[str, ...]
    next: str
    changes: tuple[Change, ...]
    triangle: int | None = None


@dataclass(frozen=True)
class Test:
    """A triangle tested: its corners (3, 3) float32, world space, and whether it became the nearest hit."""

    __test__ = False  # pytest, this is none of yours

    triangle: int
    corners: NDArray[np.float32]
    nearest: bool


@dataclass
class Segment:
    """One ray of the history, in world space: where it goes, the cells that it visits, the triangles that it tests.

    origin, direction : (3,) float32, unit length. t_hit, triangle, barycentric : of the nearest hit, None without.
    """

    origin: NDArray[np.float32]
    direction: NDArray[np.float32]
    t_max: float
    any_hit: bool
    visits: list[Visit] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    t_hit: float | None = None
    triangle: int | None = None
    barycentric: tuple[float, float] | None = None

    def at(self, t: float) -> NDArray[np.float64]:
        """(3,): the point at a distance."""
        return self.origin.astype(np.float64) + t * self.direction.astype(np.float64)

    @property
    def hit_point(self) -> NDArray[np.float64] | None:
        """(3,): where the ray ends on a surface; None where it hits nothing."""
        return None if self.t_hit is None else self.at(self.t_hit)

    @property
    def span(self) -> tuple[float, float] | None:
        """Distances between which the ray was walked; None for one that misses the scene's box."""
        return (self.visits[0].t_enter, self.visits[-1].t_exit) if self.visits else None


@dataclass
class Probe:
    """A ray's history. ``complete`` once it is done; until then the rows so far.

    calls : kernel calls by state, as the machine counted them; the rows are as many. results : the records that the
    ray left, by stream.
    """

    pixel: tuple[int, int]
    size: tuple[int, int]
    program: str
    rows: list[Row] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    results: dict[str, np.void] = field(default_factory=dict)
    complete: bool = False

    def counted(self, layer: str) -> int:
        """Kernel calls that a layer of the picture counts: 'steps' or 'tests'."""
        return self.calls.get(COUNTED_LAYERS[layer], 0)

    @property
    def steps(self) -> int:
        """Steps through the structure."""
        return self.counted("steps")

    @property
    def tests(self) -> int:
        """Ray-triangle tests."""
        return self.counted("tests")

    def boxes(self) -> NDArray[np.float64]:
        """(N, 2, 3): the boxes of all visited cells, world space, in the order of the visits."""
        found = [visit.box for segment in self.segments for visit in segment.visits]
        return np.stack(found) if found else np.zeros((0, 2, 3))

    def corners(self) -> NDArray[np.float32]:
        """(N, 3, 3): the corners of all tested triangles, world space, in the order of the tests."""
        found = [test.corners for segment in self.segments for test in segment.tests]
        return np.stack(found) if found else np.zeros((0, 3, 3), np.float32)

    def table(self) -> list[tuple[str, ...]]:
        """A row of text for each pass, in the `COLUMNS`."""
        out = []
        for row in self.rows:
            changed = [change.text() for change in row.changes]
            if row.triangle is not None:
                changed.insert(0, f"tests triangle {row.triangle}")
            exits = " or ".join(row.exits)
            out.append((str(row.number), row.state, row.kernel, exits, row.next, "; ".join(changed)))
        return out

    def to_json(self) -> dict[str, Any]:
        """Everything as data that `json.dumps` takes; what is not finite is written as text."""
        return {
            "pixel": list(self.pixel),
            "size": list(self.size),
            "program": self.program,
            "complete": self.complete,
            "steps": self.steps,
            "tests": self.tests,
            "calls": dict(self.calls),
            "results": {name: _record(value) for name, value in self.results.items()},
            "passes": [
                {
                    "pass": row.number,
                    "state": row.state,
                    "kernel": row.kernel,
                    "exits": list(row.exits),
                    "next": row.next,
                    "triangle": row.triangle,
                    "changes": [
                        {
                            "stream": change.stream,
                            "field": change.field,
                            "before": _plain(change.before),
                            "after": _plain(change.after),
                        }
                        for change in row.changes
                    ],
                }
                for row in self.rows
            ],
            "rays": [_segment_json(segment) for segment in self.segments],
        }

    def json(self) -> str:
        """`to_json` as text."""
        return json.dumps(self.to_json(), indent=1, allow_nan=False)


def probe(renderer: Renderer, camera: Camera, size: tuple[int, int], pixel: tuple[int, int]) -> Probe:
    """The history of the ray through ``pixel`` (column, row) of the renderer's picture of ``size`` (width, height).

    Raises ViewerError for a pixel beside the picture.
    """
    *_, found = probing(renderer, camera, size, pixel)
    return found


def probing(renderer: Renderer, camera: Camera, size: tuple[int, int], pixel: tuple[int, int]) -> Iterator[Probe]:
    """`probe` in pieces: yields the same Probe after every pass, and may be abandoned at any yield.

    One at a time for a renderer: its streams of one ray, and the kernels compiled for them, are kept until `forget`.
    """
    x, y = int(pixel[0]), int(pixel[1])
    if not (0 <= x < size[0] and 0 <= y < size[1]):
        raise ViewerError(f"pixel {x}, {y}", f"is not in a picture of {size[0]} x {size[1]}", "column and row from 0")
    with renderer.device.current():
        machine = _machine(renderer)
        fill(machine, camera, size, x, y)
        history = _History(machine, renderer, Probe((x, y), size, machine.bound.program.name))
    run, passes = machine.run(), 0
    while True:
        with renderer.device.current():
            if next(run, None) is None:
                break
            done = machine.stats.passes
            if len(done) == passes or not done[-1].fragments:  # a pass that no ray was in is none of its history
                passes = len(done)
                continue
            passes = len(done)
            history.note(done[-1].step)
        yield history.probe
    with renderer.device.current():
        history.finish()
    yield history.probe


_machines: WeakKeyDictionary[Renderer, dict[str, Multipass]] = WeakKeyDictionary()


def _machine(renderer: Renderer) -> Multipass:
    kept = _machines.setdefault(renderer, {})
    program = renderer.choices.program
    if program not in kept:
        kept[program] = unfused(renderer, (1, 1), PolicyChoice("naive"), Unroll((1,)))
    return kept[program]


def forget(renderer: Renderer) -> None:
    """Compile anew for the next probe: kernels have been edited."""
    for machine in _machines.pop(renderer, {}).values():
        with renderer.device.current():
            machine.release()


class _History:
    """Writes down what each pass did to the ray."""

    def __init__(self, machine: Multipass, renderer: Renderer, empty: Probe) -> None:
        self.machine, self.probe = machine, empty
        self.program: Program = machine.bound.program
        self.triangles: Triangles = renderer.triangles
        self.walks: Walks | None = walks(renderer.modules)
        self.states = ("done", *self.program.by_name)
        self.back = machine.bound.start_numbers()[1]
        self.held = {name: machine.streams[name].read()[0, 0] for name in self.program.inputs}
        self.stores = {step.name: step.stores for step in machine.passes}
        self.unwalked: np.void | None = None

    def note(self, name: str) -> None:
        """After a pass of state ``name`` in which the ray took part."""
        state = self.program.by_name[name]
        before = dict(self.held)
        for stream in self.stores[name]:
            self.held[stream] = self.machine.streams[stream].read()[0, 0]
        at, back = (int(number) for number in self.machine.state.read()[0, 0])
        exits = tuple(exit for exit, target in state.exits.items() if self._leads(target) == (at, back))
        tested = self._tested(state, before)
        changes = tuple(self._changes(before))
        row = Row(len(self.probe.rows) + 1, name, state.kernel.name, exits, self.states[at], changes, tested)
        self.probe.rows.append(row)
        self.back = back
        self._draw(state, before, tested)

    def finish(self) -> None:
        """The ray is done."""
        found = self.probe
        found.calls = {state: int(counts[0, 0]) for state, counts in self.machine.calls().items()}
        found.results = {name: self.machine.read(name)[0, 0] for name in self.program.results}
        if not found.segments and self.unwalked is not None:  # it misses the scene's box
            found.segments.append(_segment(self.unwalked))
        found.complete = True

    def _leads(self, target: Target) -> tuple[int, int]:
        """State and return state behind an exit."""
        if target is RETURN:
            return self.back, self.back
        if isinstance(target, Call):
            return self.program.number(target.state), 0 if target.then is DONE else self.program.number(target.then)
        return self.program.number(target), self.back

    def _changes(self, before: Mapping[str, np.void]) -> Iterator[Change]:
        for stream, now in self.held.items():
            old = before.get(stream)
            if old is now:
                continue
            for name in now.dtype.names or ():
                if old is None:
                    yield Change(stream, name, None, now[name])
                elif old[name].tobytes() != now[name].tobytes():
                    yield Change(stream, name, old[name], now[name])

    # -- its way in space ------------------------------------------------------------------------------------------

    def _tested(self, state: State, before: Mapping[str, np.void]) -> int | None:
        stream = self._stream(state, kernels.WALK)
        if state.name != COUNTED_LAYERS["tests"] or stream is None or self.walks is None:
            return None
        return self.walks.candidate(before[stream])

    def _draw(self, state: State, before: Mapping[str, np.void], tested: int | None) -> None:
        ray, walk, hit = (self._stream(state, record) for record in (RAY, kernels.WALK, HIT))
        if ray is not None and ray in state.writes():
            self.unwalked = self.held[ray]
        if walk is not None and walk in state.writes() and walk not in state.reads():
            self.unwalked = None
            if ray is not None:
                self.probe.segments.append(_segment(self.held[ray]))
        if walk is None or not self.probe.segments:
            return
        segment = self.probe.segments[-1]
        if state.name == COUNTED_LAYERS["steps"] and self.walks is not None:
            first = not segment.visits
            segment.visits.append(self.walks.visit(segment.origin, before[walk], self.held[walk], first))
        if hit is not None and hit in state.writes():
            now = self.held[hit]
            if tested is not None:
                nearest = int(now["triangle"]) == tested and before[hit].tobytes() != now.tobytes()
                corners = self.triangles.positions[self.triangles.triangles[tested]]
                segment.tests.append(Test(tested, corners, nearest))
            if now["triangle"] >= 0:
                u, v = (float(weight) for weight in now["barycentric"])
                segment.t_hit, segment.triangle, segment.barycentric = float(now["t"]), int(now["triangle"]), (u, v)

    @staticmethod
    def _stream(state: State, record: Record | Kept) -> str | None:
        """The stream that serves the state's argument of a record; the last where there are several."""
        found = [state.stream_of(a.name) for a in state.kernel.arguments if a.record == record]
        return found[-1] if found else None


def _segment(ray: np.void) -> Segment:
    return Segment(ray["origin"].copy(), ray["direction"].copy(), float(ray["t_max"]), bool(ray["any_hit"]))


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"({', '.join(_text(component) for component in value)})"
    if isinstance(value, np.floating):
        return "far" if abs(float(value)) >= FARTHEST else f"{float(value):.6g}"
    return str(value)


def _plain(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, np.ndarray):
        return [_plain(component) for component in value]
    if isinstance(value, (np.integer, int)):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _record(value: np.void) -> dict[str, Any]:
    return {name: _plain(value[name]) for name in value.dtype.names or ()}


def _segment_json(segment: Segment) -> dict[str, Any]:
    point = segment.hit_point
    return {
        "origin": _plain(segment.origin),
        "direction": _plain(segment.direction),
        "t_max": _plain(segment.t_max),
        "any_hit": segment.any_hit,
        "visits": [
            {
                "cell": list(visit.cell),
                "box": _plain(visit.box),
                "t_enter": _plain(visit.t_enter),
                "t_exit": _plain(visit.t_exit),
                "candidates": visit.candidates,
            }
            for visit in segment.visits
        ],
        "tests": [
            {"triangle": test.triangle, "corners": _plain(test.corners), "nearest": test.nearest}
            for test in segment.tests
        ],
        "t_hit": segment.t_hit,
        "triangle": segment.triangle,
        "barycentric": list(segment.barycentric) if segment.barycentric is not None else None,
        "hit_point": None if point is None else _plain(point),
    }
