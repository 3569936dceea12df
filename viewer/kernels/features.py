"""Steps of the feature buffers: the twins of ``shaders/kernels/`` that add up the camera rays' first hits."""

from __future__ import annotations

from dataclasses import replace

from viewer.kernels.records import FEATURES, HIT, PIXEL, RAY
from viewer.stream.declare.kernel import IN, INOUT, OUT, Kernel

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
# What they need besides before a backdrop, and a floor that a denoiser is told of.
BACKDROP_NEEDS: dict[str, tuple[str, ...]] = {
    "": (),
    "plain": ("background_radiance",),
    "floor": ("background_radiance", "floor_meets"),
}
ADD_FEATURES_BEFORE = {
    kind: replace(ADD_FEATURES, needs=(*ADD_FEATURES.needs, *needs)) for kind, needs in BACKDROP_NEEDS.items()
}
