"""The multipass machine of Purcell's dissertation (2004, chapters 4 and 5): a kernel is a fragment program over a quad.

A mask keeps each pass to the rays in its state; the host chooses the next pass by a policy, until no ray is left.
Waiting for the device is what costs: a `Sweep` serves every state in turn, and a *census* (rays in each step, for each
tile of the stream) is read only after several rounds; passes are then drawn on the tiles that still hold rays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.stream.compile.generate import VERSION, Form, outputs
from viewer.stream.compile.inline import origin
from viewer.stream.compile.link import LinkedProgram, Step
from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Field, Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Drawing, Shader, Tiles
from viewer.stream.gl.stream import Stream
from viewer.stream.machines.common import COUNTS, STATE_WORDS, Machine, Memories, Progress
from viewer.stream.machines.counters import Pass, Stats
from viewer.stream.machines.mask import DEPTH_OF_STEP, MASKS, census_sources
from viewer.stream.machines.policy import Policy, Sweep

STATE = Record("State", Field("at", "int", about="0: done"), Field("back", "int", about="state after a RETURN"))
EDGE = 16  # rays along a tile's edge
UNLIMITED = 1 << 20
MANY = 0.9  # of the tiles: then one square is drawn faster than they are


# Share of the rays still in a loop -> rounds of its steps before the next census, where the policy needs no counts. The
# fewer rays, the less a round costs beside the wait for a census. Chosen by measurement (tools/bench.py cast).
ROUNDS = ((0.05, 4), (0.0, 8))


class _Pass:
    """A step, compiled: its shader, targets and samplers."""

    def __init__(self, machine: Multipass, step: Step, number: int) -> None:
        device = machine.device
        self.step, self.number = step, number
        self.form = Form(scheduled=True, discards=machine.mask.discards, counting=machine.counting)
        self.drawing = Drawing(device, machine._compile(step, self.form), machine.tiles)
        self.drawing.shader.set("depth", number * DEPTH_OF_STEP)
        self.samplers = machine._samplers(self.drawing.shader, step, self.form)
        self.target = device.context.framebuffer(
            machine._targets(step, self.form, back=machine.copies), machine.mask.depth
        )
        self.target.depth_mask = False
        program = machine.linked.program
        self.loops = not step.fused and step.name in program.looping()
        self.words = (
            sum(4 * machine.linked.records[s].texels for s in step.loads) + STATE_WORDS,
            sum(4 * machine.linked.records[s].texels for s in step.stores) + STATE_WORDS,
        )
        self.copy: Drawing | None = None
        if machine.copies:
            self._make_copy(machine)

    def _make_copy(self, machine: Multipass) -> None:
        """The pass that takes what the kernel wrote back to where the next one reads it, for the same rays."""
        names = outputs(machine.linked, self.step, self.form)
        source = Source()
        source.add(VERSION, "version")
        numbers = " || ".join(f"state == {machine.linked.program.number(s)}" for s in self.step.states)
        if self.form.discards:
            source.add("uniform sampler2D in_before;", "copy")
        for location, name in enumerate(names):
            source.add(f"uniform sampler2D in_{name};\nlayout(location = {location}) out vec4 out_{name};", "copy")
        source.add("void main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);", "copy")
        if self.form.discards:
            source.add("    int state = int(texelFetch(in_before, at, 0).x);", "copy")
            source.add(f"    if (!({numbers})) discard;", "copy")
        for name in names:
            source.add(f"    out_{name} = texelFetch(in_{name}, at, 0);", "copy")
        source.add("}", "copy")
        self.copy = Drawing(machine.device, Shader(machine.device, source), machine.tiles)
        self.copy.shader.set("depth", self.number * DEPTH_OF_STEP)
        written = machine._targets(self.step, self.form, back=True)
        self.copy_samplers = [(f"in_{n}", t) for n, t in zip(names, written, strict=True)]
        self.copy_target = machine.device.context.framebuffer(
            machine._targets(self.step, self.form), machine.mask.depth
        )
        self.copy_target.depth_mask = False


class Multipass(Machine):
    """Host loop over passes.

    steps  : what makes one pass each (`LinkedProgram.steps`). unroll : most calls of a looping kernel in one pass: a
    number, a number for each looping state in the program's order, or 'auto'. mask : a key of
    `viewer.stream.machines.mask.MASKS`. ``policy`` and ``unroll`` may be set again: the host alone uses them.
    Without a texture barrier on the device, kernels write to a second set of
    textures and a copy pass follows.
    """

    name = "multipass"

    def __init__(
        self,
        device: Device,
        linked: LinkedProgram,
        size: tuple[int, int],
        memories: Memories | None = None,
        counting: bool = False,
        fallback: Callable[[], LinkedProgram] | None = None,
        fuse: str = "none",
        policy: Policy | None = None,
        unroll: int | Sequence[int] | str = "auto",
        mask: str = "depth",
    ) -> None:
        super().__init__(device, linked, size, memories, counting, fallback)
        self.policy = policy or Sweep()
        self.barrier = device.texture_barrier
        self.copies = self.barrier is None
        steps = linked.steps(fuse, counting)
        self.streams = {name: Stream(device, record, size) for name, record in self._stored(steps).items()}
        self.state = self.streams["state"] = Stream(device, STATE, size, channels=2)
        self._make_counts()
        self.tiles = Tiles(device, size, EDGE)
        self.mask = MASKS[mask](device, linked, steps, self.state, self.tiles)
        self.passes = {step: _Pass(self, step, number) for number, step in enumerate(steps, 1)}
        self.stages = [[self.passes[step] for step in stage] for stage in linked.stages(steps)]
        self.unroll = unroll
        self.census = _Census(device, linked, steps, self.state, self.tiles)
        if self.copies and self.mask.discards:
            self._make_snapshot()

    def _stored(self, steps: Sequence[Step]) -> dict[str, Record]:
        """The streams that some step loads or stores; the others live inside fused groups alone."""
        program = self.linked.program
        used = {s for step in steps for s in (*step.loads, *step.stores)} | {*program.inputs, *program.results}
        return {name: record for name, record in self.linked.records.items() if name in used}

    @property
    def unroll(self) -> int | Sequence[int] | str:
        """Most calls of a looping kernel in one pass, as given; another value serves from the next pass on."""
        return self._unroll

    @unroll.setter
    def unroll(self, unroll: int | Sequence[int] | str) -> None:
        self._calls = self._unrolls(unroll)
        self._unroll = unroll

    def _unrolls(self, unroll: int | Sequence[int] | str) -> dict[str, int]:
        looping = self.linked.program.looping()
        if isinstance(unroll, str):  # auto: fewer passes have always been worth their idle lanes
            return dict.fromkeys(looping, UNLIMITED)
        counts = [unroll] if isinstance(unroll, int) else [int(n) for n in unroll]
        if not counts or min(counts) < 1:  # a pass without a call would never end
            raise ViewerError("unroll", f"{unroll} calls in a pass", "1 or more for each looping state, or 'auto'")
        counts += [counts[-1]] * (len(looping) - len(counts))
        return dict(zip(looping, counts, strict=False))

    # -- a run -----------------------------------------------------------------------------------------------------

    def run(self, count: int | None = None) -> Iterator[Progress]:
        """Pass by pass, until no ray is left."""
        rays = self.rays if count is None else count
        self.stats, self.mask.passes = Stats(rays=rays), 0
        self._start(rays)
        self.active = rays
        for stage in self.stages:
            self.tiles.keep(None)
            yield from self._serve(stage)
        self.stats.mask_passes = self.mask.passes
        if self.counting:
            self._totals()
        if self.device.software and any(step.fused for step in self.passes) and self._left():
            spare = self.spare or Multipass(self.device, self.fallback(), self.size, self.memories, self.counting)
            yield from self._again(spare, rays)
        yield Progress(self.stats.kernel_passes, 0, rays)

    def warm(self) -> Iterator[float]:
        """Every kernel's pass behind a mask that lets no ray through, and the census."""
        self.stats = Stats()
        self._start(0)
        self.tiles.keep(None)
        for number, entry in enumerate(self.passes.values(), 1):
            self._draw(entry, 1)
            self.device.context.finish()
            yield number / (len(self.passes) + 1)
        self.census.take()
        self.warmed = True
        yield 1.0

    def _left(self) -> bool:
        """Whether a ray is still in some state: a fused pass that the driver cut short."""
        return bool(np.frombuffer(self.state.textures[0].read(), np.float32)[::2].any())

    def _start(self, rays: int) -> None:
        width, height = self.size
        state = np.zeros((height * width, 2), np.float32)
        state[:rays] = self.linked.start_numbers()
        self.state.write_texels([state.reshape(height, width, 2)])
        if self.counting:
            self._clear_counts()
            self._before = dict.fromkeys((s.name for s in self.linked.counted.states), 0)

    def _serve(self, stage: list[_Pass]) -> Iterator[Progress]:
        """Serve a loop of steps until none of its rays is left in it."""
        if len(stage) == 1 and not stage[0].loops:  # rays come once and leave
            self._draw(stage[0], 1)
            yield Progress(self.stats.kernel_passes, self.active, self.stats.rays)
            return
        waiting = self._take_census(stage)
        while any(waiting):
            share = sum(waiting) / max(1, self.stats.rays)
            rounds = 1 if self.policy.counts else next(n for least, n in ROUNDS if share >= least)
            for _ in range(rounds):
                for k in self.policy.choose(waiting, self.stats.rays):
                    entry = stage[k]
                    self._draw(entry, self._calls.get(entry.step.name, 1))
                yield Progress(self.stats.kernel_passes, self.active, self.stats.rays)
            waiting = self._take_census(stage)

    def _take_census(self, stage: list[_Pass]) -> list[int]:
        """Rays that wait for each step of the stage; keeps the tiles that hold any."""
        counts = self.census.take()
        rows = counts[..., [entry.number for entry in stage]]
        self.active = int(counts[..., 1:].sum())
        alive = np.asarray(rows.any(axis=-1))
        self.tiles.keep(alive if alive.mean() < MANY else None)
        return [int(n) for n in rows.sum(axis=(0, 1))]

    def _draw(self, entry: _Pass, unroll: int) -> None:
        """Mask, kernel pass, and the copy behind it where there is no barrier."""
        context = self.device.context
        if self.barrier is not None:  # what earlier passes wrote is visible to kernels that read the texels they write
            self.barrier()
        if self.copies and self.mask.discards:
            self._snapshot()
        self.mask.select(entry.number)
        shader = entry.drawing.shader
        if entry.loops:
            shader.set("unroll", unroll)
        self._prepare(entry.target)
        for name, texture in entry.samplers:
            shader.bind(name, texture)
        if self.counting:
            query = context.query(samples=True, time=True)
            with query:
                entry.drawing.render()
        else:
            entry.drawing.render()
        self.stats.kernel_passes += 1
        if entry.copy is not None:
            self._prepare(entry.copy_target)
            for name, texture in entry.copy_samplers:
                entry.copy.shader.bind(name, texture)
            if self.mask.discards:
                entry.copy.shader.bind("in_before", self.before.textures[0])
            entry.copy.render()
            self.stats.copy_passes += 1
        if self.counting:
            fragments = query.samples
            calls = self._new_calls(entry) if unroll > 1 or entry.step.fused else fragments
            self.stats.passes.append(
                Pass(
                    entry.step.name,
                    fragments,
                    calls,
                    query.elapsed * 1e-9,
                    fragments * entry.words[0],
                    fragments * entry.words[1],
                )
            )

    def _prepare(self, target: moderngl.Framebuffer) -> None:
        context = self.device.context
        target.use()
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        if self.mask.discards:
            context.disable(moderngl.DEPTH_TEST)
        else:
            context.enable(moderngl.DEPTH_TEST)
            context.depth_func = "=="

    def _new_calls(self, entry: _Pass) -> int:
        """Kernel calls since the last pass of these states, from the per-ray counts."""
        counted = self._counted()
        total = 0
        for state in dict.fromkeys(map(origin, entry.step.states)):
            now = int(counted[state][..., 0].astype(np.float64).sum())
            total += now - self._before[state]
            self._before[state] = now
        return total

    # -- no barrier and no mask: which rays ran is told by a snapshot of the states before ----------------------------

    def _make_snapshot(self) -> None:
        self.before = Stream(self.device, STATE, self.size, channels=2)
        source = Source()
        source.add(VERSION, "version")
        source.add("uniform sampler2D in_state;\nout vec4 before;", "snapshot")
        source.add("void main() { before = texelFetch(in_state, ivec2(gl_FragCoord.xy), 0); }", "snapshot")
        self.snapshot = Drawing(self.device, Shader(self.device, source), self.tiles)
        self.snapshot_target = self.device.context.framebuffer(self.before.textures)

    def _snapshot(self) -> None:
        self._prepare(self.snapshot_target)
        self.snapshot.shader.bind("in_state", self.state.textures[0])
        self.snapshot.render()


class _Census:
    """Rays in each step, for each tile that is drawn: one small reduction, read back."""

    def __init__(
        self, device: Device, linked: LinkedProgram, steps: Sequence[Step], state: Stream, tiles: Tiles
    ) -> None:
        self.device, self.state, self.steps, self.tiles = device, state, len(steps), tiles
        size = (tiles.columns, tiles.rows)
        self.parts = []
        for source in census_sources(linked, steps, EDGE):
            shader = Shader(device, source)
            shader.set("size", state.size)
            target = Stream(device, COUNTS, size)
            drawing = Drawing(device, shader, tiles)
            shader.set("clip", (2.0 / (size[0] * EDGE), 2.0 / (size[1] * EDGE)))  # a texel for each tile
            self.parts.append((drawing, target, device.context.framebuffer(target.textures)))

    def take(self) -> NDArray[np.int64]:
        """(rows, columns, 1 + steps): counts per tile, zeros for tiles not drawn; number 0, done, is not counted."""
        context = self.device.context
        found = [np.zeros((self.tiles.rows, self.tiles.columns, 1), np.float32)]
        for drawing, target, framebuffer in self.parts:
            framebuffer.use()
            context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
            if not self.tiles.all:
                framebuffer.clear()
            drawing.shader.bind("in_state", self.state.textures[0])
            drawing.render()
            found.append(target.read_texels()[..., 0, :])
        return np.concatenate(found, axis=-1)[..., : 1 + self.steps].astype(np.int64)
