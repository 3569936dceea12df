"""pyrender's renderers of no pixel or of 100,000, and indices of vertices that there are not, ended as exceptions of
NumPy or in memory; one renderer in several threads ended in 'another picture has begun'."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from raystream import pyrender
from raystream.base.errors import ViewerError

CORNERS = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], float)


def _scene(indices: Any = None) -> pyrender.Scene:
    scene, pose = pyrender.Scene(), np.eye(4)
    pose[2, 3] = 3
    scene.add(pyrender.Mesh([pyrender.Primitive(CORNERS, indices=indices)]))
    scene.add(pyrender.PerspectiveCamera(yfov=1.0), pose=pose)
    scene.add(pyrender.DirectionalLight(intensity=3.0), pose=pose)
    return scene


@pytest.mark.parametrize("size", [0, -1, 100_000, float("nan"), float("inf"), "a", None, np.eye(2)], ids=str)
@pytest.mark.parametrize("side", ["viewport_width", "viewport_height"])
def test_sides(side: str, size: Any) -> None:
    sides = {"viewport_width": 8, "viewport_height": 8}
    with pytest.raises(ViewerError, match=rf"^{side}=.*: expected a whole number from 1 to 32768 pixels$"):
        pyrender.OffscreenRenderer(**{**sides, side: size})
    renderer = pyrender.OffscreenRenderer(**sides)
    with pytest.raises(ViewerError, match=side):
        setattr(renderer, side, size)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("mode", [pyrender.constants.GLTF.TRIANGLES, pyrender.constants.GLTF.LINE_STRIP])
@pytest.mark.parametrize("indices", [[[0, 1, 3]], [[0, 1, -1]], [0, 1, 1 << 40]], ids=str)
def test_indices(indices: Any, mode: int) -> None:
    primitive = pyrender.Primitive(CORNERS, indices=indices, mode=mode)
    with pytest.raises(ViewerError, match=r"^indices: go from .*, and there are 3 vertices, from 0 on$"):
        primitive.segments()
    scene = _scene()
    scene.add(pyrender.Mesh([pyrender.Primitive(CORNERS, indices=indices)]))
    with pytest.raises(ViewerError, match=r"^indices: go from "):
        pyrender.OffscreenRenderer(8, 8, spp=1).render(scene)


@pytest.mark.parametrize("indices", [[[0, np.nan, 1]], [["a", "b", "c"]], [[None, 1, 2]]], ids=str)
def test_indices_that_are_no_numbers(indices: Any) -> None:
    with pytest.raises(ViewerError, match=r"^indices: are of type "):
        pyrender.Primitive(CORNERS, indices=indices)


def test_six_threads() -> None:
    """Without the fixture that keeps the device in this thread."""
    renderer, scene = pyrender.OffscreenRenderer(16, 16, spp=2), _scene()
    color, depth = renderer.render(scene)
    with ThreadPoolExecutor(6) as threads:
        for each_color, each_depth in threads.map(lambda _: renderer.render(scene), range(12)):
            np.testing.assert_array_equal(each_color, color)
            np.testing.assert_array_equal(each_depth, depth)
    renderer.delete()
