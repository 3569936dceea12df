"""The frame: a picture on the device that is refined piece by piece, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.render import Renderer, Slice
from viewer.stream.device import Device
from viewer.stream.draw import Drawing, Shader, Tiles
from viewer.stream.generate import VERSION
from viewer.stream.source import Source
from viewer.stream.stream import float_texture

TILE = (256, 128)  # rays of a run: about 5 ms on two cores without a GPU, so that the window answers in between
MOVING_BUDGET = 1 / 40  # seconds of tracing a frame while the camera moves: 30 frames/s with room for the rest
FIRST_RATE = 1e6  # rays a second, before any has been seen
SMOOTHING = 0.5  # weight of the newest picture in the rate
SCALES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.175, 0.125)  # of the window's width and height, while the camera moves


def film_shader(device: Device, name: str) -> Shader:
    """A program of ``shaders/film``."""
    source = Source()
    source.add(VERSION, "version")
    source.include(f"film/{name}.glsl")
    return Shader(device, source)


@dataclass
class _Job:
    """A picture under way: its pieces, its share of the window's width and height, and the seconds it has taken."""

    pieces: Iterator[tuple[float, Slice | None]]
    scale: float
    target: moderngl.Texture
    spent: float = 0.0


class Frame:
    """Pictures of a scene: first a preview that is quick enough to follow the hand, at rest the window's full size.

    The picture on show is `texture` (linear sRGB, row 0 at the top). A preview replaces it when it is complete; the
    full picture fills it tile by tile, so that nothing flashes. `advance` traces for a while and returns.
    """

    def __init__(self, device: Device, size: tuple[int, int]) -> None:
        self.device = device
        self.size = size  # of the window, pixels
        self.renderer: Renderer | None = None
        self.complete = True
        self.progress = 1.0
        self.samples = 0
        self.scale = 1.0  # of the picture on show
        self.seconds = 0.0  # of tracing in the last picture
        self.rays_per_second = FIRST_RATE
        self.texture = self._texture((1, 1))
        self._job: _Job | None = None
        self._again = False
        square = Tiles(device, (1, 1), 1)
        square.keep(None)
        self._place = Drawing(device, film_shader(device, "place"), square)
        self._resize = Drawing(device, film_shader(device, "resize"), square)

    def _texture(self, size: tuple[int, int]) -> moderngl.Texture:
        texture = float_texture(self.device, size)
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        return texture

    def use(self, renderer: Renderer) -> None:
        """Show another scene; the picture of the old one stays until the new one has its first."""
        self.renderer, self.rays_per_second = renderer, FIRST_RATE
        self._drop()
        self.restart()

    def resize(self, size: tuple[int, int]) -> None:
        """The window's size in pixels; a minimised window's is ignored."""
        if size != self.size and min(size) > 0:
            self.size = size
            self.restart()

    def restart(self) -> None:
        """The camera, the size or a choice has changed. A preview under way is finished first: it is nearly there."""
        self._again, self.complete, self.samples, self.progress = True, False, 0, 0.0
        if self._job is not None and self._job.scale == 1.0:
            self._drop()

    @property
    def idle(self) -> bool:
        """Whether `advance` has nothing to do while the camera moves on."""
        return self.complete or self.renderer is None

    def advance(self, budget: float, moving: bool = False) -> None:
        """Trace until ``budget`` seconds are over. While the camera is ``moving`` only previews are made."""
        began = time.perf_counter()
        while not self.idle and time.perf_counter() - began < budget:
            if self._job is None:
                if self._again:
                    self._job = self._begin(self._preview_scale())
                    self._again = False
                elif moving:
                    return
                else:
                    self._job = self._begin(1.0)
            self._step(self._job)

    def finish(self) -> None:
        """Trace to the end."""
        while not self.idle:
            self.advance(1.0)

    def _preview_scale(self) -> float:
        """The largest scale whose picture fits the budget at the speed seen so far."""
        pixels, rays = self.size[0] * self.size[1], self.rays_per_second * MOVING_BUDGET
        return next((s for s in SCALES if pixels * s * s <= rays), SCALES[-1])

    def _begin(self, scale: float) -> _Job:
        assert self.renderer is not None
        size = (max(1, round(self.size[0] * scale)), max(1, round(self.size[1] * scale)))
        target = self._texture(size)
        if scale == 1.0:
            self._enlarge(target)
            self._show(target)
        return _Job(self.renderer.slices(size, tile=TILE), scale, target)

    def _step(self, job: _Job) -> None:
        """One piece: a pass of a machine, or a tile that is done."""
        began = time.perf_counter()
        piece = next(job.pieces, None)
        if piece is not None and piece[1] is not None:
            self._put(piece[1], job.target)
        self.device.context.finish()  # or the driver queues more than a frame's worth
        job.spent += time.perf_counter() - began
        if piece is not None:
            self.progress = piece[0]
            return
        self._show(job.target)
        self._job, self.scale, self.seconds = None, job.scale, max(job.spent, 1e-6)
        rate = job.target.size[0] * job.target.size[1] / self.seconds
        self.rays_per_second += SMOOTHING * (rate - self.rays_per_second)
        self.samples, self.complete = 1, job.scale == 1.0 and not self._again

    def _drop(self) -> None:
        if self._job is not None and self._job.target is not self.texture:
            self._job.target.release()
        self._job = None

    def _show(self, texture: moderngl.Texture) -> None:
        if texture is not self.texture:
            self.texture.release()
            self.texture = texture

    def _draw(self, drawing: Drawing, target: moderngl.Texture, viewport: tuple[int, int, int, int]) -> None:
        framebuffer = self.device.context.framebuffer([target])
        framebuffer.viewport = viewport
        framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        drawing.render()
        framebuffer.release()

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
