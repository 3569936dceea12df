"""Spectra of photons: the built-in prism against rays in float64, a ball's caustic against path tracing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream import Renderer
from raystream.scene import builtin
from raystream.scene.builtin import prism
from raystream.scene.builtin.parts.shapes import unit

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
