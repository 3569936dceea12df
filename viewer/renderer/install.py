"""What another scene or other lighting needs on the device: numbers written in place where shaders and shapes stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from viewer.renderer.machine_pool import MachinePool
from viewer.renderer.prepared import CACHED, Prepared
from viewer.stream.declare.kernel import Module, Table
from viewer.stream.gl.resources import Resources


def install(before: Prepared, after: Prepared, resources: Resources, machines: MachinePool) -> Prepared:
    """What machines that hold the modules of ``before`` go on with to show ``after``.

    Where modules differ in numbers alone, those of ``before`` are overwritten, on the device as well, and nothing is
    compiled. Else all machines go, and so do the memories that ``after`` has no use for. The context must be current;
    pictures under way are to be abandoned.
    """
    if before.structure is not after.structure:
        _drop(before, after, resources, machines)
        return after
    old, new = before.scene_modules(), after.shading[1:]
    if before.lighting.made:
        new = [*new, *after.lighting.scene_modules()]
    if not _alike(old, new):
        _drop(before, after, resources, machines)
        return after
    values: dict[str, Any] = {}
    for mine, other in zip(old, new, strict=True):
        if mine is other:
            continue
        for table, fresh in zip(mine.memories, other.memories, strict=True):
            changed = _rows(table.data, fresh.data)
            if len(changed):
                assert isinstance(table, Table)
                table.data[...] = fresh.data
                resources.update(table, int(changed[0]), int(changed[-1]) + 1)
        mine.uniforms.update(other.uniforms)
        values |= {name: value for name, (_, value) in other.uniforms.items()}
    if values:
        for machine in machines.values():
            machine.set(values)
    lighting = after.lighting.like(before.lighting) if before.lighting.made else after.lighting
    kept = replace(after, shading=before.shading, lighting=lighting)
    kept.__dict__.update({name: vars(after)[name] for name in CACHED if name in vars(after)})
    return kept


def _drop(before: Prepared, after: Prepared, resources: Resources, machines: MachinePool) -> None:
    machines.release()
    kept = {id(memory) for module in after.made() for memory in module.memories}
    resources.drop(memory for module in before.made() for memory in module.memories if id(memory) not in kept)
    resources.arena.compact()  # no machine is left that knows where its tables lie


def _alike(old: Sequence[Module], new: Sequence[Module]) -> bool:
    """Whether the same shaders serve both, from tables of the same shapes."""
    return [_form(module) for module in old] == [_form(module) for module in new] and all(
        isinstance(memory, Table) or memory is fresh or np.array_equal(memory.data, fresh.data)
        for mine, other in zip(old, new, strict=True)
        for memory, fresh in zip(mine.memories, other.memories, strict=True)
    )


def _form(module: Module) -> tuple[Any, ...]:
    """What a module's shaders depend on."""
    memories = [(type(memory), memory.data.shape, memory.data.dtype) for memory in module.memories]
    return module.name, module.source, module.text, module.constants, module.features, memories


def _rows(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The rows that differ, bit by bit."""
    if old is new or not len(old):
        return np.zeros(0, np.intp)
    mine = np.ascontiguousarray(old).reshape(len(old), -1).view(np.uint8).reshape(len(old), -1)
    other = np.ascontiguousarray(new).reshape(len(new), -1).view(np.uint8).reshape(len(new), -1)
    return np.flatnonzero((mine != other).any(axis=1))
