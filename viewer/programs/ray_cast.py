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
    """The program from pixels to radiance and hits, and with ``layers`` to the surfaces' attributes. first_hits : one
    of `raystream.programs.first_hits.FIRST_HITS`; the program traverses only where it is ``rays``."""
    traverses = first_hits == "rays"
    traversal = traversal.of_eye_rays if traverses else traversal
    eye = traversal.eye(Call("setup", then="shade"))
    states = [*first_hit_states(first_hits, eye), *(traversal.states if traverses else ())]
    states.append(State("shade", shade, {"done": "describe" if layers else DONE}))
    if layers:
        states.append(State("describe", kernels.DESCRIBE, {"done": DONE}))
    return Program(
        "cast",
        streams={
            "pixel": PIXEL,
            **first_hit_streams(first_hits),
            **(traversal.streams if traverses else {"ray": RAY, "hit": HIT}),
            "radiance": RADIANCE,
            **({"surface": SURFACE} if layers else {}),
        },
        inputs=("pixel", *first_hit_streams(first_hits)),
        results=("radiance", "hit", *(("surface",) if layers else ())),
        states=tuple(states),
        start="eye",
        groups=dict.fromkeys(("ray", "surface"), (("->shade", "shade"),)) if traverses else {},
    )


def trace(traversal: TraversalStates = FLAT) -> Program:
    """The program from rays to their hits."""
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
    """The program that adds the camera rays of samples to the pixels' features.

    backdrop : one of `raystream.programs.first_hits.BACKDROPS`. blended : some surfaces are; with the uniform
    ``opacity_layered`` a ray sees all of them, each by its coverage.
    """
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
