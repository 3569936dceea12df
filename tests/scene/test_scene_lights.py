"""Lights as data: ranges, falloff and flux, and moving them by name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.scene.edits.movable import movable_lights
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Scene


@pytest.mark.parametrize(
    ("inner", "outer"),
    [(0, math.pi / 4), (0.3, 0.9), (0.5, 0.5001), (0, math.pi / 2), (1.2, 1.5), (0, 0.02), (0.03, 0.04), (0, 0.0447)],
)
def test_a_spot_s_flux_is_the_integral_of_its_falloff(inner, outer) -> None:
    spot = Light("spot", inner=inner, outer=outer)
    scale, offset = spot.falloff
    cosine = np.cos(np.linspace(0, math.pi / 2, 2_000_001))
    share = np.clip((cosine[1:] + cosine[:-1]) / 2 * scale + offset, 0, 1) ** 2
    assert spot.solid_angle == pytest.approx(2 * math.pi * float((share * -np.diff(cosine)).sum()), rel=1e-4)
    if math.cos(inner) - math.cos(outer) > 0.001:  # below that floor of the extension the edge widens
        assert np.clip(math.cos(inner) * scale + offset, 0, 1) == pytest.approx(1)
    assert np.clip(math.cos(outer) * scale + offset, 0, 1) == pytest.approx(0, abs=1e-9)


def test_an_area_light_with_broken_corners_is_still_somewhere() -> None:
    scene = Scene.from_triangles([[0, 0, 0], [2, 0, 0], [0, 2, 0], [np.nan, 0, 0]], [[0, 1, 2], [0, 1, 3]])
    scene.materials = [Material(emission=(1, 1, 1))]
    assert [light.position for light in movable_lights(scene)] == [(1, 1, 0)]
