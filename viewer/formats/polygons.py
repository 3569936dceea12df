"""Triangulation of polygons: n corners give n - 2 triangles in the polygon's winding, so that counts are known
before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import run
from raystream.formats.polygons_loops import clip_polygons, cut_polygons, scratch

Long = NDArray[np.int64]

# Number of corners below which the loops are not worth compiling.
SMALL = 1000


def triangulate(positions: NDArray, corners: Long, lengths: Long) -> tuple[Long, Long, int]:
    """Triangles of polygons, as numbers of corners.

    positions (V, 3) float; corners (C,) vertex numbers in range, polygon by polygon; lengths (P,) corners of each
    (fewer than 3 give no triangle). Returns (triangles (T, 3) numbers into ``corners``, polygon (T,) of each, number of
    polygons too tangled for ear clipping, partly cut as fans).

    Convex polygons become fans around their first corner; quadrilaterals are cut along the inner diagonal; others by
    ear clipping (Meisters 1975), tested against nearby reflex corners from a grid. Non-planar polygons are projected
    along their largest normal component (Newell's normal).
    """
    lengths = np.require(lengths, np.int64, ["C"])
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    if len(lengths) and (lengths == 3).all():
        return np.arange(3 * len(lengths)).reshape(-1, 3), np.arange(len(lengths)), 0
    counts = np.maximum(lengths - 2, 0)
    polygon = np.repeat(np.arange(len(lengths)), counts)
    if not len(polygon):
        return np.zeros((0, 3), np.int64), polygon, 0
    shape = (np.require(positions, np.float32, ["C"]), np.require(corners, np.int64, ["C"]), starts, lengths)
    triangles, plane = np.empty((len(polygon), 3), np.int64), np.empty((max(4, int(lengths.max())), 2))
    hard = np.empty((int(np.count_nonzero(lengths > 4)), 2), np.int64)
    hard_count = run(cut_polygons, *shape, triangles, hard, plane, small=len(corners) < SMALL)
    hard = hard[:hard_count]
    if not hard_count:
        return triangles, polygon, 0
    # Separate loops: few files need them, and they take seconds to compile.
    room = scratch(int(lengths[hard[:, 0]].max()))
    small = int(lengths[hard[:, 0]].sum()) < SMALL
    return triangles, polygon, run(clip_polygons, *shape, triangles, hard, plane, *room, small=small)
