"""The light meter: the exposure that suits the picture in the window, which it follows as eyes get used to light."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.film.tonemap import automatic_exposure, block_edge
from raystream.renderer.preview.scheduler import METERED
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.objects import Readback, read_texture
from raystream.stream.gl.stream import float_texture
from raystream.viewport.picture_texture import film_source

ADAPTING = 0.35  # seconds in which all but 1/e of a difference is gone
SAME = 0.01  # stops that nobody sees


class AutoExposure:
    """Stops that follow the pictures on show. stops : now. settled : whether they are where they lead to."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.stops = self._target = 0.0
        self._fresh, self._looked = True, -math.inf
        self._coming: Readback | None = None  # of the picture looked at last: the host does not wait for it
        self._means: tuple[moderngl.Texture, moderngl.Framebuffer] | None = None
        self.reload()

    def reload(self) -> None:
        """Recompile its shader. Raises ShaderError; the old one then stays."""
        shader = Shader(self.device, film_source("luminance"))
        square = Tiles(self.device, (1, 1), 1)
        square.keep(None)
        self._drawing = Drawing(self.device, shader, square)

    @property
    def settled(self) -> bool:
        """Whether the stops are where they lead to."""
        return self.stops == self._target and self._coming is None

    def begin(self) -> None:
        """Another scene: its first picture is shown as suits it at once."""
        self._fresh, self._looked, self._coming = True, -math.inf, None

    def follow(self, picture: moderngl.Texture, now: float, dt: float, last: bool, same: bool = False) -> bool:
        """Look at a picture, linear sRGB, unless it is the ``same`` as at the last look, if that was long ago or it is
        the ``last`` for a while; whether it was looked at. Then move the stops by ``dt`` seconds. now : seconds since
        any moment."""
        due = self._coming is None and (self._fresh or (not same and (last or now - self._looked >= METERED)))
        if due and self.device.concurrent and not self._fresh:
            self._looked, self._coming = now, Readback(self.device, self._blocks(picture))
        elif due:
            self._looked, self._target = now, self.measure(picture)
        elif self._coming is not None and self._coming.ready:
            self._target, self._coming = _exposure(self._coming.read()), None
        if self._fresh:
            self.stops, self._fresh = self._target, False
        self.stops += (self._target - self.stops) * (1 - math.exp(-dt / ADAPTING))
        if abs(self._target - self.stops) < SAME:
            self.stops = self._target
        return due

    def measure(self, picture: moderngl.Texture) -> float:
        """The exposure in stops that suits a picture on the device, as `raystream.film.tonemap.stops` has it."""
        texture = self._blocks(picture)
        blocks = np.empty((texture.height, texture.width, texture.components), np.float32)
        self.device.waits += 1
        read_texture(texture, blocks)
        return _exposure(blocks)

    def _blocks(self, picture: moderngl.Texture) -> moderngl.Texture:
        """Means of the picture's blocks."""
        edge = block_edge(picture.size)
        size = -(-picture.width // edge), -(-picture.height // edge)
        if self._means is None or self._means[0].size != size:
            texture = float_texture(self.device, size)
            self._means = texture, self.device.context.framebuffer([texture])
        texture, framebuffer = self._means
        framebuffer.use()
        framebuffer.viewport = (0, 0, *size)
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        self._drawing.shader.bind("in_picture", picture)
        self._drawing.shader.set("edge", edge)
        self._drawing.render()
        return texture


def _exposure(blocks: NDArray[np.float32]) -> float:
    """By the means of a picture's blocks."""
    return automatic_exposure(blocks.reshape(-1, 4)[:, 0].astype(np.float64))
