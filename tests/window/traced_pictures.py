"""Pictures of windows that trace paths, and the same pictures by a renderer of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from raystream.film.error import Stop
from raystream.renderer.renderer import Renderer
from raystream.renderer.session.session import Session
from tests.window.conftest import Hands


def settle(hands: Hands) -> np.ndarray:
    """The picture once it has all its samples."""
    app = hands.app
    hands.turn(2)
    hands.rest()
    hands.until(lambda: app.session.converged, "converged")
    return app.session.linear()


def rendered(app: Any, spp: int = 3, tile: bool = True, **more: Any) -> np.ndarray:
    """The same by a renderer of its own. tile : in streams of the window's shape, for which all is compiled already."""
    given = {"machine": "singlepass", "program": app.view.renderer.settings.program, **more}
    renderer = Renderer(app.view.scene, device=app.device, camera=app.view.renderer.camera, **given)
    if not tile:
        return renderer.render(app.session.size, spp).linear
    session = Session(renderer, app.session.size, Stop(spp))
    session.tile = app.session.tile
    session.finish()
    picture = session.linear()
    session.release()
    return picture
