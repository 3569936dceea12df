"""The ray caster of Purcell 2004, figure 3.1: eye rays, traversal, intersection, shading; and the feature buffers."""

from __future__ import annotations

from raystream import kernels
from raystream.kernels import HIT, PIXEL, RADIANCE, RAY, SURFACE
from raystream.kernels.paths import BEGIN_FEATURES, feature_kernel
from raystream.kernels.records import FEATURES
from raystream.programs.first_hits import first_hit_states, first_hit_streams
from raystream.programs.registry import PictureProgram, register
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.stream.declare.kernel import Kernel
from raystream.stream.declare.program import DONE, Call, Program, State


def ray_cast(
    traversal: TraversalStates = FLAT, layers: bool = False, shade: Kernel = kernels.SHADE, first_hits: str = "rays"
) -> Program:
    """Pixels to radiance and hits; with ``layers`` the first hits too. first_hits : see
    `raystream.programs.first_hits`; traversal states are left out where hits are given."""
    traversals = first_hits == "rays"
    traversal = traversal.of_eye_rays if traversals else traversal
    eye = traversal.eye(Call("setup", then="shade"))
    states = [*first_hit_states(first_hits, eye), *(traversal.states if traversals else ())]
    states.append(State("shade", shade, {"done": "describe" if layers else DONE}))
    if layers:
        states.append(State("describe", kernels.DESCRIBE, {"done": DONE}))
    return Program(
        "cast",
        streams={
            "pixel": PIXEL,
            **first_hit_streams(first_hits),
            **(traversal.streams if traversals else {"ray": RAY, "hit": HIT}),
            "radiance": RADIANCE,
            **({"surface": SURFACE} if layers else {}),
        },
        inputs=("pixel", *first_hit_streams(first_hits)),
        results=("radiance", "hit", *(("surface",) if layers else ())),
        states=tuple(states),
        start="eye",
        groups=dict.fromkeys(("ray", "surface"), (("->shade", "shade"),)) if traversals else {},
    )


def trace(traversal: TraversalStates = FLAT) -> Program:
    """Given rays to their hits."""
    return Program(
        "trace",
        streams=traversal.streams,
        inputs=("ray",),
        results=("hit",),
        states=traversal.states,
        start=Call("setup", then=DONE),
        groups=dict.fromkeys(("ray", "surface"), (traversal.group,)),
    )


register(
    PictureProgram(
        "cast",
        ray_cast,
        "cast rays: the first surface that each pixel sees",
        "eye rays, traversal, intersection, shading",
        key="1",
    )
)


def feature_buffers(traversal: TraversalStates = FLAT, backdrop: str = "", blended: bool = False) -> Program:
    """Pixels and their features, to which the camera rays of more samples are added. backdrop : a kind of `BACKDROPS`.
    ``blended``: surfaces are, and under the uniform ``opacity_layered`` a ray takes all of them, each by its
    coverage."""
    behind = {"behind": Call("setup", then="add")} if blended else {}
    order = ("->add", "add", "begin")
    return Program(
        "features",
        streams={"pixel": PIXEL, "features": FEATURES, **traversal.streams},
        inputs=("pixel", "features"),
        results=("features",),
        states=(
            State("begin", BEGIN_FEATURES, {"ray": Call("setup", then="add"), "done": DONE}),
            *traversal.states,
            State("add", feature_kernel(backdrop, blended), {**behind, "again": "begin", "done": DONE}),
        ),
        start="begin",
        order=order,
        groups={"ray": (("->add", "add"),), "surface": (order,)},
        resumes=True,
        limit="path_samples",
    )
