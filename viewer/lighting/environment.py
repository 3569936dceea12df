"""Environments as modules: what a ray that leaves the scene sees, and directions that light is likely to come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.lighting import alias
from viewer.scene.environment import ConstantEnvironment, Environment, ImageEnvironment
from viewer.stream.declare.kernel import Module, Table
from viewer.stream.declare.record import Field, Record

LEVELS = 1 << 16  # quanta of a slot of an alias table
LEAST_EXCESS = 1 / 32  # of the flux: a shadow ray for less costs more than the variance that it spares

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
EXCESS = Record(
    "EnvironmentExcess",
    Field("threshold", "int", "quanta", about="as of EnvironmentChoice"),
    Field("alias", "int", about="as of EnvironmentChoice"),
    Field("density", "float", "1 / sr", about="of choosing a direction in the slot's own texel"),
    Field("alias_density", "float", "1 / sr", about="and in the alias"),
)

PROVIDES = ("environment_radiance", "environment_sample", "environment_density")


def environment_uniforms(environment: Environment) -> dict[str, Any]:
    """What can change without another upload: the colour of a constant environment, the turn of a picture."""
    if isinstance(environment, ConstantEnvironment):
        return {"environment_color": tuple(map(float, environment.radiance))}
    return {"environment_turn": tuple(map(float, environment.turn))}


def environment(scene_lighting: Environment) -> Module:
    """The module of an environment; an image brings 16 bytes a texel, and 24 a slot of its two alias tables."""
    uniforms = environment_uniforms(scene_lighting)
    if isinstance(scene_lighting, ConstantEnvironment):
        return Module(
            "constant environment",
            provides=PROVIDES,
            source="shading/constant_environment.glsl",
            uniforms={name: ("vec3", value) for name, value in uniforms.items()},
            constants={"ENVIRONMENT_LEVELS": LEVELS},
        )
    texels, choices, excess, slots = image_tables(scene_lighting)
    height, width = scene_lighting.pixels.shape[:2]
    return Module(
        "image environment",
        provides=PROVIDES,
        source="shading/image_environment.glsl",
        memories=(
            Table("environment_texels", TEXEL, texels),
            Table("environment_choices", CHOICE, choices),
            Table("environment_excess", EXCESS, excess),
        ),
        uniforms={
            "environment_turn": ("vec2", uniforms["environment_turn"]),
            "environment_size": ("ivec2", (width, height)),
            "environment_slots": ("ivec2", slots),
        },
        constants={"ENVIRONMENT_LEVELS": LEVELS},
    )


def image_tables(image: ImageEnvironment) -> tuple[NDArray, NDArray, NDArray, tuple[int, int]]:
    """Texels (H * W,), choices (slots,) by flux, choices (slots,) by excess over the mean, and how the slots are
    arranged: across and down, both powers of two.

    Random numbers of 24 bits then choose every slot equally often. A black picture has densities of zero, and so has
    the excess of one that is constant or nearly.
    """
    height, width = image.pixels.shape[:2]
    count = alias.power_of_two(width * height)
    across = min(alias.power_of_two(width), count)
    texels = np.zeros(width * height, TEXEL.dtype)
    texels["radiance"] = image.pixels.reshape(-1, 3)
    choices, excess = np.zeros(count, CHOICE.dtype), np.zeros(count, EXCESS.dtype)
    flux, angles = image.cell_flux().ravel(), np.repeat(image.solid_angles(), width)
    if flux.max() > 0:
        table, texels["density"] = _choices(flux, angles, count)
        choices["threshold"], choices["alias"] = table.threshold, table.alias
    above = excess_flux(flux, angles)
    if above.max() > 0:
        table, excess["density"][: len(flux)] = _choices(above, angles, count)
        excess["threshold"], excess["alias"] = table.threshold, table.alias
        excess["alias_density"] = excess["density"][table.alias]
    return texels, choices, excess, (across, count // across)


def excess_flux(flux: NDArray[np.float64], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T,): what texels of such flux and solid angles (T,) have above the mean radiance of all; zeros if that is little.

    The directions of BSDF sampling, over all surfaces nearly uniform, find the rest with less variance: Karlik et al.,
    MIS Compensation, 2019, section 5, of as many samples by light as by BSDF.
    """
    above = np.maximum(flux - angles * (flux.sum() / angles.sum()), 0.0)
    return above if above.sum() > LEAST_EXCESS * flux.sum() else np.zeros_like(above)


def _choices(weights: NDArray, angles: NDArray, slots: int) -> tuple[alias.AliasTable, NDArray[np.float64]]:
    """The table of that many slots for texels of such weights and solid angles (T,), and their densities (T,), 1 / sr."""
    table = alias.build(weights, slots, LEVELS)
    return table, np.minimum(table.probability / angles, np.finfo(np.float32).max)
