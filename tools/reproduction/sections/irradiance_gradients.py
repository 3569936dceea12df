"""D 6.4.5: irradiance gradients, which the text names for the rays of a final gather, as a study on the Cornell box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.scene.builtin.cornell import LIGHT
from reproduction.simulators.irradiance import Hemisphere, Radiosity, Records, lattice

from .. import plots
from ..context import Context
from ..report import Parts, captioned, concluded, section, tabled

ERRORS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18)  # shares of its reach within which a record serves
CANDIDATES = 64  # for records, along an edge
LEAST = 30.0  # millimetres of reach: in corners records would lie without end
HEIGHTS, AROUND = 12, 36  # rays of a record
REFERENCE = 40  # places along an edge, at which it is compared
FINE = 2  # times the rays of a record along both, of the reference
LATTICE, LIGHT_POINTS = 24, 6  # of a triangle's radiance; of the lamp, along an edge
FLOOR, MARGIN = (549.0, 559.0), 8.0  # millimetres
ABOVE = 0.05  # millimetres by which rays leave a surface
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
BATCH = 1 << 20  # rays at once


@section(
    "irradiance_gradients", paper="D 6.4.5, P3 4.5", title="Irradiance gradients (section 6.4.5)", quick=False, order=3
)
def make(context: Context) -> Parts:
    """Light reflected to the floor of the Cornell box, interpolated between records."""
    found = context.keep(("floor", ERRORS, CANDIDATES, HEIGHTS, AROUND, REFERENCE), lambda: study(context))
    counts, without, gradients = (found[name] for name in ("records", "without", "gradients"))
    spared = fewer(counts, without, gradients)
    rows = [
        (f"{n:,}", f"{n * HEIGHTS * AROUND:,}", f"{one:.2%}", f"{two:.2%}", f"{one / two:.2f}")
        for n, one, two in zip(counts, without, gradients, strict=True)
    ]
    figure, axes = plots.figure(width=5.5, height=3.0)
    for name, values in (("without gradients", without), ("with gradients", gradients)):
        axes.loglog(counts, [100 * each for each in values], marker="o", markersize=3, label=name)
    axes.set_xlabel("records")
    axes.set_ylabel("error, % of the mean")
    axes.legend()
    yield captioned("error_of_irradiance", svg=plots.svg(figure), places=found["places"])
    fine: dict[str, Any] = {"fine_heights": FINE * HEIGHTS, "fine_around": FINE * AROUND}
    yield tabled("irradiance_of_the_floor", rows, heights=HEIGHTS, around=AROUND, least=LEAST, **fine)
    yield concluded(
        "gradients",
        [two < one for one, two in zip(without, gradients, strict=True)],
        f"of {counts[0]} to {counts[-1]} records: error {without[0]:.1%} to {without[-1]:.1%} without, "
        f"{gradients[0]:.1%} to {gradients[-1]:.1%} with; the last error without takes {1 / spared:.2f} of the records "
        "with",
    )


def fewer(counts: Sequence[int], without: Sequence[float], gradients: Sequence[float]) -> float:
    """The factor of records that gradients spare at the least error that is reached without, by the lines of the
    figure; 1 where they spare none."""
    order = np.argsort(gradients)
    same = np.interp(np.log(without[-1]), np.log(gradients)[order], np.log(counts)[order])
    return float(counts[-1] / np.exp(same))


def study(context: Context) -> dict[str, Any]:
    """Records of each of `ERRORS`, and the errors of what is interpolated between them, relative to the mean."""
    renderer = raystream.Renderer("cornell", device=context.device, machine="singlepass")
    try:
        light = Gathering(renderer)
        random = np.random.default_rng(46)
        edge = (np.arange(REFERENCE) + 0.5) / REFERENCE
        places = light.uncovered(np.stack(np.meshgrid(edge, edge), axis=-1).reshape(-1, 2))
        reference = light.records(places, FINE * HEIGHTS, FINE * AROUND, random).irradiance
        candidates = np.indices((CANDIDATES, CANDIDATES)).reshape(2, -1).T
        jittered = random.permutation(candidates) + random.random(candidates.shape)
        every = light.records(light.uncovered(jittered / CANDIDATES), HEIGHTS, AROUND, random)
        found: dict[str, Any] = {"places": len(places), "records": [], "without": [], "gradients": []}
        for error in ERRORS:
            records = every.sparse(error)
            found["records"].append(len(records.irradiance))
            for name in ("without", "gradients"):
                off = records.interpolated(places, error, name == "gradients") - reference
                found[name].append(float(np.sqrt((off**2).mean()) / reference.mean()))
        return found
    finally:
        renderer.release()


class Gathering:
    """Light of one reflection in the Cornell box: of each surface that of the lamp, by shadow rays."""

    def __init__(self, renderer: raystream.Renderer) -> None:
        self.renderer = renderer
        flat = renderer.scene.flatten()
        self.corners = flat.corners().astype(np.float64)
        self.lamp = flat.materials == LIGHT
        materials = renderer.scene.materials
        self.emission = float(np.asarray(materials[LIGHT].emission) @ LUMINANCE)
        self.reflectance = np.array([np.asarray(each.base_color[:3]) @ LUMINANCE for each in materials])[flat.materials]
        self.reflectance[self.lamp] = 0  # what it emits is direct light
        normals = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
        self.normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        self.surfaces = self._direct()

    def _direct(self) -> Radiosity:
        at, weights = lattice(LATTICE)
        points = np.einsum("pk,tkc->tpc", weights, self.corners) + ABOVE * self.normals[:, None]
        a, b, c = self.corners[np.flatnonzero(self.lamp)[0]]
        s, t = ((each.ravel() + 0.5) / LIGHT_POINTS for each in np.mgrid[:LIGHT_POINTS, :LIGHT_POINTS])
        square_at_b = abs((c - b) @ (a - b)) < 1
        corner, first, second = (b, c - b, a - b) if square_at_b else (a, b - a, c - a)  # along the rectangle's edges
        area = np.linalg.norm(np.cross(first, second))
        down = self.normals[np.flatnonzero(self.lamp)[0]]
        total = np.zeros(points.shape[:2])
        for x, y in zip(s, t, strict=True):
            way = corner + x * first + y * second - points
            distance2 = (way**2).sum(axis=2)
            cosines = np.einsum("tpc,tc->tp", way, self.normals) * np.maximum(0, -way @ down)
            hidden = self._hits(points.reshape(-1, 3), way.reshape(-1, 3), 0.9999)[0] >= 0
            total += np.where(hidden.reshape(total.shape), 0, np.maximum(0, cosines)) / distance2**2
        radiance = self.reflectance[:, None] / np.pi * total * self.emission * area / len(s)
        values = np.zeros((len(points), LATTICE + 1, LATTICE + 1))
        values[:, at[:, 0], at[:, 1]] = radiance
        return Radiosity(values)

    def _hits(
        self, origins: NDArray[Any], directions: NDArray[Any], t_max: float = float("inf")
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Triangles (R,), barycentrics (R, 2) and distances (R,)."""
        made = [
            self.renderer.trace(origins[k : k + BATCH], directions[k : k + BATCH], t_max)
            for k in range(0, len(origins), BATCH)
        ]
        return (
            np.concatenate([each.triangle for each in made]),
            np.concatenate([each.barycentrics for each in made]),
            np.concatenate([each.distance for each in made]),
        )

    def uncovered(self, shares: NDArray[Any]) -> NDArray[Any]:
        """Of places on the floor, from 0 to 1 along both edges, those that no block stands on, (N, 2) in millimetres:
        looking up from there no surface is seen from behind."""
        places = MARGIN + shares * (np.array(FLOOR) - 2 * MARGIN)
        up = np.tile([0.0, 1.0, 0.0], (len(places), 1))
        triangle = self._hits(self._points(places), up)[0]
        free: NDArray[Any] = places[(triangle >= 0) & (self.normals[triangle, 1] < 0)]
        return free

    @staticmethod
    def _points(places: NDArray[Any]) -> NDArray[Any]:
        return np.stack([places[:, 0], np.full(len(places), ABOVE), places[:, 1]], axis=1)

    def records(self, places: NDArray[Any], heights: int, around: int, random: np.random.Generator) -> Records:
        """Of places on the floor, each with rays of its own: x and y of the hemisphere are x and z of the room."""
        hemisphere = Hemisphere.of(heights, around, random, len(places))
        directions = hemisphere.directions[..., [0, 2, 1]].reshape(-1, 3)
        origins = np.repeat(self._points(places), heights * around, axis=0)
        triangle, barycentrics, distance = self._hits(origins, directions)
        shape = (len(places), heights, around)
        radiance = self.surfaces.at(triangle, barycentrics).reshape(shape)
        distance = np.where(triangle < 0, 1e6, distance).reshape(shape).astype(np.float64)
        return Records(
            places,
            hemisphere.irradiance(radiance),
            hemisphere.gradient(radiance, distance),
            1 / (1 / distance).mean(axis=(1, 2)),
        ).limited(LEAST)
