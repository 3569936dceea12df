"""The records of the denoiser's streams, a texel each: a filter reads many of them for every pixel."""

from __future__ import annotations

from viewer.stream.declare.record import Field, Record

_GUIDE = (
    Field(
        "normal", "vec3", "", "world", "mean of the samples' shading normals: where some leave the scene it is short"
    ),
    Field("nearness", "float", "1 / scene units", about="1 / depth along the view's axis; 0: no sample hits anything"),
)
_LIGHT = (
    Field("rgb", "vec3", "linear sRGB", about="mean of the samples, divided by what the pixel reflects"),
    Field("variance", "float", about="of its luminance; below 0: not known"),
)
IRRADIANCE = Record("Irradiance", *_LIGHT)
LIT = Record("Lit", *_GUIDE, *_LIGHT)  # light, and the surface that it is seen on
