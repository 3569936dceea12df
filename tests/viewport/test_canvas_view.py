"""A view without a window: rendercanvas's events go in, bitmaps come out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.viewport.camera_controller import FOV_STEP, CameraController
from raystream.viewport.canvas import CanvasView
from raystream.viewport.host import BUTTONS, SHIFT
from raystream.viewport.preferences import Preferences

SIZE = (24, 16)
CHOSEN = {"program": "cast", "machine": "singlepass", "exposure": 0.0}


def opened(source: Any = "cornell", size: tuple[int, int] = SIZE, **chosen: Any) -> CanvasView:
    """A view with the keys and defaults of the tables."""
    return CanvasView(source, size, preferences=Preferences(path=Path("none"), hint=False), **{**CHOSEN, **chosen})


def rest(view: CanvasView) -> list[np.ndarray]:
    """The bitmaps until the view is idle."""
    made = []
    while not view.idle:
        made.append(view.advance())
        time.sleep(min(view.wait_timeout, 0.01))
    return [each for each in made if each is not None]


def event(kind: str, x: float = 0.0, y: float = 0.0, **more: Any) -> dict[str, Any]:
    """As rendercanvas has it."""
    return {"event_type": kind, "x": x, "y": y, "modifiers": (), **more}


def drag(view: CanvasView, start: tuple[float, float], end: tuple[float, float], button: int = 1, *held: str) -> None:
    """Press, move, release."""
    view.handle(event("pointer_down", *start, button=button, modifiers=held))
    view.handle(event("pointer_move", *end, button=0, buttons=(button,), modifiers=held))
    view.handle(event("pointer_up", *end, button=button, modifiers=held))


@pytest.fixture(scope="module")
def opened_once(device: Any) -> Iterator[CanvasView]:
    made = opened()
    rest(made)
    yield made
    made.release()


@pytest.fixture
def view(opened_once: CanvasView) -> CanvasView:
    """The module's view on the Cornell box, as it was opened."""
    controller = opened_once.view.controller
    controller.mode = "orbit"
    controller.release_all()
    opened_once.handle({"event_type": "resize", "width": SIZE[0], "height": SIZE[1], "pixel_ratio": 1.0})
    opened_once.view.take(opened_once.view.scene.camera())
    opened_once.view.say("")
    opened_once.update(exposure=0.0, **{name: CHOSEN[name] for name in ("program", "machine")})
    rest(opened_once)
    return opened_once


def test_it_shows_what_render_gives(view: CanvasView) -> None:
    wanted = raystream.render("cornell", size=SIZE, program="cast", machine="singlepass")
    assert np.array_equal(view.snapshot().linear, wanted.linear)
    bitmap = view.read()
    assert bitmap.shape == (16, 24, 4) and bitmap.dtype == np.uint8 and (bitmap[..., 3] == 255).all()
    # The shader and NumPy round the same value to one of two neighbouring codes.
    assert np.abs(bitmap[..., :3].astype(int) - wanted.srgb8(0.0, view.view.tone.tonemap)).max() <= 1


@pytest.mark.parametrize(("button", "number"), BUTTONS.items())
def test_a_button_drags_as_long_as_it_is_down(view: CanvasView, button: int, number: int) -> None:
    view.handle(event("pointer_down", 3, 4.5, button=button, modifiers=("Shift",)))
    assert view.view.input.drag == (number, SHIFT) and view.view.input.cursor == (3.0, 4.5)
    view.handle(event("pointer_up", 3, 4.5, button=button))
    assert view.view.input.drag is None
    for kind in ("pointer_down", "pointer_enter", ""):
        view.handle(event(kind, 3, 4.5, button=4))
    assert view.view.input.drag is None


def test_the_wheel_and_keys(view: CanvasView) -> None:
    def distance() -> float:
        camera = view.view.controller.camera
        return float(np.subtract(camera.target, camera.origin) @ [0, 0, -1])

    before = distance()
    view.handle(event("wheel", 12, 8, dx=0.0, dy=-100.0))
    rest(view)
    assert distance() == pytest.approx(before * 0.85)  # a step of the window's wheel
    view.handle(event("pinch", 12, 8, ratio=2.0))
    assert distance() == pytest.approx(before * 0.425)
    view.handle(event("key_down", key="Tab"))
    assert view.view.controller.mode == "fly"
    at = view.view.controller.camera.origin
    view.handle(event("key_down", key="w"))
    view.handle(event("key_down", key="Shift", modifiers=("Shift",)))
    assert view.view.controller._thrust.keys == {"forward", "fast"}
    for _ in range(3):
        view.advance()
        time.sleep(0.005)
    view.handle(event("focus_out"))
    assert not view.view.controller._thrust.keys
    rest(view)
    assert view.view.controller.camera.origin != at
    view.handle(event("key_down", key="1", modifiers=("Control",)))
    rest(view)
    assert np.allclose(view.view.controller.camera.basis()[2], (0, 0, -1))
    view.handle(event("key_down", key="AltGraph"))
    view.handle(event("key_down", key="F12"))
    assert "not there" in view.status, "what only a window can do is told"


def test_keys_that_are_held_down(view: CanvasView) -> None:
    """The keyboard repeats them: what switches does so once, what goes by steps goes on."""
    fov = view.view.controller.camera.fov
    for key in ("Tab", "]"):
        for repeat in (False, True, True, True):
            view.handle(event("key_down", key=key, repeat=repeat))
        view.handle(event("key_up", key=key))
    assert view.view.controller.mode == "fly"
    assert view.view.controller.camera.fov == pytest.approx(fov * FOV_STEP**4)


def test_a_second_button_leaves_the_drag_as_it_is(view: CanvasView) -> None:
    """A pan by the middle button goes on while the left one goes down and up."""
    before = view.view.controller.camera
    view.handle(event("pointer_down", 4, 4, button=3))
    view.handle(event("pointer_down", 4, 4, button=1))
    view.handle(event("pointer_move", 12, 6, buttons=(1, 3)))
    view.handle(event("pointer_up", 12, 6, button=1))
    view.handle(event("pointer_move", 20, 8, buttons=(3,)))
    view.handle(event("pointer_up", 20, 8, button=3))
    controller = CameraController(before, view.view.scene.bounds())
    controller.pan(16, 4, SIZE[1])
    np.testing.assert_allclose(view.view.controller.camera.origin, controller.camera.origin, atol=1e-9)
    np.testing.assert_allclose(view.view.controller.camera.basis(), before.basis(), atol=1e-12)
    assert view.view.input.drag is None


def test_the_first_of_a_scene_s_cameras_comes_first(view: CanvasView) -> None:
    """However far another scene's, or its own before it was opened anew, had come; and round."""
    cameras = view.view.scene.cameras
    for _ in range(2):
        view.scene_loader.open(view.scene_loader.shown_path)
        rest(view)
        for number in (*range(len(cameras)), 0):
            view.perform("camera.next")
            assert view.scene_loader.camera_index == number
            assert view.view.message.text == f"camera: {cameras[number].name}"


def test_exposure_by_steps(view: CanvasView) -> None:
    """Of a quarter of a stop, from what is on show; back to auto it is the picture's own."""
    for name, stops in (("up", 0.25), ("up", 0.5), ("down", 0.25)):
        view.perform(f"exposure.{name}")
        assert view.view.tone.exposure == view.view.tone.stops == stops
        assert view.view.message.text == f"exposure {stops:+.2f} stops"
    view.perform("exposure.auto")
    rest(view)
    metered = view.view.tone.metered
    assert view.view.tone.exposure == "auto" and view.view.tone.stops == metered != 0
    view.perform("exposure.down")
    assert view.view.tone.exposure == metered - 0.25


def test_another_size(view: CanvasView) -> None:
    """Events are in logical pixels, bitmaps in the screen's."""
    view.handle({"event_type": "resize", "width": 10, "height": 8, "pixel_ratio": 2.0})
    assert rest(view)[-1].shape == (16, 20, 4) and view.view.area.size == (10, 8)
    view.handle({"event_type": "resize", "width": 0, "height": 8, "pixel_ratio": 2.0})
    assert view.idle and not view.visible


def test_options(view: CanvasView) -> None:
    before = view.read().astype(int)
    view.update(exposure=-1.0)
    assert rest(view)[-1][..., :3].sum() < before[..., :3].sum()
    view.update(camera="0,1,4 0,1,0", fov=30, mode="fly")
    rest(view)
    assert view.session.renderer.camera.origin == (0, 1, 4) and view.session.renderer.camera.fov == 30
    view.update(program="path", spp=3, error=None)
    rest(view)
    assert view.session.samples == 3 and view.status.startswith("3 samples a pixel")
    for ends, stop in (({"error": 0.25}, (3, 0.25)), ({"spp": None}, (3, 0.25)), ({"error": None}, (3, None))):
        view.update(**ends)
        assert (view.session.stop.spp, view.session.stop.error) == stop
    for wrong in ({"programm": "path"}, {"depth": -1}, {"spp": 0}, {"mode": "walk"}, {"camera": "1,2"}):
        asked = view.scene_loader.requested
        with pytest.raises(raystream.ViewerError):
            view.update(**wrong)
        assert view.scene_loader.requested is asked


def test_the_status_line(view: CanvasView, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said before what is loaded, compiled or paused, and that before how far the picture is."""
    monkeypatch.setattr(view.view.preferences, "hint", True)
    monkeypatch.setattr(type(view.scene_loader), "loading", ("reading box", 0.257))
    monkeypatch.setattr(view.view.compilation, "name", "path")
    monkeypatch.setattr(view.view, "paused", True)
    view.view.say("saved")
    assert view.status == "saved"
    view.view.say("")
    for loading, line in ((("reading box", 0.257), "reading box: 26%"), (("reading box", None), "reading box")):
        monkeypatch.setattr(type(view.scene_loader), "loading", loading)
        assert view.status == line
    monkeypatch.setattr(type(view.scene_loader), "loading", None)
    assert view.status == "compiling path"
    view.view.compilation.name = ""
    assert view.status == "paused"
    view.view.paused = False
    for samples, error, line in (
        (3, 0.1234, "3 samples a pixel, error 12.3%"),
        (1, 0.1234, "1 sample a pixel"),
        (2, np.nan, "2 samples a pixel"),
    ):
        monkeypatch.setattr(view, "session", SimpleNamespace(samples=samples, error=error, complete=True))
        assert view.status == f"{line} · {view.view.hint}" and view.view.hint
    view.session.complete = False
    assert view.status == view.view.hint


def test_no_change_is_missed(view: CanvasView) -> None:
    """What the screen shows is another picture only where it has told so; previews out of sight are not told."""
    view.update(program="path", spp=2, error=None)
    canvas, told = view._canvas, []
    changes, shown = canvas.changes, canvas.linear()
    for _ in range(3):
        drag(view, (4, 4), (8, 5))
        while not view.idle:
            view.advance(0.0)
            now = canvas.linear()
            told.append((now.shape != shown.shape or bool((now != shown).any()), canvas.changes != changes))
            changes, shown = canvas.changes, now
    assert (True, False) not in told and told.count((True, True)) >= 3
    assert told.count((False, True)) < len(told) / 2


def test_two_views_at_once(view: CanvasView) -> None:
    """Each has the bits that it has alone, though they take turns on one context."""
    alone = raystream.render("teapotahedron", size=SIZE, program="whitted", machine="singlepass", spp=2)
    chosen = {"program": "whitted", "spp": 2, "error": None}
    other = opened("teapotahedron", **chosen)
    view.update(**chosen)
    while not (view.idle and other.idle):
        for each in (view, other):
            each.advance(0.0)
            time.sleep(min(each.wait_timeout, 0.01))
    assert np.array_equal(other.snapshot().film.linear, alone.linear)
    cornell = raystream.render("cornell", size=SIZE, program="whitted", machine="singlepass", spp=2)
    assert np.array_equal(view.snapshot().film.linear, cornell.linear)
    other.release()
    view.update(spp=1024)


def test_a_moment_of_the_animation(device: Any) -> None:
    """By an event, by an update, and by keys; the picture is that of the posed scene."""
    view = opened("balls")
    try:
        rest(view)
        view.handle(event("seek", seconds=0.5))
        shown = rest(view)[-1]
        posed = opened(raystream.load("balls").posed(0.5))
        np.testing.assert_array_equal(shown, rest(posed)[-1])
        posed.release()
        view.handle(event("seek", seconds=1e9))
        player, scene = view.context.editing.animation.player, view.view.scene
        assert scene is not None and player.seconds == scene.duration and not player.playing
        view.update(moment=0.25, animation=scene.animations[0].name)
        assert player.seconds == 0.25
        view.handle(event("key_down", key="ArrowRight", modifiers=("Shift",)))
        assert player.seconds == pytest.approx(9 / 30)
        with pytest.raises(raystream.ViewerError, match="no animation 'dance'"):
            view.update(animation="dance", spp=3)
        assert view.value("spp") != 3
    finally:
        view.release()


def test_what_the_bar_asks_for(device: Any) -> None:
    """Speeds that are offered, and animations by number; what is not there is told."""
    view = opened("balls")
    try:
        rest(view)
        player = view.context.editing.animation.player
        for times, found in ((0.25, 0.25), (1e9, 4.0), (-1.0, 0.1)):
            view.handle(event("speed", times=times))
            assert player.speed == found == view.motion["speed"]
        view.handle(event("animation", number=-1))
        assert view.motion["animation"] == -1 and view.context.editing.animation.name == "all"
        view.handle(event("animation", number=0))
        assert view.motion["animation"] == 0 and not view.view.message.is_error
        view.handle(event("animation", number=7))
        assert view.view.message.is_error and "no animation '7'" in view.view.message.text
        view.handle(event("action", name="animation.loop"))
        view.handle(event("action", name="no.action"))
        assert view.motion["loop"] is False
    finally:
        view.release()


def test_a_moment_before_the_scene_is_there(device: Any) -> None:
    """By options of the view, and by updates: of the scene that comes."""
    there = {"camera": "0,3,9 0,1,0"}
    wanted = raystream.render(
        raystream.load("balls").posed(0.5), size=SIZE, program="cast", machine="singlepass", **there
    )
    view = opened("balls", moment=0.25, animation=0, **there)
    try:
        assert view.view.scene is None
        view.update(moment=0.5)
        rest(view)
        assert (
            view.context.editing.animation.player.seconds == 0.5 and not view.context.editing.animation.player.playing
        )
        np.testing.assert_allclose(view.snapshot().linear, wanted.linear, rtol=1e-4)  # by another structure, perhaps
    finally:
        view.release()
    for source, chosen, said in (("balls", {"animation": 3}, "no animation '3'"), ("cornell", {"moment": 1}, "moves")):
        with pytest.raises(raystream.ViewerError, match=said):
            opened(source, **chosen)


def test_closed(device: Any) -> None:
    view = opened((np.eye(3), [[0, 1, 2]]))
    view.handle({"event_type": "close"})
    view.handle(event("key_down", key="w"))
    assert view.closed and view.idle and view.advance() is None
    with pytest.raises(raystream.ViewerError, match="closed"):
        view.snapshot()


def test_z_upwards(device: Any) -> None:
    """The camera is turned with the object: where z was up, (x, y, z) is (y, z, x)."""
    view = opened((np.eye(3), [[0, 1, 2]]), up="z", camera="5,1,2 0,0,0")
    view.wait()
    assert view.view.controller.camera.origin == (1, 2, 5) and view.view.controller.camera.up == (0, 1, 0)
    view.release()


def test_parked_it_comes_back_as_it_was(device: Any) -> None:
    """Of an object, too, which no file can give again, and more than once; what is closed stays closed."""
    view = opened((np.eye(3), [[0, 1, 2]]), exposure=1.0)
    rest(view)
    drag(view, (4, 4), (14, 8))
    rest(view)
    camera, before = view.camera, view.snapshot().linear
    for _ in range(2):
        view.park()
        assert view.parked and view.session.renderer is None and view.camera == camera
        view.visible = False
        assert view.idle, "nobody sees it"
        view.visible = True
        assert np.array_equal(view.snapshot().linear, before) and not view.parked
        assert view.view.tone.exposure == 1.0 and view.camera == camera
    view.handle({"event_type": "resize", "width": 12, "height": 8, "pixel_ratio": 2.0})
    view.update(tonemap="aces", mode="fly", depth=3)
    rest(view)
    view.handle(event("key_down", key="p"))
    view.park()
    view.wait()
    assert view.view.controller.mode == "fly"
    assert (view.view.area.size, view.view.area.pixels) == ((12, 8), SIZE) and view.view.paused
    assert view.view.tone.tonemap == "aces" and view.value("depth") == 3
    view.update(mode="orbit")
    view.advance()
    assert view.view.controller.mode == "orbit" and view.camera == camera, "what was chosen since stays"
    view.park()
    view.release()
    view.park()
    assert view.closed and view.advance() is None
