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
        # Two programs: drivers for the CPU run both sides of a branch, and filtering takes long.
        square = Tiles(self.device, (1, 1), 1)
        square.keep(None)
        made = [Shader(self.device, film_source("show", smooth_up=number)) for number in (0, 1)]
        self._drawings = [Drawing(self.device, shader, square) for shader in made]

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
        drawing = self._drawings[picture.size != size]
        shader = drawing.shader
        shader.bind("in_picture", picture)
        shader.set("window", size)
        shader.set("left", float(left))
        shader.set("exposure", exposure)
        shader.set("curve", list(TONEMAPS).index(tonemap) if tonemap in TONEMAPS else 0)
        drawing.render()
