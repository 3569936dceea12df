"""The multipass machine of Purcell's dissertation (2004, chapters 4 and 5): a kernel is a fragment program over a quad.

A mask restricts each pass to the rays in its state; the host chooses the next pass by a policy, until no ray is left.
Waiting for the device is the main cost. With occlusion queries (`--count query`) every pass of a `Sweep` counts its
rays, read one round late; a pass without any ray for sure is skipped by conditional rendering. Kernel by kernel, on a
software driver, it is read at once, and a pass is drawn only where rays can have come to by the exits of those before
it. With a *census*
(`--count census`) rays are counted per tile of the stream after several rounds, and passes are then drawn only on tiles
with rays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.stream.compile.generate import Form, outputs
from raystream.stream.compile.link import LinkedProgram, Step, innermost, origin
from raystream.stream.compile.source import Source
from raystream.stream.declare.program import DONE, entry_state
from raystream.stream.declare.record import SMALL, Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import STATE_WORDS, Machine, RunProgress, Unroll
from raystream.stream.machines.counters import KernelPass, Stats
from raystream.stream.machines.mask import DEPTH_OF_STEP, MASKS, MAX_TILE_FRACTION, Census, Mask, Queries, waiting
from raystream.stream.machines.policy import Policy, Sweep

# -- copies for drivers without a texture barrier, where a pass cannot read its own output -----------------------------
# Kernels write to a second set of textures, and a copy pass copies it back for the same rays.


def copy_source(linked: LinkedProgram, step: Step, form: Form) -> Source:
    """The pass that copies the output of a step's kernel to the textures that the next one reads."""
    names = outputs(linked, step, form)
    source = Source.begin()
    conditions = " || ".join(f"state == {linked.program.number(s)}" for s in step.states)
    if form.discards:
        source.add("uniform sampler2D in_before;", "copy")
    for location, name in enumerate(names):
        source.add(f"uniform sampler2D in_{name};\nlayout(location = {location}) out vec4 out_{name};", "copy")
    source.add("void main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);", "copy")
    if form.discards:
        source.add("    int state = int(texelFetch(in_before, at, 0).x);", "copy")
        source.add(f"    if (!({conditions})) discard;", "copy")
    for name in names:
        source.add(f"    out_{name} = texelFetch(in_{name}, at, 0);", "copy")
    source.add("}", "copy")
    return source


def snapshot_source() -> Source:
    """The pass of `Snapshot`."""
    source = Source.begin()
    source.add("uniform sampler2D in_state;\nout vec4 before;", "snapshot")
    source.add("void main() { before = texelFetch(in_state, ivec2(gl_FragCoord.xy), 0); }", "snapshot")
    return source


class Snapshot:
    """The states of all rays before a pass: without a mask they identify the rays of the copy pass."""

    def __init__(self, device: Device, states: Stream, tiles: Tiles) -> None:
        self.states = states
        self._drawing = Drawing(device, Shader(device, snapshot_source()), tiles)
        self._target = device.context.framebuffer(states.textures)

    @property
    def texture(self) -> moderngl.Texture:
        """The texture, filled by `take`."""
        return self.states.textures[0]

    def take(self, state: Stream, prepare: Callable[[moderngl.Framebuffer], None]) -> None:
        """Copy the states of the alive tiles. prepare : sets up drawing to a framebuffer under the mask."""
        prepare(self._target)
        self._drawing.shader.bind("in_state", state.textures[0])
        self._drawing.render()


# -- a compiled step: one kernel pass with its inputs and outputs ------------------------------------------------------


class StepPass:
    """The shader, targets and samplers of a step, with its ``index`` in the mask.

    parts : shaders with their targets; one, unless a step has more textures than the device's passes can write: then
    each writes some, and all read the state before the first (``copies``). copied : copies each part back. loops : a
    pass may call it more than once. words : read and written by a ray.
    """

    def __init__(self, machine: Machine, mask: Mask, tiles: Tiles, copies: bool, step: Step, index: int) -> None:
        self.mask, self.copies = mask, copies
        self.step, self.index = step, index
        device = machine.device
        max_outputs, rounds = device.outputs, device.limits is not None and device.limits.rounds
        self.form = Form(True, mask.discards, rounds=rounds, software=device.software_form)
        names = outputs(machine.linked, step, self.form)
        self.forms = [self.form]
        if len(names) > max_outputs:
            assert copies, "passes that write in place would change the next part's input"
            self.forms = [
                replace(self.form, stores=tuple(names[k : k + max_outputs])) for k in range(0, len(names), max_outputs)
            ]
        self.drawings = [Drawing(device, machine._compile(step, form), tiles) for form in self.forms]
        self.counts = machine._count_drawings(step, self.form, tiles)
        program = machine.linked.program
        self.loops = step.iterates or (not step.fused and step.name in program.looping_states())
        self.words = (
            len(self.forms) * (sum(4 * machine.linked.records[s].texels for s in step.loads) + STATE_WORDS),
            sum(4 * machine.linked.records[s].texels for s in step.stores) + STATE_WORDS,
        )
        self.copies_back = [
            Drawing(device, Shader(device, copy_source(machine.linked, step, form)), tiles)
            for form in (self.forms if copies else ())
        ]
        for drawing in (*self.drawings, *self.counts, *self.copies_back):
            drawing.shader.set("depth", index * DEPTH_OF_STEP)
        self.attach(machine)

    def attach(self, machine: Machine) -> None:
        """Bind the textures of the machine's streams. No reference to the machine, which would be a cycle."""
        step, form, attach = self.step, self.form, self.mask.attach
        self.samplers = machine._samplers(step, form)
        targets = [attach(machine._targets(step, form, back=self.copies)) for form in self.forms]
        self.parts = list(zip(self.drawings, targets, strict=True))
        parts = machine.linked.count_parts(step) if self.counts else ()
        self.count_targets = [attach([machine.counts[f"count_{k}"].textures[0] for k in p]) for p in parts]
        self.copied = []
        for drawing, part in zip(self.copies_back, self.forms if self.copies else (), strict=True):
            names, written = outputs(machine.linked, step, part), machine._targets(step, part, back=True)
            samplers = [(f"in_{n}", t) for n, t in zip(names, written, strict=True)]
            self.copied.append((drawing, samplers, attach(machine._targets(step, part))))


# -- the passes of the multipass machine: a kernel each, drawn as a quad behind the mask of its state ------------------
# Purcell 2004, chapters 4 and 5; `Multipass` chooses the next pass.

STATE = Record(
    "State",
    Field("at", "int", about="0: done", within=SMALL),
    Field("back", "int", about="state after a RETURN", within=SMALL),
)
UNLIMITED = 1 << 20
ITERATIONS_PER_PASS = (
    32  # of a whole program per pass: few enough for short passes, enough that lanes rarely wait for each other
)


class PassMachine(Machine):
    """A machine whose rays keep their state in a stream between passes.

    Without a texture barrier on the device, kernels write to a second set of textures and a copy pass follows.
    """

    def _set_up(self) -> None:
        device, linked, size = self.device, self.linked, self.size
        self.unroll = self.options.unroll
        self.barrier = device.texture_barrier
        self.copies = self.barrier is None
        self.steps = linked.steps(self.options.fuse, device.software_form)
        self._create_streams(self._streams_between_passes(self.steps))
        self.state = self.streams["state"] = self._owned_streams["state"] = Stream(device, STATE, size, channels=2)
        self._create_counts()
        self.tiles = Tiles(device, size, self.options.tile)
        self.tiles.set_alive(None)
        self.mask = MASKS[self.options.mask](device, linked, self.steps, self.state, self.tiles)
        self.passes = {
            step: StepPass(self, self.mask, self.tiles, self.copies, step, index)
            for index, step in enumerate(self.steps, 1)
        }
        self.queries = Queries(device)
        self.snapshot: Snapshot | None = None
        if self.copies and self.mask.discards:
            self._owned_streams["before"] = Stream(device, STATE, size, channels=2)
            self.snapshot = Snapshot(device, self._owned_streams["before"], self.tiles)

    def _streams_between_passes(self, steps: Sequence[Step]) -> dict[str, Record]:
        """The streams loaded or stored by a step; the others exist inside fused groups alone."""
        program = self.linked.program
        used = {s for step in steps for s in (*step.loads, *step.stores)} | {*program.inputs, *program.results}
        return {name: record for name, record in self.linked.records.items() if name in used}

    @property
    def unroll(self) -> Unroll:
        """The limit of kernel calls in a pass, as set: see `MachineOptions`."""
        return self._unroll

    @unroll.setter
    def unroll(self, unroll: Unroll) -> None:
        """Raises ViewerError for less than one call in a pass, which would never end."""
        looping = self.linked.program.looping_states()
        self._unroll, self.calls_in_pass = unroll, dict.fromkeys(looping, UNLIMITED)
        if isinstance(unroll, str):  # auto: fewer passes have always been worth their idle lanes
            return
        counts = [unroll] if isinstance(unroll, int) else [int(n) for n in unroll]
        if not counts or min(counts) < 1:
            raise ViewerError("--unroll", f"{unroll} calls in a pass", "1 or more for each looping state, or 'auto'")
        counts += [counts[-1]] * (len(looping) - len(counts))
        self.calls_in_pass = dict(zip(looping, counts, strict=False))

    def _attach(self) -> None:
        for entry in self.passes.values():
            entry.attach(self)

    def release(self) -> None:
        """Free its own streams, masks and targets."""
        super().release()
        self.mask.release()

    # -- for the host loop -----------------------------------------------------------------------------------------

    def _start(self, rays: int) -> None:
        self.state.clear()
        state, caller = self.linked.start_indices()
        if rays:
            self.state.clear([(state, caller, 0.0, 0.0)], rays)
            if self.chosen is not None:
                self.ray_selection.finish(self.chosen, self.state)
        if self.counting:
            self._clear_counts()
            self._calls_before = dict.fromkeys((s.name for s in self.linked.counted.states), 0)

    def _any_ray_left(self) -> bool:
        """Whether a ray is still in some state, as after a fused pass ended early by the driver."""
        return bool(self.state.read_texels()[..., 0].any())

    def _barrier_before_reads(self) -> None:
        """Make earlier writes visible to passes that read the texels which they write."""
        if self.barrier is not None:
            self.barrier()

    def _draw(
        self,
        entry: StepPass,
        masked: bool = False,
        query: Query | None = None,
        conditional: bool = False,
        tile_queries: Sequence[Query] = (),
    ) -> int:
        """Mask (unless already ``masked``), kernel pass inside a ``query`` or with ``tile_queries``, one for each
        tile, and the copy back where there is no barrier. ``conditional``: only if a count pass finds a ray; the query
        is then around the count pass.

        Returns the number of rays of the pass, if the machine is counting.
        """
        if not masked:  # else nothing was written since the count passes
            self._barrier_before_reads()
        if self.snapshot is not None:
            self.snapshot.take(self.state, lambda target: self._prepare(target, entry.index))
            self.mask.leave()
        self._bind(entry)
        if conditional and query is not None:
            if self.mask.covers_all_steps:
                self.mask.select(entry.index)
            self.mask.count(entry.index, query)
            condition = query.crender
            assert condition is not None
            with condition:
                self._draw_kernel(entry)
                self._copy_back(entry)
            return 0
        if not masked:
            self.mask.select(entry.index)
        for drawing, target in zip(entry.counts, entry.count_targets, strict=True):
            self._prepare(target, entry.index)
            self._count(drawing, entry.samplers)
            self.mask.leave()
        if self.counting:
            query = Query(self.device, samples=not tile_queries, time=True)
        self._draw_kernel(entry, query, tile_queries)
        self._copy_back(entry)
        if not self.counting or query is None:
            return 0
        fragments = sum(int(one.samples) for one in tile_queries or (query,))
        calls = self._calls_since_last(entry) if self._calls(entry) > 1 or entry.step.fused else fragments
        read, written = entry.words
        seconds = query.elapsed * 1e-9
        self.stats.passes.append(
            KernelPass(entry.step.name, fragments, calls, seconds, fragments * read, fragments * written)
        )
        return fragments

    def _calls(self, entry: StepPass) -> int:
        """The limit of kernel calls in one pass, or, of a step that iterates, of iterations of the whole program."""
        if entry.step.iterates:
            first = next(iter(self.calls_in_pass.values()), UNLIMITED)
            return self._within_draw_time(entry, ITERATIONS_PER_PASS) if isinstance(self.unroll, str) else first
        calls = self.calls_in_pass.get(entry.step.name, 1) if entry.loops else 1
        return self._within_draw_time(entry, calls) if isinstance(self.unroll, str) else calls

    def _within_draw_time(self, entry: StepPass, calls: int) -> int:
        """``calls``, or fewer where even the smallest part of the pass takes too long for one draw."""
        parts = entry.drawings[0].shader.parts
        return calls if parts is None or parts.sizes.iterations is None else min(calls, parts.sizes.iterations)

    def _bind(self, entry: StepPass) -> None:
        if entry.loops:
            for drawing in (*entry.drawings, *entry.counts):
                drawing.shader.set("unroll", self._calls(entry))

    def _draw_kernel(self, entry: StepPass, query: Query | None = None, tile_queries: Sequence[Query] = ()) -> None:
        """Draw the kernel, inside a ``query``, or with ``tile_queries``, one for each tile.

        llvmpipe compiles a program separately for draws inside and outside queries, which would delay the first such
        pass by a second: there all passes are inside one, those of `warm` and conditional ones too.
        """
        unread_query = self.queries.take() if query is None and not tile_queries and self.device.software else None
        for index, (drawing, target) in enumerate(entry.parts):
            self._prepare(target, entry.index)
            for name, texture in entry.samplers:
                drawing.shader.bind(name, texture)
            if tile_queries and not index:
                with query or nullcontext():
                    drawing.render_each(tile_queries)
            else:
                drawing.render(None if index else query or unread_query)  # the others have the same rays as the first
            self.mask.leave()
            self.stats.kernel_passes += 1
        if unread_query is not None:
            self.queries.put_back([unread_query])

    def _copy_back(self, entry: StepPass) -> None:
        for drawing, samplers, target in entry.copied:
            self._prepare(target, entry.index)
            for name, texture in samplers:
                drawing.shader.bind(name, texture)
            if self.snapshot is not None:
                drawing.shader.bind("in_before", self.snapshot.texture)
            drawing.render()
            self.mask.leave()
            self.stats.copy_passes += 1

    def _prepare(self, target: moderngl.Framebuffer, index: int) -> None:
        target.use()
        self.device.context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        self.mask.enter(index)

    def _calls_since_last(self, entry: StepPass) -> int:
        """Kernel calls since the last pass of these states, from the per-ray counts."""
        counts = self._counts_by_state()
        total = 0
        for state in dict.fromkeys(map(origin, entry.step.states)):
            calls = int(counts[state][..., 0].astype(np.float64).sum())
            total += calls - self._calls_before[state]
            self._calls_before[state] = calls
        return total


# -- where a pass of a loop may find a ray: in the whole stream, or tile by tile ---------------------------------------
# Purcell 2004, sections 6.2.3 and 6.3.3, draws the radiance estimate as points of 16 x 16 pixels, without those in
# which a query has found no active pixel. That loop is one kernel; here it may have several, and rays alternate
# between them: a pass skips a tile until a pass whose exits lead to it has found a ray there.


@dataclass(frozen=True)
class Flow:
    """The flow of a loop of passes, by their indices in it.

    after : (passes, passes) whether a ray served by the first may wait for the second next. entered : (passes,) whether
    rays may come from outside of the loop. may_leave : (passes,) whether a served ray may be done, or outside. order :
    the passes in their order, those of an innermost loop together.
    """

    after: NDArray[np.bool_]
    entered: NDArray[np.bool_]
    may_leave: NDArray[np.bool_]
    order: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, linked: LinkedProgram, steps: Sequence[Step], stage: Sequence[Step]) -> Flow:
        """The flow of ``stage``, a loop of ``steps`` as of `LinkedProgram.stages`."""
        program, successors = linked.program, linked.step_successors(steps)
        names = [step.name for step in stage]
        after = np.array([[name in successors[other] for name in names] for other in names])
        start = entry_state(program.start)
        entry_names = {name for other in successors if other not in names for name in successors[other]}
        entered = [start in step.states or step.name in entry_names for step in stage]
        may_leave = [
            step.fused  # where the driver ends a loop early, rays wait for no step
            or not set(names).issuperset(successors[step.name])
            or any(DONE in [*program.by_name[s].exits.values(), *program.returns.get(s, ())] for s in step.states)
            for step in stage
        ]
        order = innermost(linked.order(steps), names)
        return cls(
            after,
            np.array(entered),
            np.array(may_leave),
            tuple(tuple(names.index(name) for name in group) for group in order),
        )

    def reached(self, served: Sequence[int]) -> tuple[list[int], bool]:
        """The passes that rays may wait for once these are ``served``, in order, and whether all of those rays do."""
        steps = [int(k) for k in np.flatnonzero(self.after[list(served)].any(axis=0))]
        return steps, bool(steps) and not self.may_leave[list(served)].any()


class LoopTiles:
    """The tiles of the stream, ``shape`` (rows, columns), in which each pass of a loop may find a ray.

    Only these passes change the rays' state: once a pass has been drawn, it has rays again only by its own exit, or
    after a pass that leads to it has found some.
    """

    def __init__(self, flow: Flow, shape: tuple[int, int] = (1, 1)) -> None:
        self.flow = flow
        self.alive = np.zeros((len(flow.after), *shape), bool)
        self.alive[flow.entered] = True

    def any(self, indices: Sequence[int]) -> bool:
        """Whether one of these passes may find a ray."""
        return bool(self.alive[list(indices)].any())

    @property
    def over(self) -> bool:
        """Whether no pass can find a ray."""
        return not self.alive.any()

    def record(self, index: int, active_tiles: NDArray[np.bool_]) -> None:
        """Account for a pass that was drawn on all of its tiles, with rays, as far as is known, in ``active_tiles``."""
        self.alive[index] = False
        self.alive[self.flow.after[index]] |= active_tiles


# -- the multipass machine ---------------------------------------------------------------------------------------------

# Share of the rays still in a loop -> rounds of its steps before the next census, under policies without counts. With
# fewer rays a round is cheaper relative to the wait for a census. Measured (tools/bench.py cast).
ROUNDS_BY_FRACTION = ((0.05, 4), (0.0, 8))
# Of the rays that came to an inner loop, with which a sweep stays in it: measured on cornell, bunny and dragon.
MIN_LOOP_FRACTION = 0.1
QUERY_INTERVAL = 8  # an eighth of a loop's rounds may be drawn in tiles without rays, for fewer queries
QUERY_DELAY = 1  # rounds before a round's queries are read, to avoid waiting for the device


class Multipass(PassMachine):
    """Host loop over passes."""

    name = "multipass"

    def _set_up(self) -> None:
        super()._set_up()
        self.policy: Policy = self.options.policy or Sweep()
        self.count = self.options.count
        self.stages = [[self.passes[step] for step in stage] for stage in self.linked.stages(self.steps)]
        self.flows = {stage[0]: Flow.of(self.linked, self.steps, stage) for stage in self.linked.stages(self.steps)}
        self._census: Census | None = None
        self._loop_census: dict[Step, Census] = {}  # of the rays of loops, by their first step
        self._fused = any(step.fused for step in self.steps)
        for stage in self.stages if not self._fused else ():
            if len(stage) > 1:
                states = tuple(s for entry in stage for s in entry.step.states)
                loop_step = [replace(stage[0].step, states=states)]
                self._loop_census[stage[0].step] = Census(self.device, self.linked, loop_step, self.state, self.tiles)

    @property
    def census(self) -> Census:
        """The census, made on first use."""
        if self._census is None:
            self._census = Census(self.device, self.linked, self.steps, self.state, self.tiles)
        return self._census

    def release(self) -> None:
        """Free its own streams, masks and counts."""
        super().release()
        for census in (self._census, *self._loop_census.values()):
            if census is not None:
                census.release()

    # -- a run -----------------------------------------------------------------------------------------------------

    def run(self, count: int | None = None) -> Iterator[RunProgress]:
        """Pass by pass, until no ray is left."""
        self.resources.update_computed_tables()
        rays = self.rays if count is None else count
        self.stats, self.mask.passes, self.mask.counts = Stats(rays=rays), 0, 0
        self._start(rays)
        self.active = rays
        for stage in self.stages:
            self.tiles.set_alive(None)
            self._rays_when_narrowed = rays
            yield from self._serve_stage(stage)
        self.tiles.set_alive(None)
        self.stats.mask_passes = self.mask.passes
        self.stats.count_passes += self.mask.counts
        if self.counting:
            self._sum_kernel_totals()
        if self.device.software and self._fused and self._any_ray_left():
            yield from self._retry(Multipass, rays)
        yield RunProgress(self.stats.kernel_passes, 0, rays)

    def warm(self) -> Iterator[float]:
        """Draw every kernel's pass behind a mask that excludes all rays, and the counting passes."""
        self.stats = Stats()
        self._start(0)
        self.tiles.set_alive(None)
        for index, entry in enumerate(self.passes.values(), 1):
            self._draw(entry)
            self.device.wait()
            yield index / (len(self.passes) + 1)
        if self.count == "census":
            self.census.take()
        else:
            waiting(self.mask, self.queries, [1])
        for census in self._loop_census.values():
            census.take()
        self.warmed = True
        yield 1.0

    def _serve_stage(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Draw the passes of a loop of steps until no ray is left in it, each time by the fitting way of counting."""
        if len(stage) == 1 and not stage[0].loops:  # rays come once and leave
            self._draw(stage[0])
            yield self._progress()
        elif self.policy.counts:
            yield from self._serve_by_policy(stage)
        elif self.count == "census":
            yield from self._sweep_by_census(stage)
        elif self.mask.by_tiles:
            yield from self._sweep_by_tiles(stage)
        elif self.device.software_form and not self._fused and not self.counting:
            yield from self._sweep_by_exits(stage)
        else:
            yield from self._sweep_by_queries(stage)

    def _progress(self) -> RunProgress:
        return RunProgress(self.stats.kernel_passes, self.active, self.stats.rays)

    def _serve_by_policy(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Serve a loop by a policy, which chooses the next steps by the numbers of rays waiting for each."""
        by_queries = self.count == "query"
        tiles = self._loop_tiles(stage) if by_queries and self.mask.by_tiles else None
        rays: list[int] = []
        chosen: Sequence[int] = ()
        while True:
            if tiles is not None:
                self.tiles.set_alive(None)  # for the count passes
            rays, masked = self._count_waiting(stage, rays, chosen) if by_queries else (self._take_census(stage), False)
            self.active = sum(rays)
            if not self.active:
                return
            if by_queries and tiles is None:
                self._narrow_tiles(stage, self.active)
            chosen = self.policy.choose(rays, self.stats.rays)
            for index, k in enumerate(chosen):
                if tiles is None:
                    self._draw(stage[k], masked=masked and index == 0)
                else:
                    self._draw_tiles(stage[k], tiles, k)
            yield self._progress()

    def _count_waiting(
        self, stage: list[StepPass], previous: list[int], served: Sequence[int]
    ) -> tuple[list[int], bool]:
        """(rays waiting for each step, whether the mask is in place for all steps). Only steps that rays may have come
        to from the ``served`` ones are counted, until all rays are accounted for; ``previous``: the numbers before
        these were served. A counting machine counts all, as published."""
        reached, all_stay = list(range(len(stage))), False
        rays = [0 if k in served else count for k, count in enumerate(previous)] or [0] * len(stage)
        if previous and not self.counting:
            reached, all_stay = self.flows[stage[0].step].reached(served)
        self._barrier_before_reads()
        if not all_stay:
            self.stats.waits += bool(reached)
            counts = waiting(self.mask, self.queries, [stage[k].index for k in reached]) if reached else []
            for k, count in zip(reached, counts, strict=True):
                rays[k] = count
            return rays, bool(reached) and self.mask.covers_all_steps
        remaining, last, masked = sum(previous[k] for k in served), reached.pop(), False
        for k in reached:  # most go to the first ones
            if not remaining:
                break
            self.stats.waits += 1
            (count,) = waiting(self.mask, self.queries, [stage[k].index], masked)
            masked = self.mask.covers_all_steps
            remaining -= count - rays[k]
            rays[k] = count
        rays[last] += remaining
        return rays, masked

    def _narrow_tiles(self, stage: list[StepPass], rays: int) -> None:
        """Once half of the rays of a loop have left it, draw later passes only on the tiles with ``rays``: none comes
        back."""
        census = self._loop_census.get(stage[0].step)
        if rays > self._rays_when_narrowed // 2 or census is None or self.counting:
            return
        self._rays_when_narrowed = rays
        self.stats.count_passes += 1
        self.stats.waits += 1
        self._barrier_before_reads()
        alive = census.take()[..., 1]
        self.active = int(alive.sum())
        self._set_alive_tiles(alive > 0)

    def _set_alive_tiles(self, alive: NDArray[np.bool_]) -> None:
        """Draw later passes on these tiles, if they are not too many."""
        self.tiles.set_alive(alive if alive.mean() < MAX_TILE_FRACTION else None)

    # -- sweeps ----------------------------------------------------------------------------------------------------

    def _sweep_by_exits(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Round by round, every pass that rays may have come to by then: its query is read before the next. Kernels of
        an inner loop alternate until it has few rays, which would otherwise have whole passes to themselves."""
        flow = self.flows[stage[0].step]
        tiles = LoopTiles(flow)
        while not tiles.over:
            for group in flow.order:
                most_rays, rays = 0, 1
                while rays > most_rays * MIN_LOOP_FRACTION and tiles.any(group):
                    rays = 0
                    for k in group:
                        if tiles.any([k]):
                            rays += self._draw_whole(stage[k], tiles, k)
                            yield self._progress()
                    most_rays = max(most_rays, rays)
                    if len(group) > 1:
                        self._narrow_tiles(stage, most_rays)

    def _draw_whole(self, entry: StepPass, tiles: LoopTiles, index: int) -> int:
        """Draw a pass of a loop; returns the number of its rays."""
        query = self.queries.take()
        self._draw(entry, query=query)
        rays = self.queries.read(query)
        self.stats.waits += 1
        tiles.record(index, np.full((1, 1), rays > 0))
        return rays

    def _sweep_by_queries(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Round by round, every pass inside a query read one round late, until a round without rays."""
        active_rays = [1] * len(stage)  # rays of each step's pass in the last round read
        pending: deque[list[Query]] = deque()
        while any(active_rays):
            if self.counting:  # counting waits for every pass anyway
                active_rays = [self._draw(entry) for entry in stage]
                yield self._progress()
                continue
            queries = [self.queries.take() for _ in stage]
            pending.append(queries)
            for entry, query, last_rays in zip(stage, queries, active_rays, strict=True):
                self._draw(entry, query=query, conditional=not last_rays)
            if len(pending) > QUERY_DELAY:
                while self.device.polls and not all(query.ready for query in pending[0]):
                    self.device.failed_polls += 1
                    yield self._progress()
                active_rays = [self.queries.read(query) for query in pending.popleft()]
                self.stats.waits += 1
                self.active = min(self.active, sum(active_rays))
            yield self._progress()
        for queries in pending:
            self.queries.put_back(queries)

    def _loop_tiles(self, stage: list[StepPass]) -> LoopTiles:
        return LoopTiles(self.flows[stage[0].step], (self.tiles.rows, self.tiles.columns))

    def _sweep_by_tiles(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Round by round, every pass on the tiles that may hold its rays, inner loops to their end. In some rounds each
        tile is inside a query; in between, all tiles that may have rays count as having some."""
        tiles = self._loop_tiles(stage)
        while not tiles.over:
            active_rays = 0
            for group in tiles.flow.order:
                rounds = next_query = 0
                while tiles.any(group):
                    queried = rounds >= next_query
                    if queried:  # the more rounds, the rarer
                        next_query += 1 + rounds // QUERY_INTERVAL
                        self.stats.waits += 1
                    for k in group:
                        active_rays += self._draw_tiles(stage[k], tiles, k, queried)
                    rounds += 1
                    yield self._progress()
                    if len(group) == 1 and not stage[group[0]].loops:
                        break
            self.active = min(self.active, active_rays)

    def _draw_tiles(self, entry: StepPass, tiles: LoopTiles, index: int, queried: bool = True) -> int:
        """Draw a pass of a loop on its tiles; returns the number of rays if ``queried``, else 0."""
        alive = tiles.alive[index].copy()
        count = int(np.count_nonzero(alive))
        if not count:
            return 0
        self.tiles.set_alive(alive)
        queries = [self.queries.take() for _ in range(count)] if queried else []
        self._draw(entry, tile_queries=queries)
        self.stats.tiles += count
        rays = np.zeros(alive.shape, np.int64)
        if queried:
            rays[alive] = [self.queries.read(query) for query in queries]
        tiles.record(index, rays > 0 if queried else alive)
        return int(rays.sum())

    def _sweep_by_census(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Several rounds, then a census, until no ray waits."""
        rays = self._take_census(stage)
        while any(rays):
            fraction = sum(rays) / max(1, self.stats.rays)
            for _ in range(next(n for min_fraction, n in ROUNDS_BY_FRACTION if fraction >= min_fraction)):
                for entry in stage:
                    self._draw(entry)
                yield self._progress()
            rays = self._take_census(stage)

    def _take_census(self, stage: list[StepPass]) -> list[int]:
        """The number of rays waiting for each step of the stage; later passes are drawn on the tiles with any."""
        self.stats.waits += 1
        self.stats.count_passes += 1
        self._barrier_before_reads()
        counts = self.census.take()
        stage_counts = counts[..., [entry.index for entry in stage]]
        self.active = int(counts[..., 1:].sum())
        alive = np.asarray(stage_counts.any(axis=-1))
        self._set_alive_tiles(alive)
        return [int(n) for n in stage_counts.sum(axis=(0, 1))]
