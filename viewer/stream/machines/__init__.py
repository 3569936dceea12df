"""Machines: what runs a program over a stream of rays until every ray is done."""

from __future__ import annotations

from viewer.stream.machines.common import Machine, Progress
from viewer.stream.machines.multipass import Multipass
from viewer.stream.machines.singlepass import Singlepass

MACHINES: dict[str, type[Machine]] = {"multipass": Multipass, "singlepass": Singlepass}

__all__ = ["MACHINES", "Machine", "Multipass", "Progress", "Singlepass"]
