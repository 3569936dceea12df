"""Spectra of photons: the built-in prism against rays in float64, a ball's caustic against path tracing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from numpy.typing import NDArray

from raystream import Camera, Renderer, Scene
from raystream.scene import builtin
from raystream.scene.builtin import prism
from raystream.scene.builtin.parts.shapes import unit
from raystream.scene.material import Material

Array = NDArray[np.float64]
UP = np.array([0.0, 1.0, 0.0])
ACROSS = np.cross(prism.OUTWARDS, UP)  # on the screen, to the side that the prism bends to
MOST = 4.5  # standard errors


def refracted(directions: Array, normal: Array, ratio: float) -> tuple[Array, Array]:
    """Directions (N, 3) behind a plane whose normal is against them, and the share that Fresnel's equations let
    through; ratio: index in front of it / index behind it."""
    cosine = -directions @ normal
    behind = np.sqrt(1 - ratio**2 * (1 - cosine**2))
    s = (ratio * cosine - behind) / (ratio * cosine + behind)
    p = (cosine - ratio * behind) / (cosine + ratio * behind)
    return ratio * directions + (ratio * cosine - behind)[:, None] * normal, 1 - (s**2 + p**2) / 2


def met(origins: Array, directions: Array, point: Array, normal: Array) -> Array:
    """Where rays come to a plane."""
    return origins + directions * ((point - origins) @ normal / (directions @ normal))[:, None]


def spectrum(ior: float, count: int = 300) -> tuple[Array, Array]:
    """Of rays through an even grid of points of the slit, by one index: places (N,) across the screen, from its middle,
    and fluxes (N,), of those that come to it."""
    (lamp, *_), (left, right, far) = builtin.build("prism").lights, prism.corners()
    at, axis, side = np.array(lamp.position), np.array(lamp.direction), np.cross(UP, prism.INWARDS)
    slit = at - UP * at[1] + prism.SLIT_DISTANCE * prism.INWARDS
    step = (np.arange(count) + 0.5) / count
    across, height = (grid.ravel() for grid in np.meshgrid((step - 0.5) * prism.SLIT, step * prism.SLIT_HEIGHT))
    d = slit + side * across[:, None] + UP * height[:, None] - at
    distance = np.linalg.norm(d, axis=1)
    d /= distance[:, None]
    scale, offset = lamp.falloff
    area = prism.SLIT * prism.SLIT_HEIGHT / count**2
    flux = lamp.intensity[1] * np.clip(d @ axis * scale + offset, 0, 1) ** 2 * area * (d @ prism.INWARDS) / distance**2
    o = np.broadcast_to(at, d.shape)
    for one, other, ratio in ((left, far, 1 / ior), (right, far, ior)):  # into the glass and out of it
        normal = unit(np.cross(UP, other - one))
        normal *= -np.sign(d[0] @ normal)
        o = met(o, d, one, normal)
        share = (o - one) @ (other - one) / ((other - one) @ (other - one))
        inside = (share > 0) & (share < 1) & (o[:, 1] > 1e-3) & (o[:, 1] < prism.HEIGHT)
        o, d, flux = o[inside], d[inside], flux[inside]
        d, through = refracted(d, normal, ratio)
        flux = flux * through
    screen = (right + far) / 2 + prism.SCREEN_DISTANCE * prism.OUTWARDS
    o = met(o, d, screen, prism.OUTWARDS)
    return ((o - screen) @ ACROSS)[o[:, 1] > 0], flux[o[:, 1] > 0]


def test_the_middle_channel_passes_at_the_angle_of_least_deviation() -> None:
    """Of which sin((deviation + 60 degrees) / 2) = index / 2 (Born and Wolf, Principles of Optics, section 4.7.2)."""
    deviation = np.degrees(np.arccos(prism.INWARDS @ prism.OUTWARDS))
    assert np.sin(np.radians((deviation + 60) / 2)) == pytest.approx(prism.GLASS.ior / 2, rel=1e-12)
    left, right, far = prism.corners()
    faces = [unit(np.cross(UP, far - left)), unit(np.cross(UP, far - right))]
    inside, _ = refracted(prism.INWARDS[None], faces[0], 1 / prism.GLASS.ior)
    np.testing.assert_allclose(inside, [[1, 0, 0]], atol=1e-12)
    leaving, _ = refracted(inside, faces[1], prism.GLASS.ior)
    np.testing.assert_allclose(leaving, prism.OUTWARDS[None], atol=1e-12)


def test_photons_of_each_channel_are_where_their_index_bends_them(device) -> None:
    renderer = Renderer(
        builtin.build("prism"),
        device=device,
        program="photon",
        machine="singlepass",
        sampler="independent",
        photons=1 << 16,
        caustic_photons=0,
        photon_bounces=3,
        estimate="nearest",
    )
    renderer.render((4, 4), spp=1)
    photons = renderer.photon_map.streams["photons"].read().reshape(3, -1)[2]  # they have left two surfaces
    _, right, far = prism.corners()
    screen = (right + far) / 2 + prism.SCREEN_DISTANCE * prism.OUTWARDS
    away = photons["position"].astype(float) - screen
    there = (photons["stored"] > 0) & (np.abs(away @ prism.OUTWARDS) < 1e-5) & (away[:, 1] > 1e-6)
    single = (photons["power"] > 0).sum(axis=1) == 1
    middles = []
    for channel, ior in enumerate(prism.GLASS.iors):
        mine = there & single & (photons["power"][:, channel] > 0)
        place, power = away[mine] @ ACROSS, photons["power"][mine, channel].astype(float)
        wanted, flux = spectrum(ior)
        middle = np.average(wanted, weights=flux)
        error = np.sqrt(np.average((wanted - middle) ** 2, weights=flux) / mine.sum())
        assert mine.sum() > 200
        assert abs(np.average(place, weights=power) - middle) < MOST * error
        assert wanted.min() - 1e-4 < place.min() and place.max() < wanted.max() + 1e-4  # float32's and the grid's
        assert abs(power.sum() / flux.sum() - 1) < MOST / np.sqrt(mine.sum())  # counts are Poisson's
        middles.append(np.average(place, weights=power))
    assert middles[0] < middles[1] < middles[2]  # red is bent least, blue most
    assert min(np.diff(middles)) > 0.015


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
