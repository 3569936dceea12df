"""Counts of waiting rays for the multipass machine: by occlusion queries, or by a census.

A query answers for one step and the whole stream, in the hardware's own counter. A census is a small reduction, read
back: rays of every step in each tile of the stream, so that passes are drawn only on tiles with rays.
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
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import COUNTS
from raystream.stream.machines.mask import Mask, step_source

COUNT_MODES = ("query", "census")
MANY = 0.4  # of the tiles, beyond which one square is faster: on llvmpipe by two, were it all of them


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

    def give_back(self, queries: Sequence[Query]) -> None:
        """Free queries without reading them."""
        self._free += queries


def waiting(mask: Mask, queries: Queries, indices: Sequence[int], masked: bool = False) -> list[int]:
    """Rays waiting for each of these steps, by count passes over one mask, which may be there. Waits for the device
    once."""
    count_queries = []
    if mask.lasts and not masked:
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
