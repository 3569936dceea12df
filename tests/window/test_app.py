"""The application by real events of an X server: a process of its own, the picture, sizes, settings and shaders."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from raystream.cli import main as cli
from tests.window.conftest import PATIENCE, SCREEN, Hands, xdotool

Opener = Callable[..., Hands]


def lit(pixels: np.ndarray) -> bool:
    """Whether the middle of the picture shows something."""
    height, width = pixels.shape[:2]
    return bool(pixels[height // 4 : -height // 4, width // 4 : -width // 4].any())


# -- a process of its own ----------------------------------------------------------------------------------------------


def start(*arguments: str) -> tuple[subprocess.Popen, str]:
    """``raystream view`` and its window's number."""
    end = time.monotonic() + PATIENCE
    process = subprocess.Popen(
        [sys.executable, "-m", "raystream", "view", *arguments], stderr=subprocess.PIPE, text=True
    )
    number = ""
    while not number:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < end
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(process.pid)], capture_output=True, text=True
        )
        number = found.stdout.split()[0] if found.stdout.split() else ""
    return process, number


def test_a_window_of_its_own(place: Path) -> None:
    """It shows the scene, writes what F12 asks for, and quits by Ctrl+Q with nothing to say and its settings saved."""
    from PIL import Image

    (place / "settings.toml").write_text("size = [320, 200]\nexposure = 0.0\n")
    process, window = start("teapotahedron", "--program", "cast", "--machine", "singlepass")
    xdotool("windowfocus", window)
    end, number, shown = time.monotonic() + PATIENCE, 0, False
    while not shown:  # the scene comes a little after the window
        number += 1
        xdotool("windowfocus", window, "key", "F12")
        while not (path := place / f"window_{number:03}.png").exists():
            assert time.monotonic() < end, "no picture of the scene"
            time.sleep(0.02)
        with Image.open(path) as picture:
            assert picture.size == (320, 200)
            shown = lit(np.asarray(picture)[:, 290:-10])  # beside the panels
    xdotool("windowfocus", window, "key", "plus", "key", "t", "key", "ctrl+q")
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "")
    saved = (place / "settings.toml").read_text()
    assert "exposure = 0.0\n" in saved and "tonemap = " in saved  # an exposure set by hand is the scene's


@pytest.mark.parametrize("display", ["", ":54321"])
def test_no_display(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], display: str
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    assert cli.main(["view", "cornell"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "display" in said and "raystream render" in said


# -- the picture -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(301, 159)])  # more than a tile wide, and no multiple of one
def test_the_picture_is_the_renderers(opened: Opener, size: tuple[int, int]) -> None:
    """Bit for bit, after flying: previews, tiles and sizes of pieces leave no trace."""
    from raystream.renderer.renderer import Renderer

    hands = opened("teapotahedron", size)
    app = hands.app
    app.view.controller.press("forward")
    hands.turn(8)
    app.view.controller.release_all()
    hands.rest()
    assert app.session.scale == 1.0 and app.session.linear().shape == (size[1], size[0], 3)
    other = Renderer(
        app.view.scene, camera=app.view.renderer.camera, device=app.device, machine="singlepass", program="cast"
    )
    np.testing.assert_array_equal(app.session.linear(), other.render(size).linear)
    assert lit(hands.pixels())


def test_no_flash(opened: Opener) -> None:
    """While flying and when it comes to rest every draw shows the scene: none is black."""
    hands = opened("teapotahedron", (240, 180), machine="singlepass")
    app = hands.app
    app.view.overlays.panels.on = False
    app.view.controller.press("back")
    shown = []
    for turn in range(24):
        if turn == 12:
            app.view.controller.release_all()
        app.view.after_draw(lambda: shown.append(app.window.read()))
        app.turn()
    means = [np.frombuffer(pixels, np.uint8).mean() for pixels in shown]
    assert len(means) > 12
    # The picture changes slowly: a frame that lost half of the light of its neighbours would be a flash.
    assert min(means) > 0.5 * max(means) > 0


def test_quitting_saves_the_settings(opened: Opener) -> None:
    from raystream.viewport.preferences import Preferences

    hands = opened()
    assert hands.app.view.tone.exposure == "auto"
    hands.key("plus", "z", "Tab", "ctrl+b", "t")
    assert hands.app.view.tone.exposure != "auto"
    controller = hands.app.view.controller
    controller.speed = 2 * controller.natural_speed
    hands.app.session.stop_at(77, 0.125)
    assert not hands.app.window.closing
    hands.key("ctrl+q")
    assert hands.app.window.closing
    hands.app.release = hands.app.window.release  # the fixture's is then the window's alone
    type(hands.app).release(hands.app)
    saved = Preferences.load()
    assert (saved.exposure, saved.statistics, saved.mode) == ("auto", True, "fly")
    assert (saved.size, saved.full_screen) == (Preferences().size, False)  # that of the window was asked for
    assert controller.natural_speed != 1 and saved.speed == 2, "a factor on what suits the scene"
    assert (saved.samples, saved.noise) == (77, 0.125)
    assert (saved.panels, saved.tonemap) == (True, hands.app.view.tone.tonemap) and saved.tonemap != "agx"
    hands.app.release = lambda: None


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def resized(opened: Opener) -> Hands:
    return opened("teapotahedron", (160, 120), machine="singlepass")


def test_full_screen_and_back(resized: Hands) -> None:
    app = resized.app
    resized.key("F11")
    resized.until(lambda: app.session.size == SCREEN)  # the event may come a few turns later
    resized.until(lambda: app.canvas.texture.size == SCREEN)
    assert app.window.full_screen and app.window.pixels == SCREEN
    resized.key("F11")
    resized.until(lambda: app.session.size == (160, 120))
    resized.rest()
    assert not app.window.full_screen and app.canvas.texture.size == app.window.pixels == (160, 120)


def test_a_storm_of_sizes(resized: Hands) -> None:
    """A new size at every other turn; then the picture of the last one is the renderer's."""
    import glfw

    from raystream.renderer.renderer import Renderer

    app = resized.app
    for size in np.random.default_rng(7).integers(1, 400, (60, 2)):
        glfw.set_window_size(app.window.handle, *(int(n) for n in size))
        resized.turn(2)
    glfw.set_window_size(app.window.handle, 203, 122)
    resized.until(lambda: app.window.pixels == (203, 122))
    resized.rest()
    other = Renderer(
        app.view.scene, camera=app.view.renderer.camera, device=app.device, program="cast", machine="singlepass"
    )
    np.testing.assert_array_equal(app.session.linear(), other.render((203, 122)).linear)
    assert resized.pixels().shape == (122, 203, 3) and lit(resized.pixels())


def test_one_pixel_and_eight_million(resized: Hands) -> None:
    import glfw

    app = resized.app
    glfw.set_window_size(app.window.handle, 1, 1)
    resized.until(lambda: app.window.pixels == (1, 1))
    resized.rest()
    assert app.canvas.texture.size == (1, 1)
    pictures = app.session.pictures
    glfw.set_window_size(app.window.handle, 3840, 2160)
    resized.until(lambda: app.session.pictures > pictures)  # the preview
    assert app.canvas.texture.size[0] <= 3840 and lit(app.session.linear()[::16, ::16])
    resized.until(lambda: app.canvas.texture.size == (3840, 2160))  # the full picture has begun
    glfw.set_window_size(app.window.handle, 160, 120)
    resized.until(lambda: app.window.pixels == (160, 120))
    resized.rest()
    assert lit(resized.pixels())


def test_minimised_and_another_screen(resized: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    from raystream.window.window import Window

    app = resized.app
    with monkeypatch.context() as patch:
        patch.setattr(Window, "minimised", property(lambda window: True))
        patch.setattr(Window, "pixels", property(lambda window: (0, 0)))
        app.turn()
        app.view.actions.perform("fov.wider")
        draws, steps = app.draws, app.session.steps
        resized.turn(5)
        assert app.session.steps == steps and app.view.area.minimised  # nothing is traced for nobody
        for _ in range(20):
            if app.view.awake:  # what was asked for before is drawn
                app.turn()
        assert not app.session.idle and app.frame_loop.wait_timeout > 0  # and the loop sleeps
    resized.rest()
    assert app.draws > draws and lit(resized.pixels())
    with monkeypatch.context() as patch:
        patch.setattr(Window, "scale", property(lambda window: 2.0))
        # A screen of twice the density: more pixels in a window of the same size.
        patch.setattr(Window, "pixels", property(lambda window: (320, 240)))
        resized.rest()
        assert app.canvas.texture.size == (320, 240) and app.view.area.scale == 2.0
    resized.rest()
    assert app.canvas.texture.size == (160, 120)


def test_keys_of_ones_own(opened: Opener, place: Path) -> None:
    (place / "settings.toml").write_text("[keys]\npause = 'F9'\n'program.cast' = ''\n")
    hands = opened()
    hands.key("F9")
    assert hands.app.view.paused
    xdotool("key", "p")
    hands.turn(5)
    assert hands.app.view.paused  # P does nothing now
    assert hands.app.view.keymap.text("pause") == "F9"


# -- settings ----------------------------------------------------------------------------------------------------------


def test_broken_settings_are_told(opened: Opener, place: Path) -> None:
    (place / "settings.toml").write_text("[keys]\npause = 'Q+Q'\n")
    app = opened().app
    assert app.view.message.is_error and "pause" in app.view.message.text
    assert os.linesep not in app.view.message.text


# -- shaders -----------------------------------------------------------------------------------------------------------


def test_shaders_are_compiled_anew(opened: Opener, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    from raystream.base import paths

    copy = place / "shaders"
    shutil.copytree(paths.shaders(), copy)
    monkeypatch.setattr(paths, "shaders", lambda: copy)
    monkeypatch.setattr("raystream.window.app.EVERY", 0.0)  # seconds between two looks
    hands = opened("teapotahedron", (160, 120), machine="singlepass")
    app = hands.app
    hands.key("i")
    hands.rest()
    before = app.session.linear()
    file = copy / "kernels" / "shade_headlight.glsl"
    good = file.read_text()
    body = good.rindex("    return")

    file.write_text(good[:body] + "    nonsense;\n" + good[body:])
    hands.until(lambda: app.view.message.is_error, "the error")
    line = good[:body].count("\n") + 1
    assert f"kernels/shade_headlight.glsl:{line}" in app.view.message.text and "nonsense" in app.view.message.text
    camera = app.view.controller.camera
    app.view.actions.perform("fov.wider")
    hands.rest()
    assert (app.session.linear() != before).any()
    app.view.take(camera)
    hands.rest()
    np.testing.assert_array_equal(app.session.linear(), before)  # the old one goes on
    assert before.any() and app.view.message.is_error

    file.write_text(good[:body] + "    radiance.rgb = vec3(0.25, 0.5, 0.75);\n" + good[body:])
    hands.until(lambda: not app.view.message.is_error, "the mended shader")
    hands.rest()
    middle = app.session.linear()[60, 80]
    np.testing.assert_array_equal(middle, np.float32([0.25, 0.5, 0.75]))
    assert app.debug_views.inspector is not None and not app.debug_views.inspector.passes

    app.view.overlays.panels.on, app.view.tone.exposure = False, 0.0
    hands.turn()
    shown = hands.pixels()[60, 80].astype(int)
    show = copy / "film" / "show.glsl"
    show.write_text(show.read_text().replace("shown = vec4(", "shown = vec4(1.0) - vec4("))
    hands.until(lambda: (hands.pixels()[60, 80] == 255 - shown).all(), "the inverted picture")


def test_panels_lie_over_the_picture(opened: Opener) -> None:
    """Neither they nor the inspector change its size or restart it; beside them it stays as it was, to the pixel."""
    hands = opened(size=(600, 160))
    app = hands.app
    hands.rest()
    hands.until(lambda: app.session.idle, "the last sample, denoised")
    app.view.preferences.hint = False
    hands.move(590, 100)  # where no button under it tells what it does
    hands.quietly()
    hands.turn(4)  # neither a note nor a hint lies over the picture
    hands.until(lambda: app.auto_exposure.reached, "its exposure")
    before, began, texture = hands.pixels(), app.session.pictures, app.canvas.texture
    for keys in (("ctrl+b",), ("i",), ("ctrl+b",)):
        hands.quietly(*keys)
        hands.until(lambda: not app.view.compiling)
        hands.turn(4)
        assert (app.view.area.size, app.session.size) == ((600, 160), (600, 160))
        assert app.session.pictures == began and app.canvas.texture is texture and app.session.complete
    hands.quietly("ctrl+b")
    hands.quietly("i")
    hands.turn(4)
    assert app.view.overlays.panels.on and app.debug_views.inspector is None
    beside = slice(0, 130), slice(330, None)  # above the status line
    hands.until(lambda: np.array_equal(hands.pixels()[beside], before[beside]), "notes that fade")
    app.events.on_move(300.0, 80.0)
    assert app.view.input.cursor == (300, 80)
    _, _, forward = app.view.controller.camera.basis()
    np.testing.assert_allclose(app.view.ray_under_cursor()[1], forward, atol=1e-9)
