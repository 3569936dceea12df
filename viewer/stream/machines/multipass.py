"""The multipass machine of Purcell's dissertation (2004, chapters 4 and 5): a kernel is a fragment program over a quad.

A mask keeps each pass to the rays in its state; the host chooses the next pass by a policy, until no ray is left.
Waiting for the device is what costs. By occlusion queries (`--count query`) every pass of a `Sweep` tells how many rays
it ran on, and is read a round late; a pass that may find no ray is drawn under conditional rendering. By a *census*
(`--count census`) rays are counted for each tile of the stream after several rounds, and passes are then drawn on the
tiles that still hold rays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext

import moderngl
import numpy as np

from viewer.base.errors import ViewerError
from viewer.stream.compile.inline import origin
from viewer.stream.compile.link import LinkedProgram, Step
from viewer.stream.declare.record import Field, Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Tiles
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream
from viewer.stream.machines.common import Machine, Progress
from viewer.stream.machines.copies import Snapshot
from viewer.stream.machines.count import EDGE, MANY, Census, Queries, waiting
from viewer.stream.machines.counters import Pass, Stats
from viewer.stream.machines.mask import MASKS
from viewer.stream.machines.policy import Policy, Sweep
from viewer.stream.machines.step_pass import StepPass
from viewer.stream.machines.tiled import TileLoop

STATE = Record("State", Field("at", "int", about="0: done"), Field("back", "int", about="state after a RETURN"))
UNLIMITED = 1 << 20
TURNS = 32  # of a whole program in one pass: few enough to be short, so many that lanes rarely wait for each other

# Share of the rays still in a loop -> rounds of its steps before the next census, where the policy needs no counts. The
# fewer rays, the less a round costs beside the wait for a census. Chosen by measurement (tools/bench.py cast).
ROUNDS = ((0.05, 4), (0.0, 8))
LATE = 1  # rounds after which a round's queries are read, so that the device is not waited for

Unroll = int | Sequence[int] | str


class Multipass(Machine):
    """Host loop over passes.

    fuse   : what makes one pass each (`LinkedProgram.steps`). mask : a key of `viewer.stream.machines.mask.MASKS`.
    policy, unroll, count : the host's alone, and may be set between two runs. unroll : most calls of a looping kernel
    in one pass: a number, a number for each looping state in the program's order, or 'auto'. count : ``query`` or
    ``census``. tile : edge of the tiles, rays.
    Without a texture barrier on the device, kernels write to a second set of textures and a copy pass follows.
    """

    name = "multipass"

    def __init__(
        self,
        device: Device,
        linked: LinkedProgram,
        size: tuple[int, int],
        resources: Resources | None = None,
        counting: bool = False,
        fallback: Callable[[], LinkedProgram] | None = None,
        streams: Mapping[str, Stream] | None = None,
        fuse: str = "none",
        policy: Policy | None = None,
        unroll: Unroll = "auto",
        mask: str = "depth",
        count: str = "query",
        tile: int = EDGE,
    ) -> None:
        super().__init__(device, linked, size, resources, counting, fallback, streams)
        self.policy, self.count = policy or Sweep(), count
        self.unroll = unroll
        self.barrier = device.texture_barrier
        self.copies = self.barrier is None
        self.steps = linked.steps(fuse)
        self._make_streams(self._stored(self.steps))
        self.state = self.streams["state"] = self._own["state"] = Stream(device, STATE, size, channels=2)
        self._make_counts()
        self.tiles = Tiles(device, size, tile)
        self.tiles.keep(None)
        self.mask = MASKS[mask](device, linked, self.steps, self.state, self.tiles)
        self.passes = {
            step: StepPass(self, self.mask, self.tiles, self.copies, step, number)
            for number, step in enumerate(self.steps, 1)
        }
        self.stages = [[self.passes[step] for step in stage] for stage in linked.stages(self.steps)]
        self.queries = Queries(device)
        self._census: Census | None = None
        self.snapshot: Snapshot | None = None
        if self.copies and self.mask.discards:
            self._own["before"] = Stream(device, STATE, size, channels=2)
            self.snapshot = Snapshot(device, self._own["before"], self.tiles)

    def _stored(self, steps: Sequence[Step]) -> dict[str, Record]:
        """The streams that some step loads or stores; the others live inside fused groups alone."""
        program = self.linked.program
        used = {s for step in steps for s in (*step.loads, *step.stores)} | {*program.inputs, *program.results}
        return {name: record for name, record in self.linked.records.items() if name in used}

    @property
    def census(self) -> Census:
        """Made when it is first needed."""
        if self._census is None:
            self._census = Census(self.device, self.linked, self.steps, self.state, self.tiles)
        return self._census

    @property
    def unroll(self) -> Unroll:
        """As given."""
        return self._unroll

    @unroll.setter
    def unroll(self, unroll: Unroll) -> None:
        """Raises ViewerError for less than one call in a pass, which would never end."""
        looping = self.linked.program.looping()
        self._unroll, self.calls_in_pass = unroll, dict.fromkeys(looping, UNLIMITED)
        if isinstance(unroll, str):  # auto: fewer passes have always been worth their idle lanes
            return
        counts = [unroll] if isinstance(unroll, int) else [int(n) for n in unroll]
        if not counts or min(counts) < 1:
            raise ViewerError("unroll", f"{unroll} calls in a pass", "1 or more for each looping state, or 'auto'")
        counts += [counts[-1]] * (len(looping) - len(counts))
        self.calls_in_pass = dict(zip(looping, counts, strict=False))

    def _attach(self) -> None:
        for entry in self.passes.values():
            entry.attach()

    def release(self) -> None:
        """Free its own streams, masks and targets."""
        super().release()
        self.mask.release()
        if self._census is not None:
            self._census.release()

    # -- a run -----------------------------------------------------------------------------------------------------

    def run(self, count: int | None = None) -> Iterator[Progress]:
        """Pass by pass, until no ray is left."""
        rays = self.rays if count is None else count
        self.stats, self.mask.passes, self.mask.counts = Stats(rays=rays), 0, 0
        self._start(rays)
        self.active = rays
        for stage in self.stages:
            self.tiles.keep(None)
            yield from self._serve(stage)
        self.tiles.keep(None)
        self.stats.mask_passes = self.mask.passes
        self.stats.count_passes += self.mask.counts
        if self.counting:
            self._totals()
        if self.device.software and any(step.fused for step in self.passes) and self._left():
            yield from self._again(Multipass, rays)
        yield Progress(self.stats.kernel_passes, 0, rays)

    def warm(self) -> Iterator[float]:
        """Every kernel's pass behind a mask that lets no ray through, and what counts."""
        self.stats = Stats()
        self._start(0)
        self.tiles.keep(None)
        for number, entry in enumerate(self.passes.values(), 1):
            self._draw(entry)
            self.device.context.finish()
            yield number / (len(self.passes) + 1)
        if self.count == "census":
            self.census.take()
        else:
            waiting(self.mask, self.queries, [1])
        self.warmed = True
        yield 1.0

    def _left(self) -> bool:
        """Whether a ray is still in some state: a fused pass that the driver cut short."""
        return bool(np.frombuffer(self.state.textures[0].read(), np.float32)[::2].any())

    def _start(self, rays: int) -> None:
        self.state.clear()
        state, caller = self.linked.start_numbers()
        if rays:
            self.state.clear([(state, caller, 0.0, 0.0)], rays)
        if self.counting:
            self._clear_counts()
            self._before = dict.fromkeys((s.name for s in self.linked.counted.states), 0)

    def _serve(self, stage: list[StepPass]) -> Iterator[Progress]:
        """Serve a loop of steps until none of its rays is left in it."""
        if len(stage) == 1 and not stage[0].loops:  # rays come once and leave
            self._draw(stage[0])
            yield self._progress()
        elif self.policy.counts:
            yield from self._choose(stage)
        elif self.count == "census":
            yield from self._sweep_by_census(stage)
        elif self.mask.by_tiles:
            yield from self._sweep_by_tiles(stage)
        else:
            yield from self._sweep_by_queries(stage)

    def _progress(self) -> Progress:
        return Progress(self.stats.kernel_passes, self.active, self.stats.rays)

    def _choose(self, stage: list[StepPass]) -> Iterator[Progress]:
        """By a policy that must know how many rays wait before every pass."""
        queried = self.count == "query"
        loop = TileLoop(self.tiles, self.queries, len(stage)) if queried and self.mask.by_tiles else None
        while True:
            if loop is not None:
                loop.read()
                self.tiles.keep(None)  # for the count passes
            rays = self._waiting(stage) if queried else self._take_census(stage)
            self.active = sum(rays)
            if not self.active:
                return
            chosen = self.policy.choose(rays, self.stats.rays)
            for number, k in enumerate(chosen):
                masked = queried and self.mask.lasts and number == 0  # the count passes have made the mask
                if loop is None:
                    self._draw(stage[k], masked=masked)
                else:
                    self._draw_tiles(stage[k], loop, k)
            yield self._progress()

    def _waiting(self, stage: list[StepPass]) -> list[int]:
        self.stats.waits += 1
        self._settle()
        return waiting(self.mask, self.queries, [entry.number for entry in stage])

    def _sweep_by_queries(self, stage: list[StepPass]) -> Iterator[Progress]:
        """Round by round, every pass inside a query that is read a round late, until a round has found no ray."""
        found = [1] * len(stage)  # rays that each step's pass ran on, in the last round that was read
        asked: deque[list[moderngl.Query]] = deque()
        while any(found):
            if self.counting:  # which waits for every pass anyway
                found = [self._draw(entry) for entry in stage]
                yield self._progress()
                continue
            queries = [self.queries.take() for _ in stage]
            asked.append(queries)
            for entry, query, before in zip(stage, queries, found, strict=True):
                self._draw(entry, query=query, conditional=not before)
            if len(asked) > LATE:
                found = [self.queries.read(query) for query in asked.popleft()]
                self.stats.waits += 1
                self.active = min(self.active, sum(found))
            yield self._progress()
        for queries in asked:
            self.queries.give_back(queries)

    def _sweep_by_tiles(self, stage: list[StepPass]) -> Iterator[Progress]:
        """Round by round, every pass on the tiles that may hold rays for it, each inside a query; all of a round's are
        read together, a round late."""
        loop = TileLoop(self.tiles, self.queries, len(stage))
        while not loop.over:
            drawn = sum(self._draw_tiles(entry, loop, k) for k, entry in enumerate(stage))
            found = loop.read(but=drawn * LATE)
            self.stats.waits += 1
            self.active = min(self.active, found) if found else self.active
            yield self._progress()

    def _draw_tiles(self, entry: StepPass, loop: TileLoop, number: int) -> bool:
        """Draw a pass of a loop on its tiles; whether there were any."""
        queries = loop.ask(number)
        if queries:
            self._draw(entry, each=queries)
            self.stats.tiles += len(queries)
        return bool(queries)

    def _sweep_by_census(self, stage: list[StepPass]) -> Iterator[Progress]:
        """Several rounds, then a census, until nobody waits."""
        rays = self._take_census(stage)
        while any(rays):
            share = sum(rays) / max(1, self.stats.rays)
            for _ in range(next(n for least, n in ROUNDS if share >= least)):
                for entry in stage:
                    self._draw(entry)
                yield self._progress()
            rays = self._take_census(stage)

    def _take_census(self, stage: list[StepPass]) -> list[int]:
        """Rays that wait for each step of the stage; keeps the tiles that hold any."""
        self.stats.waits += 1
        self.stats.count_passes += 1
        self._settle()
        counts = self.census.take()
        rows = counts[..., [entry.number for entry in stage]]
        self.active = int(counts[..., 1:].sum())
        alive = np.asarray(rows.any(axis=-1))
        self.tiles.keep(alive if alive.mean() < MANY else None)
        return [int(n) for n in rows.sum(axis=(0, 1))]

    def _settle(self) -> None:
        """What earlier passes wrote is visible to those that read the texels which they write."""
        if self.barrier is not None:
            self.barrier()

    def _draw(
        self,
        entry: StepPass,
        masked: bool = False,
        query: moderngl.Query | None = None,
        conditional: bool = False,
        each: Sequence[moderngl.Query] = (),
    ) -> int:
        """Mask (unless it is ``masked`` already), kernel pass inside a ``query``, or a query for ``each`` tile, and the
        copy behind it where there is no barrier. ``conditional``: only if a count pass finds a ray; the query is then
        around that.

        Returns the rays that it ran on, where the machine is counting.
        """
        context = self.device.context
        self._settle()
        if self.snapshot is not None:
            self.snapshot.take(self.state, lambda target: self._prepare(target, entry.number))
            self.mask.leave()
        self._bind(entry)
        if conditional and query is not None:
            if self.mask.lasts:
                self.mask.select(entry.number)
            self.mask.count(entry.number, query)
            condition = query.crender
            assert condition is not None
            with condition:
                self._kernel(entry)
                self._copy_back(entry)
            return 0
        if not masked:
            self.mask.select(entry.number)
        for drawing, target in zip(entry.counts, entry.count_targets, strict=True):
            self._prepare(target, entry.number)
            self._count(drawing, entry.samplers)
            self.mask.leave()
        if self.counting:
            query = context.query(samples=not each, time=True)
        self._kernel(entry, query, each)
        self._copy_back(entry)
        if not self.counting or query is None:
            return 0
        fragments = sum(int(one.samples) for one in each or (query,))
        calls = self._new_calls(entry) if self._calls(entry) > 1 or entry.step.fused else fragments
        read, written = entry.words
        seconds = query.elapsed * 1e-9
        self.stats.passes.append(
            Pass(entry.step.name, fragments, calls, seconds, fragments * read, fragments * written)
        )
        return fragments

    def _calls(self, entry: StepPass) -> int:
        """Most kernel calls in one pass, or turns of the whole program."""
        if entry.step.turns:
            first = next(iter(self.calls_in_pass.values()), UNLIMITED)
            return TURNS if isinstance(self.unroll, str) else first
        return self.calls_in_pass.get(entry.step.name, 1) if entry.loops else 1

    def _bind(self, entry: StepPass) -> None:
        if entry.loops:
            for drawing in (entry.drawing, *entry.counts):
                drawing.shader.set("unroll", self._calls(entry))

    def _kernel(
        self, entry: StepPass, query: moderngl.Query | None = None, each: Sequence[moderngl.Query] = ()
    ) -> None:
        """The pass itself, inside a ``query``, with another one for ``each`` tile.

        To llvmpipe a program inside a query is another one than without, which it would compile when the first such
        pass is drawn, a second late: there all passes are inside one, `warm`'s and the conditional ones too.
        """
        unread = self.queries.take() if query is None and not each and self.device.software else None
        self._prepare(entry.target, entry.number)
        for name, texture in entry.samplers:
            entry.drawing.shader.bind(name, texture)
        with query or unread or nullcontext():
            if each:
                entry.drawing.render_each(each)
            else:
                entry.drawing.render()
        self.mask.leave()
        if unread is not None:
            self.queries.give_back([unread])
        self.stats.kernel_passes += 1

    def _copy_back(self, entry: StepPass) -> None:
        if entry.copy is None:
            return
        self._prepare(entry.copy_target, entry.number)
        for name, texture in entry.copy_samplers:
            entry.copy.shader.bind(name, texture)
        if self.snapshot is not None:
            entry.copy.shader.bind("in_before", self.snapshot.texture)
        entry.copy.render()
        self.mask.leave()
        self.stats.copy_passes += 1

    def _prepare(self, target: moderngl.Framebuffer, number: int) -> None:
        target.use()
        self.device.context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        self.mask.enter(number)

    def _new_calls(self, entry: StepPass) -> int:
        """Kernel calls since the last pass of these states, from the per-ray counts."""
        counted = self._counted()
        total = 0
        for state in dict.fromkeys(map(origin, entry.step.states)):
            now = int(counted[state][..., 0].astype(np.float64).sum())
            total += now - self._before[state]
            self._before[state] = now
        return total
