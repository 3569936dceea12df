"""Turns of a view's loop: how long it waits, what it works on, and what it does about a scene that is new on show."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Camera
from raystream.base.errors import ViewerError
from raystream.renderer.preview.scheduler import ASLEEP, DRAWN_LOADING, HELD
from raystream.scene.light import Light
from raystream.viewport import host
from raystream.viewport.canvas import CanvasView
from tests.viewport.test_canvas_view import event, opened, rest


@pytest.fixture
def view(device: Any) -> Iterator[CanvasView]:
    """At rest, and drawn."""
    made = opened()
    rest(made)
    made.view.say("")
    while made.view.awake:
        made.view.drawn()
    yield made
    made.release()


def test_how_long_it_waits(view: CanvasView, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, editing = view.host.frame_loop, view.context.editing
    assert loop.wait_timeout == ASLEEP and not loop.tracing
    for owner, name, value in (
        (view.view.compilation, "name", "path"),
        (view.scene_loader, "_upload_steps", iter(())),
        (view.scene_loader, "rehearsing", True),
        (view.view.controller, "_changed", True),
        (editing, "turning", True),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            assert loop.wait_timeout == 0.0, name
    editing.turning, view.view.area.minimised = True, True
    assert loop.wait_timeout == ASLEEP, "what nobody sees need not move"
    editing.turning, view.view.area.minimised = False, False
    view.scene_loader.loader.path = "box"
    assert loop.wait_timeout == DRAWN_LOADING
    view.update(depth=2)
    while view.view.awake:
        view.view.drawn()
    assert loop.tracing and loop.wait_timeout == 0.0
    for where, what in ((view.view.area, "minimised"), (view.view, "paused")):
        setattr(where, what, True)
        assert not loop.tracing and loop.wait_timeout == DRAWN_LOADING
        setattr(where, what, False)


def test_draws_for_the_layout_wait_where_all_is_busy(view: CanvasView) -> None:
    """What was asked for is drawn at once; the rest, and the loop's haste, where nothing else is to be done."""
    loop = view.host.frame_loop
    view.view.wake()
    view.view.drawn()
    assert view.view.awake and loop.needs_draw and loop.wait_timeout == 0.0
    view.scene_loader.loader.path = "box"
    assert loop.busy and not loop.needs_draw and loop.wait_timeout == DRAWN_LOADING
    view.view.wake()
    assert loop.needs_draw and loop.wait_timeout == 0.0


def test_a_hand_that_rests_is_as_none(view: CanvasView, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, now = view.host.frame_loop, [time.monotonic()]
    monkeypatch.setattr(host, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def turn(seconds: float) -> bool:
        now[0] += seconds
        loop.begin()
        loop.move()
        return loop.moving

    view.handle(event("pointer_down", 4, 4, button=1))
    view.handle(event("pointer_move", 9, 5, buttons=(1,)))
    assert turn(0.01) and turn(0.9 * HELD) and not turn(0.2 * HELD)
    view.handle(event("pointer_move", 5, 5, buttons=(1,)))
    assert turn(1.0)
    view.handle(event("pointer_up", 5, 5, button=1))
    assert not turn(0.01)


def test_nothing_is_traced_out_of_sight_or_while_a_scene_is_uploaded(
    view: CanvasView, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, loop = list[float](), view.host.frame_loop
    monkeypatch.setattr(view.session, "advance", lambda budget, *_, **__: steps.append(budget))
    for owner, name in ((view.view.area, "minimised"), (view.scene_loader, "_upload_steps"), (view.view, "paused")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, True)
            loop.work(0.03)
    assert not steps
    loop.work(0.03)
    assert steps == [0.03]


@pytest.mark.parametrize("what", ["moving", "drag", "minimised", "scene"])
def test_trials_end_where_the_hand_moves(view: CanvasView, what: str) -> None:
    loop, trials, left = view.host.frame_loop, SimpleNamespace(busy=False), list[str]()
    trials.due = lambda session, rested: rested > 0
    trials.advance = lambda session, budget: setattr(trials, "busy", True)
    trials.abandon = lambda: left.append(what)
    loop.trials, loop.moving = trials, False  # type: ignore[assignment]
    loop._last = loop._moved + 9.0
    loop.work(0.03)
    assert trials.busy and not left
    if what == "scene":
        loop.shown(False)
    elif what == "moving":
        loop.moving = True
    elif what == "drag":
        view.view.input.drag = 0, 0
    else:
        view.view.area.minimised = True
    if what != "scene":
        loop.work(0.03)
    assert left == [what]


def test_a_picture_that_cannot_be_made_is_told(view: CanvasView, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise ViewerError("device", "is out of memory")

    view.update(depth=2)
    assert not view.session.idle
    monkeypatch.setattr(view.session, "advance", fails)
    view.advance()
    assert view.session.idle and view.view.message.is_error and "is out of memory" in view.status


# -- a scene that is new on show ---------------------------------------------------------------------------------------


def test_memory_is_given_back_once_a_scene_and_once_at_rest(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw that looks whether the whole picture shows anything does not give back, too."""
    done, view = [""], opened(program="path", spp=5)
    loop = view.host.frame_loop
    fill = loop._fill

    def looks() -> None:
        done[-1] += "looks"
        fill()

    def gives() -> None:
        done[-1] += "gives"

    monkeypatch.setattr(loop, "_fill", looks)
    monkeypatch.setattr(host, "give_back", gives)
    try:
        while not view.idle:
            view.advance(0.0)
            done.append("")
        assert [each for each in done if each] == ["looks", "gives", "gives"] and view.session.idle
        view.update(exposure=2.0)
        rest(view)
        assert done[-1] == "" and view.session.on_screen is not None
        assert view.session.on_screen.white == 0.25, "softened for the white of the display"
    finally:
        view.release()


@pytest.mark.parametrize(
    ("chosen", "filled"),
    [
        ({}, True),
        ({"background": (0.2, 0.3, 0.4)}, True),
        ({"exposure": 0.0}, False),
        ({"program": "cast"}, False),
        ({"environment": "none"}, False),
        ({"sun": (45.0, 0.0)}, False),
        ({"camera": "0,8,0 0,0,0"}, False),
    ],
)
def test_a_scene_whose_lights_show_nothing_comes_under_the_sky(
    device: Any, chosen: dict[str, Any], filled: bool
) -> None:
    """Where light and exposure are left to Raystream: a floor seen from below, which is lit from above."""
    scene = raystream.Scene.from_triangles([[-9, 0, 9], [9, 0, 9], [0, 0, -9]], [[0, 1, 2]])
    scene.lights = [Light("point", "lamp", (0, 5, 0), intensity=(9.0, 9.0, 9.0))]
    scene.cameras = [Camera((0, -8, 0), (0, 0, 0), (0, 0, -1))]
    view = opened(scene, **{"exposure": "auto", "program": "path", "spp": 1, **chosen})
    try:
        rest(view)
        assert (view.value("environment") == "sky") is filled
        assert not filled or np.any(view.snapshot().linear)
    finally:
        view.release()
