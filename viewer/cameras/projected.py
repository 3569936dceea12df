"""The camera of any projection as a module: ``shaders/cameras/``, a file for each kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.camera import Camera
from raystream.scene.projections.models import Equirectangular, Fisheye, Intrinsics, Orthographic
from raystream.stream.declare.kernel import Module

# A camera of every kind, by the shader's name; and those of whose film a part may see nothing.
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
BLIND = frozenset({"fisheye", "brown_conrady", "kannala_brandt"})
PROJECTED = "PROJECTED"  # the feature of all of them; that of those which are blind in part; of those that move
PARTLY_BLIND, KEYS = "BLIND", "CAMERA_KEYS"


def projected_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, Any]:
    """The uniforms for a picture of ``size`` (width, height), but for the pixel filter's and the keys'."""
    projection = camera.model
    half = (size[0] / 2, size[1]) if camera.eyes else size
    lens = camera.aperture if not projection.wide else 0.0
    names = "camera_right", "camera_up", "camera_forward"
    uniforms: dict[str, Any] = {
        "camera_origin": tuple(map(float, camera.origin)),
        **{name: tuple(map(float, axis)) for name, axis in zip(names, camera.basis(), strict=True)},
        "camera_texel": (2.0 / size[0], 2.0 / size[1]),
        "camera_film": projection.film(half),  # type: ignore[arg-type]
        "camera_eyes": camera.eyes or 0.0,
        "camera_lens": lens,
        "camera_nearness": 1.0 / camera.focus_distance if lens > 0 else 0.0,
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
            bent = {"radial": model.radial, "below": model.below, "tangential": model.tangential}
            uniforms |= {f"camera_{name}": value for name, value in bent.items()}
    return uniforms


def projected(kind: str, pixel_filter: int = 0) -> Module:
    """The camera module of a kind, which serves ``camera_ray`` too; its uniforms are set again for every picture."""
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
        features=frozenset({PROJECTED, PARTLY_BLIND} if kind in BLIND else {PROJECTED}),
    )


def projected_rays(
    camera: Camera, size: tuple[int, int], film: ArrayLike, lens: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Origins and unit directions, (N, 3) float64, through places (N, 2) of a picture, pixels, and of the lens's unit
    disc: the twin of ``cameras/projected.glsl``. Directions are NaN where the film sees nothing."""
    origins, directions = camera.unproject(film, size)
    if camera.aperture == 0 or camera.model.wide:
        return origins, directions
    right, up, forward = camera.basis()
    focal_directions = directions / (directions @ forward)[:, None]
    spots = camera.aperture * np.asarray(lens, np.float64)
    offset = spots[:, :1] * right + spots[:, 1:] * up
    focal_directions = focal_directions - offset / camera.focus_distance
    return origins + offset, focal_directions / np.linalg.norm(focal_directions, axis=1, keepdims=True)
