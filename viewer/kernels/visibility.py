"""Steps that find how much of a surface's light and of its hemisphere is open: the twins of ``shaders/kernels/``."""

from __future__ import annotations

from viewer.kernels.records import FILM, HIT, MEDIA, PATH, PIXEL, RADIANCE, RAY, SCENE_INTERACTION
from viewer.stream.declare.kernel import IN, INOUT, OUT, Kernel
from viewer.stream.declare.record import Field, Record

VISIBILITY = Record(
    "Visibility",
    Field("light", "float", "linear sRGB", about="sum of the luminances that lights sampled would bring unhidden"),
    Field("hidden", "float", "linear sRGB", about="of these what something is in the way of"),
    Field("near", "float", about="of the samples, those whose ray into the hemisphere meets something near"),
    Field("count", "float", about="of the samples"),
)

BEGIN_VISIBILITY = Kernel(
    "begin_visibility",
    (
        IN("pixel", PIXEL),
        IN("film", FILM),
        IN("visibility", VISIBILITY),
        OUT("path", PATH),
        OUT("media", MEDIA),
        OUT("radiance", RADIANCE),
        OUT("ray", RAY),
    ),
    exits=("ray", "done"),
    needs=("path_settings", "camera_sample", "sample_2d", "cone_of_pixel", "media_of"),
)
WEIGH_SHADOW = Kernel(
    "weigh_shadow",
    (IN("hit", HIT), IN("pending", RADIANCE), INOUT("visibility", VISIBILITY)),
    exits=("done",),
)
OCCLUSION_RAY = Kernel(
    "occlusion_ray",
    (IN("pixel", PIXEL), IN("interaction", SCENE_INTERACTION), IN("path", PATH), OUT("ray", RAY)),
    exits=("ray",),
    needs=("sample_2d", "surface_dimension", "path_settings", "occlusion_settings"),
)
WEIGH_OCCLUSION = Kernel("weigh_occlusion", (IN("hit", HIT), INOUT("visibility", VISIBILITY)), exits=("done",))
FINISH_VISIBILITY = Kernel(
    "finish_visibility", (IN("film", FILM), INOUT("visibility", VISIBILITY)), exits=("again", "done")
)
