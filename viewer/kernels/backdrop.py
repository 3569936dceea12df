"""Steps of camera rays alone, the twins of ``shaders/kernels/``: the feature buffers, and a backdrop and a floor."""

from __future__ import annotations

from dataclasses import replace

from raystream.kernels.records import FEATURES, HIT, PATH, PIXEL, RADIANCE, RAY
from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel

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
    """The kernel that adds a hit to features, before a backdrop of a kind. ``blended``: it may be one of several."""
    kernel = ADD_LAYER if blended else ADD_FEATURES
    return replace(kernel, needs=(*kernel.needs, *BACKDROP_NEEDS[backdrop]))
