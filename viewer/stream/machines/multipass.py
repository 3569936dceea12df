"""The multipass machine of Purcell's dissertation (2004, chapters 4 and 5): a kernel is a fragment program over a quad.

A mask restricts each pass to the rays in its state; the host chooses the next pass by a policy, until no ray is left.
Waiting for the device is the main cost. With occlusion queries (`--count query`) every pass of a `Sweep` counts its
rays, read one round late; a pass without any ray for sure is skipped by conditional rendering. With a *census*
(`--count census`) rays are counted per tile of the stream after several rounds, and passes are then drawn only on tiles
with rays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from viewer.stream.gl.objects import Query
from viewer.stream.machines.common import RunProgress
from viewer.stream.machines.count import MANY, Census, waiting
from viewer.stream.machines.counters import Stats
from viewer.stream.machines.passes import PassMachine
from viewer.stream.machines.policy import Policy, Sweep
from viewer.stream.machines.step_pass import StepPass
from viewer.stream.machines.tiled import TileLoop

# Share of the rays still in a loop -> rounds of its steps before the next census, under policies without counts. With
# fewer rays a round is cheaper relative to the wait for a census. Measured (tools/bench.py cast).
ROUNDS = ((0.05, 4), (0.0, 8))
LATE = 1  # rounds before a round's queries are read, to avoid waiting for the device


class Multipass(PassMachine):
    """Host loop over passes."""

    name = "multipass"

    def _set_up(self) -> None:
        super()._set_up()
        self.policy: Policy = self.options.policy or Sweep()
        self.count = self.options.count
        self.stages = [[self.passes[step] for step in stage] for stage in self.linked.stages(self.steps)]
        self._census: Census | None = None

    @property
    def census(self) -> Census:
        """The census, made on first use."""
        if self._census is None:
            self._census = Census(self.device, self.linked, self.steps, self.state, self.tiles)
        return self._census

    def release(self) -> None:
        """Free its own streams, masks and counts."""
        super().release()
        if self._census is not None:
            self._census.release()

    # -- a run -----------------------------------------------------------------------------------------------------

    def run(self, count: int | None = None) -> Iterator[RunProgress]:
        """Pass by pass, until no ray is left."""
        self.resources.settle()
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
        yield RunProgress(self.stats.kernel_passes, 0, rays)

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
        self.warmed = True
        yield 1.0

    def _serve(self, stage: list[StepPass]) -> Iterator[RunProgress]:
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

    def _progress(self) -> RunProgress:
        return RunProgress(self.stats.kernel_passes, self.active, self.stats.rays)

    def _choose(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """By a policy that needs the counts of waiting rays before every pass."""
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
                masked = queried and self.mask.lasts and number == 0  # already masked by the count passes
                if loop is None:
                    self._draw(stage[k], masked=masked)
                else:
                    self._draw_tiles(stage[k], loop, k)
            yield self._progress()

    def _waiting(self, stage: list[StepPass]) -> list[int]:
        self.stats.waits += 1
        self._settle()
        return waiting(self.mask, self.queries, [entry.number for entry in stage])

    def _sweep_by_queries(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Round by round, every pass inside a query read one round late, until a round without rays."""
        found = [1] * len(stage)  # rays of each step's pass in the last round read
        asked: deque[list[Query]] = deque()
        while any(found):
            if self.counting:  # counting waits for every pass anyway
                found = [self._draw(entry) for entry in stage]
                yield self._progress()
                continue
            queries = [self.queries.take() for _ in stage]
            asked.append(queries)
            for entry, query, before in zip(stage, queries, found, strict=True):
                self._draw(entry, query=query, conditional=not before)
            if len(asked) > LATE:
                while self.device.polls and not all(query.ready for query in asked[0]):
                    self.device.in_vain += 1
                    yield self._progress()
                found = [self.queries.read(query) for query in asked.popleft()]
                self.stats.waits += 1
                self.active = min(self.active, sum(found))
            yield self._progress()
        for queries in asked:
            self.queries.give_back(queries)

    def _sweep_by_tiles(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Round by round, every pass on the tiles that may hold its rays, each inside a query; a round's queries are
        read together, one round late."""
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

    def _sweep_by_census(self, stage: list[StepPass]) -> Iterator[RunProgress]:
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
