"""The dissertation's machine for debug views: ``multipass --fuse none``, counting, one kernel pass at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from raystream.base.errors import ViewerError
from raystream.cameras.lens import lens_uniforms
from raystream.options.values import PolicyChoice, Unroll
from raystream.renderer.inputs.camera import eye
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.stream.declare.program import Program
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Policy
from raystream.stream.machines.policy import policy as make_policy


class SingleStep:
    """Another policy's choices, one step at a time, so that the machine stops after every pass."""

    counts: ClassVar[bool] = True

    def __init__(self, inner: Policy) -> None:
        self.inner = inner
        self._ahead: list[int] = []

    def choose(self, waiting: Sequence[int], total: int) -> list[int]:
        """The next step of the round with a waiting ray."""
        while True:
            while self._ahead:
                step = self._ahead.pop(0)
                if step < len(waiting) and waiting[step]:  # a round may outlast its loop
                    return [step]
            self._ahead = list(self.inner.choose(waiting, total))


def program_form(renderer: Renderer) -> tuple[Any, ...]:
    """The key of machines for the renderer's program, besides size and schedule."""
    settings = renderer.settings
    return settings.picture_program, settings.sampler, *settings.form().items()


def single_step(renderer: Renderer, size: tuple[int, int], policy: PolicyChoice, unroll: Unroll) -> Multipass:
    """The machine for the renderer's program over streams of ``size`` (width, height), independent of the window's own.

    Every pass is compiled in advance, so that no step is slow.
    """
    machine = Multipass(
        renderer.device,
        renderer.gpu_scene.bind(_by_rays(renderer), renderer.settings, stepwise=True),
        size,
        renderer.gpu_scene.resources,
        counting=True,
        fuse="none",
        policy=SingleStep(make_policy(policy.name, policy.share, policy.of)),
        unroll="auto" if unroll.counts is None else unroll.counts,
    )
    for _ in machine.warm():
        pass
    return machine


def _by_rays(renderer: Renderer) -> Program:
    """The renderer's program with first hits by rays, whose passes are visible."""
    return renderer.program(settings=renderer.settings.replace(first_hits="rays", eye_rays="each"))


def fill(
    machine: Multipass,
    renderer: Renderer,
    camera: Camera,
    size: tuple[int, int],
    corner: tuple[int, int] = (0, 0),
    centred: bool = False,
) -> None:
    """Set the machine's rays to the pixels of the renderer's picture of ``size``, from ``corner`` (column, row) on, at
    the first sample of a progressive program. ``centred``: through the centres of pixel and lens, regardless of
    filter and aperture, like all layers of a picture.

    Raises ViewerError for a program that does not start from pixels.
    """
    inputs = machine.linked.program.inputs
    if "pixel" not in inputs:
        name = machine.linked.program.name
        raise ViewerError(f"program {name}", "does not start from pixels", "choose a program that makes pictures")
    lens, pixel_filter = eye(renderer.settings, camera)
    machine.set(lens_uniforms(camera.with_lens(0.0) if centred else lens, size, "point" if centred else pixel_filter))
    shared, program = renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared, machine.linked.program
    machine.set(renderer.prepared.sample_uniforms(program, renderer.settings, shared))
    width, height = machine.size
    photons = renderer.photon_map.streams
    if "photons" in inputs:
        if not photons:
            raise ViewerError("program photon", "its photon map is missing", "render a picture first")
        machine.borrow(photons)
        machine.set(renderer.photon_map.uniforms(renderer.settings, camera, size[1]))
    for name in inputs:
        if name in photons:
            continue
        elements = np.zeros((height, width), machine.linked.records[name].dtype)
        if name == "pixel":
            y, x = np.mgrid[:height, :width]
            elements["at"] = np.stack([x, y], axis=-1) + corner
        machine.write(name, elements)
