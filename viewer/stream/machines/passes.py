"""The passes of the multipass machine: a kernel each, drawn as a quad behind the mask of its state.

Purcell 2004, chapters 4 and 5; `raystream.stream.machines.multipass` chooses the next pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import moderngl
import numpy as np

from raystream.base.errors import ViewerError
from raystream.stream.compile.inline import origin
from raystream.stream.compile.link import Step
from raystream.stream.declare.record import SMALL, Field, Record
from raystream.stream.gl.draw import Tiles
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import Machine
from raystream.stream.machines.copies import Snapshot
from raystream.stream.machines.count import Queries
from raystream.stream.machines.counters import KernelPass
from raystream.stream.machines.mask import MASKS
from raystream.stream.machines.options import Unroll
from raystream.stream.machines.step_pass import StepPass

STATE = Record(
    "State",
    Field("at", "int", about="0: done", within=SMALL),
    Field("back", "int", about="state after a RETURN", within=SMALL),
)
UNLIMITED = 1 << 20
TURNS = 32  # of a whole program per pass: few enough for short passes, enough that lanes rarely wait for each other


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
        self._make_streams(self._stored(self.steps))
        self.state = self.streams["state"] = self._own["state"] = Stream(device, STATE, size, channels=2)
        self._make_counts()
        self.tiles = Tiles(device, size, self.options.tile)
        self.tiles.keep(None)
        self.mask = MASKS[self.options.mask](device, linked, self.steps, self.state, self.tiles)
        self.passes = {
            step: StepPass(self, self.mask, self.tiles, self.copies, step, number)
            for number, step in enumerate(self.steps, 1)
        }
        self.queries = Queries(device)
        self.snapshot: Snapshot | None = None
        if self.copies and self.mask.discards:
            self._own["before"] = Stream(device, STATE, size, channels=2)
            self.snapshot = Snapshot(device, self._own["before"], self.tiles)

    def _stored(self, steps: Sequence[Step]) -> dict[str, Record]:
        """The streams loaded or stored by a step; the others exist inside fused groups alone."""
        program = self.linked.program
        used = {s for step in steps for s in (*step.loads, *step.stores)} | {*program.inputs, *program.results}
        return {name: record for name, record in self.linked.records.items() if name in used}

    @property
    def unroll(self) -> Unroll:
        """The value as set."""
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
        state, caller = self.linked.start_numbers()
        if rays:
            self.state.clear([(state, caller, 0.0, 0.0)], rays)
            if self.chosen is not None:
                self.choice.finish(self.chosen, self.state)
        if self.counting:
            self._clear_counts()
            self._before = dict.fromkeys((s.name for s in self.linked.counted.states), 0)

    def _left(self) -> bool:
        """Whether a ray is still in some state, as after a fused pass ended early by the driver."""
        return bool(self.state.read_texels()[..., 0].any())

    def _settle(self) -> None:
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
            query = Query(self.device, samples=not tile_queries, time=True)
        self._kernel(entry, query, tile_queries)
        self._copy_back(entry)
        if not self.counting or query is None:
            return 0
        fragments = sum(int(one.samples) for one in tile_queries or (query,))
        calls = self._new_calls(entry) if self._calls(entry) > 1 or entry.step.fused else fragments
        read, written = entry.words
        seconds = query.elapsed * 1e-9
        self.stats.passes.append(
            KernelPass(entry.step.name, fragments, calls, seconds, fragments * read, fragments * written)
        )
        return fragments

    def _calls(self, entry: StepPass) -> int:
        """The limit of kernel calls in one pass, or of iterations of the whole program."""
        if entry.step.turns:
            first = next(iter(self.calls_in_pass.values()), UNLIMITED)
            return self._turns(entry, TURNS) if isinstance(self.unroll, str) else first
        calls = self.calls_in_pass.get(entry.step.name, 1) if entry.loops else 1
        return self._turns(entry, calls) if isinstance(self.unroll, str) else calls

    def _turns(self, entry: StepPass, calls: int) -> int:
        """Fewer calls than that where even a small part of the pass takes too long."""
        parts = entry.drawings[0].shader.parts
        return calls if parts is None or parts.sizes.turns is None else min(calls, parts.sizes.turns)

    def _bind(self, entry: StepPass) -> None:
        if entry.loops:
            for drawing in (*entry.drawings, *entry.counts):
                drawing.shader.set("unroll", self._calls(entry))

    def _kernel(self, entry: StepPass, query: Query | None = None, tile_queries: Sequence[Query] = ()) -> None:
        """The pass itself, inside a ``query``, or with ``tile_queries``, one for each tile.

        llvmpipe compiles a program separately for draws inside and outside queries, which would delay the first such
        pass by a second: there all passes are inside one, those of `warm` and conditional ones too.
        """
        unread = self.queries.take() if query is None and not tile_queries and self.device.software else None
        for number, (drawing, target) in enumerate(entry.parts):
            self._prepare(target, entry.number)
            for name, texture in entry.samplers:
                drawing.shader.bind(name, texture)
            if tile_queries and not number:
                with query or nullcontext():
                    drawing.render_each(tile_queries)
            else:
                drawing.render(None if number else query or unread)  # the others have the same rays as the first
            self.mask.leave()
            self.stats.kernel_passes += 1
        if unread is not None:
            self.queries.give_back([unread])

    def _copy_back(self, entry: StepPass) -> None:
        for copying, samplers, target in entry.copied:
            self._prepare(target, entry.number)
            for name, texture in samplers:
                copying.shader.bind(name, texture)
            if self.snapshot is not None:
                copying.shader.bind("in_before", self.snapshot.texture)
            copying.render()
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
