"""Rays in a triangle's plane that start beside it hit it, up to its own size away from where it is.

Edge functions that rounding makes zero held on the edges' extensions too, and where a single one was left of rounding,
the distance was any between those of the corners.
"""

from __future__ import annotations

import exact
import meshes
import numpy as np

from raystream import Renderer


def test_rays_in_the_plane_of_a_triangle_hit_nothing_beside_it() -> None:
    rng = np.random.default_rng(0)
    corners = np.float32([[[-1, -0.3, -1], [1, 0.7, -1], [0.1, 0.55, 1]]])
    a, ab, ac = (corners[0, k].astype(np.float64) - (corners[0, 0] if k else 0) for k in range(3))
    count = 400_000
    start, end = (a + rng.uniform(-3, 3, (count, 1)) * ab + rng.uniform(-3, 3, (count, 1)) * ac for _ in range(2))
    origins = start.astype(np.float32)
    directions = (end - origins).astype(np.float32)
    renderer = Renderer(meshes.scene(corners), machine="singlepass", program="cast")
    hits = renderer.trace(origins, directions)
    verdict = exact.judge(corners, origins, directions, hits.triangle, hits.distance)
    hit = hits.triangle >= 0
    assert hit.sum() > 1000
    # The ray just behind whose origin an edge lies cannot be told from one that starts on it: some in a million.
    assert len(verdict.wrong) <= 4
    point = origins[hit].astype(np.float64) + hits.distance[hit, None] * directions[hit].astype(np.float64) - a
    weights = np.linalg.lstsq(np.stack([ab, ac], axis=1), point.T, rcond=None)[0]
    beside = np.maximum(-weights.min(axis=0), weights.sum(axis=0) - 1)
    assert (beside < 0.1).all()  # up to 1.4 before
