"""The pivot of orbit indoors: the first surface in the middle of the picture, not a point behind the walls."""

from __future__ import annotations

from viewer.renderer.renderer import Renderer
from viewer.viewport.controls.camera_controller import CameraController
from viewer.viewport.viewport import Viewport


def choose_pivot(view: Viewport) -> None:
    """Bring the target of a camera within the scene's bounds to the first hit along its view; without a hit it stays,
    but within the bounds. Outdoors it is left alone, and while the scene is loaded.

    Kernels for rays of their own are compiled after the window has said so; the target then comes a little later.
    """
    renderer, controller = view.renderer, view.controller
    if renderer is None or controller is None or not controller.indoors:
        return
    if renderer.trace_ready():
        _choose(view, renderer, controller)
    else:
        view.compile("the kernels for rays of their own", lambda: _choose(view, renderer, controller))


def _choose(view: Viewport, renderer: Renderer, controller: CameraController) -> None:
    camera = controller.camera
    hits = renderer.trace([camera.origin], [camera.basis()[2]], view=True)
    controller.aim(float(hits.distance[0]))
    view.wake()
