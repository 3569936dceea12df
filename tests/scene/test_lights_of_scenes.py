"""Lights and environments as data: limits, falloff and flux, and moving them by name."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.edits.movable import movable_lights, with_light_at
from raystream.scene.environment import ConstantEnvironment, ImageEnvironment, check_pixels
from raystream.scene.light import KINDS, DeltaLights, Light, luminance
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from tests.refusals import refusal
from tests.scene.unit_square import POINTS, at, square


@pytest.mark.parametrize(
    ("field", "value", "right"),
    [
        ("position", (1e18, -1e18, 0), True),
        ("position", (1.1e18, 0, 0), False),
        ("position", (0, 0), False),
        ("position", "abc", False),
        ("intensity", (1e30, 0, 0), True),
        ("intensity", (1.1e30, 0, 0), False),
        ("intensity", (0, 0, -1e-9), False),
        ("direction", (0, 0, 0), False),
        ("kind", "area", False),
        ("outer", math.pi / 2, True),
        ("outer", math.pi / 2 + 1e-9, False),
        ("outer", 0.1, False),
        ("inner", 0.0, True),
        ("inner", -1e-9, False),
        ("inner", math.pi / 4, False),
    ],
)
def test_numbers_of_a_light(field: str, value: Any, right: bool) -> None:
    spot = Light("spot", inner=0.1)
    with refusal("" if right else {"inner": "cone angles", "outer": "cone angles"}.get(field, field)):
        assert getattr(replace(spot, **{field: value}), field) == value


def test_directions_and_luminance() -> None:
    for given in ((3, 0, 4), (3e200, 0, 4e200), (3e-200, 0, 4e-200)):
        assert Light("spot", direction=given).direction == pytest.approx((0.6, 0, 0.8), rel=1e-15)
    assert luminance([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]).tolist() == pytest.approx(
        [0.2126, 0.7152, 0.0722, 1]
    )
    # No cone angle of a point or a direction is looked at.
    assert Light("point", inner=9, outer=1).solid_angle == 4 * math.pi and Light("directional").solid_angle == 0


def test_environments_in_all_directions() -> None:
    """Of one texel for each of eight directions: the middle column faces +X, right of it +Z; row 0 is around +Y."""
    pixels = np.zeros((4, 8, 3), np.float32)
    pixels[..., 0], pixels[..., 1] = np.arange(8), np.arange(4)[:, None]
    image = ImageEnvironment(pixels)

    def seen(u: float, v: float) -> list[float]:
        angle, polar = (u - 0.5) * 2 * math.pi, v * math.pi
        ring = math.sin(polar)
        direction = np.array([[ring * math.cos(angle), math.cos(polar), ring * math.sin(angle)]])
        return image.radiance(direction)[0, :2].tolist()

    for column in range(8):
        for row in range(4):
            assert seen((column + 0.5) / 8, (row + 0.5) / 4) == pytest.approx([column, row], abs=1e-9)
    assert seen(4 / 8, 0.5) == pytest.approx([3.5, 1.5]) and seen(0, 0.5)[0] == pytest.approx(3.5)  # 7 and 0
    assert seen(0.3, 1e-9)[1] == pytest.approx(0) and seen(0.3, 1 - 1e-9)[1] == pytest.approx(3)  # clamped
    turned = image.rotated(90)
    np.testing.assert_allclose(turned.radiance(np.array([[0.0, 0, -1]])), image.radiance(np.array([[1.0, 0, 0]])))
    assert turned.original is image and turned.rotated(20).original is image and turned.rotated(20).rotation == 20


@pytest.mark.parametrize(
    ("degrees", "turn"),
    [(0, (1, 0)), (90, (0, 1)), (180, (-1, 0)), (270, (0, -1)), (360, (1, 0)), (-90, (0, -1)), (450, (0, 1))],
)
def test_exact_turns(degrees: float, turn: tuple[float, float]) -> None:
    assert ImageEnvironment(np.ones((1, 2, 3), np.float32)).rotated(degrees).turn == turn
    c, s = ImageEnvironment(np.ones((1, 2, 3), np.float32)).rotated(degrees + 30).turn
    angle = math.radians(degrees + 30)
    assert (c, s) == pytest.approx((math.cos(angle), math.sin(angle)), abs=1e-12)


def test_flux_of_cells() -> None:
    rng = np.random.default_rng(4)
    image = ImageEnvironment(rng.random((3, 4, 3)).astype(np.float32))
    light = image.pixels.astype(np.float64) @ [0.2126, 0.7152, 0.0722]
    solid = (np.cos(np.arange(3) / 3 * np.pi) - np.cos(np.arange(1, 4) / 3 * np.pi)) * 2 * np.pi / 4
    np.testing.assert_allclose(image.solid_angles(), solid)
    for row in range(3):
        for column in range(4):
            rows, columns = [max(row - 1, 0), row, min(row + 1, 2)], [column - 1, column, (column + 1) % 4]
            mean = np.array([1, 6, 1]) / 8 @ light[np.ix_(rows, columns)] @ (np.array([1, 6, 1]) / 8)
            assert image.cell_flux()[row, column] == pytest.approx(mean * solid[row], rel=1e-6)
    assert image.flux == pytest.approx(image.cell_flux().sum()) == image.rotated(50).flux
    assert ConstantEnvironment((1, 2, 3)).flux == pytest.approx(4 * math.pi * (0.2126 + 2 * 0.7152 + 3 * 0.0722))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1e-9, "is negative"),
        (1.1e30, "is too bright"),
        (math.nan, "is not a number"),
        (math.inf, "is too bright"),
        (1e30, ""),
        (0, ""),
    ],
)
def test_pixels_that_are_no_light(value: float, words: str) -> None:
    pixels = np.ones((3, 4, 3), np.float32)
    pixels[1, 2, 1] = pixels[2, 0, 0] = value
    if words:
        with pytest.raises(ViewerError, match=rf"here: pixel \(2, 8\) {words}: 1, "):
            check_pixels(pixels, "here", 7)
        with pytest.raises(ViewerError, match=rf"environment e: pixel \(2, 1\) {words}"):
            ImageEnvironment(pixels, "e")
    else:
        check_pixels(pixels, "here", 7)


def test_moved_lights() -> None:
    lamp = Material("lamp", emission=(0, 0, 1))
    lights = [Light("point", "a", (1, 2, 3)), Light("directional", "sun", direction=(0, -2, 0)), Light("spot", "a")]
    meshes = [Mesh(np.concatenate([POINTS, POINTS + 9]), [[0, 1, 2], [4, 5, 6]], [1, 0]), square()]
    instances = [Instance(1), Instance(0, at(1, 1, 1, 2), name="tube"), Instance(1, material=1)]
    scene = Scene(meshes, instances, [Material(), lamp], lights=lights)
    found = [(each.name, each.kind, each.item_index, each.position) for each in movable_lights(scene)]
    assert found == [
        ("a", "point", 0, (1, 2, 3)),
        ("sun", "directional", 1, (0, 1, 0)),
        ("a", "spot", 2, (0, 0, 0)),
        ("tube", "area", 1, (2, 2, 1)),
        ("mesh", "area", 2, (0.5, 0.5, 0)),
    ]
    assert with_light_at(scene, "a", (7, 8, 9)).lights[0].position == (7, 8, 9)
    assert with_light_at(scene, "sun", (0, 0, 3)).lights[1].direction == (0, 0, -1)
    moved = with_light_at(scene, "tube", (0, 0, 0))
    np.testing.assert_array_equal(moved.instances[1].transform, at(-1, -1, 0, 2))
    assert moved.instances[0] is scene.instances[0] and scene.instances[1].transform[0, 3] == 1
    with pytest.raises(ViewerError, match=r"no light 'b' \(lights: a, sun, tube, mesh\)"):
        with_light_at(scene, "b", (0, 0, 0))


def test_columns_of_lights_are_their_fields() -> None:
    """Of each kind twice, and of none; and the rows that shaders read."""
    random = np.random.default_rng(8)
    lights = [
        Light(
            KINDS[k % 3],
            f"{k}",
            tuple(random.standard_normal(3).tolist()),
            tuple(random.standard_normal(3).tolist()),
            tuple(random.random(3).tolist()),
            0.1 * k,
            0.7 + 0.1 * k,
        )
        for k in range(6)
    ]
    found = DeltaLights.of(lights)
    assert len(found) == 6 and found.lights is lights and len(DeltaLights.of([]).position) == 0
    rows = np.zeros(6, [("position", "f8", 3), ("edge1", "f8", 3), ("edge2", "f8", 3)])
    rows["edge2"] = 7.0
    found.place(rows)
    for k, light in enumerate(lights):
        spot, far = light.kind == "spot", light.kind == "directional"
        for name in ("position", "direction", "intensity"):
            assert getattr(found, name)[k].tolist() == list(getattr(light, name))
        assert (KINDS[found.kind[k]], found.inner[k], found.outer[k]) == (light.kind, light.inner, light.outer)
        falloff = list(light.falloff) if spot else [0.0, 0.0]
        assert found.falloff[k].tolist() == falloff and found.solid_angle[k] == light.solid_angle
        assert found.far[k] == far and found.flux[k] == luminance(light.intensity)
        position = [0.0, 0.0, 0.0] if far else list(light.position)
        direction = [-number for number in light.direction] if far else list(light.direction)
        assert (rows["position"][k].tolist(), rows["edge1"][k].tolist()) == (position, direction)
        assert rows["edge2"][k].tolist() == [*falloff, 7.0]


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
