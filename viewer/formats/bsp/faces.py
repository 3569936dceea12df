"""Faces of a Quake III level as triangles over one table of vertices, all at once: no loop runs over faces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.bsp import lumps as bsp
from raystream.formats.files import Budget

Index = NDArray[np.int64]
_ATTRIBUTES = (("position", 3), ("uv", 2), ("light_uv", 2), ("normal", 3), ("color", 4))
_WIDTH = sum(width for _, width in _ATTRIBUTES)
# Memory of a face's row with its temporaries, of a triangle until its vertices are numbered, and of a patch's point.
_FACE_BYTES, _TRIANGLE_BYTES, _POINT_BYTES = 512, 192, 64
_POINTS = 1 << 16  # tessellated at once


@dataclass(frozen=True)
class Unfolded:
    """The triangles of faces, in their order.

    vertices  : (V,) of dtype `VERTEX`: the level's, and those of tessellated patches.
    triangles : (T, 3) int64, numbers of vertices.
    counts    : (N,) int64, triangles of each face.
    """

    vertices: NDArray
    triangles: Index
    counts: Index


def spans(starts: Index, lengths: Index) -> Index:
    """The numbers of all ranges, one behind the other: starts[0], starts[0] + 1, ..."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def drawn_faces(
    models: NDArray, lumps: dict[str, bytes], budget: Budget, hidden: int, path: Path
) -> tuple[Index, Index]:
    """Of all visible faces of some models: numbers of the model and of the face, (N,) each.

    hidden : flags of textures of which one hides a face. Raises ViewerError for a face that names anything out of
    range.
    """
    faces, textures = bsp.array(lumps, "faces", bsp.FACE), bsp.array(lumps, "textures", bsp.TEXTURE)
    lengths = models["faces"].astype(np.int64)
    budget.charge(_FACE_BYTES * int(lengths.sum()))
    numbers = spans(models["face"].astype(np.int64), lengths)
    owners = np.repeat(np.arange(len(models)), lengths)
    chosen = faces[numbers]
    refuse = _refusal(numbers, path)
    for name, label, count in (
        ("texture", "texture", len(textures)),
        ("lightmap", "lightmap", len(lumps["lightmaps"]) // (3 * bsp.PAGE * bsp.PAGE)),
    ):
        value, least = chosen[name], 0 if name == "texture" else np.iinfo(np.int32).min
        refuse((value < least) | (value >= count), lambda row: f"names {label} {value[row]} of {count}")  # noqa: B023
    for name, lump, size in (("vertex", "vertices", bsp.VERTEX.itemsize), ("corner", "corners", 4)):
        first, many, total = chosen[name].astype(np.int64), chosen[lump].astype(np.int64), len(lumps[lump]) // size
        wrong = (many < 0) | ((many > 0) & ((first < 0) | (first + many > total)))
        refuse(
            wrong,
            lambda row: f"has {lump} {first[row]:,} to {first[row] + many[row]:,} of {total:,}",  # noqa: B023
        )
    flags = textures["flags"][chosen["texture"]] if len(chosen) else np.zeros(0, np.int32)
    shown = (flags & hidden == 0) & np.isin(chosen["kind"], (bsp.POLYGON, bsp.PATCH, bsp.MESH))
    return owners[shown], numbers[shown]


def unfolded(numbers: Index, lumps: dict[str, bytes], budget: Budget, path: Path) -> Unfolded:
    """The triangles of faces by number, checked by `drawn_faces`.

    Raises ViewerError for corners that are not triangles of the face's own vertices, for nets that are not of odd
    sides, and beyond the budget.
    """
    faces, vertices = bsp.array(lumps, "faces", bsp.FACE)[numbers], bsp.array(lumps, "vertices", bsp.VERTEX)
    curved = faces["kind"] == bsp.PATCH
    refuse = _refusal(numbers, path)
    wide, tall = faces["net"].astype(np.int64).T
    vertex_counts = faces["vertices"].astype(np.int64)
    refuse(
        curved & ((np.minimum(wide, tall) < 3) | (wide % 2 == 0) | (tall % 2 == 0) | (wide * tall != vertex_counts)),
        lambda row: f"is a net of {wide[row]} x {tall[row]} control points, of {vertex_counts[row]}",
    )
    corners = np.where(curved, 0, faces["corners"].astype(np.int64))
    refuse(corners % 3 != 0, lambda row: f"has {corners[row]} corners, not a multiple of 3")
    points, triangle_counts = np.zeros(len(faces), np.int64), corners // 3
    points[curved], triangle_counts[curved] = counts(faces["net"][curved].astype(np.int64))
    budget.charge(_TRIANGLE_BYTES * int(triangle_counts.sum()) + _POINT_BYTES * int(points.sum()))

    starts = np.cumsum(triangle_counts) - triangle_counts
    triangles = np.empty((int(triangle_counts.sum()), 3), np.int64)
    flat = np.flatnonzero(~curved)
    indices = bsp.array(lumps, "corners", "<i4")[spans(faces["corner"][flat].astype(np.int64), corners[flat])]
    face = np.repeat(flat, corners[flat])
    strange = np.flatnonzero((indices < 0) | (indices >= vertex_counts[face]))
    if len(strange):
        row = face[strange[0]]
        raise ViewerError(
            f"{path}: face {numbers[row]:,}", f"indexes one of its vertices beyond {vertex_counts[row]}", bsp.DAMAGED
        )
    triangles[spans(starts[flat], triangle_counts[flat])] = (indices + faces["vertex"][face]).reshape(-1, 3)
    tessellation = _tessellation(faces, vertices, np.flatnonzero(curved), points, starts, triangles)
    return Unfolded(np.concatenate([vertices, tessellation]), triangles, triangle_counts)


def _refusal(numbers: Index, path: Path) -> Callable[[NDArray[np.bool_], Callable[[int], str]], None]:
    def refuse(wrong: NDArray[np.bool_], what: Callable[[int], str]) -> None:
        """Raise ViewerError for the first wrong face."""
        if wrong.any():
            row = int(wrong.argmax())
            raise ViewerError(f"{path}: face {numbers[row]:,}", what(row), bsp.DAMAGED)

    return refuse


def _tessellation(
    faces: NDArray, vertices: NDArray, curved: Index, points: Index, starts: Index, triangles: Index
) -> NDArray:
    """The points of patches, dtype `VERTEX`; their triangles are written from ``starts`` on. Patches whose nets have
    equal sides are tessellated together."""
    tessellation = np.zeros(int(points.sum()), bsp.VERTEX)
    before = np.cumsum(points) - points
    sides, shape = np.unique(faces["net"][curved], axis=0, return_inverse=True)
    by_shape = np.argsort(shape.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(shape.ravel(), minlength=len(sides)))
    for (wide, tall), last, first in zip(sides.tolist(), ends.tolist(), [0, *ends.tolist()], strict=False):
        rows = curved[by_shape[first:last]]
        step = max(1, _POINTS // int(points[rows[0]]))
        for part in (rows[at : at + step] for at in range(0, len(rows), step)):
            controls = vertices[faces["vertex"][part].astype(np.int64)[:, None] + np.arange(wide * tall)]
            values = np.concatenate([controls[name].astype(np.float64) for name, _ in _ATTRIBUTES], axis=-1)
            nets = np.nan_to_num(values, nan=0.0, posinf=1e30, neginf=-1e30).reshape(len(part), tall, wide, _WIDTH)
            surface, pattern = tessellated(nets)
            target = spans(before[part], points[part])
            tessellation[target] = _rows(surface.reshape(-1, _WIDTH))
            corners = pattern + (len(vertices) + before[part])[:, None, None]
            triangles[spans(starts[part], np.full(len(part), len(pattern)))] = corners.reshape(-1, 3)
    return tessellation


def _rows(values: NDArray[np.float64]) -> NDArray:
    """Attributes (N, 14) as rows of dtype `VERTEX`."""
    rows, start = np.zeros(len(values), bsp.VERTEX), 0
    with np.errstate(over="ignore", invalid="ignore"):
        for name, width in _ATTRIBUTES:
            part = values[:, start : start + width]
            rows[name] = np.clip(np.rint(part), 0, 255) if name == "color" else part
            start += width
    return rows


STEPS = 8  # segments of a patch along each side


def tessellated(nets: NDArray[np.float64], steps: int = STEPS) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points (..., (rows) (columns), C) of nets (..., H, W, C) of control points with any attributes, H and W odd and
    at least 3, and the triangles (T, 3) of each; neighbouring patches share points."""
    points = refined(refined(nets, -3, steps), -2, steps)
    rows, columns = points.shape[-3:-1]
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    b, c, d = a + columns, a + columns + 1, a + 1
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=1).reshape(-1, 3)
    return points.reshape(*points.shape[:-3], rows * columns, points.shape[-1]), triangles


def counts(sides: NDArray[np.int64], steps: int = STEPS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of points and of triangles (N,) of nets of those sides (N, 2)."""
    cells = (sides - 1) // 2 * steps
    return (cells + 1).prod(axis=1), 2 * cells.prod(axis=1)


def refined(nets: NDArray[np.float64], axis: int, steps: int) -> NDArray[np.float64]:
    """Values between control points along one axis."""
    nets = np.moveaxis(nets, axis, 0)
    patches = (len(nets) - 1) // 2
    at = np.arange(patches * steps + 1)
    patch = np.minimum(at // steps, patches - 1)
    t = (at / steps - patch).reshape(-1, *[1] * (nets.ndim - 1))
    first = 2 * patch
    values = (1 - t) ** 2 * nets[first] + 2 * t * (1 - t) * nets[first + 1] + t**2 * nets[first + 2]
    return np.moveaxis(values, 0, axis)
