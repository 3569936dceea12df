"""The commands on the picture: the actions of the table that need no window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raystream import formats
from raystream.accel.structures import MAX_UNSORTED
from raystream.base.errors import ViewerError
from raystream.film.tonemap import AUTO, TONEMAPS
from raystream.options import table as options
from raystream.programs import PICTURES
from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import VIEWS
from raystream.viewport.host import ViewerHost
from raystream.viewport.keymap import BY_NAME

UNROLLS = ("auto", "1", "4,2", "8", "32")
EXPOSURE_STEP = 0.25  # stops
BOX = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))  # whose framing tells the direction of all framings


class Clipboard(Protocol):
    """Where a camera is copied to, as text."""

    def copy(self, text: str) -> None:
        """Keep a text."""

    def paste(self) -> str:
        """The text that is kept, empty where there is none."""


def picture_handlers(
    context: ViewerHost, clipboard: Clipboard, save: Callable[[str], None] | None = None
) -> dict[str, Callable[[], None]]:
    """Action name -> its effect on the picture, wherever that is shown. save : saves the picture with an ending; None:
    to a file in the user's pictures folder."""
    save = save or partial(_save, context)
    view, scene_loader, editing = context.view, context.scene_loader, context.editing
    handlers: dict[str, Callable[[], None]] = {f"program.{name}": partial(_program, context, name) for name in PICTURES}
    handlers |= {f"camera.{name}": partial(_view, context, name) for name in VIEWS}
    for name, option in options.OPTIONS.items():
        if option.value.choices and f"{name}.next" in BY_NAME:
            handlers[f"{name}.next"] = partial(_cycle, context, name)
        if option.value.default is True and f"{name}.toggle" in BY_NAME:
            handlers[f"{name}.toggle"] = partial(_effect, context, name)
    return handlers | {
        "object.grab": editing.grab,
        "environment.toggle": scene_loader.toggle_environment,
        "ground.toggle": scene_loader.toggle_ground,
        "animation.play": editing.animation.play,
        "animation.back": partial(editing.animation.step, -1),
        "animation.forward": partial(editing.animation.step, 1),
        "animation.next": editing.animation.next,
        "animation.loop": editing.animation.toggle_loop,
        "turntable": editing.turn,
        "depth.less": lambda: _deepen(context, -1),
        "depth.more": lambda: _deepen(context, 1),
        "unroll.next": lambda: _cycle(context, "unroll", UNROLLS),
        "camera.mode": lambda: _mode(context),
        "camera.orthographic": lambda: _orthographic(context),
        "camera.frame": lambda: _frame(context),
        "camera.focus": lambda: _focus(context),
        "camera.next": lambda: _next_camera(context),
        "camera.reset": lambda: view.take(_scene(context).camera(aspect=view.area.aspect)),
        "fov.narrower": lambda: _flight(context).step_fov(-1),
        "fov.wider": lambda: _flight(context).step_fov(1),
        "camera.copy": lambda: _copy(context, clipboard),
        "camera.paste": lambda: _paste(context, clipboard.paste()),
        "exposure.up": lambda: _expose(context, EXPOSURE_STEP),
        "exposure.down": lambda: _expose(context, -EXPOSURE_STEP),
        "exposure.auto": lambda: _expose(context, None),
        "tonemap.next": lambda: _tonemap(context),
        "denoise.toggle": scene_loader.toggle_denoiser,
        "pause": view.toggle_pause,
        "screenshot.picture": partial(save, ".png"),
        "save.exr": partial(save, ".exr"),
        "scene.reload": lambda: scene_loader.open(scene_loader.path),
        "scene.previous": lambda: _neighbour(context, -1),
        "scene.next": lambda: _neighbour(context, 1),
        "escape": lambda: _escape(context),
    }


def _program(context: ViewerHost, name: str) -> None:
    context.view.say_done(f"program {name}: {PICTURES[name].help}")
    context.scene_loader.set(program=name)


def _scene(context: ViewerHost) -> Any:
    return context.view.require_scene()[0].prepared.scene


def _flight(context: ViewerHost) -> Any:
    return context.view.require_scene()[1]


def _cycle(context: ViewerHost, name: str, values: tuple[str, ...] = ()) -> None:
    """The next value of an option."""
    _scene(context)
    choices = values or options.OPTIONS[name].value.choices
    renderer = context.view.renderer
    if name == "accel" and renderer is not None and renderer.prepared.starts[-1] > MAX_UNSORTED:
        choices = tuple(choice for choice in choices if choice != "none")  # which would be refused
    now = str(context.scene_loader.requested[name]).partition("=")[0]
    following = choices[(choices.index(now) + 1) % len(choices)] if now in choices else choices[0]
    context.scene_loader.change(**{name: following})
    context.view.say(f"{name}: {following}")


# -- cameras -----------------------------------------------------------------------------------------------------------


def _mode(context: ViewerHost) -> None:
    controller = _flight(context)
    controller.toggle_mode()
    context.view.preferences.mode = controller.mode
    context.view.say("fly: WASD, Q and E, the mouse looks" if controller.mode == "fly" else "orbit: drag")


def _orthographic(context: ViewerHost) -> None:
    controller = _flight(context)
    controller.toggle_orthographic()
    context.view.say("orthographic" if controller.camera.kind == "orthographic" else "perspective")


def _frame(context: ViewerHost) -> None:
    """The whole scene. Of one that was entered the present direction may show but the backs of its walls: it is seen
    as by its first camera, if that stands outside, or else from above its front."""
    controller = _flight(context)
    if not controller.entered:
        controller.frame_all(context.view.area.aspect)
        return
    outside = [camera for camera in _scene(context).cameras[:1] if not controller.within(camera.origin)]
    start = outside[0] if outside else Camera.framing(BOX)
    controller.frame_all(context.view.area.aspect, start.basis()[2])


def _view(context: ViewerHost, name: str) -> None:
    _flight(context).view(name, context.view.area.aspect)


def _next_camera(context: ViewerHost) -> None:
    cameras, scene_loader = _scene(context).cameras, context.scene_loader
    if not cameras:
        raise ViewerError("camera", "the scene has none of its own", "Home frames it")
    scene_loader.show_camera((scene_loader.camera_index + 1) % len(cameras))


def _focus(context: ViewerHost) -> None:
    """The point under the cursor."""
    controller = _flight(context)

    def focus(_: int, point: NDArray[np.float64] | None) -> None:
        if point is None:
            context.view.say("nothing under the cursor to focus")
        else:
            controller.focus(point)

    context.view.trace_under_cursor(focus)


def _copy(context: ViewerHost, clipboard: Clipboard) -> None:
    text = _flight(context).camera.text()
    clipboard.copy(text)
    context.view.say(f"copied: --camera '{text}'")


def _paste(context: ViewerHost, text: str) -> None:
    """The camera that a text names, with the field of view of the one that is flown."""
    flown = _flight(context).camera
    context.view.take(Camera.parse(text, flown.fov).about(flown.base))


# -- the picture -------------------------------------------------------------------------------------------------------


def _expose(context: ViewerHost, stops: float | None) -> None:
    """So many stops brighter; None: as suits the picture."""
    tone = context.view.tone
    tone.choose(exposure=AUTO if stops is None else tone.stops + stops)
    context.view.say("exposure: auto" if stops is None else f"exposure {tone.stops:+.2f} stops")


def _tonemap(context: ViewerHost) -> None:
    view, names = context.view, list(TONEMAPS)
    now = names.index(view.tone.tonemap) if view.tone.tonemap in names else -1
    view.tone.choose(tonemap=names[(now + 1) % len(names)])
    view.say(f"tone map: {view.tone.tonemap}")


def _save(context: ViewerHost, ending: str) -> None:
    """The picture at its full resolution, without panels; an EXR of samples can be resumed by ``raystream render``."""
    view, scene = context.view, _scene(context)
    view.session.finish(converged=False)
    path = numbered_file(scene.name, ending)
    exposure, tonemap = (view.tone.stops, view.tone.tonemap) if ending == ".png" else (0.0, "none")
    view.session.picture().save(path, exposure, tonemap)
    view.say(f"saved {path}")


def file_stem(name: str) -> str:
    """A scene's name as that of a file, without an ending."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "raystream"


def numbered_file(name: str, ending: str) -> Path:
    """A file that is not there yet, in the user's pictures folder."""
    from platformdirs import user_pictures_path

    folder = user_pictures_path()
    if not folder.is_dir():
        folder = Path.cwd()
    stem, suffix = file_stem(name), 1
    while (folder / f"{stem}_{suffix:03}{ending}").exists():
        suffix += 1
    return folder / f"{stem}_{suffix:03}{ending}"


# -- light ----------------------------------------------------------------------------------------------------------


def _effect(context: ViewerHost, name: str) -> None:
    """Shadows, reflections or refractions on and off, where the program has them."""
    on = not context.scene_loader.requested[name]
    context.scene_loader.change(**{name: on})
    context.view.say_switched(name, on)


def _deepen(context: ViewerHost, by: int) -> None:
    depth = max(0, context.scene_loader.requested.max_depth + by)
    context.scene_loader.change(depth=depth)
    context.view.say(f"maximum path length: {depth}")


# -- files -------------------------------------------------------------------------------------------------------------


def _neighbour(context: ViewerHost, step: int) -> None:
    current = Path(context.scene_loader.path)
    if not current.is_file():
        raise ViewerError(str(current), "is built in, and has no folder", "open a file first")
    files = sorted(p for p in current.parent.iterdir() if p.suffix.lower() in formats.suffixes())
    index = files.index(current) if current in files else 0
    context.scene_loader.open(str(files[(index + step) % len(files)]))


def _escape(context: ViewerHost) -> None:
    if context.scene_loader.cancel():
        context.view.say("loading cancelled")
    else:
        context.view.input.drag = None
        context.view.say("")
