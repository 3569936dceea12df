"""4,096 copies of a model in a dataset's scene took minutes to place, without a word: each position tried was measured
against every copy before, by a loop in Python."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from raystream.dataset.sampling import CANDIDATES, POSES, generator
from tests.dataset.recipes import cube, stage

COPIES = 4096  # the most in a scene
SECONDS = 2.0


def test_they_are_placed_in_seconds(tmp_path: Path) -> None:
    """By the process's own time."""
    cube(tmp_path)
    models, told = [{"file": "cube.obj", "size": [0.01, 0.02], "count": COPIES}], list[tuple[int, int]]()
    made = stage(tmp_path, formats=["coco"], models=models)
    made.layout(1)  # loops are compiled once per machine
    begin = time.process_time()
    layout = made.layout(0, lambda copies, of: told.append((copies, of)))
    assert time.process_time() - begin < SECONDS
    assert len(layout.placements) == COPIES and told == [(k, COPIES) for k in range(1, COPIES + 1)]


def test_each_has_the_most_room(tmp_path: Path) -> None:
    """Of the positions drawn, as measured one by one; far from the origin, too."""
    cube(tmp_path)
    for area in ([[-1, 0, -1], [1, 0, 1]], [[9e5, 0, -9e5], [9e5 + 2, 1, -9e5 + 2]]):
        models = [{"file": "cube.obj", "size": [0.1, 0.5], "count": 60}]
        made = stage(tmp_path, formats=["coco"], models=models, poses={"area": area, "turn": "any"})
        placements, shape = made.layout(3).placements, made.assets[0].shape
        draw, low, high = generator(0, POSES, 3), np.array(area[0]), np.array(area[1])
        draw.random()  # of the count
        for k, placed in enumerate(placements):
            draw.random(4)  # of size and rotation
            lift = -(shape.points @ placed.rotation[1]).min() * placed.scale
            positions = low + draw.random((CANDIDATES, 3)) * (high - low) + (0.0, lift, 0.0)
            radii = [other.scale * shape.radius for other in placements[:k]]
            gaps = [
                min(
                    (
                        np.linalg.norm(position - other.position) - radius
                        for other, radius in zip(placements[:k], radii, strict=True)
                    ),
                    default=0.0,
                )
                for position in positions
            ]
            assert (placed.position == positions[int(np.argmax(gaps))]).all()
    assert any(a.scale != b.scale for a, b in pairwise(placements))
