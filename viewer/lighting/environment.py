"""Environments as modules: radiance for rays that leave the scene, and importance sampling of directions.

These have two densities, both on the device, chosen by a uniform: in proportion to the radiance for programs that
sample lights alone, and to its excess over the mean where BSDF sampling finds the rest (MIS compensation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.lighting import alias
from raystream.lighting.suns import (
    CELL,
    PLACE,
    Sun,
    cells_of_texels,
    remaining_fraction,
    sun_cells,
    sun_flux,
    sun_places,
    suns_of,
)
from raystream.scene.environment import ConstantEnvironment, Environment, ImageEnvironment, cached_by_pixels
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import LARGEST_INTEGER, Field, Record

LEVELS = 1 << 16  # quanta of a slot of an alias table
MIN_DEVIATION = 1 / 4  # of radiance, relative to its mean: below, shadow rays cost more than they save

TEXEL = Record(
    "EnvironmentTexel",
    Field("radiance", "vec3", "W / (m^2 sr), linear sRGB"),
    Field(
        "sun", "int", about="1 + the number of the sun's cell between this texel's middle and the next ones'; 0: none"
    ),
)
CHOICE = Record(
    "EnvironmentChoice",
    *alias.slot_fields("texel"),
    Field("density", "float", "1 / sr", about="of choosing a direction in the texel of the slot's number"),
    Field("alias_density", "float", "1 / sr", about="and in the alias"),
)

PROVIDES = ("environment_radiance", "environment_sample", "environment_density")


def environment_uniforms(environment: Environment) -> dict[str, Any]:
    """The values that change without another upload: a constant environment's colour, a picture's rotation."""
    if isinstance(environment, ConstantEnvironment):
        return {"environment_color": tuple(map(float, environment.radiance))}
    return {"environment_turn": tuple(map(float, environment.turn))}


def environment(scene_lighting: Environment) -> Module:
    """The module of an environment; an image has 16 bytes a texel, and 32 a slot of its alias tables."""
    uniforms = environment_uniforms(scene_lighting)
    if isinstance(scene_lighting, ConstantEnvironment):
        return Module(
            "constant environment",
            provides=PROVIDES,
            source="shading/constant_environment.glsl",
            uniforms={name: ("vec3", value) for name, value in uniforms.items()},
            constants={"ENVIRONMENT_LEVELS": LEVELS},
        )
    tables = image_tables(scene_lighting)
    height, width = scene_lighting.pixels.shape[:2]
    return Module(
        "image environment",
        provides=PROVIDES,
        source="shading/image_environment.glsl",
        memories=(
            Table("environment_texels", TEXEL, tables.texels),
            Table("environment_choices", CHOICE, tables.choices),
            *([Table("environment_suns", CELL, tables.sun_cells)] if tables.suns else []),
            *([Table("environment_sun_places", PLACE, tables.sun_places)] if tables.suns else []),
        ),
        uniforms={
            "environment_turn": ("vec2", uniforms["environment_turn"]),
            "environment_size": ("ivec2", (width, height)),
            "environment_slots": ("ivec2", tables.slots),
            "environment_excess": ("int", tables.excess),
            **({"environment_sun_levels": ("ivec2", tables.sun_levels)} if tables.suns else {}),
            **({"environment_suns_count": ("int", len(tables.suns))} if tables.suns else {}),
            **({"environment_sun_slots": ("int", len(tables.sun_cells) // 2)} if tables.suns else {}),
        },
        constants={"ENVIRONMENT_LEVELS": LEVELS},
        features=frozenset({"SUN"} if tables.suns else ()),
    )


class ImageTables(NamedTuple):
    """The device's tables of an image: texels (H * W,) of `TEXEL`, choices of `CHOICE`.

    slots : of an alias table, across and down, both powers of two, so that random numbers of 24 bits choose each
    equally often. excess : first of ``choices`` of the table by excess over the mean, behind that by flux.
    suns : of the image, which then are in neither; sun_levels : quanta of `LEVELS` that choose one of them beside each
    of the two; sun_cells : of `raystream.lighting.suns.CELL`, for both; sun_places : of `PLACE`, for both.
    """

    texels: NDArray
    choices: NDArray
    slots: tuple[int, int]
    excess: int
    suns: Sequence[Sun] = ()
    sun_levels: tuple[int, int] = (0, 0)
    sun_cells: Any = None
    sun_places: Any = None


@cached_by_pixels
def image_tables(image: ImageEnvironment) -> ImageTables:
    """The tables of an image. Both alias tables, by flux and by excess flux, are in one memory: a pass reads few
    textures. A black image has densities of zero, and so has the excess of one that is constant or nearly. An image
    whose two tables could not be addressed has one for both uses."""
    height, width = image.pixels.shape[:2]
    count = alias.power_of_two(width * height)
    table_width = min(alias.power_of_two(width), count)
    texels = np.zeros(width * height, TEXEL.dtype)
    texels["radiance"] = image.pixels.reshape(-1, 3)
    flux, angles = image.cell_flux().ravel(), np.repeat(image.solid_angles(), width)
    excess = count if 2 * count <= LARGEST_INTEGER else 0
    weights = [flux, excess_flux(flux, angles)] if excess else [flux]
    suns = suns_of(image)
    if not suns:
        tables = [_choice_table(weight, angles, count, LEVELS) for weight in weights]
        return ImageTables(texels, np.concatenate(tables), (table_width, count // table_width), excess)
    texels["sun"] = cells_of_texels(image, suns)
    pixels = (image.pixels * remaining_fraction(image, suns)[..., None]).astype(np.float32)
    remaining = replace(image, pixels=pixels).cell_flux().ravel()
    mean = flux.sum() / angles.sum()
    weights = [remaining, np.maximum(remaining - mean * angles, 0.0)][: len(weights)]
    sun_fluxes = [float(sun_flux(image, sun).sum()) for sun in suns]
    # Quanta of each sun by flux, and of all the rest at the end, for each table.
    quanta = [alias.apportion([*sun_fluxes, float(weight.sum())], LEVELS).tolist() for weight in weights]
    tables = [_choice_table(weight, angles, count, shares[-1]) for weight, shares in zip(weights, quanta, strict=True)]
    levels = [shares[:-1] for shares in quanta] * (3 - len(quanta))
    return ImageTables(
        texels,
        np.concatenate(tables),
        (table_width, count // table_width),
        excess,
        suns,
        (sum(levels[0]), sum(levels[1])),
        np.concatenate(
            [sun_cells(image, *pair, LEVELS) for shares in levels for pair in zip(suns, shares, strict=True)]
        ),
        sun_places(suns, levels),
    )


def excess_flux(flux: NDArray[np.float64], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T,): the flux of texels above the mean radiance, by fluxes and solid angles (T,); zeros for nearly even images.
    BSDF sampling, over all surfaces together nearly uniform, finds the rest with less variance (O. Karlik et al., "MIS
    Compensation", 2019; this is their density where as many samples come from the environment as from the BSDF)."""
    mean = flux.sum() / angles.sum()
    variance = np.average((flux / angles - mean) ** 2, weights=angles)
    if variance <= (MIN_DEVIATION * mean) ** 2:
        return np.zeros_like(flux)
    return np.maximum(flux - mean * angles, 0.0)


def _choice_table(weights: NDArray, angles: NDArray, slots: int, levels: int) -> NDArray:
    """(slots,) of `CHOICE`: the alias table of texels of such weights and solid angles (T,), chosen by ``levels`` of
    `LEVELS` quanta; zeros without weight."""
    choices = np.zeros(slots, CHOICE.dtype)
    if weights.max() > 0 and levels:
        table = alias.build(weights, slots, levels)
        choices["threshold"], choices["alias"] = table.threshold, table.alias
        density = table.probability / angles * (levels / LEVELS)
        choices["density"][: len(angles)] = np.minimum(density, np.finfo(np.float32).max)
        choices["alias_density"] = choices["density"][table.alias]
    return choices
