"""Rendering with a photon map: direct light by a shadow ray, reflection and refraction as Whitted's, and at every
surface that is not a mirror or glass alone the radiance estimate of the photons about it (Purcell et al. 2003, section
2.4).

The estimate is a search in states (the kNN-grid, section 2.3), which the machine runs like a walk: the next cell, the
next photon.
"""

from __future__ import annotations

from viewer.kernels import paths, photons
from viewer.kernels.records import PATH, SCENE_INTERACTION
from viewer.programs.registry import PictureProgram, register
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.programs.volumes import arrival, arrivals, media_streams, surroundings
from viewer.programs.whitted import DEPTH, IndirectLight, whitted_trace
from viewer.stream.declare.program import DONE, Call, Program, State, Target

_SPOT = {"interaction": "spot"}


def radiance_estimate(kind: str, search: str, apart: bool = False) -> IndirectLight:
    """The states of the estimate over a map of a kind of `viewer.kernels.photons.MAPS`, by one of `SEARCHES` there.
    apart : see `photon_map`."""
    kernels = photons.EstimateKernels(photons.MAPS[kind], search, apart)
    return IndirectLight(
        states=(
            State("estimate", kernels.begin, {"cell": "cell", "none": "refract"}),
            *_search(kernels, {}),
            State("total", kernels.finish, {"caustic": "cell", "done": "refract"}),
        ),
        streams=kernels.streams,
        inputs=tuple(kernels.form.streams),
    )


def _search(kernels: photons.EstimateKernels, streams: dict[str, str]) -> tuple[State, ...]:
    """The states that look for photons, before "total"; shells of cells are in a search for the nearest alone."""
    after = {"again": "photon", "cell": "cell"}
    photon: tuple[State, ...] = (State("photon", kernels.photon, after, streams),)
    if kernels.apart:
        photon = (
            State("photon", kernels.find, {"found": "weigh", **after}, streams),
            State("weigh", kernels.weigh, after, streams),
        )
    if kernels.search == "radius":
        return State("cell", kernels.cell, {"again": "cell", "photon": "photon", "end": "total"}, streams), *photon
    return (
        State("shell", photons.NEAREST_SHELL, {"cell": "cell", "end": "total"}, streams),
        State("cell", kernels.cell, {"again": "cell", "photon": "photon", "shell": "shell"}, streams),
        *photon,
    )


def _begin_gather(apart: bool, nested: bool) -> tuple[State, ...]:
    """Of a surface: the gathering path, the spot that the first estimate is made at, and what is around it."""
    on = "keep" if nested else "caustics"
    keep = (State("keep", photons.KEEP_MEDIA, {"done": "caustics"}),) if nested else ()
    if not apart:
        return (State("begin_gather", photons.BEGIN_GATHER, {"surface": on, "none": "refract"}), *keep)
    return (
        State("begin_gather", photons.BEGIN_GATHERING, {"surface": "place_spot", "none": "refract"}),
        State("place_spot", photons.PLACE_SPOT, {"surface": on}),
        *keep,
    )


def final_gather(
    kind: str, search: str, dispersion: bool = False, volumes: bool = False, nested: bool = False, apart: bool = False
) -> IndirectLight:
    """The states of a final gather over a map of a kind, by a way of searching: the caustic photons at the surface
    itself, and the radiance, by all photons, of the surfaces that rays from there come to. The estimate's states serve
    both. dispersion : a ray goes on in one channel where these part. nested : volumes overlap, or hold something.
    apart : see `photon_map`."""
    kernels = photons.EstimateKernels(photons.MAPS[kind], search, apart)
    own = {"path": "gathering", **({"media": "around"} if nested else {})}
    absorb, arrive, arriving = arrival(volumes, "arrive_gathering", own, nested)
    placed = {"interaction": "spot", "media": "around"}
    around, surface = surroundings(nested, "estimate", "surround_gathering", placed)
    on_kernel, ray = photons.CONTINUE_GATHERING, photons.GATHER_RAY
    if nested:
        on_kernel, ray = photons.CONTINUE_GATHERING_NESTED, photons.GATHER_RAY_NESTED
    there = Call("setup", then=arrive)
    on = ("gathering_channel", "continue_gathering") if dispersion else ("continue_gathering",)
    channel = State("gathering_channel", photons.CHOOSE_GATHERING_CHANNEL, {"done": "continue_gathering"})
    return IndirectLight(
        states=(
            *_begin_gather(apart, nested),
            State("caustics", kernels.begin_caustics, {"cell": "cell"}, _SPOT),
            State(
                "estimate",
                kernels.begin,
                {"cell": "cell", "none": on[0]},
                {**_SPOT, "path": "gathering"},
            ),
            *_search(kernels, _SPOT),
            State(
                "total",
                kernels.finish,
                {"caustic": "cell", "done": "continue_gathering"},
                {**_SPOT, "path": "gathering"},
            ),
            *((channel,) if dispersion else ()),
            State("continue_gathering", on_kernel, {"ray": there, "end": "gather_ray"}),
            State("gather_ray", ray, {"ray": there, "again": "gather_ray", "end": "refract"}),
            *absorb,
            State("arrive_gathering", photons.ARRIVE_GATHERING, {"surface": surface, "miss": "gather_ray"}),
            *around.values(),
        ),
        streams={
            **kernels.streams,
            "spot": SCENE_INTERACTION,
            "gathering": PATH,
            **media_streams(nested, "around"),
        },
        inputs=tuple(kernels.form.streams),
        groups=(
            *((state.name,) for state in _begin_gather(apart, nested)),
            *arrivals(arriving, around),
            ("caustics", "estimate", *(state.name for state in _search(kernels, _SPOT)), "total"),
            on,
            ("gather_ray",),
        ),
        rays=arrivals(arriving, around),
    )


def _gather_together(
    kind: str, search: str, dispersion: bool, volumes: bool, nested: bool, apart: bool
) -> IndirectLight:
    """As `final_gather`, but gathering rays walk and arrive in the states of all others, so that these are there once.
    What a ray arrives at is the spot, and the surface where it is no gathering ray."""
    kernels = photons.EstimateKernels(photons.MAPS[kind], search, apart)
    there = Call("setup", then="absorb" if volumes else "arrive")
    on = "gathering_channel" if dispersion else "gather_on"
    channel = State("gathering_channel", photons.CHOOSE_GATHERING_CHANNEL, {"done": "gather_on"})
    gathering = {**_SPOT, "path": "gathering"}
    arrived = {"surface": "place_surface", "gathered": "estimate"}
    within = dict.fromkeys(arrived, "surround") if nested else arrived
    absorbed: dict[str, Target] = {"done": "arrive", **({"pass": there} if nested else {})}
    back = {"interaction": "spot", "spot": "interaction"}
    after: dict[str, Target] = {"ray": there, "again": "gather_on", "place": "place_spot", "end": "refract"}
    return IndirectLight(
        states=(
            State("begin_gather", photons.BEGIN_GATHERING, {"surface": "caustics", "none": "refract"}),
            State("caustics", kernels.begin_caustics, {"cell": "cell"}, _SPOT),
            State("estimate", kernels.begin, {"cell": "cell", "none": on}, gathering),
            *_search(kernels, _SPOT),
            State("total", kernels.finish, {"caustic": "cell", "done": "gather_on"}, gathering),
            *((channel,) if dispersion else ()),
            State("place_spot", photons.PLACE_SPOT, {"surface": "gather_on"}),
            State("gather_on", photons.GATHER_ON_NESTED if nested else photons.GATHER_ON, after),
        ),
        streams={**kernels.streams, "spot": SCENE_INTERACTION, "gathering": PATH, **media_streams(nested, "around")},
        inputs=tuple(kernels.form.streams),
        instead={
            "begin": State("begin", paths.BEGIN, {"ray": "no_gather", "done": DONE}),
            "absorb": State("absorb", photons.ABSORB_EITHER_NESTED if nested else photons.ABSORB_EITHER, absorbed),
            "arrive": State("arrive", photons.ARRIVE_EITHER, {**within, "end": "next", "miss": "place_spot"}),
            **({"surround": State("surround", photons.SURROUND_EITHER, arrived)} if nested else {}),
        },
        beside=(
            State("no_gather", photons.NO_GATHER_NESTED if nested else photons.NO_GATHER, {"done": "root"}),
            State("place_surface", photons.PLACE_SPOT, {"surface": "light"}, back),
        ),
        written=("interaction",),  # where a gathering ray comes from
    )


def photon_map(
    traversal: TraversalStates = FLAT,
    depth: int = DEPTH,
    first_hits: str = "rays",
    kind: str = "sort",
    search: str = "radius",
    gather: bool = False,
    dispersion: bool = False,
    volumes: bool = False,
    nested: bool = False,
    apart: bool = False,
    together: bool = False,
) -> Program:
    """Pixels and their film, to which samples are added; photons and their map are other streams, of any size.

    kind : of the map, a key of `viewer.kernels.photons.MAPS`. search : for its photons, one of `SEARCHES` there. gather
    : a final gather is between the surface and the photons' estimate (Purcell 2004, section 6.4.5).
    apart : photons are found and weighed in states of their own, and gathers begin in two, as where interactions take
    six texels: with five, one state's are the 16 textures and 8 attachments that every OpenGL 3.3 grants.
    together : gathering rays go the way of all others, as in the single pass of surfaces of many layers, where code
    that is there twice takes seconds to compile. The results are the same.
    """
    if gather and together:
        indirect = _gather_together(kind, search, dispersion, volumes, nested, apart)
        return whitted_trace(traversal, depth, first_hits, indirect, "photon", dispersion, volumes, nested)
    indirect = radiance_estimate(kind, search, apart)
    if gather:
        indirect = final_gather(kind, search, dispersion, volumes, nested, apart)
    return whitted_trace(traversal, depth, first_hits, indirect, "photon", dispersion, volumes, nested)


register(
    PictureProgram(
        "photon",
        photon_map,
        "map photons: caustics and indirect light",
        "Whitted's tree with the radiance estimate",
        key="5",
        depth=DEPTH,
        noisy=True,
        demodulates=True,
    )
)
