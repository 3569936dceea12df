"""Shows a picture in the window: exposure, tone map, sRGB."""

from __future__ import annotations

import moderngl

from viewer.film.tonemap import TONEMAPS
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Drawing, Shader, Tiles
from viewer.window.picture.canvas import film_source


class Display:
    """Draws a picture over a whole framebuffer."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.reload()

    def reload(self) -> None:
        """Compile its shader anew. Raises ShaderError; the old one then stays."""
        shader = Shader(self.device, film_source("show"))
        square = Tiles(self.device, (1, 1), 1)
        square.keep(None)
        self._drawing = Drawing(self.device, shader, square)

    def draw(
        self,
        picture: moderngl.Texture,
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        exposure: float,
        tonemap: str = "none",
        left: int = 0,
    ) -> None:
        """picture: linear sRGB. size: of the part of the target that it fills, pixels, from the column ``left`` on.
        exposure: stops. tonemap: a name of TONEMAPS, another shows as ``none``."""
        context = self.device.context
        target.use()
        target.viewport = (left, 0, *size)
        context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        shader = self._drawing.shader
        shader.bind("in_picture", picture)
        shader.set("window", size)
        shader.set("left", float(left))
        shader.set("exposure", exposure)
        shader.set("curve", list(TONEMAPS).index(tonemap) if tonemap in TONEMAPS else 0)
        shader.set("smooth_up", int(picture.size != size))
        self._drawing.render()
