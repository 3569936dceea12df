"""The machines' options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raystream.stream.machines.policy import Policy

EDGE = 16  # rays along a tile's edge
Unroll = int | Sequence[int] | str


@dataclass(frozen=True)
class MachineOptions:
    """How a machine runs a program.

    counting : exact counters are kept, which makes the host wait for every pass.
    deferred : its programs are not compiled as it is made, but by the steps of its ``batch``, or with the first run.

    Of `raystream.stream.machines.multipass.Multipass`:
    fuse     : groups that make one pass each (`LinkedProgram.steps`). mask : of `raystream.stream.machines.mask.MASKS`.
    tile     : edge of the tiles, rays.
    policy   : which state is served next; None: a `Sweep`. unroll : most calls of a looping kernel in one pass: a
               number, a number for each looping state in the program's order, or ``auto``. count : ``query`` or
               ``census``. These three are the host's alone, and a machine has them as attributes that may change
               between two runs.

    Of `raystream.stream.machines.singlepass.Singlepass`:
    bands    : horizontal strips that a run is drawn in, so that a caller may stop between them.
    """

    counting: bool = False
    deferred: bool = False
    fuse: str = "none"
    mask: str = "depth"
    tile: int = EDGE
    policy: Policy | None = None
    unroll: Unroll = "auto"
    count: str = "query"
    bands: int = 1


DEFAULTS = MachineOptions()
