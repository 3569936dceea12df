"""Masks: each restricts a pass to the rays in its state. One class each, behind a small interface.

Purcell et al. 2002, section 3.2, keep a ray's state in the stencil buffer; the dissertation (2004, section 4.1.2) in
the depth buffer, which fragment programs could write; its radiance estimate (section 6.3.3) draws tiles, without those
that an occlusion query has found empty.

A mask also counts the rays waiting for a step, by an occlusion query around a *count pass*: the two loops of section
4.1.2 are ``kill``, with the query around the mask pass itself, and ``depth``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.link import LinkedProgram, Step
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.objects import ALL_BITS, ALWAYS, EQUAL, KEEP, REPLACE, Query, Stencil
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import COUNTS

# Exact in float32, and rounded alike by the fragment program and the quad; room for 255 steps.
DEPTH_OF_STEP = 1.0 / 256.0


def step_source(
    linked: LinkedProgram, steps: Sequence[Step], name: str, extension: str = "", **constants: float | int
) -> Source:
    """A program of ``shaders/stream`` that calls ``step_of(state)``: 0 is done, then the steps in order."""
    source = Source.begin()
    if extension:
        source.add(f"#extension {extension} : require", "extension")
    source.add_constants(constants)
    indices = [0] * (linked.program.cut_number + 1)
    for index, step in enumerate(steps, 1):
        for state in step.states:
            indices[linked.program.number(state)] = index
    if indices[:-1] == list(range(linked.program.cut_number)):
        step_body = f"return state < {linked.program.cut_number} ? state : 0;"
    else:
        table = ", ".join(map(str, indices))
        step_body = f"const int steps[{len(indices)}] = int[{len(indices)}]({table});\n    return steps[state];"
    source.add(f"int step_of(int state) {{\n    {step_body}\n}}", "steps of states")
    source.include(f"stream/{name}.glsl")
    return source


def stream_sources(linked: LinkedProgram, steps: Sequence[Step]) -> Iterator[tuple[str, Source]]:
    """All programs drawn by masks, besides kernels, by name."""
    for mask in MASKS.values():
        for name, source in mask.sources(linked, steps).items():
            yield f"{mask.name} mask: {name}", source


def _empty_source() -> Source:
    """An empty program, for tests before the fragment stage."""
    source = Source.begin()
    source.add("void main() {}", "count pass")
    return source


class Mask:
    """No mask: the kernel's program itself discards the other rays (the difference is the gain of early-z).

    attach(textures): a framebuffer for drawing under the mask. enter(index), leave(): draws in between are masked to a
    step. select(index) prepares the pass of a step from the rays' present states; if ``covers_all_steps``, of any step.
    count(index, query) draws nothing visible, and counts the rays waiting for a step in an occlusion query.
    """

    name = "none"
    discards = True  # the kernel's program tests the state itself
    covers_all_steps = True
    by_tiles = False  # kernels are drawn tile by tile, each tile inside a query

    def __init__(
        self, device: Device, linked: LinkedProgram, steps: Sequence[Step], state: Stream, tiles: Tiles
    ) -> None:
        self.context, self.steps, self.state = device.context, steps, state
        self.depth: moderngl.Texture | None = None
        self.passes = self.counts = 0
        sources = self._supported(device, self.sources(linked, steps))
        shaders = {name: Shader(device, source) for name, source in sources.items()}
        self.drawings = {name: Drawing(device, shader, tiles) for name, shader in shaders.items()}
        for shader in shaders.values():
            shader.set("depth", 0.5)
        self.target = self._create_target(device)

    @classmethod
    def sources(cls, linked: LinkedProgram, steps: Sequence[Step]) -> dict[str, Source]:
        """Its fragment programs, by purpose."""
        return {"count": step_source(linked, steps, "mask_kill")}

    def _supported(self, device: Device, sources: dict[str, Source]) -> dict[str, Source]:
        """The programs among `sources` that the driver supports and needs."""
        return sources

    def _create_target(self, device: Device) -> moderngl.Framebuffer:
        """The framebuffer of the mask's own passes; OpenGL 3.3 requires an attachment even without output."""
        target = self.context.framebuffer([self.context.renderbuffer(self.state.size, 1)])
        target.color_mask = False, False, False, False
        return target

    def attach(self, textures: Sequence[moderngl.Texture]) -> moderngl.Framebuffer:
        """A framebuffer of these textures, of the stream's size, for `enter`."""
        target = self.context.framebuffer(list(textures), self.depth)
        target.depth_mask = False
        return target

    def enter(self, index: int) -> None:
        """Mask draws to the framebuffer in use to a step, until `leave`."""
        self.context.disable(moderngl.DEPTH_TEST)

    def leave(self) -> None:
        """End the masking."""

    def select(self, index: int) -> None:
        """Prepare the pass of a step; without a mask nothing to do."""

    def count(self, index: int, query: Query) -> None:
        """Count the rays waiting for a step inside ``query``, by a program that discards the others."""
        self._count("count", index, query)

    def _count(self, name: str, index: int, query: Query) -> None:
        self.target.use()
        self.context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        self.enter(index)
        drawing = self.drawings[name]
        drawing.shader.set("serves", index)
        drawing.shader.set("depth", index * DEPTH_OF_STEP)
        drawing.shader.bind("in_state", self.state.textures[0])
        with query:
            drawing.render()
        self.leave()
        self.counts += 1

    def release(self) -> None:
        """Free its target."""
        if self.depth is not None:
            self.depth.release()


class DepthMask(Mask):
    """A ray's step becomes its depth; a kernel's quad at its step's depth, with GL_EQUAL, covers only its rays.

    Purcell 2004, section 4.1.2.
    """

    name = "depth"
    discards = False

    def _create_target(self, device: Device) -> moderngl.Framebuffer:
        self.depth = self.context.depth_texture(self.state.size)
        return self.context.framebuffer(depth_attachment=self.depth)

    @classmethod
    def sources(cls, linked: LinkedProgram, steps: Sequence[Step]) -> dict[str, Source]:
        """See `Mask.sources`."""
        mask = step_source(linked, steps, "mask_depth", DEPTH_OF_STEP=DEPTH_OF_STEP)
        return {"mask": mask, "count": _empty_source()}

    def select(self, index: int) -> None:
        """Give every ray its step's depth; the kernel's quad selects one."""
        self._draw()

    def count(self, index: int, query: Query) -> None:
        """Count the rays waiting for a step inside ``query``, by the depth test alone, after `select`."""
        self.target.depth_mask = False
        self._count("count", index, query)

    def enter(self, index: int) -> None:
        """Require the step's depth."""
        self.context.enable(moderngl.DEPTH_TEST)
        self.context.depth_func = "=="

    def _draw(self) -> None:
        self.target.depth_mask = True
        self.target.use()
        self.context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        self.context.enable(moderngl.DEPTH_TEST)
        self.context.depth_func = "1"  # always
        drawing = self.drawings["mask"]
        drawing.shader.bind("in_state", self.state.textures[0])
        drawing.render()
        self.passes += 1


class KillMask(DepthMask):
    """A pass per step that discards the other rays; the depth comes from the quad.

    On some GPUs a program that writes gl_FragDepth disables coarse depth culling.
    """

    name = "kill"
    covers_all_steps = False

    @classmethod
    def sources(cls, linked: LinkedProgram, steps: Sequence[Step]) -> dict[str, Source]:
        """See `Mask.sources`."""
        return {"mask": step_source(linked, steps, "mask_kill")}

    def select(self, index: int) -> None:
        """Clear, and give the step's depth to its rays."""
        self._clear_for_step(index)
        self._draw()

    def count(self, index: int, query: Query) -> None:
        """Count the rays waiting for a step inside ``query``, by the mask pass itself, which prepares its pass too."""
        self._clear_for_step(index)
        with query:
            self._draw()
        self.counts += 1

    def _clear_for_step(self, index: int) -> None:
        self.target.depth_mask = True
        self.target.use()
        self.target.clear(depth=1.0)
        self.drawings["mask"].shader.set("serves", index)
        self.drawings["mask"].shader.set("depth", index * DEPTH_OF_STEP)


class StencilMask(Mask):
    """A ray's step is in the stencil buffer, and a kernel runs where it equals its own.

    In Purcell et al. 2002, section 3.2, kernels set the stencil. A fragment program of OpenGL 3.3 cannot, and with
    ARB_shader_stencil_export the test moves after the program. So a separate pass sets it for all rays: at once with
    that extension, else bit by bit.
    """

    name = "stencil"
    discards = False

    @classmethod
    def sources(cls, linked: LinkedProgram, steps: Sequence[Step]) -> dict[str, Source]:
        """See `Mask.sources`: ``mask`` or ``bit`` is drawn."""
        extension = "GL_ARB_shader_stencil_export"
        return {
            "mask": step_source(linked, steps, "mask_stencil", extension),
            "bit": step_source(linked, steps, "mask_stencil_bit"),
            "count": _empty_source(),
        }

    def _supported(self, device: Device, sources: dict[str, Source]) -> dict[str, Source]:
        self.bits = len(self.steps).bit_length()
        unused = "bit" if device.stencil_export else "mask"
        return {name: source for name, source in sources.items() if name != unused}

    def _create_target(self, device: Device) -> moderngl.Framebuffer:
        target = super()._create_target(device)
        self.stencil = Stencil(device, target)
        return target

    def attach(self, textures: Sequence[moderngl.Texture]) -> moderngl.Framebuffer:
        """A framebuffer with the stencil buffer of its own passes."""
        target = super().attach(textures)
        self.stencil.share(target)
        return target

    def enter(self, index: int) -> None:
        """Require the step's stencil value."""
        self.context.disable(moderngl.DEPTH_TEST)
        self.stencil.begin(EQUAL, index, KEEP)

    def leave(self) -> None:
        """End the stencil test."""
        self.stencil.end()

    def select(self, index: int) -> None:
        """Give every ray its step's stencil value; `enter` selects one."""
        self.target.use()
        self.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        if "mask" in self.drawings:
            self._draw("mask", ALL_BITS)
            return
        self.stencil.clear(0)
        for bit in range(self.bits):
            self.drawings["bit"].shader.set("bit", 1 << bit)
            self._draw("bit", 1 << bit)

    def _draw(self, name: str, bits: int) -> None:
        drawing = self.drawings[name]
        drawing.shader.bind("in_state", self.state.textures[0])
        with self.stencil.test(ALWAYS, ALL_BITS, REPLACE, bits=bits):
            drawing.render()
        self.passes += 1

    def release(self) -> None:
        """Free the stencil buffer."""
        super().release()
        self.stencil.release()


class TileMask(Mask):
    """No mask within a tile, and no tile without rays: see `raystream.stream.machines.multipass`."""

    name = "tiles"
    by_tiles = True


MASKS: dict[str, type[Mask]] = {mask.name: mask for mask in (DepthMask, StencilMask, KillMask, TileMask, Mask)}


# -- counts of waiting rays, by occlusion queries or by a census -------------------------------------------------------
# A query answers for one step and the whole stream, in the hardware's own counter. A census is a small reduction, read
# back: rays of every step in each tile of the stream, so that passes are drawn only on tiles with rays.

COUNT_MODES = ("query", "census")
MAX_TILE_FRACTION = 0.4  # of tiles with rays, beyond which one square is faster: twice on llvmpipe with all of them


class Queries:
    """Occlusion queries, reused once read."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._free: deque[Query] = deque()  # reusing one at once would wait for its last answer

    def take(self) -> Query:
        """An unused query."""
        return self._free.popleft() if self._free else Query(self.device, samples=True)

    def read(self, query: Query) -> int:
        """Read a query's samples and free it; waits until the device is done."""
        self._free.append(query)
        return query.samples

    def put_back(self, queries: Sequence[Query]) -> None:
        """Free queries without reading them."""
        self._free += queries


def waiting(mask: Mask, queries: Queries, indices: Sequence[int], masked: bool = False) -> list[int]:
    """The rays waiting for each of these steps, counted over one mask, in place if ``masked``; waits once."""
    count_queries = []
    if mask.covers_all_steps and not masked:
        mask.select(indices[0])
    for index in indices:
        count_queries.append(queries.take())
        mask.count(index, count_queries[-1])
    return [queries.read(query) for query in count_queries]


class Census:
    """Rays in each step, for each drawn tile: one small reduction, read back."""

    def __init__(
        self, device: Device, linked: LinkedProgram, steps: Sequence[Step], state: Stream, tiles: Tiles
    ) -> None:
        self.device, self.state, self.steps, self.tiles = device, state, len(steps), tiles
        size = (tiles.columns, tiles.rows)
        self.parts = []
        for source in census_sources(linked, steps, tiles.edge):
            shader = Shader(device, source)
            shader.set("size", state.size)
            target = Stream(device, COUNTS, size)
            drawing = Drawing(device, shader, tiles)
            shader.set("clip", (2.0 / (size[0] * tiles.edge), 2.0 / (size[1] * tiles.edge)))  # a texel per tile
            self.parts.append((drawing, target, device.context.framebuffer(target.textures)))

    def take(self) -> NDArray[np.int64]:
        """(rows, columns, 1 + steps): counts per tile, zeros for tiles not drawn; state 0, done, is not counted."""
        context = self.device.context
        counts = [np.zeros((self.tiles.rows, self.tiles.columns, 1), np.float32)]
        for drawing, target, framebuffer in self.parts:
            framebuffer.use()
            context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
            if not self.tiles.all:
                framebuffer.clear()
            drawing.shader.bind("in_state", self.state.textures[0])
            drawing.render()
            counts.append(target.read_texels()[..., 0, :])
        return np.concatenate(counts, axis=-1)[..., : 1 + self.steps].astype(np.int64)

    def release(self) -> None:
        """Free its textures."""
        for _, target, _ in self.parts:
            target.release()


def census_sources(linked: LinkedProgram, steps: Sequence[Step], edge: int) -> Iterator[Source]:
    """The census programs: each counts the rays of four steps."""
    for first in range(1, len(steps) + 1, 4):
        yield step_source(linked, steps, "census", EDGE=edge, FIRST=first)
