"""Pictures by the defaults: how much of the display's range white takes, and how much of the picture the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import raystream
from raystream.renderer.renderer import Renderer
from raystream.scene.light import LUMINANCE
from raystream.scene.scene import Scene

OPTIONS = {"program": "path", "machine": "singlepass"}
LANDSCAPE, PORTRAIT = (64, 48), (48, 64)


def shapes() -> Scene:
    """A white ball beside a box, as high as wide."""
    ball, cube = places.sphere(4), places.box() * (0.6, 1.0, 0.6) + (1.4, 0.0, 0.0)
    return white(np.concatenate([ball, cube.astype(np.float32)]))


def white(corners: np.ndarray) -> Scene:
    """Without a camera of its own."""
    return places.alone(corners, places.material(0.8)).with_parts(cameras=[])


def codes(scene: Any, device: Any) -> tuple[np.ndarray, np.ndarray]:
    """Luminance of 8-bit codes, means of 3 x 3 pixels, (H - 2, W - 2), and where all nine show the model."""
    renderer = Renderer(scene, device=device, **OPTIONS)
    picture = renderer.render(size=(96, 72), spp=24, layers="instance")
    assert renderer.prepared.lighting.environment.name == "studio"
    windows = sliding_window_view(picture.srgb8() @ LUMINANCE, (3, 3))
    return windows.mean(axis=(2, 3)), sliding_window_view(picture.layers["instance"] >= 0, (3, 3)).all(axis=(2, 3))


def test_white_spans_a_third_of_the_range(device: Any, shared_scenes: Any) -> None:
    """The bunny's from 2 to 98 % of its pixels; not burnt, and in the light brighter than all that is behind it, which
    is light itself."""
    shown, model = codes(raystream.load(shared_scenes / "bunny.ply"), device)
    low, high = np.quantile(shown[model], [0.02, 0.98])
    assert high - low > 256 / 3 and 190 < high < 235 and low > 60
    middle, brightest = np.quantile(shown[~model], [0.5, 0.98])
    assert brightest + 12 < high and middle > 155


def test_white_has_a_light_and_a_dark_side(device: Any) -> None:
    """As seen by the default view: the key is on the left."""
    shown, model = codes(white(places.sphere(4)), device)
    rows, columns = np.nonzero(model)
    left, right = (shown[rows[side], columns[side]] for side in (columns < 40, columns > 55))
    assert left.mean() > right.mean() + 30
    assert np.quantile(shown[model], 0.98) - np.quantile(shown[model], 0.02) > 256 / 3


@pytest.mark.parametrize("size", [LANDSCAPE, PORTRAIT, (48, 48)])
def test_the_model_fills_the_smaller_side(device: Any, size: tuple[int, int]) -> None:
    """Within a pixel to each side, and lies in the middle."""
    renderer = Renderer(shapes(), device=device, program="cast", machine="singlepass")
    hit = renderer.render(size=size, layers="triangle").layers["triangle"] >= 0
    sides = []
    for axis in (0, 1):
        found = np.flatnonzero(hit.any(axis=axis))
        sides.append((found[-1] - found[0] + 1) / hit.shape[1 - axis])
        assert abs(found[0] + found[-1] + 1 - hit.shape[1 - axis]) <= 3
    assert 0.72 <= max(sides) <= 0.8
