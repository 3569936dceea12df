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
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.link import Step
from raystream.stream.gl.objects import Query
from raystream.stream.machines.common import RunProgress
from raystream.stream.machines.count import MANY, Census, waiting
from raystream.stream.machines.counters import Stats
from raystream.stream.machines.flow import Flow, LoopTiles
from raystream.stream.machines.passes import PassMachine
from raystream.stream.machines.policy import Policy, Sweep
from raystream.stream.machines.step_pass import StepPass

# Share of the rays still in a loop -> rounds of its steps before the next census, under policies without counts. With
# fewer rays a round is cheaper relative to the wait for a census. Measured (tools/bench.py cast).
ROUNDS = ((0.05, 4), (0.0, 8))
FEW = 0.1  # of the rays that came to an inner loop, with which a sweep goes on: measured on cornell, bunny and dragon
ASK_AGAIN = 8  # an eighth of a loop's rounds may be drawn in tiles without rays, for fewer queries
LATE = 1  # rounds before a round's queries are read, to avoid waiting for the device


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
        self._alive: dict[Step, Census] = {}  # of the rays of loops, by their first step
        self._fused = any(step.fused for step in self.steps)
        for stage in self.stages if not self._fused else ():
            if len(stage) > 1:
                states = tuple(s for entry in stage for s in entry.step.states)
                together = [replace(stage[0].step, states=states)]
                self._alive[stage[0].step] = Census(self.device, self.linked, together, self.state, self.tiles)

    @property
    def census(self) -> Census:
        """The census, made on first use."""
        if self._census is None:
            self._census = Census(self.device, self.linked, self.steps, self.state, self.tiles)
        return self._census

    def release(self) -> None:
        """Free its own streams, masks and counts."""
        super().release()
        for census in (self._census, *self._alive.values()):
            if census is not None:
                census.release()

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
            self._kept = rays
            yield from self._serve(stage)
        self.tiles.keep(None)
        self.stats.mask_passes = self.mask.passes
        self.stats.count_passes += self.mask.counts
        if self.counting:
            self._totals()
        if self.device.software and self._fused and self._left():
            yield from self._retry(Multipass, rays)
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
        for census in self._alive.values():
            census.take()
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
        elif self.device.software_form and not self._fused and not self.counting:
            yield from self._sweep_by_exits(stage)
        else:
            yield from self._sweep_by_queries(stage)

    def _progress(self) -> RunProgress:
        return RunProgress(self.stats.kernel_passes, self.active, self.stats.rays)

    def _choose(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """By a policy that needs the counts of waiting rays before every pass."""
        queried = self.count == "query"
        tiles = self._loop_tiles(stage) if queried and self.mask.by_tiles else None
        rays: list[int] = []
        chosen: Sequence[int] = ()
        while True:
            if tiles is not None:
                self.tiles.keep(None)  # for the count passes
            rays, masked = self._waiting(stage, rays, chosen) if queried else (self._take_census(stage), False)
            self.active = sum(rays)
            if not self.active:
                return
            if queried and tiles is None:
                self._narrow(stage, self.active)
            chosen = self.policy.choose(rays, self.stats.rays)
            for number, k in enumerate(chosen):
                if tiles is None:
                    self._draw(stage[k], masked=masked and number == 0)
                else:
                    self._draw_tiles(stage[k], tiles, k)
            yield self._progress()

    def _waiting(self, stage: list[StepPass], before: list[int], served: Sequence[int]) -> tuple[list[int], bool]:
        """Rays waiting for each step, and whether the mask has them all: count passes for the steps that rays may have
        come to from those ``served``, with ``before`` waiting, until all are found. A counting machine counts all, as
        published."""
        reached, all_stay = list(range(len(stage))), False
        rays = [0 if k in served else count for k, count in enumerate(before)] or [0] * len(stage)
        if before and not self.counting:
            reached, all_stay = self.flows[stage[0].step].reached(served)
        self._settle()
        if not all_stay:
            self.stats.waits += bool(reached)
            counts = waiting(self.mask, self.queries, [stage[k].number for k in reached]) if reached else []
            for k, count in zip(reached, counts, strict=True):
                rays[k] = count
            return rays, bool(reached) and self.mask.lasts
        remaining, last, masked = sum(before[k] for k in served), reached.pop(), False
        for k in reached:  # most go to the first ones
            if not remaining:
                break
            self.stats.waits += 1
            (count,) = waiting(self.mask, self.queries, [stage[k].number], masked)
            masked = self.mask.lasts
            remaining -= count - rays[k]
            rays[k] = count
        rays[last] += remaining
        return rays, masked

    def _narrow(self, stage: list[StepPass], rays: int) -> None:
        """Once about half of a loop's ``rays`` have left it, keep the tiles with others for later passes: no ray comes
        back."""
        census = self._alive.get(stage[0].step)
        if rays > self._kept // 2 or census is None or self.counting:
            return
        self._kept = rays
        self.stats.count_passes += 1
        self.stats.waits += 1
        self._settle()
        alive = census.take()[..., 1]
        self.active = int(alive.sum())
        self._keep(alive > 0)

    def _keep(self, alive: NDArray[np.bool_]) -> None:
        """Draw later passes on these tiles, if they are not too many."""
        self.tiles.keep(alive if alive.mean() < MANY else None)

    # -- sweeps ----------------------------------------------------------------------------------------------------

    def _sweep_by_exits(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Round by round, every pass that rays may have come to by then: its query is read before the next. Kernels of
        an inner loop are alternated until it has few rays: its last ones would have whole passes to themselves."""
        flow = self.flows[stage[0].step]
        tiles = LoopTiles(flow)
        while not tiles.over:
            for group in flow.order:
                came, some = 0, 1
                while some > came * FEW and tiles.any(group):
                    some = 0
                    for k in group:
                        if tiles.any([k]):
                            some += self._draw_whole(stage[k], tiles, k)
                            yield self._progress()
                    came = max(came, some)
                    if len(group) > 1:
                        self._narrow(stage, came)

    def _draw_whole(self, entry: StepPass, tiles: LoopTiles, number: int) -> int:
        """Draw a pass of a loop; its rays."""
        query = self.queries.take()
        self._draw(entry, query=query)
        rays = self.queries.read(query)
        self.stats.waits += 1
        tiles.note(number, np.full((1, 1), rays > 0))
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
            for entry, query, before in zip(stage, queries, active_rays, strict=True):
                self._draw(entry, query=query, conditional=not before)
            if len(pending) > LATE:
                while self.device.polls and not all(query.ready for query in pending[0]):
                    self.device.in_vain += 1
                    yield self._progress()
                active_rays = [self.queries.read(query) for query in pending.popleft()]
                self.stats.waits += 1
                self.active = min(self.active, sum(active_rays))
            yield self._progress()
        for queries in pending:
            self.queries.give_back(queries)

    def _loop_tiles(self, stage: list[StepPass]) -> LoopTiles:
        return LoopTiles(self.flows[stage[0].step], (self.tiles.rows, self.tiles.columns))

    def _sweep_by_tiles(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Round by round, every pass on the tiles that may hold its rays, inner loops to their end. In some rounds each
        tile is inside a query; in between, rays are taken to be wherever they may be."""
        tiles = self._loop_tiles(stage)
        while not tiles.over:
            active_rays = 0
            for group in tiles.flow.order:
                rounds = asking = 0
                while tiles.any(group):
                    asks = rounds >= asking
                    asking += (1 + rounds // ASK_AGAIN) * asks
                    self.stats.waits += asks
                    for k in group:
                        active_rays += self._draw_tiles(stage[k], tiles, k, asks)
                    rounds += 1
                    yield self._progress()
                    if len(group) == 1 and not stage[group[0]].loops:
                        break
            self.active = min(self.active, active_rays)

    def _draw_tiles(self, entry: StepPass, tiles: LoopTiles, number: int, asks: bool = True) -> int:
        """Draw a pass of a loop on its tiles, each inside a query if it ``asks``: the rays that it has found then."""
        alive = tiles.alive[number].copy()
        count = int(np.count_nonzero(alive))
        if not count:
            return 0
        self.tiles.keep(alive)
        queries = [self.queries.take() for _ in range(count)] if asks else []
        self._draw(entry, tile_queries=queries)
        self.stats.tiles += count
        rays = np.zeros(alive.shape, np.int64)
        if asks:
            rays[alive] = [self.queries.read(query) for query in queries]
        tiles.note(number, rays > 0 if asks else alive)
        return int(rays.sum())

    def _sweep_by_census(self, stage: list[StepPass]) -> Iterator[RunProgress]:
        """Several rounds, then a census, until no ray waits."""
        rays = self._take_census(stage)
        while any(rays):
            fraction = sum(rays) / max(1, self.stats.rays)
            for _ in range(next(n for least, n in ROUNDS if fraction >= least)):
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
        self._keep(alive)
        return [int(n) for n in rows.sum(axis=(0, 1))]
