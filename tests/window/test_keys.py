"""The window's keys, by real events of an X server: each leaves the value that it names; and when the loop sleeps."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.film.files import image
from raystream.film.tonemap import TONEMAPS, srgb8
from raystream.options.table import OPTIONS
from raystream.viewport.camera_controller import FOV_STEP
from raystream.viewport.host import ASLEEP
from tests.window.conftest import Hands

Look = Callable[[Any], Any]


def after(name: str, value: Any) -> Any:
    """The choice that follows in an option's list."""
    choices = OPTIONS[name].value.choices
    return choices[(choices.index(value) + 1) % len(choices)]


def setting(name: str) -> Look:
    return lambda app: app.view.renderer.settings[name]


def seen(path: str) -> Look:
    return lambda app: attrgetter(path)(app.view)


# key -> what it changes, and what that is afterwards, of what it was before.
KEYS: dict[str, tuple[str, Look, Callable[[Any], Any]]] = {
    "machine.next": ("m", setting("machine"), lambda was: after("machine", was)),
    "fuse.next": ("k", setting("fuse"), lambda was: after("fuse", was)),
    "policy.next": ("y", lambda app: setting("policy")(app).name, lambda was: after("policy", was)),
    "unroll.next": ("u", lambda app: str(setting("unroll")(app)), lambda was: {"auto": "1"}[was]),
    "mask.next": ("shift+k", setting("mask"), lambda was: after("mask", was)),
    "wires.toggle": ("v", seen("overlays.boxes.on"), lambda was: True),
    "camera.mode": ("Tab", lambda app: app.view.controller.mode, lambda was: "fly"),
    "fov.narrower": ("bracketleft", lambda app: app.view.controller.camera.fov, lambda was: was / FOV_STEP),
    "fov.wider": ("bracketright", lambda app: app.view.controller.camera.fov, lambda was: was * FOV_STEP),
    "exposure.up": ("plus", seen("tone.exposure"), lambda was: was + 0.25),
    "exposure.down": ("minus", seen("tone.exposure"), lambda was: was - 0.25),
    "exposure.auto": ("0", seen("tone.exposure"), lambda was: "auto"),
    "tonemap.next": ("t", seen("tone.tonemap"), lambda was: list(TONEMAPS)[1]),
    "denoise.toggle": ("shift+t", setting("denoise"), lambda was: {"auto": "none"}[was]),
    "statistics": ("z", seen("overlays.statistics.on"), lambda was: True),
    "panels": ("ctrl+b", seen("overlays.panels.on"), lambda was: True),
    "help": ("h", seen("overlays.help.on"), lambda was: True),
    "escape": ("Escape", seen("overlays.help.on"), lambda was: False),
    "pause": ("p", seen("paused"), lambda was: not was),
    "heat.next": ("shift+z", lambda app: app.debug_views.heat, lambda was: "steps"),
    "camera.orthographic": ("shift+o", lambda app: app.view.renderer.camera.kind, lambda was: "orthographic"),
}
# Tested on their own, here or beside: they do more than set a value.
OTHERS = {
    *("inspector.show", "inspector.step", "inspector.run", "inspector.restart", "probe.show"),
    *("camera.copy", "camera.paste", "camera.next", "camera.front", "camera.right", "camera.top", "camera.focus"),
    *("camera.frame", "camera.reset", "screenshot.window", "screenshot.picture", "save.exr"),
    *("scene.open", "scene.reload", "scene.previous", "scene.next", "full_screen", "quit", "accel.next"),
    *("object.grab", "lights.show", "lights.next", "environment.toggle", "turntable"),
    *("animation.play", "animation.back", "animation.forward", "animation.next", "animation.loop"),
    *("depth.less", "depth.more", "shadows.toggle", "reflections.toggle", "refractions.toggle"),
    *("ground.toggle", "photons.points", "photons.cells"),
}


def test_every_key_leaves_the_value_that_it_names(hands: Hands) -> None:
    app = hands.app
    assert {*KEYS, *OTHERS} == {name for name in app.view.actions.handlers if not name.startswith("program.")}
    for name, (key, look, wanted) in KEYS.items():
        if name == "escape":
            app.view.overlays.help.on = True
        before = look(app)
        expected = wanted(before)
        assert expected != before, name
        hands.key(key)
        assert look(app) == pytest.approx(expected) if isinstance(expected, float) else look(app) == expected, name


def test_views_by_keys(hands: Hands) -> None:
    """Along the axes, to the middle of the scene; Enter goes back to the first camera, F turns to what is there."""
    app = hands.app
    middle = app.view.scene.bounds().mean(axis=0)
    for key, forward, right in (
        ("ctrl+1", (0, 0, -1), (1, 0, 0)),
        ("ctrl+3", (-1, 0, 0), (0, 0, -1)),
        ("ctrl+7", (0, -1, 0), (1, 0, 0)),
    ):
        hands.key(key)
        hands.rest()
        camera = app.view.controller.camera
        # The eased way ends with the goal itself: a few roundings in float64.
        np.testing.assert_allclose(camera.basis()[2], forward, atol=1e-12)
        np.testing.assert_allclose(camera.basis()[0], right, atol=1e-12)
        np.testing.assert_allclose(camera.target, middle, atol=1e-9)
        assert app.view.renderer.camera == camera
    hands.key("Return")
    assert app.view.controller.camera == app.view.scene.cameras[0]
    hands.move(120, 100)
    direction = app.view.ray_under_cursor()[1]
    hands.key("f")
    hands.until(lambda: app.view.controller.moving)
    hands.rest()
    np.testing.assert_allclose(
        app.view.controller.camera.basis()[2], direction, atol=1e-6
    )  # a hit's distance is float32
    forward = app.view.controller.camera.basis()[2]
    hands.key("Home")
    hands.rest()
    np.testing.assert_allclose(app.view.controller.camera.basis()[2], forward, atol=1e-12)
    np.testing.assert_allclose(app.view.controller.camera.target, middle, atol=1e-9)


# -- nothing to do ----------------------------------------------------------------------------------------------------


def assert_asleep(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn by turn the loop waits as long as it may, traces nothing and draws nothing."""
    app, waits = hands.app, []
    app.view.say("")  # a note would fade
    for _ in range(50):  # it settles in a few draws
        app.turn()
        if not app.view.awake:
            break
    draws, steps, events = app.draws, app.session.steps, app.window.events

    def looked(wait: float) -> None:
        waits.append(wait)
        events(0.0)

    with monkeypatch.context() as patch:
        patch.setattr(app.window, "events", looked)
        for _ in range(8):
            app.turn()
    assert waits == [ASLEEP] * 8 and (app.draws, app.session.steps) == (draws, steps)


def test_it_sleeps_when_the_picture_is_complete(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_asleep(hands, monkeypatch)


def test_paused_it_sleeps_as_well(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a picture, while samples are added, and with the turntable on; then all goes on."""
    app = hands.app
    app.scene_loader.set(program="shadow")
    hands.rest()
    assert not app.session.converged
    hands.key("p")
    assert_asleep(hands, monkeypatch)
    hands.key("o")
    camera = app.view.controller.camera
    assert_asleep(hands, monkeypatch)
    assert app.editing.turning and app.view.controller.camera == camera
    hands.key("p")
    hands.until(lambda: app.view.controller.camera != camera)
    hands.key("o")
    samples = app.session.samples
    hands.until(lambda: app.session.samples > samples)


# -- what is saved ----------------------------------------------------------------------------------------------------


def test_keys_that_save(hands: Hands, place: Path) -> None:
    from PIL import Image

    app = hands.app
    app.view.overlays.panels.on = True
    hands.turn(3)  # ImGui lays out in two
    hands.key("F12", "ctrl+F12", "ctrl+s")
    hands.rest()
    with Image.open(place / "window_001.png") as window, Image.open(place / "teapotahedron_001.png") as picture:
        assert window.size == picture.size == hands.app.window.pixels
        np.testing.assert_array_equal(np.asarray(picture), srgb8(app.session.linear()))
        assert not np.array_equal(np.asarray(window), np.asarray(picture))  # panels
    channels = image.read_exr(place / "teapotahedron_001.exr")[1]
    np.testing.assert_array_equal(np.stack([channels[c] for c in "RGB"], axis=-1), app.session.linear())
    assert not app.view.message.is_error


def test_copy_and_paste_a_camera(hands: Hands) -> None:
    app = hands.app
    hands.key("ctrl+c")
    before = app.view.controller.camera
    assert "--camera" in app.view.message.text
    hands.key("ctrl+1")
    hands.rest()
    assert app.view.controller.camera.origin != before.origin
    hands.key("ctrl+v")
    hands.rest()
    pasted = app.view.controller.camera  # its name aside; the text has all digits
    assert (pasted.origin, pasted.target, pasted.up) == (before.origin, before.target, before.up)
    app.window.copy("no camera")
    hands.key("ctrl+v")
    assert app.view.message.is_error and "no camera" in app.view.message.text


def test_another_program_keeps_the_picture_until_it_has_its_own(traced: Callable[..., Hands]) -> None:
    """Keys 1 to 5: what is on show stays to the pixel, whatever is compiled meanwhile, until the new one's first."""
    hands = traced(samples=1)
    app = hands.app
    for key in ("1", "2", "3", "5", "4"):
        hands.until(lambda: app.session.idle, "the old picture")
        before, pictures = app.canvas.linear(), app.session.pictures
        hands.key(key)
        while app.session.pictures == pictures:
            assert np.array_equal(app.canvas.linear(), before), key
            hands.turn()
        assert app.canvas.linear().any(), key
