"""The multipass machine of Purcell's dissertation (2004, chapters 4 and 5): a kernel is a fragment program over a quad.

A mask keeps each pass to the rays in its state; the host chooses the next pass by a policy, until no ray is left.
Waiting for the device is what costs. By occlusion queries (`--count query`) every pass of a `Sweep` tells how many rays
it ran on, and is read a round late; a pass that may find no ray is drawn under conditional rendering. By a *census*
(`--count census`) rays are counted for each tile of the stream after several rounds, and passes are then drawn on the
tiles that still hold rays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping

import moderngl
import numpy as np

from viewer.stream.compile.link import LinkedProgram
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream
from viewer.stream.machines.common import Progress
from viewer.stream.machines.count import EDGE, MANY, Census, waiting
from viewer.stream.machines.counters import Stats
from viewer.stream.machines.passes import Passes, Unroll
from viewer.stream.machines.policy import Policy, Sweep
from viewer.stream.machines.step_pass import StepPass
from viewer.stream.machines.tiled import TileLoop

# Share of the rays still in a loop -> rounds of its steps before the next census, where the policy needs no counts. The
# fewer rays, the less a round costs beside the wait for a census. Chosen by measurement (tools/bench.py cast).
ROUNDS = ((0.05, 4), (0.0, 8))
LATE = 1  # rounds after which a round's queries are read, so that the device is not waited for


class Multipass(Passes):
    """Host loop over passes.

    fuse, mask, unroll, tile : see `Passes`. count : ``query`` or ``census``. policy, unroll, count : the host's alone,
    and may be set between two runs.
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
        super().__init__(
            device, linked, size, resources, counting, fallback, streams, fuse=fuse, unroll=unroll, mask=mask, tile=tile
        )
        self.policy, self.count = policy or Sweep(), count
        self.stages = [[self.passes[step] for step in stage] for stage in linked.stages(self.steps)]
        self._census: Census | None = None

    @property
    def census(self) -> Census:
        """Made when it is first needed."""
        if self._census is None:
            self._census = Census(self.device, self.linked, self.steps, self.state, self.tiles)
        return self._census

    def release(self) -> None:
        """Free its own streams, masks and counts."""
        super().release()
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
            self.device.wait()
            yield number / (len(self.passes) + 1)
        if self.count == "census":
            self.census.take()
        else:
            waiting(self.mask, self.queries, [1])
        self.warmed = True
        yield 1.0

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
