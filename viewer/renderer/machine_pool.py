"""How a program runs, and the machines that are kept ready for it, with their shaders and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from viewer.base.errors import ViewerError
from viewer.options import table as options
from viewer.options.values import PolicyChoice, Unroll
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.machines.common import Machine
from viewer.stream.machines.policy import policy as make_policy
from viewer.stream.machines.registry import MACHINES

DEFAULT = {name: entry.default for name, entry in options.OPTIONS.items()}

MOST_MACHINES = 4  # kept with their streams and shaders


@dataclass(frozen=True)
class Choices:
    """How the program runs: what may change from picture to picture."""

    program: str = DEFAULT["program"]
    machine: str = DEFAULT["machine"]
    policy: PolicyChoice = DEFAULT["policy"]
    unroll: Unroll = DEFAULT["unroll"]
    fuse: str = DEFAULT["fuse"]
    mask: str = DEFAULT["mask"]
    sampler: str = DEFAULT["sampler"]
    first_hits: str = DEFAULT["first_hits"]

    @property
    def stepwise(self) -> bool:
        """Whether every pass is one kernel: what a walk keeps must then fit its record."""
        return self.machine == "multipass" and self.fuse == "none"

    def facts(self) -> dict[str, str]:
        """What a picture says of the machine that made it."""
        names = () if self.machine == "singlepass" else ("policy", "unroll", "fuse", "mask")
        return {name: str(getattr(self, name)) for name in ("program", "machine", *names)}


Key = tuple[Any, tuple[int, int], bool, Choices]  # what runs, streams' (width, height), counting, how


class MachinePool(Mapping[Key, Machine]):
    """The machines used last, by their keys; one more gives the oldest one's streams back.

    bind : a program with the scene's modules, for passes of one kernel each or not, as the choices have it.
    """

    def __init__(
        self, device: Device, resources: Resources, bind: Callable[[Program, bool, Choices], LinkedProgram]
    ) -> None:
        self.device, self.resources, self.bind = device, resources, bind
        self._held: dict[Key, Machine] = {}

    def __getitem__(self, key: Key) -> Machine:
        return self._held[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def take(self, program: Program, key: Key) -> Machine:
        """The machine for a program under that key, made where there is none; the context must be current."""
        machine = self._held.pop(key, None)
        if machine is None:
            while len(self._held) >= MOST_MACHINES:
                self._held.pop(next(iter(self._held))).release()
            machine = self._make(program, key)
        self._held[key] = machine
        return machine

    def reload(self) -> None:
        """Make all machines anew, their shaders from their files. Raises ShaderError; the old ones then stay."""
        made: dict[Key, Machine] = {}
        with self.device.current():
            try:
                for key, old in self._held.items():
                    made[key] = self._make(old.linked.counted, key)
            except ViewerError:
                for machine in made.values():
                    machine.release()
                raise
            for old in self._held.values():
                old.release()
        self._held = made

    def release(self) -> None:
        """Give all machines back; the context must be current."""
        for machine in self._held.values():
            machine.release()
        self._held.clear()

    def _make(self, program: Program, key: Key) -> Machine:
        _, shape, counting, choices = key
        common: dict[str, Any] = {"resources": self.resources, "counting": counting}
        if not choices.stepwise:
            common["fallback"] = lambda: self.bind(program, True, choices)
        if choices.machine == "multipass":
            common |= {
                "fuse": choices.fuse,
                "policy": make_policy(choices.policy.name, choices.policy.share, choices.policy.of),
                "unroll": "auto" if choices.unroll.counts is None else choices.unroll.counts,
                "mask": choices.mask,
            }
        return MACHINES[choices.machine](self.device, self.bind(program, choices.stepwise, choices), shape, **common)


def warm(device: Device, machine: Machine) -> Iterator[float]:
    """Compile what the machine runs, in pieces: GLSL first, then the driver's part of each pass.

    Yields the share that is done. Raises ShaderError where a shader does not compile.
    """
    yield 0.0
    steps = machine.warm()
    while True:
        with device.current():
            share = next(steps, None)
        if share is None:
            return
        yield share
