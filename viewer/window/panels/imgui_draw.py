"""Dear ImGui's output, drawn by its own OpenGL code, and pictures of our own as its textures."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import DeviceError
from raystream.window.bundle import imgui


class ImguiDraw:
    """Draws frames of the current ImGui context into the framebuffer that is bound. Raises DeviceError where the driver
    refuses its programs.

    OpenGL's state is afterwards as before: ImGui saves and restores all that it sets.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self.context = context
        if not (imgui.backends.opengl3_init("#version 330 core") and imgui.backends.opengl3_create_device_objects()):
            raise DeviceError("panels", "cannot be drawn: the driver refuses their programs")

    @staticmethod
    def register(texture: moderngl.Texture) -> imgui.ImTextureRef:
        """The argument of `imgui.image` for a texture: RGBA or RGB, row 0 at the top; it is there until it is drawn."""
        return imgui.ImTextureRef(texture.glo)

    @staticmethod
    def render(draw_data: imgui.ImDrawData) -> None:
        """Draw the lists of `imgui.render`."""
        imgui.backends.opengl3_render_draw_data(draw_data)

    def upload(self, texture: moderngl.Texture | None, picture: NDArray[np.uint8]) -> moderngl.Texture:
        """A picture (H, W, 3) as a texture: ``texture``, or where that is of another size one in its place."""
        height, width = picture.shape[:2]
        if texture is None or texture.size != (width, height):
            if texture is not None:
                texture.release()
            texture = self.context.texture((width, height), 3, alignment=1)
        texture.write(np.ascontiguousarray(picture), alignment=1)
        return texture

    @staticmethod
    def release() -> None:
        """Give everything back; before the ImGui context is destroyed."""
        imgui.backends.opengl3_shutdown()
