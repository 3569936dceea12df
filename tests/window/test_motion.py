"""Motion in the window: objects and lamps are dragged, cameras fly, animations and the turntable play; at rest each
picture is that of the scene built anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import raystream
from raystream.viewport import editing as animation
from raystream.viewport.debug_views.wires import project_points
from raystream.viewport.editing import FRAME
from tests.window.conftest import SMALL, Hands
from tests.window.traced_pictures import rendered, settle

GRAB, ACCEL = (70, 50), "two-level-bvh"


def test_an_object_follows_the_mouse(traced: Callable[..., Hands]) -> None:
    """G, the mouse, X, a click: the picture is that of the scene built anew; G and Esc: it is as it was."""
    hands = traced(accel=ACCEL)
    app = hands.app
    before = settle(hands)
    hands.move(*GRAB)
    hands.key("g")
    hands.until(lambda: app.editing.grabbing)
    hands.move(GRAB[0] - 12, GRAB[1] - 8)
    hands.key("x")
    picture = settle(hands)
    scene = app.view.scene
    moved = [
        k
        for k, (new, old) in enumerate(zip(scene.instances, raystream.load("cornell").instances, strict=True))
        if not np.array_equal(new.transform, old.transform)
    ]
    assert len(moved) == 1
    shift = scene.instances[moved[0]].transform[:3, 3]
    assert shift[0] != 0 and not shift[1:].any()  # along x
    assert (picture != before).any()
    np.testing.assert_array_equal(picture, rendered(app, accel=ACCEL))
    hands.click(1)
    assert not app.editing.grabbing and app.view.input.drag is None and app.view.scene is scene
    hands.key("g")
    hands.until(lambda: app.editing.grabbing)
    hands.move(GRAB[0], GRAB[1] - 10)
    assert (settle(hands) != picture).any()
    hands.key("Escape")
    assert not app.editing.grabbing
    np.testing.assert_array_equal(settle(hands), picture)


def test_objects_of_one_level_come_under_two(traced: Callable[..., Hands], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many triangles to build a structure over them for each picture."""
    monkeypatch.setattr(animation, "MAX_REBUILT", 30)
    hands = traced(samples=1, accel="bvh")
    app = hands.app
    hands.move(*GRAB)
    hands.key("g")
    hands.until(lambda: "two levels" in app.view.message.text or app.editing.grabbing)
    hands.until(lambda: app.editing.grabbing)
    assert app.view.renderer.prepared.structure.levels == 2 and app.scene_loader.requested.accel == ACCEL
    assert "follows the mouse" in app.view.message.text
    hands.key("Return")
    assert not app.editing.grabbing


def test_a_lamp_is_dragged_by_its_marker(traced: Callable[..., Hands]) -> None:
    """An area light: with its surface; nothing is compiled, under a structure of one level either."""
    hands = traced(accel="bvh")
    app = hands.app
    before = settle(hands)
    hands.key("ctrl+l")
    ((light, (x, y)),) = app.markers.markers()
    assert light.name == "light" and app.markers.is_chosen(light)
    compiled = app.device.compiled
    hands.move(round(x), round(y))
    hands.key("g")
    hands.until(lambda: app.editing.grabbing)
    hands.move(round(x) + 9, round(y) + 6)
    hands.click(1)
    picture = settle(hands)
    assert app.device.compiled == compiled and (picture != before).any()
    assert app.view.renderer.prepared.structure.name == "bvh"
    np.testing.assert_array_equal(picture, rendered(app, accel="bvh"))


def test_a_camera_within_the_scene_flies(traced: Callable[..., Hands]) -> None:
    """Orbit then turns about what is in the middle of the picture, and Home shows the scene: lit, and the whole of it.
    The mode that the user prefers stays as it was."""
    hands = traced(samples=1, camera="light")
    app = hands.app
    controller, camera = app.view.controller, app.view.controller.camera
    assert controller.mode == "fly" and app.preferences.mode == "orbit"
    hands.key("Tab")
    assert controller.mode == "orbit"
    hands.drag(1, (40, 30), (41, 30))
    hands.until(lambda: not app.view.compiling)
    hands.drag(1, (40, 30), (60, 36))
    hits = app.view.renderer.trace([camera.origin], [camera.basis()[2]])
    pivot = np.array(camera.origin) + float(hits.distance[0]) * camera.basis()[2]
    # The first pixel turned about the target of the file, 500 units ahead, while the kernels compiled.
    assert np.linalg.norm(np.subtract(controller.camera.target, pivot)) < 10
    assert np.linalg.norm(np.subtract(controller.camera.target, camera.target)) > 100
    hands.key("Home")
    picture = settle(hands)
    box = app.view.scene.bounds()
    corners = np.array([[x, y, z] for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
    at, before = project_points(controller.camera, SMALL, corners)
    assert before.all() and (at >= 0).all() and (at <= SMALL).all()
    # The box is open to where it is seen from: behind a wall all is black, and one sample leaves some pixels so.
    assert (picture[20:-20, 24:-24] > 0).any(axis=-1).mean() > 0.5


def test_the_animation_plays_and_rests(traced: Callable[..., Hands]) -> None:
    """Space; where it rests the picture is that of the scene posed then, built anew."""
    hands = traced("balls", samples=1, accel=ACCEL)
    app = hands.app
    before = settle(hands)
    hands.key("space")
    assert app.editing.animation.player.playing and app.editing.active
    pictures = app.session.pictures
    hands.until(lambda: app.session.pictures >= pictures + 3 and app.editing.animation.player.seconds > 0.1)
    hands.key("space")
    assert not app.editing.animation.player.playing
    picture = settle(hands)
    assert (picture != before).any()
    posed = raystream.load("balls").posed(app.editing.animation.player.seconds)
    for new, wanted in zip(app.view.scene.instances, posed.instances, strict=True):
        np.testing.assert_allclose(new.transform, wanted.transform)
    np.testing.assert_array_equal(picture, rendered(app, 1, accel=ACCEL))
    frame = round(app.editing.animation.player.seconds / FRAME)
    hands.key("shift+Right")
    hands.key("shift+Right")
    hands.key("shift+Left")
    assert app.editing.animation.player.seconds == (frame + 1) * FRAME
    hands.key("ctrl+space")
    assert not app.editing.animation.player.loop
    hands.key("shift+space")
    assert app.editing.animation.player.seconds == 0.0, "of one animation, the next is itself"
    np.testing.assert_array_equal(settle(hands), before)
