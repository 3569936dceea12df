"""Samplers as modules: each random number is a function of pixel, sample, dimension and seed alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from raystream.base import paths
from raystream.base.errors import ViewerError
from raystream.materials.bsdf import CAMERA, dimensions
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

MAX_SEED = (1 << 31) - 1
TILE_BITS = 6  # log2 of the side of a blue-noise tile
RANDOM_BITS = 16  # log2 of the length of the table of random points

BLUE_NOISE = Record("BlueNoise", Field("value", "vec2", about="of two tiles; whole numbers of 16 bits"))
RANDOM = Record("Random", Field("value", "vec2", about="a point of the unit square"), Field("start", "int"))

PROVIDES = ("sample_1d", "sample_2d")


def sampler_uniforms(seed: int, first: int = 0) -> dict[str, int]:
    """The uniforms of every sampler; setting them restarts nothing and compiles nothing.

    first : index of the first sample, 0 .. 65535, by which pictures of one sample each have different points. Raises
    ViewerError for a seed that is not in 0 .. 2^31 - 1.
    """
    if not 0 <= seed <= MAX_SEED:
        raise ViewerError(f"seed {seed}", f"expected a whole number from 0 to {MAX_SEED}")
    return {"sampler_seed": int(seed), "sampler_first": int(first)}


def sampler(name: str = "sobol", seed: int = 0) -> Module:
    """The module of a sampler by its name, which provides ``sample_1d`` and ``sample_2d``. Raises ViewerError for an
    unknown name, and for a seed out of range."""
    if name not in SAMPLERS:
        raise ViewerError("sampler", f"no sampler '{name}'", f"samplers: {', '.join(SAMPLERS)}")
    module = SAMPLERS[name]()
    module.uniforms |= {key: ("int", value) for key, value in sampler_uniforms(seed).items()}
    return module


def independent() -> Module:
    """The module of independent numbers, by a hash."""
    return Module("independent sampler", PROVIDES, "shading/sampler_independent.glsl")


def sobol() -> Module:
    """The module of Owen-scrambled Sobol points with a blue-noise shift."""
    return Module(
        "Sobol sampler",
        PROVIDES,
        "shading/sampler_sobol.glsl",
        memories=(Table("blue_noise", BLUE_NOISE, blue_noise()),),
        constants={"BLUE_NOISE_BITS": TILE_BITS},
    )


def zorder() -> Module:
    """The module of Owen-scrambled points in z-order over pixels; directions of two successive surfaces are jointly
    stratified."""
    layout = dimensions()
    joint: dict[str, int | float] = {
        "JOINT_FIRST": CAMERA + layout["DIMENSION_BSDF"],
        "JOINT_APART": layout["DIMENSIONS_OF_SURFACE"],
    }
    return Module("z-order sampler", PROVIDES, "shading/sampler_zorder.glsl", constants=joint)


def table() -> Module:
    """The module of random numbers from a texture (Purcell 2004)."""
    return Module(
        "random table",
        PROVIDES,
        "shading/sampler_table.glsl",
        memories=(Table("random", RANDOM, random_points()),),
        constants={"RANDOM_BITS": RANDOM_BITS},
    )


SAMPLERS: dict[str, Callable[[], Module]] = {
    "sobol": sobol,
    "zorder": zorder,
    "independent": independent,
    "table": table,
}


@cache
def blue_noise() -> NDArray:
    """(4096,) BLUE_NOISE: the tiles of ``assets/blue_noise.npy``, which ``tools/blue_noise.py`` makes; row by row.
    Raises ViewerError where the file is missing or is not that one."""
    side, path = 1 << TILE_BITS, paths.assets() / "blue_noise.npy"
    try:
        pixels = np.load(path)
    except (OSError, ValueError, EOFError):
        pixels = np.zeros((0, 0))
    if pixels.shape != (side, 2 * side):
        raise ViewerError(str(path), "missing or damaged", "the installation is incomplete; install again")
    out = np.zeros(side * side, BLUE_NOISE.dtype)
    out["value"][:, 0], out["value"][:, 1] = pixels[:, :side].ravel(), pixels[:, side:].ravel()
    return out


@cache
def random_points() -> NDArray:
    """(65536,) RANDOM: one point in every square of a 256 x 256 grid, in random order, and random places to start."""
    generator = np.random.default_rng(20040600)
    cells = generator.permutation(1 << RANDOM_BITS)
    strata = np.stack([cells & 255, cells >> 8], axis=-1)
    inside = generator.integers(0, 1 << 16, strata.shape)
    out = np.zeros(1 << RANDOM_BITS, RANDOM.dtype)
    out["value"] = ((strata << 16) | inside) * 2.0**-24  # 24 bits: exact, and below 1
    out["start"] = generator.permutation(1 << RANDOM_BITS)
    return out
