"""The canvas in the browser: rendercanvas's, with its view."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rendercanvas import http

from raystream.base.errors import ViewerError
from raystream.base.paths import assets
from raystream.options.table import OPTIONS
from raystream.remote.guard import File, Files
from raystream.renderer.inputs.settings import registered
from raystream.renderer.sampling.picture import Picture
from raystream.viewport.canvas import CanvasLoop, CanvasView
from raystream.viewport.commands import file_stem
from raystream.viewport.host import OWN_EVENTS, script
from raystream.viewport.keymap import ACTIONS, MOUSE, Keymap

# -- the page in the browser: a full-size canvas, a status line, keys and options beside it ----------------------------

OFFERED = tuple(
    name for name, option in OPTIONS.items() if "page" in option.scope.offered
)  # options that can be chosen on the page
FINGERS = (("one finger", "orbit; look around in flight"), ("two fingers", "pan; pinch to dolly, in flight to go"))
MAX_TYPED = 32  # characters of a value that is typed
SCRIPTS = ("renderview.js", "renderview-client.js")


def listed_values(name: str) -> tuple[str, ...]:
    """Values of an option that are listed on the page, an empty one for its default; none where it is typed."""
    option = registered()[name]
    words = option.value.choices or option.value.words
    return ("", *words) if words and option.value.default is None else words


def is_allowed(name: str, value: str) -> bool:
    """Whether a page may give an option a value: one of its list, or a number that is typed. Others might name files of
    this machine."""
    return name in OFFERED and (value in listed_values(name) if listed_values(name) else len(value) <= MAX_TYPED)


def page_files(keymap: Keymap, performed: Collection[str], name: str) -> Mapping[str, File]:
    """The page's files by name. performed : names of the view's actions. name : of the scene."""
    core = files("rendercanvas.core")
    folder = assets() / "remote"
    scripts = {script_name: core.joinpath(script_name).read_text("utf-8") for script_name in SCRIPTS}
    scripts |= {name: script(name) for name in ("hands.js", "motion.js")}
    scripts |= {"page.js": (folder / "page.js").read_text("utf-8")}
    return {
        "index.html": File.text(
            "text/html", _page(keymap, performed, name, (folder / "index.html").read_text("utf-8"))
        ),
        "page.css": File.text("text/css", (folder / "page.css").read_text("utf-8")),
        "renderview.css": File.text("text/css", core.joinpath("renderview.css").read_text("utf-8")),
        **{script_name: File.text("text/javascript", text) for script_name, text in scripts.items()},
    }


def _page(keymap: Keymap, available: Collection[str], name: str, template: str) -> str:
    """The template, filled in: the scene's name, gestures, keys with buttons for ``available`` actions, and options."""
    rows, group = [], ""
    for kind, gestures in (("mouse", MOUSE), ("touch", FINGERS)):  # the page shows those of its device
        cells = "".join(f"<p>{_key_row(how, what)}</p>" for how, what in gestures if not how.startswith("drop"))
        rows.append(f'<section class="{kind}"><h2>{kind}</h2>{cells}</section>')
    for action in ACTIONS:
        if (action.name not in available and not action.hold) or not keymap.keys(action):
            continue
        if action.group != group:
            group = action.group
            rows.append(f"<h2>{escape(group)}</h2>")
        row = _key_row(keymap.text(action), action.help)
        rows.append(f"<p>{row}</p>" if action.hold else f'<button name="{action.name}">{row}</button>')
    values = {"NAME": escape(name), "KEYS": "\n".join(rows), "OPTIONS": "\n".join(map(_option_field, OFFERED))}
    for word, value in values.items():
        template = template.replace(f"<!--{word}-->", value)
    return template


def _key_row(keys: str, text: str) -> str:
    return f"<kbd>{escape(keys)}</kbd><span>{escape(text)}</span>"


def _option_field(name: str) -> str:
    """An option as a list of its words, or to be typed; empty is its default."""
    field = f'<input name="{name}" size="6" autocomplete="off" spellcheck="false">'
    if listed := listed_values(name):
        items = "".join(f'<option value="{choice}">{choice or "of the scene"}</option>' for choice in listed)
        field = f'<select name="{name}">{items}</select>'
    return f'<label title="{escape(registered()[name].about, quote=True)}">{name}{field}</label>'


# -- the canvas in the browser: rendercanvas's, with its view ----------------------------------------------------------

# Pixels of the largest picture, those of a screen of 3840 x 2160; larger pages enlarge it.
MAX_PIXELS = 3840 * 2160
MAX_SIDE = 7680
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
        self.view, self.app = view, http.asgi
        self.drive = CanvasLoop(view, self, http.loop, lambda message: http.asgi.send_all(message), str(scene))
        self._downloading = False
        view.visible = False

    @property
    def name(self) -> str:
        """Name of the scene."""
        scene = self.view.view.scene
        return scene.name if scene is not None else self.drive.name

    def files(self) -> Files:
        """Files of the page, by name."""
        view = self.view.view
        downloads = {f"picture{ending}": partial(self._download, ending) for ending in DOWNLOADS}
        return {**page_files(view.keymap, view.actions.handlers, self.name), "options.json": self._values, **downloads}

    async def _values(self) -> File:
        """The page's options, as texts."""
        values = {name: _value_text(self.view.value(name)) for name in OFFERED}
        return File.text("application/json", json.dumps(values))

    def change(self, name: str, value: str) -> None:
        """Apply an option from a page; a wrong value is reported on it."""
        if not is_allowed(name, value):
            return
        try:
            self.view.update(**{name: value or None})
        except ViewerError as error:
            self.view.view.say(str(error), error=True)

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
        if kind == "resize" and not _clamp_size(event):
            return
        if kind == "option":
            self.drive.call(partial(self.change, event["name"], event["value"]))
        elif kind in OWN_EVENTS:  # unknown to rendercanvas
            self.drive.handle({**event, "event_type": kind})
        else:
            super()._on_event(event, id)
        if self._active_client != steering:  # release keys and buttons held by the page that left
            self.drive.handle({"event_type": "focus_out"})
        if kind == "_clients_change":
            self.view.visible = bool(event["ids"])
            self.drive.tell_motion(anew=True)
            self.drive.tell(self.view.status)
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
            while not view.make_even():
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
        self.drive.tell_motion()
        super()._rc_present_bitmap(**bitmap)

    def _schedule_lossless_draw(self, array: Any, delay: float = 0.3) -> None:
        """Send a PNG after a JPEG, unless a better picture is coming."""
        if self.view.at_rest:
            super()._schedule_lossless_draw(array, delay)


def _clamp_size(event: dict[str, Any]) -> bool:
    """Bring the size of a resize event to a screen's, in its proportions; whether it is any size."""
    width, height, ratio = event["pwidth"], event["pheight"], event["ratio"]
    if min(width, height) < 0 or ratio <= 0:
        return False
    shrunk = min(1.0, (MAX_PIXELS / max(1.0, width * height)) ** 0.5, MAX_SIDE / max(1.0, width, height))
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


def _value_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
