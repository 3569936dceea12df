"""A scene whose own lights show nothing to its camera was a black window."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Camera
from raystream.renderer.empty_view import is_black
from raystream.scene.light import Light
from raystream.viewport.viewport import Viewport


@pytest.mark.parametrize("background", [None, (0.2, 0.3, 0.4)])
def test_the_sky_comes_and_goes_with_the_scene(
    opened: Any, monkeypatch: pytest.MonkeyPatch, background: tuple[float, float, float] | None
) -> None:
    """Seen from below a floor that is lit from above; from above it stands in its own light. What is behind it does not
    count."""
    scenes = {}
    for name, height in (("below", -4.0), ("above", 4.0)):
        scenes[name] = raystream.Scene.from_triangles([[-9, 0, 9], [9, 0, 9], [0, 0, -9]], [[0, 1, 2]], name=name)
        scenes[name].lights = [Light("point", "lamp", (0, 5, 0), intensity=(9.0, 9.0, 9.0))]
        scenes[name].cameras = [Camera((0, 2 * height, 0), (0, 0, 0), (0, 0, -1))]
    monkeypatch.setattr("raystream.formats.named.load", lambda name, *_, **__: scenes[name])
    said, say = list[str](), Viewport.say  # notes go after some seconds
    monkeypatch.setattr(Viewport, "say", lambda view, text, error=False: (said.append(text), say(view, text, error)))
    hands = opened("below", size=(120, 90), program="path", machine="singlepass", background=background)
    app = hands.app
    hands.until(lambda: any("own lights show nothing" in line for line in said), "the note")
    hands.until(lambda: app.view.environment.name == "sky", "the sky")
    hands.rest()
    assert not is_black(app.session.linear())
    app.scene_loader.open("above")
    hands.until(lambda: app.view.scene is scenes["above"] and app.session.complete, "the other scene")
    hands.rest()
    assert app.view.environment.name == "none" and app.scene_loader.requested.environment is None


def test_a_window_whose_file_is_not_read_yet_shows_its_ground(
    opened: Any, place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raystream.window.app import App
    from raystream.window.window import GROUND

    read, load, shots = threading.Event(), raystream.load, list[bytes]()

    def slow(*names: Any, **options: Any) -> Any:
        read.wait(60)
        return load(*names, **options)

    monkeypatch.setattr("raystream.formats.named.load", slow)
    app = App("cornell", size=(120, 90), program="cast")
    try:
        app.view.overlays.panels.on = False
        for _ in range(3):
            app.view.after_draw(lambda: shots.append(app.window.read()))
            app.turn()
    finally:
        read.set()
        app.release()
    ground = np.round(np.array(GROUND) * 255)
    corner = np.frombuffer(shots[-1], np.uint8).reshape(90, 120, 3)[2, 2]
    np.testing.assert_allclose(corner, ground, atol=1)  # the driver's rounding
