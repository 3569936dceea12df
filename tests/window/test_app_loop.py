"""The application's loop, over parts that note what they are asked for: when it draws, and what; what it saves."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
pytest.importorskip("glfw", reason="glfw is not installed")

from raystream.viewport.host import ViewerHost
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import Message, Overlays, PictureArea, ToneMapping
from raystream.window import app as app_module
from raystream.window import gui as gui_module
from raystream.window.app import App
from raystream.window.gui import Gui
from tests.window.test_events import Noted


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that was not opened: 400 x 300 in a framebuffer of twice as many pixels, panels at the left quarter."""
    made: Any = App.__new__(App)
    made.order = order = []

    def part(name: str, **given: Any) -> Noted:
        found = Noted(**given)
        found.called = Calls(name, order)
        return found

    screen = part("screen")
    made.window = part("window", size=(400, 300), pixels=(800, 600), scale=2.0, full_screen=False)
    made.window.context = SimpleNamespace(screen=screen)
    made.view = part("view", area=PictureArea((7, 5)), tone=ToneMapping(1.5, "agx"), message=Message())
    made.view.overlays = Overlays(Preferences(panels=True, statistics=True))
    made.view.compilation, made.view.renderer, made.view.controller = part("compilation"), None, None
    made.session = part("session", running=False, appearing=False, complete=False, pictures=3, warped=1)
    made.session.under_way, made.session.stop = None, SimpleNamespace(spp=64, error=None)
    photons = part("photons", points=False, renderer=None, scene=lambda: None, wires=lambda: None)
    made.debug_views = part("debug_views", inspector=None, photons=photons)
    made.scene_loader = SimpleNamespace(loader=part("loader", busy=False))
    made.frame_loop = part(
        "frame_loop", wait_timeout=0.5, busy=False, needs_draw="wanted", trials_timeout=1.0, moving=False, dt=0.125
    )
    made.draw_schedule = part("draw_schedule", tracing=0.01)
    made.host = ViewerHost.__new__(ViewerHost)
    made.host.frame_loop, made.host.view = made.frame_loop, made.view
    made.canvas = part("canvas", blank=False, texture="texture")
    made.display, made.auto_exposure = part("display"), part("auto_exposure")
    made.context, made.device = "desk", Noted(files=["f"])
    made._gui = gui = Gui.__new__(Gui)
    made._gui_loading, made._began = None, 0.0
    gui.context, gui.window, gui.output, gui.imgui = made.context, made.window, part("output"), "context"
    gui.space, gui.file_list, gui.input = part("space"), part("file_list"), part("input")
    made._watch, made._broken, made._photons = SimpleNamespace(changed=lambda files: False), "", None
    made._pictures, made.draws, made._switching = 4, 10, sys.getswitchinterval()
    made._chosen = {"samples": 1, "noise": 0.5, "tonemap": "none", "size": (5, 6)}  # by options: no preferences
    made.preferences = SimpleNamespace(save="save", size=(1, 1), speed=1.0, samples=1, noise=0.5)
    monkeypatch.setattr(gui_module, "draw_panels", lambda *given: order.append(("panels", *given)))
    imgui = part("imgui", get_draw_data=lambda: "drawn")
    monkeypatch.setattr(gui_module, "imgui", imgui)
    return made


class Calls(list):
    """What a part was asked for, which also goes into the order of all."""

    def __init__(self, name: str, order: list[Any]) -> None:
        super().__init__()
        self.name, self.order = name, order

    def append(self, call: tuple[Any, ...]) -> None:
        super().append(call)
        self.order.append((f"{self.name}.{call[0]}", *call[1:]))


@pytest.mark.parametrize(
    ("changes", "busy", "traced", "appearing"),
    [
        ({}, False, False, False),
        ({"busy": True}, True, False, False),
        ({"busy": True, "loading": True}, True, False, True),
        ({"busy": True, "loading": True, "complete": True}, True, False, False),
        ({"appearing": True}, False, False, True),
        ({"moving": True}, False, False, False),
        ({"moving": True, "running": True}, False, True, False),
        ({"running": True}, False, False, False),
    ],
)
@pytest.mark.parametrize("due", [True, False])
def test_when_it_draws(app: Any, monkeypatch: Any, changes: dict, busy: Any, traced: Any, appearing: Any, due: Any):
    """Where the schedule says so, or a picture is new, or has been warped."""
    app.frame_loop.busy, app.frame_loop.moving = changes.get("busy", False), changes.get("moving", False)
    app.session.running, app.session.appearing = changes.get("running", False), changes.get("appearing", False)
    app.scene_loader.loader.busy, app.session.complete = changes.get("loading", False), changes.get("complete", False)
    asked: list[Any] = []
    app.draw_schedule.due = lambda *given: asked.append(given) or due
    drawn: list[float] = []
    app._draw, app._measure = drawn.append, lambda: app.order.append("measured")
    monkeypatch.setattr(app_module.time, "monotonic", iter((100.0, 100.25, 200.0, 200.5, 300.0, 301.0)).__next__)
    app.turn()
    assert asked == [(100.0, "wanted", busy, appearing, traced)] and app.turn_seconds == 0.25
    assert drawn == ([0.125] if due else [])
    steps = ["window.events", "measured", "frame_loop.begin", "frame_loop.move", "compilation.run", "frame_loop.work"]
    steps += ["view.fade", *(["view.drawn"] if due else [])]
    assert [each if isinstance(each, str) else each[0] for each in app.order] == steps
    assert ("window.events", 0.5) in app.order and ("frame_loop.work", 0.01) in app.order
    for pictures, warped in ((4, 1), (3, 2)):
        app.session.pictures, app.session.warped = pictures, warped
        app.turn()
    assert drawn == [0.125] * (3 if due else 2)


@pytest.mark.parametrize(("gui", "appearing"), [(True, False), (False, True), (False, False)])
def test_nothing_tells_how_far_it_is_before_there_are_panels(app: Any, gui: bool, appearing: bool) -> None:
    """So that what is busy is not drawn again and again: but for a picture that comes tile by tile."""
    app.frame_loop.busy, app.session.appearing, asked = True, appearing, list[Any]()
    app.draw_schedule.due = lambda _, wanted, busy, *rest: asked.append(busy)
    app._gui, app._draw = app._gui if gui else None, lambda dt: None
    app._load_gui = lambda: None
    app.turn()
    assert asked == [gui or appearing]


@pytest.mark.parametrize(
    ("blank", "points", "expected"),
    [
        (False, False, [("display.draw", (800, 600), 1.5)]),
        (False, True, [("display.draw", (800, 600), -0.5)]),  # darker by two stops
        (True, False, [("screen.clear",)]),
    ],
)
def test_the_picture_or_the_ground(app: Any, blank: bool, points: bool, expected: Any) -> None:
    app.canvas.blank, app.debug_views.photons.points = blank, points
    app._draw(0.1)
    drawn = [each for each in app.order if each[0] in ("display.draw", "screen.clear")]
    shown = [each[:1] if each[0] == "screen.clear" else (each[0], each[3], each[4]) for each in drawn]
    assert shown == expected and not any(each[0] == "canvas.grow" for each in app.order)


@pytest.mark.parametrize(
    ("full", "size", "error", "kept_size", "noise"),
    [
        (False, (400, 300), None, (400, 300), 0.0),
        (False, (0, 300), 0.25, (1, 1), 0.25),
        (False, (400, 0), 0.25, (1, 1), 0.25),
        (False, (1, 2), 0.25, (1, 2), 0.25),
        (False, (5, 6), 0.25, (1, 1), 0.25),
        (True, (400, 300), None, (1, 1), 0.0),
    ],
)
def test_what_is_saved(app: Any, full: bool, size: Any, error: Any, kept_size: Any, noise: float) -> None:
    app.window.full_screen, app.window.size = full, size
    app.session.stop = SimpleNamespace(spp=77, error=error)
    app.view.overlays.panels.on, app.view.overlays.statistics.on, app.view.renderer = False, True, "renderer"
    app.view.controller = SimpleNamespace(speed=6.0, natural_speed=4.0)
    app.release()
    kept = app.preferences
    assert (kept.samples, kept.noise, kept.tonemap, kept.speed) == (77, noise, "agx", 1.5)
    assert (kept.full_screen, kept.size, kept.panels, kept.statistics) == (full, kept_size, False, True)
    assert app.order == [
        ("loader.cancel",),
        ("view.attempt", "save"),
        ("debug_views.drop", "renderer"),
        ("imgui.set_current_context", "context"),
        ("output.release",),
        ("imgui.destroy_context", "context"),
        ("window.release",),
    ]
    app.view.controller, kept.speed = None, 9.0
    app.release()
    assert kept.speed == 9.0


# -- panels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "loads"),
    [
        ({}, False),
        ({"pictures": 1}, True),
        ({"error": True}, True),
        ({"idle": True}, False),  # no renderer yet
        ({"idle": True, "loading": None}, True),  # nothing comes
        ({"loading": None}, False),
        ({"now": 1.001}, True),
        ({"now": 0.999}, False),
    ],
)
def test_when_panels_are_loaded(app: Any, monkeypatch: pytest.MonkeyPatch, changes: dict, loads: bool) -> None:
    """Behind the first picture; before it where that takes long, or fails."""
    app._gui, app.session.pictures, app.session.idle = None, changes.get("pictures", 0), changes.get("idle", False)
    app.scene_loader.loading = changes.get("loading", "cornell")
    app.view.message = Message("", changes.get("error", False))
    monkeypatch.setattr(app_module.time, "monotonic", lambda: changes.get("now", 0.5))
    started: list[str] = []
    alive = SimpleNamespace(is_alive=lambda: True)
    monkeypatch.setattr(app_module, "load_beside", lambda name, then: (started.append(name), alive)[1])
    for _ in range(2):
        app._load_gui()
    assert started == (["raystream.window.gui"] if loads else []) and app._gui is None
    if loads:
        made: list[Any] = []
        monkeypatch.setattr(gui_module, "Gui", lambda *given: (made.append(given), "gui")[1])
        app.events = SimpleNamespace(gui=None)
        alive.is_alive = lambda: False
        app._load_gui()
        assert app._gui == app.events.gui == app.gui == "gui" and made == [(app.context, app.window)]
        assert app.view.take() == [("wake",)]


def test_what_is_drawn_before_there_are_panels(app: Any) -> None:
    app._gui = None
    app._draw(0.125)
    names = [each[0] for each in app.order]
    assert "display.draw" in names and "window.swap" in names and not {"imgui.new_frame", "panels"} & set(names)
    app.release()
    assert app.order[-1] == ("window.release",)
