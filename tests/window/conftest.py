"""A screen of its own for the window (Xvfb), hands on its keyboard and mouse (xdotool), and the application on it. For
panels a desk without a window, and a sheet on which they are drawn as text."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PATIENCE = 600.0  # seconds, against hanging alone: a busy machine compiles shaders slowly
SCREEN = (640, 512)
SMALL = (96, 72)  # a window of traced paths


@pytest.fixture(scope="session")
def screen() -> Iterator[str]:
    """The name of a bare X display of `SCREEN` without a window manager."""
    for tool in ("Xvfb", "xdotool"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: on Debian and Ubuntu apt-get install xvfb xdotool")
    pytest.importorskip("glfw", reason="glfw is not installed")
    pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "{}x{}x24".format(*SCREEN), "-nolisten", "tcp"]
    command.append("-noreset")  # or it begins anew, and is away for a moment, whenever the last window is closed
    server = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as answer:
        number = answer.readline().strip()  # ends with the server
    if not number:
        server.wait()
        pytest.fail(f"Xvfb did not start: it ended with {server.returncode}")
    yield f":{number}"
    server.terminate()
    server.wait()


@pytest.fixture
def place(screen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for settings and pictures, and the display, in the environment."""
    monkeypatch.setenv("DISPLAY", screen)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("RAYSTREAM_SETTINGS", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("XDG_PICTURES_DIR", str(tmp_path))
    return tmp_path


def xdotool(*words: Any) -> str:
    """What xdotool says."""
    command = ["xdotool", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.strip()


class Hands:
    """An application in this process, and the user's hands: real events of the X server, taken by the loop's turns."""

    def __init__(self, app: Any) -> None:
        import glfw

        self.app = app
        app.preferences.hint = False  # a line over the picture
        self.number = glfw.get_x11_window(app.window.handle)
        self.until(lambda: app.draws > 0)
        xdotool("windowfocus", self.number)
        self.turn(3)

    def turn(self, times: int = 1) -> None:
        """Let the loop run, without sleeping."""
        for _ in range(times):
            self.app.view.wake()
            self.app.turn()

    def until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Let the loop run until something holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"never came: {what or condition.__code__.co_names}"
            self.turn()

    def rest(self) -> None:
        """Until nothing moves, loads or compiles, and the picture is complete."""
        app = self.app
        self.until(
            lambda: (
                app.view.renderer is not None
                and app.scene_loader.loading is None
                and not app.view.compiling
                and not app.debug_views.inspecting
                and app.debug_views.probing is None
                and not app.view.controller.moving
                and app.session.complete
                and (
                    app.debug_views.heat is None
                    or (app.debug_views.heat_map is not None and app.debug_views.heat_map.complete)
                )
            ),
            "rest",
        )
        self.turn(3)

    def key(self, *texts: str) -> None:
        """Type keys, each as xdotool names it; what they do has begun afterwards."""
        for text in texts:
            heard = len(self.heard)
            xdotool("key", "--clearmodifiers", text)
            self.until(lambda before=heard: len(self.heard) > before and self.heard[-1][1] == 0, f"key {text}")

    def quietly(self, *texts: str) -> None:
        """Type keys, and take back the note of what they have done, which lies over the picture."""
        self.key(*texts)
        self.app.view.say("")

    @property
    def heard(self) -> list[tuple[int, int]]:
        """Keys and their actions as the window has reported them."""
        return self.app.heard

    def click(self, button: int) -> None:
        """Press and release a button of the mouse, or turn its wheel (4, 5)."""
        heard = self.app.clicks
        xdotool("click", button)
        self.until(lambda: self.app.clicks > heard, f"button {button}")

    def move(self, x: int, y: int) -> None:
        """The cursor to a place of the window."""
        xdotool("mousemove", "--window", self.number, x, y)
        self.until(lambda: self.app.view.input.cursor == (x, y), "cursor")
        self.turn()

    def drag(self, button: int, start: tuple[int, int], end: tuple[int, int], modifier: str = "") -> None:
        """Press, move in four steps, release."""
        self.move(*start)
        words = ["keydown", modifier] if modifier else []
        words += ["mousedown", button]
        for step in range(1, 5):
            at = (round(a + (b - a) * step / 4) for a, b in zip(start, end, strict=True))
            words += ["mousemove", "--window", self.number, *at]
        words += ["mouseup", button]
        heard = self.app.clicks, len(self.heard)
        xdotool(*words, *(("keyup", modifier) if modifier else ()))
        self.until(
            lambda: (
                self.app.clicks > heard[0]
                and self.app.view.input.cursor == end
                and (not modifier or (len(self.heard) > heard[1] and self.heard[-1][1] == 0))
            ),
            "drag",
        )

    def pixels(self) -> np.ndarray:
        """(H, W, 3) uint8 of the window as drawn next."""
        taken: list[bytes] = []
        self.app.view.after_draw(lambda: taken.append(self.app.window.read()))
        self.until(lambda: taken)
        width, height = self.app.window.pixels
        return np.frombuffer(taken[0], np.uint8).reshape(height, width, 3)[::-1]


def note_events(app: Any) -> None:
    """Have the application also note the keys that it hears, and count clicks that end and turns of the wheel."""
    app.heard, app.clicks = [], 0
    on_key, on_button, on_wheel = app.events.on_key, app.events.on_button, app.events.on_wheel

    def heard(key: int, scancode: int, action: int, mods: int) -> None:
        app.heard.append((key, action))
        on_key(key, scancode, action, mods)

    def clicked(button: int, action: int, mods: int) -> None:
        on_button(button, action, mods)
        app.clicks += action == 0

    def turned(x: float, y: float) -> None:
        on_wheel(x, y)
        app.clicks += 1

    app.events.on_key, app.events.on_button, app.events.on_wheel = heard, clicked, turned


@pytest.fixture
def opened(place: Path) -> Iterator[Callable[..., Hands]]:
    """Opens the application on a scene; closes it at the end, and fails on an OpenGL error that it leaves behind."""
    from raystream.window.app import App

    made: list[Any] = []

    def open_(scene: str = "cornell", size: tuple[int, int] = (320, 240), **choices: Any) -> Hands:
        made.append(App(scene, size=size, **{"program": "cast", **choices}))
        note_events(made[-1])
        _ = made[-1].gui  # from the first draw on
        hands = Hands(made[-1])
        hands.rest()
        return hands

    yield open_
    for app in made:
        error = app.window.context.error
        app.release()
        assert error == "GL_NO_ERROR", f"the window left an OpenGL error behind: {error}"


@pytest.fixture
def traced(opened: Callable[..., Hands], place: Path) -> Callable[..., Hands]:
    """Opens a scene path traced, in a small window that stops at so many samples."""

    def open_(
        scene: str = "cornell", samples: int = 3, noise: float = 0.0, size: tuple[int, int] = SMALL, **choices: Any
    ) -> Hands:
        (place / "settings.toml").write_text(f"samples = {samples}\nnoise = {noise}\npanels = false\n")
        return opened(scene, size, **{"program": "path", "machine": "singlepass", "denoise": "none", **choices})

    return open_


SCENE, SIZE = "teapotahedron", (240, 180)


@contextmanager
def application(screen: str, scene: str, size: tuple[int, int], *more: Any, **settings: Any) -> Iterator[Hands]:
    """An application that several tests share; ``more`` and ``settings`` are those of `App`, preferences first."""
    import glfw

    from raystream.window.app import App

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", screen)
        patch.delenv("WAYLAND_DISPLAY", raising=False)
        app = App(scene, size, *more, program="cast", machine="singlepass", **settings)
        note_events(app)
        _ = app.gui  # from the first draw on
        yield Hands(app)
        glfw.make_context_current(app.window.handle)
        app.release()


@contextmanager
def current(window: Hands) -> Iterator[None]:
    """For a test: its context is current, since between two tests others are looked at; fails on an OpenGL error."""
    import glfw

    glfw.make_context_current(window.app.window.handle)
    yield
    error = window.app.window.context.error
    glfw.make_context_current(None)
    assert error == "GL_NO_ERROR", f"the window left an OpenGL error behind: {error}"


@pytest.fixture(scope="module")
def window(screen: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hands]:
    """One application for all gentle tests of a module: closing any other window would close this one too."""
    import glfw

    from raystream.viewport.preferences import Preferences

    preferences = Preferences(path=tmp_path_factory.mktemp("window") / "settings.toml", panels=False)
    with application(screen, SCENE, SIZE, preferences) as made:
        made.app.start = made.app.scene_loader.requested
        glfw.make_context_current(None)
        yield made


@pytest.fixture
def hands(window: Hands, place: Path) -> Iterator[Hands]:
    """The module's application on the teapotahedron, as it was opened; fails on an OpenGL error that a test leaves."""
    with current(window):
        _reset(window)
        yield window


def _reset(window: Hands) -> None:
    app, view = window.app, window.app.view
    if view.renderer is not None and app.scene_loader.shown_path != SCENE:
        app.scene_loader.open(SCENE)
    loader = app.scene_loader
    window.until(lambda: view.renderer is not None and loader.shown_path == SCENE and loader.loading is None, SCENE)
    asked = app.scene_loader.requested.differences(app.start)
    app.scene_loader.set(**{name: app.start[name] for name in asked})
    view.input.drag, view.tone.exposure, view.tone.tonemap = None, 0.0, "none"
    view.overlays.panels.on = view.overlays.statistics.on = view.overlays.help.on = view.overlays.boxes.on = (
        view.paused
    ) = False
    app.gui.file_list.visible = False
    app.debug_views.heat = app.debug_views.probe = app.debug_views.probing = None
    if app.debug_views.inspector is not None:
        app.debug_views.toggle_inspector()
    view.controller.release_all()
    view.controller.mode, view.controller.speed = "orbit", view.controller.natural_speed
    view.take(view.scene.camera())
    view.say("")
    window.rest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a settings' file, in a folder that is not there yet."""
    return tmp_path / "config" / "settings.toml"


def written(path: Path, text: str) -> Path:
    """A settings' file of that text."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def panel_stage(device: Any) -> Iterator[Any]:
    """A desk without a window, see `panel_stage`."""
    imgui = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed").imgui
    from panel_stage import Stage

    made = Stage(device)
    yield made
    if made.debug_views.inspector is not None:
        made.debug_views.inspector.release()
    made.draw_imgui.release()
    imgui.destroy_context(made.imgui)


@pytest.fixture
def notes(panel_stage: Any) -> Iterator[Any]:
    """Of what ImGui draws, see `drawing`. The window is drawn once, since fonts come with its first frame."""
    from drawing import watched

    panel_stage.turn(1)
    with watched() as made:
        yield made


@pytest.fixture
def sheet(panel_stage: Any, notes: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Written down for the test that runs, under its name; the loader asks for nothing but notes it."""
    from drawing import Sheet, compare, state

    from raystream.window.panels.panels import draw_panels

    stage = panel_stage
    stage.scene_loader.set = lambda **changes: stage.asked.append(changes)
    stage.scene_loader.light_by = lambda name: stage.asked.append(f"light by {name}")
    made = Sheet(notes, stage.asked, partial(draw_panels, stage.context, stage.draw_imgui), partial(state, stage))
    yield made
    name = request.node.name.removeprefix("test_").replace("[", "_").replace("]", "")
    if made.lines and "llvmpipe" in stage.device.name:  # others count other passes
        compare(name, made.lines, request.config)


@pytest.fixture
def section(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Show one section of the side panel alone, open."""
    from raystream.window.panels import panels

    every = {title: draw for title, draw, _ in panels.SECTIONS}

    def chosen(title: str) -> None:
        monkeypatch.setattr(panels, "SECTIONS", ((title, every[title], True),))

    return chosen
