"""Directional albedos of the lobes of glTF's materials, as modules: for layers and energy compensation.

The arrays are those of ``assets/albedo.npz``, which ``tools/albedo.py`` makes and describes. On the device a record
holds the four corners of a cell, so that a lookup in two dimensions is one fetch.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from raystream.base import paths
from raystream.base.errors import ViewerError
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

ALBEDO = Record("Albedo", Field("corners", "vec4", about="of a cell: (row, column), next column, next row, both next"))

BRIGHTEST_SHEEN = 8.0  # by which tools/albedo.py divides


@cache
def arrays() -> dict[str, NDArray[np.float64]]:
    """The arrays of ``assets/albedo.npz``, 0 .. 1. Raises ViewerError where the file cannot be read."""
    path = paths.assets() / "albedo.npz"
    try:
        with np.load(path) as file:
            return {name: file[name] / 65535.0 for name in file}
    except (OSError, ValueError) as error:
        raise ViewerError(
            str(path), f"cannot be read: {error}", "the installation is incomplete; install again"
        ) from None


def cells(values: NDArray) -> NDArray:
    """(N,) ALBEDO of an array (..., rows, columns): its cells, slice by slice, row by row."""
    corners = [values[..., :-1, :-1], values[..., :-1, 1:], values[..., 1:, :-1], values[..., 1:, 1:]]
    rows = np.zeros(corners[0].size, ALBEDO.dtype)
    rows["corners"] = np.stack(corners, axis=-1).reshape(-1, 4)
    return rows


@cache
def _module(name: str, function: str) -> Module:
    values = arrays()[name]
    upper = function.upper()
    constants: dict[str, int | float] = {
        f"{upper}_COLUMNS": values.shape[-1] - 1,
        f"{upper}_ROWS": values.shape[-2] - 1,
    }
    if values.ndim == 3:
        slices = values.shape[0] - 1
        both = name != "crossing_rise"  # ratios below 1 as well
        step = (values.shape[-1] - 1) * (values.shape[-2] - 1)
        constants |= {f"{upper}_SLICES": slices, f"{upper}_FIRST": slices // 2 if both else 0, f"{upper}_STEP": step}
    if name == "anisotropy":
        constants |= {f"{upper}_STRENGTHS": values.shape[0] - 1, f"{upper}_AZIMUTHS": values.shape[1] - 1}
    if name == "sheen":
        constants[f"{upper}_BRIGHTEST"] = BRIGHTEST_SHEEN
    return Module(
        f"{name} albedo",
        provides=(function,),
        source=f"materials/{function}.glsl",
        memories=(Table(f"{function}s", ALBEDO, cells(values)),),
        constants=constants,
    )


def ggx_albedo() -> Module:
    """``ggx_albedo``: of GGX that reflects everything. For every lobe of GGX."""
    return _module("reflection", "ggx_albedo")


def rise_albedo() -> Module:
    """``rise_albedo``: of GGX times the rise of a dielectric's Fresnel reflectance. For layers and transmission."""
    return _module("rise", "rise_albedo")


def crossing_albedo() -> Module:
    """``crossing_albedo``: of refraction by GGX. For transmission into a volume."""
    return _module("crossing", "crossing_albedo")


def crossing_rise_albedo() -> Module:
    """``crossing_rise_albedo``: the increase of transmission by a reflectance below 1 at grazing incidence."""
    return _module("crossing_rise", "crossing_rise_albedo")


def anisotropic_albedo() -> Module:
    """``anisotropic_albedo``: ``ggx_albedo`` of lobes that are longer in one direction. Needs that module."""
    module = _module("anisotropy", "anisotropic_albedo")
    return replace(module, needs=("ggx_albedo",))


def sheen_albedo() -> Module:
    """``sheen_albedo``: of Charlie's sheen."""
    return _module("sheen", "sheen_albedo")
