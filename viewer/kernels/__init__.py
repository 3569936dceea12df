"""Declarations of the steps of a ray: the twins of ``shaders/kernels/``."""

from raystream.kernels.records import BOX_ENTRY, HIT, PIXEL, RADIANCE, RAY, SURFACE
from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel, ModuleState

TRAVERSAL = ModuleState("Traversal")  # where a ray is in the acceleration structure
TOP_TRAVERSAL = ModuleState("TopTraversal")  # where it is in the structure over instances, where there are two levels
TRIANGLE_SETUP = ModuleState("TriangleSetup")  # what the ray-triangle test prepares once per ray

EYE_RAY = Kernel("eye_ray", (IN("pixel", PIXEL), OUT("ray", RAY)), exits=("ray",), needs=("camera_ray",))
EYE_RAY_TO_BOX = Kernel(
    "eye_ray_to_box",
    (IN("pixel", PIXEL), OUT("ray", RAY), OUT("entry", BOX_ENTRY), OUT("hit", HIT)),
    exits=("ray", "miss"),
    needs=("camera_ray", "accel_enter"),
)
TRAVERSAL_SETUP = Kernel(
    "traversal_setup",
    (IN("ray", RAY), OUT("traversal", TRAVERSAL), OUT("setup", TRIANGLE_SETUP), OUT("hit", HIT)),
    exits=("traverse", "miss"),
    needs=("accel_start", "triangle_setup"),
)
TRAVERSAL_SETUP_IN_BOX = Kernel(
    "traversal_setup_in_box",
    (IN("ray", RAY), IN("entry", BOX_ENTRY), OUT("traversal", TRAVERSAL), OUT("setup", TRIANGLE_SETUP)),
    exits=("traverse",),
    needs=("accel_start_inside", "triangle_setup"),
)
TRAVERSAL_STEP = Kernel(
    "traversal_step",
    (IN("ray", RAY), INOUT("traversal", TRAVERSAL), IN("hit", HIT)),
    exits=("again", "test", "end"),
    needs=("accel_step",),
)
INTERSECT = Kernel(
    "intersect",
    (IN("ray", RAY), IN("setup", TRIANGLE_SETUP), INOUT("traversal", TRAVERSAL), INOUT("hit", HIT)),
    exits=("again", "traverse", "end"),
    needs=("accel_step", "triangle_test"),
)
TOP_TRAVERSAL_SETUP = Kernel(
    "top_traversal_setup",
    (IN("ray", RAY), OUT("top", TOP_TRAVERSAL), OUT("hit", HIT)),
    exits=("traverse", "miss"),
    needs=("top_start",),
)
TOP_TRAVERSAL_STEP = Kernel(
    "top_traversal_step",
    (IN("ray", RAY), INOUT("top", TOP_TRAVERSAL), IN("hit", HIT)),
    exits=("again", "object", "end"),
    needs=("top_step",),
)
OBJECT_TRAVERSAL_SETUP = Kernel(
    "object_traversal_setup",
    (
        IN("ray", RAY),
        IN("top", TOP_TRAVERSAL),
        OUT("local", RAY),
        OUT("traversal", TRAVERSAL),
        OUT("setup", TRIANGLE_SETUP),
    ),
    exits=("traverse", "miss"),
    needs=("top_instance", "object_ray", "accel_start", "triangle_setup"),
)
INTERSECT_OBJECT = Kernel(
    "intersect_object",
    (
        IN("ray", RAY),
        IN("setup", TRIANGLE_SETUP),
        IN("top", TOP_TRAVERSAL),
        INOUT("traversal", TRAVERSAL),
        INOUT("hit", HIT),
    ),
    exits=("again", "traverse", "end"),
    needs=("top_instance", "accel_step", "triangle_test"),
)
SHADE = Kernel(
    "shade_headlight",
    (IN("ray", RAY), IN("hit", HIT), OUT("radiance", RADIANCE)),
    exits=("done",),
    needs=("surface_at", "environment_radiance"),
)
DESCRIBE = Kernel(
    "describe", (IN("ray", RAY), IN("hit", HIT), OUT("surface", SURFACE)), exits=("done",), needs=("surface_at",)
)
