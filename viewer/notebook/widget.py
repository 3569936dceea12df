"""The widget: a view in the output of a notebook's cell (Jupyter, and whatever shows anywidgets), by rendercanvas."""

from __future__ import annotations

import asyncio
from typing import Any

from rendercanvas.anywidget import AnywidgetRenderCanvas, loop

from viewer.renderer.sampling.picture import Picture
from viewer.viewport.canvas.canvas_view import OWN_EVENTS, CanvasView
from viewer.viewport.canvas.drive import Drive
from viewer.viewport.canvas.scripts import script

SIZE = (640, 480)
# Seconds after which a widget gives back what it has on the device: without an output that shows it (its cell was run
# again or cleared; another may take it over), and with one that nobody sees (scrolled away, in another tab).
GONE, UNSEEN = 3.0, 300.0


class Widget(AnywidgetRenderCanvas):
    """A view of a scene, as a cell's output or a part of other widgets (``ipywidgets.HBox([one, other])``). Keys and
    the mouse do what they do in the window; a click gives it the keyboard and the wheel.

    source, options : as of `viewer.viewport.canvas.canvas_view.CanvasView`. size : (width, height), the page's pixels.

    It is traced between the cells' runs, in pieces of 30 ms, as long as it is seen, until the picture has converged.
    Out of the page, as where its cell is run again, it gives the device's memory back after some seconds; shown again
    it goes on from its camera and options.

    Raises ViewerError for what cannot be shown, an unknown option and a wrong value; DeviceError without OpenGL 3.3.
    """

    _esm = AnywidgetRenderCanvas._esm + script("hands.js") + script("views.js")

    def __init__(self, source: Any, size: tuple[int, int] = SIZE, **options: Any) -> None:
        view = CanvasView(source, size, **options)
        super().__init__(size=size)
        self.view = view
        self._views = 0  # outputs that show it
        self._parking: asyncio.TimerHandle | None = None
        self.drive = Drive(view, self, loop, self._tell)
        self.on_msg(self._on_message)
        self.observe(self._on_seen, names=["_has_visible_views"])
        if self.comm is not None:
            self.comm.on_close(lambda message: self.close())  # the page has thrown it away
        self._park_later()

    def update(self, **options: Any) -> None:
        """Change options, see `CanvasView.update`: ``view.update(program="path", exposure=1, camera="0,1,4 0,1,0")``.

        Raises ViewerError for an unknown one or a wrong value; nothing has changed then.
        """
        self.view.update(**options)
        self.drive.wake()
        self._park_later()

    def snapshot(self, **_: Any) -> Picture:
        """The picture on show with all its samples so far, `Picture`: to save, to show, as an array.

        Raises ViewerError where there is none.
        """
        made = self.view.snapshot()
        self.drive.wake()
        self._park_later()
        return made

    def close(self) -> None:
        """Take it from the page, and give everything back."""
        view = getattr(self, "view", None)  # none where it could not be made
        if view is not None and not view.closed:  # rendercanvas 2.7 closes what it is closing
            self._keep()
            super().close()

    @property
    def camera(self) -> str:
        """The camera in the hand, as the option ``camera`` takes it."""
        return self.view.camera.text()

    @property
    def fov(self) -> float:
        """Its vertical field of view, degrees."""
        return self.view.camera.fov

    def _tell(self, text: str) -> None:
        """A line above the picture."""
        scene = self.view.view.scene
        self.set_title(" · ".join(part for part in (scene.name if scene is not None else "", text) if part))

    # -- the page --------------------------------------------------------------------------------------------------

    def _on_message(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        """Messages of the page that rendercanvas has no event for."""
        kind = content.get("type")
        if kind in OWN_EVENTS:
            self.drive.handle({**content, "event_type": kind})
        elif kind == "views":
            self._views = int(content["count"])
            self._park_later()

    def _on_seen(self, change: Any) -> None:
        """The page shows it, maybe in another place or after it was read again: the picture is sent once more."""
        if self.view.closed:
            return
        self._park_later()
        if change["new"]:
            self._keep()
            self._rfb_frame_index = self._frame_feedback.get("index", 0)  # no frame is on its way to this page
            self.view.visible = True
            self.request_draw()
            self.drive.wake()

    def _keep(self) -> None:
        """It is not parked."""
        if self._parking is not None:
            self._parking.cancel()
            self._parking = None

    def _park_later(self) -> None:
        """Where nobody sees it, it is parked after a while."""
        self._keep()
        if self._has_visible_views or self.view.closed:
            return
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return  # no kernel's: a script that made a widget
        self._parking = running.call_later(UNSEEN if self._views else GONE, self._park)

    def _park(self) -> None:
        self._parking = None
        self.view.visible = False
        self.view.park()

    # -- frames ----------------------------------------------------------------------------------------------------

    def _rc_present_bitmap(self, **bitmap: Any) -> None:
        self._quality = self.view.quality
        super()._rc_present_bitmap(**bitmap)

    def _rfb_schedule_lossless_draw(self, array: Any, delay: float = 0.3) -> None:
        """After a JPEG a PNG, where nothing better is to come."""
        if self.view.at_rest:
            super()._rfb_schedule_lossless_draw(array, delay)
