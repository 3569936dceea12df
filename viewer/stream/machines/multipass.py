"""The multipass machine of Purcell's dissertation (2004, chapters 4 and 5): a kernel is a fragment program over a quad.

A mask restricts each pass to the rays in its state; the host chooses the next pass by a policy, until no ray is left.
Waiting for the device is the main cost. With occlusion queries (`--count query`) every pass of a `Sweep` counts its
rays, read one round late; a pass that may be without a ray is drawn under conditional rendering, and one that no ray
can wait for is not drawn. With a *census*
(`--count census`) rays are counted per tile of the stream after several rounds, and passes are then drawn only on tiles
with rays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from viewer.stream.compile.link import Step
from viewer.stream.compile.order import Element, Loop, flatten
from viewer.stream.machines.common import Progress
from viewer.stream.machines.count import MANY, Census, waiting
from viewer.stream.machines.counters import Stats
from viewer.stream.machines.flow import Flow
from viewer.stream.machines.passes import Passes
from viewer.stream.machines.policy import Policy, Sweep
from viewer.stream.machines.step_pass import StepPass
from viewer.stream.machines.tiled import ASK_AGAIN, TileLoop

# Share of the rays still in a loop -> rounds of its steps before the next census, under policies without counts. With
# fewer rays a round is cheaper relative to the wait for a census. Measured (tools/bench.py cast).
ROUNDS = ((0.05, 4), (0.0, 8))
FEW, SHORT = 0.1, 8  # passes between two reports of progress, while this share of the rays or less is left
LATE = 1  # rounds before a round's queries are read, to avoid waiting for the device


class Multipass(Passes):
    """Host loop over passes."""

    name = "multipass"

    def _set_up(self) -> None:
        super()._set_up()
        self.policy: Policy = self.options.policy or Sweep()
        self.count = self.options.count
        self.stages = self.linked.stages(self.steps)
        self.successors = self.linked.step_successors(self.steps)
        self.passes_by_name = {step.name: entry for step, entry in self.passes.items()}
        self._flows: dict[Step, Flow] = {}
        self._census: Census | None = None
        self._in_loop: dict[StepPass, Census] = {}  # of loops, by their first pass
        if not any(step.fused for step in self.steps):
            for stage in map(flatten, ([stage] for stage in self.stages if isinstance(stage, Loop))):
                states = tuple(s for name in stage for s in self.passes_by_name[name].step.states)
                steps = [replace(self.steps[0], states=states)]
                census = Census(self.device, self.linked, steps, self.state, self.tiles)
                self._in_loop[self.passes_by_name[stage[0]]] = census

    @property
    def census(self) -> Census:
        """The census, made on first use."""
        if self._census is None:
            self._census = Census(self.device, self.linked, self.steps, self.state, self.tiles)
        return self._census

    def release(self) -> None:
        """Free its own streams, masks and counts."""
        super().release()
        for census in (self._census, *self._in_loop.values()):
            if census is not None:
                census.release()

    # -- a run -----------------------------------------------------------------------------------------------------

    def run(self, count: int | None = None) -> Iterator[Progress]:
        """Pass by pass, until no ray is left."""
        self.resources.settle()
        rays = self.rays if count is None else count
        self.stats, self.mask.passes, self.mask.counts = Stats(rays=rays), 0, 0
        self._start(rays)
        self.active, self._spoken = rays, 0
        for stage in self.stages:
            self.tiles.keep(None)
            self._narrowed = rays
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
        """Draw every kernel's pass behind a mask that excludes all rays, and the counting passes."""
        self.stats = Stats()
        self._start(0)
        self.tiles.keep(None)
        for number, entry in enumerate(self.passes.values(), 1):
            self._draw(entry)
            self.device.wait()
            yield number / (len(self.passes) + 1)
        if self.count == "census":
            self.census.take()
        else:
            waiting(self.mask, self.queries, [1])
        for census in self._in_loop.values():
            census.take()
        self.warmed = True
        yield 1.0

    def _serve(self, stage: Element) -> Iterator[Progress]:
        """Serve a step, or a loop of steps, until none of its rays is left in it."""
        entries = [self.passes_by_name[name] for name in flatten([stage])]
        if len(entries) == 1 and not entries[0].loops:  # rays come once and leave
            self._draw(entries[0])
            yield self._progress()
        elif self.policy.counts:
            yield from self._choose(entries)
        elif self.count == "census":
            yield from self._sweep_by_census(entries)
        else:
            yield from self._sweep(stage, entries)

    def _progress(self) -> Progress:
        return Progress(self.stats.kernel_passes, self.active, self.stats.rays)

    def _choose(self, stage: list[StepPass]) -> Iterator[Progress]:
        """By a policy that needs the counts of waiting rays before every pass."""
        queried = self.count == "query"
        loop = self._tile_loop(stage) if queried and self.mask.by_tiles else None
        rays: list[int] = []
        chosen: list[int] = []
        while True:
            if loop is not None:
                loop.read()
                self.tiles.keep(None)  # for the count passes
            asked = self._uncertain(stage, rays, chosen) if queried else []
            rays = self._waiting(stage, rays, chosen, asked) if queried else self._take_census(stage)
            self.active = sum(rays)
            if not self.active:
                return
            if loop is None and queried:
                self._narrow(stage)
            chosen = self.policy.choose(rays, self.stats.rays)
            for number, k in enumerate(chosen):
                masked = bool(asked) and self.mask.lasts and number == 0  # already masked by the count passes
                if loop is None:
                    self._draw(stage[k], masked=masked)
                else:
                    self._draw_tiles(stage[k], loop, k)
            if self._speaks():
                yield self._progress()

    def _uncertain(self, stage: list[StepPass], rays: list[int], served: list[int]) -> list[int]:
        """The steps whose waiting rays the host cannot tell from those before and the steps ``served`` since. Where
        passes are counted, all, as published: a pass of the mask and one for each step before every kernel's."""
        if self.counting or not rays:
            return list(range(len(stage)))
        found = [int(k) for k in np.flatnonzero(self._flow(stage).after[served].any(axis=0))]
        if len(served) == 1 and not self._flow(stage).leaves[served[0]]:
            found = found[:-1]  # the rest is there
        return found

    def _waiting(self, stage: list[StepPass], before: list[int], served: list[int], asked: list[int]) -> list[int]:
        """Rays waiting for each step; count passes for those ``asked``."""
        rays = [0 if k in served else count for k, count in enumerate(before)] or [0] * len(stage)
        self._settle()
        if asked:
            self.stats.waits += 1
            for k, count in zip(asked, waiting(self.mask, self.queries, [stage[k].number for k in asked]), strict=True):
                rays[k] = count
        if before and not self.counting and len(served) == 1 and not self._flow(stage).leaves[served[0]]:
            last = int(np.flatnonzero(self._flow(stage).after[served[0]])[-1])
            rays[last] = sum(before) - sum(count for k, count in enumerate(rays) if k != last)
        return rays

    def _flow(self, stage: list[StepPass]) -> Flow:
        first = stage[0].step
        if first not in self._flows:
            self._flows[first] = Flow.of(self.linked.program, self.successors, stage)
        return self._flows[first]

    def _narrow(self, stage: list[StepPass]) -> None:
        """Once half of a loop's rays have left it, keep the tiles with others, which later passes are drawn on: no ray
        comes back to a loop."""
        census = self._in_loop.get(stage[0])
        if self.active > self._narrowed // 2 or census is None or self.counting:
            return
        self._narrowed = self.active
        self.stats.count_passes += 1
        self.stats.waits += 1
        self._settle()
        alive = census.take()[..., 1] > 0
        self.tiles.keep(alive if alive.mean() < MANY else None)

    def _speaks(self) -> bool:
        """Whether it is time for progress: passes of few rays are short."""
        if (
            not self.counting
            and self.active < FEW * self.stats.rays
            and self.stats.kernel_passes < self._spoken + SHORT
        ):
            return False
        self._spoken = self.stats.kernel_passes
        return True

    # -- sweeps ----------------------------------------------------------------------------------------------------

    def _tile_loop(self, stage: list[StepPass]) -> TileLoop:
        """What is known of the rays of a loop of passes: by tiles, or of the whole stream."""
        shape = (self.tiles.rows, self.tiles.columns) if self.mask.by_tiles else (1, 1)
        flow = self._flow(stage)
        return TileLoop(self.queries, flow.after, shape, flow.entered)

    def _sweep(self, stage: Element, entries: list[StepPass]) -> Iterator[Progress]:
        """Every pass of a loop in turn, its inner loops to their end each time."""
        loop = self._tile_loop(entries)
        try:
            yield from self._rounds([stage] if isinstance(stage, str) else [stage.head, *stage.body], loop, entries)
            assert loop.over
        finally:
            loop.forget()

    def _rounds(self, inner: Sequence[Element], loop: TileLoop, stage: list[StepPass]) -> Iterator[Progress]:
        """Round by round, until none of these passes can find a ray. A round's queries are read one round late."""
        numbers = {entry.step.name: k for k, entry in enumerate(stage)}
        own = [numbers[name] for name in flatten(inner)]
        nested = any(isinstance(element, Loop) for element in inner)
        rounds = asking = 1
        while True:
            drawn, asks = 0, rounds >= asking
            if asks:  # in between, rays are taken to be wherever they may be
                asking = rounds + (1 + rounds // ASK_AGAIN if self.mask.by_tiles and not nested else 1)
            for element in inner:
                if isinstance(element, Loop):
                    if loop.may([numbers[name] for name in element.states()]):
                        yield from self._rounds([element.head, *element.body], loop, stage)
                        drawn = 0
                elif nested and self.passes_by_name[element].loops:
                    if loop.may([numbers[element]]):
                        yield from self._rounds([element], loop, stage)
                        drawn = 0
                else:
                    drawn += self._draw_where_known(self.passes_by_name[element], loop, numbers[element], asks)
            late = asks and asking == rounds + 1  # passes without a query follow known answers alone
            yield from self._read(loop, but=drawn * LATE if late else 0)
            if not self.mask.by_tiles:
                self._narrow(stage)
            yield self._progress()
            if not loop.any(own):
                yield from self._read(loop)
                if not loop.any(own):
                    return
            rounds += 1

    def _read(self, loop: TileLoop, but: int = 0) -> Iterator[Progress]:
        """Read the answers of all passes but some."""
        while self.device.polls and not loop.ready(but):
            self.device.in_vain += 1
            yield self._progress()
        found = loop.read(but)
        if found is not None:
            self.stats.waits += 1
            self.active = min(self.active, found) if found else self.active

    def _draw_where_known(self, entry: StepPass, loop: TileLoop, number: int, asks: bool) -> bool:
        """Draw a pass of a loop where it may find rays; whether anything was drawn."""
        known = loop.any([number])
        if self.mask.by_tiles:
            return known and self._draw_tiles(entry, loop, number, asks)
        if not loop.may([number]):
            return False
        whole = np.ones((1, 1), bool)
        if self.counting:  # counting waits for every pass anyway
            loop.read()
            loop.learn(number, whole, np.full((1, 1), self._draw(entry)))
            return False
        query = self.queries.take()
        self._draw(entry, query=query, conditional=not known)
        loop.note(number, whole, [query])
        return True

    def _draw_tiles(self, entry: StepPass, loop: TileLoop, number: int, asks: bool = True) -> bool:
        """Draw a pass of a loop on its tiles, each inside a query if it ``asks``; whether there were any."""
        kept, queries = loop.ask(number, asks)
        if not kept.any():
            return False
        self.tiles.keep(kept)
        self._draw(entry, each=queries)
        self.stats.tiles += int(np.count_nonzero(kept))
        return True

    def _sweep_by_census(self, stage: list[StepPass]) -> Iterator[Progress]:
        """Several rounds, then a census, until no ray waits."""
        rays = self._take_census(stage)
        while any(rays):
            share = sum(rays) / max(1, self.stats.rays)
            for _ in range(next(n for least, n in ROUNDS if share >= least)):
                for entry in stage:
                    self._draw(entry)
                yield self._progress()
            rays = self._take_census(stage)

    def _take_census(self, stage: list[StepPass]) -> list[int]:
        """Rays waiting for each step of the stage; keeps the tiles with any."""
        self.stats.waits += 1
        self.stats.count_passes += 1
        self._settle()
        counts = self.census.take()
        rows = counts[..., [entry.number for entry in stage]]
        self.active = int(counts[..., 1:].sum())
        alive = np.asarray(rows.any(axis=-1))
        self.tiles.keep(alive if alive.mean() < MANY else None)
        return [int(n) for n in rows.sum(axis=(0, 1))]
