"""The window, by real events of an X server: keys, mouse, sizes, files, and how long it takes to answer."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.window.conftest import PATIENCE, Hands, xdotool

Opener = Callable[..., Hands]

SMALL_TRIANGLE = b"""ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""


def lit(pixels: np.ndarray) -> bool:
    """Whether the middle of the picture shows something."""
    height, width = pixels.shape[:2]
    return bool(pixels[height // 4 : -height // 4, width // 4 : -width // 4].any())


# -- a process of its own ----------------------------------------------------------------------------------------------


def start(place: Path, *arguments: str) -> tuple[subprocess.Popen, str, float]:
    """``raystream view``, its window's number, and the seconds until it was there."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "viewer", "view", *arguments], stderr=subprocess.PIPE, text=True)
    number = ""
    while not number:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.perf_counter() - began < PATIENCE
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(process.pid)], capture_output=True, text=True
        )
        number = found.stdout.split()[0] if found.stdout.split() else ""
    return process, number, time.perf_counter() - began


def wait_for(path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < end, f"never written: {path.name}"
        time.sleep(0.02)


def test_a_window_of_its_own(place: Path) -> None:
    """It opens within two seconds (the best of two: caches may be cold, and the machine busy), shows the scene,
    writes what F12 asks for, and quits by Ctrl+Q with nothing to say and its settings saved."""
    from PIL import Image

    seconds = []
    for number in (1, 2):
        process, window, took = start(place, "teapotahedron")
        seconds.append(took)
        xdotool("windowfocus", window)
        time.sleep(1.5 if number == 1 else 0.5)  # so that the scene is there; the picture is checked below
        xdotool("key", "--window", window, "plus") if number == 2 else None
        xdotool("windowfocus", window, "key", "F12")
        wait_for(place / f"window_{number:03}.png")
        xdotool("windowfocus", window, "key", "ctrl+q")
        _, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode, said) == (0, "")
    assert min(seconds) < 2.0
    with Image.open(place / "window_001.png") as picture:
        assert picture.size == (960, 540)
        assert lit(np.asarray(picture))
    assert min(seconds) > 0.05  # the clock ran


def test_no_display(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    done = subprocess.run([sys.executable, "-m", "viewer", "view", "cornell"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "no display" in done.stderr and "raystream render" in done.stderr
    monkeypatch.setenv("DISPLAY", ":54321")
    done = subprocess.run([sys.executable, "-m", "viewer", "view", "cornell"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "raystream render" in done.stderr


# -- the picture -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(320, 240), (401, 259)])
def test_the_picture_is_the_renderers(opened: Opener, size: tuple[int, int]) -> None:
    """Bit for bit, after flying: previews, tiles and sizes of pieces leave no trace."""
    from viewer.renderer.renderer import Renderer

    hands = opened("teapotahedron", size)
    app = hands.app
    app.view.flight.press("forward")
    hands.turn(8)
    app.view.flight.release_all()
    hands.rest()
    assert app.session.scale == 1.0 and app.session.linear().shape == (size[1], size[0], 3)
    other = Renderer(
        app.view.scene, camera=app.view.renderer.camera, device=app.device, machine="singlepass", program="cast"
    )
    np.testing.assert_array_equal(app.session.linear(), other.render(size).linear)
    assert lit(hands.pixels())


def test_no_flash(opened: Opener) -> None:
    """While flying and when it comes to rest every draw shows the scene: none is black."""
    hands = opened("teapotahedron")
    app = hands.app
    app.view.panels_visible = False
    app.view.flight.press("back")
    shown = []
    for turn in range(24):
        if turn == 12:
            app.view.flight.release_all()
        app.view.after_draw(lambda: shown.append(app.window.read()))
        app.turn()
    means = [np.frombuffer(pixels, np.uint8).mean() for pixels in shown]
    assert len(means) > 12
    # The picture changes slowly: a frame that lost half of the light of its neighbours would be a flash.
    assert min(means) > 0.5 * max(means) > 0


def test_it_sleeps_when_the_picture_is_complete(opened: Opener) -> None:
    hands = opened()
    app = hands.app
    while app.draws < 1 or app.view.awake:
        app.turn()
    draws, began, used = app.draws, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < 2.0:
        app.turn()
    share = (time.process_time() - used) / (time.perf_counter() - began)
    assert share < 0.02  # of a core, as promised
    assert app.draws == draws


def fly(hands: Hands, seconds: float) -> list[float]:
    """Seconds of each turn in flight."""
    took, began, flight = [], time.monotonic(), hands.app.view.flight
    flight.press("left")
    while time.monotonic() - began < seconds:
        hands.turn()
        took.append(hands.app.turn_seconds)
    flight.release_all()
    return took


@pytest.mark.parametrize("name", ["bunny.ply", "dragon.ply", "forest.glb"])
def test_it_answers_within_50_ms(opened: Opener, shared_scenes: Path, name: str) -> None:
    """In flight at 960 x 540. The machine may be busy with other things: one turn in twenty may be late, and the best
    of some flights counts."""
    hands = opened(str(shared_scenes / name), (960, 540))
    app = hands.app
    fly(hands, 0.5)
    best, pictures = 1.0, app.session.pictures
    for _ in range(6):
        best = min(best, float(np.percentile(fly(hands, 1.0), 95)))
        if best < 0.05:
            break
    assert best < 0.05
    assert app.session.pictures - pictures > 10  # 30 a second, on a machine that is not busy


# -- keys --------------------------------------------------------------------------------------------------------------


def test_fly_forward(opened: Opener) -> None:
    hands = opened()
    app = hands.app
    hands.key("Tab")
    assert app.view.flight.mode == "fly"
    before, held = app.view.flight.camera, [0.0, 0.0]
    press, release = app.view.flight.press, app.view.flight.release

    def note(which: int, what: Callable[[str], None], motion: str) -> None:
        held[which] = time.monotonic()
        what(motion)

    app.view.flight.press = lambda motion: note(0, press, motion)
    app.view.flight.release = lambda motion: note(1, release, motion)
    app.view.flight.speed *= 0.25  # to stay this side of the wall
    xdotool("keydown", "w")
    end = time.monotonic() + 1.0
    hands.until(lambda: time.monotonic() > end)
    xdotool("keyup", "w")
    hands.until(lambda: held[1])
    hands.rest()
    moved = np.subtract(app.view.flight.camera.origin, before.origin)
    way = np.linalg.norm(moved)
    np.testing.assert_allclose(moved / way, before.basis()[2], atol=1e-6)
    # Easing in and out takes no way; keys are noted when a turn begins, so that it is known to two turns.
    assert way == pytest.approx(app.view.flight.speed * (held[1] - held[0]), abs=0.12 * app.view.flight.speed)
    assert held[1] - held[0] > 0.5


STATE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "machine.next": ("m", lambda app: app.view.renderer.settings.machine),
    "fuse.next": ("k", lambda app: app.view.renderer.settings.fuse),
    "policy.next": ("y", lambda app: str(app.view.renderer.settings.policy)),
    "unroll.next": ("u", lambda app: str(app.view.renderer.settings.unroll)),
    "mask.next": ("shift+k", lambda app: app.view.renderer.settings.mask),
    "wires.toggle": ("v", lambda app: app.view.wires),
    "camera.mode": ("Tab", lambda app: app.view.flight.mode),
    "camera.front": ("ctrl+1", lambda app: app.view.flight.camera),
    "camera.right": ("ctrl+3", lambda app: app.view.flight.camera),
    "camera.top": ("ctrl+7", lambda app: app.view.flight.camera),
    "camera.focus": ("f", lambda app: app.view.flight.camera),
    "camera.frame": ("Home", lambda app: app.view.flight.camera),
    "camera.reset": ("Return", lambda app: app.view.flight.camera),
    "fov.narrower": ("bracketleft", lambda app: app.view.flight.camera.fov),
    "fov.wider": ("bracketright", lambda app: app.view.flight.camera.fov),
    "exposure.up": ("plus", lambda app: app.view.exposure),
    "exposure.down": ("minus", lambda app: app.view.exposure),
    "tonemap.next": ("t", lambda app: app.view.tonemap),
    "statistics": ("z", lambda app: app.view.stats_visible),
    "help": ("h", lambda app: app.view.help_visible),
    "escape": ("Escape", lambda app: app.view.help_visible),
    "panels": ("ctrl+b", lambda app: app.view.panels_visible),
    "pause": ("p", lambda app: app.view.paused),
    "heat.next": ("shift+z", lambda app: app.studies.heat),
    "probe.show": ("x", lambda app: app.studies.probe),
    "inspector.show": ("i", lambda app: app.studies.inspector),
}
# Tested on their own below, or that leave the process or ask the desktop.
OTHERS = {
    *("inspector.step", "inspector.run", "inspector.restart", "camera.copy", "camera.paste", "camera.next"),
    *("screenshot.window", "screenshot.picture", "save.exr", "scene.open", "scene.reload", "scene.previous"),
    *("scene.next", "full_screen", "quit", "program.cast", "accel.next", "object.grab", "lights.show", "lights.next"),
    *("environment.toggle", "animation.play", "turntable", "depth.less", "depth.more"),
    *("shadows.toggle", "reflections.toggle", "refractions.toggle"),
}


def test_every_key_changes_what_it_names(opened: Opener) -> None:
    """In the state, and in the window's pixels."""
    hands = opened("teapotahedron", (480, 360))
    app = hands.app
    assert {*STATE, *OTHERS} >= {name for name in app.view.handlers if not name.startswith(("program.",))}
    app.view.panels_visible = False
    hands.move(240, 200)
    hands.rest()
    for name, (key, look) in STATE.items():
        if name == "fov.narrower":  # the cameras before left the picture as framed
            hands.rest()
        app.view.say("")
        hands.rest()
        before, pixels = look(app), hands.pixels()
        hands.key(key)
        if not app.view.paused:
            hands.rest()
        else:
            hands.turn(3)
        assert look(app) != before, f"{name}: {key}"
        assert (hands.pixels() != pixels).any(), f"{name}: {key} is not seen"
        if name in ("pause", "panels", "statistics", "probe.show", "inspector.show", "wires.toggle"):
            hands.key(key)  # and back
            hands.rest()
            assert look(app) == before or look(app) is None, name
            app.view.panels_visible = False
        if name == "heat.next":
            app.studies.heat = None
            hands.turn(2)


def test_keys_that_save(opened: Opener, place: Path) -> None:
    from PIL import Image

    hands = opened("teapotahedron")
    app = hands.app
    hands.key("F12", "ctrl+F12", "ctrl+s")
    hands.rest()
    with Image.open(place / "window_001.png") as window, Image.open(place / "teapotahedron_001.png") as picture:
        assert window.size == picture.size == (320, 240)
        assert lit(np.asarray(picture)) and not np.array_equal(np.asarray(window), np.asarray(picture))  # panels
    assert (place / "teapotahedron_001.exr").stat().st_size > 10_000
    assert not app.view.message_is_error


def test_copy_and_paste_a_camera(opened: Opener) -> None:
    hands = opened()
    app = hands.app
    hands.key("ctrl+c")
    before = app.view.flight.camera
    assert "--camera" in app.view.message
    hands.key("ctrl+1")
    hands.rest()
    assert app.view.flight.camera.origin != before.origin
    hands.key("ctrl+v")
    hands.rest()
    # The text has nine digits, as a float32 needs.
    np.testing.assert_allclose(app.view.flight.camera.origin, before.origin, rtol=1e-6)
    np.testing.assert_allclose(app.view.flight.camera.basis(), before.basis(), atol=1e-6)
    app.window.copy("no camera")
    hands.key("ctrl+v")
    assert app.view.message_is_error and "no camera" in app.view.message


def test_single_step_shows_each_pass(opened: Opener) -> None:
    hands = opened("teapotahedron")
    app = hands.app
    pictures = []
    for number in range(1, 7):
        hands.key("n")
        hands.until(lambda: app.studies.inspector is not None and app.studies.inspector.passes)
        assert len(app.studies.inspector.passes) == number
        # The states alone need not change: all rays may take a second step through the tree.
        pictures.append(np.stack([app.studies.inspector.values(name)[0] for name in ("state", "steps", "tests")]))
        assert app.studies.inspector.passes[-1].active > 0
    assert all((a != b).any() for a, b in pairwise(pictures))
    hands.key("shift+n")
    hands.rest()
    assert app.studies.inspector.complete and len(app.studies.inspector.passes) > 20
    hands.key("n")
    assert "no ray is left" in app.view.message
    hands.key("shift+i")
    assert not app.studies.inspector.passes


def test_quitting_saves_the_settings(opened: Opener) -> None:
    from viewer.window.view.preferences import Preferences

    hands = opened()
    hands.key("plus", "z", "Tab")
    assert not hands.app.window.closing
    hands.key("ctrl+q")
    assert hands.app.window.closing
    hands.app.release = hands.app.window.release  # the fixture's is then the window's alone
    type(hands.app).release(hands.app)
    saved = Preferences.load()
    assert (saved.exposure, saved.statistics, saved.mode) == (0.25, True, "fly")
    assert saved.size == (320, 240)
    hands.app.release = lambda: None


def test_full_screen_and_back(opened: Opener) -> None:
    hands = opened()
    app = hands.app
    hands.key("F11")
    hands.until(lambda: app.session.size == (1280, 1024))  # the event may come a few turns later
    hands.rest()
    assert app.window.full_screen and app.window.pixels == (1280, 1024) == app.canvas.texture.size
    hands.key("F11")
    hands.until(lambda: app.session.size == (320, 240))
    hands.rest()
    assert not app.window.full_screen and app.canvas.texture.size == app.window.pixels == (320, 240)


# -- mouse -------------------------------------------------------------------------------------------------------------


def test_drags(opened: Opener) -> None:
    hands = opened("teapotahedron")
    app = hands.app
    target = np.array(app.view.flight.camera.target)

    def dragged(button: int, modifier: str = "", end: tuple[int, int] = (200, 150)) -> tuple[Any, Any]:
        before = app.view.flight.camera
        hands.drag(button, (160, 120), end, modifier)
        hands.rest()
        return before, app.view.flight.camera

    def distance(camera: Any) -> float:
        return float(np.linalg.norm(np.subtract(camera.origin, camera.target)))

    app.view.panels_visible = False
    hands.rest()
    before, after = dragged(1)  # orbit: about the target
    np.testing.assert_allclose(after.target, target, atol=1e-6)
    assert distance(after) == pytest.approx(distance(before)) and after.origin != before.origin
    before, after = dragged(1, "shift")  # pan: parallel
    np.testing.assert_allclose(after.basis(), before.basis(), atol=1e-6)
    assert np.linalg.norm(np.subtract(after.target, before.target)) > 0
    before, after = dragged(2)
    np.testing.assert_allclose(after.basis(), before.basis(), atol=1e-6)
    before, after = dragged(3)  # dolly, 30 pixels down: away
    assert distance(after) == pytest.approx(distance(before) * 1.01**30, rel=1e-6)
    before, after = dragged(1, "ctrl")  # roll
    np.testing.assert_allclose(after.origin, before.origin, atol=1e-9)
    assert abs(np.dot(after.basis()[0], before.basis()[0])) == pytest.approx(np.cos(0.4), abs=1e-3)
    hands.key("Tab")
    before, after = dragged(1)  # look: the eye stays
    assert after.origin == before.origin and after.target != before.target
    assert app.view.drag is None


def test_wheel(opened: Opener) -> None:
    hands = opened("teapotahedron")
    app = hands.app
    app.view.panels_visible = False
    hands.move(200, 100)
    camera, direction = app.view.flight.camera, app.view.direction_under_cursor()
    hands.mouse("click", 4)
    hands.rest()
    after = app.view.flight.camera
    assert np.linalg.norm(np.subtract(after.origin, after.target)) < np.linalg.norm(
        np.subtract(camera.origin, camera.target)
    )
    # To the cursor: the eye goes along the ray through it.
    way = np.subtract(after.origin, camera.origin)
    np.testing.assert_allclose(way / np.linalg.norm(way), direction, atol=1e-6)
    hands.key("Tab")
    speed = app.view.flight.speed
    hands.mouse("click", 5)
    assert app.view.flight.speed != speed and app.view.flight.camera == after


def test_the_probe_follows_the_cursor(opened: Opener) -> None:
    hands = opened("teapotahedron")
    hands.move(170, 121)
    hands.key("x")
    hands.rest()
    assert hands.app.studies.probe.pixel == (170, 121) and len(hands.app.studies.probe.rows) > 3


def test_focus_lost_with_keys_held(opened: Opener) -> None:
    hands = opened()
    app = hands.app
    app.view.panels_visible = False
    hands.turn(3)
    xdotool("keydown", "w")
    hands.until(lambda: app.view.flight.moving)
    xdotool("mousemove", "--window", hands.number, 160, 120, "mousedown", 1)
    hands.until(lambda: app.view.drag is not None)
    app.events.on_focus(False)
    hands.rest()  # it comes to rest
    assert app.view.drag is None and not app.view.flight.moving
    xdotool("mouseup", 1, "keyup", "w")
    app.events.on_focus(True)
    hands.turn(3)
    assert not app.view.flight.moving


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_a_storm_of_sizes(opened: Opener) -> None:
    import glfw

    from viewer.renderer.renderer import Renderer

    hands = opened("teapotahedron")
    app = hands.app
    generator, began = np.random.default_rng(7), time.monotonic()
    for number in range(200):
        glfw.set_window_size(app.window.handle, *(int(n) for n in generator.integers(1, 900, 2)))
        while time.monotonic() - began < 5.0 * (number + 1) / 200:
            hands.turn()
    assert time.monotonic() - began < 7.0
    glfw.set_window_size(app.window.handle, 333, 222)
    hands.until(lambda: app.window.pixels == (333, 222))
    hands.rest()
    expected = (
        Renderer(app.view.scene, camera=app.view.renderer.camera, device=app.device, program="cast")
        .render((333, 222))
        .linear
    )
    np.testing.assert_array_equal(app.session.linear(), expected)
    assert hands.pixels().shape == (222, 333, 3) and lit(hands.pixels())


def test_one_pixel_and_33_million(opened: Opener) -> None:
    import glfw

    hands = opened("teapotahedron")
    app = hands.app
    glfw.set_window_size(app.window.handle, 1, 1)
    hands.until(lambda: app.window.pixels == (1, 1))
    hands.rest()
    assert app.canvas.texture.size == (1, 1)
    app.events.on_resize(7680, 4320)
    pictures = app.session.pictures
    hands.until(lambda: app.session.pictures > pictures)  # the preview
    assert app.canvas.texture.size[0] <= 7680 and lit(app.session.linear()[::16, ::16])
    hands.until(lambda: app.canvas.texture.size == (7680, 4320))  # the full picture has begun
    app.events.on_resize(*app.window.pixels)
    glfw.set_window_size(app.window.handle, 320, 240)
    hands.until(lambda: app.window.pixels == (320, 240))
    hands.rest()
    assert lit(hands.pixels())


def test_minimised_and_another_screen(opened: Opener) -> None:
    hands = opened("teapotahedron")
    app = hands.app
    app.events.on_minimise(True)
    app.events.on_resize(0, 0)
    app.view.do("fov.wider")
    draws = app.draws
    hands.turn(5)
    assert not app.session.complete and app.view.minimised  # nothing is traced for nobody
    app.events.on_resize(*app.window.pixels)
    app.events.on_minimise(False)
    hands.rest()
    assert app.draws > draws and lit(hands.pixels())
    app.events.on_scale(2.0)
    app.events.on_resize(640, 480)  # a screen of twice the density: more pixels in a window of the same size
    hands.rest()
    assert app.canvas.texture.size == (640, 480)
    app.events.on_scale(1.0)
    app.events.on_resize(*app.window.pixels)
    hands.rest()
    assert app.canvas.texture.size == (320, 240)


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_broken_file(opened: Opener, place: Path) -> None:
    hands = opened("teapotahedron")
    app = hands.app
    scene, pixels = app.view.scene, app.session.linear()
    broken = place / "broken.ply"
    broken.write_bytes(SMALL_TRIANGLE[:-8])
    app.events.on_drop([str(broken)])
    hands.until(lambda: app.view.message_is_error)
    assert "broken.ply" in app.view.message and "\n" not in app.view.message
    assert app.view.scene is scene and app.stage.loading is None
    hands.rest()
    np.testing.assert_array_equal(app.session.linear(), pixels)
    app.stage.open(str(place / "nowhere.glb"))
    hands.until(lambda: "nowhere.glb" in app.view.message)
    good = place / "good.ply"
    good.write_bytes(SMALL_TRIANGLE)
    app.events.on_drop([str(good)])
    hands.until(lambda: app.view.scene is not scene)
    hands.rest()
    assert app.view.scene.triangle_count == 1 and not app.view.message_is_error
    assert str(good.resolve()) == app.preferences.recent[0]
    hands.key("Left")
    hands.until(lambda: "broken.ply" in app.view.message)
    good.write_bytes(SMALL_TRIANGLE.replace(b"0 1 0\n", b"0 2 0\n"))
    camera = app.view.flight.camera
    hands.key("F5")
    hands.until(lambda: app.view.scene.bounds()[1, 1] == 2)
    assert app.view.flight.camera == camera


def test_structures_are_built_anew(opened: Opener) -> None:
    """In the worker, from the scene that is there; the camera stays, and so do all bits of the picture."""
    hands = opened("teapotahedron")
    app = hands.app
    hands.key("ctrl+1")
    hands.rest()
    camera, scene, pixels = app.view.flight.camera, app.view.scene, app.session.linear()
    first = app.view.renderer.structure.name
    hands.key("shift+v")
    hands.until(lambda: app.view.renderer.structure.name != first)
    hands.rest()
    assert app.stage.requested.accel == app.view.renderer.structure.name
    assert app.view.scene is scene and app.view.flight.camera == camera == app.view.renderer.camera
    np.testing.assert_array_equal(app.session.linear(), pixels)
    app.stage.set(accel="grid", grid="5")
    hands.until(lambda: app.stage.loading is None)
    hands.rest()
    assert min(app.view.renderer.structure.built.resolution) == 5 and app.stage.requested.grid == 5
    np.testing.assert_array_equal(app.session.linear(), pixels)
    before = app.stage.requested.recipe()
    app.stage.set(grid="many")
    assert app.view.message_is_error and "grid" in app.view.message and app.stage.requested.recipe() == before
    app.stage.set(traversal="stack")  # which a grid has not: found out by the worker
    hands.until(lambda: app.stage.loading is None)
    assert app.view.message_is_error and "stack" in app.view.message and app.stage.requested.recipe() == before
    app.stage.set(accel="bvh", machine="singlepass")
    assert app.stage.loading is not None
    hands.key("Escape")
    assert app.stage.requested.recipe() == before and app.stage.requested.machine == "singlepass"
    hands.rest()
    assert app.view.renderer.structure.name == "grid"


def test_keys_of_ones_own(opened: Opener, place: Path) -> None:
    (place / "settings.toml").write_text("[keys]\npause = 'F9'\n'program.cast' = ''\n")
    hands = opened()
    hands.key("F9")
    assert hands.app.view.paused
    xdotool("key", "p")
    hands.turn(5)
    assert hands.app.view.paused  # P does nothing now
    assert hands.app.view.keymap.text("pause") == "F9"


def test_the_cameras_of_a_scene(opened: Opener, shared_scenes: Path) -> None:
    hands = opened(str(shared_scenes / "forest_gpuinst.glb"))
    app = hands.app
    cameras = app.view.scene.cameras
    assert len(cameras) > 1
    for number in range(len(cameras) + 1):
        hands.key("c")
        hands.rest()
        assert app.view.flight.camera == cameras[number % len(cameras)] == app.view.renderer.camera


def test_the_file_dialog(opened: Opener, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The desktop's own, here one that answers at once; without one the window says what to do."""
    hands = opened("teapotahedron")
    app, scene = hands.app, hands.app.view.scene
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(place))
    app.view.do("scene.open")
    assert app.view.message_is_error and "drop a file" in app.view.message
    good = place / "good.ply"
    good.write_bytes(SMALL_TRIANGLE)
    dialog = place / "zenity"
    dialog.write_text(f"#!/bin/sh\necho '{good}'\n")
    dialog.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{path}")
    hands.key("ctrl+o")
    hands.until(lambda: app.view.scene is not scene)
    assert app.view.path == str(good) and app.preferences.recent[0] == str(good.resolve())


def test_loading_is_cancelled_by_escape(opened: Opener) -> None:
    hands = opened("teapotahedron")
    app = hands.app
    scene, load, go_on = app.view.scene, app.stage.loader._load, threading.Event()

    def slowly(path: str) -> Any:
        go_on.wait(PATIENCE)
        return load(path)

    app.stage.loader._load = slowly
    app.stage.open("cornell")
    hands.turn(3)
    assert app.stage.loading is not None and "cornell" in app.stage.loading[0]
    hands.key("Escape")
    assert app.stage.loading is None and "cancelled" in app.view.message
    go_on.set()
    end = time.monotonic() + 0.5
    hands.until(lambda: time.monotonic() > end)
    assert app.view.scene is scene


def test_upload_is_cancelled_by_escape(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    from viewer.renderer.renderer import Renderer

    hands = opened("teapotahedron")
    app, scene = hands.app, hands.app.view.scene
    upload = Renderer.upload

    def slowly(renderer: Renderer, prepared: Any = None) -> Any:
        for k in range(400):
            time.sleep(0.02)
            yield k / 400
        yield from upload(renderer, prepared)

    monkeypatch.setattr(Renderer, "upload", slowly)
    app.stage.open("cornell")
    hands.until(lambda: app.stage.loading is not None and "uploading" in app.stage.loading[0])
    hands.key("Escape")
    hands.turn(3)
    assert app.stage.loading is None and app.view.scene is scene


def test_broken_settings_are_told(opened: Opener, place: Path) -> None:
    (place / "settings.toml").write_text("[keys]\npause = 'Q+Q'\n")
    app = opened().app
    assert app.view.message_is_error and "pause" in app.view.message
    assert os.linesep not in app.view.message


# -- shaders -----------------------------------------------------------------------------------------------------------


def test_shaders_are_compiled_anew(opened: Opener, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    from viewer.base import paths

    copy = place / "shaders"
    shutil.copytree(paths.shaders(), copy)
    monkeypatch.setattr(paths, "shaders", lambda: copy)
    hands = opened("teapotahedron")
    app = hands.app
    hands.key("i")
    hands.rest()
    before = app.session.linear()
    file = copy / "kernels" / "shade_headlight.glsl"
    good = file.read_text()
    body = good.rindex("    return")

    file.write_text(good[:body] + "    nonsense;\n" + good[body:])
    hands.until(lambda: app.view.message_is_error, "the error")
    line = good[:body].count("\n") + 1
    assert f"kernels/shade_headlight.glsl:{line}" in app.view.message and "nonsense" in app.view.message
    app.view.do("fov.wider")
    app.view.do("fov.narrower")
    hands.rest()
    np.testing.assert_allclose(app.session.linear(), before, atol=0.1)  # the old one goes on
    assert app.session.linear().any() and app.view.message_is_error

    file.write_text(good[:body] + "    radiance.rgb = vec3(0.25, 0.5, 0.75);\n" + good[body:])
    hands.until(lambda: not app.view.message_is_error, "the mended shader")
    hands.rest()
    middle = app.session.linear()[120, 160]
    np.testing.assert_array_equal(middle, np.float32([0.25, 0.5, 0.75]))
    assert app.studies.inspector is not None and not app.studies.inspector.passes

    app.view.panels_visible = False
    shown = hands.pixels()[120, 160].astype(int)
    show = copy / "film" / "show.glsl"
    show.write_text(show.read_text().replace("shown = vec4(", "shown = vec4(1.0) - vec4("))
    hands.until(lambda: (hands.pixels()[120, 160] == 255 - shown).all(), "the inverted picture")
