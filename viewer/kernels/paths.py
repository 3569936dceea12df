"""Steps of a path: the twins of ``shaders/kernels/`` that path tracing is made of, and those of camera rays alone: a
backdrop and a floor, the feature buffers."""

from __future__ import annotations

from dataclasses import replace

from raystream.kernels.records import (
    FEATURES,
    FILM,
    HIT,
    LIGHT_CONTEXT,
    MEDIA,
    PATH,
    PIXEL,
    RADIANCE,
    RAY,
    SCENE_INTERACTION,
)
from raystream.stream.declare.kernel import IN, INOUT, OUT, Argument, Kernel

# Arguments of kernels at the end of a ray, and at a surface.
ARRIVING = IN("ray", RAY), IN("hit", HIT), IN("path", PATH), IN("media", MEDIA)
AT_SURFACE = IN("pixel", PIXEL), IN("interaction", SCENE_INTERACTION), IN("path", PATH), IN("media", MEDIA)


def begin_kernel(name: str, *sums: Argument, radiance: str = "radiance") -> Kernel:
    """A kernel that begins a sample's path at the camera. sums : further arguments with sums of earlier samples.
    radiance : name of the argument for the path's light."""
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
    "absorb", (IN("ray", RAY), IN("hit", HIT), INOUT("path", PATH)), exits=("done",), needs=("volume_transmittance",)
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
    "resolve_shadow", (IN("hit", HIT), IN("pending", RADIANCE), INOUT("radiance", RADIANCE)), exits=("done",)
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
    "finish_path", (IN("radiance", RADIANCE), INOUT("film", FILM)), exits=("again", "done"), needs=("path_settings",)
)


# -- camera rays alone -------------------------------------------------------------------------------------------------

SEE_BACKDROP = Kernel(
    "see_backdrop",
    (IN("ray", RAY), IN("hit", HIT), INOUT("radiance", RADIANCE)),
    exits=("surface", "end"),
    needs=("path_settings", "background_radiance"),
)
SEE_FLOOR = Kernel(
    "see_floor",
    (
        IN("pixel", PIXEL),
        IN("hit", HIT),
        IN("path", PATH),
        INOUT("ray", RAY),
        INOUT("radiance", RADIANCE),
        OUT("pending", RADIANCE),
    ),
    exits=("surface", "shadow", "mirror", "end"),
    needs=(
        "path_settings",
        "background_radiance",
        "floor_meets",
        "floor_light",
        "choose_floor_point",
        "sample_2d",
        "surface_dimension",
    ),
)
MIRROR_FLOOR = Kernel(
    "mirror_floor",
    (IN("pixel", PIXEL), INOUT("path", PATH), OUT("ray", RAY)),
    exits=("ray",),
    needs=("path_settings", "camera_sample", "floor_meets", "sample_2d", "surface_dimension"),
)
MEET_MIRRORED = Kernel(
    "meet_mirrored",
    (IN("ray", RAY), IN("hit", HIT), INOUT("path", PATH), INOUT("radiance", RADIANCE)),
    exits=("surface", "end"),
    needs=("floor_meets",),
)


BEGIN_FEATURES = Kernel(
    "begin_features",
    (IN("pixel", PIXEL), IN("features", FEATURES), OUT("ray", RAY)),
    exits=("ray", "done"),
    needs=("path_settings", "camera_sample", "sample_2d"),
)
ADD_FEATURES = Kernel(
    "add_features",
    (IN("ray", RAY), IN("hit", HIT), INOUT("features", FEATURES)),
    exits=("again", "done"),
    needs=("path_settings", "surface_at", "emission_seen", "environment_radiance"),
)
ADD_LAYER = Kernel(
    "add_layer",
    (IN("pixel", PIXEL), INOUT("ray", RAY), IN("hit", HIT), INOUT("features", FEATURES)),
    exits=("behind", "again", "done"),
    needs=(*ADD_FEATURES.needs, "geometry_at", "opacity_at", "camera_sample", "sample_2d"),
)
# What they need besides before a backdrop, and a floor that a denoiser is told of.
BACKDROP_NEEDS: dict[str, tuple[str, ...]] = {
    "": (),
    "plain": ("background_radiance",),
    "floor": ("background_radiance", "floor_meets"),
}


def feature_kernel(backdrop: str, blended: bool) -> Kernel:
    """The kernel that adds a hit to features, by the kind of backdrop. blended : a ray may have several hits, of
    blended surfaces."""
    kernel = ADD_LAYER if blended else ADD_FEATURES
    return replace(kernel, needs=(*kernel.needs, *BACKDROP_NEEDS[backdrop]))
