"""Pictures of quadrics by every program: as of fine triangles, and light found in every way alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Camera, Renderer, Scene
from raystream.scene.builtin.parts.shapes import quads
from raystream.scene.material import Material
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance

SINGLE: dict[str, Any] = {"machine": "singlepass"}


@pytest.mark.parametrize(
    ("program", "scene", "spp"),
    [
        ("cast", "cornell_photons", 1),
        ("whitted", "cornell_photons", 2),
        pytest.param("photon", "glass_ball", 8, marks=pytest.mark.slow),
    ],
)
def test_as_of_fine_triangles(device: Any, program: str, scene: str, spp: int) -> None:
    """The same samples: blocks of pixels differ where silhouettes and foci fall otherwise, by what facets of 1 / 128
    of a turn bend; their mean is the light's."""
    true = raystream.load(scene)
    pictures = []
    for each in (true, true.tessellated()):
        options = {} if program == "cast" else {"spp": spp}
        linear = Renderer(each, program=program, device=device, **SINGLE).render((32, 24), **options).linear
        pictures.append(linear.astype(float))
    mine, other = pictures
    assert mine.mean() == pytest.approx(other.mean(), rel=0.02)
    blocks = [np.minimum(picture, 2.0).reshape(6, 4, 8, 4, 3).mean(axis=(1, 3)) for picture in pictures]
    assert np.abs(blocks[0] - blocks[1]).mean() < 0.05 * other.mean()


def test_light_of_a_sphere_by_all_strategies(device: Any) -> None:
    """Sampled as a light, met by chance, both: one picture within the standard error of their seeds."""
    floor = quads([[(-2, 0, -2), (-2, 0, 2), (2, 0, 2), (2, 0, -2)]]).mesh("floor", 0)
    materials = [Material(), Material("lamp", emission=(3, 3, 3)), Material("mirror", kind="mirror")]
    meshes = [floor, Quadric.sphere((0.5, 1.2, 0), 0.6, 1), Quadric.cylinder((-1, 0, 0), (-1, 1, 0), 0.4)]
    scene = Scene(meshes, [Instance(k) for k in range(3)], materials)
    camera = Camera((0, 3, 4), (0, 0.3, 0), fov=50)
    renderer = Renderer(scene, device=device, camera=camera, depth=3, **SINGLE)
    means = {}
    for strategy in ("lights", "bsdf", "both"):
        values = []
        for seed in range(6):
            renderer.update(strategy=strategy, seed=seed)
            values.append(renderer.render((16, 12), spp=16).linear.astype(float).mean())
        means[strategy] = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    for one, other in (("lights", "both"), ("bsdf", "both"), ("lights", "bsdf")):
        (a, spread_a), (b, spread_b) = means[one], means[other]
        # Student's t of ten degrees of freedom: beyond 5 once in 2,000 right programs; the seeds are fixed.
        assert abs(a - b) < 5 * np.hypot(spread_a, spread_b) and a > 0.01, means
        assert spread_a < 0.02 * a
