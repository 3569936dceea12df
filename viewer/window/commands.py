"""What each action of the table does to the application."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.base.errors import ViewerError
from viewer.film import image
from viewer.film.tonemap import TONE_MAPS
from viewer.options import table as options
from viewer.programs import PICTURES
from viewer.renderer.picture import Picture
from viewer.renderer.sampling import sample_settings
from viewer.scene.camera import Camera
from viewer.stream.machines.counters import Stats
from viewer.window.input.actions import BY_NAME
from viewer.window.study.inspector import Inspector
from viewer.window.study.probe import probing

if TYPE_CHECKING:
    from viewer.window.app import App

ENDINGS = (".glb", ".gltf", ".ply", ".obj", ".stl")
RUNNING = ("machine", "fuse", "policy", "mask")  # options whose next value a key chooses, beside the structures'
UNROLLS = ("auto", "1", "4,2", "8", "32")
EFFECTS = ("shadows", "reflections", "refractions")
HEATS = (None, "steps", "tests")
EXPOSURE_STEP = 0.25  # stops


def handlers(app: App) -> dict[str, Callable[[], None]]:
    """Action name -> what it does. An action without a handler is greyed."""
    made: dict[str, Callable[[], None]] = {f"program.{name}": partial(app.set, program=name) for name in PICTURES}
    made |= {f"camera.{name}": partial(_view, app, name) for name in ("front", "right", "top")}
    cycled = [name for name in (*RUNNING, *options.keywords("prepare")) if f"{name}.next" in BY_NAME]
    made |= {f"{name}.next": partial(_cycle, app, name) for name in cycled}
    made |= {f"{name}.toggle": partial(_effect, app, name) for name in EFFECTS if name in options.OPTIONS}
    return made | {
        "object.grab": app.motion.grab,
        "lights.show": lambda: _show_lights(app),
        "lights.next": lambda: _next_light(app),
        "environment.toggle": app.toggle_environment,
        "animation.play": app.motion.play,
        "turntable": app.motion.turn,
        "depth.less": lambda: _deepen(app, -1),
        "depth.more": lambda: _deepen(app, 1),
        "unroll.next": lambda: _cycle(app, "unroll", UNROLLS),
        "inspector.show": lambda: _inspect(app),
        "inspector.step": lambda: _step(app, False),
        "inspector.run": lambda: _step(app, True),
        "inspector.restart": lambda: _restart(app),
        "probe.show": lambda: _probe(app),
        "heat.next": lambda: _heat(app),
        "wires.toggle": lambda: _toggle(app, "wires"),
        "camera.mode": lambda: _mode(app),
        "camera.frame": lambda: _flight(app).frame_all(_aspect(app)),
        "camera.focus": lambda: _focus(app),
        "camera.next": lambda: _next_camera(app),
        "camera.reset": lambda: _take(app, _scene(app).camera()),
        "fov.narrower": lambda: _flight(app).step_fov(-1),
        "fov.wider": lambda: _flight(app).step_fov(1),
        "camera.copy": lambda: _copy(app),
        "camera.paste": lambda: _take(app, Camera.parse(app.window.paste(), _flight(app).camera.fov)),
        "exposure.up": lambda: _expose(app, EXPOSURE_STEP),
        "exposure.down": lambda: _expose(app, -EXPOSURE_STEP),
        "tone_map.next": lambda: _tone_map(app),
        "pause": lambda: _pause(app),
        "screenshot.window": lambda: app.after_draw(lambda: _shoot(app)),
        "screenshot.picture": lambda: _save(app, ".png"),
        "save.exr": lambda: _save(app, ".exr"),
        "scene.open": lambda: _ask(app),
        "scene.reload": lambda: app.open(app.path),
        "scene.previous": lambda: _neighbour(app, -1),
        "scene.next": lambda: _neighbour(app, 1),
        "help": lambda: _toggle(app, "help_visible"),
        "statistics": lambda: _toggle(app, "stats_visible"),
        "panels": lambda: _toggle(app, "panels_visible"),
        "full_screen": app.window.toggle_full_screen,
        "escape": lambda: _escape(app),
        "quit": app.window.close,
    }


def _toggle(app: App, name: str) -> None:
    setattr(app, name, not getattr(app, name))


def _pause(app: App) -> None:
    _toggle(app, "paused")
    app.say(f"paused; {app.keymap.text('pause')} goes on" if app.paused else "")


def _scene(app: App) -> Any:
    if app.scene is None:
        raise ViewerError("scene", "none is loaded yet", "wait, or open one")
    return app.scene


def _flight(app: App) -> Any:
    _scene(app)
    return app.flight


def _aspect(app: App) -> float:
    width, height = app.window.size
    return width / max(1, height)


def _cycle(app: App, name: str, values: tuple[str, ...] = ()) -> None:
    """The next value of an option."""
    _scene(app)
    known = values or options.OPTIONS[name].choices
    now = str(app.chosen(name)).partition("=")[0]
    following = known[(known.index(now) + 1) % len(known)] if now in known else known[0]
    app.set(**{name: following})
    app.say(f"{name}: {following}")


def _renderer(app: App) -> Any:
    _scene(app)
    return app.renderer


# -- cameras -----------------------------------------------------------------------------------------------------------


def _mode(app: App) -> None:
    flight = _flight(app)
    flight.toggle_mode()
    app.say("fly: WASD, Q and E, the mouse looks" if flight.mode == "fly" else "orbit: drag")


def _view(app: App, name: str) -> None:
    _flight(app).view(name, _aspect(app))


def _take(app: App, camera: Camera) -> None:
    _flight(app).set_camera(camera)
    app.take_camera()


def _next_camera(app: App) -> None:
    cameras = _scene(app).cameras
    if not cameras:
        raise ViewerError("camera", "the scene has none of its own", "Home frames it")
    app.camera_number = (app.camera_number + 1) % len(cameras)
    _take(app, cameras[app.camera_number])
    app.say(f"camera: {cameras[app.camera_number].name}")


def _focus(app: App) -> None:
    """The point under the cursor, from the ray that goes through it."""
    renderer, flight = _renderer(app), _flight(app)
    camera, direction = flight.camera, app.direction_under_cursor()

    def focus() -> None:
        hits = renderer.trace([camera.origin], [direction])
        if hits.triangle[0] < 0:
            app.say("nothing under the cursor to focus")
        else:
            flight.focus(np.asarray(camera.origin) + float(hits.distance[0]) * np.asarray(direction))

    if renderer.trace_ready():
        focus()
    else:
        app.compile("the kernels for rays of their own", focus)


def _copy(app: App) -> None:
    text = _flight(app).camera.text()
    app.window.copy(text)
    app.say(f"copied: --camera '{text}'")


# -- the picture -------------------------------------------------------------------------------------------------------


def _expose(app: App, stops: float) -> None:
    app.exposure += stops
    app.say(f"exposure {app.exposure:+.2f} stops")


def _tone_map(app: App) -> None:
    names = list(TONE_MAPS)
    now = names.index(app.tone_map) if app.tone_map in names else -1
    app.tone_map = names[(now + 1) % len(names)]
    app.say(f"tone map: {app.tone_map}")


def _shoot(app: App) -> None:
    """The whole window, panels and all."""
    width, height = app.window.pixels
    screen = np.frombuffer(app.read_window(), np.uint8).reshape(height, width, 3)[::-1]
    path = _numbered("window", ".png")
    image.save_srgb8(path, screen)
    app.say(f"saved {path}")


def _save(app: App, ending: str) -> None:
    """The picture at its full resolution, without panels; an EXR of samples can be resumed by ``raystream render``."""
    renderer, frame = _renderer(app), app.frame
    frame.finish()
    path = _numbered(renderer.scene.name, ending)
    metadata = {"scene": renderer.scene.name, "camera": renderer.camera.text(), "samples": str(frame.samples)}
    kept = () if frame.film is None else (frame.film, sample_settings(renderer))
    exposure, tone_map = (app.exposure, app.tone_map) if ending == ".png" else (0.0, "none")
    Picture(frame.linear(), {}, Stats(), metadata, *kept).save(path, exposure, tone_map)
    app.say(f"saved {path}")


def _numbered(name: str, ending: str) -> Path:
    """A file that is not there yet, in the user's pictures folder."""
    from platformdirs import user_pictures_path

    folder = user_pictures_path()
    if not folder.is_dir():
        folder = Path.cwd()
    stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "raystream"
    number = 1
    while (folder / f"{stem}_{number:03}{ending}").exists():
        number += 1
    return folder / f"{stem}_{number:03}{ending}"


# -- light ----------------------------------------------------------------------------------------------------------


def _effect(app: App, name: str) -> None:
    """Shadows, reflections or refractions on and off, where the program has them."""
    on = not _renderer(app).settings[name]
    app.follow(**{name: on})
    app.say(f"{name} {'on' if on else 'off'}")


def _deepen(app: App, by: int) -> None:
    depth = max(0, _renderer(app).settings.max_depth + by)
    app.follow(depth=depth)
    app.say(f"depth: {depth} surface{'' if depth == 1 else 's'}")


def _show_lights(app: App) -> None:
    _scene(app)
    lights = app.motion.lights
    lights.visible = not lights.visible
    if lights.visible and not lights.listed():
        app.say("no lights but the environment")


def _next_light(app: App) -> None:
    _scene(app)
    light = app.motion.lights.next()
    app.say(f"light: {light.name}" if light is not None else "no lights but the environment")


# -- files -------------------------------------------------------------------------------------------------------------


def _ask(app: App) -> None:
    """A file dialog of the desktop, which answers later: the window goes on meanwhile."""
    from imgui_bundle import portable_file_dialogs as dialogs

    if sys.platform.startswith("linux") and not any(shutil.which(tool) for tool in ("zenity", "kdialog", "qarma")):
        raise ViewerError("open", "no file dialog on this desktop", "drop a file on the window, or install zenity")
    folder = str(Path(app.path).parent) if Path(app.path).exists() else os.getcwd()
    app.dialog = dialogs.open_file("Open a scene", folder, ["scenes", " ".join(f"*{e}" for e in ENDINGS)])


def _neighbour(app: App, step: int) -> None:
    here = Path(app.path)
    if not here.is_file():
        raise ViewerError(app.path, "is built in, and has no folder", "open a file first")
    files = sorted(p for p in here.parent.iterdir() if p.suffix.lower() in ENDINGS)
    place = files.index(here) if here in files else 0
    app.open(str(files[(place + step) % len(files)]))


# -- looking inside ----------------------------------------------------------------------------------------------------


def _inspect(app: App) -> None:
    if app.inspector is not None:
        app.inspector.release()
        app.inspector, app.inspecting = None, False
        return
    _restart(app)


def _restart(app: App, then: Callable[[], None] = lambda: None) -> None:
    made, camera = app.inspector or Inspector(_renderer(app)), _flight(app).camera

    def begin() -> None:
        made.begin(camera)
        app.inspector, app.inspecting, app.panels_visible = made, False, True  # it is a panel
        then()

    if app.inspector is None:
        app.compile("the inspector's kernels", begin)
    else:
        begin()


def _step(app: App, whole: bool) -> None:
    if app.inspector is None:
        _restart(app, lambda: _step(app, whole))
    elif whole:
        app.inspecting = True
    elif not app.inspector.step():
        app.say("the frame is complete: no ray is left")


def _probe(app: App) -> None:
    if app.probe is not None:
        app.probe = app.probing = None
        return
    width, height = app.window.size
    pixels = app.window.pixels
    x, y = app.cursor[0] * pixels[0] / max(1, width), app.cursor[1] * pixels[1] / max(1, height)
    at = (min(max(int(x), 0), pixels[0] - 1), min(max(int(y), 0), pixels[1] - 1))
    renderer, camera = _renderer(app), _flight(app).camera

    def begin() -> None:
        app.probing = probing(renderer, camera, pixels, at)
        app.probe, app.panels_visible = next(app.probing, None), True  # its table is a panel

    app.compile("the probe's kernels", begin)


def _heat(app: App) -> None:
    app.heat = HEATS[(HEATS.index(app.heat) + 1) % len(HEATS)]
    app.say(f"heat map of {app.heat}" if app.heat else "no heat map")


def _escape(app: App) -> None:
    if app.cancel():
        app.say("loading cancelled")
    elif app.help_visible:
        app.help_visible = False
    else:
        app.window.grab(False)
        app.drag = None
        app.say("")
