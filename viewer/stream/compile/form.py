"""The form of a generated program: a machine's requirements, and the textures that it reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raystream.stream.compile.link import LinkedProgram, Step


@dataclass(frozen=True)
class Form:
    """A machine's requirements of a generated program, besides the step itself.

    scheduled : the state comes from and goes to a stream (multipass); else it is a local variable (single pass).
    discards  : the program itself discards rays in other states (no mask).
    stores    : names of its output textures, where one pass cannot write all; empty: all.
    rounds    : outputs are rounded to the floats of the papers' day (``shaders/lib/stored.glsl``).
    software  : for a driver that rasterises on the CPU, which spills anyway, and reads uniforms slowly; else for a GPU,
                whose registers are few.
    counts    : numbers of the count textures that it updates, as its only outputs: kernel calls, and words fetched at
                random.
    """

    scheduled: bool
    discards: bool = False
    counts: tuple[int, ...] = ()
    stores: tuple[str, ...] = ()
    rounds: bool = False
    software: bool = True


def textures(linked: LinkedProgram, streams: Sequence[str], form: Form) -> list[str]:
    """Names of the textures of these streams, and of the state, in the order of attachments and samplers."""
    names = ["state"] if form.scheduled else []
    return names + [f"{stream}_{k}" for stream in streams for k in range(linked.records[stream].texels)]


def inputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the step's input textures; its uniforms are ``in_<name>``."""
    return textures(linked, list(dict.fromkeys((*step.loads, *step.gathers))), form)


def outputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the step's output textures, in the order of its colour attachments."""
    if form.counts:
        return [f"count_{k}" for k in form.counts]
    return [name for name in textures(linked, step.stores, form) if not form.stores or name in form.stores]


def unrolls(step: Step, form: Form) -> bool:
    """Whether the host limits the calls, or the turns, of a pass."""
    return form.scheduled and (step.turns or not step.fused)
