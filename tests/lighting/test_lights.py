"""The list of lights: GLSL against NumPy twins, closed forms and statistics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from glsl_call import Function
from light_twin import BOUNDS, FACING, PUNCTUAL, chosen, folded, random, sampler, some_emitters, twin

from raystream.base.errors import ViewerError
from raystream.kernels.records import LIGHT_SAMPLE
from raystream.lighting.emitters import Emitters, emitters
from raystream.lighting.environment import environment
from raystream.lighting.lights import FAIR_SHARES, QUANTA, light_density, light_list
from raystream.scene.environment import DARKNESS, ConstantEnvironment, ImageEnvironment
from raystream.scene.light import Light, luminance
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene


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
        assert FAIR_SHARES[0] - 1e-6 <= listed.environment_levels / QUANTA <= FAIR_SHARES[1] + 1e-6
        sunny = light_list(some_emitters(0), [lamp, Light("directional", intensity=(bright,) * 3)], DARKNESS, BOUNDS)
        assert FAIR_SHARES[0] - 1e-6 <= sunny.probability[1] <= FAIR_SHARES[1] + 1e-6
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


@pytest.mark.parametrize("kind", ["point", "spot", "directional"])
@pytest.mark.parametrize("color", [(2, 0, 0), (0, 2, 0), (0, 0, 2), (2, 2, 0), (0, 2, 2), (2, 0, 2)])
def test_a_lamp_of_a_pure_color_shines(kind: str, color: tuple[float, float, float]) -> None:
    listed = light_list(some_emitters(0), [Light(kind, "lamp", intensity=color)], DARKNESS, BOUNDS)
    assert listed.count == 1 and listed.probability == [1.0] and not listed.warnings


def test_too_many_lights(monkeypatch) -> None:
    monkeypatch.setattr("raystream.lighting.lights.MAX_LIGHTS", 11)
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


def test_instances_shine_by_their_own_material() -> None:
    """In place of the mesh's: brighter, dark, or as the mesh's own, triangle by triangle."""
    scene = room()
    mesh = scene.meshes[0]
    scene.meshes = [replace(mesh, triangles=np.tile(mesh.triangles, (2, 1)), materials=np.int32([0, 2]))]
    scene.instances = [Instance(0), Instance(0, material=1), Instance(0, material=2), Instance(0, material=0)]
    found = emitters(scene)
    assert found.emission[:, 0].tolist() == [1, 3, 3, 1, 1] and found.material.tolist() == [0, 1, 1, 0, 0]
    assert found.instance is not None and found.instance.tolist() == [0, 1, 1, 3, 3]
    assert found.triangle is not None and found.triangle.tolist() == [0, 2, 3, 6, 7]


def test_the_module_by_its_parts() -> None:
    module = light_list(some_emitters(), PUNCTUAL[:1], materials=3).module()
    assert module.constants["LIGHT_TRIANGLES"] == module.constants["LIGHT_POINTS"] == 1
    assert light_list(some_emitters(0), PUNCTUAL[3:]).module().constants["LIGHT_POINTS"] == 0
    with pytest.raises(ValueError, match="emission differs between triangles of material 0"):
        emitting = some_emitters()
        emitting.emission[0] += 1
        light_list(emitting)
