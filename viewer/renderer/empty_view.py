"""Pictures that would show nothing: remarks where the model is out of view, a lamp for a camera in a closed room, and
the default sky for lights that show nothing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.renderer.renderer import Renderer
from raystream.scene.geometry.triangles import surface_points
from raystream.scene.light import Light
from raystream.stream.gl.stream import Stream

# -- scenes whose own lights show nothing, by a small picture: the default sky --------------------------------------

FILLED = "the scene's own lights show nothing here: it stands under the default sky (--environment none for darkness)"
PROBE_SIDE, PROBE_SAMPLES = 48, 4  # longer side in pixels, and samples, of the picture that a scene is judged by
FILTER_REACH = 1.5  # pixels within which samples count for a pixel
MAX_LIT_SHARE = 0.005  # of the pixels of a picture that counts as black


def add_default_sky(renderer: Renderer, size: tuple[int, int]) -> list[str]:
    """Give the renderer the default sky where the scene's own lights, its only ones, show nothing in a small picture.
    size : of the pictures to come, (width, height). Returns notes for the user."""
    if not renderer.prepared.lighting.only_own_lights or not renderer.progressive:
        return []
    scale = min(1.0, PROBE_SIDE / max(size))
    width, height = (max(1, round(side * scale)) for side in size)
    if not shows_nothing(renderer, renderer.render(size=(width, height), spp=PROBE_SAMPLES).linear):
        return []
    renderer.update(environment="sky")
    return [FILLED]


def shows_nothing(renderer: Renderer, linear: NDArray[np.float32]) -> bool:
    """Whether the scene is black in its picture (H, W, 3), which the renderer has just made; its backdrop aside."""
    foreground = None
    if renderer.prepared.lighting.backdrop is not None:
        foreground = shows_scene(
            renderer.ray_queries.coarse_hits(renderer.settings, renderer.camera, (linear.shape[1], linear.shape[0]))
        )
    return is_black(linear, foreground)


def is_black(linear: NDArray[np.float32], foreground: NDArray[np.bool_] | None = None) -> bool:
    """Whether at most `MAX_LIT_SHARE` of a picture (H, W, 3) has any light, so that no exposure helps.

    foreground : (rows, columns) of `shows_scene`, a grid over the picture: whether the scene is in the middle of a
    cell, and not the backdrop, whose light does not count. None: there is no backdrop.
    """
    if foreground is not None:
        inner = _interior(foreground, linear.shape[:2])
        if foreground.any() and float(inner.mean()) <= MAX_LIT_SHARE:
            return False  # the scene is finer than pixels: every pixel has light of the backdrop, too
        sides = zip(foreground.shape, linear.shape[:2], strict=True)
        rows, columns = ((2 * np.arange(n) + 1) * side // (2 * n) for n, side in sides)
        linear = linear[rows[:, None], columns] * inner[..., None]
    red, green, blue = (linear[..., channel] > 0 for channel in range(3))  # far faster than a reduction by threes
    return float((red | green | blue).mean()) <= MAX_LIT_SHARE


def _interior(foreground: NDArray[np.bool_], size: tuple[int, ...]) -> NDArray[np.bool_]:
    """(rows, columns): the cells of ``foreground`` without backdrop within `FILTER_REACH` pixels of a picture of
    ``size`` (height, width)."""
    for axis in (0, 1):
        reach, inner = math.ceil(FILTER_REACH * foreground.shape[axis] / size[axis]), foreground.copy()
        shifted, source = np.moveaxis(inner, axis, 0), np.moveaxis(foreground, axis, 0)
        for step in range(1, min(reach + 1, len(source))):  # outside the picture there is no backdrop
            shifted[step:] &= source[:-step]
            shifted[:-step] &= source[step:]
        foreground = inner
    return foreground


def shows_scene(hits: Stream) -> NDArray[np.bool_]:
    """(rows, columns): where hits of `RayQueries.coarse_hits` are on the scene, and not its backdrop."""
    with hits.device.current():
        on_scene: NDArray[np.bool_] = hits.fields(("triangle",))["triangle"] >= 0
    return on_scene


# -- pictures that would show nothing of a model -----------------------------------------------------------------------

NOTHING_SEEN = "the picture shows nothing of the model: "
ENCLOSED = "the camera is enclosed and no light enters: a lamp stands at the camera (--environment none for darkness)"
PROBE_RAYS = 64  # from a camera; it is enclosed where all of them hit


def model_out_of_view(renderer: Renderer, size: tuple[int, int]) -> list[str]:
    """A remark with the reason where the camera sees nothing of the scene in a picture of ``size`` (width, height).
    Empty where it sees something, and for scenes without triangles, which have a remark of their own."""
    scene, camera = renderer.scene, renderer.camera
    if not scene.triangle_count:
        return []
    surface = surface_points(scene.meshes, scene.instances)
    if not camera.kind and len(surface.points) and not renderer.prepared.surfaces.alpha:
        right, up, forward = camera.basis()
        offsets = surface.points - np.asarray(camera.origin)
        half_height = float(np.tan(np.radians(camera.fov) / 2))  # of the picture, at distance 1
        depth = offsets @ forward
        in_width = np.abs(offsets @ right) < half_height * size[0] / size[1] * depth
        in_height = np.abs(offsets @ up) < half_height * depth
        if (in_width & in_height & ((offsets * surface.normals).sum(axis=1) < 0)).any():
            return []  # a front faces the camera: that, or what hides it, is in view
    if shows_scene(renderer.ray_queries.coarse_hits(renderer.settings, camera, size)).any():
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


def add_camera_lamp(renderer: Renderer, size: tuple[int, int]) -> list[str]:
    """Put a lamp at the camera where a scene without light encloses it and a small picture is black. size : of the
    pictures to come, (width, height). Returns notes for the user."""
    if not renderer.progressive or renderer.prepared.lighting.listed.lit:
        return []
    scene, camera = renderer.scene, renderer.camera
    low, high = scene.bounds()
    if not ((low < camera.origin) & (camera.origin < high)).all():
        return []
    position = np.add(camera.origin, camera.base)
    if not (renderer.trace(np.tile(position, (PROBE_RAYS, 1)), _directions(), any_hit=True).triangle >= 0).all():
        return []
    scale = min(1.0, PROBE_SIDE / max(size))
    width, height = (max(1, round(side * scale)) for side in size)
    if not is_black(renderer.render(size=(width, height), spp=PROBE_SAMPLES).linear):
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
    """(PROBE_RAYS, 3) unit vectors, evenly spread on a spiral by the golden angle."""
    index = np.arange(PROBE_RAYS) + 0.5
    height = 1.0 - 2.0 * index / PROBE_RAYS
    azimuth, radius = np.pi * (3.0 - np.sqrt(5.0)) * index, np.sqrt(1.0 - height * height)
    return np.stack([radius * np.cos(azimuth), height, radius * np.sin(azimuth)], axis=1)
