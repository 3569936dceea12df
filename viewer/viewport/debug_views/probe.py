"""The pixel probe: the whole history of one ray on the dissertation's machine, pass by pass, and its path in space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from raystream import kernels
from raystream.accel.two_level.structure import TwoLevel
from raystream.base.errors import ViewerError
from raystream.kernels import HIT, RAY
from raystream.options.named_values import PolicyChoice, Unroll
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.picture import COUNTED_LAYERS
from raystream.scene.camera import Camera
from raystream.scene.geometry.triangles import Triangles
from raystream.stream.declare.kernel import ModuleState
from raystream.stream.declare.program import DONE, RETURN, Call, Program, State, Target
from raystream.stream.declare.record import Record
from raystream.stream.machines.multipass import Multipass
from raystream.viewport.debug_views.history import COLUMNS, Change, PixelSurface, Probe, Row, Segment, Test
from raystream.viewport.debug_views.single_step import fill, program_form, single_step
from raystream.viewport.debug_views.traversals import Traversals, traversals

__all__ = ["COLUMNS", "Probe", "forget", "probe", "probing"]


def probe(renderer: Renderer, camera: Camera, size: tuple[int, int], pixel: tuple[int, int]) -> Probe:
    """The history of the ray through ``pixel`` (column, row) of the renderer's picture of ``size`` (width, height).

    The ray goes through the centre of the pixel and of the lens: it represents the pixel, which a progressive program's
    samples may miss.

    Raises ViewerError for a pixel outside of the picture.
    """
    *_, found = probing(renderer, camera, size, pixel)
    return found


def probing(renderer: Renderer, camera: Camera, size: tuple[int, int], pixel: tuple[int, int]) -> Iterator[Probe]:
    """`probe` in pieces: yields the same Probe after every pass, and may be abandoned at any yield.

    One at a time per renderer: its single-ray streams and compiled kernels are kept until `forget`.
    """
    x, y = int(pixel[0]), int(pixel[1])
    if not (0 <= x < size[0] and 0 <= y < size[1]):
        raise ViewerError(f"pixel {x}, {y}", f"is not in a picture of {size[0]} x {size[1]}", "column and row from 0")
    with renderer.device.current():
        machine = _machine(renderer)
        fill(machine, renderer, camera, size, (x, y), centred=True)
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
        self.back = machine.linked.start_numbers()[1]
        self.held = {name: machine.streams[name].read()[0, 0] for name in self.program.inputs}
        self.stores = {step.name: step.stores for step in machine.passes}
        self.untraversed: np.void | None = None
        self.hits = next((name for name, record in machine.linked.records.items() if record == HIT), None)
        self.looking = True  # before the camera ray's hit

    def note(self, name: str) -> None:
        """Record a pass of state ``name`` with the ray in it."""
        state = self.program.by_name[name]
        before = dict(self.held)
        for stream in self.stores[name]:
            self.held[stream] = self.machine.streams[stream].read()[0, 0]
        at, back = (int(number) for number in self.machine.state.read()[0, 0])
        exits = tuple(exit for exit, target in state.exits.items() if self._leads(target) == (at, back))
        if self.looking and any(state.exits[exit] is RETURN for exit in exits):
            self.looking, self.probe.surface = False, self._surface()
        tested = self._tested(state, before)
        changes = tuple(self._changes(before))
        row = Row(len(self.probe.rows) + 1, name, state.kernel.name, exits, self.states[at], changes, tested)
        self.probe.rows.append(row)
        self.back = back
        self._draw(state, before, tested, opened=self.states[at] == COUNTED_LAYERS["tests"])

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
        hit = self.held.get(self.hits) if self.hits is not None else None
        if hit is None or hit["triangle"] < 0:
            return None
        triangle, instance = self.prepared.triangle_numbers(hit), self.prepared.instance_numbers(hit)
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
        stream = self._stream(state, kernels.TRAVERSAL)
        if state.name != COUNTED_LAYERS["tests"] or stream is None or self.traversals is None:
            return None
        return self.traversals.candidate(before[stream])

    def _draw(self, state: State, before: Mapping[str, np.void], tested: int | None, opened: bool) -> None:
        ray, traversal, hit = (self._stream(state, record) for record in (RAY, kernels.TRAVERSAL, HIT))
        if ray is not None and ray in state.writes():
            self.untraversed = self.held[ray]
        if traversal is not None and traversal in state.writes() and traversal not in state.reads():
            self.untraversed = None
            if ray is not None:
                self.probe.segments.append(self._begun(ray))
        if traversal is None or not self.probe.segments:
            return
        segment = self.probe.segments[-1]
        if state.name == COUNTED_LAYERS["steps"] and self.traversals is not None:
            segment.visits.append(self.traversals.visit(segment, before[traversal], self.held[traversal], opened))
        if hit is not None and hit in state.writes():
            now = self.held[hit]
            if tested is not None:
                nearest = int(now["triangle"]) == tested and before[hit].tobytes() != now.tobytes()
                segment.tests.append(Test(tested, self._corners(tested, segment), nearest))
            if now["triangle"] >= 0 and segment.instance in (None, int(now["instance"])):
                u, v = (float(weight) for weight in now["barycentric"])
                segment.t_hit, segment.triangle, segment.barycentric = float(now["t"]), int(now["triangle"]), (u, v)

    def _begun(self, ray: str) -> Segment:
        """The ray at the start of a traversal; in two levels in the space of the instance's object."""
        if self.two is None:
            return _segment(self.held[ray])
        instance = int(self.held["top"]["instance"])
        segment, row = _segment(self.held[ray]), self.two.table.data[instance]
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
        number = int(self.two.objects.of[segment.instance])
        corners = self.two.objects.corners[number][triangle]
        # A quadric's placeholder has no area.
        return corners if self.two.objects.quadrics[number] is None else corners[[0, 0, 0]]

    @staticmethod
    def _stream(state: State, record: Record | ModuleState) -> str | None:
        """The stream of the state's argument of a record; the last of several."""
        found = [state.stream_of(a.name) for a in state.kernel.arguments if a.record == record]
        return found[-1] if found else None


def _segment(ray: np.void) -> Segment:
    return Segment(ray["origin"].copy(), ray["direction"].copy(), float(ray["t_max"]), bool(int(ray["any_hit"]) & 1))
