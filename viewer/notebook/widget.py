"""The widget: a view in the output of a notebook's cell (Jupyter, and whatever shows anywidgets), by rendercanvas."""

from __future__ import annotations

from typing import Any

from rendercanvas.anywidget import AnywidgetRenderCanvas, loop

from viewer.canvas.canvas_view import CanvasView
from viewer.canvas.drive import Drive
from viewer.renderer.picture import Picture
from viewer.window.input.flight import Flight

SIZE = (640, 480)


class Widget(AnywidgetRenderCanvas):
    """A view of a scene, as a cell's output or a part of other widgets (``ipywidgets.HBox([one, other])``). Keys and
    the mouse do what they do in the window; a click gives it the keyboard and the wheel.

    source, options : as of `viewer.canvas.canvas_view.CanvasView`. size : (width, height), the page's pixels.

    It is traced between the cells' runs, in pieces of 30 ms, as long as it is seen, until the picture has converged.

    Raises ViewerError for what cannot be shown, an unknown option and a wrong value; DeviceError without OpenGL 3.3.
    """

    def __init__(self, source: Any, size: tuple[int, int] = SIZE, **options: Any) -> None:
        view = CanvasView(source, size, **options)
        super().__init__(size=size)
        self.view = view
        self.drive = Drive(view, self, loop, self._tell)
        self.on_msg(self._on_message)
        self.observe(self._on_seen, names=["_has_visible_views"])

    def update(self, **options: Any) -> None:
        """Change options, see `CanvasView.update`: ``view.update(program="path", exposure=1, camera="0,1,4 0,1,0")``.

        Raises ViewerError for an unknown one or a wrong value; nothing has changed then.
        """
        self.view.update(**options)
        self.drive.wake()

    def snapshot(self, **_: Any) -> Picture:
        """The picture on show with all its samples so far, `Picture`: to save, to show, as an array.

        Raises ViewerError where there is none.
        """
        made = self.view.snapshot()
        self.drive.wake()
        return made

    def close(self) -> None:
        """Take it from the page, and give everything back."""
        view = getattr(self, "view", None)  # none where it could not be made
        if view is not None and not view.closed:  # rendercanvas 2.7 closes what it is closing
            super().close()

    @property
    def camera(self) -> str:
        """The camera in the hand, as the option ``camera`` takes it."""
        return self._flight.camera.text()

    @property
    def fov(self) -> float:
        """Its vertical field of view, degrees."""
        return self._flight.camera.fov

    @property
    def _flight(self) -> Flight:
        self.view.wait()
        return self.view.view.shown()[1]

    def _tell(self, text: str) -> None:
        """A line above the picture."""
        scene = self.view.view.scene
        self.set_title(" · ".join(part for part in (scene.name if scene is not None else "", text) if part))

    def _on_message(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        """Messages of the page that rendercanvas has no event for."""
        if content.get("type") == "focus_out":
            self.drive.handle({"event_type": "focus_out"})

    def _on_seen(self, change: Any) -> None:
        """The page shows it, maybe in another place: the picture is sent once more."""
        if change["new"] and not self.view.closed:
            self.request_draw()
