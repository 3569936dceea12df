"""Other light on the same scene: lights that move and surroundings that turn, without compiling where that can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from viewer.machine_pool import MachinePool
from viewer.prepare import Prepared
from viewer.scene.environment import Environment
from viewer.scene.scene import Scene
from viewer.shading.each_light import each_light
from viewer.shading.lights import scene_lights
from viewer.shading.materials import appearance
from viewer.stream.kernel import Module, Table
from viewer.stream.machines.common import Memories


def lit_by(prepared: Prepared, scene: Scene, environment: Environment | None = None) -> Prepared:
    """The same structure with the lights of ``scene``, which differs in nothing else, in an environment (without, the
    one that is there)."""
    before = prepared.around
    found = before.environment if environment is None else environment
    listed = scene_lights(scene, found)
    around = replace(before, environment=found, listed=listed, each=each_light(scene, found), _lit=[])
    looks = appearance(scene.materials, scene.textures, listed.density)
    made = replace(prepared, scene=scene, shading=[*prepared.shading[:2], *looks], around=around)
    made.__dict__.update({name: prepared.__dict__[name] for name in ("starts", "triangles") if name in vars(prepared)})
    return made


def adopted(before: Prepared, after: Prepared, memories: Memories, machines: MachinePool) -> Prepared:
    """What machines that hold the modules of ``before`` go on with to show ``after``, of the same structure.

    Where modules differ in numbers alone, those of ``before`` are overwritten, on the device as well. Else all machines
    go, and ``after`` it is. The context must be current; pictures under way are to be abandoned.
    """
    old, new = _modules(before), _modules(after)
    if not _alike(old, new):
        machines.release()
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
                memories.update(table, int(changed[0]), int(changed[-1]) + 1)
        mine.uniforms.update(other.uniforms)
        values |= {name: value for name, (_, value) in other.uniforms.items()}
    for machine in machines.values():
        machine.set(values)
    around = replace(after.around, each=before.around.each, _lit=before.around._lit)
    kept = replace(after, shading=before.shading, around=around)
    kept.__dict__.update({name: after.__dict__[name] for name in ("starts", "triangles") if name in vars(after)})
    return kept


def _modules(prepared: Prepared) -> list[Module]:
    """Those that depend on light; path settings and samplers, which come with them, are set for every run."""
    lit = prepared.around.modules(True, "independent")
    return [*prepared.shading[2:], *(module for module in lit if not module.name.endswith("settings"))]


def _alike(old: Sequence[Module], new: Sequence[Module]) -> bool:
    """Whether the same shaders serve both, from tables of the same shapes."""
    return len(old) == len(new) and all(
        mine is other
        or (
            (mine.name, mine.source, mine.text, mine.constants) == (other.name, other.source, other.text, other.constants)
            and [(type(m), m.data.shape, m.data.dtype) for m in mine.memories]
            == [(type(m), m.data.shape, m.data.dtype) for m in other.memories]
            and all(
                isinstance(m, Table) or np.array_equal(m.data, o.data)
                for m, o in zip(mine.memories, other.memories, strict=True)
            )
        )
        for mine, other in zip(old, new, strict=True)
    )


def _rows(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The rows that differ, bit by bit."""
    if old is new or not len(old):
        return np.zeros(0, np.intp)
    mine = np.ascontiguousarray(old).reshape(len(old), -1).view(np.uint8).reshape(len(old), -1)
    other = np.ascontiguousarray(new).reshape(len(new), -1).view(np.uint8).reshape(len(new), -1)
    return np.flatnonzero((mine != other).any(axis=1))
