"""Figure 6.7 of T. J. Purcell, *Ray Tracing on a Stream Processor* (2004): pictures of a scene by a map by sorting, by
stencil routing, and by a reference in NumPy, which looks for the k nearest photons among all (H. W. Jensen, *Realistic
Image Synthesis Using Photon Mapping*, 2001) at surfaces that the eye sees directly; behind mirrors and glass it is the
program's own exact search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import viewer
from viewer.cli.presets import preset
from viewer.film.tonemap import srgb8
from viewer.options.table import keywords
from viewer.renderer.photon_map.photon_map import NEAREST_SHARE

ROOM = 1 << 24  # distances at a time


def irradiance(positions: NDArray, normals: NDArray, photons: NDArray, k: int, radius: float) -> NDArray[np.float64]:
    """(N, 3) irradiance at positions (N, 3) by the k nearest photons, of those within a radius."""
    out = np.zeros((len(positions), 3))
    at, powers = photons["position"].astype(float), photons["power"].astype(float)
    for first in range(0, len(positions), max(1, ROOM // max(1, len(at)))):
        part = slice(first, first + max(1, ROOM // max(1, len(at))))
        apart = positions[part]
        square = (apart**2).sum(axis=1)[:, None] + (at**2).sum(axis=1) - 2 * apart @ at.T
        reach = np.full(len(apart), radius**2)
        if len(at) > k:
            reach = np.minimum(reach, np.partition(square, k - 1, axis=1)[:, k - 1])
        counts = (square <= reach[:, None]) & (normals[part] @ photons["direction"].astype(float).T < 0)
        out[part] = counts.astype(float) @ powers / (np.pi * reach[:, None])
    return out


def reference(renderer: viewer.Renderer, size: tuple[int, int]) -> NDArray[np.float64]:
    """(H, W, 3) linear: direct light and mirrors by the renderer, the estimate by NumPy."""
    settings = renderer.settings
    renderer.update(estimate="nearest")
    picture = renderer.render(size, spp=1, layers=("albedo", "normal", "depth"))
    with renderer.device.current():
        photons = renderer.photon_map.streams["photons"].read().ravel()
    renderer.update(photon_radius=1e-12)
    direct = renderer.render(size, spp=1).linear.astype(float)
    renderer.update(photon_radius=settings.photon_radius)
    low, high = np.asarray(renderer.scene.bounds(ground=False), float)
    radius = settings.photon_radius or NEAREST_SHARE * float(np.linalg.norm(high - low))
    origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*size))
    depth, albedo = picture.layers["depth"].ravel(), picture.layers["albedo"].reshape(-1, 3).astype(float)
    hit = np.flatnonzero(np.isfinite(depth) & ~_specular(renderer, origins, directions))
    found = picture.linear.astype(float).reshape(-1, 3)
    stored = photons[photons["stored"] > 0]
    positions = origins[hit] + directions[hit] * depth[hit, None]
    normals = picture.layers["normal"].reshape(-1, 3)[hit].astype(float)
    lit = irradiance(positions, normals, stored, settings.nearest, radius)
    found[hit] = direct.reshape(-1, 3)[hit] + albedo[hit] / np.pi * lit
    return found.reshape(direct.shape)


def _specular(renderer: viewer.Renderer, origins: NDArray, directions: NDArray) -> NDArray[np.bool_]:
    """Whether rays (N, 3) come to a mirror or glass first."""
    triangle, scene = renderer.trace(origins, directions).triangle, renderer.scene
    material = np.concatenate([scene.meshes[instance.mesh].materials for instance in scene.instances])
    specular = np.array([each.kind in ("mirror", "dielectric") for each in scene.materials])
    return (triangle >= 0) & specular[material[np.maximum(triangle, 0)]]


def pictures(name: str, scale: int) -> dict[str, Any]:
    """A scene with the settings of the preset 2003, its picture ``scale`` times smaller: ``pictures``, three of (H, W,
    3) uint8 by sort, by stencil and of the reference; ``stored`` photons; and of the first two ``apart``, the mean
    absolute difference from the reference, and ``means``, as shares of the reference's mean."""
    chosen: dict[str, Any] = {**preset("2003", name), "machine": "singlepass"}
    size = chosen["size"][0] // scale, chosen["size"][1] // scale
    of_renderer = set(keywords("renderer"))
    renderer = viewer.Renderer(name, **{key: value for key, value in chosen.items() if key in of_renderer})
    made = []
    for kind in ("sort", "stencil"):
        renderer.update(photon_map=kind)
        made.append(renderer.render(size, spp=1).linear.astype(float))
    stored = renderer.photon_map.stored
    renderer.update(photon_map="sort")
    made.append(reference(renderer, size))
    exact = made[-1]
    apart = [np.abs(one - exact).mean() / exact.mean() for one in made[:2]]
    means = [one.mean() / exact.mean() for one in made[:2]]
    renderer.release()
    return {
        "pictures": [srgb8(one.astype(np.float32), chosen.get("exposure", 0.0)) for one in made],
        "stored": stored,
        "apart": [float(one) for one in apart],
        "means": [float(one) for one in means],
    }
