"""The environment's light on a level floor, as a module: directions in proportion to radiance times cosine.

All points of a floor without an end see the same environment at the same angles, so that one table serves them all, and
the share of these directions in which nothing is in the way is the floor's ratio of shadowed to unshadowed light.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.scene.environment import ConstantEnvironment, Environment, ImageEnvironment, cached_by_pixels
from raystream.scene.light import luminance
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

SHARE = Record("FloorShare", Field("up_to", "float", about="share of the light in the entries up to this one"))


class FloorShares(NamedTuple):
    """table : cumulative shares of the rows of an image's upper half, then of the texels of each. size : texels across,
    and rows of that half. irradiance : luminance of the floor's irradiance, W/m^2."""

    table: Table
    size: tuple[int, int]
    irradiance: float


def floor_light(environment: Environment) -> Module:
    """The module that provides ``floor_light``; its uniform ``floor_irradiance`` is 0 where none comes from above."""
    provides = ("floor_light",)
    if isinstance(environment, ConstantEnvironment):
        arriving = math.pi * float(luminance(environment.radiance))
        uniforms = {"floor_irradiance": ("float", arriving)}
        return Module("floor in even light", provides, "shading/floor_light_constant.glsl", uniforms=uniforms)
    floor = floor_shares(environment)
    return Module(
        "floor in an image's light",
        provides,
        "shading/floor_light_image.glsl",
        (floor.table,),
        {
            "floor_irradiance": ("float", floor.irradiance),
            "floor_texels": ("ivec2", floor.size),
            "floor_rows": ("int", environment.pixels.shape[0]),
            "floor_turn": ("vec2", tuple(map(float, environment.turn))),
        },
    )


@cached_by_pixels
def floor_shares(image: ImageEnvironment) -> FloorShares:
    """A floor's irradiance from each texel of an image's upper half: mean radiance times the cosine over the texel."""
    height, width = image.pixels.shape[:2]
    rows = (height + 1) // 2
    edges = np.maximum(np.cos(np.arange(rows + 1) * (math.pi / height)), 0.0)
    projected = (edges[:-1] ** 2 - edges[1:] ** 2) / 2 * (2 * math.pi / width)  # solid angle times cosine
    light = (image.cell_flux() / image.solid_angles()[:, None])[:rows] * projected[:, None]
    of_rows = light.sum(axis=1)
    parts = [_cumulative(of_rows[None]), _cumulative(light)]
    entries = np.zeros(rows + rows * width, SHARE.dtype)
    entries["up_to"] = np.concatenate([part.ravel() for part in parts])
    return FloorShares(Table("floor_shares", SHARE, entries), (width, rows), float(of_rows.sum()))


def _cumulative(weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """Cumulative shares along the last axis, exactly 1 from the last weight above 0 on; without any, even ones."""
    total = weights.sum(axis=-1, keepdims=True)
    sums = np.cumsum(np.where(total > 0, weights, 1.0), axis=-1)
    return (sums / sums[..., -1:]).astype(np.float32)
