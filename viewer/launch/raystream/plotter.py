"""Found by PyVista's plotters at ``plotter.raystream``, by an entry point: see `viewer.notebook.show`."""

from __future__ import annotations

from raystream import inner

inner()  # the package that this one was made with, whatever else is called viewer

from pyvista import register_plotter_component  # noqa: E402

from viewer.notebook.show import PlotterComponent  # noqa: E402

register_plotter_component("raystream")(PlotterComponent)
