"""Photon mapping and path tracing on one scene: the caustic of a ball of glass that parts channels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer, Scene
from raystream.scene.material import Material

BIAS = 0.02  # of the mean: estimates near the caustic's edges, and the bounces that are cut off


def ball_under_a_panel() -> Scene:
    floor = places.quads([[(-2, 0, -2), (-2, 0, 2), (2, 0, 2), (2, 0, -2)]])
    panel = places.quads([[(-0.5, 4, -1.5), (2.5, 4, -1.5), (2.5, 4, 1.5), (-0.5, 4, 1.5)]])
    ball = places.sphere(3)
    mesh = places.flat(ball * np.float32(0.8) + np.float32([0, 1.1, 0]), 1, "ball")
    mesh = replace(mesh, normals=ball.reshape(-1, 3))
    materials = [
        Material("floor", (0.8, 0.8, 0.8, 1.0)),
        Material("glass", (1.0, 1.0, 1.0, 1.0), kind="dielectric", dispersion=8.0),
        places.material(0.0, shines=3.0),
    ]
    meshes = [places.flat(floor, 0, "floor"), mesh, places.flat(panel, 2, "panel")]
    return places.scene(meshes, materials, Camera((-0.4, 0.9, 3), (-0.35, 0, 0), fov=40))


@pytest.mark.slow
def test_photons_bring_what_paths_find_by_chance(device) -> None:
    """The mean of each channel, in which the caustic has a third, from four seeds of each."""
    programs: dict[str, dict[str, Any]] = {
        "path": {"spp": 256},
        "photon": {"spp": 6, "photon_bounces": 8, "photons": 4096},
    }
    means = []
    for program, options in programs.items():
        spp = options.pop("spp")
        renderer = Renderer(
            ball_under_a_panel(),
            device=device,
            program=program,
            machine="singlepass",
            sampler="independent",
            environment="none",
            depth=8,
            **options,
        )
        found = []
        for seed in range(4):
            renderer.update(seed=seed)
            found.append(renderer.render(size=(24, 24), spp=spp).linear.astype(float).mean(axis=(0, 1)))
        means.append(np.array(found))
    apart = np.abs(means[0].mean(axis=0) - means[1].mean(axis=0))
    error = np.sqrt(sum(each.var(axis=0, ddof=1).max() / 4 for each in means))  # of the noisiest channel
    assert (apart < 4.5 * error + BIAS * means[0].mean()).all()
    assert error < 0.015 * means[0].mean()
