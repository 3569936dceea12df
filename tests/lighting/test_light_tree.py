"""The light tree: against its twin in float64, as a distribution, and as bounds."""

from __future__ import annotations

import math

import numpy as np
from light_twin import BOUNDS, PUNCTUAL, some_emitters
from tree_twin import CHOOSE, DENSITY, function, probabilities, random_receivers

from viewer.kernels.records import HIT
from viewer.lighting.lights import light_list
from viewer.lighting.tree_choice import choice


def listed_lights(count: int = 40):
    """Triangles, some of them of both sides, a ball, points, spots and a directional light."""
    emitting = some_emitters(count)
    ball = np.zeros(count, bool)
    ball[5] = True
    corners = emitting.corners.copy()
    corners[5, 1] = (0.4, 1.0, 0.0)
    both = np.arange(count) % 3 == 1  # of one material
    return light_list(emitting._replace(corners=corners, sphere=ball, both=both), PUNCTUAL, bounds=BOUNDS, materials=3)


def test_choices_and_densities_are_the_twins(device) -> None:
    """And in sum 1, less the share of what is infinitely far."""
    listed = listed_lights()
    tree = choice(listed.sources)
    places, receivers, number = random_receivers(256, 1)
    expected = np.array(
        [probabilities(tree.nodes, tree.near, listed.count, *each) for each in zip(places, receivers, strict=True)]
    )
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-12)
    near = 1.0 - listed.sources.far_share
    (found,) = function(device, listed, CHOOSE)(places, number, receivers)
    light, chance = found[:, 0].astype(int), found[:, 1]
    far = light == listed.count - 1
    assert far.any() and not far.all()
    np.testing.assert_allclose(chance[far], listed.sources.far_share, rtol=1e-6)
    # Angles by float32 cosines are off by 1e-3 where they are small; what is left of a light at its edge, by more.
    np.testing.assert_allclose(chance[~far], near * expected[~far, light[~far]], rtol=3e-2, atol=1e-6)
    # Whoever meets a surface by chance finds the probability with which it is chosen.
    hits = np.zeros(256, HIT.dtype)
    hits["triangle"] = np.where(light < 40, light, 0)
    (density,) = function(device, listed, DENSITY)(hits, places, receivers)
    own = light < 40
    area = (
        np.linalg.norm(
            np.cross(
                *np.moveaxis(listed.sources.emitting.corners[:, 1:] - listed.sources.emitting.corners[:, :1], 1, 0)
            ),
            axis=1,
        )
        / 2
    )
    area[5] = 4 * math.pi * 0.4**2
    np.testing.assert_allclose(density[own] * area[light[own]], chance[own], rtol=1e-5)
