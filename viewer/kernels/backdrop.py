"""Steps of camera rays that leave the scene: the twins of ``shaders/kernels/`` that make a backdrop and a floor."""

from __future__ import annotations

from viewer.kernels.records import HIT, PATH, PIXEL, RADIANCE, RAY
from viewer.stream.declare.kernel import IN, INOUT, OUT, Kernel

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
        "light_sample",
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
