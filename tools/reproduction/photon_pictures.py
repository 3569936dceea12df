"""Figure 6.7 of T. J. Purcell, *Ray Tracing on a Stream Processor* (2004): pictures of a scene by a map by sorting, by
stencil routing, and by a reference in NumPy, which looks for the k nearest photons among all (H. W. Jensen, *Realistic
Image Synthesis Using Photon Mapping*, 2001) at surfaces that the eye sees directly; behind mirrors and glass it is the
program's own exact search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.cli.presets import preset
from raystream.film.tonemap import srgb8
from raystream.options.table import keywords
from raystream.renderer.photon_map import MAX_RADIUS_SHARE
from raystream.renderer.sampling.picture import Picture
from raystream.scene.scene import Scene

from .shown import webp

ROOM = 1 << 24  # distances at a time
POINTS = 1 << 14  # at which searches are compared
NONE = 1e-12  # scene units: a radius in which no photon lies
DARK, ALIKE = 1e-6, 1e-3  # of the brightest light: none; of a pixel's: less than a photon of 500, more than roundings


def irradiance(
    positions: NDArray, normals: NDArray, photons: NDArray, k: int, radius: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(N, 3) irradiance at positions (N, 3) by the k nearest photons, of those within a radius; and whether these are
    k."""
    out, enough = np.zeros((len(positions), 3)), np.zeros(len(positions), bool)
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
        enough[part] = reach < radius**2
    return out, enough


class Seen(NamedTuple):
    """What the eye sees of a picture's diffuse surfaces, by its K pixels: ``pixels``, their numbers; positions and
    normals (K, 3); and albedo (K, 3), linear."""

    pixels: NDArray[np.intp]
    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    albedo: NDArray[np.float64]


LAYERS = ("albedo", "normal", "depth")  # that a picture needs for `seen`


def seen(renderer: raystream.Renderer, picture: Picture, size: tuple[int, int]) -> Seen:
    """Of the renderer's last picture, with `LAYERS`: pixels that hit nothing, or a mirror or glass first, are left
    out."""
    origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*size))
    depth, albedo = picture.layers["depth"].ravel(), picture.layers["albedo"].reshape(-1, 3).astype(float)
    hit = np.flatnonzero(np.isfinite(depth) & ~_specular(renderer, origins, directions))
    normals = picture.layers["normal"].reshape(-1, 3)[hit].astype(float)
    return Seen(hit, origins[hit] + directions[hit] * depth[hit, None], normals, albedo[hit])


def nearest(renderer: raystream.Renderer, there: Seen) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(K, 3) light of the photons in the map at what is seen, by the k nearest of all within the greatest radius; and
    whether these are k."""
    settings = renderer.settings
    with renderer.device.current():
        photons = renderer.photon_map.streams["photons"].read().ravel()
    radius = settings.photon_radius or greatest_radius(renderer.scene)
    stored = photons[photons["stored"] > 0]
    lit, enough = irradiance(there.positions, there.normals, stored, settings.nearest, radius)
    return there.albedo / np.pi * lit, enough


def greatest_radius(scene: Scene) -> float:
    """Of an estimate, scene units, where none is set."""
    low, high = np.asarray(scene.bounds(ground=False), float)
    return MAX_RADIUS_SHARE * float(np.linalg.norm(high - low))


def direct_light(renderer: raystream.Renderer, size: tuple[int, int]) -> NDArray[np.float64]:
    """(H, W, 3) linear: a picture without photons."""
    radius = renderer.settings.photon_radius
    renderer.update(photon_radius=NONE)
    picture = renderer.render(size, spp=1).linear.astype(float)
    renderer.update(photon_radius=radius)
    return np.asarray(picture)


def reference(renderer: raystream.Renderer, size: tuple[int, int]) -> NDArray[np.float64]:
    """(H, W, 3) linear: direct light and mirrors by the renderer, the estimate by NumPy."""
    renderer.update(estimate="nearest")
    picture = renderer.render(size, spp=1, layers=LAYERS)
    there = seen(renderer, picture, size)
    found = picture.linear.astype(float).reshape(-1, 3)
    light, _ = nearest(renderer, there)
    found[there.pixels] = direct_light(renderer, size).reshape(-1, 3)[there.pixels] + light
    return found.reshape(picture.linear.shape)


def ends(renderer: raystream.Renderer, size: tuple[int, int]) -> dict[str, float]:
    """The published search beside one for the k nearest, over the same photons, at what the eye sees directly and
    photons light, at `POINTS` pixels or less, evenly chosen.

    enough : the share of the pixels that have k photons within the greatest radius, where the first search ends sooner.
    same, few : the share of these, and of the others, in which both give the same light. lit : the light of the first
    over that of the second, of all.
    """
    picture = renderer.render(size, spp=1, layers=LAYERS)
    there = seen(renderer, picture, size)
    step = -(-len(there.pixels) // POINTS)
    there = Seen(there.pixels[::step], there.positions[::step], there.normals[::step], there.albedo[::step])
    colours, found = nearest(renderer, there)
    exact = colours.mean(axis=1)
    photons = picture.linear.astype(float) - direct_light(renderer, size)
    ours = photons.reshape(-1, 3)[there.pixels].mean(axis=1)
    lit = exact > DARK * exact.max()
    alike, found = np.abs(ours - exact)[lit] <= ALIKE * exact[lit], found[lit]
    return {
        "enough": float(found.mean()),
        "same": float(alike[found].mean()) if found.any() else 1.0,
        "few": float(alike[~found].mean()) if not found.all() else 1.0,
        "lit": float(ours[lit].sum() / exact[lit].sum()),
    }


def published(name: str) -> tuple[raystream.Renderer, tuple[int, int], float]:
    """The renderer of a scene by the preset 2003, in a single pass; the picture's size, and its exposure."""
    chosen: dict[str, Any] = {**preset("2003", name), "machine": "singlepass"}
    of_renderer = set(keywords("renderer"))
    renderer = raystream.Renderer(name, **{key: value for key, value in chosen.items() if key in of_renderer})
    return renderer, chosen["size"], chosen.get("exposure", 0.0)


def _specular(renderer: raystream.Renderer, origins: NDArray, directions: NDArray) -> NDArray[np.bool_]:
    """Whether rays (N, 3) come to a mirror or glass first."""
    triangle, scene = renderer.trace(origins, directions).triangle, renderer.scene
    material = np.concatenate([scene.meshes[instance.mesh].materials for instance in scene.instances])
    specular = np.array([each.kind in ("mirror", "dielectric") for each in scene.materials])
    return (triangle >= 0) & specular[material[np.maximum(triangle, 0)]]


def pictures(name: str, scale: int) -> dict[str, Any]:
    """A scene with the settings of the preset 2003, its picture ``scale`` times smaller: ``pictures``, by sort, by
    stencil and of the reference, side by side; ``stored`` photons; and of the first two ``apart``, the mean
    absolute difference from the reference, and ``means``, as shares of the reference's mean."""
    renderer, (width, height), exposure = published(name)
    size, made = (width // scale, height // scale), []
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
        "pictures": webp(*(srgb8(one.astype(np.float32), exposure) for one in made)),
        "stored": stored,
        "apart": [float(one) for one in apart],
        "means": [float(one) for one in means],
    }
