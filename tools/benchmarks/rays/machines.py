"""Machines for measurements: many settings over one renderer's scene, memories and camera."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from raystream.cameras.lens import camera_uniforms
from raystream.kernels import PIXEL
from raystream.programs import LEVELS, PICTURES
from raystream.renderer.renderer import Renderer
from raystream.stream.machines import MACHINES
from raystream.stream.machines.common import Machine
from raystream.stream.machines.policy import Policy, Sweep


@dataclass(frozen=True)
class Setting:
    """A machine and its options; all but ``machine`` belong to multipass."""

    machine: str
    fuse: str = "none"
    policy: Policy = field(default_factory=Sweep)
    unroll: int | tuple[int, ...] | str = 1
    mask: str = "depth"


def make(renderer: Renderer, setting: Setting, size: tuple[int, int], counting: bool = False) -> Machine:
    """The ray caster on a machine, its pixels and camera set: every `Machine.run` makes the same picture."""
    options: dict[str, Any] = {}
    if setting.machine == "multipass":
        options = {"fuse": setting.fuse, "policy": setting.policy, "unroll": setting.unroll, "mask": setting.mask}
    stepwise = setting.machine == "multipass" and setting.fuse == "none"
    program = PICTURES["cast"](LEVELS[renderer.prepared.structure.levels])
    machine = MACHINES[setting.machine](
        renderer.device,
        renderer.gpu_scene.bind(program, renderer.settings, stepwise),
        size,
        resources=renderer.gpu_scene.resources,
        counting=counting,
        fallback=lambda: renderer.gpu_scene.bind(program, renderer.settings, stepwise=True),
        **options,
    )
    machine.set(camera_uniforms(renderer.camera, size))
    pixels = np.zeros((size[1], size[0]), PIXEL.dtype)
    pixels["at"][..., 1], pixels["at"][..., 0] = np.mgrid[: size[1], : size[0]]
    machine.write("pixel", pixels)
    return machine


def whole_run(machine: Machine) -> Callable[[], None]:
    """A complete run, device included, without read-back beyond the host's needs: the timed unit."""

    def run() -> None:
        with machine.device.current():
            machine.finish()
            machine.device.context.finish()

    return run
