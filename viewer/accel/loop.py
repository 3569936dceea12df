"""No acceleration structure, as a module: a ray is tested against every triangle and quadric in turn."""

from __future__ import annotations

from viewer.kernels.records import RAY
from viewer.stream.declare.kernel import Module
from viewer.stream.declare.record import Field, Record

TRAVERSAL = Record("Traversal", Field("candidate", "int", about="address of the next candidate"))


def module(count: int) -> Module:
    """The loop over ``count`` candidates."""
    return Module(
        "loop over all",
        provides=("accel_start", "accel_step", "accel_candidate", "accel_more", "accel_ends"),
        source="accel/loop.glsl",
        uniforms={"loop_count": ("int", count)},
        module_state=TRAVERSAL,
        uses=(RAY,),
    )
