"""The records of rays, hits and pictures that the kernels share."""

from __future__ import annotations

from raystream.stream.declare.kernel import ModuleState
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

PIXEL = Record("Pixel", Field("at", "ivec2", "pixels", "picture", "column and row, row 0 at the top", within=SMALL))

FAR = 3.4e38  # t_max of rays without an end, and the largest weight of a light; also shaders/lib/far.glsl

# Of RAY.any_hit, above the sample's number: a ray that the camera sees along, which passes through back faces that are
# culled; also shaders/lib/ray_tag.glsl.
RAY_VIEW = 1 << 17

RAY = Record(
    "Ray",
    Field("origin", "vec3", "scene units", "world"),
    Field("t_max", "float", "scene units", about="hits at this distance or beyond do not count"),
    Field("direction", "vec3", "unit length", "world"),
    Field(
        "any_hit",
        "int",
        about="bit 0: the first hit found will do; above: the sample's number, where hits pass at random",
    ),
)

BOX_ENTRY = Record(
    "BoxEntry", Field("t", "float", "scene units", about="distance along the unit ray to where it enters the box")
)

HIT = Record(
    "Hit",
    Field("t", "float", "scene units", about="distance along the unit ray; the ray's t_max while nothing is hit"),
    Field("barycentric", "vec2", about="weights of the triangle's second and third corner"),
    Field("triangle", "int", about="number within its instance, in the mesh's order; -1: nothing is hit", within=ROWS),
    Field("instance", "int", about="of a two-level structure; 0 where the scene is one flat object", within=ROWS),
)

RADIANCE = Record("Radiance", Field("rgb", "vec3", "linear sRGB"))

PATH = Record(
    "Path",
    Field("throughput", "vec3", about="what a radiance at the path's end adds to the pixel, as a factor"),
    Field(
        "pdf",
        "float",
        "1 / sr",
        about="of the last direction; 0: no light could have been sampled for it; -1: nor for this one, of a path that "
        "has scattered before",
    ),
    Field("depth", "int", about="surfaces that the path has left", within=SMALL),
    Field("number", "int", about="of the sample; of gathering paths below zero: shaders/lib/gather_number.glsl"),
    Field("cone", "vec2", about="how much wider the ray is for each unit of distance, and a factor of its width"),
)

# The volumes that a ray is within; an empty record where none overlap (`raystream.materials.media`).
MEDIA = ModuleState("Media")

# What the choice of a light depends on, of the surface that a path has left; empty where lights are chosen by power.
LIGHT_CONTEXT = ModuleState("LightContext")

FILM = Record(
    "Film",
    Field("sum", "vec3", "linear sRGB", about="of the samples"),
    Field("count", "float", about="of the samples"),
    Field("compensation", "vec3", "linear sRGB", about="what the sum has lost to rounding"),
    Field("square", "float", about="sum of the squared deviations of the samples' luminance from their mean"),
)

HALF = Record(
    "Half",
    Field("sum", "float", "linear sRGB", about="luminance of the first samples' sum, of as many as a power of two"),
    Field("count", "float", about="of these samples"),
)

FEATURES = Record(
    "Features",
    Field("normal", "vec3", "", "world", "sum of the shading normals, on the ray's side; a ray without a hit adds 0"),
    Field("depth", "float", "scene units", about="sum of the distances along the unit rays that hit"),
    Field("albedo", "vec3", "linear sRGB", about="sum; a ray without a hit adds 0"),
    Field("hits", "float", about="of the samples; of each blended surface along a ray what it covers"),
    Field("emission", "vec3", "linear sRGB", about="sum of what comes from lights and surroundings themselves"),
    Field("count", "float", about="of the samples"),
    Field("triangle", "int", about="of the last sample's hit, as of `HIT`; -1: nothing is hit", within=ROWS),
    Field(
        "instance", "int", about="of the last sample's hit, as of `HIT`; -1: a floor before the backdrop", within=ROWS
    ),
    Field("surface", "int", about="hash of the first hit's instance and material; 0: that floor", within=SMALL),
    Field("alike", "float", about="hits of that surface"),
)

SURFACE = Record(
    "Surface",
    Field("normal", "vec3", "unit length", "world", "shading normal, on the ray's side"),
    Field("albedo", "vec3", "linear sRGB"),
    Field("material", "int", about="twice the address of its material; and 1 where a texture makes it metal"),
)

TRIANGLE = Record(
    "Triangle",
    Field("a", "vec3", "scene units", "world"),
    Field("b", "vec3", "scene units", "world"),
    Field("c", "vec3", "scene units", "world"),
    Field("number", "int", about="of the triangle: tables need not lie in the scene's order", within=ROWS),
)

FACE = Record(
    "Face",
    Field("corners", "ivec3", about="addresses of its vertices", within=ROWS),
    Field("material", "int", about="address of its material", within=ROWS),
)

VERTEX = Record(
    "Vertex",
    Field("position", "vec3", "scene units", "world"),
    Field("normal", "vec3", "unit length", "world"),
    Field("color", "vec3", "linear sRGB"),
    Field("uv", "vec2"),
)

MATERIAL = Record(
    "Material",
    Field("base_color", "vec3", "linear sRGB", about="diffuse albedo, or tint of a mirror or of transmission"),
    Field("kind", "int", about="BSDF_LAMBERT and so on", within=SMALL),
    Field("emission", "vec3", "W / (m^2 sr), linear sRGB", about="from the front face"),
    Field("parameter", "float", about="dielectric: ratio of the indices inside / outside; Phong: exponent"),
    Field(
        "specular", "float", about="Phong: reflectance of the lobe; dielectric: half spread of the channels' indices"
    ),
    Field("light_density", "float", "1 / area", about="with which a point of this surface is chosen as a light"),
    Field("texture", "int", about="address of the base colour's texture, -1: none", within=ROWS),
    Field("emission_texture", "int", about="address of the emission's texture, -1: none", within=ROWS),
    Field("reflectivity", "float", about="Phong: reflectance as of a mirror"),
    Field("sides", "int", about="that emit: 1, the front, or 2", within=SMALL),
    Field("unlit", "int", about="1 where it shines by its colour", within=SMALL),
)

TEXTURE = Record(
    "Texture",
    Field("level", "int", about="address of its image's largest level", within=ROWS),
    Field("last", "int", about="number of its smallest level; 0: there is one", within=SMALL),
    Field("wrap", "ivec2", about="0: repeat, 1: mirrored repeat, 2: clamp to edge; across and down", within=SMALL),
    Field("transform_u", "vec3", about="u of the image = dot(transform_u, (u, v, 1))"),
    Field("flags", "int", about="bits: TEXTURE_NEAREST and so on", within=SMALL),
    Field("transform_v", "vec3", about="v of the image = dot(transform_v, (u, v, 1))"),
    Field("detail", "float", about="log2 of the texels along the side of a unit square of texture coordinates"),
)

TEXTURE_LEVEL = Record(
    "TextureLevel",
    Field("start", "ivec2", "texels", about="where it begins: block, and place in it"),
    Field("size", "ivec2", "texels", within=SMALL),
)

GEOMETRY = Record(
    "Geometry",
    Field("position", "vec3", "scene units", "world"),
    Field("error", "float", "scene units", about="bound of the rounding error of each coordinate of the position"),
    Field("normal", "vec3", "unit length", "world", "geometric, on the front side (counter-clockwise corners)"),
    Field("shading", "vec3", "unit length", "world", "interpolated vertex normal"),
    Field("color", "vec3", "linear sRGB", about="interpolated vertex colour"),
    Field("uv", "vec3", about="texture coordinates, and log2 of their change per scene unit along the surface"),
    Field("material", "int", about="address of its material", within=ROWS),
)

INTERACTION = Record(
    "Interaction",
    Field("position", "vec3", "scene units", "world"),
    Field(
        "error",
        "float",
        "scene units",
        about="bound of the rounding error of each coordinate of the position; below zero: which is above the surface, "
        "shaders/lib/smooth_lift.glsl",
    ),
    Field("normal", "vec3", "unit length", "world", "geometric, on the front side"),
    Field("parameter", "float", about="as in Material"),
    Field("shading", "vec3", "unit length", "world", "shading normal, on the front side"),
    Field("specular", "float", about="as in Material"),
    Field("albedo", "vec3", "linear sRGB", about="base colour times vertex colour and texel"),
    Field("kind", "int", about="BSDF_LAMBERT and so on", within=SMALL),
    Field("wo", "vec3", "unit length", "world", "to where the path came from"),
    Field(
        "reflectivity", "float", about="as in Material; dielectric: 1 and -1 make it refract and reflect for certain"
    ),
)

# Streams hold what the scene's surfaces need of it: `INTERACTION`, or more (`raystream.materials.surface_features`).
SCENE_INTERACTION = ModuleState(INTERACTION.name)

LIGHT_SAMPLE = Record(
    "LightSample",
    Field("direction", "vec3", "unit length", "world", "towards the light"),
    Field("distance", "float", "scene units"),
    Field("weight", "vec3", "linear sRGB", about="radiance / density; of a light without extent its irradiance"),
    Field("pdf", "float", "1 / sr", about="for multiple importance sampling; 0: no other way finds this light"),
)
