"""Steps of a path: the twins of ``shaders/kernels/`` that path tracing is made of."""

from __future__ import annotations

from viewer.kernels.records import FILM, HIT, MEDIA, PATH, PIXEL, RADIANCE, RAY, SCENE_INTERACTION
from viewer.stream.declare.kernel import IN, INOUT, OUT, Kernel

BEGIN = Kernel(
    "begin_path",
    (IN("pixel", PIXEL), IN("film", FILM), OUT("path", PATH), OUT("radiance", RADIANCE), OUT("ray", RAY)),
    exits=("ray", "done"),
    needs=("path_settings", "camera_sample", "sample_2d", "cone_of_pixel"),
)
ARRIVE = Kernel(
    "arrive",
    (
        IN("ray", RAY),
        IN("hit", HIT),
        IN("path", PATH),
        INOUT("radiance", RADIANCE),
        OUT("interaction", SCENE_INTERACTION),
    ),
    exits=("surface", "end"),
    needs=("path_settings", "interaction_at", "environment_radiance", "environment_pdf", "cone_width"),
)
# Where lights are chosen by a light tree; the interaction that it takes is that of the surface before.
ARRIVE_TREE = Kernel(
    "arrive_tree",
    (*ARRIVE.arguments[:-1], INOUT("interaction", SCENE_INTERACTION)),
    ARRIVE.exits,
    (*ARRIVE.needs, "emitter_density"),
)
ABSORB = Kernel(
    "absorb",
    (IN("ray", RAY), IN("hit", HIT), INOUT("path", PATH)),
    exits=("done",),
    needs=("volume_transmittance",),
)
SAMPLE_LIGHT = Kernel(
    "sample_light",
    (
        IN("pixel", PIXEL),
        IN("interaction", SCENE_INTERACTION),
        IN("path", PATH),
        INOUT("ray", RAY),
        OUT("pending", RADIANCE),
    ),
    exits=("shadow", "none"),
    needs=("path_settings", "light_sample", "bsdf_value", "sample_2d"),
)
RESAMPLE_LIGHT = Kernel(
    "resample_light", SAMPLE_LIGHT.arguments, SAMPLE_LIGHT.exits, (*SAMPLE_LIGHT.needs, "light_candidates")
)
RESOLVE_SHADOW = Kernel(
    "resolve_shadow",
    (IN("hit", HIT), IN("pending", RADIANCE), INOUT("radiance", RADIANCE)),
    exits=("done",),
)
CHOOSE_CHANNEL = Kernel(
    "choose_channel",
    (IN("pixel", PIXEL), INOUT("interaction", SCENE_INTERACTION), INOUT("path", PATH)),
    exits=("done",),
    needs=("channels_part", "at_channel", "bsdf_branches", "sample_2d"),
)
SCATTER = Kernel(
    "scatter",
    (IN("pixel", PIXEL), IN("interaction", SCENE_INTERACTION), INOUT("path", PATH), OUT("ray", RAY)),
    exits=("ray", "end"),
    needs=("path_settings", "bsdf_sample", "sample_2d", "cone_scattered"),
)
FINISH = Kernel(
    "finish_path",
    (IN("radiance", RADIANCE), INOUT("film", FILM)),
    exits=("again", "done"),
    needs=("path_settings",),
)

# Where volumes are nested.
IN_MEDIA, OUT_MEDIA, INOUT_MEDIA = IN("media", MEDIA), OUT("media", MEDIA), INOUT("media", MEDIA)
_NEEDS = ("geometry_at", "principled_at", "media_top")
BEGIN_NESTED = BEGIN.nested(OUT_MEDIA)
SAMPLE_LIGHT_NESTED = SAMPLE_LIGHT.nested(IN_MEDIA, after="path")
SCATTER_NESTED = SCATTER.nested(INOUT_MEDIA)
ABSORB_NESTED = Kernel(
    "absorb_nested", (INOUT("ray", RAY), IN("hit", HIT), INOUT("path", PATH), INOUT_MEDIA), ("done", "pass"), _NEEDS
)
ABSORB_PHOTON_NESTED = Kernel("absorb_photon_nested", ABSORB_NESTED.arguments, ABSORB_NESTED.exits, _NEEDS)
SURROUND = Kernel(
    "surround", (IN_MEDIA, INOUT("interaction", SCENE_INTERACTION)), ("done",), ("principled_at", "media_top")
)
