"""Indoors orbit turned about a point behind the walls, where a file's camera looks, and left the room at the first
drag; and from outside Home then showed the unlit backs of the walls."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Camera, Renderer
from raystream.renderer.session.session import Session
from raystream.viewport.camera_controller import MIN_PIVOT, CameraController
from raystream.viewport.keymap import Keymap
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import PictureArea, Viewport, choose_pivot

ROOM = raystream.load("cornell")  # open in front, at z = 0


@pytest.fixture(scope="module")
def view(device: Any) -> Viewport:
    made = Viewport(
        Session(Renderer(ROOM, device=device, program="cast", machine="singlepass")), Preferences(), Keymap()
    )
    made.renderer.trace([(0, 0, 0)], [(0, 0, 1)])  # else it is compiled after the window has said so
    return made


def pivot(view: Viewport, origin: tuple[float, float, float], target: tuple[float, float, float]) -> np.ndarray:
    view.controller = CameraController(Camera(origin, target), ROOM.bounds())
    before = view.controller.camera
    choose_pivot(view)
    assert view.controller.camera.origin == before.origin
    np.testing.assert_allclose(view.controller.camera.basis(), before.basis(), atol=1e-12)  # the picture stays
    return np.array(view.controller.camera.target)


def test_it_turns_about_the_first_surface(view: Viewport) -> None:
    far = ROOM.bounds()[1]
    # The back wall is the bounds' far side; the distance of the hit is float32.
    np.testing.assert_allclose(pivot(view, (278, 400, 100), (278, 400, 9000)), (278, 400, far[2]), atol=1e-3)
    np.testing.assert_allclose(pivot(view, (278, 400, 100), (278, 400, 101)), (278, 400, far[2]), atol=1e-3)


def test_it_is_bounded(view: Viewport) -> None:
    # Out of the open front no surface is met: the target stays, but within the bounds.
    np.testing.assert_allclose(pivot(view, (278, 400, 100), (278, 400, -900)), (278, 400, 0), atol=1e-9)
    np.testing.assert_allclose(pivot(view, (278, 400, 100), (278, 400, 60)), (278, 400, 60), atol=1e-9)
    near = float(np.linalg.norm(ROOM.bounds()[1] - ROOM.bounds()[0])) * MIN_PIVOT
    eye = ROOM.bounds()[1, 2] - 0.01  # close to the back wall
    assert pivot(view, (278, 400, eye), (278, 400, 9000))[2] == pytest.approx(eye + near)


def test_outdoors_it_is_left_alone(view: Viewport) -> None:
    np.testing.assert_array_equal(pivot(view, (278, 273, -800), (278, 273, 5000)), (278, 273, 5000))


@pytest.mark.parametrize(
    ("cameras", "forward"),
    [
        (ROOM.cameras[:1], (0, 0, 1)),  # as its first camera, which stands outside
        (ROOM.cameras[3:], Camera.framing([(-1, -1, -1), (1, 1, 1)]).basis()[2]),  # within
        ([], Camera.framing([(-1, -1, -1), (1, 1, 1)]).basis()[2]),
    ],
)
def test_home_of_a_scene_that_was_entered(cameras: list[Camera], forward: Any) -> None:
    from raystream.viewport.commands import _frame

    def framed(controller: CameraController) -> np.ndarray:
        shown = SimpleNamespace(prepared=SimpleNamespace(scene=SimpleNamespace(cameras=cameras)))
        context: Any = SimpleNamespace(
            view=SimpleNamespace(require_scene=lambda: (shown, controller), area=PictureArea((320, 240)))
        )
        _frame(context)
        controller.update(1.0)
        return controller.camera.basis()[2]

    controller = CameraController(Camera((500, 60, 60), (250, 420, 300)), ROOM.bounds())
    assert controller.indoors
    controller.orbit(0, 100)
    assert not controller.indoors  # it has left through the floor
    np.testing.assert_allclose(framed(controller), forward, atol=1e-12)
    controller.orbit(50, 20)
    turned = controller.camera.basis()[2]
    np.testing.assert_allclose(framed(controller), turned, atol=1e-12)  # outside: as it is seen now
