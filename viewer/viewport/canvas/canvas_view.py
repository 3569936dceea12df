"""A scene in a view that somebody else shows: events come in, bitmaps go out. It needs neither a window nor a display.

The camera, the keys, the mouse, loading, exposure and previews are the window's.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.film.stop import Stop
from raystream.formats.named import load
from raystream.formats.objects.take import taken
from raystream.options import table as options
from raystream.renderer.device.tuning import tuned_device
from raystream.renderer.inputs.camera import view as camera_of
from raystream.renderer.inputs.settings import VIEW, Settings
from raystream.renderer.preview.scheduler import ASLEEP, PIECE
from raystream.renderer.sampling.picture import Picture
from raystream.renderer.session.session import Session
from raystream.scene.camera import Camera
from raystream.scene.edits.animated import check_animated
from raystream.scene.scene import Scene
from raystream.viewport.browser import serialize_motion
from raystream.viewport.canvas.bitmaps import Bitmaps
from raystream.viewport.commands import picture_handlers
from raystream.viewport.controls.keymap import Keymap
from raystream.viewport.display.picture_texture import PictureTexture
from raystream.viewport.host import ViewerHost
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import RULES, configured, rules

MODES = ("orbit", "fly")
# How a source is taken; ``up`` is of objects alone.
TAKEN = (*(name for name in options.part("scene") if options.option(name).scope == "call"), "up")
ENDS = ("spp", "error")  # options of renders that end a session
MOTION = ("moment", "animation")
OWN = (*VIEW, *ENDS, *MOTION, *options.keywords("save"), "mode")  # options that are not the loader's


class CanvasView:
    """A view of a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D.

    source : as of `raystream.formats.objects.take.scene_of`. size : of the bitmap, (width, height) pixels.
    spp, time, error, quality : rules that end the picture, as `rules` has them. exposure, tonemap : of the bitmap.
    mode : ``orbit`` or ``fly``. preferences : keys and defaults; None: the user's. deliver : called with an ending such
    as ".exr" by the actions that save the picture, in place of a file on this machine. options : those of `Renderer`;
    ``variant`` and ``lenient`` of files, ``up`` ("y" or "z") of others. The camera is in the source's own coordinates,
    later ones in the scene's, y upwards.

    `handle` takes events; `advance` works for a while and gives the bitmap where it has changed; with nothing to do it
    is `idle`. Structures are built by a thread; the scene's file is read at once.

    Raises ViewerError for a bad scene, an unknown option and a wrong value; DeviceError without OpenGL 3.3.
    """

    def __init__(
        self,
        source: Any,
        size: tuple[int, int] = (640, 480),
        *,
        preferences: Preferences | None = None,
        deliver: Callable[[str], None] | None = None,
        **chosen: Any,
    ) -> None:
        size = options.check("size", size)
        taking = {name: chosen.pop(name) for name in TAKEN if name in chosen}
        ends = {name: chosen.pop(name) for name in RULES if name in chosen}
        view_options = _checked({name: chosen.pop(name) for name in OWN if name in chosen})
        settings = Settings().replace(
            **chosen, **{name: view_options.pop(name) for name in VIEW if name in view_options}
        )
        self._deliver = deliver
        self._lenient = bool(taking.get("lenient", False))
        if settings.camera is not None:
            taking["camera"] = settings.camera
        taking["max_texture"] = settings.max_texture
        self._scene: Scene | None = taken(source, taking)  # later by the worker
        _check_motion(self._scene, view_options)
        settings = settings.replace(camera=taking.get("camera"))
        self._path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        self.name = self._scene.name
        self.clipboard = ""  # a camera that was copied, as text
        self.closed = self.parked = False
        preferences, keymap, faults = configured(preferences)
        self._mode = view_options.pop("mode", None)
        self._open(settings, size, rules(preferences, **ends), preferences, keymap)
        self.scene_loader.faults += faults
        self.host.resize(size, 1.0)
        self._apply(view_options)
        self.scene_loader.open(self._path or self._scene.name)

    def _open(
        self, settings: Settings, size: tuple[int, int], stop: Stop, preferences: Preferences, keymap: Keymap
    ) -> None:
        """Everything on the device, or bound to it, without a scene."""
        self.device = tuned_device(settings)
        with self.device.current():
            self._canvas = PictureTexture(self.device)
            self.session = Session(size=size, stop=stop, screen=self._canvas)
            self.host = ViewerHost(self.device, self.session, preferences, keymap, settings, self._load)
        self.view, self.context = self.host.view, self.host.context
        self.scene_loader = self.host.scene_loader
        self.view.actions.add(picture_handlers(self.context, self, self._deliver))
        with self.device.current():
            self._bitmaps = Bitmaps(self.device, self.host.frame_loop, self._canvas)
            self.scene_loader.first_picture.warm()

    @contextmanager
    def _current(self) -> Iterator[None]:
        """The device's context is current; where another library has ended it (see `Device.ended`), and after `park`,
        the scene and its camera are uploaded again."""
        if not self.closed and (self.device.ended or self.parked):
            if self.device.ended:
                self._begin_anew()
            self.parked = False
            self.scene_loader.open(self._path or (self._scene.name if self._scene is not None else ""))
        with self.device.current():
            yield

    def park(self) -> None:
        """Free the device's memory, but keep the scene, the camera and the options: the next event, update or look
        restarts the picture."""
        if not self.closed and not self.parked:
            self._begin_anew()
            self.parked = True

    def _begin_anew(self) -> None:
        """Free the scene on the device; all that shows it again is kept."""
        old, controller, stop = self.view, self.view.controller, replace(self.session.stop, _looked=0)
        self.scene_loader.cancel()
        settings = self.scene_loader.requested
        if controller is not None and old.scene is not None:
            settings, self._scene = settings.replace(camera=controller.camera), old.scene
            self._mode, self._path = controller.mode, self.scene_loader.shown_path if self._path else ""
        self._drop()
        self._open(settings, old.area.pixels, stop, old.preferences, old.keymap)
        self.view.continue_from(old)

    def _load(self, path: str) -> Scene:
        """The worker's preparation of a scene."""
        given, self._scene = self._scene, None if self._path else self._scene
        return load(path, None, self._lenient, self.scene_loader.requested.max_texture) if given is None else given

    def copy(self, text: str) -> None:
        """Keep a camera as text."""
        self.clipboard = text

    def paste(self) -> str:
        """The camera that was copied last."""
        return self.clipboard

    # -- what goes in ----------------------------------------------------------------------------------------------

    def handle(self, event: Mapping[str, Any]) -> None:
        """Take an event, as `ViewerHost.handle` has it, or close."""
        if self.closed:
            return
        with self._current():
            if event.get("event_type") == "close":
                self.release()
            else:
                self.host.handle(event)

    def perform(self, name: str) -> None:
        """Perform an action of the table, by its name."""
        with self._current():
            self.view.actions.perform(name)

    @property
    def visible(self) -> bool:
        """Whether anybody sees it: else nothing is traced."""
        return not self.view.area.minimised

    @visible.setter
    def visible(self, seen: bool) -> None:
        self.view.area.minimise(not seen)
        self.view.wake()

    def update(self, **changes: Any) -> None:
        """Change options: those of `Renderer.update`, and camera, fov, spp, error, exposure, tonemap, mode; of an
        animated scene also moment (seconds) and animation (a name or number).

        Raises ViewerError for an unknown one or a wrong value; nothing has changed then.
        """
        view_options = _checked({name: changes.pop(name) for name in OWN if name in changes})
        self.scene_loader.requested.replace(**changes)
        with self._current():
            scene = self._scene if self.view.scene is None else self.view.scene
            if scene is not None:
                _check_motion(scene, view_options)
            if changes:
                self.scene_loader.change(**changes)
            self._apply(view_options)
        self.view.wake()

    def value(self, name: str) -> Any:
        """An option of `update`, as it is."""
        view, stop = self.view, self.session.stop
        tone = view.tone
        own = {"spp": stop.spp, "error": stop.error, "exposure": tone.exposure, "tonemap": tone.tonemap}
        return own[name] if name in own else self.scene_loader.requested[name]

    def _apply(self, view_options: dict[str, Any]) -> None:
        """Options of the view, which are checked."""
        view, stop = self.view, self.session.stop
        if "spp" in view_options or "error" in view_options:
            samples = view_options.get("spp", stop.spp)
            self.session.stop_at(stop.spp if samples is None else samples, view_options.get("error", stop.error))
        if any(view_options.get(name) is not None for name in MOTION):
            self.context.editing.show_at(view_options.get("moment"), view_options.get("animation"))
        view.tone.choose(exposure=view_options.get("exposure"), tonemap=view_options.get("tonemap"))
        camera_options = {name: view_options[name] for name in VIEW if name in view_options}
        if view.controller is None or view.scene is None:
            self.scene_loader.requested = self.scene_loader.requested.replace(**camera_options)
            self._mode = view_options.get("mode", self._mode)
            return
        if camera_options:
            view.take(camera_of(Settings(**{"camera": view.controller.camera, **camera_options}), view.scene))
        view.controller.mode = view_options.get("mode", view.controller.mode)

    # -- work ------------------------------------------------------------------------------------------------------

    def advance(self, budget: float = PIECE) -> NDArray[np.uint8] | None:
        """Work for ``budget`` seconds, longer where a shader is compiled; the bitmap (H, W, 4), row 0 at the top, sRGB
        and opaque, where it has changed, else None."""
        if self.closed:
            return None
        with self._current():
            self.host.advance(budget, self._choose_mode)
            self.host.frame_loop.expose()
            bitmap = self._bitmaps.read() if self._bitmaps.due() else None
        self.view.drawn()
        return bitmap

    def _choose_mode(self) -> None:
        """The mode that was asked for before there was a camera in the hand."""
        if self._mode is not None and self.view.controller is not None:
            self.view.controller.mode, self._mode = self._mode, None

    @property
    def wait_timeout(self) -> float:
        """Seconds until `advance` has something to do; infinite: until an event or an update."""
        if not self.idle:
            return 0.0 if self.parked else self.host.frame_loop.wait_timeout
        if self.closed or not self.visible:
            return math.inf
        noted = self.view.message.text and not self.view.message.is_error  # a note is taken back
        return min(ASLEEP if noted else math.inf, self.host.frame_loop.trials_timeout)

    @property
    def idle(self) -> bool:
        """Whether the picture stays as it is until an event or an update."""
        if self.closed or self.parked:
            return self.closed or not self.visible
        unseen = not self.visible and self.scene_loader.loading is None
        return unseen or self.host.frame_loop.wait_timeout >= ASLEEP

    @property
    def at_rest(self) -> bool:
        """See `Bitmaps.at_rest`."""
        return self._bitmaps.at_rest

    @property
    def motion(self) -> dict[str, Any]:
        """See `serialize_motion`."""
        return serialize_motion(self.context)

    @property
    def quality(self) -> int:
        """See `Bitmaps.quality`."""
        return self._bitmaps.quality

    def read(self) -> NDArray[np.uint8]:
        """(H, W, 4) uint8: the picture on show as it is, sRGB and opaque, row 0 at the top."""
        with self._current():
            return self._bitmaps.read()

    def wait(self) -> None:
        """Until the scene is there. Raises ViewerError where it will not be: it could not be prepared, or the view is
        closed."""
        with self._current():
            pass  # and it is parked no more
        while self.view.renderer is None or self.view.controller is None:
            if self.closed:
                raise ViewerError("view", "is closed", "open another one")
            if self.scene_loader.loading is None:
                raise ViewerError("view", self.view.message.text or "there is nothing to show")
            time.sleep(0.002)
            with self._current():
                self.scene_loader.take()
        self._choose_mode()  # or it would take the place of one that is chosen from now on

    def snapshot(self) -> Picture:
        """The picture on show at its full size with all samples so far, for the first of which it waits if need be.

        Raises ViewerError where there is none, see `wait`.
        """
        if self.closed:
            raise ViewerError("view", "is closed", "open another one")
        with self._current():
            self.wait()
            self.session.finish(converged=False)
            return self.session.picture()

    def settle(self, budget: float = PIECE) -> bool:
        """Work for about ``budget`` seconds on the picture at its full size; whether all of its pixels have as many
        samples now, so that `snapshot` takes no time. Raises ViewerError while there is no scene."""
        end = time.monotonic() + budget
        with self._current():
            self.view.require_scene()
            while not self.session.settled and time.monotonic() < end:
                self.session.advance(0.0)
            return self.session.settled and self.session.complete

    @property
    def camera(self) -> Camera:
        """The camera in the hand. Raises ViewerError where there is no scene, see `wait`."""
        if self.parked and isinstance(kept := self.scene_loader.requested.camera, Camera):
            return kept
        if self.view.controller is None:
            self.wait()
        assert self.view.controller is not None
        return self.view.controller.camera

    @property
    def status(self) -> str:
        """One line: a message, loading, compilation, or the picture's progress."""
        view, session, loading = self.view, self.session, self.scene_loader.loading
        if view.message.text:
            return view.message.text
        if loading is not None:
            what, share = loading
            return what if share is None else f"{what}: {share:.0%}"
        if view.compiling:
            return f"compiling {view.compiling}"
        if view.paused:
            return "paused"
        if view.scene is None or not session.complete:
            return view.hint
        error = f", error {session.error:.1%}" if math.isfinite(session.error) and session.samples > 1 else ""
        samples = f"{session.samples} sample{'s' if session.samples != 1 else ''} a pixel{error}"
        return " · ".join(part for part in (samples, view.hint) if part)

    def release(self) -> None:
        """Give everything back; from then on nothing runs, and events are ignored."""
        if self.closed:
            return
        self.closed = True
        self.scene_loader.cancel()
        self._drop()

    def _drop(self) -> None:
        """Free the device's memory."""
        renderer = self.view.renderer
        self.session.leave()
        if self.device.ended:
            return  # all of it is gone
        with self.device.current():
            self.context.debug_views.drop(renderer)
            self.session.release()
            if renderer is not None:
                renderer.release()
            self.scene_loader.first_picture.end()
            self._canvas.drop()
            self._canvas.texture.release()


def _check_motion(scene: Scene, view_options: Mapping[str, Any]) -> None:
    """Raises ViewerError for an animation that is unknown, and where nothing moves."""
    if any(view_options.get(name) is not None for name in MOTION):
        check_animated(scene, view_options.get("animation"))


def _checked(view_options: dict[str, Any]) -> dict[str, Any]:
    """The view's own options. Raises ViewerError for a wrong value."""
    if view_options.get("mode", "orbit") not in MODES:
        raise ViewerError(f"mode {view_options['mode']!r}", "unknown", f"one of {', '.join(MODES)}")
    return {name: value if name == "mode" else options.check(name, value) for name, value in view_options.items()}
