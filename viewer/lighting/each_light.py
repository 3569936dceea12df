"""All lights of a scene in turn, as a module: for programs that ask every light at every surface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from raystream.kernels.records import LIGHT_SAMPLE
from raystream.lighting.ambient import Ambient, ambient
from raystream.lighting.emitters import Emitters, emitters
from raystream.lighting.lights import RECORDS, light_list
from raystream.scene.environment import DARKNESS
from raystream.scene.light import Light
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module, Table

CHANNELS = ("red", "green", "blue")


def each_light(scene: Scene, environment: Ambient | None = None) -> Module:
    """``each_light_sample`` over a scene's lights and an environment's suns, with the table ``each_lights``, and
    ``ambient_irradiance``.

    environment : in world space; None: dark.
    Unlike ``light_sample``, which chooses one of all by power, it is asked for each in turn: every light without
    extent, suns among them, and one point of all triangles that shine. It asks for the module of
    `raystream.lighting.lights`, whose records it shares.
    """
    around = environment or ambient(DARKNESS)
    lit = [light for light in scene.lights if any(light.intensity)]
    for towards, irradiance in zip(around.towards, around.irradiance, strict=True):
        x, y, z = towards.tolist()
        lit.append(Light("directional", "sun", direction=(-x, -y, -z), intensity=tuple(irradiance.tolist())))
    near = light_list(emitters(scene), materials=len(scene.materials))
    nothing = Emitters(np.zeros((0, 3, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.int32))
    punctual = light_list(nothing, lit).records[: len(lit)].copy()
    if lit:
        punctual["power"] = [light.intensity for light in lit]  # not over a probability: each is always asked
    record = RECORDS[near.textured, len(near.keys) > 0 or any(light.motion for light in lit)]
    records = np.zeros(len(punctual) + len(near.records), record.dtype)
    for name in {"texture", "keys"}.intersection(record.dtype.names or ()):
        records[name] = -1
    for rows, source_records in ((records[: len(lit)], punctual), (records[len(lit) :], near.records)):
        for name in source_records.dtype.names or ():
            rows[name] = source_records[name]
    if "keys" in (punctual.dtype.names or ()):  # behind those of the triangles in the list of all lights
        moves = np.flatnonzero(punctual["keys"] >= 0)
        records["keys"][moves] += near.keys.size
    counts = {"each_punctual": len(lit), "each_levels": near.levels}
    return Module(
        "each light",
        provides=("each_light_sample", "ambient_irradiance"),
        source="shading/light_each.glsl",
        memories=(Table("each_lights", record, records),),
        uniforms={**{name: ("int", value) for name, value in counts.items()}, **_forms(around)},
        needs=("light_sample",),
        uses=(LIGHT_SAMPLE,),
    )


def turned(module: Module, environment: Ambient) -> Module:
    """The module of `each_light` at another rotation of the environment: only its suns and uniforms are other ones."""
    (table,) = module.memories
    assert isinstance(table, Table)
    records: Any = table.data.copy()
    last = int(module.uniforms["each_punctual"][1])
    records["edge1"][last - len(environment.towards) : last] = environment.towards
    return replace(
        module,
        memories=(Table(table.name, table.record, records),),
        uniforms={**module.uniforms, **_forms(environment)},
    )


def _forms(environment: Ambient) -> dict[str, tuple[str, Any]]:
    """The uniforms of the ambient light."""
    forms = zip(CHANNELS, environment.quadratic, strict=True)
    # Symmetric: rows are columns.
    return {f"each_ambient_{channel}": ("mat4", tuple(map(float, form.ravel()))) for channel, form in forms}
