"""Portrait pictures and narrow windows cut off the sides of a model that Raystream itself had framed."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest

import raystream
from raystream.renderer.renderer import Renderer
from raystream.renderer.sequence import render_frames
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from tests.viewport.test_canvas_view import drag, event, opened, rest

OPTIONS = {"program": "cast", "machine": "singlepass"}
PORTRAIT, LANDSCAPE = (20, 50), (50, 20)


@pytest.fixture
def wide() -> Scene:
    """A box three times as wide as high, without a camera of its own."""
    return Scene.from_triangles(
        places.box().reshape(-1, 3) * (3.0, 1.0, 1.0), np.arange(36).reshape(-1, 3), name="wide"
    )


def whole(hit: np.ndarray) -> bool:
    """Whether something is hit, nothing of it in the outermost pixels, and it takes a good part of one side."""
    inside = hit.any() and not (hit[0].any() or hit[-1].any() or hit[:, 0].any() or hit[:, -1].any())
    return bool(inside and max(hit.any(axis=0).mean(), hit.any(axis=1).mean()) > 0.3)


@pytest.mark.parametrize("size", [PORTRAIT, LANDSCAPE, (30, 30)])
def test_a_picture_has_all_of_it(device: Any, wide: Scene, size: tuple[int, int]) -> None:
    renderer = Renderer(wide, device=device, **OPTIONS)
    camera = renderer.camera
    picture = renderer.render(size=size, layers="triangle")
    assert whole(picture.layers["triangle"] >= 0)
    assert renderer.camera == camera == wide.camera(), "it is that of pictures of this shape alone"
    frame = next(render_frames(wide, range(2), turntable=True, render={"size": size, "layers": "triangle"}, **OPTIONS))
    assert whole(frame.picture.layers["triangle"] >= 0)


@pytest.mark.parametrize("size", [PORTRAIT, (30, 30)])
def test_a_turntable_has_all_of_it_in_every_frame(device: Any, size: tuple[int, int]) -> None:
    """A model far from round, whose side is much wider than its front."""
    deep = Scene.from_triangles(places.box().reshape(-1, 3) * (0.4, 1.0, 4.0), np.arange(36).reshape(-1, 3))
    render = {"size": size, "layers": "triangle"}
    for frame in render_frames(deep, range(8), turntable=True, render=render, device=device, **OPTIONS):
        hit = frame.picture.layers["triangle"] >= 0
        assert hit.any() and not (hit[0].any() or hit[-1].any() or hit[:, 0].any() or hit[:, -1].any())


def test_a_camera_that_was_asked_for_stays(device: Any, wide: Scene) -> None:
    asked = Camera((0.0, 0.0, 6.0), (0.0, 0.0, 0.0))
    for scene, options in ((wide, {"camera": asked}), (wide.with_parts(cameras=[asked]), {})):
        picture = raystream.render(scene, size=PORTRAIT, layers="triangle", **OPTIONS, **options)
        assert (picture.layers["triangle"][25, [0, -1]] >= 0).all()


@pytest.mark.usefixtures("device")
def test_a_window_keeps_it_in_view(wide: Scene) -> None:
    """When it opens and by every later size, until the camera is moved."""

    def seen() -> np.ndarray:
        camera, renderer = view.camera, view.view.renderer
        origins, directions = camera.rays(*view.view.area.pixels)
        hits = renderer.trace(origins.reshape(-1, 3), directions.reshape(-1, 3))
        return (hits.triangle >= 0).reshape(origins.shape[:2])

    view = opened(wide, PORTRAIT)
    rest(view)
    assert whole(seen())
    for width, height in (LANDSCAPE, PORTRAIT):
        view.handle(event("resize", width=width, height=height, pixel_ratio=1.0))
        rest(view)
        assert view.view.area.pixels == (width, height) and whole(seen())
    assert view.camera == wide.camera(aspect=0.4)
    view.handle(event("resize", width=50, height=20, pixel_ratio=1.0))
    drag(view, (4, 4), (5, 4))
    rest(view)
    mine = view.camera
    view.handle(event("resize", width=20, height=50, pixel_ratio=1.0))
    rest(view)
    assert view.camera == mine
    view.handle(event("key_down", key="Enter"))
    rest(view)
    assert view.camera == wide.camera(aspect=0.4)
    view.release()
