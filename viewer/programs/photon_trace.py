"""Photon tracing, breadth first: a frame of photons for each bounce, each made from the one before (Purcell et al.
2003, section 2.1).
"""

from __future__ import annotations

from raystream.kernels import photons
from raystream.kernels.records import MEDIA, PATH, PIXEL, RAY, SCENE_INTERACTION
from raystream.programs.traversal import FLAT, TraversalStates, arrival, arrivals, channel_states, gpu_arrivals
from raystream.stream.declare.program import DONE, Call, Program, State


def photon_emission() -> Program:
    """Photons leave the lights: the rays and paths of the first frame. A program of its own, so that one more serves
    the frames of all bounces. ``pixel`` is a photon's place in its stream, from which its random numbers follow."""
    return Program(
        "emission",
        streams={"pixel": PIXEL, "ray": RAY, "path": PATH},
        inputs=("pixel",),
        results=("ray", "path"),
        states=(State("emit", photons.EMIT_PHOTON, {"done": DONE}),),
        start="emit",
    )


def photon_frame(
    traversal: TraversalStates = FLAT, dispersion: bool = False, volumes: bool = False, nested: bool = False
) -> Program:
    """The photons of one bounce, and the rays on which the next frame's go on; rays and paths are those of the frame
    before, or of `photon_emission`.

    dispersion : there are surfaces at which channels part. volumes : some absorb light. nested : of these some overlap,
    or hold something; ``media`` are those around photons, at first none (zeros).
    """
    channel, scatter = channel_states(dispersion)
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    order = ("begin", *arriving, "lose", "store", *channel, "scatter")
    return Program(
        "photons",
        streams={
            "pixel": PIXEL,
            **traversal.streams,
            "path": PATH,
            "interaction": SCENE_INTERACTION,
            "photon": photons.PHOTON,
            "media": MEDIA,
        },
        inputs=("pixel", "ray", "path", "media"),
        results=("photon", "ray", "path", "media"),
        states=(
            State("begin", photons.CONTINUE_PHOTON, {"ray": Call("setup", then=arrive), "done": DONE}),
            *traversal.states,
            *absorb,
            State("arrive", photons.ARRIVE_PHOTON, {"surface": "store", "miss": "lose"}),
            State("lose", photons.LOSE_PHOTON, {"done": DONE}),
            State("store", photons.STORE_PHOTON, {"done": scatter}),
            *channel.values(),
            State("scatter", photons.SCATTER_PHOTON, {"done": DONE}),
        ),
        start="begin",
        order=order,
        groups={"ray": arrivals(arriving, nested), "surface": (order[:-1], order[-1:]) if nested else (order,)},
        gpu_groups={"ray": gpu_arrivals(arriving, nested)},
    )
