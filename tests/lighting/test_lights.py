"""The list of lights: GLSL against NumPy twins, closed forms and statistics; weights, shares, and alias tables."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from glsl_call import Function
from hypothesis import given, settings
from hypothesis import strategies as st
from light_twin import BOUNDS, FACING, PDF, PUNCTUAL, chosen, folded, random, sampler, some_emitters, twin

from raystream import Camera, Renderer
from raystream.base.errors import ViewerError
from raystream.kernels.records import LIGHT_SAMPLE
from raystream.lighting import alias
from raystream.lighting.emitters import Emitters, emitters
from raystream.lighting.environment import environment, excess_flux
from raystream.lighting.lights import FAIR_SHARES, QUANTA, light_density, light_list, scene_lights
from raystream.lighting.path import path_settings
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
    sky = Function(device, PDF, modules=[environment(scene_lighting), listed.module()], records=[LIGHT_SAMPLE])
    (density,) = sky(found["direction"][number < 0], np.zeros((number < 0).sum(), bool))
    np.testing.assert_allclose(density, found["pdf"][number < 0], rtol=1e-6)
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


def dealt(table: alias.AliasTable) -> np.ndarray:
    """Quanta that each number really gets, summed over the slots."""
    out = np.zeros(len(table.threshold), np.int64)
    out += table.threshold
    np.add.at(out, table.alias, table.levels - table.threshold)
    return out


weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-300, 1e300)), min_size=1, max_size=70).filter(any)


@settings(max_examples=400, deadline=None)
@given(weights, st.sampled_from([1, 2]), st.sampled_from([1, 2, 3, 16, 4096, 65536]))
def test_the_slots_hold_what_the_table_says(given, more, levels) -> None:
    slots = alias.power_of_two(len(given)) * more
    table = alias.build(given, slots, levels)
    found = dealt(table)
    np.testing.assert_array_equal(found[: len(given)], table.quanta)
    assert not found[len(given) :].any() and found.sum() == slots * levels
    assert table.threshold.min() >= 0 and table.threshold.max() <= levels
    np.testing.assert_array_equal(table.quanta > 0, np.asarray(given) > 0)
    assert table.probability.sum() == pytest.approx(1, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=50))
def test_probabilities_are_the_weights_to_a_quantum(given) -> None:
    total = alias.power_of_two(len(given)) * (1 << 16)
    requested = np.asarray(given) / np.sum(given) * total
    quanta = alias.build(given, alias.power_of_two(len(given)), 1 << 16).quanta
    assert np.abs(quanta - requested).max() <= 1


@pytest.mark.parametrize("count", [1, 2, 8, 5000])
def test_of_equal_weights_each_keeps_its_slot(count: int) -> None:
    table = alias.build(np.ones(count), alias.power_of_two(count), 16 if count < 5000 else 4096)
    if alias.power_of_two(count) == count:
        assert (table.threshold == table.levels).all() and (table.alias == np.arange(count)).all()
    np.testing.assert_array_equal(dealt(table)[:count], table.quanta)


NOTHING = Emitters(np.zeros((0, 3, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.int32))
BOX = ((-1.0, -2.0, -2.0), (1.0, 2.0, 2.0))  # the half of its diagonal is 3
DISC = 9 * math.pi
ROUNDING = 4 / QUANTA  # probabilities are whole quanta


def grey(value: float) -> tuple[float, float, float]:
    return (value, value, value)


def test_a_directional_light_shines_through_the_disc_around_the_scene() -> None:
    """Irradiance 1 through 9 pi square units, beside a point of 4 pi times its intensity."""
    sun = Light("directional", "sun", intensity=grey(1.0))
    for intensity, share in ((4.5, 1 / 3), (2.25, 1 / 2), (9.0, 1 / 5)):
        found = light_list(NOTHING, [Light("point", "lamp", intensity=grey(intensity)), sun], bounds=BOX)
        assert DISC / (DISC + 4 * math.pi * intensity) == pytest.approx(share)
        np.testing.assert_allclose(found.probability, [1 - share, share], atol=ROUNDING)


def test_an_environment_shines_through_the_same_disc() -> None:
    sky = ConstantEnvironment(grey(0.25))  # its flux is pi
    lamp = Light("point", "lamp", intensity=grey(9 * math.pi / 2))
    found = light_list(NOTHING, [lamp], sky, BOX)
    assert DISC * math.pi / (DISC * math.pi + 4 * math.pi * lamp.intensity[0]) == pytest.approx(1 / 3)
    # Shared out in steps of 2^16 quanta.
    np.testing.assert_allclose(found.environment_levels / QUANTA, 1 / 3, atol=0.5 / 256)
    np.testing.assert_allclose(found.probability, [2 / 3], atol=0.5 / 256)


def test_what_exceeds_the_mean_of_texels_of_unequal_size() -> None:
    """Texels near the poles are small: of radiances 6, 1 and 1 over 0.5, 1 and 2.5 sr the mean is 6.5 / 4."""
    angles = np.array([0.5, 1.0, 2.5])
    flux = np.array([6.0, 1.0, 1.0]) * angles
    np.testing.assert_allclose(excess_flux(flux, angles), [3.0 - 6.5 / 4.0 * 0.5, 0.0, 0.0], rtol=1e-15)
    small = np.array([1.0, 6.0, 1.0]) * angles
    np.testing.assert_allclose(excess_flux(small, angles), [0.0, 6.0 - 9.0 / 4.0, 0.0], rtol=1e-15)


def test_is_the_power_heuristic(device) -> None:
    """Veach 1997, section 9.2.2, of squares: p^2 / (p^2 + q^2), though squares leave the range of floats."""
    weight = Function(device, "float mis_weight(float mine, float other)", modules=[path_settings()])
    rng = np.random.default_rng(7)
    mine, other = (10.0 ** rng.uniform(-12, 12, 3000).astype(np.float32) for _ in range(2))
    mine[:500] = other[:500] * rng.uniform(0.25, 4, 500).astype(np.float32)  # where both matter
    expected = mine.astype(float) ** 2 / (mine.astype(float) ** 2 + other.astype(float) ** 2)
    # A quotient, a square, a sum and a quotient: half a unit in the last place each.
    np.testing.assert_allclose(weight(mine, other)[0], expected, rtol=5e-7, atol=1e-30)
    (both,) = np.add(weight(mine, other), weight(other, mine))
    np.testing.assert_allclose(both, 1, rtol=5e-7)
    values = [
        (1, 1, 0.5),
        (2, 1, 0.8),
        (1, 3, 0.1),
        (1, 0, 1),
        (0, 1, 0),
        (0, 0, 0),
        (1e30, 1e30, 0.5),
        (1e-30, 1e30, 0),
    ]
    mine, other, expected = np.float32(values).T
    np.testing.assert_allclose(weight(mine, other)[0], expected, rtol=3e-7)


def panel_between_plates(double_sided: bool = True) -> Scene:
    """A small panel that faces the upper of two plates."""
    panel = places.quads([[(-0.5, 0, -0.5), (-0.5, 0, 0.5), (0.5, 0, 0.5), (0.5, 0, -0.5)]])
    upper = places.quads([[(-2, 1, -2), (2, 1, -2), (2, 1, 2), (-2, 1, 2)]])
    lower = places.quads([[(-2, -1, -2), (-2, -1, 2), (2, -1, 2), (2, -1, -2)]])
    meshes = [places.flat(each, number) for number, each in enumerate((panel, upper, lower))]
    shining = replace(places.material(0.0, shines=3.0), double_sided=double_sided)
    camera = Camera((0, 0, 4.0), (0, 0, 0), fov=50.0)
    return places.scene(meshes, [shining, places.material(0.5), places.material(0.5)], camera)


def halves(device: Any, scene: Scene, **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, and its standard error, of the picture's upper and lower half; and the picture."""
    chosen = {"machine": "singlepass", "program": "path", "environment": "none", "sampler": "independent", **options}
    spp = chosen.pop("spp", 32)
    film = Renderer(scene, device=device, **chosen).render((24, 24), spp).film
    mean, variance = film.mean()[..., 0].astype(np.float64), film.variance()
    parts = slice(0, 12), slice(12, 24)
    error = np.array([np.sqrt(variance[rows].sum()) / mean[rows].size for rows in parts])
    return np.array([mean[rows].mean() for rows in parts]), error, film.linear


def test_both_sides_are_sampled_as_lights_with_the_density_that_is_told(device):
    """Lights, directions, and both agree above and below, where the light is the same."""
    found = {way: halves(device, panel_between_plates(), depth=1, strategy=way) for way in ("both", "lights", "bsdf")}
    for mean, error, _ in found.values():
        assert abs(mean[0] - mean[1]) < 4.5 * np.hypot(*error)
    for way in ("lights", "bsdf"):
        assert (np.abs(found[way][0] - found["both"][0]) < 4.5 * np.hypot(found[way][1], found["both"][1])).all()
    assert (found["both"][1] < 0.02 * found["both"][0]).all()
    assert found["lights"][1].max() < found["bsdf"][1].min()  # it is sampled


@pytest.mark.parametrize("program", ["whitted", pytest.param("photon", marks=pytest.mark.slow)])
def test_every_program_has_light_on_both_sides(device, program: str):
    more: dict[str, Any] = {"photons": 4096, "photon_bounces": 2, "final_gather": 4} if program == "photon" else {}
    path, error, _ = halves(device, panel_between_plates(), depth=1 if program == "whitted" else 3, spp=64)
    mean, other, _ = halves(device, panel_between_plates(), program=program, depth=1, spp=8, **more)
    bias = 0.0 if program == "whitted" else 0.03  # of estimates near corners
    assert (np.abs(mean - path) < 4.5 * np.hypot(error, other) + bias * path).all()


def test_light_goes_to_both_sides_from_photons_alone(device):
    """Photons of a bounce and more: the plates light each other, equally."""
    options = {"photons": 8192, "photon_bounces": 3, "depth": 1, "spp": 4}
    mean, error, _ = halves(device, panel_between_plates(), program="photon", **options)
    assert abs(mean[0] - mean[1]) < 4.5 * np.hypot(*error) + 0.03 * mean[0]


def test_powers_and_densities():
    """Twice the power, and so twice the chance, of one side."""
    one, both = (scene_lights(panel_between_plates(double)) for double in (False, True))
    assert (one.records["density"][:2] > 0).all() and (both.records["density"][:2] < 0).all()
    assert emitters(panel_between_plates(False)).both is None
    scene = panel_between_plates()
    scene.materials[1] = replace(scene.materials[1], emission=(3.0, 3.0, 3.0))
    found = scene_lights(scene)
    # The plate has 16 times the panel's area, and one side.
    assert found.probability[:2].sum() == pytest.approx(2 / 18, abs=1e-6)
    assert found.density[0] == pytest.approx(2 * found.density[1], rel=1e-6)


def test_one_side_stays_dark_and_has_no_part_of_it(device):
    mean, _, picture = halves(device, panel_between_plates(False), depth=1)
    assert mean[1] < 0.2 * mean[0] and not picture[20:].any()
