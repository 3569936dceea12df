"""Shared parts of machines: borrowed streams, uniforms, and a run with progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import DeviceError
from raystream.stream.compile.generate import Form, fragment, inputs, outputs
from raystream.stream.compile.link import COUNTED_PER_TEXEL, LinkedProgram, Step
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.objects import Query
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.counters import KernelTotal, Stats
from raystream.stream.machines.policy import Policy

# -- rays excluded from a run, as of pixels that need no more samples --------------------------------------------------
# Early-z discards them before the kernel's program starts, like masks (Purcell 2004, section 4.1.2): in the single
# pass by a separate depth buffer, in the multipass machine by the state done from the start.

CHOICE = Record("Choice", Field("chosen", "float", about="above 0: the ray takes part in the run"))
SELECTED_DEPTH = 0.5  # of the chosen rays; exact in every depth format

Box = tuple[int, int, int, int]  # x, y, width, height


def selection_source() -> Source:
    """The fragment program of `RaySelection`, for depths and for states."""
    return Source.of_file("stream/choose.glsl")


class RaySelection:
    """Applies a stream of `CHOICE` to a machine's streams of ``size`` (width, height). Every call needs a current
    context."""

    def __init__(self, device: Device, size: tuple[int, int]) -> None:
        self.device = device
        self.shader = Shader(device, selection_source())
        self.shader.set("depth", SELECTED_DEPTH)
        self.depth: moderngl.Texture | None = None
        self.fit(size)

    def fit(self, size: tuple[int, int]) -> None:
        """Switch to streams of another size, without compiling."""
        self.release()
        tiles = Tiles(self.device, size, max(size))
        tiles.set_alive(None)
        self.size, self.drawing = size, Drawing(self.device, self.shader, tiles)

    def depth_buffer(self) -> moderngl.Texture:
        """The depth buffer filled by `write_depths`."""
        if self.depth is None:
            self.depth = self.device.context.depth_texture(self.size)
            self.target = self.device.context.framebuffer(depth_attachment=self.depth)
        return self.depth

    def write_depths(self, chosen: Stream, bands: Iterable[Box], counted: bool = False) -> int:
        """Give the chosen rays within the bands the depth `SELECTED_DEPTH`, and all others another; returns the number
        of chosen rays if ``counted``, else 0."""
        self.depth_buffer()
        self.target.use()
        self.target.depth_mask = True
        self.target.clear(depth=0.0)
        context = self.device.context
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "1"  # always
        count = 0
        for band in bands:
            query = Query(self.device, samples=True) if counted else None
            self.target.scissor = band
            with query or nullcontext():
                self._draw(chosen, 1)
            self.target.scissor = (0, 0, *self.size)
            count += query.samples if query is not None else 0
        context.disable(moderngl.DEPTH_TEST)
        return count

    def finish(self, chosen: Stream, state: Stream) -> None:
        """Set the state of excluded rays to done."""
        state.framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        self._draw(chosen, 0)

    def _draw(self, chosen: Stream, keep_selected: int) -> None:
        self.drawing.shader.bind("in_chosen", chosen.textures[0])
        self.drawing.shader.set("wanted", keep_selected)
        self.drawing.render()

    def release(self) -> None:
        """Free the depth buffer."""
        if self.depth is not None:
            self.depth.release()
            self.depth = None


# -- the machines' options ---------------------------------------------------------------------------------------------

TILE_EDGE = 16  # rays
Unroll = int | Sequence[int] | str


@dataclass(frozen=True)
class MachineOptions:
    """How a machine runs a program.

    counting : exact counters are kept, which makes the host wait for every pass.
    deferred : its programs are not compiled at construction, but by the steps of its ``batch``, or with the first run.

    Of `raystream.stream.machines.multipass.Multipass`:
    fuse     : groups that make one pass each (`LinkedProgram.steps`). mask : of `raystream.stream.machines.mask.MASKS`.
    tile     : edge of the tiles, rays.
    policy   : which state is served next; None: a `Sweep`. unroll : most calls of a looping kernel in one pass: a
               number, a number for each looping state in the program's order, or ``auto``. count : ``query`` or
               ``census``. These three are the host's alone, and a machine has them as attributes that may change
               between two runs.

    Of `raystream.stream.machines.singlepass.Singlepass`:
    bands    : horizontal strips that a run is drawn in, so that a caller may stop between them.
    """

    counting: bool = False
    deferred: bool = False
    fuse: str = "none"
    mask: str = "depth"
    tile: int = TILE_EDGE
    policy: Policy | None = None
    unroll: Unroll = "auto"
    count: str = "query"
    bands: int = 1


DEFAULTS = MachineOptions()


# -- shared parts of machines ------------------------------------------------------------------------------------------

STATE_WORDS = 2  # state and return state
COUNTS = Record("Counts", Field("pairs", "vec4", about="calls and random words of two states"))


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run: kernel passes, remaining rays (as known on the host), rays in all."""

    passes: int
    active: int
    rays: int


class Machine:
    """Runs a linked program over W x H rays.

    streams : inputs and results by name, of this size or (gathered ones) any other; missing and intermediate ones are
    the machine's own. fallback : the program for single-kernel passes, see `_retry`. options : how it runs; ``chosen``
    are fields of these by name, over them.
    """

    name = "machine"

    def __init__(
        self,
        device: Device,
        linked: LinkedProgram,
        size: tuple[int, int],
        resources: Resources | None = None,
        streams: Mapping[str, Stream] | None = None,
        fallback: Callable[[], LinkedProgram] | None = None,
        options: MachineOptions = DEFAULTS,
        **chosen: Any,
    ) -> None:
        self.device, self.linked, self.size, self.options = device, linked, size, replace(options, **chosen)
        self.counting = self.options.counting
        self.fallback = fallback or (lambda: linked)
        self.resources = resources or Resources(device)
        self.streams: dict[str, Stream] = dict(streams or {})
        self._owned_streams: dict[str, Stream] = {}  # streams made here
        self.counts: dict[str, Stream] = {}
        self.stats = Stats()
        self.shaders: dict[tuple[Step, Form], Shader] = {}
        self.values: dict[str, Any] = {}  # uniforms of `set`
        self.retry_machine: Machine | None = None
        self.warmed = False  # `warm` is complete
        self.chosen: Stream | None = None  # stream of `CHOICE` with the rays of the next runs; None: all
        self._ray_selection: RaySelection | None = None
        with device.deferred() as self.batch:  # of the programs that it runs
            self._set_up()
        if not self.options.deferred:
            self.batch.finish()

    def _set_up(self) -> None:
        """Make the machine's passes; once."""
        raise NotImplementedError

    def _create_streams(self, records: Mapping[str, Record]) -> None:
        """Create the streams that the caller did not lend."""
        for name, record in records.items():
            if name not in self.streams:
                self.streams[name] = self._owned_streams[name] = Stream(self.device, record, self.size)

    def borrow(self, streams: Mapping[str, Stream]) -> None:
        """Use these inputs and results from the next run on. Raises DeviceError for a mismatch."""
        for name, stream in streams.items():
            record = self.linked.records[name]
            gathered = any(name in state.gathers() for state in self.linked.program.states)
            if stream.record != record or (stream.size != self.size and not gathered):
                what = f"holds {stream.record.name} in {stream.size}, not {record.name} in {self.size}"
                raise DeviceError(f"stream {name}", what, "lend another")
        if any(self.streams.get(name) is not stream for name, stream in streams.items()):
            self.streams |= streams
            self._attach()

    def _attach(self) -> None:
        """Bind the textures of the machine's streams, after some were replaced."""
        raise NotImplementedError

    def choose(self, chosen: Stream | None) -> None:
        """Restrict runs to the rays chosen by a stream of `CHOICE`, of its size; None: all rays."""
        assert chosen is None or chosen.size == self.size
        self.chosen = chosen

    @property
    def ray_selection(self) -> RaySelection:
        """The restriction of runs to chosen rays, for this machine's streams."""
        if self._ray_selection is None:
            self._ray_selection = RaySelection(self.device, self.size)
        return self._ray_selection

    @property
    def rays(self) -> int:
        """Capacity of the streams in rays."""
        return self.size[0] * self.size[1]

    @property
    def bytes(self) -> int:
        """Texture memory of its own streams."""
        return sum(s.bytes for s in (*self._owned_streams.values(), *self.counts.values()))

    def run(self, count: int | None = None) -> Iterator[RunProgress]:
        """Run the first ``count`` rays (by default all) in row order; may be abandoned at any yield."""
        raise NotImplementedError

    def finish(self, count: int | None = None) -> None:
        """Run to completion."""
        for _ in self.run(count):
            pass

    def warm(self) -> Iterator[float]:
        """Draw every pass for no ray: drivers compile a program on its first draw. Yields the fraction done.

        The streams' contents are undefined afterwards.
        """
        raise NotImplementedError

    def write(self, stream: str, array: NDArray) -> None:
        """Fill an input stream: (H, W) structured."""
        self.streams[stream].write(array)

    def read(self, stream: str) -> NDArray:
        """A result stream: (H, W) structured."""
        return self.streams[stream].read()

    def set(self, values: Mapping[str, Any]) -> None:
        """Set uniforms of modules for every pass."""
        self.values |= values
        for shader in self.shaders.values():
            for name, value in values.items():
                shader.set(name, value)

    def release(self) -> None:
        """Free its own streams, not borrowed ones."""
        self.batch.release()
        for stream in (*self._owned_streams.values(), *self.counts.values()):
            stream.release()
        if self.retry_machine is not None:
            self.retry_machine.release()
            self.retry_machine = None
        if self._ray_selection is not None:
            self._ray_selection.release()

    def calls(self) -> dict[str, NDArray[np.int32]]:
        """Kernel calls per ray and state, (H, W) int32; only with ``counting``."""
        return {state: counts[..., 0].astype(np.int32) for state, counts in self._counts_by_state().items()}

    # -- for the machines ------------------------------------------------------------------------------------------

    def _retry(self, machine_type: Callable[..., Machine], rays: int) -> Iterator[RunProgress]:
        """Repeat the run, over the same inputs and results, on a machine whose passes may end at any iteration of a
        loop.

        llvmpipe ends the loops of a fragment program after 65,535 iterations of all of them together, for all rays that
        run side by side (LP_MAX_TGSI_LOOP_ITERATIONS): a list of 60,000 triangles in one voxel is enough. A
        single-kernel pass is repeated until no ray waits for it; a program of chained kernels starts over.
        """
        program = self.linked.program
        changed = {s for state in program.states for s in state.writes()} & set(program.inputs)
        if changed and not program.resumes:
            what = f"the driver ended loops early, the program overwrote its input {', '.join(sorted(changed))}"
            raise DeviceError(self.device.name, what, "use --machine multipass --fuse none")
        lent = {name: self.streams[name] for name in (*program.inputs, *program.results)}
        if self.retry_machine is None:
            self.retry_machine = machine_type(
                self.device, self.fallback(), self.size, self.resources, lent, counting=self.counting
            )
        retry_machine = self.retry_machine
        retry_machine.borrow(lent)
        retry_machine.set(self.values)
        retry_machine.choose(self.chosen)
        yield from retry_machine.run(rays)
        first_run = self.stats
        self.stats = replace(
            retry_machine.stats,
            passes=first_run.passes + retry_machine.stats.passes,
            kernel_passes=first_run.kernel_passes + retry_machine.stats.kernel_passes,
            mask_passes=first_run.mask_passes + retry_machine.stats.mask_passes,
            count_passes=first_run.count_passes + retry_machine.stats.count_passes,
            copy_passes=first_run.copy_passes + retry_machine.stats.copy_passes,
            tiles=first_run.tiles + retry_machine.stats.tiles,
        )

    def _compile(self, step: Step, form: Form) -> Shader:
        self.linked.check(step, form.scheduled)
        source = fragment(self.linked, step, form, self.resources)
        shader = self.shaders[step, form] = Shader(self.device, source, kernel=True)
        for name, base in self.resources.bases(self.linked.modules_for(self.linked.kernels_of(step))).items():
            shader.set(name, base)
        for module in self.linked.modules_for(self.linked.kernels_of(step)):
            for name, (_, value) in module.uniforms.items():
                shader.set(name, self.values.get(name, value))
        return shader

    def _create_counts(self) -> None:
        if self.counting:
            count = -(-len(self.linked.counted.states) // COUNTED_PER_TEXEL)
            self.counts = {f"count_{k}": Stream(self.device, COUNTS, self.size) for k in range(count)}

    def _clear_counts(self) -> None:
        for stream in self.counts.values():
            stream.clear()

    def _count_drawings(self, step: Step, form: Form, tiles: Tiles) -> list[Drawing]:
        """The programs that count a step's kernel calls, each for as many textures as one pass can write."""
        if not self.counting:
            return []
        parts = self.linked.count_parts(step)
        return [Drawing(self.device, self._compile(step, replace(form, counts=part)), tiles) for part in parts]

    def _count(self, drawing: Drawing, samplers: Sequence[tuple[str, Any]]) -> None:
        """Draw a program of `_count_drawings` over bound target and mask; it adds to the count textures."""
        context = self.device.context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE
        context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
        for name, texture in samplers:
            drawing.shader.bind(name, texture)
        drawing.render()
        context.disable(moderngl.BLEND)

    def _textures(self, names: Sequence[str], back: bool = False) -> list[moderngl.Texture]:
        """The textures by the generator's names, as "hit_0" or "count_2"; ``back``: of the second sets."""
        textures = []
        for name in names:
            stream, _, index = name.rpartition("_")
            source = self.counts.get(name) or self.streams.get(stream) or self.streams[name]
            k = int(index) if source is self.streams.get(stream) else 0
            textures.append((source.back if back else source.textures)[k])
        return textures

    def _samplers(self, step: Step, form: Form) -> list[tuple[str, Any]]:
        """(name of the sampler, texture) of a step's streams and memories; uploads missing tables."""
        names = inputs(self.linked, step, form)
        samplers: list[tuple[str, Any]] = list(zip([f"in_{n}" for n in names], self._textures(names), strict=True))
        memories = self.linked.memories_of(step)
        for memory in memories:
            if not isinstance(memory, Table) or memory.hot:
                samplers.append((f"memory_{memory.name}", self.resources.get(memory).texture))
        cold = [memory for memory in memories if isinstance(memory, Table) and not memory.hot]
        for table in cold:
            self.resources.base(table)  # uploads on first use
        if cold:
            samplers.append(("memory_arena", self.resources.arena))
        return samplers

    def _targets(self, step: Step, form: Form, back: bool = False) -> list[moderngl.Texture]:
        return self._textures(outputs(self.linked, step, form), back)

    def _counts_by_state(self) -> dict[str, NDArray[np.float32]]:
        """(H, W, 2) float32 per state: calls, and words fetched at random."""
        texels = {name: stream.read_texels()[..., 0, :] for name, stream in self.counts.items()}
        counts = {}
        for k, state in enumerate(self.linked.counted.states):
            texel, index = divmod(k, COUNTED_PER_TEXEL)
            counts[state.name] = texels[f"count_{texel}"][..., 2 * index : 2 * index + 2]
        return counts

    def _sum_kernel_totals(self) -> None:
        """Fill in the statistics per kernel, from the counts of the run and the declarations."""
        counted = self._counts_by_state()
        for state in self.linked.counted.states:
            calls, random_words = (int(x) for x in counted[state.name].astype(np.float64).sum(axis=(0, 1)))
            words = {
                access: 4 * sum(self.linked.records[s].texels for s in dict.fromkeys(streams))
                for access, streams in (
                    ("read", state.reads()),
                    ("written", state.writes()),
                    ("touched", [*state.reads(), *state.writes()]),
                )
            }
            self.stats.kernels[state.name] = KernelTotal(
                state.kernel.name,
                calls,
                words_random=random_words,
                words_read_per_call=words["read"] + STATE_WORDS,
                words_written_per_call=words["written"] + STATE_WORDS,
                state_bytes=4 * (words["touched"] + STATE_WORDS),
            )
        self.stats.calls = {state: count[..., 0].astype(np.int32) for state, count in counted.items()}
