"""Shared by the denoiser's passes: the records of their streams, a texel each, for a filter reads many of them for
every pixel; and the view of a picture's pixels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import moderngl
import numpy as np

from raystream.scene.camera import Camera
from raystream.scene.projections import Orthographic
from raystream.stream.declare.record import Field, Record, matrix_rows
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream

# -- the view of a picture's pixels, for passes ------------------------------------------------------------------------
# Of a pinhole by three vectors, else by a map of the projection's rays.

VIEW_RAY = Record("ViewRay", Field("direction", "vec3", "", "camera", "unit length; 0 where the film sees nothing"))
NODES = 129  # of the map along a side, from edge to edge of the film: within 1e-4 of rays all around
MAPPED = ("VIEW_MAP",)
NO_PAIR = 1e9, 0.0


@dataclass(frozen=True)
class PassView:
    """A pass's inputs of the view: uniforms and streams, and the form of its shader."""

    uniforms: Mapping[str, Any]
    streams: Mapping[str, Stream] = field(default_factory=dict)
    features: tuple[str, ...] = ()

    def lattice(self, stride: int) -> PassView:
        """Likewise of a lattice's points: every ``stride``-th pixel of a row and a column, from the first on."""
        steps = ("view_dx", "view_dy", "view_start_dx", "view_start_dy")
        uniforms = {k: tuple(stride * x for x in v) if k in steps else v for k, v in self.uniforms.items()}
        if self.features:
            x, y, dx, dy = uniforms["view_place"]
            uniforms["view_place"] = x, y, stride * dx, stride * dy
            uniforms["view_pair"] = tuple(place / stride for place in uniforms["view_pair"])
        return PassView(uniforms, self.streams, self.features)


class Views:
    """The views of one device's passes; the context must be current in every call. The map of a projection is held, and
    serves pictures of any size of one shape."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._map: Stream | None = None
        self._of: tuple[Any, ...] = ()

    def of(self, camera: Camera, size: tuple[int, int]) -> PassView:
        """The view of a picture of ``size`` (width, height)."""
        if not camera.kind:
            return PassView(view_uniforms(camera, size))
        pair = 2 if camera.eyes else 1
        half = size[0] / pair, size[1]
        model = camera.with_picture_size(size).model
        if self._of != (model, pair, half[0] / half[1]):
            self._draw(camera, size)
            self._of = model, pair, half[0] / half[1]
        assert self._map is not None
        inner, (right, up, forward) = (NODES - 1) / NODES, camera.basis()
        step = [inner / side for side in half]
        start = np.zeros(2)
        if isinstance(model, Orthographic):
            film = model.film(half)  # type: ignore[arg-type]
            start = 2 * np.array([film[0] / half[0], film[1] / half[1]])
        uniforms = {
            "view_axes": tuple(float(each) for axis in (right, up, forward) for each in axis),
            "view_place": (*(0.5 * each + 0.5 / NODES for each in step), *step),
            "view_start_dx": tuple(map(float, start[0] * right)),
            "view_start_dy": tuple(map(float, -start[1] * up)),
            "view_pair": (half[0] - 0.5, half[0]) if camera.eyes else NO_PAIR,
        }
        return PassView(uniforms, {"view": self._map}, MAPPED)

    def _draw(self, camera: Camera, size: tuple[int, int]) -> None:
        """The map of a camera, in its own space; of a pair that of one eye."""
        if self._map is None:
            self._map = Stream(self.device, VIEW_RAY, (NODES, NODES))
            self._map.textures[0].filter = (moderngl.LINEAR, moderngl.LINEAR)
        eye = camera.with_picture_size(size).with_lens(0.0)
        if eye.eyes:
            eye, size = eye.with_projection(eye.projection, 0.0), (size[0] / 2, size[1])  # type: ignore[assignment]
        x, y = np.meshgrid(*[np.linspace(0.0, side, NODES) for side in size])
        _, directions = eye.unproject(np.stack([x, y], axis=-1), size)
        texels = np.zeros((NODES, NODES, 4), np.float32)
        texels[..., :3] = np.nan_to_num(directions @ np.array(camera.basis()).T).reshape(NODES, NODES, 3)
        self._map.write_texels([texels])

    def release(self) -> None:
        """Free the map."""
        if self._map is not None:
            self._map.release()
        self._map, self._of = None, ()


def view_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, tuple[float, ...]]:
    """The uniforms of ``shaders/film/denoise/view.glsl``, of a pinhole and for a picture of ``size`` (width,
    height)."""
    right, up, forward = (np.asarray(axis, np.float64) for axis in camera.basis())
    tangent, (width, height) = math.tan(math.radians(camera.fov) / 2), size
    dx, dy = right * (2 * tangent / height), -up * (2 * tangent / height)
    corner = forward - dx * (width - 1) / 2 - dy * (height - 1) / 2
    names = "view_corner", "view_dx", "view_dy"
    return {name: tuple(map(float, value)) for name, value in zip(names, (corner, dx, dy), strict=True)}


# -- the records of the denoiser's streams, a texel each ---------------------------------------------------------------

_GUIDE = (
    Field(
        "normal", "vec3", "", "world", "mean of the samples' shading normals: where some leave the scene it is short"
    ),
    Field("nearness", "float", "1 / scene units", about="1 / depth along the view's axis; 0: no sample hits anything"),
)
_LIGHT = (
    Field("rgb", "vec3", "linear sRGB", about="mean of the samples, divided by what the pixel reflects"),
    Field(
        "variance",
        "float",
        about="of its luminance, below 0: not known; in its low bits the surface, see surface.glsl",
    ),
)
IRRADIANCE = Record("Irradiance", *_LIGHT)
LIT = Record("Lit", *_GUIDE, *_LIGHT)  # light, and the surface that it is seen on
RESIDUAL = Record(
    "Residual",
    Field("rgb", "vec3", "linear sRGB", about="what the light so far lacks, and noise"),
    Field("variance", "float", about="of its luminance; below 0: not known"),
    Field("light", "vec3", "linear sRGB", about="so far"),
    Field("error", "float", about="of its luminance, squared"),
)

BLOCK_MOMENTS = Record(  # of the light of a block of pixels, but for the brightest one
    "BlockMoments",
    Field("count", "float", about="pixels with a surface"),
    Field("sum", "float", about="of their luminances"),
    Field("squares", "float", about="sum of these"),
)
MOMENTS = Record(  # of the pixels around: means, and of the luminance's mean the variance
    "Moments",
    *_LIGHT,
    *_GUIDE,
    Field("squares", "vec4", about="xx, xy, xz and yy of the normals"),
    Field("product", "float", about="yz of the normals"),
    Field("lit_normal", "vec3", about="normal times luminance"),
)
RELIEF = Record(  # light of a normal: rgb (base + gradient . normal)
    "Relief",
    *_LIGHT,
    Field("gradient", "vec3", "", "world", "of the luminance by the normal, relative to its mean"),
    Field("base", "float", about="relative luminance of no normal"),
)

HISTORY = Record(
    "History",
    *LIT.fields,
    Field("first", "float", about="mean of the pictures' luminances so far"),
    Field("second", "float", about="and of their squares"),
    Field("age", "float", about="samples of a pixel that it stands for"),
    Field("instance", "int", about="what is seen, as of `HIT`; -1: nothing"),
)

MOTION = Record(
    "Motion",
    *matrix_rows("row", "vec4", "the map from a place relative to the eye to where it was, relative to the eye then"),
    Field("first", "int", about="of the instances, or under a flat structure of the triangles, that have moved so"),
    Field("end", "int", about="the one after the last of them"),
)

POINT = Record(  # a vertex of a deforming object
    "Point",
    Field("position", "vec3", "scene units", "object"),
    Field("normal", "vec3", "unit length", "object"),
)

FLOW = Record(  # of the point that a pixel sees on a deforming object
    "Flow",
    Field("shift", "vec3", "scene units", "world", "to where it was in the pose before, as its instance stands now"),
    Field("normal_change", "vec3", "", "world", "from its unit normal to that of then"),
)
