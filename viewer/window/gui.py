"""Dear ImGui in the window: the panels, overlays in space, the list of files, and their share of events.

It takes longer to load than a first picture takes to trace, which therefore does without.
"""

from __future__ import annotations

from raystream.viewport.context import ViewportContext
from raystream.window.bundle import imgui
from raystream.window.imgui_input import ImguiInput
from raystream.window.panels.file_list import FileList
from raystream.window.panels.imgui_draw import ImguiDraw
from raystream.window.panels.panels import draw_panels
from raystream.window.panels.space import Space
from raystream.window.window import Window


class Gui:
    """Of a window, whose context is current in every call. Raises ShaderError where its programs do not compile."""

    def __init__(self, context: ViewportContext, window: Window) -> None:
        self.context, self.window = context, window
        self.imgui = imgui.create_context()
        imgui.get_io().set_ini_filename("")
        self.output = ImguiDraw(window.context)
        self.input = ImguiInput(window)
        self.file_list = FileList(context, window.wake)
        self.space = Space(self.output)
        self.input.move(*window.cursor)

    def draw(self, dt: float) -> None:
        """Over the picture, ``dt`` seconds after the draw before."""
        self.input.begin(self.window.size, self.window.pixels, dt)
        imgui.new_frame()
        self.space.draw(self.context)
        draw_panels(self.context, self.output)
        self.file_list.draw()
        imgui.render()
        self.output.render(imgui.get_draw_data())

    def release(self) -> None:
        """Give all back."""
        self.output.release()
        imgui.destroy_context(self.imgui)
