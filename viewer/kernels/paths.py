"""Steps of a path: the twins of ``shaders/kernels/`` that path tracing is made of."""

from __future__ import annotations

from raystream.kernels.records import FILM, HIT, LIGHT_CONTEXT, MEDIA, PATH, PIXEL, RADIANCE, RAY, SCENE_INTERACTION
from raystream.stream.declare.kernel import IN, INOUT, OUT, Argument, Kernel

# What kernels take of where a path arrives, and at a surface that it has come to.
ARRIVING = IN("ray", RAY), IN("hit", HIT), IN("path", PATH), IN("media", MEDIA)
AT_SURFACE = IN("pixel", PIXEL), IN("interaction", SCENE_INTERACTION), IN("path", PATH), IN("media", MEDIA)


def begin_kernel(name: str, *sums: Argument, radiance: str = "radiance") -> Kernel:
    """A kernel that begins a sample's path at the camera. sums : what it reads of the samples before, beside the film;
    radiance : name of the argument for the light that the path will bring."""
    return Kernel(
        name,
        (
            *(IN("pixel", PIXEL), IN("film", FILM), *sums),
            *(OUT("path", PATH), OUT("media", MEDIA), OUT(radiance, RADIANCE), OUT("ray", RAY)),
        ),
        exits=("ray", "done"),
        needs=("path_settings", "camera_sample", "sample_2d", "cone_of_pixel", "media_of"),
    )


BEGIN = begin_kernel("begin_path")
ARRIVE = Kernel(
    "arrive",
    (*ARRIVING, IN("context", LIGHT_CONTEXT), INOUT("radiance", RADIANCE), OUT("interaction", SCENE_INTERACTION)),
    exits=("surface", "end"),
    needs=(
        *("path_settings", "interaction_at", "environment_radiance", "environment_pdf", "emitter_pdf", "cone_width"),
        "media_of",
    ),
)
ABSORB = Kernel(
    "absorb",
    (IN("ray", RAY), IN("hit", HIT), INOUT("path", PATH)),
    exits=("done",),
    needs=("volume_transmittance",),
)
# In place of it, where volumes are nested.
CROSS_BOUNDARY = Kernel(
    "cross_boundary",
    (INOUT("ray", RAY), IN("hit", HIT), INOUT("path", PATH), INOUT("media", MEDIA)),
    exits=("done", "pass"),
    needs=("geometry_at", "principled_at", "media_top"),
)
SAMPLE_LIGHT = Kernel(
    "sample_light",
    (*AT_SURFACE, INOUT("ray", RAY), OUT("pending", RADIANCE)),
    exits=("shadow", "none"),
    needs=("path_settings", "light_sample", "bsdf_value", "sample_2d", "media_of"),
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
    (
        IN("pixel", PIXEL),
        IN("interaction", SCENE_INTERACTION),
        INOUT("path", PATH),
        INOUT("media", MEDIA),
        OUT("context", LIGHT_CONTEXT),
        OUT("ray", RAY),
    ),
    exits=("ray", "end"),
    needs=("path_settings", "bsdf_sample", "sample_2d", "cone_scattered", "media_of", "light_context"),
)
FINISH = Kernel(
    "finish_path",
    (IN("radiance", RADIANCE), INOUT("film", FILM)),
    exits=("again", "done"),
    needs=("path_settings",),
)
