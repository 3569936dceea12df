"""What moves by itself, turn by turn, in closed form: the animation's time, the turntable and the environment."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from viewer.renderer.inputs.settings import Settings
from viewer.viewport.controls.camera_controller import ORBIT
from viewer.viewport.object_editing import MOST_REBUILT, TURN_SECONDS, ObjectEditing


class Held:
    """A camera in the hand that notes how it is turned."""

    def __init__(self) -> None:
        self.turned: list[tuple[float, float]] = []

    def orbit(self, dx: float, dy: float) -> None:
        self.turned.append((dx, dy))


def editing(duration: float = 2.0, levels: int = 2, structure: str = "two-level-bvh", triangles: int = 1) -> Any:
    """Of a scene that is traced all the while: nothing of it is posed meanwhile."""
    scene = SimpleNamespace(duration=duration, triangle_count=triangles)
    renderer = SimpleNamespace(structure=SimpleNamespace(levels=levels, name=structure), scene=scene)
    session = SimpleNamespace(previewing=True)
    view: Any = SimpleNamespace(
        paused=False, minimised=False, scene=scene, renderer=renderer, session=session, controller=Held()
    )
    view.wake = lambda: None
    loader: Any = SimpleNamespace(requested=Settings())
    nothing: Any = None
    return ObjectEditing(view, loader, nothing, nothing)


def test_an_animation_begins_again_at_its_end() -> None:
    made = editing(duration=2.0)
    made.playing = True
    times = []
    for _ in range(6):
        assert made.update(0.75)
        times.append(made.seconds)
    assert times == [0.75, 1.5, 0.25, 1.0, 1.75, 0.5]


@pytest.mark.parametrize(
    ("levels", "structure", "triangles", "goes"),
    [
        (2, "two-level-grid", 1 << 20, True),
        (1, "bvh", MOST_REBUILT, True),
        (1, "bvh", MOST_REBUILT + 1, False),
        (1, "grid", 1, False),  # its programs hold its resolution
    ],
)
def test_what_a_structure_moves_without_a_wait(levels: int, structure: str, triangles: int, goes: bool) -> None:
    made = editing(levels=levels, structure=structure, triangles=triangles)
    made.playing = True
    assert made.active is goes
    made.update(0.5)
    assert made.seconds == (0.5 if goes else 0.0)
    made.view.paused = True
    assert not made.active
    made.update(0.5)
    assert made.seconds == (0.5 if goes else 0.0), "nothing moves while rendering is paused"


def test_the_turntable_goes_once_round_in_its_time() -> None:
    """Always the same way; not while nobody sees it."""
    made = editing()
    made.turning = True
    for _ in range(48):
        assert made.update(TURN_SECONDS / 48)
    turned = np.array(made.view.controller.turned)
    assert turned.shape == (48, 2) and not turned[:, 1].any() and (turned[:, 0] < 0).all()
    assert turned[:, 0].sum() * ORBIT == pytest.approx(-2 * np.pi, rel=1e-12)
    made.view.minimised = True
    made.update(1.0)
    assert len(made.view.controller.turned) == 48


@pytest.mark.parametrize(("start", "by", "there"), [(0, 30, 30), (350, 20, 10), (10, -20, 350), (-90, 0, 270)])
def test_the_environment_turns_round(start: float, by: float, there: float) -> None:
    """In degrees from 0 to 360, whatever it was asked for as."""
    made = editing()
    made.scene_loader.requested = Settings(environment_rotation=float(start))
    made.turn_environment(float(by))
    assert made.scene_loader.requested.environment_rotation == there
