"""The machines that are kept ready for a renderer's programs, with their shaders and streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast
from weakref import WeakMethod

from raystream.base.errors import ShaderError, ViewerError
from raystream.renderer.device.tuning import tuned
from raystream.renderer.inputs.settings import Settings
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.program import Program
from raystream.stream.gl.compiler import Batch
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Run
from raystream.stream.machines import MACHINES
from raystream.stream.machines.common import Machine, MachineOptions
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import policy as make_policy
from raystream.stream.selftest.fallbacks import DriverFallbacks, fallbacks_for

MAX_MACHINES = 7  # with streams and shaders: those of a picture with photons and features, and of some before it


@dataclass(frozen=True)
class Key:
    """The key of a machine's shaders and streams. The policy and the number of unrolled calls are not in it: the
    host alone uses them.

    identity : of the program. shape : of the streams, (width, height). counting : it keeps counters.
    passes  : how the program is cut into passes, see `Settings.passes`. sampler : its name, where it is linked.
    light_tree : lights are chosen by one. camera_moves : while the shutter is open.
    projection : of the camera, as of `Camera.kind`.
    """

    identity: tuple[Hashable, ...]
    shape: tuple[int, int]
    counting: bool
    passes: tuple[str, ...]
    sampler: str = ""
    light_tree: bool = False
    camera_moves: bool = False
    projection: str = ""


class MachinePool(Mapping[Key, Machine]):
    """The `MAX_MACHINES` machines used last, by their keys: one more releases the least recently used.

    bind : links a program with the scene's modules by settings; True: for passes of one kernel each. It is a method
    of the pool's owner, and held weakly: a cycle would keep scenes until Python looks for garbage.
    """

    def __init__(
        self, device: Device, resources: Resources, bind: Callable[[Program, Settings, bool | None], LinkedProgram]
    ) -> None:
        self.device, self.resources, self._bind = device, resources, WeakMethod(bind)
        self._machines: dict[Key, Machine] = {}
        self._settings: dict[Key, Settings] = {}  # by which each was made

    def __getitem__(self, key: Key) -> Machine:
        return self._machines[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._machines)

    def __len__(self) -> int:
        return len(self._machines)

    def take(
        self,
        program: Program,
        key: Key,
        settings: Settings,
        streams: Mapping[str, Stream] | None = None,
        deferred: bool = False,
    ) -> Machine:
        """The machine for a program under that key, a new one where there is none; the context must be current.
        streams : that a new machine shares, see `Machine`. deferred : `warm` compiles it. Raises ShaderError."""
        settings = resolved_settings(self.device, settings)
        machine = self._machines.pop(key, None)
        if machine is None:
            while len(self._machines) >= MAX_MACHINES:
                oldest = next(iter(self._machines))
                self._settings.pop(oldest)
                self._machines.pop(oldest).release()
            machine = self._make(program, key, settings, streams, deferred)
        if not deferred:
            try:
                machine.batch.finish()
            except ShaderError:
                machine.release()
                raise
        self._machines[key], self._settings[key] = machine, settings
        _schedule(machine, settings)
        return machine

    def machine_of(self, run: Run) -> Machine:
        """The machine for a job's run, whose key is a `Key` with the settings; its programs may still be to compile."""
        key, settings = cast("tuple[Key, Settings]", run.key)
        return self.take(run.program, key, settings, run.streams, deferred=True)

    def reload(self, current_program: Callable[[Key, Program, Settings], tuple[Key, Program]]) -> None:
        """Rebuild all machines, with shaders from their files. Raises ViewerError; the old machines then stay.
        current_program : returns a machine's key and program after files have changed."""
        machines: dict[Key, Machine] = {}
        settings: dict[Key, Settings] = {}
        with self.device.current():
            try:
                for before, old in self._machines.items():
                    key, program = current_program(before, old.linked.counted, self._settings[before])
                    settings[key] = self._settings[before]
                    machines[key] = self._make(program, key, settings[key])
            except ViewerError:
                for machine in machines.values():
                    machine.release()
                raise
            for old in self._machines.values():
                old.release()
        self._machines, self._settings = machines, settings

    def release(self) -> None:
        """Release all machines; the context must be current."""
        for machine in self._machines.values():
            machine.release()
        self._machines.clear()
        self._settings.clear()

    def _make(
        self,
        program: Program,
        key: Key,
        settings: Settings,
        streams: Mapping[str, Stream] | None = None,
        deferred: bool = False,
    ) -> Machine:
        options = MachineOptions(key.counting, deferred, settings.fuse, settings.mask, int(settings.tile))
        fallback = None if settings.stepwise else lambda: self._linked(program, settings, True)
        linked = self._linked(program, settings)
        machine = MACHINES[settings.machine](self.device, linked, key.shape, self.resources, streams, fallback, options)
        _schedule(machine, settings)
        return machine

    def _linked(self, program: Program, settings: Settings, stepwise: bool | None = None) -> LinkedProgram:
        bind = self._bind()
        assert bind is not None, "the owner of a machine's pool has gone"
        return bind(program, settings, stepwise)


def driver_fallbacks(device: Device, settings: Settings) -> DriverFallbacks:
    """How programs run by the settings on a device, see `raystream.stream.selftest.fallbacks`."""
    settings = tuned(settings, device.driver, device.software_form)
    return fallbacks_for(device, settings.machine, settings.mask, settings.count)


def resolved_settings(device: Device, settings: Settings) -> Settings:
    """The settings with ``auto`` replaced by its meaning on the device, and a machine, mask or count that fails its
    self-test there by the next one that passes."""
    settings, fallbacks = tuned(settings, device.driver, device.software_form), driver_fallbacks(device, settings)
    if not fallbacks.notes:
        return settings
    return settings.replace(machine=fallbacks.machine, mask=fallbacks.mask, count=fallbacks.count)


def _schedule(machine: Machine, settings: Settings) -> None:
    """Set the choices of the host alone in a machine: its scheduling policy, unrolled calls and counting."""
    if isinstance(machine, Multipass):
        policy = settings.policy
        machine.policy = make_policy(policy.name, policy.share, policy.of)
        machine.unroll = "auto" if settings.unroll.counts is None else settings.unroll.counts
        machine.count = settings.count


def warm(device: Device, *machines: Machine) -> Iterator[float]:
    """Compile the machines' programs step by step: GLSL first, then the driver's part of each pass. Compilation in the
    driver's threads is polled once a step, not waited for. Yields the share that is done. Raises ShaderError where a
    shader does not compile."""
    yield 0.0
    yield from compiled(device, Batch(linked for machine in machines for linked in machine.batch), 0.0)
    for index, machine in enumerate(machines):
        for fraction in device.steps(machine.warm()):
            yield (index + fraction) / len(machines)


def compiled(device: Device, batch: Batch, scale: float = 1.0) -> Iterator[float]:
    """Compile a batch step by step; yields ``scale`` times the share that is done. Raises ShaderError."""
    return (scale * fraction for fraction in device.steps(batch.steps()))
