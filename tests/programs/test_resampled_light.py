"""Direct light resampled from several points of lights: the same mean, less noise, the same bits however it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer, Scene
from raystream.film.film import LUMINANCE, Film
from raystream.lighting.path import CANDIDATES, CANDIDATES_OF_TREE
from raystream.renderer.sampling.picture_metadata import sample_settings
from raystream.scene.light import Light
from raystream.scene.material import Material

SIZE = (16, 12)
BESIDE: dict[str, Any] = {"machine": "singlepass", "depth": 2, "environment": "none", "sampler": "independent"}


def lamps(number: int, seed: int = 3) -> np.ndarray:
    """Small squares over a floor, that shine downwards, some of them a little aside."""
    rng = np.random.default_rng(seed)
    at = rng.uniform((-1.8, 0.3, -1.8), (1.8, 0.9, 1.2), (number, 1, 3))
    square = np.array([[-0.1, 0, -0.1], [0.1, 0, -0.1], [0.1, 0.05, 0.1], [-0.1, 0.05, 0.1]])
    return places.quads(at + square)


def floor(number: int, glossy: bool = False, lights: tuple[Light, ...] = (), plate: bool = False) -> Scene:
    """A floor under so many lamps, and a ball on it; with a plate that hides many of the lamps from much of it: where
    all that is chosen is seen, it does not matter which."""
    ground = places.quads(np.array([[[-2, 0, 2], [2, 0, 2], [2, 0, -2], [-2, 0, -2]]], float))
    shiny = Material(base_color=(0.7, 0.6, 0.5, 1.0), kind="principled", metallic=0.5, roughness=0.35)
    meshes = [places.flat(ground, 0), places.flat(places.sphere(1) * 0.3 + np.float32([0.2, 0.3, 0.3]), 1)]
    kinds = [shiny if glossy else places.material(0.7), places.material(0.5), places.material(0.3, shines=9.0)]
    meshes += [places.flat(lamps(number), 2)] if number else []
    if plate:
        side = places.quads(np.array([[[-1.4, 0.25, 0.8], [0.3, 0.25, 0.8], [0.3, 0.25, -1.5], [-1.4, 0.25, -1.5]]]))
        meshes.append(places.flat(np.concatenate([side, side[:, ::-1]]), 1))
    return places.scene(meshes, kinds, Camera((0, 1.6, 2.2), (0, 0, 0.1), fov=60), lights=list(lights))


POINTS = (
    Light("point", "a", (-0.6, 0.5, 0.5), intensity=(0.5, 0.4, 0.3)),
    Light("spot", "b", (0.9, 0.9, 0.0), (-0.3, -1.0, 0.1), (0.4, 0.5, 0.6), 0.3, 0.9),
    Light("directional", "c", (0.0, 0.0, 0.0), (0.2, -1.0, -0.3), (0.3, 0.3, 0.3)),
)


def film(scene: Scene, spp: int, **options: Any) -> Film:
    return places.film(scene, SIZE, spp, **{**BESIDE, **options})


@pytest.mark.parametrize(
    ("scene", "options"),
    [
        (floor(6, lights=POINTS, plate=True), {}),
        (floor(6, lights=POINTS, plate=True), {"strategy": "lights"}),
        (floor(6, glossy=True, plate=True), {}),
        (floor(3, lights=POINTS[:1], plate=True), {"environment": "sky"}),
    ],
    ids=["both", "lights", "glossy", "sky"],
)
def test_the_mean_is_the_same(device, scene: Scene, options: dict[str, Any]) -> None:
    """Standard scores of 192 pixels and of the picture, of independent samples; few of a pixel have longer tails. Of
    each colour, too, by the spread of the pixels' own differences."""
    one, other = (film(scene, 256, light_candidates=number, light_sampler="power", **options) for number in (1, 5))
    apart = (one.mean() - other.mean()).astype(np.float64) @ LUMINANCE
    spread = one.variance() + other.variance()
    colors = (one.mean() - other.mean()).astype(np.float64).reshape(-1, 3)
    assert (np.abs(colors.sum(axis=0)) < 4.0 * np.sqrt((colors**2).sum(axis=0))).all()
    assert abs(apart.sum()) < 4.0 * np.sqrt(spread.sum())  # 6 in 100,000
    scores = apart[spread > 0] / np.sqrt(spread[spread > 0])
    assert np.mean(scores**2) == pytest.approx(1.0, abs=0.45)  # 4.4 times the root of 2 / 192: chi-square


@pytest.mark.parametrize("glossy", [False, True])
def test_a_picture_of_many_lamps_has_less_noise(device, glossy: bool) -> None:
    """Of pixels without an edge in them: the median. Measured: 0.23 of the variance, 0.14 on glossy surfaces."""
    scene = floor(30, glossy)
    plain, resampled = (
        np.median(film(scene, 64, depth=1, light_sampler="power", light_candidates=k).variance()) for k in (1, 8)
    )
    assert resampled < 0.4 * plain


def test_candidates_are_for_several_lights(device) -> None:
    """Two triangles are one lamp, two points are two."""
    for scene, options, expected in (
        (floor(1), {}, 1),
        (floor(0), {"environment": "sky"}, 1),
        (floor(0, lights=POINTS[:1]), {"environment": "sky"}, 1),
        (floor(0, lights=POINTS[:2]), {}, CANDIDATES),
        (floor(2), {}, CANDIDATES_OF_TREE),
        (floor(2), {"light_sampler": "power"}, CANDIDATES),
        (floor(2), {"light_candidates": 1}, 1),
        (floor(1), {"light_candidates": 3}, 3),
        (floor(2), {"program": "photon"}, 1),
    ):
        renderer = Renderer(scene, device=device, **{"environment": "none", **options})
        assert renderer.prepared.light_candidates(renderer.settings) == expected
        kernels = {state.kernel.name for state in renderer.program().states}
        assert ("resample_light" in kernels) == (expected > 1)
        assert ("sample_light" in kernels) == (expected == 1 and renderer.settings.program == "path")
        # Files from before there were candidates can be gone on from where there are none.
        assert sample_settings(renderer).get("light_candidates", "1") == str(expected)
        renderer.release()


@pytest.mark.parametrize("options", [{"fuse": "none"}, {"fuse": "ray"}, {"fuse": "ray", "unroll": "3"}], ids=str)
def test_the_bits_are_the_machines_own_business(device, options: dict[str, Any]) -> None:
    scene = floor(4, lights=POINTS)
    chosen: dict[str, Any] = {"sampler": "sobol", "depth": 3, "light_sampler": "power"}
    single = film(scene, 3, **chosen)
    other = film(scene, 3, **{**chosen, "machine": "multipass", **options})
    assert single.sum.any()
    for name, array in single.arrays.items():
        assert array.tobytes() == other.arrays[name].tobytes(), name


def test_the_number_of_candidates_compiles_nothing(device) -> None:
    renderer = Renderer(floor(4), device=device, **BESIDE)
    renderer.render(SIZE, spp=1)
    compiled = device.compiled
    renderer.update(light_candidates=3)
    assert renderer.render(SIZE, spp=1).linear.any() and device.compiled == compiled
    renderer.release()
