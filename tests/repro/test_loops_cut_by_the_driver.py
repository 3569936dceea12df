"""llvmpipe ends the loops of a fragment program after 65,535 turns in all, and rays came back without their hits.

The built-in stadium, with 57,000 triangles in one voxel, had black and wrong pixels with `singlepass` and with
`multipass --fuse ray`, and right ones with `--fuse none`.
"""

from __future__ import annotations

import numpy as np
import pytest

from raystream import Renderer, Scene
from raystream.scene.camera import Camera

COUNT = 70_000  # triangles above one another, all tested by every ray that comes near


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    corner = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    points = np.tile(corner, (COUNT, 1))
    points[:, 2] = np.repeat(np.linspace(-0.25, 0, COUNT), 3)
    points[-3:, 2] += 0.25  # the nearest is the last
    scene = Scene.from_triangles(points, np.arange(3 * COUNT).reshape(-1, 3))
    camera = Camera((0.4, 0.3, 1.9), (0.4, 0.3, 0.0), fov=40.0)
    return Renderer(scene, accel="grid", grid=1, program="cast", camera=camera)


CHOICES = (
    {"machine": "singlepass"},
    {"machine": "multipass", "fuse": "ray", "mask": "depth"},
    {"machine": "multipass", "fuse": "ray", "mask": "none"},
    {"machine": "multipass", "fuse": "none", "mask": "depth"},
)


@pytest.mark.parametrize("choices", CHOICES)
def test_no_ray_is_left_in_the_middle_of_a_long_list(renderer: Renderer, choices: dict[str, str]) -> None:
    renderer.update(**choices)
    picture = renderer.render((12, 10), layers=("triangle", "depth", "tests"))
    origins, directions = (a.reshape(-1, 3) for a in renderer.camera.rays(12, 10))
    near = 0.25 - origins[:, 2]
    point = origins + directions * (near / directions[:, 2])[:, None]
    hit = ((point[:, :2] > 0).all(axis=1) & (point[:, :2].sum(axis=1) < 1)).reshape(10, 12)
    assert 20 < hit.sum() < 100
    assert np.array_equal(picture.layers["triangle"] == COUNT - 1, hit)
    assert (picture.layers["tests"][hit] == COUNT).all()
    assert (picture.linear[hit] > 0.1).all()
    assert np.isfinite(picture.linear).all()


def test_paths_that_are_cut_short_go_on(renderer: Renderer) -> None:
    """Programs that add samples in place: pixels whose passes were cut short get theirs, and none gets one twice."""
    pictures = []
    for choices in CHOICES:
        renderer.update(**choices, program="path", depth=1)  # the way to a surface, and from there to the light
        pictures.append(renderer.render((6, 5), spp=2))
    renderer.update(program="cast", depth=None)
    assert pictures[0].linear.max() > 0.1
    for picture in pictures:
        assert picture.film is not None and (picture.film.count == 2).all()
        assert picture.linear.tobytes() == pictures[0].linear.tobytes()


@pytest.mark.parametrize("count, samples", [(COUNT // 7, 8), (COUNT // 70, 120)])
def test_a_pass_over_many_samples_is_repeated_over_fewer(count: int, samples: int) -> None:
    """Each sample alone is far from the end of loops, and all of a pixel's together are beyond: single-kernel passes,
    which come to an end anywhere, would be tens of thousands."""
    corner = np.float32([[0, 0, 0], [4, 0, 0], [0, 4, 0]]) - 1
    points = np.tile(corner, (count, 1))
    points[:, 2] = np.repeat(np.linspace(-0.25, 0, count), 3)
    scene = Scene.from_triangles(points, np.arange(3 * count).reshape(-1, 3))
    options = {"program": "path", "depth": 1, "accel": "grid", "grid": 1, "environment": "sky"}
    pictures = []
    for choices in ({"machine": "singlepass"}, {"machine": "multipass", "fuse": "ray"}):
        renderer = Renderer(scene, **options, **choices)
        pictures += [renderer.render((6, 5), spp=samples) for _ in range(2)]  # the second time it knows
        renderer.release()
    assert all(picture.stats.kernel_passes < 60 for picture in pictures[:2])
    for picture in pictures:
        assert picture.film is not None and (picture.film.count == samples).all()
        assert picture.linear.tobytes() == pictures[-1].linear.tobytes()
