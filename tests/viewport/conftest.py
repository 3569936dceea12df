"""What tests of the viewport share."""

from __future__ import annotations

import pytest

from raystream.viewport.camera_controller import CameraController
from tests.viewport.cube_camera import CUBE, START


@pytest.fixture
def controller() -> CameraController:
    """Of the camera before the cube."""
    made = CameraController(START, CUBE)
    assert made.update(0.0)  # which has told of the camera that was set
    return made
