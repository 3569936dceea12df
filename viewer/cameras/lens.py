"""The camera as a module: a thin lens, of which the pinhole is the one without an aperture, and a pixel filter."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.options.picture import MAX_SHUTTER_KEYS
from raystream.scene.camera import Camera
from raystream.scene.projections import Equirectangular, Fisheye, Intrinsics, Orthographic
from raystream.stream.declare.kernel import Module

# -- the camera of any projection as a module: ``shaders/cameras/``, a file for each kind ------------------------------

# A camera of every kind, by the name of its shader.
KINDS: dict[str, Camera] = {
    camera.kind: camera
    for camera in (
        Camera((0, 0, 0), (0, 0, -1), eyes=0.1),
        Camera((0, 0, 0), (0, 0, -1), projection=Orthographic(1.0)),
        Camera((0, 0, 0), (0, 0, -1), projection=Equirectangular()),
        Camera((0, 0, 0), (0, 0, -1), projection=Fisheye()),
        Camera((0, 0, 0), (0, 0, -1), projection=Intrinsics(1.0, 1.0, 0.0, 0.0, (1, 1))),
        Camera((0, 0, 0), (0, 0, -1), projection=Intrinsics(1.0, 1.0, 0.0, 0.0, (1, 1), fisheye=True)),
    )
}
PARTLY_BLIND_KINDS = frozenset({"fisheye", "brown_conrady", "kannala_brandt"})
# Features of the shaders: of all projections; where a part of the film sees nothing; of cameras that move.
PROJECTED, PARTLY_BLIND, KEYS = "PROJECTED", "BLIND", "CAMERA_KEYS"


def projected_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, Any]:
    """The uniforms of a camera with a projection for a picture of ``size`` (width, height), without those of the pixel
    filter and of motion."""
    projection = camera.model
    eye_size = (size[0] / 2, size[1]) if camera.eyes else size
    aperture = camera.aperture if not projection.wide else 0.0
    names = "camera_right", "camera_up", "camera_forward"
    uniforms: dict[str, Any] = {
        "camera_origin": tuple(map(float, camera.origin)),
        **{name: tuple(map(float, axis)) for name, axis in zip(names, camera.basis(), strict=True)},
        "camera_texel": (2.0 / size[0], 2.0 / size[1]),
        "camera_film": projection.film(eye_size),  # type: ignore[arg-type]
        "camera_eyes": camera.eyes or 0.0,
        "camera_lens": aperture,
        "camera_nearness": 1.0 / camera.focus_distance if aperture > 0 else 0.0,
    }
    if isinstance(projection, Fisheye):
        uniforms["camera_half"] = math.radians(projection.angle) / 2
        uniforms["camera_equisolid"] = int(projection.equisolid)
    elif isinstance(projection, Intrinsics):
        model = projection.model
        uniforms["camera_skew"] = projection.skew / projection.fx
        uniforms["camera_limit"] = model.limit
        if projection.fisheye:
            uniforms["camera_powers"] = model.radial
        else:
            distortion = {"radial": model.radial, "below": model.below, "tangential": model.tangential}
            uniforms |= {f"camera_{name}": value for name, value in distortion.items()}
    return uniforms


def projected(kind: str, pixel_filter: int = 0) -> Module:
    """The camera's module for a ``kind`` of projection; its uniforms are set again for every picture."""
    values = {**projected_uniforms(KINDS[kind], (1, 1)), "camera_filter": pixel_filter}
    types = {int: "int", float: "float"}
    return Module(
        "camera",
        provides=("camera_ray", "camera_sample", "camera_spread", "camera_pixel"),
        source=f"cameras/{kind}.glsl",
        uniforms={
            name: (f"vec{len(value)}" if isinstance(value, tuple) else types[type(value)], value)
            for name, value in values.items()
        },
        features=frozenset({PROJECTED, PARTLY_BLIND} if kind in PARTLY_BLIND_KINDS else {PROJECTED}),
    )


def projected_rays(
    camera: Camera, size: tuple[int, int], film: ArrayLike, lens: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Origins and unit directions, (N, 3) float64, of rays through points ``film`` (N, 2), pixels, and ``lens`` (N,
    2) of the unit disc: the twin of ``cameras/projected.glsl``. Directions are NaN where the film sees nothing."""
    origins, directions = camera.unproject(film, size)
    if camera.aperture == 0 or camera.model.wide:
        return origins, directions
    right, up, forward = camera.basis()
    focal_directions = directions / (directions @ forward)[:, None]
    lens_points = camera.aperture * np.asarray(lens, np.float64)
    offset = lens_points[:, :1] * right + lens_points[:, 1:] * up
    focal_directions = focal_directions - offset / camera.focus_distance
    return origins + offset, focal_directions / np.linalg.norm(focal_directions, axis=1, keepdims=True)


# -- the camera as a module --------------------------------------------------------------------------------------------

# Pixel filters by name: their numbers in lib/filter.glsl.
FILTERS = {"box": 0, "tent": 1, "gaussian": 2, "point": 3}

# The Gaussian's standard deviation along each axis, and the radius where it is cut off, in pixels.
FILTER_SIGMA, FILTER_RADIUS = 0.5, 1.5


def lens_uniforms(camera: Camera, size: tuple[int, int], pixel_filter: str = "box") -> dict[str, object]:
    """The uniforms of a camera's module for a picture of ``size`` (width, height): of lens, pixel filter and motion,
    or of the projection."""
    if camera.kind:
        uniforms = {**projected_uniforms(camera, size), "camera_filter": FILTERS[pixel_filter]}
        return {**uniforms, **_motion_uniforms(camera, size)} if camera.motion else uniforms
    right, up, _ = basis = camera.basis()
    return {
        **camera_uniforms(camera, size, basis),
        "camera_lens_right": tuple(map(float, right * camera.aperture)),
        "camera_lens_up": tuple(map(float, up * camera.aperture)),
        "camera_nearness": 1.0 / camera.focus_distance if camera.aperture > 0 else 0.0,
        "camera_filter": FILTERS[pixel_filter],
        **_motion_uniforms(camera, size),
    }


def _motion_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, object]:
    """The uniforms of a moving camera's keys. Raises ViewerError for more than `MAX_SHUTTER_KEYS`."""
    count = len(camera.motion)
    if not count:
        return {"camera_segments": 0}
    if not 2 <= count <= MAX_SHUTTER_KEYS:
        raise ViewerError(
            f"camera '{camera.name}'", f"moves through {count} keys", f"2 to {MAX_SHUTTER_KEYS} are known"
        )
    rows = []
    for key in camera.motion:
        axes = projected_uniforms(key, size) if camera.kind else camera_uniforms(key, size)
        has_lens = camera.aperture > 0 and not camera.model.wide
        rows.append((*axes["camera_origin"], 1.0 / key.focus_distance if has_lens else 0.0))
        rows += [(*axes[f"camera_{name}"], 0.0) for name in ("forward", "right", "up")]
    rows += [(0.0, 0.0, 0.0, 0.0)] * (4 * (MAX_SHUTTER_KEYS - count))
    return {"camera_segments": count - 1, "camera_keys": tuple(rows)}


def thin_lens(camera: Camera, size: tuple[int, int] = (1, 1), pixel_filter: str = "box") -> Module:
    """The module of a pinhole or thin lens; its uniforms are set again for every picture."""
    values = lens_uniforms(replace(camera, motion=(), projection=None, eyes=None), size, pixel_filter)
    del values["camera_segments"]
    types = {int: "int", float: "float"}
    return Module(
        "camera",
        provides=("camera_ray", "camera_sample", "camera_spread", "camera_pixel"),
        source="shading/thin_lens.glsl",
        uniforms={
            name: (f"vec{len(value)}" if isinstance(value, tuple) else types[type(value)], value)
            for name, value in values.items()
        },
    )


def moving_lens(still: Module) -> Module:
    """The module of a camera that may move while the shutter is open. still : of `thin_lens` or `projected`."""
    rows = 4 * MAX_SHUTTER_KEYS
    keys = {"camera_segments": ("int", 0), "camera_keys": (f"vec4[{rows}]", ((0.0, 0.0, 0.0, 0.0),) * rows)}
    uniforms = {**still.uniforms, **keys}
    if PROJECTED in still.features:
        return replace(still, uniforms=uniforms, features=still.features | {KEYS})
    return replace(still, source="shading/thin_lens_moving.glsl", uniforms=uniforms)


def filter_offsets(pixel_filter: str, u: ArrayLike) -> NDArray[np.float64]:
    """Offsets (N, 2) from the pixel's centre, in pixels, of random numbers (N, 2): the twin of ``filter_offset``. box:
    width 1. tent: radius 1. gaussian: standard deviation `FILTER_SIGMA`, cut off at the radius `FILTER_RADIUS`. point:
    the centre."""
    u = np.asarray(u, np.float64)
    if pixel_filter == "tent":
        return np.where(u < 0.5, np.sqrt(2 * u) - 1, 1 - np.sqrt(np.maximum(2 - 2 * u, 0)))
    if pixel_filter == "gaussian":
        mass = -np.expm1(-(FILTER_RADIUS**2) / (2 * FILTER_SIGMA**2))
        radius, angle = FILTER_SIGMA * np.sqrt(-2 * np.log1p(-mass * u[:, 0])), 2 * np.pi * u[:, 1]
        return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.zeros_like(u) if pixel_filter == "point" else u - 0.5


def concentric_disc(u: ArrayLike) -> NDArray[np.float64]:
    """Points (N, 2) of the unit disc from (N, 2) in [0, 1)^2: the twin of ``lib/disc.glsl``."""
    x, y = (2 * np.asarray(u, np.float64) - 1).T
    x_dominates = np.abs(x) > np.abs(y)
    radius, other = np.where(x_dominates, x, y), np.where(x_dominates, y, x)
    angle = np.pi / 4 * other / np.where(radius == 0, 1, radius)
    angle = np.where(x_dominates, angle, np.pi / 2 - angle)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def lens_rays(
    camera: Camera, size: tuple[int, int], pixels: ArrayLike, film_u: ArrayLike, lens_u: ArrayLike, pixel_filter: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Origins and unit directions, (N, 3) float64, of samples: the twin of ``camera_sample``. size : (width, height).
    pixels, film_u, lens_u : (N, 2)."""
    if camera.kind:
        film = np.asarray(pixels) + 0.5 + filter_offsets(pixel_filter, film_u)
        return projected_rays(camera, size, film, concentric_disc(lens_u))
    right, up, forward = camera.basis()
    slope, (width, height) = np.tan(np.radians(camera.fov) / 2), size
    film = np.asarray(pixels) + 0.5 + filter_offsets(pixel_filter, film_u)
    x, y = (2 * film[:, 0] / width - 1) * slope * (width / height), (1 - 2 * film[:, 1] / height) * slope
    focus = camera.focus_distance * (forward + x[:, None] * right + y[:, None] * up)
    lens = camera.aperture * concentric_disc(lens_u)
    offset = lens[:, :1] * right + lens[:, 1:] * up
    direction = focus - offset
    return np.asarray(camera.origin) + offset, direction / np.linalg.norm(direction, axis=1, keepdims=True)


Basis = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
BACKGROUND = (0.05, 0.05, 0.06)  # linear sRGB: dark, so that silhouettes of headlit models stand out


def camera_uniforms(camera: Camera, size: tuple[int, int], basis: Basis | None = None) -> dict[str, tuple[float, ...]]:
    """The pinhole's uniforms for a picture of ``size`` (width, height). basis : the camera's, where it is known."""
    right, up, forward = basis or camera.basis()
    tangent = math.tan(math.radians(camera.fov) / 2)
    width, height = size
    return {
        "camera_origin": tuple(map(float, camera.origin)),
        "camera_forward": tuple(map(float, forward)),
        "camera_right": tuple(map(float, np.asarray(right) * tangent * width / height)),
        "camera_up": tuple(map(float, np.asarray(up) * tangent)),
        "camera_texel": (2.0 / width, 2.0 / height),
    }


def constant_environment(color: tuple[float, float, float] = BACKGROUND) -> Module:
    """The module of an environment of one radiance, linear sRGB, in all directions."""
    return Module(
        "constant environment",
        provides=("environment_radiance",),
        source="shading/constant_environment.glsl",
        uniforms={"environment_color": ("vec3", color)},
    )
