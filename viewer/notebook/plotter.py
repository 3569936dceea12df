"""The accessor ``raystream`` of PyVista's plotters: pictures and views of their scene."""

from __future__ import annotations

from typing import Any

from viewer.renderer.one_line import render
from viewer.renderer.sampling.picture import Picture


class PlotterComponent:
    """``plotter.raystream``: the plotter's surfaces and camera in this renderer (`pyvista.register_plotter_component`,
    of PyVista 0.48)."""

    def __init__(self, plotter: Any) -> None:
        self._plotter = plotter

    def render(self, **options: Any) -> Picture:
        """The picture, of the window's size. options : of `viewer.render`, such as ``spp=64, environment="sky"``."""
        width, height = self._plotter.window_size
        return render(self._plotter, **{"size": (int(width), int(height)), **options})

    def show(self, **options: Any) -> Any:
        """The window on it, in a notebook the widget, as of `viewer.show`."""
        from viewer.notebook.show import show

        return show(self._plotter, **options)
