"""Rays excluded from a run, as of pixels that need no more samples.

Early-z discards them before the kernel's program starts, like masks (Purcell 2004, section 4.1.2): in the single pass
by a separate depth buffer, in the multipass machine by the state done from the start.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

import moderngl

from raystream.stream.compile.source import Source
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream

CHOICE = Record("Choice", Field("chosen", "float", about="above 0: the ray takes part in the run"))
DEPTH = 0.5  # of the chosen rays; exact in every depth format

Box = tuple[int, int, int, int]  # x, y, width, height


def choice_source() -> Source:
    """The fragment program of both variants."""
    return Source.of_file("stream/choose.glsl")


class Choice:
    """Applies a stream of `CHOICE` to a machine's streams of ``size`` (width, height). Every call needs a current
    context."""

    def __init__(self, device: Device, size: tuple[int, int]) -> None:
        self.device = device
        self.shader = Shader(device, choice_source())
        self.shader.set("depth", DEPTH)
        self.depth: moderngl.Texture | None = None
        self.fit(size)

    def fit(self, size: tuple[int, int]) -> None:
        """Switch to streams of another size, without compiling."""
        self.release()
        tiles = Tiles(self.device, size, max(size))
        tiles.keep(None)
        self.size, self.drawing = size, Drawing(self.device, self.shader, tiles)

    def depths(self) -> moderngl.Texture:
        """The depth buffer filled by `lay`."""
        if self.depth is None:
            self.depth = self.device.context.depth_texture(self.size)
            self.target = self.device.context.framebuffer(depth_attachment=self.depth)
        return self.depth

    def lay(self, chosen: Stream, bands: Iterable[Box], counted: bool = False) -> int:
        """Give the chosen rays within the bands the depth `DEPTH`, and all others another; returns the number of chosen
        rays if ``counted``."""
        self.depths()
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

    def _draw(self, chosen: Stream, selected: int) -> None:
        self.drawing.shader.bind("in_chosen", chosen.textures[0])
        self.drawing.shader.set("wanted", selected)
        self.drawing.render()

    def release(self) -> None:
        """Free the depth buffer."""
        if self.depth is not None:
            self.depth.release()
            self.depth = None
