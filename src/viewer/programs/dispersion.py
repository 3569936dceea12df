"""The state in which a path's channel is chosen, in the programs of scenes that have dispersion."""

from __future__ import annotations

from viewer.kernels import paths
from viewer.stream.declare.program import State


def channel_states(dispersion: bool, then: str = "scatter") -> tuple[dict[str, State], str]:
    """The states between a surface and the one ``then`` that scatters, by name, and the first of all these."""
    if not dispersion:
        return {}, then
    return {"channel": State("channel", paths.CHOOSE_CHANNEL, {"done": then})}, "channel"
