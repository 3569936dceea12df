"""Another scene, or other lighting, in the place of the one on the device: numbers alone where shaders and the form of
tables stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raystream.renderer.device.machine_pool import MachinePool
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.stream.declare.kernel import Module
from raystream.stream.gl.resources import Resources


def replace_scene(before: PreparedScene, after: PreparedScene, resources: Resources, machines: MachinePool) -> bool:
    """Bring ``after`` to the device in the place of ``before``; whether the machines stay.

    Where modules differ in numbers alone, the tables of ``after`` take the places of those of ``before``, and nothing
    is compiled: lights, materials and whatever has moved, under a rebuilt structure as well. Else all machines go,
    and so do the memories that ``after`` does not use. Neither of the two is changed. The context must be current;
    pictures in progress are to be abandoned.
    """
    old, new = _modules(before, after)
    if not _alike(old, new, resources):
        _drop(before, after, resources, machines)
        return False
    after.lighting.share(before.lighting)
    values: dict[str, Any] = {}
    exchanged: set[int] = set()  # two modules may have one table
    for mine, other in zip(old, new, strict=True):
        if mine is other:
            continue
        for memory, fresh in zip(mine.memories, other.memories, strict=True):
            if id(memory) not in exchanged:
                resources.exchange(memory, fresh)
                exchanged.add(id(memory))
        for name in other.capacities:  # programs are kept that have room for more
            other.constants[name] = mine.constants[name]
        values |= {name: value for name, (_, value) in other.uniforms.items()}
    if values:
        for machine in machines.values():
            machine.set(values)
    return True


def _modules(before: PreparedScene, after: PreparedScene) -> tuple[list[Module], list[Module]]:
    """Those with tables of the scene, as far as programs may know them, and their counterparts."""
    old, new = before.scene_modules(), after.shading[1:]
    if before.lighting.made:
        new = [*new, *after.lighting.scene_modules(before.lighting.trees)]
    if before.structure is after.structure:
        return old, new
    return [*old, *before.structure.made()], [*new, *after.structure.made_like(before.structure)]


def _drop(before: PreparedScene, after: PreparedScene, resources: Resources, machines: MachinePool) -> None:
    machines.release()
    shared = {id(memory) for module in after.made() for memory in module.memories}
    resources.drop(memory for module in before.made() for memory in module.memories if id(memory) not in shared)
    resources.arena.compact()  # no machine is left that knows where its tables lie


def _alike(old: Sequence[Module], new: Sequence[Module], resources: Resources) -> bool:
    """Whether the programs of one serve the other, from tables in the same places."""
    if len(old) != len(new):
        return False
    pairs = [(mine, other) for mine, other in zip(old, new, strict=True) if mine is not other]
    return all(_form(mine) == _form(other) and _within(mine, other) for mine, other in pairs) and all(
        resources.exchangeable(memory, fresh)
        for mine, other in pairs
        for memory, fresh in zip(mine.memories, other.memories, strict=True)
    )


def _form(module: Module) -> tuple[Any, ...]:
    """The key of a module's programs, beside its memories."""
    constants = {name: value for name, value in module.constants.items() if name not in module.capacities}
    uniforms = [(name, kind) for name, (kind, _) in module.uniforms.items()]
    shape = module.name, module.source, module.text, module.features, module.module_state
    return *shape, constants, uniforms, len(module.memories)


def _within(old: Module, new: Module) -> bool:
    """Whether programs with the capacities of one serve the other."""
    return all(new.constants[name] <= old.constants[name] for name in new.capacities)
