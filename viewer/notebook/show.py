"""Show a scene in one line: the widget in a notebook, else the window; also a plotter of PyVista."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from raystream.base.errors import ViewerError

if TYPE_CHECKING:
    from raystream.renderer.sampling.picture import Picture

NEEDED = ("rendercanvas", "anywidget")
INSTALL = "pip install 'raystream[notebook]'"


def in_notebook() -> bool:
    """Whether this is a notebook's kernel: Jupyter's or marimo's; not Spyder's console, which has a display but no
    widgets."""
    marimo = sys.modules.get("marimo")  # always loaded in its kernel, which is no IPython's
    if marimo is not None and marimo.running_in_notebook():
        return True
    ipython = sys.modules.get("IPython")  # always loaded there
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None and "spyder_kernels" not in sys.modules


def show(scene: Any, **options: Any) -> Any:
    """Show a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D. Opens a window and
    returns when it is closed; in a notebook returns a widget (`raystream.notebook.widget.Widget`), the cell's output.

    scene   : as of `raystream.formats.objects.scene_of`.
    options : those of ``raystream view``, such as ``environment="sky"``, and ``size``, of the window or the widget.

    >>> view = raystream.show("bunny.ply"); view
    >>> view.snapshot().save("bunny.png")

    Raises ViewerError for an unsupported object, and for a wrong option; also without a display, and in a notebook
    without the extra: `raystream.render` needs neither.
    """
    if not in_notebook():
        from raystream.window.opening import show as open_window

        open_window(scene, **options)
        return None
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ViewerError("notebook", f"the widget needs {' and '.join(missing)}", f"%{INSTALL}")
    from raystream.notebook.widget import Widget

    return Widget(scene, **options)


class PlotterComponent:
    """``plotter.raystream``: the plotter's surfaces and camera in this renderer (`pyvista.register_plotter_component`,
    of PyVista 0.48)."""

    def __init__(self, plotter: Any) -> None:
        self._plotter = plotter

    def render(self, **options: Any) -> Picture:
        """The picture, of the window's size. options : of `raystream.render`, such as ``spp=64, environment="sky"``."""
        from raystream.renderer.sequence import render

        width, height = self._plotter.window_size
        return render(self._plotter, **{"size": (int(width), int(height)), **options})

    def show(self, **options: Any) -> Any:
        """The window on it, in a notebook the widget, as of `raystream.show`."""
        return show(self._plotter, **options)
