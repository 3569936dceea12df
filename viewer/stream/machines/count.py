"""How the multipass machine learns how many rays wait: by occlusion queries, or by a census.

A query answers for one step and the whole stream, in the hardware's own counter. A census is a small reduction that is
read back: rays of every step, for each tile of the stream, so that passes can be drawn on the tiles that hold rays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.stream.compile.link import LinkedProgram, Step
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Drawing, Shader, Tiles
from viewer.stream.gl.stream import Stream
from viewer.stream.machines.common import COUNTS
from viewer.stream.machines.mask import Mask, step_source

COUNT_MODES = ("query", "census")
EDGE = 16  # rays along a tile's edge
MANY = 0.9  # of the tiles: then one square is drawn faster than they are


class Queries:
    """Occlusion queries, used again once they have been read."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._free: deque[moderngl.Query] = deque()  # one that is asked again at once waits for its last answer

    def take(self) -> moderngl.Query:
        """One that nobody waits for."""
        return self._free.popleft() if self._free else self.device.context.query(samples=True)

    def read(self, query: moderngl.Query) -> int:
        """Its samples, and it is free; waits until the device has come so far."""
        self._free.append(query)
        return self.device.samples(query)

    def give_back(self, queries: Sequence[moderngl.Query]) -> None:
        """Nobody will read these."""
        self._free += queries


def waiting(mask: Mask, queries: Queries, numbers: Sequence[int]) -> list[int]:
    """Rays that wait for each of these steps, by count passes over one mask. Waits for the device once."""
    asked = []
    if mask.lasts:
        mask.select(numbers[0])
    for number in numbers:
        asked.append(queries.take())
        mask.count(number, asked[-1])
    return [queries.read(query) for query in asked]


class Census:
    """Rays in each step, for each tile that is drawn: one small reduction, read back."""

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
            shader.set("clip", (2.0 / (size[0] * tiles.edge), 2.0 / (size[1] * tiles.edge)))  # a texel for each tile
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

    def release(self) -> None:
        """Free its textures."""
        for _, target, _ in self.parts:
            target.release()


def census_sources(linked: LinkedProgram, steps: Sequence[Step], edge: int) -> Iterator[Source]:
    """The census programs: each counts the rays of four steps."""
    for first in range(1, len(steps) + 1, 4):
        yield step_source(linked, steps, "census", EDGE=edge, FIRST=first)
