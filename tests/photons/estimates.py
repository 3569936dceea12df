"""Radiance estimates without a scene: the states of photon mapping's search over photons and places that are given, and
a twin of them in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.kernels.photons import ENTRY, FIRST, PHOTON
from raystream.kernels.records import INTERACTION, PATH, RADIANCE, SCENE_INTERACTION
from raystream.lighting.path import path_settings
from raystream.lighting.photons import RadianceEstimate, estimate_settings, map_modules
from raystream.materials.bsdf import bsdfs
from raystream.materials.surface_features import SurfaceFeatures
from raystream.options.values import PhotonFilter
from raystream.photons.grid import PhotonGrid
from raystream.programs.photon_map import radiance_estimate
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.singlepass import Singlepass

WIDTH = 64  # of all streams
PLACES = 256  # at most, of a call
STREAMS = radiance_estimate("sort", "nearest").streams


def estimate_program(search: str, apart: bool = False) -> Program:
    """The search alone: interactions and paths in, radiance and the search's last state out."""
    estimate = radiance_estimate("sort", search, apart)
    begin, *steps, total = estimate.states
    return Program(
        "estimate",
        streams={"interaction": SCENE_INTERACTION, "path": PATH, "radiance": RADIANCE, **estimate.streams},
        inputs=("interaction", "path", "radiance", *estimate.inputs),
        results=("radiance", "estimate"),
        states=(
            State("estimate", begin.kernel, {"cell": "cell", "none": DONE}),
            *steps,
            State("total", total.kernel, {"caustic": "cell", "done": DONE}),
        ),
        start="estimate",
    )


def photon_records(positions: NDArray, powers: NDArray, up: tuple[float, float, float] = (0, 0, 1)) -> NDArray:
    """`PHOTON` (N,) of indirect light that falls straight onto a surface of normal ``up``."""
    records = np.zeros(len(positions), PHOTON.dtype)
    records["position"], records["power"] = positions, powers
    records["stored"], records["direction"] = 1, -np.array(up)
    return records


class Estimates:
    """The search on a device, over Lambert's surfaces of albedo 1 and normal +z.

    apart : photons are weighed by a kernel of its own. shading : normal of all surfaces.
    """

    def __init__(
        self,
        device: Any,
        search: str = "nearest",
        caustics: bool = False,
        apart: bool = False,
        shading: tuple[float, float, float] = (0, 0, 1),
    ) -> None:
        modules = [*bsdfs(SurfaceFeatures()), path_settings(), *estimate_settings(), *map_modules()]
        self.device, self.machine = device, None
        self.linked = LinkedProgram(estimate_program(search, apart), modules)
        self.shading = shading
        self.number = -1 if caustics else 0  # of paths

    def __call__(
        self, places: NDArray, photons: NDArray, grid: PhotonGrid, /, **asked: Any
    ) -> tuple[NDArray[np.float64], NDArray]:
        """Radiance (N, 3) and `ESTIMATE` (N,) at places (N, 3). asked : of `RadianceEstimate`."""
        assert grid.buckets <= 1  # the twin knows no hash but that of one bucket
        cells = grid.numbers(photons["position"]) * (grid.buckets == 0)
        order = np.argsort(cells, kind="stable")
        entries = np.zeros(len(photons), ENTRY.dtype)
        entries["cell"], entries["photon"] = cells[order], order
        first = np.zeros(grid.cells + 1, FIRST.dtype)
        first["first"] = np.searchsorted(entries["cell"], np.arange(grid.cells + 1))
        first["count"][:-1] = np.diff(first["first"])
        interactions = np.zeros(len(places), INTERACTION.dtype)
        interactions["position"] = places
        interactions["normal"] = interactions["wo"] = (0, 0, 1)
        interactions["shading"] = self.shading
        interactions["albedo"] = 1
        paths = np.zeros(len(places), PATH.dtype)
        paths["throughput"], paths["number"] = 1, self.number
        held = {"photons": photons, "photon_list": entries, "first_photons": first}
        streams = {name: self._stream(STREAMS[name], array) for name, array in held.items()}
        if self.machine is None:
            self.machine = Singlepass(self.device, self.linked, (WIDTH, PLACES // WIDTH), streams=streams)
        machine, size = self.machine, self.machine.size
        machine.borrow(streams)
        for name, array in (("interaction", interactions), ("path", paths)):
            machine.write(name, _padded(array, size))
        machine.write("radiance", np.zeros(size[::-1], RADIANCE.dtype))
        machine.set({**RadianceEstimate(**asked).uniforms, **grid.uniforms, "path_depth": 1})
        machine.finish(len(places))
        radiance, state = (machine.read(name).ravel()[: len(places)] for name in ("radiance", "estimate"))
        for stream in streams.values():
            stream.release()
        return radiance["rgb"].astype(float), state

    def _stream(self, record: Any, array: NDArray) -> Stream:
        size = WIDTH, max(1, -(-len(array) // WIDTH))
        stream = Stream(self.device, record, size)
        stream.write(_padded(array, size))
        return stream


def _padded(array: NDArray, size: tuple[int, int]) -> NDArray:
    out = np.zeros(size[0] * size[1], array.dtype)
    out[: len(array)] = array
    return out.reshape(size[::-1])


def found_by(
    place: NDArray, photons: NDArray, grid: PhotonGrid, k: int, limit: float, exact: bool
) -> tuple[list[int], float]:
    """The numbers of the photons that a search from a place counts, in its order, and the square of its radius: a twin
    in float64 of the published rules (Purcell et al. 2003, section 2.3)."""
    low, edge, cells = np.array(grid.low), np.array(grid.cell), np.array(grid.resolution)
    own = np.clip(np.floor((place - low) / edge), 0, cells - 1).astype(int)
    at = np.clip(np.floor((photons["position"].astype(float) - low) / edge), 0, cells - 1).astype(int)
    shells = np.abs(at - own).max(axis=1)
    square = ((photons["position"].astype(float) - place) ** 2).sum(axis=1)
    counted: list[int] = []
    radius = 0.0
    for shell in range(int(cells.max())):
        if len(counted) >= k and (not exact or _beyond(place, own, shell, low, edge, cells) > radius):
            break
        inside = np.flatnonzero(shells == shell)
        for number in inside[np.lexsort((inside, *at[inside].T))]:
            within = radius if len(counted) >= k else limit * limit
            if square[number] <= within:
                if len(counted) < k:
                    radius = max(radius, square[number])
                counted.append(int(number))
    return counted, radius if len(counted) >= k else limit * limit


def _beyond(place: NDArray, own: NDArray, shell: int, low: NDArray, edge: NDArray, cells: NDArray) -> float:
    """The square of the distance from a place to the nearest cell of a shell that there is."""
    if shell == 0:
        return 0.0
    gaps = [np.inf]
    for axis in range(3):
        if own[axis] - shell >= 0:
            gaps.append(place[axis] - (low[axis] + (own[axis] - shell + 1) * edge[axis]))
        if own[axis] + shell < cells[axis]:
            gaps.append(low[axis] + (own[axis] + shell) * edge[axis] - place[axis])
    return max(min(gaps), 0.0) ** 2


def filtered(square: NDArray, powers: NDArray, radius: float, weights: PhotonFilter) -> NDArray[np.float64]:
    """Irradiance (3,) by photons at squared distances (N,), with powers (N, 3), within the squared ``radius``, after
    the textbook: Jensen 2001, equation 7.7 for the cone; 2 / (pi r^2) (1 - d^2 / r^2), Epanechnikov's kernel."""
    share = square / radius
    if weights.name == "cone":
        weight = (1 - np.sqrt(share) / weights.width) / (1 - 2 / (3 * weights.width))
    else:
        weight = 2 * (1 - share) if weights.name == "epanechnikov" else np.ones(len(share))
    return (weight[:, None] * powers).sum(axis=0) / (np.pi * radius)
