"""What hides light and surroundings from the surfaces that a film's camera rays see: layers of shadow and occlusion.

By the path tracer's kernels and random numbers as far as there are some; each part is there where it is asked for.
"""

from __future__ import annotations

from viewer.kernels import paths
from viewer.kernels import visibility as steps
from viewer.kernels.records import LIGHT_CONTEXT
from viewer.programs.first_hits import sample_streams
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.stream.declare.program import DONE, Call, Program, State


def visibility(traversal: TraversalStates = FLAT, shadow: bool = True, occlusion: bool = True) -> Program:
    """Pixels, their film and `VISIBILITY`, to which the film's samples are added."""
    streams = sample_streams("rays", traversal)
    further = "occlusion" if occlusion else "finish"
    lights: tuple[State, ...] = ()
    if shadow:
        lights = (
            State("light", paths.SAMPLE_LIGHT, {"shadow": Call("setup", then="weigh"), "none": further}),
            State("weigh", steps.WEIGH_SHADOW, {"done": further}),
        )
    else:
        del streams["pending"]
    rays: tuple[State, ...] = ()
    if occlusion:
        rays = (
            State("occlusion", steps.OCCLUSION_RAY, {"ray": Call("setup", then="weigh_near")}),
            State("weigh_near", steps.WEIGH_OCCLUSION, {"done": "finish"}),
        )
    weighed: tuple[tuple[str, ...], ...] = (("light", "->weigh", "weigh"),) if shadow else ()
    weighed += (("occlusion", "->weigh_near", "weigh_near"),) if occlusion else ()
    return Program(
        "visibility",
        streams={**streams, "context": LIGHT_CONTEXT, "visibility": steps.VISIBILITY},
        inputs=("pixel", "film", "visibility"),
        results=("visibility",),
        states=(
            State("begin", steps.BEGIN_VISIBILITY, {"ray": Call("setup", then="arrive"), "done": DONE}),
            *traversal.states,
            State("arrive", paths.ARRIVE, {"surface": "light" if shadow else further, "end": "finish"}),
            *lights,
            *rays,
            State("finish", steps.FINISH_VISIBILITY, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=("->arrive", "arrive", *(name for each in weighed for name in each), "finish", "begin"),
        groups=dict.fromkeys(("ray", "surface"), (("->arrive", "arrive"), *(each[1:] for each in weighed))),
        resumes=True,
        stacked=("context",),
    )
