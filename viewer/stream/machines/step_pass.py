"""A compiled step of the multipass machine: one kernel pass with its inputs and outputs."""

from __future__ import annotations

from dataclasses import replace

from raystream.stream.compile.form import Form, outputs
from raystream.stream.compile.link import Step
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.machines.common import STATE_WORDS, Machine
from raystream.stream.machines.copies import copy_source
from raystream.stream.machines.mask import DEPTH_OF_STEP, Mask


class StepPass:
    """The shader, targets and samplers of a step, with its ``number`` in the mask.

    parts : shaders with their targets; one, unless a step has more textures than the device's passes can write: then
    each writes some, and all read the state before the first (``copies``). copied : copies each part back. loops : a
    pass may call it more than once. words : read and written by a ray.
    """

    def __init__(self, machine: Machine, mask: Mask, tiles: Tiles, copies: bool, step: Step, number: int) -> None:
        self.mask, self.copies = mask, copies
        self.step, self.number = step, number
        device = machine.device
        most, rounds = device.outputs, device.limits is not None and device.limits.rounds
        self.form = Form(True, mask.discards, rounds=rounds, software=device.software_form)
        names = outputs(machine.linked, step, self.form)
        self.forms = [self.form]
        if len(names) > most:
            assert copies, "passes that write in place would change the next part's input"
            self.forms = [replace(self.form, stores=tuple(names[k : k + most])) for k in range(0, len(names), most)]
        self.drawings = [Drawing(device, machine._compile(step, form), tiles) for form in self.forms]
        self.counts = machine._count_drawings(step, self.form, tiles)
        program = machine.linked.program
        self.loops = step.turns or (not step.fused and step.name in program.looping())
        self.words = (
            len(self.forms) * (sum(4 * machine.linked.records[s].texels for s in step.loads) + STATE_WORDS),
            sum(4 * machine.linked.records[s].texels for s in step.stores) + STATE_WORDS,
        )
        self.copies_back = [
            Drawing(device, Shader(device, copy_source(machine.linked, step, form)), tiles)
            for form in (self.forms if copies else ())
        ]
        for drawing in (*self.drawings, *self.counts, *self.copies_back):
            drawing.shader.set("depth", number * DEPTH_OF_STEP)
        self.attach(machine)

    def attach(self, machine: Machine) -> None:
        """Bind the textures of the machine's streams. The machine is not kept: it keeps this."""
        step, form, attach = self.step, self.form, self.mask.attach
        self.samplers = machine._samplers(step, form)
        targets = [attach(machine._targets(step, form, back=self.copies)) for form in self.forms]
        self.parts = list(zip(self.drawings, targets, strict=True))
        parts = machine.linked.count_parts(step) if self.counts else ()
        self.count_targets = [attach([machine.counts[f"count_{k}"].textures[0] for k in p]) for p in parts]
        self.copied = []
        for copying, part in zip(self.copies_back, self.forms if self.copies else (), strict=True):
            names, written = outputs(machine.linked, step, part), machine._targets(step, part, back=True)
            samplers = [(f"in_{n}", t) for n, t in zip(names, written, strict=True)]
            self.copied.append((copying, samplers, attach(machine._targets(step, part))))
