"""The application's loop before there are panels, over parts that note what they are asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
pytest.importorskip("glfw", reason="glfw is not installed")

from raystream.viewport.viewport import Message, PictureArea
from raystream.window import app as app_module
from raystream.window import gui as gui_module
from raystream.window.app import App
from tests.window.test_events import Noted


@pytest.fixture
def app() -> Any:
    """One that was not opened."""
    made: Any = App.__new__(App)
    made.window = Noted(size=(400, 300), scale=1.0)
    made.view = Noted(area=PictureArea((400, 300)), message=Message())
    made.session = SimpleNamespace(running=False, appearing=False, complete=False, pictures=0, warped=0, idle=False)
    made.scene_loader = SimpleNamespace(loader=SimpleNamespace(busy=False), loading="cornell")
    made.frame_loop = SimpleNamespace(wait_timeout=0.5, trials_timeout=1.0, moving=False, dt=0.125, needs_draw=False)
    made.host = SimpleNamespace(advance=lambda tracing, idle: None)
    made.context, made.events = "desk", SimpleNamespace(gui=None)
    made._gui = made._gui_loading = None
    made._pictures, made._began = 0, 0.0
    return made


@pytest.mark.parametrize(("gui", "appearing"), [(True, False), (False, True), (False, False)])
def test_nothing_tells_how_far_it_is_before_there_are_panels(app: Any, gui: bool, appearing: bool) -> None:
    """So that what is busy is not drawn again and again: but for a picture that comes tile by tile."""
    app.frame_loop.busy, app.session.appearing, asked = True, appearing, list[Any]()
    app.draw_schedule = SimpleNamespace(tracing=0.01, due=lambda _, wanted, busy, *rest: asked.append(busy))
    app._gui, app._load_gui = "panels" if gui else None, lambda: None
    app.turn()
    assert asked == [gui or appearing]


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
    app.session.pictures, app.session.idle = changes.get("pictures", 0), changes.get("idle", False)
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
        alive.is_alive = lambda: False
        app._load_gui()
        assert app._gui == app.events.gui == app.gui == "gui" and made == [(app.context, app.window)]
        assert app.view.take() == [("wake",)]
