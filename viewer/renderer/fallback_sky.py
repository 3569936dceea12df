"""Scenes whose own lights show nothing: found out by a picture, and put under the default sky."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer
from raystream.stream.gl.stream import Stream

FILLED = "the scene's own lights show nothing here: it stands under the default sky (--environment none for darkness)"
GLANCE, GLANCE_SAMPLES = 48, 4  # longer side and samples of the picture that tells whether a scene is black
MIXED = 1.5  # pixels, from whose samples a pixel has its light
SEEN = 0.005  # of the pixels of a black picture have any light, at most


def brightened(renderer: Renderer, size: tuple[int, int]) -> list[str]:
    """Put a scene under the default sky whose own lights alone shine, and show nothing to its camera, as a small
    picture tells; a note on it. size : of the pictures to come, (width, height)."""
    if not renderer.prepared.lighting.own_alone or not renderer.progressive:
        return []
    scale = min(1.0, GLANCE / max(size))
    width, height = (max(1, round(side * scale)) for side in size)
    if not shows_nothing(renderer, renderer.render(size=(width, height), spp=GLANCE_SAMPLES).linear):
        return []
    renderer.update(environment="sky")
    return [FILLED]


def shows_nothing(renderer: Renderer, linear: NDArray[np.float32]) -> bool:
    """Whether next to nothing of the scene has any light in its picture (H, W, 3). A backdrop does not count."""
    foreground = None
    if renderer.prepared.lighting.backdrop is not None:
        foreground = scene_seen(
            renderer.ray_queries.coarse_hits(renderer.settings, renderer.camera, (linear.shape[1], linear.shape[0]))
        )
    return black(linear, foreground)


def black(linear: NDArray[np.float32], foreground: NDArray[np.bool_] | None = None) -> bool:
    """Whether next to nothing in a picture (H, W, 3) has any light, so that no exposure helps.

    foreground : (rows, columns) whether the scene is what the middle of each of that many equal parts shows, as of
    `scene_seen`: light of a backdrop does not count. None: there is no backdrop.
    """
    if foreground is not None:
        inner = _inner(foreground, linear.shape[:2])
        if foreground.any() and float(inner.mean()) <= SEEN:
            return False  # what is finer than pixels is before its backdrop everywhere
        sides = zip(foreground.shape, linear.shape[:2], strict=True)
        rows, columns = ((2 * np.arange(n) + 1) * side // (2 * n) for n, side in sides)
        linear = linear[rows[:, None], columns] * inner[..., None]
    red, green, blue = (linear[..., channel] > 0 for channel in range(3))  # far faster than a reduction by threes
    return float((red | green | blue).mean()) <= SEEN


def _inner(foreground: NDArray[np.bool_], size: tuple[int, ...]) -> NDArray[np.bool_]:
    """The parts of a picture of ``size`` (height, width) of which no pixel within `MIXED` shows its backdrop."""
    for axis in (0, 1):
        reach, inner = math.ceil(MIXED * foreground.shape[axis] / size[axis]), foreground.copy()
        shifted, source = np.moveaxis(inner, axis, 0), np.moveaxis(foreground, axis, 0)
        for step in range(1, min(reach + 1, len(source))):  # beyond the edge nothing is known of a backdrop
            shifted[step:] &= source[:-step]
            shifted[:-step] &= source[step:]
        foreground = inner
    return foreground


def scene_seen(hits: Stream) -> NDArray[np.bool_]:
    """(rows, columns) where hits of `raystream.Renderer.coarse_hits` are of the scene, and not of its backdrop."""
    with hits.device.current():
        found: NDArray[np.bool_] = hits.fields(("triangle",))["triangle"] >= 0
    return found
