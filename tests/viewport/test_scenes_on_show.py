"""The loop once a scene is on show: its exposure, memory that is given back, and the sky over a scene without light."""

from __future__ import annotations

import pytest

from tests.viewport.loop_desk import Desk


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def test_nothing_is_metered_before_a_scene_is_on_show(desk: Desk) -> None:
    desk.view.tone.exposure = "auto"
    desk.session.pictures = 7
    assert not desk.loop.anything
    desk.loader.first_picture.shown = True
    assert desk.loop.anything
    desk.loader.first_picture.shown = False
    desk.loop.shown(False)
    assert desk.taken() == [("shown", False)]
    desk.loop.expose()
    assert desk.taken() == [] and not desk.loop.anything and desk.view.tone.metered == 0.0
    desk.session.pictures, desk.session.complete, desk.session.idle = 8, False, False
    desk.loop.expose()
    assert desk.loop.anything and desk.view.tone.metered == -2.0
    assert desk.taken() == ["begin", ("follow", "texture", 100.0, 0.0, False, False)]
    desk.loop.shown(True)
    desk.loop.expose()
    assert desk.loop.anything
    assert desk.taken() == [("shown", True), ("follow", "texture", 100.0, 0.0, False, True)], "the same scene goes on"


def test_the_meter_looks_at_what_is_new(desk: Desk) -> None:
    """Another picture or another step of it; and until it settles the view is drawn."""
    desk.view.tone.exposure, desk.session.pictures, desk.session.idle = "auto", 1, False
    desk.loop.expose()
    desk.taken()
    desk.now += 0.5
    desk.loop.dt = 0.02
    for change, same in (({}, True), ({"steps": 3}, False), ({}, True), ({"pictures": 2}, False), ({}, True)):
        vars(desk.session).update(change)
        desk.loop.expose()
        assert desk.taken() == [("follow", "texture", 100.5, 0.02, False, same)]
    desk.looked, desk.session.steps, desk.meter.reached = False, 9, False
    for _ in range(2):  # not looked at, it is new once more
        desk.loop.expose()
        assert desk.taken() == [("follow", "texture", 100.5, 0.02, False, False), "wake"]
    desk.view.tone.exposure = 1.5
    desk.loop.expose()
    assert desk.taken() == []


def test_memory_is_given_back_once_a_scene_and_once_at_rest(desk: Desk) -> None:
    desk.session.pictures, desk.session.complete, desk.session.idle = 1, False, False
    desk.loop.shown(False)
    desk.session.pictures = 2
    desk.loop.expose()
    assert "give back" not in desk.taken()
    desk.session.complete = True
    for found in (["wake"], ["give back"], []):  # the draw that looks at the whole picture does not give back, too
        desk.loop.expose()
        assert desk.taken() == found
    desk.session.idle = True
    for found in (["give back"], [], []):
        desk.loop.expose()
        assert desk.taken() == found
    desk.session.idle = False
    desk.loop.expose()
    desk.session.idle = True
    desk.loop.expose()
    assert desk.taken() == ["give back"]


@pytest.mark.parametrize(
    ("change", "filled"),
    [
        ({}, True),
        ({"exposure": 0.0}, False),
        ({"progressive": False}, False),
        ({"lit": False}, False),
        ({"environment": "none"}, False),
        ({"sun": (45.0, 0.0)}, False),
        ({"light": 1.0}, False),
        ({"renderer": None}, False),
        ({"same": True}, False),
    ],
)
def test_a_scene_whose_lights_show_nothing_comes_under_the_sky(desk: Desk, change: dict, filled: bool) -> None:
    """Where light and exposure are left to Raystream; once, when its first picture is complete."""
    desk.view.tone.exposure = change.get("exposure", "auto")
    desk.renderer.progressive = change.get("progressive", True)
    desk.renderer.prepared.lighting.only_own_lights = change.get("lit", True)
    given = {name: change[name] for name in ("environment", "sun") if name in change}
    desk.loader.requested = desk.loader.requested.replace(**given)
    desk.picture[:] = change.get("light", 0.0)
    desk.view.renderer = change.get("renderer", desk.renderer)
    desk.session.pictures, desk.session.complete = 1, False
    desk.loop.shown(change.get("same", False))
    desk.session.pictures = 2
    desk.loop.expose()
    assert "fill" not in desk.taken()
    desk.session.complete = True
    desk.loop.expose()
    assert ("fill" in desk.taken()) is filled
    desk.loop.expose()
    assert "fill" not in desk.taken()


def test_pictures_are_softened_for_the_white_of_the_display(desk: Desk) -> None:
    desk.view.tone.choose(exposure=2.0)
    desk.loop.expose()
    assert desk.session.on_screen.white == 0.25
