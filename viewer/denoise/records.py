"""The records of the denoiser's streams, a texel each: a filter reads many of them for every pixel."""

from __future__ import annotations

from raystream.stream.declare.record import Field, Record, rows_of

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
    *rows_of("row", "vec4", "the map from a place relative to the eye to where it was, relative to the eye then"),
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
