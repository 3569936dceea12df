"""The frame: a picture on the device that is refined piece by piece, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.render import Choices, Renderer, Slice
from viewer.stream.device import Device
from viewer.stream.draw import Drawing, Shader, Tiles
from viewer.stream.generate import VERSION
from viewer.stream.source import Source
from viewer.stream.stream import float_texture
from viewer.window.pace import Pace, stream_shape

FIRST_RATE = 1e6  # rays a second, before any has been seen
SMOOTHING = 0.4  # weight of the newest picture in the rate
SCALES = tuple(2 ** (-k / 4) for k in range(13))  # of the window's width and height, while the camera moves
FITTING = (0.6, 1.1)  # a preview may take this much of its budget before another scale is chosen


def film_shader(device: Device, name: str) -> Shader:
    """A program of ``shaders/film``."""
    source = Source()
    source.add(VERSION, "version")
    source.include(f"film/{name}.glsl")
    return Shader(device, source)


@dataclass
class _Job:
    """A picture under way: its pieces, whether it is a preview, its share of the window's width and height, and the
    seconds it has taken."""

    pieces: Iterator[tuple[float, Slice | None]]
    preview: bool
    scale: float
    target: moderngl.Texture
    spent: float = 0.0


class Frame:
    """Pictures of a scene: first a preview that is quick enough to follow the hand, at rest the window's full size.

    The picture on show is `texture` (linear sRGB, row 0 at the top). A preview replaces it when it is complete; the
    full picture fills it piece by piece, so that nothing flashes. `advance` traces for a while and returns.
    """

    def __init__(self, device: Device, size: tuple[int, int]) -> None:
        self.device = device
        self.size = (max(1, size[0]), max(1, size[1]))  # of the window, pixels
        self.renderer: Renderer | None = None
        self.complete = True
        self.progress = 1.0
        self.samples = 0
        self.scale = 1.0  # of the picture on show
        self.seconds = 0.0  # of tracing in the last picture
        self.rays_per_second = FIRST_RATE  # of the last pictures
        self.pictures = 0  # shown so far, previews too
        self.compiling = ""  # the program whose shaders the next step compiles
        self.tile = stream_shape(device)
        self.texture = self._texture((1, 1))
        self._nowhere = device.context.framebuffer([self._texture((1, 1))])
        self._framebuffers: dict[int, moderngl.Framebuffer] = {}  # of pictures, by the texture's name
        self._pace = Pace(self.tile[1])
        self._preview_rate: float | None = None
        self._preview_scale = SCALES[0]
        self._job: _Job | None = None
        self._warming: tuple[Choices, Iterator[float]] | None = None
        self._again = self._failed = False
        self.reload()

    def reload(self) -> None:
        """Compile the shaders of the film anew. Raises ShaderError; the old ones then stay."""
        place, resize = film_shader(self.device, "place"), film_shader(self.device, "resize")
        square = Tiles(self.device, (1, 1), 1)
        square.keep(None)
        self._place, self._resize = Drawing(self.device, place, square), Drawing(self.device, resize, square)

    def _texture(self, size: tuple[int, int]) -> moderngl.Texture:
        texture = float_texture(self.device, size)
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        return texture

    def use(self, renderer: Renderer) -> None:
        """Show another scene; the picture of the old one stays until the new one has its first."""
        self.renderer, self.rays_per_second, self._preview_rate = renderer, FIRST_RATE, None
        self._pace = Pace(self.tile[1])
        self.abandon()

    def resize(self, size: tuple[int, int]) -> None:
        """The window's size in pixels; a minimised window's is ignored."""
        if size != self.size and min(size) > 0:
            self.size = size
            self.restart()

    def restart(self) -> None:
        """The camera, the size or a choice has changed. A preview under way is finished first: it is nearly there."""
        self._again, self.complete, self.samples, self.progress = True, False, 0, 0.0
        self._failed = False
        if self._job is not None and not self._job.preview:
            self._drop()

    def abandon(self) -> None:
        """What is under way is of no use: begin anew."""
        self._drop()
        self._warming, self.compiling = None, ""
        self.restart()

    def fail(self) -> None:
        """The picture cannot be made; the one on show stays until something changes."""
        self._drop()
        self._warming, self._failed, self.compiling = None, True, ""

    @property
    def idle(self) -> bool:
        """Whether `advance` has nothing to do."""
        return self.complete or self.renderer is None or self._failed

    def waiting(self, moving: bool) -> bool:
        """Whether `advance` has nothing to do as long as the camera moves no further."""
        return self.idle or (moving and self._job is None and not self._again)

    def advance(self, budget: float, moving: bool = False) -> None:
        """Trace until ``budget`` seconds are over. While the camera is ``moving`` only previews are made.

        Returns before shaders are compiled, so that `compiling` can be shown, and after each of them. Raises
        ViewerError where they do not compile.
        """
        began = time.perf_counter()
        while not self.waiting(moving):
            if self._job is None:
                assert self.renderer is not None
                if not self.renderer.ready(self.tile):
                    self._compile(self.renderer)
                    return
                self._warming, self.compiling = None, ""
                self._job = self._begin(self._again, budget)
            self._step(self._job)
            left = budget - (time.perf_counter() - began)
            if left < (0 if self._job is None else self._pace.expected):
                return

    def _compile(self, renderer: Renderer) -> None:
        """One of the shaders; none the first time, when it is only told."""
        if not self.compiling:
            self.compiling = renderer.choices.program
            return
        if self._warming is None or self._warming[0] != renderer.choices:
            self._warming = renderer.choices, renderer.warm(self.tile)
        next(self._warming[1], None)

    def finish(self) -> None:
        """Trace to the end."""
        while not self.idle:
            self.advance(1.0)

    def _choose_scale(self, budget: float) -> float:
        """The largest scale whose preview fits the budget at the speed seen so far; the last one if it about fits."""
        pixels = self.size[0] * self.size[1]
        rate = self._preview_rate or self.rays_per_second
        share = pixels * self._preview_scale**2 / (rate * budget)
        least, most = FITTING if self._preview_scale < 1 else (0.0, FITTING[1])
        if self._preview_rate is None or not least <= share <= most:
            self._preview_scale = next((s for s in SCALES if pixels * s * s <= rate * budget), SCALES[-1])
        return self._preview_scale

    def _begin(self, preview: bool, budget: float) -> _Job:
        assert self.renderer is not None
        scale = self._choose_scale(budget) if preview else 1.0
        size = (max(1, round(self.size[0] * scale)), max(1, round(self.size[1] * scale)))
        target = self._texture(size)
        if preview:
            self._again = False
        else:
            self._enlarge(target)
            self._show(target)
        pieces = self.renderer.slices(size, tile=self.tile, rows=self._pace.next)
        return _Job(pieces, preview, scale, target)

    def _step(self, job: _Job) -> None:
        """One piece: a pass of a machine, or a tile that is done."""
        began = time.perf_counter()
        piece = next(job.pieces, None)
        if piece is not None and piece[1] is not None:
            self._put(piece[1], job.target)
        self.device.context.finish()  # or the driver queues more than a frame's worth
        seconds = time.perf_counter() - began
        job.spent += seconds
        self._pace.note(seconds)
        if piece is not None:
            self.progress = piece[0]
            return
        self._end(job)

    def _end(self, job: _Job) -> None:
        self._show(job.target)
        self._job, self.scale, self.seconds = None, job.scale, max(job.spent, 1e-6)
        self.pictures += 1
        self._pace.forget()
        rate = job.target.size[0] * job.target.size[1] / self.seconds
        self.rays_per_second += SMOOTHING * (rate - self.rays_per_second)
        if job.preview:
            before = self._preview_rate
            self._preview_rate = rate if before is None else before + SMOOTHING * (rate - before)
        self.samples, self.complete = 1, job.scale == 1.0 and not self._again

    def _drop(self) -> None:
        if self._job is not None and self._job.target is not self.texture:
            self._free(self._job.target)
        self._job = None

    def _show(self, texture: moderngl.Texture) -> None:
        if texture is not self.texture:
            self._free(self.texture)
            self.texture = texture

    def _framebuffer(self, target: moderngl.Texture) -> moderngl.Framebuffer:
        if target.glo not in self._framebuffers:
            self._framebuffers[target.glo] = self.device.context.framebuffer([target])
        return self._framebuffers[target.glo]

    def _free(self, texture: moderngl.Texture) -> None:
        framebuffer = self._framebuffers.pop(texture.glo, None)
        if framebuffer is not None:
            self._nowhere.use()  # a framebuffer that is bound must not go
            framebuffer.release()
        texture.release()

    def _draw(self, drawing: Drawing, target: moderngl.Texture, viewport: tuple[int, int, int, int]) -> None:
        framebuffer = self._framebuffer(target)
        framebuffer.viewport = viewport
        framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        drawing.render()

    def _put(self, piece: Slice, target: moderngl.Texture) -> None:
        """Copy a tile to its place."""
        left, top = piece.columns.start, piece.rows.start
        wide, tall = piece.columns.stop - left, piece.rows.stop - top
        shader = self._place.shader
        shader.bind("in_radiance", piece.machine.streams["radiance"].textures[0])
        shader.set("corner", (left, top))
        shader.set("wide", wide)
        self._draw(self._place, target, (left, top, wide, tall))

    def _enlarge(self, target: moderngl.Texture) -> None:
        """The picture on show, at the target's size."""
        self._resize.shader.bind("in_picture", self.texture)
        self._resize.shader.set("size", target.size)
        self._draw(self._resize, target, (0, 0, *target.size))

    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3) float32 linear sRGB of the picture on show, row 0 at the top."""
        width, height = self.texture.size
        return np.frombuffer(self.texture.read(), np.float32).reshape(height, width, 4)[..., :3].copy()
