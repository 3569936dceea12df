"""A mesh of a caller's arrays, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.scene.geometry.vertices import centred
from raystream.scene.mesh import Mesh

ROUNDING = 1e-3  # by which colours in floats may pass 1


def mesh_of_arrays(
    name: str, vertices: ArrayLike, faces: ArrayLike, normals: ArrayLike | None, colors: ArrayLike | None
) -> tuple[Mesh, NDArray[np.float64], list[str]]:
    """A mesh relative to its centre, the map (4, 4) that puts it back, and remarks on its triangles, see
    `Scene.from_triangles`."""
    points = checked(name, "vertices", vertices, (3,))
    points, place = centred(vertices) if len(points) else (points, np.eye(4))
    corners = checked(name, "faces", faces, (3,), np.integer)
    rgba = None
    if colors is not None:
        linear = checked(name, "colors", colors, (3, 4))
        if len(linear) != len(points):
            raise ViewerError(name, f"{len(linear)} colors for {len(points)} vertices")
        if linear.size and not (linear.min() >= 0 and linear.max() <= 1 + ROUNDING):
            what = f"colors reach from {linear.min():g} to {linear.max():g}"
            raise ViewerError(name, what, "give 0 to 1, linear; render((vertices, faces, colors)) takes bytes, too")
        rgba = np.ones((len(points), 4), np.float32)
        rgba[:, : linear.shape[1]] = linear
    directions = None if normals is None else checked(name, "normals", normals, (3,))
    mesh = Mesh(points, corners, normals=directions, colors=rgba, name=name)
    lost = int((~np.isfinite(mesh.positions[mesh.triangles]).all(axis=(1, 2))).sum())
    notes = [f"{name}: {lost} of {len(corners)} triangles have corners that are not finite"] if lost else []
    notes += [] if len(corners) else [f"{name}: no triangles"]
    return mesh, place, notes


def checked(where: str, what: str, values: ArrayLike, widths: tuple[int, ...], kind: type = np.float32) -> NDArray:
    """The values as (N, width), float32 or, for another kind, unchanged. Raises ViewerError for a mismatch."""
    try:
        array = source = np.asarray(values)
        if kind is np.float32 and source.dtype.kind != "c":
            with np.errstate(over="ignore"):  # checked below
                array = source.astype(np.float32)
                if source.dtype == np.float64 and (np.isinf(array) & np.isfinite(source)).any():
                    raise OverflowError("beyond float32")
        elif source.dtype.kind == "O":
            array = source.astype(np.int64)
    except OverflowError as error:
        raise ViewerError(where, f"{what} hold a number that is too large ({error})", "scale them down") from None
    except (TypeError, ValueError) as error:
        raise ViewerError(where, f"{what} are not numbers ({error})", f"give (N, {widths[0]})") from None
    if not array.size:
        return np.zeros((0, widths[0]), np.float32 if kind is np.float32 else np.int32)
    if array.ndim != 2 or array.shape[1] not in widths:
        expected = " or ".join(f"(N, {width})" for width in widths)
        raise ViewerError(where, f"{what} have shape {array.shape}, expected {expected}")
    if not np.issubdtype(array.dtype, kind):
        expected = "real numbers" if kind is np.float32 else "whole numbers"
        raise ViewerError(where, f"{what} are {array.dtype}, expected {expected}")
    return array
