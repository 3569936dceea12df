"""All lights of a scene in turn, as a module: for programs that ask every light at every surface."""

from __future__ import annotations

import numpy as np

from viewer.kernels.records import LIGHT_SAMPLE
from viewer.lighting.lights import LIGHT, Emitters, emitters, light_list
from viewer.scene.environment import DARKNESS, Environment
from viewer.scene.scene import Scene
from viewer.stream.declare.kernel import Module, Table


def each_light(scene: Scene, environment: Environment = DARKNESS) -> Module:
    """``each_light_sample`` over a scene's lights in an environment, with the table ``each_lights``.

    Unlike ``light_sample``, which chooses one of all by power, it is asked for each in turn: every light without
    extent, one point of all triangles that shine, one direction of the environment. It asks for the module of
    `viewer.lighting.lights`, whose records it shares. Surfaces on which a texture shines are none of these lights: they
    are seen, and light nothing.
    """
    lit = [light for light in scene.lights if max(light.intensity) > 0]
    near = light_list(emitters(scene), materials=len(scene.materials))
    nothing = Emitters(np.zeros((0, 3, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.int32))
    alone = light_list(nothing, lit).records[: len(lit)].copy()
    for record, light in zip(alone, lit, strict=True):
        record["power"] = light.intensity  # not over a probability: it is always asked
    records = np.concatenate([alone, near.records])
    uniforms = {
        "each_punctual": len(lit),
        "each_levels": near.levels,
        "each_environment": int(environment.flux > 0),
    }
    return Module(
        "each light",
        provides=("each_light_sample",),
        source="shading/light_each.glsl",
        memories=(Table("each_lights", LIGHT, records),),
        uniforms={name: ("int", value) for name, value in uniforms.items()},
        needs=("light_sample", "environment_radiance", "environment_sample"),
        uses=(LIGHT_SAMPLE,),
    )
