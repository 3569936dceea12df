"""Pictures that would show nothing: of a model, which is told; where no light enters, with lamps; and under lights that
show nothing, with the default sky.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.renderer.renderer import Renderer
from raystream.scene.geometry.triangles import surface_points
from raystream.scene.light import Light
from raystream.stream.gl.stream import Stream

# -- scenes whose own lights show nothing: found out by a picture, and put under the default sky -----------------------

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
    """(rows, columns) where hits of `RayQueries.coarse_hits` are of the scene, and not of its backdrop."""
    with hits.device.current():
        on_scene: NDArray[np.bool_] = hits.fields(("triangle",))["triangle"] >= 0
    return on_scene


# -- pictures that would show nothing of a model -----------------------------------------------------------------------

NOTHING_SEEN = "the picture shows nothing of the model: "
ENCLOSED = "the camera is enclosed and no light enters: a lamp stands at the camera (--environment none for darkness)"
WAYS = 64  # rays from a camera that tell whether it is enclosed


def nothing_seen(renderer: Renderer, size: tuple[int, int]) -> list[str]:
    """A remark where the camera meets nothing of the scene in a picture of ``size``, (width, height), with the reason;
    nothing of scenes without triangles, which are told elsewhere."""
    scene, camera = renderer.scene, renderer.camera
    if not scene.triangle_count:
        return []
    surface = surface_points(scene.meshes, scene.instances)
    if not camera.kind and len(surface.points) and not renderer.prepared.surfaces.alpha:
        right, up, forward = camera.basis()
        away = surface.points - np.asarray(camera.origin)
        tall = float(np.tan(np.radians(camera.fov) / 2))
        ahead = away @ forward
        across, above = np.abs(away @ right) < tall * size[0] / size[1] * ahead, np.abs(away @ up) < tall * ahead
        if (across & above & ((away * surface.normals).sum(axis=1) < 0)).any():
            return []  # surely some of it, or what hides it
    if scene_seen(renderer.ray_queries.coarse_hits(renderer.settings, camera, size)).any():
        return []
    low, high = scene.bounds()
    if not np.isfinite([low, high]).all() or not (high > low).any():
        reason = "it has no extent"
    elif not camera.sees(np.stack([low, high])):
        reason = "it is not before the camera; it is framed without --camera"
    else:
        reason = (
            "the camera looks past it, or at the backs of surfaces that have one side; it is framed without --camera"
        )
    return [f"{NOTHING_SEEN}{reason}"]


def lit_from_within(renderer: Renderer, size: tuple[int, int]) -> list[str]:
    """Put a lamp at a camera that is enclosed by a scene without light, as a small picture tells; a note on it. size :
    of the pictures to come, (width, height)."""
    if not renderer.progressive or renderer.prepared.lighting.listed.lit:
        return []
    scene, camera = renderer.scene, renderer.camera
    low, high = scene.bounds()
    if not ((low < camera.origin) & (camera.origin < high)).all():
        return []
    position = np.add(camera.origin, camera.base)
    if not (renderer.trace(np.tile(position, (WAYS, 1)), _directions(), any_hit=True).triangle >= 0).all():
        return []
    scale = min(1.0, GLANCE / max(size))
    width, height = (max(1, round(side * scale)) for side in size)
    if not black(renderer.render(size=(width, height), spp=GLANCE_SAMPLES).linear):
        return []
    strength = float(np.square(high - low).sum())
    x, y, z = camera.origin
    lamp = Light("point", "lamp at the camera", (x, y, z), intensity=(strength, strength, strength))
    try:
        renderer.update(scene.with_parts(lights=[*scene.lights, lamp]), light=(), classic=False)
    except ViewerError:
        return []
    return [ENCLOSED]


def _directions() -> np.ndarray:
    """(WAYS, 3) unit vectors, evenly spread on a spiral by the golden angle."""
    turns = np.arange(WAYS) + 0.5
    height = 1.0 - 2.0 * turns / WAYS
    around, ring = np.pi * (3.0 - np.sqrt(5.0)) * turns, np.sqrt(1.0 - height * height)
    return np.stack([ring * np.cos(around), height, ring * np.sin(around)], axis=1)
