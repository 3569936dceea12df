"""The list of lights: GLSL against NumPy twins, closed forms and statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from glsl_call import Function

from viewer.base.errors import ViewerError
from viewer.kernels.records import LIGHT_SAMPLE
from viewer.lighting.environment import environment
from viewer.lighting.lights import (
    FAIR,
    KIND,
    QUANTA,
    Emitters,
    emitters,
    light_density,
    light_list,
    lights,
)
from viewer.lighting.photons import photon_modules
from viewer.scene.environment import DARKNESS, ConstantEnvironment, ImageEnvironment, sky
from viewer.scene.light import Light, luminance
from viewer.scene.material import Material
from viewer.scene.scene import Instance, Scene

SIGNATURE = "bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample found)"
PDF = "float environment_pdf(vec3 direction, bool compensated)"
FACING = np.float32([[[-1, 2, -1], [1, 2, -1], [0, 2, 1]]])  # above the origin, its front side down
BOUNDS = ((-3, -3, -3), (3, 3, 3))


def random(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """choose (N,) and u (N, 2), 24 bits each, as the samplers give them."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, QUANTA, count) / QUANTA, rng.integers(0, QUANTA, (count, 2)) / QUANTA


def sampler(device, listed, scene_lighting=DARKNESS, compensated=False):
    """light_sample of (position, choose, u) as it is for one kind of estimator."""
    modules = [environment(scene_lighting), listed.module()]
    function = Function(device, SIGNATURE, modules=modules, records=[LIGHT_SAMPLE])
    return lambda position, choose, u: function(position, choose, u, np.full(len(u), compensated))


def some_emitters(count: int = 12, seed: int = 3) -> Emitters:
    rng = np.random.default_rng(seed)
    corners = (rng.normal(size=(count, 1, 3)) * 2 + rng.normal(size=(count, 3, 3))).astype(np.float32)
    material = np.arange(count, dtype=np.int32) % 3
    return Emitters(corners, np.float32([[1, 2, 3], [0, 0, 40], [9, 0.1, 0]])[material], material)


PUNCTUAL = [
    Light("point", "p", (1, 2, 3), intensity=(5, 6, 7)),
    Light("spot", "s", (-1, 2, 1), (0.3, -1, 0), (9, 8, 7), 0.2, 0.9),
    Light("spot", "hard", (-1, 2, 1), (0, -1, 0), (9, 8, 7), 0.5, 0.5001),
    Light("directional", "d", direction=(1, -2, 0.5), intensity=(0.5, 0.4, 0.3)),
]


def chosen(listed, choose: np.ndarray) -> np.ndarray:
    """The number of the light, -1 for the environment: the twin of the choice, in whole numbers."""
    quantum = (choose * QUANTA).astype(np.int64)
    slot, rest = np.divmod(quantum - listed.environment_levels, max(listed.levels, 1))
    slot = np.clip(slot, 0, len(listed.records) - 1)
    number = np.where(rest < listed.records["threshold"][slot], slot, listed.records["alias"][slot])
    return np.where(quantum < listed.environment_levels, -1, number)


def folded(u: np.ndarray) -> np.ndarray:
    upper = u[:, 1] > u[:, 0]
    return np.where(
        upper[:, None],
        np.stack([u[:, 0] / 2, u[:, 1] - u[:, 0] / 2], 1),
        np.stack([u[:, 0] - u[:, 1] / 2, u[:, 1] / 2], 1),
    )


def twin(emitting, punctual, listed, number, position, u):
    """(found, direction, distance, weight, pdf) of one call in float64, from the lights themselves."""
    probability = listed.probability[number]
    if number < len(emitting.corners):
        a, b, c = emitting.corners[number].astype(np.float64)
        v, w = folded(u[None])[0]
        way = a + v * (b - a) + w * (c - a) - position
        normal = np.cross(b - a, c - a)
        area = np.linalg.norm(normal) / 2
        distance = np.linalg.norm(way)
        cosine = -normal @ way / distance / (2 * area)
        pdf = probability / area * distance**2 / cosine
        return cosine > 0, way / distance, distance, emitting.emission[number] / pdf, pdf
    light = punctual[number - len(emitting.corners)]
    intensity = np.asarray(light.intensity) / probability
    if light.kind == "directional":
        return True, -np.asarray(light.direction), 3.4e38, intensity, 0.0
    way = np.asarray(light.position) - position
    distance = np.linalg.norm(way)
    share = 1.0
    if light.kind == "spot":  # as the extension words it
        scale = 1 / max(0.001, math.cos(light.inner) - math.cos(light.outer))
        offset = -math.cos(light.outer) * scale
        share = np.clip(-way / distance @ light.direction * scale + offset, 0, 1) ** 2
    return share > 0, way / distance, distance, intensity * share / distance**2, 0.0


def test_every_kind_against_its_twin(device) -> None:
    emitting = some_emitters()
    listed = light_list(emitting, PUNCTUAL, DARKNESS, BOUNDS, 3)
    assert listed.count == 16 and not listed.warnings and listed.probability.sum() == pytest.approx(1, abs=1e-12)
    choose, u = random(8000)
    position = np.random.default_rng(4).normal(size=(8000, 3)).astype(np.float32)
    ok, found = sampler(device, listed)(position, choose, u)
    seen = set()
    for k, number in enumerate(chosen(listed, choose)):
        expected, direction, distance, weight, pdf = twin(emitting, PUNCTUAL, listed, number, position[k], u[k])
        if number < 12 and abs(weight).max() < 1e-4 * listed.records["power"][number].max() * 0.01:
            continue  # seen almost edge-on: the side is a matter of rounding
        assert ok[k] == expected, (k, number)
        if not expected:
            continue
        seen.add(number)
        # float32: differences of coordinates of about 5 for distances of 0.1 and more; near the edge of a cone and
        # for triangles seen at grazing angles cosines cancel.
        np.testing.assert_allclose(found["direction"][k], direction, atol=1e-5)
        np.testing.assert_allclose(found["distance"][k], distance, rtol=1e-5)
        np.testing.assert_allclose(found["weight"][k], weight, rtol=2e-3)
        # The material's density is that of all its triangles; of each alone, it is rounded to quanta.
        np.testing.assert_allclose(found["pdf"][k], pdf, rtol=2e-3)
    assert len(seen) > 9 and seen >= {12, 13, 14, 15}  # some triangles are dim, or turn away


def test_choices_are_those_of_the_table_to_the_quantum(device) -> None:
    count = 37
    rng = np.random.default_rng(5)
    strength = rng.random(count) ** 6 + 1e-5
    directional = [Light("directional", f"{k}", (0, 0, 0), rng.normal(size=3), [s] * 3) for k, s in enumerate(strength)]
    scene_lighting = ConstantEnvironment((1, 1, 1))
    listed = light_list(some_emitters(0), directional, scene_lighting, BOUNDS)
    edges = listed.environment_levels + np.arange(len(listed.records)) * listed.levels
    edges = np.concatenate([edges, edges + listed.records["threshold"], [listed.environment_levels, QUANTA]])
    quanta = np.concatenate([edges, edges - 1, rng.integers(0, QUANTA, 60000)])
    quanta = np.unique(np.clip(quanta, 0, QUANTA - 1))
    choose = quanta / QUANTA
    ok, found = sampler(device, listed, scene_lighting)(
        np.zeros((len(choose), 3)), choose, np.full((len(choose), 2), 0.3)
    )
    number = chosen(listed, choose)
    assert ok.all()
    np.testing.assert_array_equal(number < 0, found["pdf"] > 0)
    # Each light is told by its direction.
    ways = -np.array([light.direction for light in directional])
    listed_ones = number >= 0
    np.testing.assert_allclose(found["direction"][listed_ones], ways[number[listed_ones]], atol=1e-6)
    np.testing.assert_allclose(
        found["weight"][listed_ones, 0], (strength / listed.probability)[number[listed_ones]], rtol=1e-6
    )


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


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_photons_leave_a_sphere_with_its_power(device, side: float) -> None:
    """4 pi r^2 pi L, evenly over the surface and by the cosine over directions, from the side that shines."""
    listed = light_list(a_sphere(side), materials=1)
    modules = [environment(DARKNESS), listed.module(), photon_modules(listed)[0]]
    signature = "bool light_emit(float choose, vec2 place, vec2 way, bool aimed, out vec3 origin, out vec3 normal, "
    emit = Function(device, f"{signature}out vec3 direction, out vec3 flux)", modules=modules, records=[LIGHT_SAMPLE])
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


def test_points_of_a_triangle_are_even(device) -> None:
    fold = Function(
        device,
        "vec2 triangle_point(vec2 u)",
        modules=[environment(DARKNESS), light_list(some_emitters()).module()],
        records=[LIGHT_SAMPLE],
    )
    _, u = random(40_000)
    (weights,) = fold(u)
    np.testing.assert_allclose(weights, folded(u), atol=1e-6)
    assert (weights >= 0).all() and (weights.sum(axis=1) <= 1).all()
    # Sixteen equal small triangles: four rows of a subdivision.
    cell = np.minimum((weights * 4).astype(int), 3)
    upper = (weights * 4 - cell).sum(axis=1) > 1
    counts = np.unique(cell[:, 0] * 100 + cell[:, 1] * 10 + upper, return_counts=True)[1]
    assert len(counts) == 16
    chi = ((counts - 2500.0) ** 2 / 2500).sum()
    assert chi < 44  # chi-square, 15 degrees of freedom: exceeded once in 10,000


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


@pytest.mark.parametrize("compensated", [False, True])
def test_two_ways_of_sampling_weighted_by_their_densities_agree(device, compensated) -> None:
    """Multiple importance sampling (balance heuristic) of a triangle and a sky by lights and by cosine."""
    scene_lighting = sky(64).rotated(70)
    emitting = Emitters(FACING, np.float32([[20, 30, 40]]), np.int32([1]))
    listed = light_list(emitting, (), scene_lighting, BOUNDS, 2)
    position, normal = np.array([0.3, 0.0, 0.2]), np.array([0.0, 1.0, 0.0])
    count = 200_000
    choose, u = random(count)
    ok, found = sampler(device, listed, scene_lighting, compensated)(np.tile(position, (count, 1)), choose, u)
    a, b, c = FACING[0].astype(np.float64)

    def covered(direction):
        t = (a[1] - position[1]) / np.where(np.abs(direction[:, 1]) < 1e-9, 1e-9, direction[:, 1])
        at = position + t[:, None] * direction
        sides = [np.cross(q - p, at - p)[:, 1] for p, q in ((a, b), (b, c), (c, a))]
        return (t > 0) & ((np.min(sides, axis=0) > 0) | (np.max(sides, axis=0) < 0)), t

    cosine = np.maximum(found["direction"].astype(float) @ normal, 0)
    far = found["distance"] > 1e30
    hidden = far & covered(found["direction"].astype(float))[0]
    pdf = found["pdf"].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_light = np.where(ok & ~hidden, luminance(found["weight"]) * cosine * pdf / (pdf + cosine / math.pi), 0)
    disc, other = random(count, 9)
    ring, angle = np.sqrt(other[:, 0]), 2 * np.pi * other[:, 1]
    ways = np.stack([ring * np.cos(angle), np.sqrt(1 - ring**2), ring * np.sin(angle)], 1)
    assert len(disc) == count
    on, t = covered(ways)
    seen = np.where(on, luminance([20, 30, 40]), luminance(scene_lighting.radiance(ways)))
    modules = [environment(scene_lighting), listed.module()]
    density = Function(device, PDF, modules=modules, records=[LIGHT_SAMPLE])
    (of_sky,) = density(ways, np.full(count, compensated))
    assert compensated == (of_sky == 0).any()
    of_light = np.where(on, listed.density[1] * t**2 / ways[:, 1], of_sky)
    by_cosine = seen * ways[:, 1] / (of_light + ways[:, 1] / math.pi)
    # The truth: the triangle's closed form, and the sky by a fine grid less what the triangle covers of it.
    height = 512
    polar = (np.arange(height) + 0.5) * np.pi / 2 / height
    lighting = (np.arange(4 * height) + 0.5) * np.pi / 2 / height
    grid = np.stack(
        np.broadcast_arrays(
            np.sin(polar)[:, None] * np.cos(lighting), np.cos(polar)[:, None], np.sin(polar)[:, None] * np.sin(lighting)
        ),
        -1,
    ).reshape(-1, 3)
    weight = np.repeat(np.sin(polar) * np.cos(polar) * (np.pi / 2 / height) ** 2, 4 * height)
    truth = float((luminance(scene_lighting.radiance(grid)) * weight)[~covered(grid)[0]].sum())
    truth += luminance([20, 30, 40]) * polygon_irradiance(FACING[0].astype(float), position, normal)
    both = by_light + by_cosine
    # 4.5 standard errors, and the grid's own error at the triangle's outline.
    assert abs(both.mean() - truth) < 4.5 * both.std() / math.sqrt(count) + 2e-4 * truth


def test_densities_are_those_of_the_choice() -> None:
    emitting = some_emitters(50)
    listed = light_list(emitting, PUNCTUAL, ConstantEnvironment((1, 1, 1)), BOUNDS, 4)
    edges = emitting.corners[:, 1:].astype(np.float64) - emitting.corners[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    # One quantum of 2^-24 in shares of about 1/100.
    np.testing.assert_allclose(listed.density[emitting.material], listed.probability[:50] / area, rtol=1e-3)
    assert listed.density[3] == 0
    share = listed.environment_levels / QUANTA
    assert listed.probability.sum() + share == pytest.approx(1, abs=1e-9)
    # By power: pi area luminance against 4 pi intensity.
    power = np.concatenate([math.pi * area * luminance(emitting.emission), [4 * math.pi * luminance((5, 6, 7))]])
    np.testing.assert_allclose(listed.probability[:51] / listed.probability[50], power / power[50], rtol=1e-3)


def test_far_and_near_each_keep_a_fair_share() -> None:
    lamp, sun = Light("point", intensity=(1, 1, 1)), Light("directional", intensity=(1, 1, 1))
    for bright in (1e-9, 1.0, 1e9):
        scene_lighting = ConstantEnvironment((bright,) * 3)
        listed = light_list(some_emitters(0), [lamp], scene_lighting, BOUNDS)
        assert FAIR[0] - 1e-6 <= listed.environment_levels / QUANTA <= FAIR[1] + 1e-6
        sunny = light_list(some_emitters(0), [lamp, Light("directional", intensity=(bright,) * 3)], DARKNESS, BOUNDS)
        assert FAIR[0] - 1e-6 <= sunny.probability[1] <= FAIR[1] + 1e-6
    assert light_list(some_emitters(0), [], ConstantEnvironment((1, 1, 1)), BOUNDS).environment_levels == QUANTA
    assert light_list(some_emitters(0), [sun], DARKNESS, BOUNDS).probability == [1.0]


def test_no_light_at_all(device) -> None:
    for scene_lighting in (DARKNESS, ImageEnvironment(np.zeros((2, 4, 3), np.float32))):
        listed = light_list(some_emitters(0), [], scene_lighting, BOUNDS, 2)
        assert listed.count == listed.environment_levels == 0 and not listed.density.any()
        choose, u = random(100)
        ok, found = sampler(device, listed, scene_lighting)(np.zeros((100, 3)), choose, u)
        assert not ok.any() and not found["weight"].any()


def test_what_cannot_shine_is_left_out_with_one_line() -> None:
    corners = np.float32(
        [FACING[0], [[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[0, 0, np.nan], [1, 0, 0], [0, 1, 0]], FACING[0]]
    )
    emission = np.float32([[1, 1, 1], [1, 1, 1], [1, 1, 1], [np.inf, 0, 0]])
    dark = Light("point", "unlit", intensity=(0, 0, 0))
    listed = light_list(Emitters(corners, emission, np.int32([0, 0, 0, 1])), [dark], DARKNESS, BOUNDS, 2)
    assert listed.count == 1 and listed.probability == [1.0] and listed.density[1] == 0
    assert [line.split(";")[0] for line in listed.warnings] == [
        "2 triangles that should shine have no area, or corners that are not finite",
        "emission that is negative or not finite, of material 1",
        "without intensity, and left out: unlit",
    ]


def test_too_many_lights(monkeypatch) -> None:
    monkeypatch.setattr("viewer.lighting.lights.MOST_LIGHTS", 11)
    with pytest.raises(ViewerError, match="12 triangles and lights; 11 can be told apart"):
        light_list(some_emitters())


@pytest.mark.parametrize("compensated", [False, True])
def test_extremes_give_no_nan(device, compensated) -> None:
    """Positions on a light, in its plane, and as far as numbers go; tiny and huge lights; the ends of numbers."""
    scales = [1e-15, 1e-6, 1.0, 1e6, 1e15]
    corners = np.concatenate([FACING * np.float32(scale) for scale in scales])
    bright = np.float32([[1e30, 0, 1e-30], [1, 1, 1]])
    material = np.int32([0, 1, 0, 1, 0])
    punctual = [*PUNCTUAL, Light("point", "huge", (0, 0, 0), intensity=(1e30, 1e-30, 0))]
    scene_lighting = ImageEnvironment(np.random.default_rng(1).random((5, 7, 3)).astype(np.float32) ** 40)
    listed = light_list(Emitters(corners, bright[material], material), punctual, scene_lighting, BOUNDS, 2)
    ends = np.array([0, 1, 2**23, 2**24 - 2, 2**24 - 1]) / QUANTA
    choose, u = random(30_000)
    u[:10_000] = np.random.default_rng(2).choice(ends, (10_000, 2))
    choose[:10_000:3] = np.random.default_rng(2).choice(ends, len(choose[:10_000:3]))
    position = np.random.default_rng(3).normal(size=(30_000, 3)) * 10.0 ** np.random.default_rng(4).integers(
        -18, 18, (30_000, 1)
    )
    position[::5] = corners.reshape(-1, 3)[np.arange(6000) % 15]
    position[1::5] = corners.mean(axis=1)[np.arange(6000) % 5]
    ok, found = sampler(device, listed, scene_lighting, compensated)(position.astype(np.float32), choose, u)
    assert 0 < ok.mean() < 1
    for name in LIGHT_SAMPLE.dtype.names:
        assert np.isfinite(found[name]).all(), name
    assert (found["weight"] >= 0).all() and (found["pdf"] >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(found["direction"].astype(float), axis=1), 1, atol=1e-5)


def room() -> Scene:
    """The triangle twice: as it is, and mirrored, which keeps its front where the mirror shows it."""
    scene = Scene.from_triangles(FACING[0], [[0, 1, 2]])
    mirrored = np.diag([1.0, -1.0, 1.0, 1.0])
    scene.instances.append(Instance(0, mirrored, material=1))
    scene.materials = [Material(emission=(1, 1, 1)), Material(emission=(3, 3, 3)), Material()]
    return scene


def test_emitters_are_the_flat_scene_s_triangles() -> None:
    scene = room()
    found, flat = emitters(scene), scene.flatten()
    np.testing.assert_array_equal(found.corners, flat.corners())
    np.testing.assert_array_equal(found.material, flat.materials)
    np.testing.assert_array_equal(found.emission[:, 0], [1, 3])
    np.testing.assert_allclose(light_density(scene) * 2, [0.25, 0.75, 0], rtol=1e-6)
    scene.materials = [Material()]
    scene.instances.pop()
    assert emitters(scene).corners.shape == (0, 3, 3)


def test_the_module_by_its_parts() -> None:
    module = lights(some_emitters(), PUNCTUAL[:1], materials=3)
    assert module.constants["LIGHT_TRIANGLES"] == module.constants["LIGHT_POINTS"] == 1
    assert lights(some_emitters(0), PUNCTUAL[3:]).constants["LIGHT_POINTS"] == 0
    with pytest.raises(ValueError, match="emission differs between triangles of material 0"):
        emitting = some_emitters()
        emitting.emission[0] += 1
        lights(emitting)
