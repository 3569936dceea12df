"""The machines by name."""

from __future__ import annotations

from viewer.stream.machines.common import Machine
from viewer.stream.machines.multipass import Multipass
from viewer.stream.machines.singlepass import Singlepass

MACHINES: dict[str, type[Machine]] = {"multipass": Multipass, "singlepass": Singlepass}
