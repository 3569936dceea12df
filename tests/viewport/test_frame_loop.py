"""Turns of the loop by a clock that is told: how long it waits, what moves and what is worked on."""

from __future__ import annotations

from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.preview.scheduler import ASLEEP, DRAWN_LOADING, HELD
from tests.viewport.loop_desk import Desk


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


# -- how long it waits -------------------------------------------------------------------------------------------------


def test_asleep_with_nothing_to_do(desk: Desk) -> None:
    assert desk.loop.wait_timeout == ASLEEP and not desk.loop.tracing
    desk.loader.loader.busy = True
    assert desk.loop.wait_timeout == DRAWN_LOADING
    desk.session.idle = False
    assert desk.loop.tracing and desk.loop.wait_timeout == 0.0
    for where, what in ((desk.view.area, "minimised"), (desk.view, "paused")):
        setattr(where, what, True)
        assert not desk.loop.tracing and desk.loop.wait_timeout == DRAWN_LOADING
        setattr(where, what, False)


def test_draws_for_the_layout_wait_where_all_is_busy(desk: Desk) -> None:
    """What was asked for is drawn at once; the rest, and the loop's haste, where nothing else is to be done."""
    desk.view.awake = True
    assert desk.loop.needs_draw and desk.loop.wait_timeout == 0.0
    desk.loader.loader.busy = True
    assert desk.loop.busy and not desk.loop.needs_draw and desk.loop.wait_timeout == DRAWN_LOADING
    desk.view.woken = True
    assert desk.loop.needs_draw and desk.loop.wait_timeout == 0.0
    desk.loader.loader.busy, desk.session.idle, desk.view.woken = False, False, False
    assert desk.loop.busy and not desk.loop.needs_draw


def test_what_does_not_wait(desk: Desk) -> None:
    for where, name in (
        (desk.view, "awake"),
        (desk.view.compilation, "name"),
        (desk.loader, "uploading"),
        (desk.loader, "rehearsing"),
    ):
        setattr(where, name, True)
        assert desk.loop.wait_timeout == 0.0, name
        setattr(where, name, False)
    desk.controller.moving = True
    assert desk.loop.wait_timeout == 0.0
    desk.view.area.minimised = True
    assert desk.loop.wait_timeout == 0.0
    desk.controller.moving, desk.editing.active = False, True
    assert desk.loop.wait_timeout == ASLEEP, "what nobody sees need not move"
    desk.view.area.minimised = False
    assert desk.loop.wait_timeout == 0.0
    desk.view.controller, desk.editing.active = None, False
    assert desk.loop.wait_timeout == ASLEEP


# -- what moves --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", ["drag", "grabbing"])
@pytest.mark.parametrize("moved", ["changes", "carries"])
def test_what_is_held_moves_until_it_has_rested(desk: Desk, held: str, moved: str) -> None:
    def turn(seconds: float) -> bool:
        desk.now += seconds
        desk.loop.begin()
        desk.loop.move()
        return desk.loop.moving

    setattr(desk, moved, True)
    assert not turn(0.0), "nothing is held"
    desk.view.input.drag, desk.editing.grabbing = ((0, 0), False) if held == "drag" else (None, True)
    assert turn(0.01)
    setattr(desk, moved, False)
    assert turn(0.9 * HELD) and not turn(0.2 * HELD)
    setattr(desk, moved, True)
    assert turn(1.0)
    desk.view.input.drag, desk.editing.grabbing = None, False
    assert not turn(0.01)


# -- work --------------------------------------------------------------------------------------------------------------


def test_nothing_is_traced_out_of_sight_or_while_a_scene_is_uploaded(desk: Desk) -> None:
    for where, name in ((desk.view.area, "minimised"), (desk.loader, "uploading"), (desk.view, "paused")):
        setattr(where, name, True)
        desk.loop.work(0.03)
        assert desk.taken() == [], name
        desk.debug.busy = True
        desk.loop.work(0.03)
        assert desk.taken() == ([("advance", 0.03, False, False), ("debug", 0.03)] if name == "paused" else [])
        desk.debug.busy = False
        setattr(where, name, False)


def test_what_looks_inside_has_the_time_that_the_picture_leaves(desk: Desk) -> None:
    traced, both = [("advance", 0.03, True, True)], [("advance", 0.03, True, True), ("debug", 0.03)]
    desk.loop.moving = True
    desk.debug.heat = "steps"
    desk.loop.work(0.03)
    assert desk.taken() == both, "a rough map follows every preview"
    desk.debug.heat, desk.waits = None, lambda moving: moving
    desk.loop.work(0.03)
    assert desk.taken() == both
    for where, name in ((desk.session, "running"), (desk.view.compilation, "name")):
        setattr(where, name, True)
        desk.loop.work(0.03)
        assert desk.taken() == traced, name
        setattr(where, name, False)
    desk.waits = lambda moving: not moving
    desk.loop.work(0.03)
    assert desk.taken() == traced


class Trials:
    """As `BackgroundTrials`, at work once they were begun. done : notes that they were left."""

    def __init__(self, done: list[Any]) -> None:
        self.done, self.busy, self.wants = done, False, True

    def due(self, session: Any, rested: float) -> bool:
        return self.wants and rested > 0

    def advance(self, session: Any, budget: float) -> None:
        self.busy = True

    def poll(self) -> None: ...

    def abandon(self) -> None:
        if self.busy:
            self.done.append("abandoned")
        self.busy = False


@pytest.mark.parametrize("what", ["moving", "drag", "busy", "complete", "minimised", "scene"])
def test_trials_end_where_the_hand_moves(desk: Desk, what: str) -> None:
    made: Any = Trials(desk.done)
    desk.loop.trials = made
    desk.loop.begin()
    desk.loop.work(0.03)
    assert made.busy
    match what:
        case "moving":
            desk.loop.moving = True
        case "drag":
            desk.view.input.drag = 0, 0
        case "busy":
            desk.debug.busy = True
        case "complete":
            desk.session.complete, made.wants = False, False
        case "minimised":
            desk.view.area.minimised = True
        case "scene":
            desk.loop.shown(False)
    desk.taken()
    if what != "scene":
        desk.loop.work(0.03)
        assert "abandoned" in desk.taken()
    assert not made.busy


def test_a_picture_that_cannot_be_made_is_told(desk: Desk) -> None:
    desk.refused = ViewerError("device", "is out of memory")
    desk.loop.work(0.03)
    assert desk.taken() == [("advance", 0.03, False, True), "fail", ("say", str(desk.refused), True)]
