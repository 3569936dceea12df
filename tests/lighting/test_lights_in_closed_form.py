"""Lights that are sampled against closed forms: irradiance, solid angles, power, and two ways that agree."""

from __future__ import annotations

import math

import numpy as np
import places
import pytest
from glsl_call import Function
from light_twin import BOUNDS, FACING, PUNCTUAL, random, sampler, twin

from raystream.kernels.records import LIGHT_SAMPLE
from raystream.lighting.ambient import each_light
from raystream.lighting.emitters import Emitters
from raystream.lighting.environment import environment
from raystream.lighting.lights import KIND, LightList, light_list, scene_lights
from raystream.lighting.photons import photon_modules
from raystream.scene.environment import DARKNESS, ConstantEnvironment
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene


def polygon_irradiance(corners: np.ndarray, position: np.ndarray, normal: np.ndarray) -> float:
    """Irradiance over radiance of a polygon wholly above the horizon (Lambert, Photometria, 1760)."""
    way = corners - position
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    total = np.zeros(3)
    for a, b in zip(way, np.roll(way, -1, axis=0), strict=True):
        edge = np.cross(a, b)
        total += math.acos(np.clip(a @ b, -1, 1)) * edge / np.linalg.norm(edge)
    return abs(float(total @ normal)) / 2


def solid_angle(corners: np.ndarray, position: np.ndarray) -> float:
    """Van Oosterom and Strackee, 1983."""
    a, b, c = way = corners - position
    length = np.linalg.norm(way, axis=1)
    below = length.prod() + a @ b * length[2] + b @ c * length[0] + c @ a * length[1]
    return abs(2 * math.atan2(a @ np.cross(b, c), below))


def z(values: np.ndarray, truth: float) -> float:
    return float((values.mean() - truth) / (values.std(ddof=1) / math.sqrt(len(values))))


def test_triangles_give_their_irradiance_and_densities_their_solid_angle(device) -> None:
    emitting = Emitters(FACING, np.float32([[2, 3, 4]]), np.int32([0]))
    listed = light_list(emitting, materials=1)
    position, normal = np.array([0.4, 0.1, -0.2]), np.array([0.0, 1.0, 0.0])
    choose, u = random(100_000)
    ok, found = sampler(device, listed)(np.tile(position, (len(u), 1)), choose, u)
    assert ok.all()
    received = found["weight"][:, 0] * (found["direction"] @ normal)
    # 4.5 standard errors: one of 150,000 right programs fails; the seed is fixed.
    assert abs(z(received, 2 * polygon_irradiance(FACING[0].astype(float), position, normal))) < 4.5
    assert abs(z(1 / found["pdf"].astype(float), solid_angle(FACING[0].astype(float), position))) < 4.5
    assert light_list(emitting, materials=1).density[0] == pytest.approx(1 / 2.0)  # area 2
    ok, _ = sampler(device, listed)(np.tile([0.0, 5.0, 0.0], (100, 1)), choose[:100], u[:100])
    assert not ok.any()  # behind it


def a_sphere(side: float = 1.0) -> Emitters:
    """Of radius 0.5 around (0, 2, 0)."""
    return Emitters(np.float32([[(0, 2, 0), (0.5, side, 0), (0, 0, 0)]]), np.float32([[2, 3, 4]]), np.int32([0]), ALONE)


ALONE = np.array([True])
NONE = Emitters(np.zeros((0, 3, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.int32))


def test_spheres_give_their_irradiance_and_densities_their_solid_angle(device) -> None:
    """E = pi L (r / d)^2 times the cosine, of a sphere wholly above; pi L within one that shines inwards."""
    choose, u = random(40_000)
    position, normal = np.array([1.0, 0.5, 0.2]), np.array([0.0, 1.0, 0.0])
    listed = light_list(a_sphere(), materials=1)
    assert listed.density[0] == pytest.approx(1 / math.pi)  # area 4 pi / 4
    assert listed.module().constants["LIGHT_SPHERES"] == 1
    ok, found = sampler(device, listed)(np.tile(position, (len(u), 1)), choose, u)
    received = np.where(ok, found["weight"][:, 0] * (found["direction"] @ normal), 0.0)
    way = np.array([0, 2, 0]) - position
    square = way @ way
    # 4.5 standard errors: one of 150,000 right programs fails; the seed is fixed.
    assert abs(z(received, 2 * math.pi * 0.25 / square * way[1] / math.sqrt(square))) < 4.5
    solid = 2 * math.pi * (1 - math.sqrt(1 - 0.25 / square))
    assert abs(z(np.where(ok, 1 / np.maximum(found["pdf"].astype(float), 1e-30), 0.0), solid)) < 4.5
    points = position + found["direction"][ok] * found["distance"][ok, None]
    np.testing.assert_allclose(np.linalg.norm(points - [0, 2, 0], axis=1), 0.5, rtol=1e-5)
    within = np.array([0.1, 2.2, 0.0])
    ok, found = sampler(device, light_list(a_sphere(-1.0), materials=1))(np.tile(within, (len(u), 1)), choose, u)
    received = found["weight"][:, 0] * np.maximum(found["direction"] @ normal, 0.0)
    assert ok.all() and abs(z(received, 2 * math.pi)) < 4.5
    ok, _ = sampler(device, listed)(np.tile(within, (9, 1)), choose[:9], u[:9])
    assert not ok.any()  # behind its front


def test_programs_that_ask_each_light_find_the_points_that_others_do(device) -> None:
    """Of what shines by its surface; it is a kind of its own, and one of the two shines from both of its sides."""
    lamps = [Material("lamp", emission=(2, 3, 4)), Material("globe", emission=(4, 3, 2), double_sided=True)]
    sphere, triangle = Quadric.sphere((0, 2, 0), 0.5, material=1), places.flat(FACING, 0)
    scene = Scene([sphere, triangle], [Instance(0), Instance(1)], lamps)
    listed = scene_lights(scene)
    modules = [environment(DARKNESS), listed.module(), each_light(scene)]
    signature = "bool each_light_sample(int index, vec3 position, float choose, vec2 u, out LightSample found)"
    each = Function(device, signature, modules=modules, records=[LIGHT_SAMPLE])
    choose, u = random(4096)
    position = np.tile([0.4, 0.1, -0.2], (len(u), 1))
    found, expected = each(np.zeros(len(u)), position, choose, u), sampler(device, listed)(position, choose, u)
    assert expected[0].mean() > 0.9
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()
    colors = {tuple(np.argsort(weight)) for weight in expected[1]["weight"][expected[0]]}
    assert len(colors) == 2  # both are asked


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_double_sided_spheres_shine_within_and_without(device, side: float) -> None:
    choose, u = random(40_000)
    sample = sampler(device, light_list(a_sphere(side)._replace(both=ALONE), materials=1))
    outside = np.array([1.0, 0.5, 0.2])
    square = float((np.array([0, 2, 0]) - outside) @ (np.array([0, 2, 0]) - outside))
    cases = (
        (np.array([0.1, 2.2, 0.0]), 2 * math.pi, 4 * math.pi),
        # From outside its far half shines, too, through the near one: shadow rays leave it out.
        (outside, 4 * math.pi * 0.25 / square * 1.5 / math.sqrt(square), None),
    )
    for position, irradiance, solid in cases:
        ok, found = sample(np.tile(position, (len(u), 1)), choose, u)
        assert ok.mean() > 0.999
        received = found["weight"][:, 0] * np.maximum(found["direction"][:, 1], 0.0)
        if solid is not None:
            assert abs(z(received, irradiance)) < 4.5
            assert abs(z(1 / found["pdf"].astype(float), solid)) < 4.5
        else:
            assert received.mean() == pytest.approx(irradiance, rel=0.05)


def emitter(device, listed: LightList) -> Function:
    """light_emit of (choose, place, way, aimed)."""
    modules = [environment(DARKNESS), listed.module(), photon_modules(listed)[0]]
    signature = "bool light_emit(float choose, vec2 place, vec2 way, bool aimed, out vec3 origin, out vec3 normal, "
    return Function(device, f"{signature}out vec3 direction, out vec3 flux)", modules=modules, records=[LIGHT_SAMPLE])


TRIANGLE = Emitters(FACING, np.float32([[2, 3, 4]]), np.int32([0]))  # its area is 2
INNER, OUTER = 0.3, 0.8  # radians
# Of a spot the square of what rises evenly with the cosine from the outer angle to the inner one.
CONE = 2 * math.pi * (1 - math.cos(INNER) + (math.cos(INNER) - math.cos(OUTER)) / 3)
SENT = {
    "triangle": (light_list(TRIANGLE, materials=1), 2 * math.pi),
    "triangle of both sides": (light_list(TRIANGLE._replace(both=ALONE), materials=1), 4 * math.pi),
    "sphere of both sides": (light_list(a_sphere()._replace(both=ALONE), materials=1), 2 * math.pi**2),
    "point": (light_list(NONE, [Light("point", "p", (1, 2, 3), intensity=(2, 3, 4))]), 4 * math.pi),
    "spot": (light_list(NONE, [Light("spot", "s", (0, 1, 0), (0.6, -0.8, 0), (2, 3, 4), INNER, OUTER)]), CONE),
    "directional": (
        light_list(NONE, [Light("directional", "d", direction=(1, -2, 0.5), intensity=(2, 3, 4))], bounds=BOUNDS),
        math.pi * 27,  # through the scene's bounding sphere
    ),
}


@pytest.mark.parametrize("kind", SENT)
def test_photons_leave_every_light_with_its_power(device, kind: str) -> None:
    """In the mean of evenly spaced numbers, of what shines alike into all of its directions by each."""
    listed, power = SENT[kind]
    side = 64
    low, high = np.divmod(np.arange(side * side), side)
    way = (np.stack([high, low], axis=1) + 0.5) / side
    choose, place = random(len(way))
    emit = emitter(device, listed)
    middle, radius = np.array([0.5, -1.0, 2.0]), math.sqrt(27)
    emit.set({"emit_middle": tuple(middle), "emit_radius": radius})
    sent, origin, normal, direction, flux = emit(choose, place, way, np.zeros(len(way), bool))
    flux = flux.astype(float) * sent[:, None]
    expected = power * np.array([2.0, 3.0, 4.0])
    np.testing.assert_allclose(flux.mean(axis=0), expected, rtol=1e-4 if kind == "spot" else 1e-5)
    if kind != "spot":
        np.testing.assert_allclose(flux[sent], np.broadcast_to(expected, flux.shape)[sent], rtol=1e-5)
        assert sent.all()
    else:
        assert ((direction @ (0.6, -0.8, 0)) > math.cos(OUTER) - 1e-6).all()
    if kind.startswith(("triangle", "sphere")):
        assert ((direction * normal).sum(axis=1) > 0).all()
    if kind == "directional":
        np.testing.assert_allclose((origin - middle) @ direction[0], -radius, rtol=1e-5)  # before all of the scene
    if kind.startswith("triangle"):
        assert (normal[:, 1] < 0).mean() == (0.5 if "both" in kind else 1.0)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_photons_leave_a_sphere_with_its_power(device, side: float) -> None:
    """4 pi r^2 pi L, evenly over the surface and by the cosine over directions, from the side that shines."""
    listed = light_list(a_sphere(side), materials=1)
    emit = emitter(device, listed)
    choose, place = random(20_000)
    sent, origin, normal, direction, flux = emit(choose, place, random(len(place), 2)[1], np.zeros(len(place), bool))
    assert sent.mean() > 0.999
    np.testing.assert_allclose(flux[sent], np.tile(np.float32([2, 3, 4]) * math.pi**2, (sent.sum(), 1)), rtol=1e-5)
    outwards = (origin - [0, 2, 0]) / 0.5
    np.testing.assert_allclose(normal, side * outwards, atol=1e-6)
    cosine = (direction * normal).sum(1)[sent]
    assert (cosine > 0).all() and abs(z(cosine, 2 / 3)) < 4.5
    assert all(
        abs(z(outwards[:, axis], 0.0)) < 4.5 and abs(z(outwards[:, axis] ** 2, 1 / 3)) < 4.5 for axis in range(3)
    )


def test_all_lights_together_sum_to_the_closed_forms(device) -> None:
    scene_lighting = ConstantEnvironment((0.2, 0.3, 0.4))
    emitting = Emitters(np.concatenate([FACING, FACING * 0.5]), np.float32([[2, 3, 4], [40, 1, 0]]), np.int32([0, 2]))
    listed = light_list(emitting, PUNCTUAL, scene_lighting, BOUNDS, 3)
    position, normal = np.array([0.1, 0.0, 0.2]), np.array([0.0, 1.0, 0.0])
    choose, u = random(400_000)
    ok, found = sampler(device, listed, scene_lighting)(np.tile(position, (len(u), 1)), choose, u)
    received = np.where(ok, np.maximum(found["direction"] @ normal, 0), 0)[:, None] * found["weight"].astype(np.float64)
    truth = math.pi * np.array(scene_lighting.radiance)
    for corners, emission in zip(emitting.corners.astype(float), emitting.emission, strict=True):
        truth = truth + emission * polygon_irradiance(corners, position, normal)
    for number, light in enumerate(PUNCTUAL, 2):
        _, way, _, weight, _ = twin(emitting, PUNCTUAL, listed, number, position, u[0])
        truth = truth + weight * max(way @ normal, 0) * listed.probability[number]
        assert light.kind in KIND
    assert max(abs(z(received[:, k], truth[k])) for k in range(3)) < 4.5
