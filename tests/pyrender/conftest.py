"""A scene for every test, and renderers that are released at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from rasteriser import at, ball, box, square

from raystream import pyrender


@pytest.fixture
def offscreen(device: object) -> Iterator[Callable[..., pyrender.OffscreenRenderer]]:
    """Makes renderers of pictures."""
    made: list[pyrender.OffscreenRenderer] = []

    def make(*given: float, **options: object) -> pyrender.OffscreenRenderer:
        made.append(pyrender.OffscreenRenderer(*given, **options))
        return made[-1]

    yield make
    for each in made:
        each.delete()


@pytest.fixture
def things() -> Callable[[pyrender.Camera], pyrender.Scene]:
    """A box, two balls by one mesh, and a square behind them, seen by a camera."""

    def make(camera: pyrender.Camera) -> pyrender.Scene:
        scene = pyrender.Scene(bg_color=[0.2, 0.4, 0.6, 1.0])
        scene.add(box(1.0), name="box", pose=at(-0.7, 0.1, -3.2, (0.4, 0.7, 0.1)))
        scene.add(ball(0.4, poses=np.stack([at(0.5, -0.1, -2.8), at(0.3, 0.7, -3.4)])), name="balls")
        scene.add(square(3.0), name="square", pose=at(0.2, 0.0, -4.5, (0.1, 0.2, 0.0)))
        scene.add(camera, pose=at(0.1, 0.1, 0.2, (0.05, 0.02, 0.1)))
        return scene

    return make
