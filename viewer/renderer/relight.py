"""Other light on the same scene: lights that move and surroundings that turn, without compiling where that can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from viewer.lighting.each_light import each_light
from viewer.lighting.environment import environment_uniforms
from viewer.lighting.lights import scene_lights
from viewer.materials.tables import with_light_density
from viewer.renderer.machine_pool import MachinePool
from viewer.renderer.prepared import Prepared
from viewer.scene.environment import Environment, ImageEnvironment
from viewer.scene.scene import Scene
from viewer.stream.declare.kernel import Module, Table
from viewer.stream.gl.resources import Resources

KEPT = ("starts", "triangles")  # cached properties of `Prepared` that light has no part in


def with_lighting(prepared: Prepared, scene: Scene, environment: Environment | None = None) -> Prepared:
    """The same structure with the lights of ``scene``, which differs in nothing else, in an environment (without, the
    one that is there)."""
    before = prepared.lighting
    found = before.environment if environment is None else environment
    listed = scene_lights(scene, found)
    far = before._far if found is before.environment else []
    lighting = replace(before, environment=found, listed=listed, each=each_light(scene, found), _lit=[], _far=far)
    looks = with_light_density(prepared.shading[2:], scene.materials, len(scene.textures), listed.density)
    made = replace(prepared, scene=scene, shading=[*prepared.shading[:2], *looks], lighting=lighting)
    made.__dict__.update({name: prepared.__dict__[name] for name in KEPT if name in vars(prepared)})
    return made


def adopted(before: Prepared, after: Prepared, resources: Resources, machines: MachinePool) -> Prepared:
    """What machines that hold the modules of ``before`` go on with to show ``after``, of the same structure.

    Where modules differ in numbers alone, those of ``before`` are overwritten, on the device as well. Else all machines
    go, with the memories that they alone had, and ``after`` it is. The context must be current; pictures under way are
    to be abandoned.
    """
    old, new = _modules(before), _modules(after)
    if not _alike(old, new):
        machines.release()
        kept_ones = {id(memory) for module in new for memory in module.memories}
        resources.drop(memory for module in old for memory in module.memories if id(memory) not in kept_ones)
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
    for machine in machines.values():
        machine.set(values)
    lighting = after.lighting
    lighting = replace(before.lighting, environment=lighting.environment, listed=lighting.listed, notes=lighting.notes)
    kept = replace(after, shading=before.shading, lighting=lighting)
    kept.__dict__.update({name: after.__dict__[name] for name in KEPT if name in vars(after)})
    return kept


def turned(prepared: Prepared, degrees: float, machines: MachinePool) -> Prepared:
    """The same with its picture of the surroundings at another rotation about +Y, for which a uniform is enough."""
    found = prepared.lighting.environment
    if not isinstance(found, ImageEnvironment):
        return prepared
    found = found.rotated(degrees)
    values = environment_uniforms(found)
    for module in prepared.lighting.modules(True, "independent"):
        for name in values.keys() & module.uniforms.keys():
            module.uniforms[name] = (module.uniforms[name][0], values[name])
    for machine in machines.values():
        machine.set(values)
    made = replace(prepared, lighting=replace(prepared.lighting, environment=found))
    made.__dict__.update({name: prepared.__dict__[name] for name in KEPT if name in vars(prepared)})
    return made


def _modules(prepared: Prepared) -> list[Module]:
    """Those that depend on light; path settings and samplers, which come with them, are set for every run."""
    lit = prepared.lighting.modules(True, "independent")
    return [*prepared.shading[2:], *(module for module in lit if not module.name.endswith("settings"))]


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
    return module.name, module.source, module.text, module.constants, memories


def _rows(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The rows that differ, bit by bit."""
    if old is new or not len(old):
        return np.zeros(0, np.intp)
    mine = np.ascontiguousarray(old).reshape(len(old), -1).view(np.uint8).reshape(len(old), -1)
    other = np.ascontiguousarray(new).reshape(len(new), -1).view(np.uint8).reshape(len(new), -1)
    return np.flatnonzero((mine != other).any(axis=1))
