"""Key 5: photons in the window, and their program under the inspector."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.window.conftest import Hands
from viewer import Renderer

OPTIONS = {"machine": "singlepass"}


def test_key_5_maps_photons(opened: Callable[..., Hands], place: Path) -> None:
    (place / "settings.toml").write_text("panels = false\n")
    hands = opened("ring", (64, 48), **OPTIONS)
    app = hands.app
    app.session.stop_at(3, None)
    hands.key("5")
    assert app.view.renderer.settings.program == "photon"
    hands.until(lambda: app.session.converged, "samples")
    assert app.session.samples == 3
    renderer = app.view.renderer
    other = Renderer(app.view.scene, renderer.settings, camera=renderer.camera, device=app.device)
    np.testing.assert_array_equal(app.session.linear(), other.render(app.session.size, spp=3).linear)
    lit = hands.pixels()
    hands.key("i")  # the inspector runs the same program, kernel by kernel, with the map that there is
    hands.until(lambda: app.studies.inspecting or app.studies.inspector is not None, "inspector")
    hands.key("i")
    hands.until(lambda: not app.studies.inspecting, "the picture")
    assert lit.max() > 100 and not app.view.message_is_error
