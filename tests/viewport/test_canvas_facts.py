"""What a view on a canvas makes of events, what it says, and how long it waits, by facts that are set; no OpenGL."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.film.error import Stop
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.scheduler import ASLEEP
from raystream.scene.camera import Camera
from raystream.viewport.canvas import CanvasView, _checked
from raystream.viewport.host import BUTTONS, ViewerHost
from raystream.viewport.viewport import InputState, Message, PictureArea, ToneMapping

START = Camera((0, 0, 5), (0, 0, 0))


class Desk:
    """A view whose rooms note what is asked of them."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        note = lambda name: lambda *what, **more: self.done.append((name, *what, *more.items()))  # noqa: E731
        self.made = made = CanvasView.__new__(CanvasView)
        made.closed = made.parked = False
        made.device = SimpleNamespace(ended=False, current=lambda: SimpleNamespace(__enter__=None))
        made._current = lambda: Nothing()  # type: ignore[method-assign]
        self.taken = False
        self.hand = SimpleNamespace(
            **{name: note(name) for name in ("move", "press", "release", "wheel", "pinch", "leave", "key")}
        )
        self.hand.clicked = lambda button: self.done.append(("clicked", button)) or self.taken
        self.controller: Any = SimpleNamespace(mode="orbit", camera=START)
        self.session: Any = SimpleNamespace(stop=Stop(7, error=0.5), complete=True, samples=3, error=math.inf)
        self.session.stop_at = note("stop_at")
        view: Any = SimpleNamespace(
            controller=self.controller, scene="scene", tone=ToneMapping(0.5, "aces"), input=InputState()
        )
        view.message, view.compiling, view.paused, view.hint = Message(), "", False, ""
        view.area, view.wake, view.take = PictureArea((8, 6)), note("wake"), note("take")
        view.actions = SimpleNamespace(handlers={}, perform=note("do"))
        view.lay_out = note("lay_out")
        made.view, made.session = view, self.session
        loader: Any = SimpleNamespace(
            requested=Settings(depth=4), loading=None, cancel=note("cancel"), change=note("change")
        )
        made.scene_loader = loader
        made.host = ViewerHost.__new__(ViewerHost)
        made.host.frame_loop = SimpleNamespace(wait_timeout=ASLEEP, trials_timeout=math.inf)  # type: ignore[assignment]
        made.host.view, made.host.pointer = view, self.hand  # type: ignore[assignment]
        made._mode = None
        made._drop = note("drop")  # type: ignore[method-assign]

    def handle(self, kind: str, **more: Any) -> list[Any]:
        self.done.clear()
        self.made.handle({"event_type": kind, **more})
        return list(self.done)


class Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: Any) -> None: ...


@pytest.fixture
def desk() -> Desk:
    return Desk()


# -- events ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("button", "number"), BUTTONS.items())
def test_presses_and_releases(desk: Desk, button: int, number: int) -> None:
    at = {"x": 3, "y": 4.5, "button": button}
    assert desk.handle("pointer_down", **at, modifiers=("Shift", "Control")) == [
        ("move", 3.0, 4.5),
        ("clicked", number),
        ("press", number, 3),
        ("wake",),
    ]
    desk.taken = True
    assert desk.handle("pointer_down", **at) == [("move", 3.0, 4.5), ("clicked", number), ("wake",)]
    assert desk.handle("pointer_up", **at) == [("move", 3.0, 4.5), ("release", number)]
    assert desk.handle("pointer_move", **at) == [("move", 3.0, 4.5)]


def test_the_wheel_and_two_fingers(desk: Desk) -> None:
    """A notch is a hundred pixels, upwards to the scene."""
    assert desk.handle("wheel", x=1, y=2, dx=7, dy=-100.0) == [("wheel", 1.0, 2.0, 1.0)]
    assert desk.handle("wheel", x=1, y=2, dx=7, dy=50) == [("wheel", 1.0, 2.0, -0.5)]
    assert desk.handle("pinch", x=1, y=2, ratio=1.5) == [("move", 1.0, 2.0), ("pinch", 1.5)]


def test_leaving_and_others(desk: Desk) -> None:
    assert desk.handle("focus_out") == [("leave",)]
    for kind in ("pointer_enter", "pointer_leave", "double_click", "before_draw", ""):
        assert desk.handle(kind) == []
    desk.made.handle({})


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "stop"),
    [
        ({"spp": 9}, (9, 0.5)),
        ({"error": 0.25}, (7, 0.25)),
        ({"spp": 9, "error": None}, (9, None)),
        ({"spp": None}, (7, 0.5)),
    ],
)
def test_where_samples_end(desk: Desk, own: dict, stop: tuple) -> None:
    desk.made._apply(own)
    assert desk.done == [("stop_at", *stop)] and desk.made.view.tone.exposure == 0.5


def test_checks_of_the_view_s_own_options() -> None:
    assert _checked({"mode": "fly", "spp": "4", "exposure": "auto"}) == {"mode": "fly", "spp": 4, "exposure": "auto"}
    assert _checked({"mode": "orbit"}) == {"mode": "orbit"} and _checked({}) == {}
    for wrong in ({"mode": "walk"}, {"mode": None}, {"spp": 0}, {"tonemap": ""}, {"mode": "fly", "spp": -1}):
        with pytest.raises(ViewerError):
            _checked(wrong)


# -- waiting -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("closed", "parked", "minimised", "loading", "timeout", "idle"),
    [
        (False, False, False, None, ASLEEP, True),
        (False, False, False, None, 0.99 * ASLEEP, False),
        (False, False, False, None, 0.0, False),
        (False, False, True, None, 0.0, True),  # nobody sees it
        (False, False, True, ("loading", None), 0.0, False),
        (False, False, True, ("loading", None), ASLEEP, True),
        (True, False, False, None, 0.0, True),
        (True, True, False, None, 0.0, True),
        (False, True, False, None, ASLEEP, False),  # it comes back with the next look
        (False, True, True, None, 0.0, True),
    ],
)
def test_idle(
    desk: Desk, closed: bool, parked: bool, minimised: bool, loading: Any, timeout: float, idle: bool
) -> None:
    made = desk.made
    made.closed, made.parked, made.view.area.minimised = closed, parked, minimised
    made.scene_loader.loading, made.host.frame_loop.wait_timeout = loading, timeout  # type: ignore[misc]
    assert made.idle is idle
    assert made.wait_timeout == (math.inf if idle else 0.0 if parked else timeout)


def test_trials_have_turns_of_a_picture_at_rest(desk: Desk) -> None:
    """Which is idle all the same."""
    made = desk.made
    made.host.frame_loop.trials_timeout = 0.01  # type: ignore[misc]
    assert made.idle and made.wait_timeout == 0.01
    for name in ("closed", "parked"):
        setattr(made, name, True)
        assert made.wait_timeout != 0.01, name
        setattr(made, name, False)
    made.view.area.minimised = True
    assert made.wait_timeout == math.inf, "nobody sees it"


def test_a_note_is_taken_back_in_time(desk: Desk) -> None:
    made = desk.made
    made.view.message = Message("saved")
    assert made.idle and made.wait_timeout == ASLEEP
    made.view.message = Message("broken", is_error=True)
    assert made.wait_timeout == math.inf, "an error stays"
    made.view.message, made.view.area.minimised = Message("saved"), True
    assert made.wait_timeout == math.inf, "nobody sees it"
    made.closed, made.view.area.minimised = True, False
    assert made.wait_timeout == math.inf


# -- what is said ------------------------------------------------------------------------------------------------------


def test_the_status_line(desk: Desk) -> None:
    """What is said before what is loaded, compiled or paused, and that before how far the picture is."""
    view, session, loader = desk.made.view, desk.session, desk.made.scene_loader
    view.hint = "drag orbits"
    view.message, loader.loading, view.compiling, view.paused = Message("saved"), ("reading box", 0.257), "path", True
    assert desk.made.status == "saved"
    view.message = Message()
    assert desk.made.status == "reading box: 26%"
    loader.loading = ("reading box", None)
    assert desk.made.status == "reading box"
    loader.loading = ("reading box", 0.0)
    assert desk.made.status == "reading box: 0%"
    loader.loading = None
    assert desk.made.status == "compiling path"
    view.compiling = ""
    assert desk.made.status == "paused"
    view.paused = False
    assert desk.made.status == "3 samples a pixel · drag orbits"
    for samples, error, text in (
        (3, 0.1234, "3 samples a pixel, error 12.3%"),
        (1, 0.1234, "1 sample a pixel"),
        (2, math.nan, "2 samples a pixel"),
        (2, 0.0, "2 samples a pixel, error 0.0%"),
    ):
        session.samples, session.error = samples, error
        assert desk.made.status == f"{text} · drag orbits"
    view.hint = ""
    assert desk.made.status == text
    view.hint, session.complete = "drag orbits", False
    assert desk.made.status == "drag orbits"
    session.complete, view.scene = True, None
    assert desk.made.status == "drag orbits"


def test_waiting_for_what_does_not_come(desk: Desk) -> None:
    made = desk.made
    made.view.controller = None
    made.view.renderer = None
    for message, said in (("a.ply: is broken", "view: a.ply: is broken"), ("", "view: there is nothing to show")):
        made.view.message = Message(message)
        for wait in (made.wait, lambda: made.camera):
            with pytest.raises(ViewerError) as error:
                wait()
            assert str(error.value) == said
    made.closed = True
    with pytest.raises(ViewerError, match="is closed"):
        made.wait()
    made.view.renderer, made.view.controller, made._mode = "there", desk.controller, "fly"
    made.wait()
    assert desk.controller.mode == "fly" and made._mode is None
