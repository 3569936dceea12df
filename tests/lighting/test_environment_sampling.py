"""Environments: GLSL against the NumPy twin, densities against what is sampled."""

from __future__ import annotations

import math

import numpy as np
import pytest
from glsl_call import Function

from raystream.lighting.environment import LEVELS, environment, environment_uniforms, image_tables
from raystream.scene.environment import ConstantEnvironment, ImageEnvironment, sky
from raystream.scene.light import luminance

RADIANCE = "vec3 environment_radiance(vec3 direction)"
SAMPLE = "void environment_sample(vec2 u, int quantum, bool compensated, out vec3 direction, out float density)"
DENSITY = "float environment_density(vec3 direction, bool compensated)"


def picture(width: int, height: int, power: float = 1.0, seed: int = 1) -> np.ndarray:
    return (np.random.default_rng(seed).random((height, width, 3)) ** power).astype(np.float32)


def directions(count: int, seed: int = 2) -> np.ndarray:
    ways = np.random.default_rng(seed).normal(size=(count, 3))
    return (ways / np.linalg.norm(ways, axis=1, keepdims=True)).astype(np.float32)


def flux(scene_lighting) -> float:
    """Luminance over all directions, by a grid finer than any picture here."""
    if isinstance(scene_lighting, ConstantEnvironment):
        return scene_lighting.flux
    polar, lighting = (np.arange(600) + 0.5) * np.pi / 600, (np.arange(1200) + 0.5) * np.pi / 600
    ring, level = np.sin(polar)[:, None], np.broadcast_to(np.cos(polar)[:, None], (600, 1200))
    ways = np.stack([ring * np.cos(lighting), level, ring * np.sin(lighting)], -1)
    light = luminance(scene_lighting.radiance(ways.reshape(-1, 3))).reshape(600, 1200)
    return float((light * ring).sum() * (np.pi / 600) ** 2)


def sampled(device, module, count: int, compensated: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    u, quantum = rng.integers(0, 1 << 24, (count, 2)) / (1 << 24), rng.integers(0, LEVELS, count)
    return Function(device, SAMPLE, modules=[module])(u, quantum, np.full(count, compensated))


def densities(device, module, ways: np.ndarray, compensated: bool = False) -> np.ndarray:
    return Function(device, DENSITY, modules=[module])(ways, np.full(len(ways), compensated))[0]


def weights(given: ImageEnvironment, compensated: bool) -> np.ndarray:
    """(H * W,): what texels are chosen in proportion to: the twin."""
    flux, angles = given.cell_flux().ravel(), np.repeat(given.solid_angles(), given.pixels.shape[1])
    return np.maximum(flux - flux.sum() / (4 * np.pi) * angles, 0) if compensated else flux


@pytest.mark.parametrize("rotation", [0, 90, -33.3])
@pytest.mark.parametrize("size", [(1, 1), (2, 1), (7, 5), (64, 32)])
def test_radiance_is_the_twin_s(device, size, rotation) -> None:
    given = ImageEnvironment(picture(*size), rotation=rotation)
    ways = np.concatenate([directions(5000), np.eye(3, dtype=np.float32), -np.eye(3, dtype=np.float32)])
    (found,) = Function(device, RADIANCE, modules=[environment(given)])(ways)
    # The device's arc tangent is good to some 1e-6 of a turn; 64 columns of differences up to 1.
    np.testing.assert_allclose(found, given.radiance(ways), atol=2e-4)


def test_turned_by_a_written_matrix(device) -> None:
    """30 degrees about +Y, counter-clockwise from above: what is towards +X goes to (cos 30, 0, -sin 30)."""
    matrix = np.array([[math.sqrt(3) / 2, 0, 0.5], [0, 1, 0], [-0.5, 0, math.sqrt(3) / 2]])
    given, ways = ImageEnvironment(picture(16, 8)), directions(2000)
    straight, turned = environment(given), environment(given.rotated(30))
    there = (ways @ matrix.T).astype(np.float32)
    expected = given.radiance(ways)
    np.testing.assert_allclose(given.rotated(30).radiance(there), expected, atol=2e-5)  # directions of float32
    np.testing.assert_allclose(Function(device, RADIANCE, modules=[turned])(there)[0], expected, atol=1e-4)
    # Densities change at the edges of texels alone, where rounding may take the next.
    assert np.isclose(densities(device, turned, there), densities(device, straight, ways), rtol=1e-6).mean() > 0.99
    (here, density), (found, same) = sampled(device, straight, 2000), sampled(device, turned, 2000)
    np.testing.assert_allclose(found, here @ matrix.T, atol=1e-6)
    np.testing.assert_array_equal(same, density)


@pytest.mark.parametrize(
    "scene_lighting", [sky(64), ImageEnvironment(picture(5, 3, 8), rotation=20), ConstantEnvironment((1, 2, 3))]
)
def test_samples_carry_the_flux_and_have_the_density_they_say(device, scene_lighting) -> None:
    module = environment(scene_lighting)
    ways, density = sampled(device, module, 200_000)
    np.testing.assert_allclose(np.linalg.norm(ways.astype(float), axis=1), 1, atol=1e-6)
    (radiance,) = Function(device, RADIANCE, modules=[module])(ways)
    carried = luminance(radiance) / density
    truth = flux(scene_lighting)
    error = carried.std() / math.sqrt(len(ways)) + 1e-5 * truth  # the latter for a constant one
    assert abs(carried.mean() - truth) < 4.5 * error
    assert abs((1 / density.astype(float)).mean() - 4 * math.pi) < 4.5 * (1 / density.astype(float)).std() / 400 + 1e-4
    again = densities(device, module, ways)
    # But for directions that rounding has put into the next texel.
    assert (np.abs(again / density - 1) < 1e-5).mean() > 0.999


@pytest.mark.parametrize("given", [sky(64), ImageEnvironment(picture(5, 3, 8), rotation=20)])
def test_what_compensated_samples_leave_out_is_found_by_others(device, given) -> None:
    """Light sampling and uniform directions, weighed by the balance heuristic, carry the flux together."""
    module, count = environment(given), 200_000
    ways, density = sampled(device, module, count, True)
    again = densities(device, module, ways, True)
    assert (np.abs(again / density - 1) < 1e-5).mean() > 0.999
    others = directions(count)
    other_density = densities(device, module, others, True)
    assert (other_density == 0).mean() > 0.3  # where only these find light
    uniform = 1 / (4 * np.pi)
    carried = luminance(given.radiance(ways)) / (density.astype(float) + uniform)
    carried += luminance(given.radiance(others)) / (other_density.astype(float) + uniform)
    # 4.5 standard errors: one of 150,000 right programs fails; the seeds are fixed.
    assert abs(carried.mean() - flux(given)) < 4.5 * carried.std() / math.sqrt(count)


def test_nothing_is_sampled_compensated_where_nothing_exceeds_the_mean(device) -> None:
    """A colour, and images that are constant but for rounding, or nearly: left to BSDF sampling."""
    noise = np.random.default_rng(1).uniform(0.9, 1.1, (16, 32, 3))
    for given in (
        ConstantEnvironment((1, 2, 3)),
        ImageEnvironment(np.full((7, 5, 3), 0.1, np.float32)),
        ImageEnvironment(noise.astype(np.float32)),
        ImageEnvironment(np.zeros((2, 4, 3), np.float32)),
    ):
        module = environment(given)
        _, density = sampled(device, module, 5000, True)
        assert not density.any() and not densities(device, module, directions(5000), True).any()
    # But a small sun is, however little of the flux it has.
    noise[4, 7] *= 50
    assert np.count_nonzero(image_tables(ImageEnvironment(noise.astype(np.float32))).choices["density"][512:]) > 0


def test_an_image_too_large_for_two_tables_has_one(device, monkeypatch) -> None:
    given = ImageEnvironment(picture(8, 4, 6))
    monkeypatch.setattr("raystream.lighting.environment.LARGEST_INTEGER", 63)
    assert len(image_tables(given).choices) == 32
    module, ways = environment(given), directions(1000)
    one = densities(device, module, ways)
    assert (one > 0).all()
    np.testing.assert_array_equal(densities(device, module, ways, True), one)


@pytest.mark.parametrize("compensated", [False, True])
@pytest.mark.parametrize("size", [(8, 4), (13, 6), (1, 1)])
def test_the_density_integrates_to_one(device, size, compensated) -> None:
    given = ImageEnvironment(picture(*size, power=6))
    width, height = size
    row, column = np.mgrid[:height, :width]
    polar = np.arccos((np.cos(row * np.pi / height) + np.cos((row + 1) * np.pi / height)) / 2)
    lighting = ((column + 0.5) / width - 0.5) * 2 * np.pi
    ways = np.stack([np.sin(polar) * np.cos(lighting), np.cos(polar), np.sin(polar) * np.sin(lighting)], -1)
    density = densities(device, environment(given), ways.reshape(-1, 3), compensated)
    if compensated and size == (1, 1):  # nothing exceeds the mean
        assert not density.any()
        return
    weight = np.repeat(given.solid_angles(), width)
    assert weight.sum() == pytest.approx(4 * np.pi) and (density * weight).sum() == pytest.approx(1, abs=1e-6)
    wanted = weights(given, compensated)
    np.testing.assert_allclose(density * weight, wanted / wanted.sum(), atol=1 / LEVELS / len(weight))
    np.testing.assert_array_equal(density > 0, wanted > 0)


@pytest.mark.parametrize("compensated", [False, True])
def test_frequencies_are_the_density_s(device, compensated) -> None:
    given = ImageEnvironment(picture(11, 6, 4))
    ways, density = sampled(device, environment(given), 400_000, compensated)
    x, y, z = ways.astype(np.float64).T
    column = np.minimum(((np.arctan2(z, x) / (2 * np.pi) + 0.5) * 11).astype(int), 10)
    row = np.minimum((np.arccos(np.clip(y, -1, 1)) / np.pi * 6).astype(int), 5)
    counts = np.bincount(row * 11 + column, minlength=66)
    expected = weights(given, compensated) / weights(given, compensated).sum() * len(ways)
    assert counts[expected == 0].sum() <= 4  # rounding puts a few in the next texel
    seen = expected > 0
    assert seen.all() != compensated and (density > 0).all()
    chi = ((counts - expected)[seen] ** 2 / expected[seen]).sum()
    degrees = np.count_nonzero(seen) - 1
    # Chi-square: 115 of 65 degrees of freedom are exceeded once in 8,000, about as seldom as this of fewer.
    assert chi < degrees + 4.4 * math.sqrt(2 * degrees)
    # Within a texel, halves of equal solid angle are equally likely.
    edges = np.cos(np.arange(7) * np.pi / 6)
    upper = y > ((edges[:-1] + edges[1:]) / 2)[row]
    assert abs(upper.mean() - 0.5) < 4.5 * 0.5 / math.sqrt(len(ways))


def test_a_texel_is_found_where_any_of_it_shines() -> None:
    """One bright texel lights its neighbours by interpolation: none of them may have a density of zero."""
    pixels = np.zeros((8, 16, 3), np.float32)
    pixels[3, 0] = 1000
    density = image_tables(ImageEnvironment(pixels)).choices["density"][: 8 * 16].reshape(8, 16)
    assert (density[2:5][:, [15, 0, 1]] > 0).all() and np.count_nonzero(density) == 9


def test_rotation_and_colour_are_uniforms(device) -> None:
    given = ImageEnvironment(picture(32, 16))
    function = Function(device, RADIANCE, modules=[environment(given)])
    function.set(environment_uniforms(given.rotated(200)))
    ways = directions(1000)
    np.testing.assert_allclose(function(ways)[0], given.rotated(200).radiance(ways), atol=2e-4)
    plain = Function(device, RADIANCE, modules=[environment(ConstantEnvironment())])
    plain.set(environment_uniforms(ConstantEnvironment((1, 2, 3))))
    np.testing.assert_array_equal(plain(ways[:1])[0], [[1, 2, 3]])


def test_rows_near_the_poles_of_a_large_picture(device) -> None:
    """Thin rows at the poles, where cosines hold no digits: samples stay in their row."""
    pixels = np.full((4096, 2, 3), 1e-12, np.float32)
    pixels[[1, 4094]] = 1e6
    given = ImageEnvironment(pixels)
    ways, density = sampled(device, environment(given), 20_000)
    polar = np.arctan2(np.hypot(ways[:, 0], ways[:, 2]).astype(float), ways[:, 1]) / np.pi * 4096
    from_pole = np.minimum(polar, 4096 - polar)
    # The bright row and, by interpolation, halves of its neighbours; hundredths of a row for rounding.
    assert (from_pole > -0.01).all() and (from_pole < 3.01).all()
    assert np.isfinite(density).all() and (density > 0).all()
    assert abs((polar < 2048).mean() - 0.5) < 4.5 * 0.5 / math.sqrt(20_000)
