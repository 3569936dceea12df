"""The branching (MIMD) machine of Purcell et al. 2002 and of Adinetz and Berezin: the whole program in one pass."""

from __future__ import annotations

from collections.abc import Iterator

import moderngl

from viewer.stream.bound import Bound
from viewer.stream.counters import Pass, Stats
from viewer.stream.device import Device
from viewer.stream.generate import Form
from viewer.stream.machines.common import Drawing, Machine, Memories, Progress, Tiles
from viewer.stream.stream import Stream


class Singlepass(Machine):
    """One generated fragment program: a loop over states that loop inside; streams in between are local variables.

    bands : horizontal strips that a run is drawn in, so that a caller may stop between them.
    """

    name = "singlepass"

    def __init__(
        self,
        device: Device,
        bound: Bound,
        size: tuple[int, int],
        memories: Memories | None = None,
        counting: bool = False,
        bands: int = 1,
    ) -> None:
        super().__init__(device, bound, size, memories, counting)
        self.step = bound.single()
        self.form = Form(scheduled=False, counting=counting)
        self.streams = {
            name: Stream(device, bound.records[name], size)
            for name in dict.fromkeys((*bound.program.inputs, *bound.program.results))
        }
        self._make_counts()
        self.bands = bands
        shader = self._compile(self.step, self.form)
        tiles = Tiles(device, size, max(size))
        tiles.keep(None)
        self.drawing = Drawing(device, shader, tiles)
        shader.set("depth", 0.5)
        self.target = device.context.framebuffer(self._targets(self.step, self.form))
        self.samplers = self._samplers(shader, self.step, self.form)

    def run(self, count: int | None = None) -> Iterator[Progress]:
        """One draw for each band; rays beyond ``count`` are left alone by rows."""
        context, (width, height) = self.device.context, self.size
        rows = height if count is None else -(-count // width)
        self.stats = Stats(rays=self.rays if count is None else count)
        query = context.query(samples=True, time=True) if self.counting else None
        self.target.use()
        context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        fragments, seconds = 0, 0.0
        for band in range(self.bands):
            first, last = rows * band // self.bands, rows * (band + 1) // self.bands
            if first == last:
                continue
            self.target.use()
            for name, texture in self.samplers:
                self.drawing.shader.bind(name, texture)
            self.target.scissor = (0, first, width, last - first)
            if query is None:
                self.drawing.render()
            else:
                with query:
                    self.drawing.render()
                fragments += query.samples
                seconds += query.elapsed * 1e-9
            self.target.scissor = (0, 0, width, height)
            self.stats.kernel_passes += 1
            yield Progress(band + 1, width * (rows - last), width * rows)
        if self.counting:
            self._totals()
            calls = sum(total.calls for total in self.stats.kernels.values())
            words = [
                4 * sum(self.bound.records[s].texels for s in names) for names in (self.step.loads, self.step.stores)
            ]
            self.stats.passes = [
                Pass(self.step.name, fragments, calls, seconds, words[0] * fragments, words[1] * fragments)
            ]
