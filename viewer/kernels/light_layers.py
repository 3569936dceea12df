"""Steps that keep a path's light apart by its way from the first surface: the twins of ``shaders/kernels/``.

They stand between the steps of path tracing, which know nothing of them: these leave light in the stream ``portion``,
as they leave it in ``radiance`` elsewhere, and it is sorted from there.
"""

from __future__ import annotations

from raystream.kernels.paths import begin_kernel
from raystream.kernels.records import FILM, HIT, PATH, PIXEL, RADIANCE, RAY, SCENE_INTERACTION
from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel
from raystream.stream.declare.record import Field, Record

# The layers, in the order of the fields.
LIGHT_LAYERS = (
    "emission",
    *(f"{way}_{lobe}" for way in ("direct", "indirect") for lobe in ("diffuse", "glossy", "transmission")),
)

LIGHT_SHARE = Record(
    "LightShare",
    Field("diffuse", "vec3", about="share of the light over the path's first surface that its matte part scatters"),
    Field("transmitted", "float", about="1: it comes through that surface; 0: it is reflected"),
)
LIGHT_SPLIT = Record(
    "LightSplit",
    *(Field(name, "vec3", "linear sRGB", about="of the sample") for name in LIGHT_LAYERS),
    Field("whole", "vec3", "linear sRGB", about="their sum, added up in the order of path tracing"),
)
LIGHT_SUMS = Record(
    "LightSums",
    *(Field(name, "vec3", "linear sRGB", about="sum of the samples") for name in LIGHT_LAYERS),
    Field("count", "float", about="of the samples"),
)

BEGIN_LIGHT_LAYERS = begin_kernel("begin_light_layers", IN("sums", LIGHT_SUMS), radiance="portion")
SORT_ARRIVAL = Kernel(
    "sort_arrival",
    (IN("path", PATH), IN("share", LIGHT_SHARE), INOUT("portion", RADIANCE), INOUT("split", LIGHT_SPLIT)),
    exits=("done",),
)
SORT_LIGHT = Kernel("sort_light", SORT_ARRIVAL.arguments, exits=("done",))
SHARE_LIGHT = Kernel(
    "share_light",
    (IN("interaction", SCENE_INTERACTION), IN("ray", RAY), IN("path", PATH), INOUT("share", LIGHT_SHARE)),
    exits=("done",),
    needs=("light_share",),
)
SHARE_SCATTER = Kernel("share_scatter", SHARE_LIGHT.arguments, exits=("done",), needs=("light_share",))
FINISH_LIGHT_LAYERS = Kernel(
    "finish_light_layers",
    (IN("split", LIGHT_SPLIT), IN("film", FILM), INOUT("sums", LIGHT_SUMS)),
    exits=("again", "done"),
    needs=("path_settings",),
)
# In place of it, where the samples are added to the film, too.
FINISH_SORTED_PATH = Kernel(
    "finish_sorted_path",
    (IN("split", LIGHT_SPLIT), INOUT("film", FILM), INOUT("sums", LIGHT_SUMS)),
    exits=("again", "done"),
    needs=("path_settings",),
)
# Two, as a pass has eight attachments.
SORT_FLOOR = Kernel("sort_floor", (INOUT("portion", RADIANCE), OUT("split", LIGHT_SPLIT)), exits=("done",))
SHARE_FLOOR = Kernel("share_floor", (OUT("share", LIGHT_SHARE),), exits=("done",))


VISIBILITY = Record(
    "Visibility",
    Field("light", "float", "linear sRGB", about="sum of the luminances that lights sampled would bring unhidden"),
    Field("hidden", "float", "linear sRGB", about="of these what something is in the way of"),
    Field("near", "float", about="of the samples, those whose ray into the hemisphere meets something near"),
    Field("count", "float", about="of the samples"),
)

BEGIN_VISIBILITY = begin_kernel("begin_visibility", IN("visibility", VISIBILITY))
WEIGH_SHADOW = Kernel(
    "weigh_shadow", (IN("hit", HIT), IN("pending", RADIANCE), INOUT("visibility", VISIBILITY)), exits=("done",)
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
