"""The canvas in the browser: rendercanvas's, with its view."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rendercanvas import http

from raystream.base.errors import ViewerError
from raystream.remote.guard import File, Files
from raystream.remote.page import OFFERED, offered, resources
from raystream.renderer.sampling.picture import Picture
from raystream.viewport.canvas.canvas_loop import CanvasLoop
from raystream.viewport.canvas.canvas_view import CanvasView
from raystream.viewport.commands import file_stem
from raystream.viewport.host import OWN_EVENTS

# Pixels of the largest picture, those of a screen of 3840 x 2160; larger pages enlarge it.
MOST_PIXELS = 3840 * 2160
LONGEST_SIDE = 7680
SETTLING = 60.0  # seconds that a download waits for a picture all of whose pixels have as many samples
DOWNLOADS = {".png": "image/png", ".exr": "image/x-exr"}


class RemoteCanvas(http.HttpRenderCanvas):
    """A view of a scene on pages of a browser. The first page steers; the others show the same, and change nothing.

    scene, size, options : as of `CanvasView`. Frames are JPEG in motion, lossless at rest; a slow page gets the newest
    frame when it is ready. Nothing is rendered without a page. Pictures that are saved are downloads of the page.

    Raises ViewerError and DeviceError as of `CanvasView`.
    """

    def __init__(self, scene: Any, size: tuple[int, int], **options: Any) -> None:
        view = CanvasView(scene, size, deliver=self._deliver, **options)
        super().__init__(size=size)
        self.view, self.app, self._given = view, http.asgi, str(scene)
        self.drive = CanvasLoop(view, self, http.loop, self._tell)
        self._downloading = False
        self._motion: dict[str, Any] = {}  # as the pages know it
        view.visible = False

    @property
    def name(self) -> str:
        """Name of the scene."""
        scene = self.view.view.scene
        return scene.name if scene is not None else self._given

    def files(self) -> Files:
        """Files of the page, by name."""
        view = self.view.view
        downloads = {f"picture{ending}": partial(self._download, ending) for ending in DOWNLOADS}
        return {**resources(view.keymap, view.actions.handlers, self.name), "options.json": self._values, **downloads}

    async def _values(self) -> File:
        """The page's options, as texts."""
        values = {name: _text(self.view.value(name)) for name in OFFERED}
        return File.text("application/json", json.dumps(values))

    def change(self, name: str, value: str) -> None:
        """Apply an option from a page; a wrong value is reported on it."""
        if not offered(name, value):
            return
        try:
            self.view.update(**{name: value or None})
        except ViewerError as error:
            self.view.view.say(str(error), error=True)

    def perform(self, name: str) -> None:
        """Perform an action chosen on a page, as by its key."""
        if name in self.view.view.actions.handlers:
            self.view.perform(name)

    def close(self) -> None:
        """Release everything."""
        if not self.view.closed:
            super().close()
            self.view.release()

    def _on_event(self, event: dict[str, Any], id: int) -> None:
        """Events of a page, of 0 those of rendercanvas itself; a closed page may come back, and so does not end the
        view."""
        kind, steering = event["type"], self._active_client
        if kind == "close" or (id not in (0, steering) and kind != "_framefeedback"):
            return
        if kind == "_framefeedback" and not self._sent(event.get("index"), id):
            return
        if kind == "resize" and not _clamp(event):
            return
        if kind == "option":
            self.drive.call(partial(self.change, event["name"], event["value"]))
        elif kind == "action":
            self.drive.call(partial(self.perform, event["name"]))
        elif kind in OWN_EVENTS:  # unknown to rendercanvas
            self.drive.handle({**event, "event_type": kind})
        else:
            super()._on_event(event, id)
        if self._active_client != steering:  # release keys and buttons held by the page that left
            self.drive.handle({"event_type": "focus_out"})
        if kind == "_clients_change":
            self.view.visible = bool(event["ids"])
            self._tell_motion(anew=True)
            self._tell(self.view.status)
            self.request_draw()
            self.drive.wake()

    def _sent(self, index: Any, id: int) -> bool:
        """Whether a page confirms a frame that is on its way: more would let it ask for a backlog."""
        info = self._frame_info_per_client.get(id)
        return info is not None and isinstance(index, int) and info["confirmed"] <= index <= info["sent"]

    # -- downloads -------------------------------------------------------------------------------------------------

    def _deliver(self, ending: str) -> None:
        """Have the steering page download the picture."""
        self.view.view.require_scene()
        name = f"{file_stem(self.name)}{ending}"
        http.asgi.send_to({"type": "download", "href": f"picture{ending}", "name": name}, [], self._active_client)
        self.view.view.say(f"{name} is downloaded")

    async def _download(self, ending: str) -> File:
        """The picture on show at its full size as a file, one at a time."""
        if self._downloading:
            return File.text("text/plain", "another download is under way", 429)
        self._downloading = True
        try:
            view, loop = self.view, asyncio.get_running_loop()
            end = loop.time() + SETTLING
            while not view.settle():
                if loop.time() > end:
                    return File.text("text/plain", "the picture is not complete yet", 503)
                await asyncio.sleep(0.005)  # others have their turn
            picture, exposure, tonemap = view.snapshot(), view.view.tone.stops, view.view.tone.tonemap
            body = await asyncio.to_thread(_encoded, picture, ending, exposure, tonemap)
        except ViewerError as error:
            return File.text("text/plain", str(error), 503)
        finally:
            self._downloading = False
            self.drive.wake()
        return File(DOWNLOADS[ending], body)

    # -- frames ----------------------------------------------------------------------------------------------------

    def _rc_present_bitmap(self, **bitmap: Any) -> None:
        self._quality = self.view.quality
        self._tell_motion()
        super()._rc_present_bitmap(**bitmap)

    def _schedule_lossless_draw(self, array: Any, delay: float = 0.3) -> None:
        """Send a PNG after a JPEG, unless a better picture is coming."""
        if self.view.at_rest:
            super()._schedule_lossless_draw(array, delay)

    def _tell_motion(self, anew: bool = False) -> None:
        """How the animation plays, where that has changed or there is a new page."""
        motion = self.view.motion
        if anew or motion != self._motion:
            self._motion = motion
            http.asgi.send_all(motion)

    def _tell(self, text: str) -> None:
        """A status line below the picture."""
        self._tell_motion()
        self.set_title(" · ".join(part for part in (self.name, text) if part))


def _clamp(event: dict[str, Any]) -> bool:
    """Bring the size of a resize event to a screen's, in its proportions; whether it is any size."""
    width, height, ratio = event["pwidth"], event["pheight"], event["ratio"]
    if min(width, height) < 0 or ratio <= 0:
        return False
    shrunk = min(1.0, (MOST_PIXELS / max(1.0, width * height)) ** 0.5, LONGEST_SIDE / max(1.0, width, height))
    width, height = (round(max(side * shrunk, min(side, 1))) for side in (width, height))
    event |= {"pwidth": width, "pheight": height, "ratio": ratio * shrunk}
    return True


def _encoded(picture: Picture, ending: str, exposure: float, tonemap: str) -> bytes:
    """The bytes of a file of a picture."""
    if ending == ".png":
        return picture.png(exposure, tonemap)
    with TemporaryDirectory(prefix="raystream-") as folder:
        path = Path(folder, f"picture{ending}")
        picture.save(path)
        return path.read_bytes()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
