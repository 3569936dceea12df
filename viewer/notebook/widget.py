"""The widget: a view in the output of a notebook's cell (Jupyter, and other hosts of anywidget), by rendercanvas."""

from __future__ import annotations

import asyncio
from typing import Any

from rendercanvas.anywidget import AnywidgetRenderCanvas, loop
from rendercanvas.core.encoders import encode_array

from raystream.renderer.sampling.picture import Picture
from raystream.scene.card import html_card
from raystream.viewport.canvas import CanvasLoop, CanvasView
from raystream.viewport.host import OWN_EVENTS, script

SIZE = (640, 480)
# Seconds before a widget releases its device memory: without an output (its cell was run again or cleared; another may
# reuse it), and with an output out of sight (scrolled away, in another tab).
GONE, UNSEEN = 3.0, 300.0
# VS Code lays every widget on white, with the theme's text, which is light in a dark theme; texts of ipywidgets around
# this one are black there.
ON_WHITE = """
.cell-output-ipywidget-background:has(.renderview-wrapper):not(:has(.widget-container)) { background: none !important; }
"""


class Widget(AnywidgetRenderCanvas):
    """A view of a scene, as a cell's output or a part of other widgets (``ipywidgets.HBox([one, other])``). Keys and
    mouse work as in the window; a click focuses keyboard and wheel.

    source, options : as of `raystream.viewport.canvas.CanvasView`. size : (width, height), the page's
    pixels.

    It renders between the runs of cells, in pieces of 30 ms, while visible, until the picture has converged. Removed
    from the page, as when its cell is run again, it releases device memory after some seconds; shown again it resumes
    with its camera and options.

    Raises ViewerError for an unsupported source, an unknown option and a wrong value; DeviceError without OpenGL 3.3.
    """

    _esm = AnywidgetRenderCanvas._esm + "".join(map(script, ("hands.js", "motion.js", "views.js")))
    _css = AnywidgetRenderCanvas._css + ON_WHITE

    def __init__(self, source: Any, size: tuple[int, int] = SIZE, **options: Any) -> None:
        view = CanvasView(source, size, **options)
        super().__init__(size=size)
        self.view = view
        self._views = 0  # outputs with the widget
        self._parking: asyncio.TimerHandle | None = None
        self.drive = CanvasLoop(view, self, loop, lambda message: self.send(message))
        self.on_msg(self._on_message)
        self.observe(self._on_visibility, names=["_has_visible_views"])
        if self.comm is not None:
            self.comm.on_close(lambda message: self.close())  # the page has dropped it
        self._park_later()

    def update(self, **options: Any) -> None:
        """Change options, see `CanvasView.update`: ``view.update(program="path", exposure=1, camera="0,1,4 0,1,0")``.

        Raises ViewerError, without any change, for an unknown one or a wrong value.
        """
        self.view.update(**options)
        self.drive.wake()
        self._park_later()

    def snapshot(self, **_: Any) -> Picture:
        """The current picture with all its samples so far, as a `Picture`.

        Raises ViewerError if there is none.
        """
        picture = self.view.snapshot()
        self.drive.wake()
        self._park_later()
        return picture

    def close(self) -> None:
        """Remove it from the page and release everything."""
        view = getattr(self, "view", None)  # missing if its construction failed
        if view is not None and not view.closed:  # rendercanvas 2.7 calls close again while closing
            self._keep()
            super().close()

    def __repr__(self) -> str:
        view = getattr(self, "view", None)  # missing while it is made
        return "<Widget>" if view is None else "<Widget {!r}, {} x {}>".format(view.name, *view.view.area.size)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The widget; and what pages without it show, such as a saved notebook's: HTML of its text, and of the picture
        if it has all of its pixels."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            view, mimetype, data = self.view, "", b""
            if not view.closed and view.view.scene is not None and view.session.complete:
                mimetype, data = encode_array(view.read(), view.quality)
            text = f"{self!r}: moves once its cell is run"
            bundle[0]["text/html"] = html_card(text, data, view.view.area.size, mimetype)
        return bundle

    @property
    def camera(self) -> str:
        """The current camera, as the option ``camera`` takes it."""
        return self.view.camera.text()

    @property
    def fov(self) -> float:
        """Its vertical field of view, degrees."""
        return self.view.camera.fov

    # -- the page --------------------------------------------------------------------------------------------------

    def _on_message(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        """Messages of the page without an event in rendercanvas."""
        kind = content.get("type")
        if kind in OWN_EVENTS:
            self.drive.handle({**content, "event_type": kind})
        elif kind == "views":
            self._views = int(content["count"])
            self.drive.tell_motion(anew=True)
            self._park_later()

    def _on_visibility(self, change: Any) -> None:
        """The page shows it, maybe elsewhere or after a reload: the picture is sent again."""
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
        """Cancel parking."""
        if self._parking is not None:
            self._parking.cancel()
            self._parking = None

    def _park_later(self) -> None:
        """Park it after a while out of sight."""
        self._keep()
        if self._has_visible_views or self.view.closed:
            return
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return  # not in a kernel: a script made the widget
        self._parking = running.call_later(UNSEEN if self._views else GONE, self._park)

    def _park(self) -> None:
        self._parking = None
        self.view.visible = False
        self.view.park()

    # -- frames ----------------------------------------------------------------------------------------------------

    def _rc_present_bitmap(self, **bitmap: Any) -> None:
        self._quality = self.view.quality
        self.drive.tell_motion()
        super()._rc_present_bitmap(**bitmap)

    def _rfb_schedule_lossless_draw(self, array: Any, delay: float = 0.3) -> None:
        """Send a PNG after a JPEG, unless a better picture is coming."""
        if self.view.at_rest:
            super()._rfb_schedule_lossless_draw(array, delay)
