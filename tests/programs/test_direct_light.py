"""Direct light: one lamp's closed form with Embree's shadows, in every program with lights; what lamps do not do."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest
from embree import embree_scene

from raystream import Camera, Scene
from raystream.programs import PICTURES
from raystream.scene.light import Light
from raystream.scene.material import Material

DARK: dict[str, Any] = {"machine": "singlepass", "environment": "none"}

PUNCTUAL = {
    "point": Light("point", "p", (1.5, 3.0, 1.0), intensity=(30.0, 20.0, 10.0)),
    "spot": Light("spot", "s", (1.5, 3.0, 1.0), (-0.4, -1.0, -0.3), (40.0, 30.0, 20.0), 0.3, 0.6),
    "directional": Light("directional", "d", direction=(-0.5, -1.0, -0.3), intensity=(3.0, 2.0, 1.0)),
}


def under(light: Light) -> Scene:
    """A ball and a box on the ground, grey and coloured, in that light."""
    ground = places.quads(np.array([[[-9, -1, 9], [9, -1, 9], [9, -1, -9], [-9, -1, -9]]]))
    colored = Material(base_color=(0.7, 0.2, 0.1, 1.0))
    meshes = [
        places.flat(ground),
        places.flat(places.sphere(2) * 0.9 + np.float32([-0.9, -0.1, 0]), 1),
        places.flat(places.box() * 0.5 + np.float32([0.9, -0.5, 0.3]), 1),
    ]
    return places.scene(meshes, [places.material(0.6), colored], Camera((0.5, 2, 5), (0, -0.4, 0)), lights=[light])


def lambert(scene: Scene, light: Light, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Direct light (H, W, 3) at pixels' centres in float64, shadows by Embree; and which pixels can be told."""
    flat = scene.flatten()
    corners = flat.corners()
    embree = embree_scene(corners, robust=False)
    origins, directions = (part.reshape(-1, 3) for part in scene.camera().rays(*size))
    found = embree.run(origins.astype(np.float32), directions.astype(np.float32), query="INTERSECT", output=1)
    hit = found["primID"] >= 0
    own = corners[np.maximum(found["primID"], 0)].astype(np.float64)
    normal = np.cross(own[:, 1] - own[:, 0], own[:, 2] - own[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    distance = ((own[:, 0] - origins) * normal).sum(axis=1) / (directions * normal).sum(axis=1)
    point = origins + directions * distance[:, None]
    towards, power = -np.float64(light.direction) + 0 * point, np.ones(len(point))
    reach = np.full(len(point), 1e6)
    if light.kind != "directional":
        away = np.float64(light.position) - point
        reach = np.linalg.norm(away, axis=1)
        towards, power = away / reach[:, None], 1 / reach**2
    if light.kind == "spot":
        scale, offset = light.falloff
        power = power * np.clip(-(towards @ np.float64(light.direction)) * scale + offset, 0, 1) ** 2
    start = (point + 1e-4 * normal).astype(np.float32)
    seen, steady = np.ones(len(point), bool), np.ones(len(point), bool)
    # Shadow rays a little to each side: where they disagree, the pixel is on the rim of a shadow.
    for number, shift in enumerate(np.vstack([np.zeros(3), np.eye(3), -np.eye(3)]) * 2e-3):
        way = (towards + shift).astype(np.float32)
        blocked = embree.run(start, way, query="INTERSECT", output=1)
        free = (blocked["primID"] < 0) | (blocked["tfar"] > reach * 0.999)
        if number == 0:
            seen = free
        steady &= free == seen
    cosine = np.maximum((normal * towards).sum(axis=1), 0)
    steady &= np.abs((normal * towards).sum(axis=1)) > 1e-3
    albedo = np.array([each.base_color[:3] for each in scene.materials])[flat.materials[np.maximum(found["primID"], 0)]]
    light_in = np.float64(light.intensity) * (power * cosine * (seen & hit))[:, None]
    return (albedo / np.pi * light_in).reshape(size[1], size[0], 3), (steady | ~hit).reshape(size[1], size[0])


@pytest.mark.parametrize("kind", PUNCTUAL)
def test_one_light_at_depth_1_is_lambert_s_law(device, kind: str) -> None:
    size, light = (96, 72), PUNCTUAL[kind]
    scene = under(light)
    expected, told = lambert(scene, light, size)
    film = places.film(scene, size, 1, depth=1, pixel_filter="point", **DARK)
    found = film.mean()
    assert told.mean() > 0.9 and (found > 0).mean() > 0.2 and (expected[told] == 0).mean() > 0.05
    off = np.abs(found - expected).max(axis=-1) > 3e-5 * (1 + expected.max(axis=-1))  # hits of float32
    # Centres of pixels on triangles' edges see one or the other.
    assert (off & told).mean() < 0.002


@pytest.mark.parametrize("program", sorted({"shadow", "whitted"} & set(PICTURES)))
@pytest.mark.parametrize("kind", PUNCTUAL)
def test_other_programs_see_the_same_light(device, kind: str, program: str) -> None:
    size, scene = (96, 72), under(PUNCTUAL[kind])
    path = places.film(scene, size, 1, depth=1, pixel_filter="point", **DARK).mean()
    options: dict[str, Any] = {"first_hits": "rays", "pixel_filter": "point", **DARK}
    if program == "whitted":
        options["reflections"] = "off"
    other = places.picture(scene, size, 1, program=program, **options).linear
    np.testing.assert_allclose(other, path, rtol=1e-6, atol=1e-7)  # the same factors, multiplied in another order


@pytest.mark.parametrize("strategy", ["both", "lights", "bsdf"])
def test_lamps_shine_from_their_front_alone(device, strategy: str) -> None:
    """A lamp that faces up over a ground: seen from below it is black, and so is all below it at depth 1."""
    lamp = places.quads(np.array([[[-1, 0, 1], [1, 0, 1], [1, 0, -1], [-1, 0, -1]]]))
    ground = lamp * 3 - np.float32([0, 1, 0])
    kinds = [places.material(0.8), places.material(0.5, shines=5.0)]
    below = Camera((0.3, -0.9, 2.0), (0, -0.3, 0), fov=60)
    options: dict[str, Any] = {"strategy": strategy, "depth": 3, **DARK}
    upwards = places.scene([places.flat(ground), places.flat(lamp, 1)], kinds, below)
    assert not places.film(upwards, (16, 12), 8, **options).sum.any()
    turned = places.scene([places.flat(ground), places.flat(lamp[:, ::-1], 1)], kinds, below)
    assert (places.film(turned, (16, 12), 8, **options).mean().max(axis=-1) > 0).mean() > 0.5


@pytest.mark.parametrize("strategy", ["both", "lights", "bsdf"])
def test_what_is_right_before_a_lamp_shades_it(device, strategy: str) -> None:
    """A plate a thousandth of the way below a lamp leaves the ground dark, and a larger plate above it does not."""
    square = places.quads(np.array([[[-1, 0, 1], [1, 0, 1], [1, 0, -1], [-1, 0, -1]]]))
    kinds = [places.material(0.8), places.material(0.5, shines=5.0)]
    lamp = places.flat(square[:, ::-1] * 0.5 + np.float32([0, 1, 0]), 1)
    above = Camera((0, 0.6, 2.5), (0, -1, 0), fov=40)
    options: dict[str, Any] = {"strategy": strategy, "depth": 1, **DARK}
    for height, dark in ((0.998, True), (1.002, False)):
        plate = places.flat(square * 0.6 + np.float32([0, height, 0]))
        scene = places.scene([places.flat(square * 2 - np.float32([0, 1, 0])), lamp, plate], kinds, above)
        assert places.film(scene, (16, 12), 8, **options).sum[-4:].any() != dark
