"""The ground plane in the window: on and off by a key, and from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.window.conftest import Hands

OPTIONS = {"program": "cast", "machine": "singlepass"}


def test_a_key_puts_the_scene_on_the_ground(opened: Callable[..., Hands], place: Path) -> None:
    (place / "settings.toml").write_text("panels = false\n")
    hands = opened("balls", (64, 48), **OPTIONS)
    view = hands.app.view
    hands.until(lambda: view.renderer is not None)
    count, camera = len(view.scene.instances), view.controller.camera
    bounds = view.scene.bounds()
    hands.key("shift+j")
    hands.until(lambda: view.scene.ground is not None, "ground")
    assert view.scene.ground == count and view.renderer.settings.ground == "auto"
    assert view.controller.camera == camera  # it stays
    assert np.array_equal(view.scene.bounds(ground=False), bounds)
    hands.key("shift+j")
    hands.until(lambda: view.scene.ground is None, "no ground")
    assert len(view.scene.instances) == count
