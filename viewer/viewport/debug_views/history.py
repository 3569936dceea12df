"""A ray's history as data: the changes by every pass, its path in space, and the table and JSON of both."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.sampling.picture import COUNTED_LAYERS
from raystream.viewport.debug_views.false_color import FARTHEST

COLUMNS = ("pass", "state", "kernel", "exit", "next", "changes")


@dataclass(frozen=True)
class Change:
    """A record's field changed by a pass; ``before`` is None for a record never written before."""

    stream: str
    field: str
    before: Any
    after: Any

    def text(self) -> str:
        """``traversal.voxel (3, 4, 5) -> (3, 4, 6)``, or ``traversal.voxel = (3, 4, 6)``."""
        name = f"{self.stream}.{self.field}"
        if self.before is None:
            return f"{name} = {_text(self.after)}"
        return f"{name} {_text(self.before)} -> {_text(self.after)}"


@dataclass(frozen=True)
class Row:
    """One pass of the ray, which is one kernel call.

    exits  : the exit taken; several if they lead to the same state. next : the state after, or ``done``. triangle : the
    number of the triangle tested, if any.
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
    """A triangle tested: its corners (3, 3) float32, in its segment's space, and whether it became the nearest hit."""

    __test__ = False  # not a test of pytest

    triangle: int
    corners: NDArray[np.float32]
    nearest: bool


@dataclass(frozen=True)
class TraversalStep:
    """A traversal step: the voxel by its indices or the node by its number, its box (2, 3) float64 in the ray's space,
    the ray's entry and exit distances, and the triangles to test there."""

    cell: tuple[int, ...]
    box: NDArray[np.float64]
    t_enter: float
    t_exit: float
    candidates: int


@dataclass
class Segment:
    """One ray of the history: direction, visited cells, tested triangles.

    origin, direction : (3,) float32. t_hit, triangle, barycentric : of the nearest hit, None without. Under a two-level
    structure it is in the space of an ``instance``'s object, with ``to_world`` (4, 4); else in world space, with a unit
    direction.
    """

    origin: NDArray[np.float32]
    direction: NDArray[np.float32]
    t_max: float
    any_hit: bool
    visits: list[TraversalStep] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    t_hit: float | None = None
    triangle: int | None = None
    barycentric: tuple[float, float] | None = None
    instance: int | None = None
    to_world: NDArray[np.float64] = field(default_factory=lambda: np.eye(4))

    def world(self, points: NDArray) -> NDArray[np.float64]:
        """(..., 3): points of the segment's space in world space."""
        return points.astype(np.float64) @ self.to_world[:3, :3].T + self.to_world[:3, 3]

    def at(self, t: float) -> NDArray[np.float64]:
        """(3,): the point at a distance."""
        return self.origin.astype(np.float64) + t * self.direction.astype(np.float64)

    @property
    def hit_point(self) -> NDArray[np.float64] | None:
        """(3,): the ray's hit; None for a miss."""
        return None if self.t_hit is None else self.at(self.t_hit)

    @property
    def span(self) -> tuple[float, float] | None:
        """Range of the ray's distances in cells; None if it misses the scene's box."""
        inside = [visit for visit in self.visits if visit.t_enter <= visit.t_exit]
        return (min(v.t_enter for v in inside), max(v.t_exit for v in inside)) if inside else None


@dataclass(frozen=True)
class PixelSurface:
    """The surface at a pixel: the triangle by its number in the scene, the instance by its number and name, the
    distance in scene units."""

    triangle: int
    instance: int
    name: str
    distance: float

    def text(self) -> str:
        """``front wall, triangle 12 at 3.25``."""
        return f"{self.name}, triangle {self.triangle} at {self.distance:.6g}"


@dataclass
class Probe:
    """A ray's history, ``complete`` or so far.

    surface : first hit of the camera ray, in any program; None before it, and for a miss.

    calls : kernel calls by state, as counted by the machine; equal to the number of rows. results : the ray's final
    records, by stream. states : the program's, in its order.
    """

    pixel: tuple[int, int]
    size: tuple[int, int]
    program: str
    states: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    results: dict[str, np.void] = field(default_factory=dict)
    surface: PixelSurface | None = None
    complete: bool = False

    def counted(self, layer: str) -> int:
        """Kernel calls in a layer of the picture: 'steps' or 'tests'."""
        return self.calls.get(COUNTED_LAYERS[layer], 0)

    @property
    def steps(self) -> int:
        """Traversal steps."""
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

    def table(self, first: int = 0) -> list[tuple[str, ...]]:
        """A row of text for each pass, in the `COLUMNS`; from row ``first`` on, for a growing history."""
        out: list[tuple[str, ...]] = []
        for row in self.rows[first:]:
            changed = [change.text() for change in row.changes]
            if row.triangle is not None:
                changed.insert(0, f"tests triangle {row.triangle}")
            exits = " or ".join(row.exits)
            out.append((str(row.number), row.state, row.kernel, exits, row.next, "; ".join(changed)))
        return out

    def to_json(self) -> dict[str, Any]:
        """Everything as data for `json.dumps`; non-finite numbers as text."""
        return {
            "pixel": list(self.pixel),
            "size": list(self.size),
            "program": self.program,
            "complete": self.complete,
            "surface": None if self.surface is None else asdict(self.surface),
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
