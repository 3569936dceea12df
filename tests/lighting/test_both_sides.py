"""Double-sided surfaces shine from both of their sides (glTF 2.0, 3.9.6), and are lights on both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer, Scene
from raystream.lighting.emitters import emitters
from raystream.lighting.lights import scene_lights
from raystream.stream.compile.generate import Form, fragment


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
    renderer = Renderer(panel_between_plates(False), device=device, program="path", machine="singlepass")
    linked = renderer.gpu_scene.bind(renderer.program(), renderer.settings)
    text = fragment(linked, linked.single(), Form(scheduled=False), renderer.gpu_scene.resources).text
    assert "material.sides" not in text and "abs(light.density)" not in text
    mean, _, picture = halves(device, panel_between_plates(False), depth=1)
    assert mean[1] < 0.2 * mean[0] and not picture[20:].any()
