"""Machines by name: each runs a program over a stream of rays until every ray is done."""

from __future__ import annotations

from raystream.stream.machines.common import Machine
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.singlepass import Singlepass

MACHINES: dict[str, type[Machine]] = {"multipass": Multipass, "singlepass": Singlepass}
