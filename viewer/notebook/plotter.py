"""Found by PyVista's plotters at ``plotter.raystream``, by an entry point: see `raystream.notebook.show`."""

from __future__ import annotations

from pyvista import register_plotter_component

from raystream.notebook.show import PlotterComponent

register_plotter_component("raystream")(PlotterComponent)
