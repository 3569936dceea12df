"""Pictures that would show nothing of a model: told, and lamps where no light enters."""

from __future__ import annotations

import numpy as np

from raystream.base.errors import ViewerError
from raystream.renderer.fallback_sky import GLANCE, GLANCE_SAMPLES, black, scene_seen
from raystream.renderer.renderer import Renderer
from raystream.scene.geometry.triangles import surface_points
from raystream.scene.light import Light

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
    if not camera.kind and len(surface.points) and not renderer.prepared.look.alpha:
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
    place = np.add(camera.origin, camera.base)
    if not (renderer.trace(np.tile(place, (WAYS, 1)), _directions(), any_hit=True).triangle >= 0).all():
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
