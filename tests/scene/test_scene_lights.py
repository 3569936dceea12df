"""Lights as data: ranges, falloff and flux, and moving them by name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene import builtin
from raystream.scene.edits.movable import movable_lights, with_light_at
from raystream.scene.light import Light, luminance
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


def test_flux_of_the_others() -> None:
    assert Light("point").solid_angle == pytest.approx(4 * math.pi)
    assert Light("directional").solid_angle == 0
    assert luminance((1, 1, 1)) == pytest.approx(1)


def test_directions_become_unit() -> None:
    for scale in (5e-324, 1e-200, 3.0, 1e308):
        x, y, z = Light("spot", direction=(scale, 0, -scale)).direction
        assert (x, y, z) == pytest.approx((math.sqrt(0.5), 0, -math.sqrt(0.5)))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "laser"}, "unknown kind 'laser'"),
        ({"position": (0, math.nan, 0)}, "position .* is not three finite numbers"),
        ({"position": (0, 0)}, "position .* is not three"),
        ({"position": (1e19, 0, 0)}, r"up to 1e\+18"),
        ({"direction": (0, 0, 0)}, "direction is zero"),
        ({"direction": "down"}, "direction 'down' is not three numbers"),
        ({"intensity": (1, -1, 1)}, "is negative"),
        ({"intensity": (math.inf, 1, 1)}, "intensity .* is not three finite"),
        ({"inner": 0.8, "outer": 0.8}, "cone angles 0.8, 0.8"),
        ({"outer": 2.0}, "cone angles 0, 2"),
        ({"inner": math.nan}, "cone angles nan"),
    ],
)
def test_what_is_no_light(given, words) -> None:
    with pytest.raises(ViewerError, match=words):
        Light(**{"kind": "spot", **given})


def lit() -> Scene:
    scene = builtin.build("cornell")
    scene.lights = [
        Light("point", "lamp", (1, 2, 3)),
        Light("directional", "sun", direction=(0, -1, 0)),
        Light("point", "lamp", (7, 7, 7)),
    ]
    return scene


def test_lights_are_listed_with_where_they_are() -> None:
    found = movable_lights(lit())
    assert [(light.name, light.kind, light.position) for light in found] == [
        ("lamp", "point", (1, 2, 3)),
        ("sun", "directional", (0, 1, 0)),
        ("lamp", "point", (7, 7, 7)),
        ("light", "area", (278, pytest.approx(548.8, abs=1e-4), 279.5)),
    ]
    assert movable_lights(Scene()) == []


def test_moving_a_light_moves_nothing_else() -> None:
    scene = lit()
    moved = with_light_at(scene, "lamp", (4, 5, 6))
    assert moved.lights[0].position == (4, 5, 6) and moved.lights[1:] == scene.lights[1:]
    assert moved.instances is scene.instances and scene.lights[0].position == (1, 2, 3)
    turned = with_light_at(scene, "sun", (3, 0, 4))
    assert turned.lights[1].direction == pytest.approx((-0.6, 0, -0.8))
    lower = with_light_at(scene, "light", (278, 400, 300))
    assert movable_lights(lower)[-1].position == pytest.approx((278, 400, 300), abs=1e-4)
    assert lower.meshes is scene.meshes and lower.instances[:-1] == scene.instances[:-1]


def test_unknown_lights_list_the_known_ones() -> None:
    with pytest.raises(ViewerError, match=r"no light 'moon' \(lights: lamp, sun, light\)"):
        with_light_at(lit(), "moon", (0, 0, 0))
    with pytest.raises(ViewerError, match=r"\(lights: none\)"):
        with_light_at(Scene(), "moon", (0, 0, 0))


def test_an_area_light_with_broken_corners_is_still_somewhere() -> None:
    scene = Scene.from_triangles([[0, 0, 0], [2, 0, 0], [0, 2, 0], [np.nan, 0, 0]], [[0, 1, 2], [0, 1, 3]])
    scene.materials = [Material(emission=(1, 1, 1))]
    assert [light.position for light in movable_lights(scene)] == [(1, 1, 0)]
