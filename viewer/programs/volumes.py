"""The state in which what a ray carries is absorbed, in the programs of scenes that have volumes."""

from __future__ import annotations

from collections.abc import Mapping

from viewer.kernels import paths
from viewer.stream.declare.program import State


def arrival(
    volumes: bool, arrive: str = "arrive", streams: Mapping[str, str] | None = None
) -> tuple[tuple[State, ...], str, tuple[str, ...]]:
    """What is between a walk and the state that arrives: the states, the first of all these, and their turn.

    streams : of the state, by the kernel's names of them.
    """
    if not volumes:
        return (), arrive, (f"->{arrive}", arrive)
    name = arrive.replace("arrive", "absorb")
    return (State(name, paths.ABSORB, {"done": arrive}, dict(streams or {})),), name, (f"->{name}", name, arrive)
