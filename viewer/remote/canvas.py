"""The canvas in the browser: rendercanvas's, with its view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rendercanvas import http

from viewer.base.errors import ViewerError
from viewer.remote.page import OFFERED, resources
from viewer.viewport.canvas.canvas_view import OWN_EVENTS, CanvasView
from viewer.viewport.canvas.drive import Drive


class RemoteCanvas(http.HttpRenderCanvas):
    """A view of a scene on pages of a browser. The first page steers; the others show the same.

    scene, size, options : as of `CanvasView`. Frames are JPEG in motion, lossless at rest; a slow page gets the newest
    frame when it is ready. Nothing is rendered without a page.

    Raises ViewerError and DeviceError as of `CanvasView`.
    """

    def __init__(self, scene: Any, size: tuple[int, int], **options: Any) -> None:
        view = CanvasView(scene, size, **options)
        super().__init__(size=size)
        self.view, self.app, self._given = view, http.asgi, str(scene)
        self.drive = Drive(view, self, http.loop, self._tell)
        view.visible = False

    @property
    def name(self) -> str:
        """Name of the scene."""
        scene = self.view.view.scene
        return scene.name if scene is not None else self._given

    def files(self) -> Mapping[str, tuple[str, str]]:
        """Files of the page, by name."""
        view = self.view.view
        return resources(view.keymap, view.handlers, self.name)

    def values(self) -> dict[str, Any]:
        """The page's options, as texts."""
        return {name: _text(self.view.value(name)) for name in OFFERED}

    def change(self, name: str, value: Any) -> None:
        """Apply an option from a page; a wrong value is reported on it."""
        if name not in OFFERED:
            return
        try:
            self.view.update(**{name: None if value == "" else value})
        except ViewerError as error:
            self.view.view.say(str(error), error=True)
        self.drive.wake()

    def perform(self, name: str, _: Any = None) -> None:
        """Perform an action chosen on a page, as by its key."""
        view = self.view
        if name in view.view.handlers:
            view.perform(name)
            self.drive.wake()

    def close(self) -> None:
        """Release everything."""
        if not self.view.closed:
            super().close()
            self.view.release()

    def _on_event(self, event: dict[str, Any], id: int) -> None:
        """Events of a page; a closed page may come back, and so does not end the view."""
        kind, steering = event.get("type"), self._active_client
        if kind == "close":
            return
        if kind in OWN_EVENTS:  # unknown to rendercanvas
            if id == steering:
                self.drive.handle({**event, "event_type": kind})
            return
        super()._on_event(event, id)
        if self._active_client != steering:  # release keys and buttons held by the page that left
            self.drive.handle({"event_type": "focus_out"})
        if kind == "_clients_change":
            self.view.visible = bool(event["ids"])
            self._tell(self.view.status)
            self.request_draw()
            self.drive.wake()

    def _rc_present_bitmap(self, **bitmap: Any) -> None:
        self._quality = self.view.quality
        super()._rc_present_bitmap(**bitmap)

    def _schedule_lossless_draw(self, array: Any, delay: float = 0.3) -> None:
        """Send a PNG after a JPEG, unless a better picture is coming."""
        if self.view.at_rest:
            super()._schedule_lossless_draw(array, delay)

    def _tell(self, text: str) -> None:
        """A status line below the picture."""
        self.set_title(" · ".join(part for part in (self.name, text) if part))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
