"""The commands on the picture: what each action of the table does that needs no window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from viewer.accel.structures import MOST_UNSORTED
from viewer.base.errors import ViewerError
from viewer.film.tonemap import TONEMAPS
from viewer.options import table as options
from viewer.programs import PICTURES
from viewer.scene.camera import Camera
from viewer.viewport.context import Desk
from viewer.viewport.controls.keymap import BY_NAME

ENDINGS = (".glb", ".gltf", ".ply", ".obj", ".stl")
RUNNING = ("machine", "fuse", "policy", "mask")  # options whose next value a key chooses, beside the structures'
UNROLLS = ("auto", "1", "4,2", "8", "32")
EFFECTS = ("shadows", "reflections", "refractions")
EXPOSURE_STEP = 0.25  # stops
BOX = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))  # whose framing tells the direction of all framings


class Clipboard(Protocol):
    """Where a camera is copied to, as text."""

    def copy(self, text: str) -> None:
        """Keep a text."""

    def paste(self) -> str:
        """The text that is kept, empty where there is none."""


def picture_handlers(desk: Desk, clipboard: Clipboard) -> dict[str, Callable[[], None]]:
    """Action name -> what it does to the picture, wherever that is shown."""
    view, stage, motion = desk.view, desk.stage, desk.motion
    made: dict[str, Callable[[], None]] = {f"program.{name}": partial(stage.set, program=name) for name in PICTURES}
    made |= {f"camera.{name}": partial(_view, desk, name) for name in ("front", "right", "top")}
    cycled = [name for name in (*RUNNING, *options.keywords("prepare")) if f"{name}.next" in BY_NAME]
    made |= {f"{name}.next": partial(_cycle, desk, name) for name in cycled}
    made |= {f"{name}.toggle": partial(_effect, desk, name) for name in EFFECTS if name in options.OPTIONS}
    return made | {
        "object.grab": motion.grab,
        "environment.toggle": stage.toggle_environment,
        "ground.toggle": stage.toggle_ground,
        "animation.play": motion.play,
        "turntable": motion.turn,
        "depth.less": lambda: _deepen(desk, -1),
        "depth.more": lambda: _deepen(desk, 1),
        "unroll.next": lambda: _cycle(desk, "unroll", UNROLLS),
        "camera.mode": lambda: _mode(desk),
        "camera.frame": lambda: _frame(desk),
        "camera.focus": lambda: _focus(desk),
        "camera.next": lambda: _next_camera(desk),
        "camera.reset": lambda: view.take(_scene(desk).camera()),
        "fov.narrower": lambda: _flight(desk).step_fov(-1),
        "fov.wider": lambda: _flight(desk).step_fov(1),
        "camera.copy": lambda: _copy(desk, clipboard),
        "camera.paste": lambda: view.take(Camera.parse(clipboard.paste(), _flight(desk).camera.fov)),
        "exposure.up": lambda: _expose(desk, EXPOSURE_STEP),
        "exposure.down": lambda: _expose(desk, -EXPOSURE_STEP),
        "tonemap.next": lambda: _tonemap(desk),
        "denoise.toggle": stage.toggle_denoiser,
        "pause": lambda: _pause(desk),
        "screenshot.picture": lambda: _save(desk, ".png"),
        "save.exr": lambda: _save(desk, ".exr"),
        "scene.reload": lambda: stage.open(view.path),
        "scene.previous": lambda: _neighbour(desk, -1),
        "scene.next": lambda: _neighbour(desk, 1),
        "escape": lambda: _escape(desk),
    }


def _pause(desk: Desk) -> None:
    view = desk.view
    view.paused = not view.paused
    view.say(f"paused; {view.keymap.text('pause')} goes on" if view.paused else "")


def _scene(desk: Desk) -> Any:
    return desk.view.shown()[0].scene


def _flight(desk: Desk) -> Any:
    return desk.view.shown()[1]


def _aspect(desk: Desk) -> float:
    width, height = desk.view.size
    return width / max(1, height)


def _cycle(desk: Desk, name: str, values: tuple[str, ...] = ()) -> None:
    """The next value of an option."""
    _scene(desk)
    known = values or options.OPTIONS[name].choices
    if name == "accel" and desk.view.renderer is not None and desk.view.renderer.prepared.starts[-1] > MOST_UNSORTED:
        known = tuple(choice for choice in known if choice != "none")  # which would be refused
    now = str(desk.stage.requested[name]).partition("=")[0]
    following = known[(known.index(now) + 1) % len(known)] if now in known else known[0]
    desk.stage.set(**{name: following})
    desk.view.say(f"{name}: {following}")


# -- cameras -----------------------------------------------------------------------------------------------------------


def _mode(desk: Desk) -> None:
    flight = _flight(desk)
    flight.toggle_mode()
    desk.view.preferences.mode = flight.mode
    desk.view.say("fly: WASD, Q and E, the mouse looks" if flight.mode == "fly" else "orbit: drag")


def _frame(desk: Desk) -> None:
    """The whole scene. Of one that was entered the present direction may show but the backs of its walls: it is seen
    as by its first camera, if that stands outside, or else from above its front."""
    flight = _flight(desk)
    if not flight.entered:
        flight.frame_all(_aspect(desk))
        return
    outside = [camera for camera in _scene(desk).cameras[:1] if not flight.within(camera.origin)]
    start = outside[0] if outside else Camera.framing(BOX)
    flight.frame_all(_aspect(desk), start.basis()[2])


def _view(desk: Desk, name: str) -> None:
    _flight(desk).view(name, _aspect(desk))


def _next_camera(desk: Desk) -> None:
    cameras, stage = _scene(desk).cameras, desk.stage
    if not cameras:
        raise ViewerError("camera", "the scene has none of its own", "Home frames it")
    stage.show_camera((stage.camera_number + 1) % len(cameras))


def _focus(desk: Desk) -> None:
    """The point under the cursor, from the ray that goes through it."""
    view = desk.view
    renderer, flight = view.shown()
    camera, direction = flight.camera, view.direction_under_cursor()

    def focus() -> None:
        hits = renderer.trace([camera.origin], [direction], view=True)
        if hits.triangle[0] < 0:
            view.say("nothing under the cursor to focus")
        else:
            flight.focus(np.asarray(camera.origin) + float(hits.distance[0]) * np.asarray(direction))

    if renderer.trace_ready():
        focus()
    else:
        view.compile("the kernels for rays of their own", focus)


def _copy(desk: Desk, clipboard: Clipboard) -> None:
    text = _flight(desk).camera.text()
    clipboard.copy(text)
    desk.view.say(f"copied: --camera '{text}'")


# -- the picture -------------------------------------------------------------------------------------------------------


def _expose(desk: Desk, stops: float) -> None:
    desk.view.exposure = desk.view.stops + stops
    desk.view.say(f"exposure {desk.view.exposure:+.2f} stops")


def _tonemap(desk: Desk) -> None:
    view, names = desk.view, list(TONEMAPS)
    now = names.index(view.tonemap) if view.tonemap in names else -1
    view.tonemap = names[(now + 1) % len(names)]
    view.say(f"tone map: {view.tonemap}")


def _save(desk: Desk, ending: str) -> None:
    """The picture at its full resolution, without panels; an EXR of samples can be resumed by ``raystream render``."""
    view, scene = desk.view, _scene(desk)
    view.session.finish(converged=False)
    path = numbered_file(scene.name, ending)
    exposure, tonemap = (view.stops, view.tonemap) if ending == ".png" else (0.0, "none")
    view.session.picture().save(path, exposure, tonemap)
    view.say(f"saved {path}")


def numbered_file(name: str, ending: str) -> Path:
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


def _effect(desk: Desk, name: str) -> None:
    """Shadows, reflections or refractions on and off, where the program has them."""
    on = not desk.stage.requested[name]
    desk.stage.set(**{name: on})
    desk.view.say(f"{name} {'on' if on else 'off'}")


def _deepen(desk: Desk, by: int) -> None:
    depth = max(0, desk.stage.requested.max_depth + by)
    desk.stage.set(depth=depth)
    desk.view.say(f"maximum path length: {depth}")


# -- files -------------------------------------------------------------------------------------------------------------


def _neighbour(desk: Desk, step: int) -> None:
    here = Path(desk.view.path)
    if not here.is_file():
        raise ViewerError(desk.view.path, "is built in, and has no folder", "open a file first")
    files = sorted(p for p in here.parent.iterdir() if p.suffix.lower() in ENDINGS)
    place = files.index(here) if here in files else 0
    desk.stage.open(str(files[(place + step) % len(files)]))


def _escape(desk: Desk) -> None:
    if desk.stage.cancel():
        desk.view.say("loading cancelled")
    else:
        desk.view.drag = None
        desk.view.say("")
