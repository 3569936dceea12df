"""A scene in a view that somebody else shows: events come in, bitmaps go out. It needs neither a window nor a display.

The camera, the keys, the mouse, loading, exposure and previews are the window's.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.film.error import Stop
from raystream.formats.named import load
from raystream.formats.objects import scene_from
from raystream.options import table as options
from raystream.renderer.device.tuning import tuned_device
from raystream.renderer.inputs.camera import view as camera_of
from raystream.renderer.inputs.settings import VIEW, Settings
from raystream.renderer.preview.scheduler import ASLEEP, PIECE, SENT_AT_LAST, SENT_FILLING, SENT_GROWTH, SENT_REFINING
from raystream.renderer.sampling.picture import Picture
from raystream.renderer.session.session import Session
from raystream.scene.camera import Camera
from raystream.scene.edits.animated import check_animated
from raystream.scene.scene import Scene
from raystream.stream.gl.device import Device
from raystream.viewport.commands import picture_handlers
from raystream.viewport.host import FrameLoop, ViewerHost, serialize_motion
from raystream.viewport.keymap import Keymap
from raystream.viewport.picture_texture import Display, PictureTexture
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import RULES, configured, rules

# -- the picture on show as bitmaps: when another one is due, and how good it has to be --------------------------------

IN_MOTION, IN_REFINING = 80, 92  # qualities of JPEG, of 100


class Bitmaps:
    """Bitmaps of a view's picture. The device's context is current wherever it is used."""

    def __init__(self, device: Device, frame_loop: FrameLoop, canvas: PictureTexture) -> None:
        self.device, self.frame_loop, self.canvas = device, frame_loop, canvas
        self.view, self.session = frame_loop.view, frame_loop.session
        self._display = Display(device)
        self._target: Any = None  # framebuffer
        self._sent_picture: tuple[Any, ...] = ()  # what the one given last was of
        self._sent_at, self._sent_samples = 0.0, 0  # when, and with how many samples of a complete picture
        self._rested = False  # it was at rest

    @property
    def at_rest(self) -> bool:
        """Whether the picture stays as it is, but for the exposure, until an event or an update; a scene's first one
        does not."""
        stays = self.session.idle or self.view.paused
        return stays and not self.frame_loop.moving and self.view.renderer is not None

    @property
    def quality(self) -> int:
        """The quality of the bitmap as JPEG, 0 to 100."""
        return IN_REFINING if self.session.complete else IN_MOTION

    def due(self) -> bool:
        """Whether another one is: the picture looks otherwise than the last one, and enough; or it has come to rest."""
        view, session, now = self.view, self.session, time.monotonic()
        if view.area.minimised or not self.frame_loop.anything:
            return False
        passed, complete = now - self._sent_at, session.complete
        soon = passed < (SENT_REFINING if complete else SENT_FILLING)
        if not soon and session.under_way is not None:
            self.canvas.grow(session.under_way)
        look = view.tone.stops, view.tone.tonemap, view.area.pixels
        key = (session.pictures + session.warped, *look, self.canvas.changes)
        rests, rested = self.at_rest, self._rested
        self._rested = rests
        if key == self._sent_picture and rests <= rested:
            return False
        if not rests and complete and self._sent_samples and look == self._sent_picture[1:-1]:
            if soon or (session.samples < SENT_GROWTH * self._sent_samples and passed < SENT_AT_LAST):
                return False
        elif not rests and soon and key[:-1] == self._sent_picture[:-1]:
            return False
        self._sent_picture, self._sent_at, self._sent_samples = key, now, session.samples if complete else 0
        return True

    def read(self) -> NDArray[np.uint8]:
        """(H, W, 4) uint8: the picture on show as it is, sRGB and opaque, row 0 at the top."""
        view = self.view
        width, height = view.area.pixels
        if self._target is None or self._target.size != view.area.pixels:
            context = self.device.context
            self._target = context.framebuffer([context.texture(view.area.pixels, 4)])
        self._display.draw(self.canvas.texture, self._target, view.area.pixels, view.tone.stops, view.tone.tonemap)
        pixels = np.frombuffer(self._target.read(components=4, alignment=1), np.uint8)
        self.canvas.restore_sampling()
        bitmap = pixels.reshape(height, width, 4)[::-1].copy()
        bitmap[..., 3] = 255
        return bitmap


# -- a scene in a view that somebody else shows ------------------------------------------------------------------------

MODES = ("orbit", "fly")
# How a source is taken; ``up`` is of objects alone.
TAKEN = (*(name for name in options.names_of_part("scene") if options.option(name).scope.taker == "call"), "up")
ENDS = ("spp", "error")  # options of renders that end a session
MOTION = ("moment", "animation")
OWN = (*VIEW, *ENDS, *MOTION, *options.keywords("save"), "mode")  # options that are not the loader's


class CanvasView:
    """A view of a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D.

    source : as of `raystream.formats.objects.scene_of`. size : of the bitmap, (width, height) pixels.
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
        self._scene: Scene | None = scene_from(source, taking)  # later by the worker
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
        self.view, self.context = self.host.view, self.host
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
        old, controller, stop = self.view, self.view.controller, replace(self.session.stop, _last_check=0)
        self.scene_loader.cancel()
        settings = self.scene_loader.requested
        if controller is not None and old.scene is not None:
            settings, self._scene = settings.replace(camera=controller.camera), old.scene
            self._mode, self._path = controller.mode, self.scene_loader.shown_path if self._path else ""
        self._drop()
        self._open(settings, old.area.pixels, stop, old.preferences, old.keymap)
        self.view.tone.choose(exposure=old.tone.exposure, tonemap=old.tone.tonemap)
        self.view.area.minimised, self.view.paused = old.area.minimised, old.paused
        self.view.lay_out(old.area.size, old.area.pixels)

    def _load(self, path: str) -> Scene:
        """The worker's preparation of a scene."""
        scene, self._scene = self._scene, None if self._path else self._scene
        return load(path, None, self._lenient, self.scene_loader.requested.max_texture) if scene is None else scene

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
    def visible(self, is_visible: bool) -> None:
        self.view.area.minimised = not is_visible
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
        values = {"spp": stop.spp, "error": stop.error, "exposure": tone.exposure, "tonemap": tone.tonemap}
        return values[name] if name in values else self.scene_loader.requested[name]

    def _apply(self, view_options: dict[str, Any]) -> None:
        """Options of the view, which are checked."""
        view, stop = self.view, self.session.stop
        if "spp" in view_options or "error" in view_options:
            samples = view_options.get("spp", stop.spp)
            self.session.stop_at(stop.spp if samples is None else samples, view_options.get("error", stop.error))
        if any(view_options.get(name) is not None for name in MOTION):
            self.context.editing.animation.show_at(view_options.get("moment"), view_options.get("animation"))
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

    def make_even(self, budget: float = PIECE) -> bool:
        """Work for about ``budget`` seconds on the picture at its full size; whether all of its pixels have as many
        samples now, so that `snapshot` takes no time. Raises ViewerError while there is no scene."""
        end = time.monotonic() + budget
        with self._current():
            self.view.require_scene()
            while not self.session.even and time.monotonic() < end:
                self.session.advance(0.0)
            return self.session.even and self.session.complete

    @property
    def camera(self) -> Camera:
        """The camera in the hand. Raises ViewerError where there is no scene, see `wait`."""
        if self.parked and isinstance(camera := self.scene_loader.requested.camera, Camera):
            return camera
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
        return " · ".join(text for text in (samples, view.hint) if text)

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
            self._canvas.release()


def _check_motion(scene: Scene, view_options: Mapping[str, Any]) -> None:
    """Raises ViewerError for an animation that is unknown, and where nothing moves."""
    if any(view_options.get(name) is not None for name in MOTION):
        check_animated(scene, view_options.get("animation"))


def _checked(view_options: dict[str, Any]) -> dict[str, Any]:
    """The view's own options. Raises ViewerError for a wrong value."""
    if view_options.get("mode", "orbit") not in MODES:
        raise ViewerError(f"mode {view_options['mode']!r}", "unknown", f"one of {', '.join(MODES)}")
    return {name: value if name == "mode" else options.check(name, value) for name, value in view_options.items()}


# -- a view on a canvas of rendercanvas, in the time that the canvas's event loop has to spare -------------------------

EVENTS = ("pointer_down", "pointer_move", "pointer_up", "wheel", "key_down", "key_up", "resize", "close")
TELLING = 0.5  # seconds between two lines of progress
MAX_PENDING = 256  # changes; with more of them all are forgotten, and keys and buttons let go


class CanvasLoop:
    """Brings a view's bitmaps to a canvas, and the canvas's events to the view.

    The view works in pieces of `PIECE` seconds, between which the loop serves everybody else. While a bitmap waits to
    be drawn nothing is traced: a canvas that nobody sees, or whose line is slow, draws none. With the view idle or
    closed nothing is scheduled. Events that together take longer than a piece wait for the loop's next turn, too.

    canvas : of rendercanvas, whose title is the status. loop : its event loop, by ``call_later(delay, callback,
    *arguments)``. send : gives its pages a message. name : of the scene, until it is there.
    """

    def __init__(
        self, view: CanvasView, canvas: Any, loop: Any, send: Callable[[dict[str, Any]], None], name: str = ""
    ) -> None:
        self.view, self.canvas, self.name = view, canvas, name
        self._loop, self._send = loop, send
        self._motion: dict[str, Any] = {}  # as the pages have it
        self._bitmap: NDArray | None = None  # that waits to be drawn
        self._piece_number = 0  # of the piece of work that is scheduled; earlier ones are not wanted any more
        self._status, self._status_time = "", 0.0
        self._calls: deque[Callable[[], None]] = deque()  # changes that wait
        self._spent = 0.0  # seconds of changes in this turn of the loop
        self._turn_scheduled = False  # its end is awaited
        self._context = canvas.get_bitmap_context()
        canvas.add_event_handler(self.handle, *EVENTS)
        canvas.request_draw(self._draw)
        self.wake()

    @property
    def pending(self) -> bool:
        """Whether a bitmap waits to be drawn."""
        return self._bitmap is not None

    def handle(self, event: dict[str, Any]) -> None:
        """Take an event, see `CanvasView.handle`."""
        if event.get("event_type") == "close":
            self._calls.clear()
            self.view.handle(event)
        else:
            self.call(partial(self.view.handle, event))

    def call(self, change: Callable[[], None]) -> None:
        """Change something in the view: at once, or once the loop has served everybody else, where changes of this turn
        have taken their time already."""
        if len(self._calls) == MAX_PENDING:
            self._calls.clear()
            self._calls.append(partial(self.view.handle, {"event_type": "focus_out"}))
        self._calls.append(change)
        self._serve()

    def _serve(self) -> None:
        if not self._turn_scheduled:
            self._turn_scheduled = True
            self._loop.call_later(0.0, self._turn)
        while self._calls and self._spent < PIECE:
            began = time.monotonic()
            try:
                self._calls.popleft()()
            finally:
                self._spent += time.monotonic() - began
        self.wake()

    def _turn(self) -> None:
        """The loop has served everybody else."""
        self._turn_scheduled, self._spent = False, 0.0
        if self._calls:
            self._serve()

    def wake(self) -> None:
        """There may be something to do."""
        if self._bitmap is None and not self.view.idle:
            self._schedule(0.0)

    def _schedule(self, delay: float) -> None:
        self._piece_number += 1
        self._loop.call_later(delay, self._work, self._piece_number)

    def _work(self, job: int) -> None:
        """A piece of work, and the next one is scheduled."""
        if job != self._piece_number:
            return
        self._bitmap = self.view.advance(PIECE)
        self._say()
        if self._bitmap is not None:
            self.canvas.request_draw()
        elif (timeout := self.view.wait_timeout) < float("inf"):
            self._schedule(timeout)

    def _say(self) -> None:
        """Tell how things are, progress not too often."""
        text, now, view = self.view.status, time.monotonic(), self.view
        urgent = view.idle or view.view.compiling or view.view.message.text
        if text != self._status and (urgent or now - self._status_time >= TELLING):
            self._status, self._status_time = text, now
            self.tell(text)

    def tell(self, text: str) -> None:
        """Show a status line."""
        self.tell_motion()
        scene = self.view.view.scene
        name = self.name if scene is None else scene.name
        self.canvas.set_title(" · ".join(line for line in (name, text) if line))

    def tell_motion(self, anew: bool = False) -> None:
        """Tell how the animation plays, where that has changed or there is a new page."""
        motion = self.view.motion
        if anew or motion != self._motion:
            self._motion = motion
            self._send(motion)

    def _draw(self) -> None:
        """The canvas draws: the bitmap that waits, or the last one once more."""
        if self._bitmap is not None:
            self._context.set_bitmap(self._bitmap)
            self._bitmap = None
            self.wake()
