"""What every machine has: streams, memories, uniforms, and a run that yields progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import DeviceError
from viewer.stream.compile.generate import Form, fragment, inputs, outputs
from viewer.stream.compile.link import COUNTED_PER_TEXEL, LinkedProgram, Step
from viewer.stream.declare.kernel import Table, Texels, Volume
from viewer.stream.declare.record import Field, Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Shader
from viewer.stream.gl.memory import Joined, Memory, layouts
from viewer.stream.gl.stream import Stream
from viewer.stream.machines.counters import KernelTotal, Stats

STATE_WORDS = 2  # state and return state
COUNTS = Record("Counts", Field("pairs", "vec4", about="calls and random words of two states"))


@dataclass(frozen=True)
class Progress:
    """How far a run is: kernel passes so far, rays not yet done (as far as the host knows), rays in all."""

    passes: int
    active: int
    rays: int


class Memories:
    """The memories of one device, uploaded once and shared by machines."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._made: dict[int, Memory] = {}
        self._joined: dict[tuple[int, ...], Joined] = {}

    def get(self, source: Table | Volume | Texels) -> Memory:
        """The texture of a memory."""
        if id(source) not in self._made:
            self._made[id(source)] = Memory(self.device, source)
        return self._made[id(source)]

    def joined(self, tables: Sequence[Table]) -> Joined:
        """The texture that these tables share."""
        key = tuple(map(id, tables))
        if key not in self._joined:
            self._joined[key] = Joined(self.device, tables)
        return self._joined[key]

    def upload(self, sources: Iterable[Table | Volume | Texels]) -> Iterator[float]:
        """Make those that are not there yet, piece by piece; yields the share that is done. It may be abandoned."""
        missing = [source for source in sources if id(source) not in self._made]
        total, before = sum(len(source.data) for source in missing), 0
        for source in missing:
            memory = Memory(self.device, source, filled=False)
            for share in memory.fill():
                yield (before + share * len(source.data)) / max(1, total)
            self._made[id(source)] = memory
            before += len(source.data)

    def update(self, source: Table, first: int, last: int) -> None:
        """Bring rows first .. last - 1 of a table, which has changed in place, to the device, if it is there at all."""
        if id(source) in self._made and last > first:
            self._made[id(source)].update(first, last)
        for joined in self._joined.values():
            if id(source) in joined.bases:
                joined.update(source, first, last)

    def drop(self, sources: Iterable[Table | Volume | Texels]) -> None:
        """Free the textures of these, of which no machine is left that reads them."""
        gone = set(map(id, sources))
        for key in gone & self._made.keys():
            self._made.pop(key).release()
        for tables in [tables for tables in self._joined if not gone.isdisjoint(tables)]:
            self._joined.pop(tables).release()

    def bytes(self) -> dict[str, int]:
        """Texture bytes by name."""
        shared = sum(joined.bytes for joined in self._joined.values())
        own = {memory.source.name: memory.bytes for memory in self._made.values()}
        return own | ({"joined": shared} if shared else {})

    def release(self) -> None:
        """Free all textures."""
        for memory in self._made.values():
            memory.release()
        for joined in self._joined.values():
            joined.release()
        self._made.clear()
        self._joined.clear()


class Machine:
    """Runs a bound program over W x H rays. ``counting`` keeps exact counters, which makes the host wait per pass."""

    name = "machine"

    def __init__(
        self,
        device: Device,
        linked: LinkedProgram,
        size: tuple[int, int],
        memories: Memories | None = None,
        counting: bool = False,
        fallback: Callable[[], LinkedProgram] | None = None,
    ) -> None:
        self.device, self.linked, self.size, self.counting = device, linked, size, counting
        self.fallback = fallback or (lambda: linked)  # the program for passes of one kernel each, see `_again`
        self.memories = memories or Memories(device)
        self.streams: dict[str, Stream] = {}
        self.counts: dict[str, Stream] = {}
        self.stats = Stats()
        self.shaders: dict[Step, Shader] = {}
        self.values: dict[str, Any] = {}  # uniforms set by `set`
        self.spare: Machine | None = None
        self.warmed = False  # `warm` has come to its end

    @property
    def rays(self) -> int:
        """Rays that the streams can hold."""
        return self.size[0] * self.size[1]

    @property
    def bytes(self) -> int:
        """Texture memory of streams."""
        return sum(s.bytes for s in (*self.streams.values(), *self.counts.values()))

    def run(self, count: int | None = None) -> Iterator[Progress]:
        """Run the first ``count`` rays (all without) in row order; may be abandoned at any yield."""
        raise NotImplementedError

    def finish(self, count: int | None = None) -> None:
        """Run to the end."""
        for _ in self.run(count):
            pass

    def warm(self) -> Iterator[float]:
        """Draw every pass for no ray: drivers compile a program when it is first drawn. Yields the share that is done.

        Streams hold nothing of use afterwards.
        """
        raise NotImplementedError

    def write(self, stream: str, array: NDArray) -> None:
        """Fill an input stream: (H, W) structured."""
        self.streams[stream].write(array)

    def read(self, stream: str) -> NDArray:
        """A result stream: (H, W) structured."""
        return self.streams[stream].read()

    def set(self, values: Mapping[str, Any]) -> None:
        """Set uniforms of modules, for every pass."""
        self.values |= values
        for shader in self.shaders.values():
            for name, value in values.items():
                shader.set(name, value)

    def release(self) -> None:
        """Free the streams (memories are shared, and stay)."""
        for stream in (*self.streams.values(), *self.counts.values()):
            stream.release()
        if self.spare is not None:
            self.spare.release()
            self.spare = None

    def calls(self) -> dict[str, NDArray[np.int32]]:
        """Kernel calls per ray and state, (H, W) int32; only with ``counting``."""
        return {state: part[..., 0].astype(np.int32) for state, part in self._counted().items()}

    # -- for the machines ------------------------------------------------------------------------------------------

    def _again(self, spare: Machine, rays: int) -> Iterator[Progress]:
        """Run all on a machine whose passes may end at any turn of a loop, and take its results over.

        llvmpipe ends the loops of a fragment program after 65,535 turns of all of them together, for all the rays that
        it runs side by side (LP_MAX_TGSI_LOOP_ITERATIONS): a list of 60,000 triangles in one voxel is enough. A pass of
        one kernel is served again until no ray waits for it; of a program that chains kernels nothing is kept.
        """
        program = self.linked.program
        changed = {s for state in program.states for s in state.writes()} & set(program.inputs)
        if changed and not program.resumes:
            what = f"the driver cut loops short, and the program has overwritten its input {', '.join(sorted(changed))}"
            raise DeviceError(self.device.name, what, "use --machine multipass --fuse none")
        self.spare = spare
        spare.set(self.values)
        for name in program.inputs:
            spare.write(name, self.read(name))
        yield from spare.run(rays)
        for name in program.results:
            mine = self.read(name)
            mine.reshape(-1)[:rays] = spare.read(name).reshape(-1)[:rays]
            self.write(name, mine)
        passes = self.stats
        self.stats = replace(
            spare.stats,
            passes=passes.passes + spare.stats.passes,
            kernel_passes=passes.kernel_passes + spare.stats.kernel_passes,
            mask_passes=passes.mask_passes + spare.stats.mask_passes,
            copy_passes=passes.copy_passes + spare.stats.copy_passes,
        )

    def _compile(self, step: Step, form: Form) -> Shader:
        counts = self.linked.count_textures(step) if form.counting else []
        self.linked.check(step, int(form.scheduled), len(counts))
        source = fragment(self.linked, step, form, layouts(self.device))
        shader = self.shaders[step] = Shader(self.device, source)
        for module in self.linked.modules_for(self.linked.kernels_of(step)):
            for name, (_, value) in module.uniforms.items():
                shader.set(name, value)
        return shader

    def _make_counts(self) -> None:
        if self.counting:
            number = -(-len(self.linked.counted.states) // COUNTED_PER_TEXEL)
            self.counts = {f"count_{k}": Stream(self.device, COUNTS, self.size) for k in range(number)}

    def _clear_counts(self) -> None:
        width, height = self.size
        zeros = np.zeros((height, width, 4), np.float32)
        for stream in self.counts.values():
            stream.write_texels([zeros])

    def _textures(self, step: Step, names: Sequence[str], back: bool = False) -> list[moderngl.Texture]:
        out = []
        for name in names:
            stream, _, index = name.rpartition("_")
            held = self.counts.get(name) or self.streams.get(stream) or self.streams[name]
            number = int(index) if held is self.streams.get(stream) else 0
            out.append((held.back if back else held.textures)[number])
        return out

    def _samplers(self, shader: Shader, step: Step, form: Form) -> list[tuple[str, Any]]:
        names = inputs(self.linked, step, form)
        linked: list[tuple[str, Any]] = list(zip([f"in_{n}" for n in names], self._textures(step, names), strict=True))
        counts = self.linked.count_textures(step) if form.counting else ()
        joined = self.linked.joined(step, int(form.scheduled), len(counts))
        shared = {id(table) for table in joined}
        for memory in self.linked.memories_of(step):
            if id(memory) not in shared:
                linked.append((f"memory_{memory.name}", self.memories.get(memory).texture))
        if joined:
            linked.append(("memory_joined", self.memories.joined(joined).texture))
        return linked

    def _targets(self, step: Step, form: Form, back: bool = False) -> list[moderngl.Texture]:
        return self._textures(step, outputs(self.linked, step, form), back)

    def _counted(self) -> dict[str, NDArray[np.float32]]:
        """(H, W, 2) float32 per state: calls, and words fetched at random."""
        texels = {name: stream.read_texels()[..., 0, :] for name, stream in self.counts.items()}
        out = {}
        for k, state in enumerate(self.linked.counted.states):
            texel, part = divmod(k, COUNTED_PER_TEXEL)
            out[state.name] = texels[f"count_{texel}"][..., 2 * part : 2 * part + 2]
        return out

    def _totals(self) -> None:
        """Per-kernel totals of the run, from the counts and the declarations."""
        counted = self._counted()
        for state in self.linked.counted.states:
            calls, random = (int(x) for x in counted[state.name].astype(np.float64).sum(axis=(0, 1)))
            words = {
                access: 4 * sum(self.linked.records[s].texels for s in dict.fromkeys(streams))
                for access, streams in (
                    ("read", state.reads()),
                    ("written", state.writes()),
                    ("kept", [*state.reads(), *state.writes()]),
                )
            }
            self.stats.kernels[state.name] = KernelTotal(
                state.kernel.name,
                calls,
                words_random=random,
                words_read_per_call=words["read"] + STATE_WORDS,
                words_written_per_call=words["written"] + STATE_WORDS,
                state_bytes=4 * (words["kept"] + STATE_WORDS),
            )
        self.stats.calls = {state: part[..., 0].astype(np.int32) for state, part in counted.items()}
