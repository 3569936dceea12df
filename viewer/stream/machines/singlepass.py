"""The branching (MIMD) machine of Purcell et al. 2002 and of Adinetz and Berezin: the whole program in one pass."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

import moderngl

from raystream.stream.compile.generate import Form
from raystream.stream.gl.draw import Drawing, Tiles
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import Machine, RunProgress
from raystream.stream.machines.counters import KernelPass, Stats
from raystream.stream.machines.multipass import Multipass

# -- batches of samples: runs to lesser limits, where a driver ends the loops of one that does all at once -------------

BATCHES_BEFORE_GROWTH = 4  # batches that pass before a larger one is tried at first


class SampleBatches:
    """The limits to which a program runs one after the other (`Program.limit`).

    A run does all at once until the driver has ended its loops. From then on batches are small enough for it. As rays
    of other pictures may be cheaper, batches are doubled after some have passed; each time in vain, after twice as
    many: a batch in vain is drawn again but for the rays that it has served. Where rays stand is taken from the runs
    before; where that is wrong, from no progress at all.
    """

    def __init__(self) -> None:
        self.max_samples: int | None = None  # of a batch; None: no loop has been ended
        self._span = (0, 0)  # of the last run
        self._reached = self._end = 0
        self._is_reached_known = False  # that rays have come to ``_reached``
        self._passed_in_row = 0  # full batches in a row, none in vain
        self._passes_before_growth = BATCHES_BEFORE_GROWTH  # of them, before a larger one is tried
        self._just_doubled = False  # whether no batch of the present size has passed since it was doubled

    def ends(self, end: int) -> Iterator[int]:
        """The limits up to ``end``; after each, `record` says whether the driver let all rays get there."""
        first, last = self._span
        self._reached = last if last < end else first if last == end else 0
        self._span, self._is_reached_known = (self._reached, end), self._reached == 0
        while True:
            self._end = end if self.max_samples is None else min(end, self._reached + self.max_samples)
            yield self._end
            if self._reached >= end:
                return

    @property
    def is_smallest(self) -> bool:
        """Whether the present batch cannot be halved."""
        return self._is_reached_known and self._end - self._reached <= 1

    def record(self, all_reached: bool, without_retry: bool = True) -> None:
        """All rays have come to the present limit, or some have not. without_retry : not by another machine's help."""
        if all_reached:
            if without_retry and self._is_reached_known and self._end - self._reached == self.max_samples:
                self._record_pass()
            self._reached, self._is_reached_known = self._end, True
        elif not self._is_reached_known:
            self._reached, self._is_reached_known = 0, True
        else:
            self.max_samples = max(1, (self._end - self._reached) // 2)
            self._passes_before_growth *= 1 + self._just_doubled
            self._passed_in_row, self._just_doubled = 0, False

    def _record_pass(self) -> None:
        """A batch of the largest size has passed."""
        assert self.max_samples is not None
        if self._just_doubled:
            self._passes_before_growth = BATCHES_BEFORE_GROWTH
        self._passed_in_row, self._just_doubled = self._passed_in_row + 1, False
        if self._passed_in_row >= self._passes_before_growth:
            self.max_samples, self._passed_in_row, self._just_doubled = 2 * self.max_samples, 0, True


# -- the branching machine ---------------------------------------------------------------------------------------------


class Singlepass(Machine):
    """One generated fragment program: a loop over looping states; intermediate streams are local variables."""

    name = "singlepass"

    def _set_up(self) -> None:
        """Make streams for inputs, results and counts, the drawing of the whole program and those of its counts, and
        their targets. No tile is left out, and all are drawn at one depth, between those of a selection of rays."""
        device, linked, size = self.device, self.linked, self.size
        self.step = linked.single()
        self.form = Form(scheduled=False, software=device.software_form)
        names = dict.fromkeys((*linked.program.inputs, *linked.program.results))
        self._create_streams({name: linked.records[name] for name in names})
        self._create_counts()
        self.bands = self.options.bands
        tiles = Tiles(device, size, max(size))
        tiles.set_alive(None)
        self.drawing = Drawing(device, self._compile(self.step, self.form), tiles)
        self.count_drawings = self._count_drawings(self.step, self.form, tiles)
        for drawing in (self.drawing, *self.count_drawings):
            drawing.shader.set("depth", 0.5)
        self.in_place = [stream for stream in self.step.loads if stream in self.step.stores]
        self.batches = SampleBatches()
        self._attach()

    def use_streams(self, streams: Mapping[str, Stream]) -> None:
        """Switch to these streams, all inputs and results in one common size, without compiling."""
        size = next(iter(streams.values())).size
        if size != self.size:
            assert not self.counting and streams.keys() == {*self.linked.program.inputs, *self.linked.program.results}
            for stream in self._owned_streams.values():
                stream.release()
            self._owned_streams.clear()
            if self.retry_machine is not None:
                self.retry_machine.release()
                self.retry_machine = None
            if self._ray_selection is not None:
                self._ray_selection.fit(size)
            tiles = Tiles(self.device, size, max(size))
            tiles.set_alive(None)
            self.size, self.drawing = size, Drawing(self.device, self.drawing.shader, tiles)
        self.borrow(streams)

    def _attach(self) -> None:
        self._all_targets = self.target, self.count_targets = self._create_targets(None)
        self._chosen_targets: tuple[moderngl.Framebuffer, list[moderngl.Framebuffer]] | None = None
        self.samplers = self._samplers(self.step, self.form)
        self.copies = self._read_copies() if self.in_place and self.device.texture_barrier is None else []

    def _create_targets(
        self, depth: moderngl.Texture | None
    ) -> tuple[moderngl.Framebuffer, list[moderngl.Framebuffer]]:
        """Framebuffers of a run and of its counts, with or without a depth buffer."""
        parts = self.linked.count_parts(self.step) if self.count_drawings else ()
        counted = [[self.counts[f"count_{k}"].textures[0] for k in part] for part in parts]
        framebuffers = [
            self.device.context.framebuffer(attachments, depth)
            for attachments in (self._targets(self.step, self.form), *counted)
        ]
        for target in framebuffers:
            target.depth_mask = False
        return framebuffers[0], framebuffers[1:]

    def _read_copies(self) -> list[tuple[moderngl.Framebuffer, moderngl.Framebuffer]]:
        """Have streams that are both read and written sampled from copies; (to, from) pairs to copy before each run."""
        framebuffer, copies = self.device.context.framebuffer, []
        for stream in (self.streams[name] for name in self.in_place):
            for front, back in zip(stream.textures, stream.back, strict=True):
                copies.append((framebuffer([back]), framebuffer([front])))
                self.samplers = [(name, back if texture is front else texture) for name, texture in self.samplers]
        return copies

    def run(self, count: int | None = None) -> Iterator[RunProgress]:
        """One draw per band; rays beyond ``count`` are left alone.

        A program with a limit whose loops the driver has ended runs to lesser limits first.
        """
        self.resources.update_computed_tables()
        rays = self.rays if count is None else count
        self.stats = Stats(rays=rays)
        if self.counting:
            self._clear_counts()
        for drawing in (self.drawing, *self.count_drawings):
            drawing.shader.set("extent", (self.size[0], rays))
        # Rays of loops ended by the driver are discarded (see `_retry`), and so missing in the number of samples.
        checks = self.counting or self.device.software
        chosen_rays = self._select_rays(rays, checks)
        query = Query(self.device, samples=True, time=self.counting) if checks else None
        limit = self.linked.program.limit
        if query is None or self.counting or limit not in self.values:
            if not (yield from self._draw_once(rays, chosen_rays, query)):
                yield from self._retry(Multipass, rays)
            return
        end = int(self.values[limit])
        for to in self.batches.ends(end):
            self.set({limit: to})
            done = yield from self._draw_once(rays, chosen_rays, query)
            helped = not done and self.batches.is_smallest
            if helped:
                yield from self._retry(Multipass, rays)
            self.batches.record(done or helped, not helped)
        self.set({limit: end})

    def _draw_once(self, rays: int, chosen_rays: int, query: Query | None) -> Generator[RunProgress, None, bool]:
        """Draw once; whether all of the ``chosen_rays`` are done, as a query tells."""
        context, barrier = self.device.context, self.device.texture_barrier
        for to, source in self.copies:
            to.use()  # resets other scissors, which would clip the copy
            context.copy_framebuffer(to, source)
        fragments, seconds, remaining = 0, 0.0, rays
        for band in self._bands(rays):
            if barrier is not None and self.in_place:
                barrier()
            for drawing, target in zip(self.count_drawings, self.count_targets, strict=True):
                self._set_target(target, band)
                self._count(drawing, self.samplers)
                target.scissor = (0, 0, *self.size)
            self._set_target(self.target, band)
            self.drawing.render(query)
            self.target.scissor = (0, 0, *self.size)
            self.stats.kernel_passes += 1
            remaining -= band[2] * band[3]
            yield RunProgress(self.stats.kernel_passes, remaining, rays)
            if query is not None:  # reading blocks: by now the caller may have given the device more work
                fragments += query.samples
                seconds += query.elapsed * 1e-9 if self.counting else 0.0
        if self.counting:
            self._sum_kernel_totals()
            calls = sum(total.calls for total in self.stats.kernels.values())
            words = [
                4 * sum(self.linked.records[s].texels for s in names) for names in (self.step.loads, self.step.stores)
            ]
            self.stats.passes = [
                KernelPass(self.step.name, fragments, calls, seconds, words[0] * fragments, words[1] * fragments)
            ]
        return query is None or fragments >= chosen_rays

    def warm(self) -> Iterator[float]:
        """The one program, drawn for no ray."""
        self.drawing.shader.set("extent", (self.size[0], 0))
        self._set_target(self.target, (0, 0, 1, 1))
        # To a driver, counting samples is another variant.
        counts = self.counting or self.device.software
        self.drawing.render(Query(self.device, samples=True, time=self.counting) if counts else None)
        self.target.scissor = (0, 0, *self.size)
        self.device.wait()
        self.warmed = True
        yield 1.0

    def _select_rays(self, rays: int, counted: bool) -> int:
        """Prepare drawing on the chosen rays; returns their number if ``counted``."""
        self.target, self.count_targets = self._all_targets
        if self.chosen is None:
            return rays
        chosen_rays = self.ray_selection.write_depths(self.chosen, self._bands(rays), counted)
        if self._chosen_targets is None:
            self._chosen_targets = self._create_targets(self.ray_selection.depth_buffer())
        self.target, self.count_targets = self._chosen_targets
        return chosen_rays

    def _set_target(self, target: moderngl.Framebuffer, band: tuple[int, int, int, int]) -> None:
        """Prepare drawing on a rectangle of the streams."""
        target.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        if self._chosen_targets is not None and target in (self._chosen_targets[0], *self._chosen_targets[1]):
            self.device.context.enable(moderngl.DEPTH_TEST)
            self.device.context.depth_func = "=="
        for name, texture in self.samplers:
            self.drawing.shader.bind(name, texture)
        target.scissor = band

    def _bands(self, rays: int) -> Iterator[tuple[int, int, int, int]]:
        """Rectangles (x, y, width, height) that cover the first ``rays`` rays: strips of rows, then the rest."""
        width = self.size[0]
        rows, remainder = divmod(rays, width)
        for band in range(self.bands):
            first, last = rows * band // self.bands, rows * (band + 1) // self.bands
            if first < last:
                yield 0, first, width, last - first
        if remainder:
            yield 0, rows, remainder, 1
