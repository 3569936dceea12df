"""Shows a picture in the window: exposure, tone map, sRGB."""

from __future__ import annotations

import moderngl

from raystream.film.tonemap import TONEMAPS
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.viewport.display.picture_texture import film_source


class Display:
    """Draws a picture over a whole framebuffer; one of fewer pixels is enlarged as it is displayed."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._shown: moderngl.Framebuffer | None = None  # a picture of fewer pixels than it fills, as displayed
        self.reload()

    def reload(self) -> None:
        """Recompile its shader. Raises ShaderError; the old one then stays."""
        # Several programs: drivers for the CPU run both sides of a branch, and filtering takes long.
        square = Tiles(self.device, (1, 1), 1)
        square.keep(None)
        made = [Shader(self.device, film_source("show", smooth_up=number)) for number in (0, 1)]
        self._drawings = [Drawing(self.device, shader, square) for shader in made]
        self._enlarge = Drawing(self.device, Shader(self.device, film_source("resize")), square)

    def draw(
        self,
        picture: moderngl.Texture,
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        exposure: float,
        tonemap: str = "none",
    ) -> None:
        """picture: linear sRGB. size: of the part of the target that it fills, pixels. exposure: stops. tonemap: a name
        of TONEMAPS, another shows as ``none``."""
        width, height = picture.size
        if width <= size[0] and height <= size[1] and picture.size != size:
            # Tone maps take long: not for more pixels than there are.
            small = self._small(picture.size)
            self.draw(picture, small, picture.size, exposure, tonemap)
            self._draw_into(target, size)
            self._enlarge.shader.bind("in_picture", small.color_attachments[0])
            self._enlarge.shader.set("size", size)
            self._enlarge.render()
            return
        self._draw_into(target, size)
        drawing = self._drawings[picture.size != size]
        shader = drawing.shader
        shader.bind("in_picture", picture)
        shader.set("window", size)
        shader.set("exposure", exposure)
        shader.set("curve", list(TONEMAPS).index(tonemap) if tonemap in TONEMAPS else 0)
        drawing.render()

    def _draw_into(self, target: moderngl.Framebuffer, size: tuple[int, int]) -> None:
        target.use()
        target.viewport = (0, 0, *size)
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)

    def _small(self, size: tuple[int, int]) -> moderngl.Framebuffer:
        """For a picture of this size as it is displayed, 8 bits a channel."""
        if self._shown is None or self._shown.size != size:
            if self._shown is not None:
                self._shown.color_attachments[0].release()
            texture = self.device.context.texture(size, 4)
            texture.repeat_x = texture.repeat_y = False
            self._shown = self.device.context.framebuffer([texture])
        return self._shown
