"""Steps of a shade tree: the twins of ``shaders/kernels/`` that Whitted's tracer and the shadow caster are made of.

A tree's rays are those of a path (`viewer.kernels.paths`), of which several are alive: one is followed, the others wait
in streams of their own, one for each level of a stack.
"""

from __future__ import annotations

from viewer.kernels import paths
from viewer.kernels.records import HIT, PATH, PIXEL, RADIANCE, RAY, SCENE_INTERACTION
from viewer.stream.declare.kernel import IN, INOUT, OUT, Kernel
from viewer.stream.declare.record import Field, Record

TREE = Record(
    "Tree",
    Field("light", "int", about="the light that is asked next; then the refracted ray, where channels part"),
    Field("pending", "int", about="rays that wait"),
    Field("channel", "int", about="0, 1, 2: the ray carries red, green or blue alone; -1: all"),
)

BRANCH = Record(
    "Branch",
    Field("origin", "vec3", "scene units", "world"),
    Field("depth", "int", about="surfaces that its path has left"),
    Field("direction", "vec3", "unit length", "world"),
    Field("channel", "int", about="as in Tree"),
    Field("weight", "vec3", about="what a radiance from there adds to the pixel, as a factor"),
)

BRANCH_NESTED = Record(
    BRANCH.name, *BRANCH.fields, Field("inside", "int", about="volumes that the ray is within, as in Media")
)

BEGIN_TREE = Kernel("begin_tree", (OUT("tree", TREE),), exits=("ray",))
BEGIN_TREE_NESTED = BEGIN_TREE.nested(paths.OUT_MEDIA)
NEXT_LIGHT = Kernel(
    "next_light",
    (
        IN("pixel", PIXEL),
        IN("interaction", SCENE_INTERACTION),
        IN("path", PATH),
        INOUT("tree", TREE),
        INOUT("radiance", RADIANCE),
        OUT("ray", RAY),
        OUT("pending", RADIANCE),
    ),
    exits=("again", "shadow", "end"),
    needs=("path_settings", "whitted_settings", "each_light_sample", "bsdf_value", "bsdf_reflectance", "sample_2d"),
)
NEXT_LIGHT_NESTED = NEXT_LIGHT.nested(paths.IN_MEDIA, after="path")
BRANCH_REFLECTION = Kernel(
    "branch_reflection",
    (IN("interaction", SCENE_INTERACTION), INOUT("path", PATH), OUT("ray", RAY)),
    exits=("ray", "end"),
    needs=("whitted_settings", "bsdf_branches"),
)


def push_branch(nested: bool = False) -> Kernel:
    """The kernel where volumes are nested, or are not."""
    branch = BRANCH_NESTED if nested else BRANCH
    return Kernel("push_branch", (IN("waiting", branch), OUT("level", branch)), exits=("done",))


def pop_branch(nested: bool = False) -> Kernel:
    """The kernel where volumes are nested, or are not."""
    level = IN("level", BRANCH_NESTED if nested else BRANCH)
    found = Kernel("pop_branch", (level, INOUT("path", PATH), INOUT("tree", TREE), OUT("ray", RAY)), exits=("ray",))
    return found.nested(paths.OUT_MEDIA) if nested else found


def level_exits(levels: int) -> tuple[str, ...]:
    """The exits that lead to the levels of the waiting rays, up to 100; in the order of their names."""
    return tuple(f"level_{level:02d}" for level in range(levels))


def branch_refraction(levels: int, nested: bool = False) -> Kernel:
    """The kernel over a stack of so many levels, where volumes are nested or are not."""
    return _branching("branch_refraction", (*level_exits(levels), "none"), nested)


def _branching(name: str, exits: tuple[str, ...], nested: bool, *needs: str) -> Kernel:
    waiting = OUT("waiting", BRANCH_NESTED if nested else BRANCH)
    arguments = IN("interaction", SCENE_INTERACTION), IN("path", PATH), INOUT("tree", TREE), waiting
    found = Kernel(name, arguments, exits, ("whitted_settings", "bsdf_branches", *needs))
    return found.nested(paths.IN_MEDIA, after="path") if nested else found


def branch_channels(levels: int, nested: bool = False) -> Kernel:
    """The kernel where channels may part, over a stack of so many levels, where volumes are nested or are not."""
    return _branching("branch_channels", (*level_exits(levels), "again", "none"), nested, "channels_part", "at_channel")


def next_branch(levels: int) -> Kernel:
    """The kernel over a stack of so many levels."""
    return Kernel("next_branch", (INOUT("tree", TREE),), exits=(*level_exits(levels), "end"))


TAKE_FIRST_HIT = Kernel("take_first_hit", (IN("first_hit", HIT), OUT("hit", HIT)), exits=("done",))
