"""The mouse in the window, by real events of an X server: each gesture is that of the camera in the hand."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from raystream.renderer.preview.scheduler import HELD
from raystream.viewport import host
from raystream.viewport.camera_controller import WHEEL_DOLLY, WHEEL_SPEED
from raystream.viewport.host import TURNING
from tests.window.conftest import Hands, xdotool


def test_a_drag_that_rests_is_traced(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole picture comes while the button is down, and goes with the next move."""
    app, now = hands.app, [time.monotonic()]
    monkeypatch.setattr(host, "time", SimpleNamespace(monotonic=lambda: now[0]))
    hands.move(100, 80)
    xdotool("mousedown", 1)
    hands.until(lambda: app.view.input.drag is not None, "drag")
    hands.move(116, 90)
    try:
        assert app.frame_loop.moving
        now[0] += 2 * HELD
        hands.turn(2)
        assert not app.frame_loop.moving and app.view.input.drag is not None
        hands.until(lambda: app.session.complete, "picture")
    finally:
        xdotool("mouseup", 1)
    hands.until(lambda: app.view.input.drag is None, "end")


def test_a_drag_turns_the_environment(hands: Hands) -> None:
    app = hands.app
    camera, before = app.view.controller.camera, app.scene_loader.requested.environment_rotation
    hands.drag(3, (100, 80), (140, 100), "shift")
    assert app.scene_loader.requested.environment_rotation == pytest.approx((before + 40 * TURNING) % 360)
    assert app.view.controller.camera == camera


def test_wheel(hands: Hands) -> None:
    """To the cursor by `WHEEL_DOLLY` a step; in flight the speed by `WHEEL_SPEED`."""
    app = hands.app
    hands.move(200, 60)
    camera, direction = app.view.controller.camera, app.view.ray_under_cursor()[1]
    hands.click(4)
    hands.rest()
    after = app.view.controller.camera
    # To the cursor: the eye goes along the ray through it, to the plane of the target.
    way = np.subtract(after.origin, camera.origin)
    far = np.linalg.norm(np.subtract(camera.target, camera.origin)) / (direction @ camera.basis()[2])
    np.testing.assert_allclose(way, (1 - WHEEL_DOLLY) * far * direction, atol=1e-9)
    hands.key("Tab")
    speed = app.view.controller.speed
    hands.click(5)
    assert app.view.controller.speed == pytest.approx(speed / WHEEL_SPEED) and app.view.controller.camera == after


def test_the_probe_follows_the_cursor(hands: Hands) -> None:
    app = hands.app
    hands.move(130, 101)
    hands.key("x")
    hands.rest()
    probe, expected = (
        app.debug_views.probe,
        app.view.renderer.render(app.window.pixels, layers=("triangle", "instance")),
    )
    assert probe.pixel == (130, 101) and probe.size == app.window.pixels and probe.complete
    assert probe.surface.triangle == expected.layers["triangle"][101, 130] >= 0
    assert probe.surface.instance == expected.layers["instance"][101, 130]
    hands.key("x")
    assert app.debug_views.probe is None


def test_focus_lost_with_keys_held(hands: Hands) -> None:
    app = hands.app
    xdotool("keydown", "w")
    hands.until(lambda: app.view.controller.moving)
    xdotool("mousemove", "--window", hands.number, 160, 120, "mousedown", 1)
    hands.until(lambda: app.view.input.drag is not None)
    app.events.on_focus(False)
    hands.rest()  # it comes to rest
    assert app.view.input.drag is None and not app.view.controller.moving
    xdotool("mouseup", 1, "keyup", "w")
    app.events.on_focus(True)
    hands.turn(3)
    assert not app.view.controller.moving
