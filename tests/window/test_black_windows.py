"""A scene whose own lights show nothing to its camera was a black window."""

from __future__ import annotations

from typing import Any

import pytest

import viewer
from viewer import Camera
from viewer.renderer.sampling.darkness import black
from viewer.scene.light import Light


def test_the_sky_comes_and_goes_with_the_scene(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen from below a floor that is lit from above; from above it stands in its own light."""
    scenes = {}
    for name, height in (("below", -4.0), ("above", 4.0)):
        scenes[name] = viewer.Scene.from_triangles([[-9, 0, 9], [9, 0, 9], [0, 0, -9]], [[0, 1, 2]], name=name)
        scenes[name].lights = [Light("point", "lamp", (0, 5, 0), intensity=(9.0, 9.0, 9.0))]
        scenes[name].cameras = [Camera((0, height, 0), (0, 0, 0), (0, 0, -1))]
    monkeypatch.setattr(viewer, "load", lambda name, *_, **__: scenes[name], raising=False)
    hands = opened("below", size=(120, 90), program="path", machine="singlepass")
    app = hands.app
    hands.until(lambda: "own lights show nothing" in app.view.message, "the note, which is gone after some seconds")
    hands.until(lambda: app.view.environment.name == "sky", "the sky")
    hands.rest()
    assert not black(app.session.linear())
    app.scene_loader.open("above")
    hands.until(lambda: app.view.scene is scenes["above"] and app.session.complete, "the other scene")
    hands.rest()
    assert app.view.environment.name == "none" and app.scene_loader.requested.environment is None
