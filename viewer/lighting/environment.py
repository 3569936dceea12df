"""Environments as modules: what a ray that leaves the scene sees, and directions that light is likely to come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.lighting import alias
from viewer.scene.environment import ConstantEnvironment, Environment, ImageEnvironment
from viewer.stream.declare.kernel import Module, Table
from viewer.stream.declare.record import Field, Record

LEVELS = 1 << 16  # quanta of a slot of the alias table

TEXEL = Record(
    "EnvironmentTexel",
    Field("radiance", "vec3", "W / (m^2 sr), linear sRGB"),
    Field("density", "float", "1 / sr", about="of choosing a direction in this texel"),
)
CHOICE = Record(
    "EnvironmentChoice",
    Field("threshold", "int", "quanta", about="below it the slot stands for the texel of its own number"),
    Field("alias", "int", about="the texel that it stands for else"),
)

PROVIDES = ("environment_radiance", "environment_sample", "environment_density")


def environment_uniforms(environment: Environment) -> dict[str, Any]:
    """What can change without another upload: the colour of a constant environment, the turn of a picture."""
    if isinstance(environment, ConstantEnvironment):
        return {"environment_color": tuple(map(float, environment.radiance))}
    return {"environment_turn": tuple(map(float, environment.turn))}


def environment(scene_lighting: Environment) -> Module:
    """The module of an environment; an image brings two memories, 16 bytes a texel, and 8 a slot of its alias table."""
    uniforms = environment_uniforms(scene_lighting)
    if isinstance(scene_lighting, ConstantEnvironment):
        return Module(
            "constant environment",
            provides=PROVIDES,
            source="shading/constant_environment.glsl",
            uniforms={name: ("vec3", value) for name, value in uniforms.items()},
            constants={"ENVIRONMENT_LEVELS": LEVELS},
        )
    texels, choices, slots = image_tables(scene_lighting)
    height, width = scene_lighting.pixels.shape[:2]
    return Module(
        "image environment",
        provides=PROVIDES,
        source="shading/image_environment.glsl",
        memories=(Table("environment_texels", TEXEL, texels), Table("environment_choices", CHOICE, choices)),
        uniforms={
            "environment_turn": ("vec2", uniforms["environment_turn"]),
            "environment_size": ("ivec2", (width, height)),
            "environment_slots": ("ivec2", slots),
        },
        constants={"ENVIRONMENT_LEVELS": LEVELS},
    )


def image_tables(image: ImageEnvironment) -> tuple[NDArray, NDArray, tuple[int, int]]:
    """Texels (H * W,), choices (slots,), and how the slots are arranged: across and down, both powers of two.

    Random numbers of 24 bits then choose every slot equally often. A black picture has densities of zero.
    """
    height, width = image.pixels.shape[:2]
    count = alias.power_of_two(width * height)
    across = min(alias.power_of_two(width), count)
    texels = np.zeros(width * height, TEXEL.dtype)
    texels["radiance"] = image.pixels.reshape(-1, 3)
    choices = np.zeros(count, CHOICE.dtype)
    flux = image.cell_flux().ravel()
    if flux.max() > 0:
        table = alias.build(flux, count, LEVELS)
        density = table.probability / np.repeat(image.solid_angles(), width)
        texels["density"] = np.minimum(density, np.finfo(np.float32).max)
        choices["threshold"], choices["alias"] = table.threshold, table.alias
    return texels, choices, (across, count // across)
