"""Photons traced into a map, and rendering with it.

Photons are traced breadth first: a frame of photons for each bounce, each from the one before (Purcell et al. 2003,
section 2.1). The picture has direct light by a shadow ray, reflection and refraction as Whitted's, and at every surface
that is not a mirror or glass alone the radiance estimate of the photons about it (section 2.4).

The estimate is a search in states (the kNN-grid, section 2.3), which the machine runs like a traversal: the next cell,
the next photon.
"""

from __future__ import annotations

from raystream.kernels import photons
from raystream.kernels.records import MEDIA, PATH, PIXEL, RAY, SCENE_INTERACTION
from raystream.kernels.whitted import ARRIVE_BRANCH
from raystream.programs.registry import PictureProgram, register
from raystream.programs.traversal import FLAT, TraversalStates, arrival, arrivals, channel_states, gpu_arrivals
from raystream.programs.whitted import DEPTH, IndirectLight, whitted_trace
from raystream.stream.declare.kernel import ModuleState
from raystream.stream.declare.program import DONE, Call, Program, State, Target
from raystream.stream.declare.record import Record

_SPOT_STREAMS = {"interaction": "spot"}


def radiance_estimate(kind: str, search: str, apart: bool = False) -> IndirectLight:
    """The states of the radiance estimate. kind : of the map, a key of `raystream.kernels.photons.MAPS`. search : one
    of `SEARCHES` there. apart : see `photon_map`."""
    kernels = photons.EstimateKernels(photons.MAPS[kind], search, apart)
    return IndirectLight(
        states=(
            State("estimate", kernels.begin, {"cell": "cell", "none": "refract"}),
            *_search_states(kernels, {}),
            State("total", kernels.finish, {"caustic": "cell", "done": "refract"}),
        ),
        streams=kernels.streams,
        inputs=tuple(kernels.form.streams),
    )


def _search_states(kernels: photons.EstimateKernels, streams: dict[str, str]) -> tuple[State, ...]:
    """The states that search a map cell by cell and photon by photon, and end at "total"; a search for the nearest goes
    through shells of cells."""
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


def final_gather(
    kind: str, search: str, dispersion: bool = False, volumes: bool = False, nested: bool = False, apart: bool = False
) -> IndirectLight:
    """The states of a final gather: caustic photons at the surface itself, and at the hits of rays from there the
    radiance by all photons, both by the same states of the estimate. Arguments are those of `photon_map`."""
    kernels = photons.EstimateKernels(photons.MAPS[kind], search, apart)
    gathering = {**_SPOT_STREAMS, "path": "gathering"}
    within = {"path": "gathering", "media": "around"}
    absorb, arrive, arriving = arrival(volumes, "arrive_gathering", within, nested)
    traverse = Call("setup", then=arrive)
    go_on = ("gathering_channel", "continue_gathering") if dispersion else ("continue_gathering",)
    channel = State("gathering_channel", photons.CHOOSE_GATHERING_CHANNEL, {"done": "continue_gathering"})
    copied = {"source": "interaction", "source_media": "media", "copy": "spot", "copy_media": "around"}
    begin_groups = (("begin_gather",), ("place_spot",)) if apart or nested else (("begin_gather", "place_spot"),)
    arrival_exits: dict[str, Target] = {"surface": "estimate", "miss": "gather_ray"}
    return IndirectLight(
        states=(
            State("begin_gather", photons.BEGIN_GATHER, {"surface": "place_spot", "none": "refract"}),
            State("place_spot", photons.COPY_SURFACE, {"done": "estimate"}, copied),
            State("estimate", kernels.begin, {"cell": "cell", "none": go_on[0]}, gathering),
            *_search_states(kernels, _SPOT_STREAMS),
            State("total", kernels.finish, {"caustic": "cell", "done": "continue_gathering"}, gathering),
            *((channel,) if dispersion else ()),
            State("continue_gathering", photons.CONTINUE_GATHERING, {"ray": traverse, "end": "gather_ray"}),
            State("gather_ray", photons.GATHER_RAY, {"ray": traverse, "again": "gather_ray", "end": "refract"}),
            *absorb,
            State("arrive_gathering", photons.ARRIVE_PHOTON, arrival_exits, {"interaction": "spot", "media": "around"}),
        ),
        streams={**kernels.streams, "spot": SCENE_INTERACTION, "gathering": PATH, "around": MEDIA},
        inputs=tuple(kernels.form.streams),
        groups=(
            *begin_groups,
            *arrivals(arriving, nested),
            ("estimate", *(state.name for state in _search_states(kernels, _SPOT_STREAMS)), "total"),
            go_on,
            ("gather_ray",),
        ),
        rays=(*begin_groups, *arrivals(arriving, nested)),
    )


def _gather_as_call(kind: str, search: str, dispersion: bool, volumes: bool, apart: bool) -> IndirectLight:
    """As `final_gather`, but gathering rays share the states of traversal and arrival with all others: meanwhile the
    gathering surface and its path are saved in further streams."""
    kernels = photons.EstimateKernels(photons.MAPS[kind], search, apart)
    traverse = Call("setup", then="absorb" if volumes else "arrive")
    go_on = "gathering_channel" if dispersion else "gather_on"
    spot = {"spot": "interaction", "path": "waiting_path", "gathering": "path"}
    within = {**spot, "media": "waiting_media", "around": "media"}
    save = {"source": "interaction", "source_media": "media", "copy": "waiting_surface", "copy_media": "waiting_media"}
    restore = {
        "source": "waiting_surface",
        "source_media": "waiting_media",
        "copy": "interaction",
        "copy_media": "media",
    }
    paths = {"waiting": "waiting_path"}
    channel = State("gathering_channel", photons.CHOOSE_GATHERING_CHANNEL, {"done": "gather_on"}, spot)
    exits: dict[str, Target] = {"ray": traverse, "again": "gather_on"}
    exits |= {"place": "place_surface", "end": "restore_surface"}
    begin_groups = {"gathering": "waiting_path"}
    waiting: dict[str, Record | ModuleState] = {
        "waiting_path": PATH,
        "waiting_surface": SCENE_INTERACTION,
        "waiting_media": MEDIA,
    }
    return IndirectLight(
        states=(
            State("begin_gather", photons.BEGIN_GATHER, {"surface": "save_path", "none": "refract"}, begin_groups),
            State("save_path", photons.EXCHANGE_PATHS, {"done": "save_surface"}, paths),
            State("save_surface", photons.COPY_SURFACE, {"done": "estimate"}, save),
            State("estimate", kernels.begin, {"cell": "cell", "none": go_on}),
            *_search_states(kernels, {}),
            State("total", kernels.finish, {"caustic": "cell", "done": "gather_on"}),
            *((channel,) if dispersion else ()),
            State("place_surface", photons.COPY_SURFACE, {"done": "gather_on"}, restore),
            State("gather_on", photons.GATHER_ON, exits, within),
            State("restore_surface", photons.COPY_SURFACE, {"done": "restore_path"}, restore),
            State("restore_path", photons.EXCHANGE_PATHS, {"done": "refract"}, paths),
        ),
        streams={**kernels.streams, **waiting},
        inputs=tuple(kernels.form.streams),
        instead={"arrive": State("arrive", ARRIVE_BRANCH, {"surface": "arrived", "end": "ended"})},
        added_states=(
            State("arrived", photons.DISPATCH, {"own": "light", "gathering": "estimate"}),
            State("ended", photons.DISPATCH, {"own": "next", "gathering": "place_surface"}),
        ),
        written=tuple(waiting),
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
    moving: bool = False,
    backdrop: str = "",
) -> Program:
    """The program that adds samples of Whitted's trees, with radiance estimates, to a film.

    kind : of the map, a key of `raystream.kernels.photons.MAPS`. search : for its photons, one of `SEARCHES` there.
    gather : estimates are made at the hits of a final gather (Purcell 2004, section 6.4.5). apart : photons are found
    in one state and weighed in another: with interactions of six texels one state would read more than the 16 textures
    that every OpenGL 3.3 grants. together : gathering rays share the traversal of all others, which saves seconds of
    compiling surfaces of many layers, and costs 3 % of rendering simple ones; the results are the same.
    Other arguments are those of `raystream.programs.whitted.whitted_trace`.
    """
    indirect = radiance_estimate(kind, search, apart)
    if gather and together:
        indirect = _gather_as_call(kind, search, dispersion, volumes, apart)
    elif gather:
        indirect = final_gather(kind, search, dispersion, volumes, nested, apart)
    form = dispersion, volumes, nested, moving, backdrop
    return whitted_trace(traversal, depth, first_hits, indirect, "photon", *form)


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


# -- photon tracing ----------------------------------------------------------------------------------------------------


def photon_emission() -> Program:
    """The program that emits photons from the lights: rays and paths for the first `photon_frame`. ``pixel`` is a
    photon's address in its stream, which seeds its random numbers."""
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
    """The program of one bounce: rays and paths of the frame before, or of `photon_emission`, to stored photons and the
    rays of the next frame.

    dispersion, volumes, nested : as of `raystream.programs.path_trace.path_trace`. ``media`` are the volumes that each
    photon is in, at first none (zeros).
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
