"""The environment of a scene on show: switched off and on, turned, and another one in its place."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.empty_view import FILLED
from raystream.renderer.inputs.settings import Settings
from raystream.scene.environment import DARKNESS, ImageEnvironment
from tests.viewport.loader_desk import Desk, made_of, show


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def test_a_dark_scene_under_the_sky(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the next one, which may have lights of its own; one that was asked for stays."""
    show(desk, monkeypatch)
    desk.loader.fill()
    assert desk.loader.requested.environment == "sky" and desk.said[-1] == (FILLED, False)
    desk.loader.open("other")
    assert desk.loader.requested.environment is None and desk.worker.started[-1][2].environment is None
    desk.loader.fill()
    desk.loader.light_by("studio")
    desk.loader.open("third")
    assert desk.loader.requested.environment == "studio"


def test_the_environment_off_and_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ViewerError):
        desk.loader.toggle_environment()
    show(desk, monkeypatch)
    desk.loader.toggle_environment()  # the scene has none: the sky
    assert desk.loader.requested.environment == "sky" and desk.said[-1] == ("environment True", False)
    desk.loader.toggle_environment()
    assert desk.loader.requested.environment is DARKNESS and desk.said[-1] == ("environment False", False)
    desk.loader.toggle_environment()
    assert desk.loader.requested.environment == "sky"
    desk.loader.requested = desk.loader.requested.replace(environment="none")
    desk.loader.toggle_environment()
    assert desk.loader.requested.environment == "sky"


@pytest.mark.parametrize("progressive", [True, False])
def test_another_environment_is_shown_in_the_scene_that_is_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, progressive: bool
) -> None:
    show(desk, monkeypatch)
    renderer, before = desk.view.renderer, desk.view.renderer.prepared.scene
    renderer.progressive = progressive
    desk.loader.light_by("sky")
    desk.loader.requested = desk.loader.requested.replace(environment_rotation=40.0)
    desk.taken()
    desk.said.clear()
    made = made_of(desk, settings=Settings(environment_rotation=15.0))
    made.scene = before
    desk.worker.made = "box", (made, None)
    desk.loader.take()
    assert desk.taken() == [("update", made, {"environment_rotation": 40.0}), "changed"]
    lit = [("programs with lighting see the environment: whitted, path", False)]
    assert desk.said == ([] if progressive else lit)
    desk.loader.light_by("studio")
    renderer.prepared.scene = SimpleNamespace(cameras=[], warnings=[])  # something has moved meanwhile
    desk.taken()
    made.lighting.environment = ImageEnvironment(np.ones((4, 8, 3), np.float32)).rotated(50.0)
    desk.worker.made = "box", (made, None)
    desk.loader.take()
    (kind, changes), changed = desk.taken()
    assert (kind, changed, changes["environment_rotation"]) == ("update", "changed", 40.0)
    assert changes["environment"].rotation == 35.0
