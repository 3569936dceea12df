"""The states in which what a ray carries is absorbed, in the programs of scenes that have volumes, and in which
surfaces learn what they are within, where volumes are nested (`viewer.materials.media`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from viewer.kernels import paths
from viewer.kernels.records import MEDIA
from viewer.stream.declare.kernel import Kernel
from viewer.stream.declare.program import Call, State
from viewer.stream.declare.record import Record


def media_streams(nested: bool, name: str = "media") -> dict[str, Record]:
    """The volumes that rays are within."""
    return {name: MEDIA} if nested else {}


def arrival(
    volumes: bool,
    arrive: str = "arrive",
    streams: Mapping[str, str] | None = None,
    nested: bool = False,
    absorb: Kernel = paths.ABSORB_NESTED,
) -> tuple[tuple[State, ...], str, tuple[str, ...]]:
    """What is between a walk and the state that arrives: the states, the first of all these, and their turn.

    streams : of the state, by the kernel's names of them. absorb : the kernel where volumes are nested.
    """
    if not volumes:
        return (), arrive, (f"->{arrive}", arrive)
    name = arrive.replace("arrive", "absorb")
    turn = f"->{name}", name, arrive
    if not nested:
        return (State(name, paths.ABSORB, {"done": arrive}, dict(streams or {})),), name, turn
    passes = Call("setup", then=name)
    return (State(name, absorb, {"done": arrive, "pass": passes}, dict(streams or {})),), name, turn


def surroundings(
    nested: bool, then: str, name: str = "surround", streams: Mapping[str, str] | None = None
) -> tuple[dict[str, State], str]:
    """The states between the one that arrives at a surface and the state ``then``, by name, and the first of all."""
    if not nested:
        return {}, then
    return {name: State(name, paths.SURROUND, {"done": then}, dict(streams or {}))}, name


def arrivals(arriving: tuple[str, ...], around: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """What becomes one pass of a walk and the states behind it: two where volumes are nested, since one would write too
    much."""
    more = tuple(around)
    return ((*arriving[:-1],), (arriving[-1], *more)) if more else (arriving,)
