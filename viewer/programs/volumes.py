"""The states of absorption along rays, in the programs of scenes that have volumes (`viewer.materials.media`)."""

from __future__ import annotations

from collections.abc import Mapping

from viewer.kernels import paths
from viewer.stream.declare.program import Call, Groups, State


def arrival(
    volumes: bool, arrive: str = "arrive", streams: Mapping[str, str] | None = None, nested: bool = False
) -> tuple[tuple[State, ...], str, tuple[str, ...]]:
    """The states between traversal and arrival, the first of all these, and their order.

    streams : of the state, by the kernel's names of them. nested : volumes overlap, or hold something.
    """
    if not volumes:
        return (), arrive, (f"->{arrive}", arrive)
    name = arrive.replace("arrive", "absorb")
    turn = f"->{name}", name, arrive
    kernel = paths.CROSS_BOUNDARY if nested else paths.ABSORB
    own = {argument.name for argument in kernel.arguments}
    used = {argument: stream for argument, stream in (streams or {}).items() if argument in own}
    passes = {"pass": Call("setup", then=name)} if nested else {}
    return (State(name, kernel, {"done": arrive, **passes}, used),), name, turn


def arrivals(arriving: tuple[str, ...], nested: bool) -> Groups:
    """The traversal and the states behind it as one pass; as two where volumes are nested, since one would write too
    much."""
    return (arriving[:-1], arriving[-1:]) if nested else (arriving,)


def gpu_arrivals(arriving: tuple[str, ...], nested: bool) -> Groups:
    """The same for GPUs: the traversal by itself, which then needs few registers."""
    return (arriving[:1], *arrivals(arriving[1:], nested))
