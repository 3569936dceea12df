"""Steps of a shade tree: the twins of ``shaders/kernels/`` that Whitted's tracer and the shadow caster are made of.

A tree's rays are those of a path (`raystream.kernels.paths`), of which several are alive: one is followed, the others
wait in streams of their own, one for each level of a stack.
"""

from __future__ import annotations

from dataclasses import replace

from raystream.kernels.paths import ARRIVING, AT_SURFACE
from raystream.kernels.records import HIT, MEDIA, PATH, PIXEL, RADIANCE, RAY, SCENE_INTERACTION
from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel, copying
from raystream.stream.declare.record import SMALL, Field, Record

TREE = Record(
    "Tree",
    Field("light", "int", about="the light that is asked next; then the refracted ray, where channels part"),
    Field("pending", "int", about="rays that wait", within=SMALL),
    Field("channel", "int", about="0, 1, 2: the ray carries red, green or blue alone; -1: all", within=SMALL),
)

BRANCH = Record(
    "Branch",
    Field("origin", "vec3", "scene units", "world"),
    Field("depth", "int", about="surfaces that its path has left", within=SMALL),
    Field("direction", "vec3", "unit length", "world"),
    Field("channel", "int", about="as in Tree", within=SMALL),
    Field("weight", "vec3", about="what a radiance from there adds to the pixel, as a factor"),
    Field("inside", "int", about="volumes that the ray is within: media_number"),
)

BEGIN_TREE = Kernel("begin_tree", (OUT("tree", TREE),), exits=("ray",))
ARRIVE_BRANCH = Kernel(
    "arrive_branch",
    (*ARRIVING, INOUT("radiance", RADIANCE), OUT("interaction", SCENE_INTERACTION)),
    exits=("surface", "end"),
    needs=("path_settings", "interaction_at", "environment_radiance", "cone_width", "media_of"),
)
NEXT_LIGHT = Kernel(
    "next_light",
    (*AT_SURFACE, INOUT("tree", TREE), INOUT("radiance", RADIANCE), OUT("ray", RAY), OUT("pending", RADIANCE)),
    exits=("again", "shadow", "end"),
    needs=(
        *("path_settings", "whitted_settings", "each_light_sample", "bsdf_value", "bsdf_reflectance", "sample_2d"),
        "media_of",
    ),
)
BRANCH_REFLECTION = Kernel(
    "branch_reflection",
    (IN("interaction", SCENE_INTERACTION), INOUT("path", PATH), OUT("ray", RAY)),
    exits=("ray", "end"),
    needs=("whitted_settings", "bsdf_branches"),
)


def of_moment(kernel: Kernel, moving: bool) -> Kernel:
    """The kernel; for ``moving`` scenes with the pixel as a further argument, from which rays get their path's time."""
    if not moving:
        return kernel
    return replace(kernel, arguments=(IN("pixel", PIXEL), *kernel.arguments), needs=(*kernel.needs, "sample_1d"))


PUSH_BRANCH = copying("push_branch", ("waiting", "level", BRANCH))
POP_BRANCH = Kernel(
    "pop_branch",
    (IN("level", BRANCH), INOUT("path", PATH), OUT("media", MEDIA), INOUT("tree", TREE), OUT("ray", RAY)),
    exits=("ray",),
    needs=("media_of",),
)


def level_exits(levels: int) -> tuple[str, ...]:
    """The names of the exits to each of up to 100 levels of the stack, which sort in that order."""
    return tuple(f"level_{level:02d}" for level in range(levels))


def branch_refraction(levels: int) -> Kernel:
    """The kernel that pushes the refracted ray on a stack of ``levels``."""
    return _branching("branch_refraction", (*level_exits(levels), "none"))


def branch_channels(levels: int) -> Kernel:
    """The kernel that pushes a refracted ray for each channel on a stack of ``levels``."""
    return _branching("branch_channels", (*level_exits(levels), "again", "none"), "channels_part", "at_channel")


def _branching(name: str, exits: tuple[str, ...], *needs: str) -> Kernel:
    arguments = (
        IN("interaction", SCENE_INTERACTION),
        IN("path", PATH),
        IN("media", MEDIA),
        INOUT("tree", TREE),
        OUT("waiting", BRANCH),
    )
    return Kernel(name, arguments, exits, ("whitted_settings", "bsdf_branches", "media_of", *needs))


def next_branch(levels: int) -> Kernel:
    """The kernel that chooses the ray to pop from a stack of ``levels``."""
    return Kernel("next_branch", (INOUT("tree", TREE),), exits=(*level_exits(levels), "end"))


TAKE_FIRST_HIT = copying("take_first_hit", ("first_hit", "hit", HIT))
