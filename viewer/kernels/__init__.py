"""Declarations of what one step of a ray is: the twins of ``shaders/kernels/``."""

from viewer.kernels.records import HIT, PIXEL, RADIANCE, RAY, SURFACE
from viewer.stream.declare.kernel import IN, INOUT, OUT, Kept, Kernel

WALK = Kept("Walk")  # where a ray is in the acceleration structure
TOP = Kept("Top")  # where it is in the structure over instances, where there are two levels
SHEAR = Kept("Shear")  # what the triangle test prepares once per ray

EYE_RAY = Kernel(
    "eye_ray",
    (IN("pixel", PIXEL), OUT("ray", RAY)),
    exits=("ray",),
    needs=("camera_ray",),
)
ENTER = Kernel(
    "enter",
    (IN("ray", RAY), OUT("walk", WALK), OUT("shear", SHEAR), OUT("hit", HIT)),
    exits=("walk", "miss"),
    needs=("accel_enter", "triangle_shear"),
)
TRAVERSE = Kernel(
    "traverse",
    (IN("ray", RAY), INOUT("walk", WALK), IN("hit", HIT)),
    exits=("again", "test", "end"),
    needs=("accel_step",),
)
INTERSECT = Kernel(
    "intersect",
    (IN("ray", RAY), IN("shear", SHEAR), INOUT("walk", WALK), INOUT("hit", HIT)),
    exits=("again", "walk", "end"),
    needs=("accel_step", "triangle_test"),
)
ENTER_TOP = Kernel(
    "enter_top",
    (IN("ray", RAY), OUT("top", TOP), OUT("hit", HIT)),
    exits=("visit", "miss"),
    needs=("top_enter",),
)
VISIT = Kernel(
    "visit",
    (IN("ray", RAY), INOUT("top", TOP), IN("hit", HIT)),
    exits=("again", "object", "end"),
    needs=("top_step",),
)
DESCEND = Kernel(
    "descend",
    (IN("ray", RAY), IN("top", TOP), OUT("local", RAY), OUT("walk", WALK), OUT("shear", SHEAR)),
    exits=("walk", "miss"),
    needs=("top_instance", "object_ray", "accel_enter", "triangle_shear"),
)
INTERSECT_OBJECT = Kernel(
    "intersect_object",
    (IN("ray", RAY), IN("shear", SHEAR), IN("top", TOP), INOUT("walk", WALK), INOUT("hit", HIT)),
    exits=("again", "walk", "end"),
    needs=("top_instance", "accel_step", "triangle_test"),
)
SHADE = Kernel(
    "shade_headlight",
    (IN("ray", RAY), IN("hit", HIT), OUT("radiance", RADIANCE)),
    exits=("done",),
    needs=("surface_at", "environment_radiance"),
)
DESCRIBE = Kernel(
    "describe",
    (IN("ray", RAY), IN("hit", HIT), OUT("surface", SURFACE)),
    exits=("done",),
    needs=("surface_at",),
)
