"""Rays and quadrics in float64: all roots, which count, and how near a call it was."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.accel.primitives import record
from raystream.scene.quadric import PlacedQuadrics

Float = NDArray[np.float64]


class Found(NamedTuple):
    """t (R,), inf for a miss; number (R,), -1 for one; normal (R, 3) on the front side. doubtful (R,): a silhouette, an
    edge or another surface is so near that float32 may decide otherwise."""

    t: Float
    number: NDArray[np.int64]
    normal: Float
    doubtful: NDArray[np.bool_]


@np.errstate(all="ignore")
def nearest(placed: PlacedQuadrics, origins: Any, directions: Any, near: float = 1e-4) -> Found:
    """The nearest hits of rays (R, 3), against the very numbers of the table; near: of doubts, relative."""
    origins, directions = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
    count = len(origins)
    best, number = np.full(count, np.inf), np.full(count, -1)
    normal, doubtful = np.zeros((count, 3)), np.zeros(count, bool)
    second = np.full(count, np.inf)  # nearest that is hit or doubtful
    for row in record(placed):
        inverse = np.array([row[f"inverse_{axis}"][:3] for axis in "xyz"], np.float64)
        place = np.array([row[f"inverse_{axis}"][3] for axis in "xyz"], np.float64)
        squares, linear = row["squares"].astype(np.float64), float(row["linear"])
        o, d = (origins - place) @ inverse.T, directions @ inverse.T
        shift = -(o * d).sum(1) / (d * d).sum(1)  # to where the terms are small
        o = o + shift[:, None] * d
        a, b = (squares * d * d).sum(1), (squares * o * d).sum(1) + 0.5 * linear * d[:, 1]
        c = (squares * o * o).sum(1) + linear * o[:, 1] + float(row["constant"])
        discriminant = b * b - a * c
        root = np.sqrt(np.maximum(discriminant, 0.0))
        straight = np.stack([-c / (2.0 * b), np.full(count, np.nan)])  # where there is one root alone
        roots = np.where(a != 0.0, np.stack([-b - root, -b + root]) / a, straight)
        points = o + roots[..., None] * d
        ring = points[..., 0] ** 2 + points[..., 2] ** 2
        room = [points - row["low"], row["high"] - points, (row["ring"][1] - ring)[..., None]]
        room += [(ring - row["ring"][0])[..., None]] if row["ring"][0] > 0.0 else []
        within = np.concatenate(room, axis=-1).min(axis=-1)
        t = roots + shift
        # Relative to the terms that cancel in it.
        grazing = np.abs(discriminant) < near * np.maximum(b * b, np.abs(a * c))
        for k in range(2):
            maybe = (discriminant > -near * np.maximum(b * b, np.abs(a * c))) & (within[k] > -near) & (t[k] > -near)
            sure = (discriminant >= 0.0) & (within[k] >= 0.0) & (t[k] > 0.0)
            unsure = maybe & (grazing | (np.abs(within[k]) < near) | (np.abs(t[k]) < near))
            doubtful |= unsure & (t[k] < best + near)
            nearer = sure & (t[k] < best)
            second = np.where(nearer, best, np.where(sure, np.minimum(second, t[k]), second))
            slope = (2.0 * squares * points[k] + [0.0, linear, 0.0]) @ inverse * float(row["side"])
            best[nearer], number[nearer] = t[k][nearer], row["number"]
            normal[nearer] = slope[nearer] / np.linalg.norm(slope[nearer], axis=1, keepdims=True)
    doubtful |= np.isfinite(best) & (np.abs(second - best) < near * np.maximum(best, 1.0))
    return Found(best, number, normal, doubtful)
