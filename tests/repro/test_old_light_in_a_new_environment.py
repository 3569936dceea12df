"""Switched off, the environment went on lighting what was seen: pictures were blended with those of the light before.
Pressed twice, J switched it off twice."""

from __future__ import annotations

from pathlib import Path

import places
import pytest

from raystream.scene.environment import DARKNESS
from raystream.viewport.canvas import CanvasView
from tests.viewport.test_canvas_view import opened, rest


@pytest.fixture
def view(device) -> CanvasView:
    """An unlit ball in the studio, at rest."""
    scene = places.alone(places.sphere(3), places.material(0.5))
    made = opened(scene, (96, 64), program="path", spp=2)
    rest(made)
    yield made
    made.release()


def test_a_scene_without_light_is_black_at_once(view: CanvasView) -> None:
    assert view.read()[..., :3].mean() > 30
    view.perform("environment.toggle")
    made = [each[..., :3].max() for each in rest(view)]
    first = made.index(0)
    assert made[first:] == [0] * len(made[first:]), "old light comes back"


def test_twice_is_on_again(view: CanvasView, tmp_path: Path) -> None:
    """What was asked for counts, though the worker has not brought it yet."""
    before = view.read()
    for _ in range(2):
        view.perform("environment.toggle")
        assert view.scene_loader.requested.environment == DARKNESS
        view.perform("environment.toggle")
        assert view.scene_loader.requested.environment is None, "the scene's own choice"
    rest(view)
    assert view.view.environment.name == "studio" and (view.read() == before).all()
