"""A step of the multipass machine, compiled: one kernel pass, with what it reads and writes."""

from __future__ import annotations

from viewer.stream.compile.generate import Form, outputs
from viewer.stream.compile.link import Step
from viewer.stream.gl.draw import Drawing, Shader, Tiles
from viewer.stream.machines.common import STATE_WORDS, Machine
from viewer.stream.machines.copies import copy_source
from viewer.stream.machines.mask import DEPTH_OF_STEP, Mask


class StepPass:
    """The shader, targets and samplers of a step, which has a ``number`` in the mask.

    loops : it may be called more often than once in a pass. words : that a ray reads and writes. copy : without a
    texture barrier (``copies``), takes back what the kernel wrote to a second set of textures.
    """

    def __init__(self, machine: Machine, mask: Mask, tiles: Tiles, copies: bool, step: Step, number: int) -> None:
        self.machine, self.mask, self.copies = machine, mask, copies
        self.step, self.number = step, number
        self.form = Form(scheduled=True, discards=mask.discards)
        self.drawing = Drawing(machine.device, machine._compile(step, self.form), tiles)
        self.counts = machine._count_drawings(step, self.form, tiles)
        program = machine.linked.program
        self.loops = step.turns or (not step.fused and step.name in program.looping())
        self.words = (
            sum(4 * machine.linked.records[s].texels for s in step.loads) + STATE_WORDS,
            sum(4 * machine.linked.records[s].texels for s in step.stores) + STATE_WORDS,
        )
        self.copy: Drawing | None = None
        if copies:
            copying = Shader(machine.device, copy_source(machine.linked, step, self.form))
            self.copy = Drawing(machine.device, copying, tiles)
        for drawing in (self.drawing, *self.counts, *([self.copy] if self.copy else [])):
            drawing.shader.set("depth", number * DEPTH_OF_STEP)
        self.attach()

    def attach(self) -> None:
        """Bind the textures of the machine's streams."""
        machine, step, form, attach = self.machine, self.step, self.form, self.mask.attach
        self.samplers = machine._samplers(step, form)
        self.target = attach(machine._targets(step, form, back=self.copies))
        parts = machine.linked.count_parts(step) if self.counts else ()
        self.count_targets = [attach([machine.counts[f"count_{k}"].textures[0] for k in p]) for p in parts]
        if self.copy is not None:
            names, written = outputs(machine.linked, step, form), machine._targets(step, form, back=True)
            self.copy_samplers = [(f"in_{n}", t) for n, t in zip(names, written, strict=True)]
            self.copy_target = attach(machine._targets(step, form))
