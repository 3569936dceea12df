"""Suns and ambient light of an environment against integrals in float64, and on the device."""

from __future__ import annotations

import math

import numpy as np
import places
import pytest
from glsl_call import Function
from numpy.typing import NDArray

from raystream import Camera, Renderer, Scene
from raystream.kernels.records import LIGHT_SAMPLE
from raystream.lighting.ambient import MAX_SUNS, Ambient, ambient, cells_of, each_light, in_world, turned
from raystream.lighting.environment import environment
from raystream.lighting.lights import scene_lights
from raystream.scene.environment import ConstantEnvironment, Environment, ImageEnvironment, sky
from raystream.scene.light import Light, luminance

NOTHING = Scene.from_triangles(np.zeros((0, 3)), np.zeros((0, 3), int))
ALL = [(0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0)]


def unit(vectors: object) -> NDArray[np.float64]:
    v = np.asarray(vectors, np.float64)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


NORMALS = np.concatenate([unit(np.random.default_rng(4).normal(size=(60, 3))), ALL])


def grid(rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Directions (N, 3) all over the sphere, and their solid angles (N,)."""
    polar, around = np.meshgrid((np.arange(rows) + 0.5) * np.pi / rows, (np.arange(2 * rows) + 0.5) * np.pi / rows)
    ways = np.stack([np.sin(polar) * np.cos(around), np.cos(polar), np.sin(polar) * np.sin(around)], -1)
    return ways.reshape(-1, 3), (np.sin(polar) * (np.pi / rows) ** 2).ravel()


def irradiance(given: Environment, rows: int = 180) -> NDArray[np.float64]:
    """(N, 3) of `NORMALS`, by a sum over directions."""
    ways, angles = grid(rows)
    if isinstance(given, ConstantEnvironment):
        radiance = np.broadcast_to(np.float64(given.radiance), ways.shape)
    else:
        radiance = given.radiance(ways)
    return np.maximum(NORMALS @ ways.T, 0) @ (radiance * angles[:, None])


def lit(found: Ambient) -> NDArray[np.float64]:
    """(N, 3) irradiance of `NORMALS` by suns and ambient light, the twin of the shader."""
    n = np.concatenate([NORMALS, np.ones((len(NORMALS), 1))], axis=1)
    smooth = np.maximum(np.einsum("ni,kij,nj->nk", n, found.quadratic, n), 0)
    return smooth + np.maximum(NORMALS @ found.towards.T, 0) @ found.irradiance


def disc(towards: object, radius: float, radiance: float, behind: float = 0.1) -> ImageEnvironment:
    """A uniform disc of light, over an even background; degrees."""
    ways, _ = grid(180)
    rows = ways.reshape(360, 180, 3).transpose(1, 0, 2)  # the grid's columns begin at +X, a picture's at -X
    inside = np.roll(rows, 180, axis=1) @ unit(towards) > math.cos(math.radians(radius))
    return ImageEnvironment(
        np.where(inside, radiance, behind)[..., None].astype(np.float32) * np.float32([1, 0.9, 0.7])
    )


LAMPS = ImageEnvironment(disc((1, 0.6, 0.2), 4, 300).pixels + disc((-1, 0.2, 0.9), 2, 800).pixels)
NOISE = ImageEnvironment(np.random.default_rng(1).random((7, 9, 3)).astype(np.float32) ** 4)


@pytest.mark.parametrize(
    ("given", "suns", "error"),
    # Of the mean irradiance, at any normal: what order 2 leaves out, and at a sun's setting its width.
    [(sky(256), 1, 0.03), (LAMPS, 2, 0.03), (NOISE, 0, 0.06), (ConstantEnvironment((3, 2, 1)), 0, 2e-4)],
    ids=["sky", "lamps", "noise", "constant"],
)
def test_together_they_are_the_environment_s_irradiance(given, suns, error) -> None:
    truth, found = irradiance(given), ambient(given)
    assert len(found.towards) == suns
    assert np.abs(lit(found) - truth).max() < error * truth.mean()
    # In the mean over normals nothing is lost; 66 of them, each off by a part of that.
    np.testing.assert_allclose(lit(found).mean(axis=0), truth.mean(axis=0), rtol=0.005)


def test_irradiance_by_the_device(device) -> None:
    """The module's lights and its ambient light, summed over the sphere of normals, against the integral."""
    given = sky(128).rotated(30)
    truth = irradiance(given)
    each = each_light(NOTHING, in_world(ambient(given), given))
    modules = [environment(given), scene_lights(NOTHING, given).module(), each]
    smooth = Function(device, "vec3 ambient_irradiance(vec3 normal)", modules=modules, records=[LIGHT_SAMPLE])
    signature = "bool each_light_sample(int index, vec3 position, float choose, vec2 u, out LightSample found)"
    sample = Function(device, signature, modules=modules, records=[LIGHT_SAMPLE])
    ok, sun = sample(np.zeros(1), np.zeros((1, 3)), np.zeros(1), np.zeros((1, 2)))
    assert ok[0] and each.uniforms["each_punctual"][1] == 1
    total = smooth(NORMALS)[0] + np.maximum(NORMALS @ sun["direction"][0], 0)[:, None] * sun["weight"][0]
    assert np.abs(total - truth).max() < 0.03 * truth.mean()  # as above
    np.testing.assert_allclose(total, lit(in_world(ambient(given), given)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("facing", [1, -1], ids=["front", "back"])
@pytest.mark.parametrize("height", [3.0, -3.0], ids=["from above", "from below"])
def test_each_side_of_a_surface_has_its_own(device, facing: int, height: float) -> None:
    """By the quadratic form of the normal on the side that is seen, whichever the surface faces."""
    around = ambient(NOISE)
    square = places.quads([[(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)]])[:, ::facing]
    scene = places.alone(square, places.material(0.5), Camera((0.0, height, 0.0), (0, 0, 0), up=(0, 0, 1), fov=20.0))
    chosen = {"program": "whitted", "machine": "singlepass", "depth": 1, "environment": NOISE}
    picture = Renderer(scene, device=device, **chosen).render((2, 2), 1).linear
    n = np.array([0.0, math.copysign(1.0, height), 0.0, 1.0])
    expected = 0.5 / math.pi * np.einsum("i,kij,j->k", n, around.quadratic, n)
    np.testing.assert_allclose(picture, np.broadcast_to(expected, picture.shape), rtol=1e-5)


def test_a_sun_is_where_it_is_and_as_bright() -> None:
    towards, radius, radiance = unit((0.3, 0.7, -0.6)), math.radians(3), 500.0
    found = ambient(disc(towards, 3, radiance))
    (at,), (color,) = found.towards, found.irradiance
    assert math.degrees(math.acos(at @ towards)) < 0.2  # of texels of one degree, of which the disc has 30
    # pi sin^2 of its radius; texels of one degree cut a disc of six coarsely.
    expected = math.pi * math.sin(radius) ** 2 * (radiance - 0.1)
    np.testing.assert_allclose(color, expected * np.array([1, 0.9, 0.7]), rtol=0.05)
    np.testing.assert_allclose(found.quadratic[0, 3, 3] * 32 / 3, 0.1 * 4 * math.pi, rtol=0.02)  # the flux that is left


def test_what_is_wide_or_weak_or_one_of_many_is_no_sun() -> None:
    assert not len(ambient(disc((1, 1, 0), 20, 50)).towards)  # a soft box
    assert not len(ambient(disc((1, 1, 0), 2, 2)).towards)  # 20 times the mean, but a hundredth of the light
    strip = np.full((90, 180, 3), 0.1, np.float32)
    strip[40:43, 20:120] = 40
    assert not len(ambient(ImageEnvironment(strip)).towards)
    many = sum(disc((math.cos(a), 0.4, math.sin(a)), 3, 100.0 * k).pixels for k, a in enumerate(range(6), 1))
    suns = ambient(ImageEnvironment(many)).irradiance
    assert len(suns) == MAX_SUNS
    np.testing.assert_allclose(suns[:, 0] / suns[0, 0], np.arange(6, 2, -1) / 6, rtol=0.1)  # the brightest, in order


def test_turned_by_a_written_matrix() -> None:
    """30 degrees about +Y, counter-clockwise from above: +X goes to (cos 30, 0, -sin 30)."""
    matrix = np.array([[math.sqrt(3) / 2, 0, 0.5], [0, 1, 0], [-0.5, 0, math.sqrt(3) / 2]])
    given, here = sky(128), ambient(sky(128))
    there = in_world(here, given.rotated(30))
    np.testing.assert_allclose(there.towards, here.towards @ matrix.T, atol=1e-12)
    forms = [matrix @ form[:3, :3] @ matrix.T for form in here.quadratic]
    np.testing.assert_allclose(there.quadratic[:, :3, :3], forms, atol=1e-12)
    np.testing.assert_allclose(there.quadratic[:, 3, :3], here.quadratic[:, 3, :3] @ matrix.T, atol=1e-12)
    # The module that is turned is the one that is made anew.
    fresh, moved = each_light(NOTHING, there), turned(each_light(NOTHING, here), there)
    np.testing.assert_array_equal(moved.memories[0].data, fresh.memories[0].data)
    assert moved.uniforms == fresh.uniforms != each_light(NOTHING, here).uniforms


def test_turned_beside_lamps() -> None:
    """Lamps stand still, before the suns and behind them; a dark one is left out."""
    scene = Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    scene.materials[0].emission = (1.0, 2.0, 3.0)
    scene.lights = [
        Light("point", "near", (1, 2, 3), intensity=(4, 5, 6)),
        Light("point", "dark", (1, 2, 3), intensity=(0, 0, 0)),
        Light("directional", "far", direction=(0, 0, 1), intensity=(7, 8, 9)),
    ]
    given, here = sky(128), ambient(sky(128))
    there, suns = in_world(here, given.rotated(30)), len(here.towards)
    fresh, moved, before = each_light(scene, there), turned(each_light(scene, here), there), each_light(scene, here)
    assert suns and fresh.uniforms["each_punctual"] == ("int", 2 + suns)
    rows, old = moved.memories[0].data, before.memories[0].data
    np.testing.assert_array_equal(rows, fresh.memories[0].data)
    np.testing.assert_array_equal(rows["edge1"][2 : 2 + suns], there.towards.astype(np.float32))
    others = np.delete(np.arange(len(rows)), np.arange(2, 2 + suns))
    np.testing.assert_array_equal(rows[others], old[others])
    np.testing.assert_array_equal(rows["power"][: 2 + suns], np.float32([(4, 5, 6), (7, 8, 9), *here.irradiance]))


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (40, 30), (300, 200), (1000, 2), (5, 500)])
def test_cells_of_every_size_hold_the_flux(size) -> None:
    pixels = np.random.default_rng(2).random((size[1], size[0], 3)).astype(np.float32)
    cells = cells_of(ImageEnvironment(pixels))
    assert len(cells.angles) <= 128 * 256 and cells.angles.sum() == pytest.approx(4 * math.pi)
    np.testing.assert_allclose(np.linalg.norm(cells.directions, axis=1), 1, atol=1e-12)
    flux = ImageEnvironment(pixels).cell_flux().sum()
    # Texels by their own values, or between them; cell_flux has the mean of these. Of a thousand texels in two rows,
    # those at the poles are clamped.
    assert luminance(cells.radiance) @ cells.angles == pytest.approx(flux, rel=0.01)
