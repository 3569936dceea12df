"""The pixel probe: the whole history of one ray on the dissertation's machine, pass by pass, and its path in space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from raystream import kernels
from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import grid
from raystream.accel.two_level.structure import TwoLevel
from raystream.base.errors import ViewerError
from raystream.kernels import HIT, RAY
from raystream.options.values import PolicyChoice, Unroll
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.picture import COUNTER_LAYERS
from raystream.scene.camera import Camera
from raystream.scene.geometry.triangles import Triangles
from raystream.stream.declare.kernel import Module, ModuleState, Table
from raystream.stream.declare.program import DONE, RETURN, Call, Program, State, Target
from raystream.stream.declare.record import Record
from raystream.stream.machines.multipass import Multipass
from raystream.viewport.debug_views.false_color import MAX_DISTANCE
from raystream.viewport.debug_views.inspector import load_camera_rays, program_form, single_step

# -- a ray's history as data: the changes by every pass, its path in space, and the table of both -------------

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
    """A traversal step: the voxel by its indices or the node by its index, its box (2, 3) float64 in the ray's space,
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
    """The surface at a pixel: the triangle by its index in the scene, the instance by its index and name, the
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

    @property
    def steps(self) -> int:
        """Traversal steps."""
        return self.calls.get(COUNTER_LAYERS["steps"], 0)

    @property
    def tests(self) -> int:
        """Ray-triangle tests."""
        return self.calls.get(COUNTER_LAYERS["tests"], 0)

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


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"({', '.join(_text(component) for component in value)})"
    if isinstance(value, np.floating):
        return "far" if abs(float(value)) >= MAX_DISTANCE else f"{float(value):.6g}"
    return str(value)


# -- a ray's traversal, read from its structure's record: the visited box, the next triangle to test -------------------


class GridTraversals:
    """Those of the uniform grid (`raystream.accel.grid.grid`), from the same arrays that its module uploads."""

    def __init__(self, module: Module, triangles: NDArray[np.integer]) -> None:
        self.triangles = triangles
        lists = next(m for m in module.memories if isinstance(m, Table) and m.name == "grid_lists")
        self.entries = lists.data["entry"]
        self.low = np.asarray(module.uniforms["grid_low"][1], np.float64)
        self.voxel = np.asarray(module.uniforms["grid_voxel"][1], np.float64)

    def box(self, cell: NDArray[np.integer]) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner of a voxel, world space."""
        return self.low + np.stack([cell, cell + 1]) * self.voxel

    def visit(self, ray: Segment, before: np.void, after: np.void, opened: bool) -> TraversalStep:
        """Visits the voxel in ``before``; ``after`` has its exit and its list."""
        cell = before["voxel"].astype(np.int64)
        box, t_enter = self.box(cell), float(before["t_exit"])
        if not ray.visits:
            planes = (box - ray.origin.astype(np.float64)) * before["inverse"].astype(np.float64)
            t_enter = max(0.0, float(planes.min(axis=0).max()))
        first = last = int(after["list"])
        while first >= 0 and self.entries[last] >= 0:
            last += 1
        candidates = last - first + 1 if first >= 0 else 0
        return TraversalStep(tuple(map(int, cell)), box, t_enter, float(after["t_exit"]), candidates)

    def candidate(self, before: np.void) -> int:
        """The current entry of the traversal's list; a list's last is stored as -n - 1."""
        entry = int(self.entries[before["list"]])
        return int(self.triangles[-entry - 1 if entry < 0 else entry])


class BvhTraversals:
    """Those of the stackless bounding volume hierarchy (`raystream.accel.bvh_tree`): the state is one node's number."""

    def __init__(self, module: Module, triangles: NDArray[np.integer]) -> None:
        self.triangles = triangles
        self.nodes = next(m for m in module.memories if isinstance(m, Table) and m.name == "bvh_nodes").data

    def visit(self, ray: Segment, before: np.void, after: np.void, opened: bool) -> TraversalStep:
        """Visits the node in ``before``; ``after`` has a leaf's triangles. A missed box, or one beyond the nearest hit,
        has an exit before its entry, and nothing to test."""
        index = int(before["node"])
        node = self.nodes[index]
        box = np.stack([node["low"], node["high"]]).astype(np.float64)
        direction = ray.direction.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            planes = (box - ray.origin.astype(np.float64)) / direction
        ends = np.sort(planes, axis=0)
        nearest = ray.t_max if ray.t_hit is None else ray.t_hit
        t_enter, t_exit = max(0.0, float(np.nanmax(ends[0]))), min(nearest, float(np.nanmin(ends[1])))
        if not opened:
            return TraversalStep((index,), box, t_enter, t_exit, 0)
        # Traversal decides in float32: float64 may miss a flat box by rounding.
        candidates = int(after["stop"]) - int(after["candidate"])
        return TraversalStep((index,), box, t_enter, max(t_enter, t_exit), candidates)

    def candidate(self, before: np.void) -> int:
        """The triangle at the traversal's next address."""
        return int(self.triangles[before["candidate"]])


def traversals(modules: Sequence[Module]) -> Traversals | None:
    """The reader of the structure among the modules; None for unknown records."""
    tables = {m.name: m.data for module in modules for m in module.memories if isinstance(m, Table)}
    if "triangles" not in tables:
        return None
    triangles = tables["triangles"]["number"]
    if "quadrics" in tables:  # whose rows have the number -n - 1
        triangles = np.where(triangles < 0, tables["quadrics"]["number"][np.maximum(-1 - triangles, 0)], triangles)
    for record, reader in READERS:
        state_module = next((m for m in modules if m.module_state == record), None)
        if state_module is not None:
            return reader(state_module, triangles)
    return None


Traversals = GridTraversals | BvhTraversals
READERS = (grid.TRAVERSAL, GridTraversals), (bvh.NODE_TRAVERSAL, BvhTraversals)  # of traversal records


# -- the pixel probe ---------------------------------------------------------------------------------------------------


def probe(renderer: Renderer, camera: Camera, size: tuple[int, int], pixel: tuple[int, int]) -> Probe:
    """The history of the ray through ``pixel`` (column, row) of the renderer's picture of ``size`` (width, height).

    The ray goes through the centre of the pixel and of the lens: it represents the pixel, which a progressive program's
    samples may miss.

    Raises ViewerError for a pixel outside of the picture.
    """
    *_, history = probing(renderer, camera, size, pixel)
    return history


def probing(renderer: Renderer, camera: Camera, size: tuple[int, int], pixel: tuple[int, int]) -> Iterator[Probe]:
    """`probe` in pieces: yields the same Probe after every pass, and may be abandoned at any yield.

    One at a time per renderer: its single-ray streams and compiled kernels are kept until `forget`.
    """
    x, y = int(pixel[0]), int(pixel[1])
    if not (0 <= x < size[0] and 0 <= y < size[1]):
        raise ViewerError(f"pixel {x}, {y}", f"is not in a picture of {size[0]} x {size[1]}", "column and row from 0")
    with renderer.device.current():
        machine = _machine(renderer)
        load_camera_rays(machine, renderer, camera, size, (x, y), centred=True)
        history = _History(
            machine, renderer, Probe((x, y), size, renderer.settings.program, tuple(machine.linked.program.by_name))
        )
    run, passes = machine.run(), 0
    while True:
        with renderer.device.current():
            if next(run, None) is None:
                break
            done = machine.stats.passes
            if len(done) == passes or not done[-1].fragments:  # passes without the ray are not part of its history
                passes = len(done)
                continue
            passes = len(done)
            history.note(done[-1].step)
        yield history.probe
    with renderer.device.current():
        history.finish()
    yield history.probe


_machines: WeakKeyDictionary[Renderer, dict[tuple[Any, ...], Multipass]] = WeakKeyDictionary()


def _machine(renderer: Renderer) -> Multipass:
    machines = _machines.setdefault(renderer, {})
    key = program_form(renderer)
    if key not in machines:
        machines[key] = single_step(renderer, (1, 1), PolicyChoice("naive"), Unroll((1,)))
    return machines[key]


def forget(renderer: Renderer) -> None:
    """Recompile for the next probe, as kernels have been edited."""
    for machine in _machines.pop(renderer, {}).values():
        with renderer.device.current():
            machine.release()


class _History:
    """Records the changes of each pass to the ray."""

    def __init__(self, machine: Multipass, renderer: Renderer, empty: Probe) -> None:
        self.machine, self.probe, self.prepared = machine, empty, renderer.prepared
        self.program: Program = machine.linked.program
        flat = renderer.prepared.structure.levels == 1  # two levels have no flattened scene
        self.triangles: Triangles | None = renderer.prepared.triangles if flat else None
        self.two: TwoLevel | None = None if flat else renderer.prepared.structure.built
        self.traversals: Traversals | None = traversals(renderer.prepared.modules(stepwise=True))
        self.states = ("done", *self.program.by_name)
        self.back = machine.linked.start_indices()[1]
        self.elements = {name: machine.streams[name].read()[0, 0] for name in self.program.inputs}
        self.stores = {step.name: step.stores for step in machine.passes}
        self.untraversed: np.void | None = None
        self.hits = next((name for name, record in machine.linked.records.items() if record == HIT), None)
        self.looking = True  # before the camera ray's hit

    def note(self, name: str) -> None:
        """Record a pass of state ``name`` with the ray in it."""
        state = self.program.by_name[name]
        before = dict(self.elements)
        for stream in self.stores[name]:
            self.elements[stream] = self.machine.streams[stream].read()[0, 0]
        at, back = (int(value) for value in self.machine.state.read()[0, 0])
        exits = tuple(exit for exit, target in state.exits.items() if self._leads(target) == (at, back))
        if self.looking and any(state.exits[exit] is RETURN for exit in exits):
            self.looking, self.probe.surface = False, self._surface()
        traversal, tested = self._stream(state, kernels.TRAVERSAL), None
        if name == COUNTER_LAYERS["tests"] and traversal is not None and self.traversals is not None:
            tested = self.traversals.candidate(before[traversal])
        changes = tuple(
            Change(stream, field_name, before[stream][field_name] if stream in before else None, now[field_name])
            for stream, now in self.elements.items()
            for field_name in now.dtype.names or ()
            if stream not in before or before[stream][field_name].tobytes() != now[field_name].tobytes()
        )
        row = Row(len(self.probe.rows) + 1, name, state.kernel.name, exits, self.states[at], changes, tested)
        self.probe.rows.append(row)
        self.back = back
        self._draw(state, before, tested, opened=self.states[at] == COUNTER_LAYERS["tests"])

    def finish(self) -> None:
        """Complete the history."""
        probe = self.probe
        probe.calls = {state: int(counts[0, 0]) for state, counts in self.machine.calls().items()}
        probe.results = {name: self.machine.read(name)[0, 0] for name in self.program.results}
        if not probe.segments and self.untraversed is not None:  # it misses the scene's box
            probe.segments.append(_segment(self.untraversed))
        probe.complete = True

    def _surface(self) -> PixelSurface | None:
        """The surface of the nearest hit, at the end of a traversal."""
        hit = self.elements.get(self.hits) if self.hits is not None else None
        if hit is None or hit["triangle"] < 0:
            return None
        triangle, instance = self.prepared.triangle_indices(hit), self.prepared.instance_indices(hit)
        placed = self.prepared.scene.instances[instance]
        name = placed.name or self.prepared.scene.meshes[placed.mesh].name or f"object {instance}"
        return PixelSurface(int(triangle), int(instance), name, float(hit["t"]))

    def _leads(self, target: Target) -> tuple[int, int]:
        """State and return state behind an exit."""
        if target is RETURN:
            return self.back, self.back
        if isinstance(target, Call):
            return self.program.number(target.state), 0 if target.then is DONE else self.program.number(target.then)
        return self.program.number(target), self.back

    # -- its way in space ------------------------------------------------------------------------------------------

    def _draw(self, state: State, before: Mapping[str, np.void], tested: int | None, opened: bool) -> None:
        ray, traversal, hit = (self._stream(state, record) for record in (RAY, kernels.TRAVERSAL, HIT))
        if ray is not None and ray in state.writes():
            self.untraversed = self.elements[ray]
        if traversal is not None and traversal in state.writes() and traversal not in state.reads():
            self.untraversed = None
            if ray is not None:
                self.probe.segments.append(self._begun(ray))
        if traversal is None or not self.probe.segments:
            return
        segment = self.probe.segments[-1]
        if state.name == COUNTER_LAYERS["steps"] and self.traversals is not None:
            segment.visits.append(self.traversals.visit(segment, before[traversal], self.elements[traversal], opened))
        if hit is not None and hit in state.writes():
            now = self.elements[hit]
            if tested is not None:
                nearest = int(now["triangle"]) == tested and before[hit].tobytes() != now.tobytes()
                segment.tests.append(Test(tested, self._corners(tested, segment), nearest))
            if now["triangle"] >= 0 and segment.instance in (None, int(now["instance"])):
                u, v = (float(weight) for weight in now["barycentric"])
                segment.t_hit, segment.triangle, segment.barycentric = float(now["t"]), int(now["triangle"]), (u, v)

    def _begun(self, ray: str) -> Segment:
        """The ray at the start of a traversal; in two levels in the space of the instance's object."""
        if self.two is None:
            return _segment(self.elements[ray])
        instance = int(self.elements["top"]["instance"])
        segment, row = _segment(self.elements[ray]), self.two.table.data[instance]
        segment.instance = instance
        for axis, name in enumerate("xyz"):
            segment.to_world[axis, :3] = row[f"linear_{name}"]
            segment.to_world[axis, 3] = row[f"inverse_{name}"][3]
        return segment

    def _corners(self, triangle: int, segment: Segment) -> NDArray[np.float32]:
        """(3, 3) of a triangle, in the segment's space."""
        if self.two is None or segment.instance is None:
            assert self.triangles is not None
            return self.triangles.positions[self.triangles.triangles[triangle]]
        index = int(self.two.objects.object_of[segment.instance])
        corners = self.two.objects.corners[index][triangle]
        # A quadric's placeholder has no area.
        return corners if self.two.objects.quadrics[index] is None else corners[[0, 0, 0]]

    @staticmethod
    def _stream(state: State, record: Record | ModuleState) -> str | None:
        """The stream of the state's argument of a record; the last of several."""
        names = [state.stream_of(a.name) for a in state.kernel.arguments if a.record == record]
        return names[-1] if names else None


def _segment(ray: np.void) -> Segment:
    return Segment(ray["origin"].copy(), ray["direction"].copy(), float(ray["t_max"]), bool(int(ray["any_hit"]) & 1))
