"""Direct light: one lamp's closed form with Embree's shadows, in every program; samples of it, and chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest
from embree import embree_scene
from glsl_call import Function

import raystream
from raystream import Camera, Renderer, Scene
from raystream.cameras.lens import thin_lens
from raystream.kernels.records import RAY
from raystream.lighting.path import path_settings
from raystream.lighting.sampler import sampler
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


POINT: dict[str, Any] = {"pixel_filter": "point", "first_hits": "rays"}
FEW: dict[str, Any] = {"photons": 300, "photon_bounces": 3, "estimate": "nearest"}
PROGRAMS = ("shadow", "whitted", "photon")


def of(scene: str, program: str, **options: Any) -> Renderer:
    return Renderer(raystream.load(scene), program=program, **{"machine": "singlepass", **FEW, **options})


@pytest.mark.parametrize("program", PROGRAMS)
def test_shadow_rays_of_a_surface_are_those_of_as_many_samples(program: str) -> None:
    """Through pixels' centres samples differ in their points of the lamp alone. 1e-5: sums in another order."""
    renderer = of("cornell", program, **POINT)
    few, many = (renderer.render((12, 12), spp=spp).linear for spp in (1, 16))
    renderer.update(light_samples=16)
    one = renderer.render((12, 12), spp=1).linear
    np.testing.assert_allclose(one, many, rtol=1e-5, atol=1e-6)
    renderer.update(light_samples=4)
    np.testing.assert_allclose(renderer.render((12, 12), spp=4).linear, many, rtol=1e-5, atol=1e-6)
    assert np.abs(few - one).mean() > 100 * np.abs(many - one).mean()


def test_a_light_without_extent_is_asked_once() -> None:
    """By a program that knows what it asks."""

    def shadow_rays(scene: str) -> list[int]:
        renderer, found = of(scene, "shadow"), []
        for number in (1, 8):
            renderer.update(light_samples=number)
            found.append(renderer.render((8, 8), spp=1, stats=True).stats.kernels["resolve"].calls)
        return found

    one, many = shadow_rays("ring")
    assert one == many > 0
    one, many = shadow_rays("cornell")
    assert many > 6 * one


INSIDE = Camera((0.1, 0.2, 0.3), (-1, 0.3, -0.8), fov=80)
ONE: dict[str, Any] = {
    "machine": "singlepass", "sampler": "independent", "strategy": "bsdf", "environment": "none"
}  # fmt: skip


@pytest.mark.parametrize(
    ("reflected", "roulette", "values"), [(0.5, 1, {1.0, 1.70711}), (0.5, 2, {1.5}), (1.0, 1, {1.0, 2.02041})]
)
def test_roulette_begins_after_as_many_surfaces_as_it_is_told(device, reflected, roulette, values) -> None:
    """In a closed room that shines with 1 and reflects a half, over one surface: 1 and a half; where roulette decides
    at that surface, by the root of what it reflects, 1, or in 0.71 of all cases 1 and 0.5 / 0.71. White walls go on in
    0.98 of all cases."""
    room = places.alone(places.box(inwards=True), places.material(reflected, shines=1.0), INSIDE)
    found = places.film(room, (24, 24), 1, depth=1, roulette=roulette, **ONE).mean()[..., 0]
    assert (
        set(np.round(found.ravel().astype(float), 5).tolist()) == values
    )  # five digits: a product and a quotient of float32
    if roulette == 1 and reflected == 0.5:
        # 576 tosses of a coin that falls on one side in 0.71 of all cases: 4.5 standard errors.
        assert abs(found.mean() - 1.5) < 4.5 * 0.322 / 24


def test_a_lens_and_the_film_have_numbers_of_their_own(device) -> None:
    """The places on the film and on the lens of 4,096 samples: no coordinate of one tells anything of the other's."""
    size = (1, 1)
    camera = Camera((0, 0, 0), (0, 0, -1), fov=90, aperture=0.5, focus=1.0)
    modules = [sampler("independent", 5), path_settings(), thin_lens(camera, size)]
    first_ray = Function(
        device, "Ray first_ray(ivec2 pixel, int number)", ["lib/first_ray.glsl"], modules, records=[RAY]
    )
    count = 4096
    (rays,) = first_ray(np.zeros((count, 2)), np.arange(count))
    lens = rays["origin"][:, :2].astype(np.float64)
    sharp = rays["origin"] + rays["direction"] / -rays["direction"][:, 2:]  # in the plane of focus: the film's place
    tables = [lens, sharp[:, :2].astype(np.float64)]
    assert all(table.std(axis=0).min() > 0.1 for table in tables)
    both = np.corrcoef(np.hstack(tables).T)
    assert np.abs(both[:2, 2:]).max() < 4.5 / np.sqrt(count)
    # Nor their absolute values: a disc of the same square would show in them.
    assert np.abs(np.corrcoef(np.abs(np.hstack(tables)).T)[:2, 2:]).max() < 4.5 / np.sqrt(count)


@pytest.mark.parametrize("turned", [False, True])
def test_a_bounce_has_numbers_of_its_own(device, turned: bool) -> None:
    """The light that a path asks at its second surface has nothing to do with the way that it took there.

    From the middle of a floor paths go left or right by one random number (or, turned by a right angle, by another), to
    two walls that face each other. Before each wall hangs a spot that lights it alone, as bright as the other: whoever
    asks by the number that led to a wall asks always the wall's own spot, or always the other's. Twice the light, or
    none.
    """
    turn = np.float32([[0, 0, 1], [0, 1, 0], [-1, 0, 0]] if turned else np.eye(3))
    floor = places.quads(np.array([[[-1, 0, 1], [1, 0, 1], [1, 0, -1], [-1, 0, -1]]])) * np.float32([0.02, 1, 0.02])
    left = places.quads(np.array([[[-1, 0, 1], [-1, 0, -1], [-1, 9, -1], [-1, 9, 1]]])) * np.float32([1, 1, 9])
    right = left[:, ::-1] * np.float32([-1, 1, 1])
    lamps = [
        Light("spot", name, (0.0, 3.0, 0.0), tuple(turn @ (x, 0.0, 0.0)), (20.0, 20.0, 20.0), 1.0, 1.5)
        for name, x in (("a", -1.0), ("b", 1.0))
    ]
    meshes = [places.flat(each @ turn.T) for each in (floor, left, right)]
    above = Camera((0.0, 0.5, 0.0), (0, 0, 0), (0, 0, -1), fov=2.0)
    scene = places.scene(meshes, [places.material(0.8)], above, lights=lamps)
    options = {**ONE, "strategy": "lights", "depth": 2, "light_candidates": 1}
    found = places.film(scene, (16, 16), 16, seed=1, **options)
    alone = 0.0  # each lamp without a choice is a half of the picture
    for lamp in lamps:
        one = places.scene(meshes, [places.material(0.8)], above, lights=[lamp])
        alone += float(places.film(one, (16, 16), 16, seed=2, **options).mean()[..., 0].mean())
    error = float(np.sqrt(found.variance().mean() / 256))
    assert alone > 0.01 and abs(float(found.mean()[..., 0].mean()) - alone) < 6 * error + 1e-5
