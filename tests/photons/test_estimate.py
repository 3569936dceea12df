"""The radiance estimate's search: the photons that it counts, by the published rules and figures; and its filters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.kernels.photons import ENTRY, FIRST, PHOTON
from raystream.kernels.records import INTERACTION, PATH, RADIANCE, SCENE_INTERACTION
from raystream.lighting.path import path_settings
from raystream.lighting.photons import RadianceEstimate, estimate_settings, map_modules
from raystream.materials.bsdf import bsdfs
from raystream.materials.surface_features import SurfaceFeatures
from raystream.options.values import PhotonFilter
from raystream.photons.grid import PhotonGrid
from raystream.programs.photon_map import radiance_estimate
from raystream.renderer.inputs.settings import Settings
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


GRIDS = {  # not cubical, flat, and a single cell
    "long": PhotonGrid.over((-1, 0, 0), (1, 1, 0.5), (5, 9, 2)),
    "flat": PhotonGrid.over((-1, 0, 0), (1, 1, 0.5), (12, 12, 1)),
    "one": PhotonGrid.over((-1, 0, 0), (1, 1, 0.5), (1, 1, 1)),
}


@pytest.fixture(scope="module", params=[False, True], ids=["at once", "apart"])
def estimates(request: pytest.FixtureRequest, device: Any) -> Estimates:
    return Estimates(device, apart=request.param)


def numbered(count: int, rng: np.random.Generator) -> np.ndarray:
    """Photons of which every set has a sum of powers of its own, as long as 16 bits a channel go."""
    positions = rng.uniform((-1, 0, 0), (1, 1, 0.5), (count, 3)).astype(np.float32)
    powers = np.zeros((count, 3))
    powers[np.arange(count), np.arange(count) // 16 % 3] = 2.0 ** (np.arange(count) % 16)
    return photon_records(positions, powers)


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "published"])
@pytest.mark.parametrize("grid", GRIDS)
def test_the_set_is_that_of_the_rules(estimates: Estimates, grid: str, exact: bool) -> None:
    """48 photons, each a bit of a channel's sum: the sum tells which were counted."""
    rng = np.random.default_rng(len(grid))
    photons, places = numbered(48, rng), rng.uniform((-1, 0, 0), (1, 1, 0.5), (60, 3)).astype(np.float32)
    for k, radius in ((1, 0.6), (7, 0.7), (7, 0.2), (48, 3.0), (100, 3.0)):
        _, state = estimates(places, photons, GRIDS[grid], photons=k, radius=radius, exact=exact)
        for place, got in zip(places.astype(float), state, strict=True):
            counted, square = found_by(place, photons, GRIDS[grid], k, radius, exact)
            wanted = photons["power"][counted].astype(float).sum(axis=0)
            assert np.array_equal(np.rint(got["sum"].astype(float) * np.pi), wanted)  # Lambert's BSDF is 1 / pi
            assert got["count"] == len(counted)
            if len(counted) >= k:
                assert got["square"] == pytest.approx(square, rel=1e-5)


def test_a_caustic_estimate_counts_caustic_photons(device: Any) -> None:
    photons = photon_records(np.tile((0.1, 0.5, 0.2), (4, 1)), np.diag((1.0, 2.0, 4.0, 8.0))[:, :3])
    photons["stored"] = 1, 2, 2, 1
    place = np.array([[0.1, 0.5, 0.25]])
    for caustics, wanted in ((True, (0, 2, 4)), (False, (1, 2, 4))):
        _, state = Estimates(device, "radius", caustics)(place, photons, GRIDS["flat"], photons=None, radius=0.1)
        assert np.rint(state["sum"][0] * np.pi).tolist() == list(wanted)
        photons["position"][2, 0] = 0.18  # beyond half of the radius, which is that of caustic photons where asked for
        near = {"photons": None, "radius": 0.1, "caustic": 0.5}
        _, state = Estimates(device, "radius", caustics)(place, photons, GRIDS["flat"], **near)
        assert np.rint(state["sum"][0] * np.pi).tolist() == ([0, 2, 0] if caustics else list(wanted))
        photons["position"][2, 0] = 0.1


def test_cells_that_share_a_bucket_count_their_own(device: Any) -> None:
    """All cells of a hash in one bucket: a sphere over many cells counts every photon within it once."""
    rng, radius = np.random.default_rng(6), 0.3
    photons, places = numbered(48, rng), rng.uniform((-1, 0, 0), (1, 1, 0.5), (60, 3)).astype(np.float32)
    grid = PhotonGrid.hashed((-1, 0, 0), 0.2, 1)
    _, state = Estimates(device, "radius")(places, photons, grid, photons=None, radius=radius)
    square = ((photons["position"].astype(float) - places[:, None].astype(float)) ** 2).sum(axis=-1)
    wanted = (square <= radius**2) @ photons["power"].astype(float)
    assert np.array_equal(np.rint(state["sum"].astype(float) * np.pi), wanted)
    assert np.array_equal(state["count"], (square <= radius**2).sum(axis=1)) and state["count"].max() > 5


@pytest.mark.parametrize("apart", [False, True], ids=["at once", "apart"])
def test_flux_is_that_through_the_shading_normal_s_plane(device: Any, apart: bool) -> None:
    """The cosine of the BSDF's value is divided out: Lambert's estimate hangs on no normal, and is none from behind."""
    photons = photon_records(np.tile((0.1, 0.5, 0.2), (4, 1)), np.diag((1.0, 2.0, 4.0, 8.0))[:, :3])
    photons["direction"] = [(0, 0, -1), (0.6, 0, -0.8), (-0.8, 0, -0.6), (0.96, 0, -0.28)]
    search = Estimates(device, "radius", apart=apart, shading=(0.6, 0, 0.8))
    radiance, state = search(np.array([[0.1, 0.5, 0.25]]), photons, GRIDS["flat"], photons=None, radius=0.1)
    np.testing.assert_allclose(state["sum"][0] * np.pi, (1, 2, 4), rtol=1e-6)
    assert state["count"][0] == 4 and radiance.any()
    photons["direction"] = (1, 0, 0)  # along the surface
    radiance, _ = Estimates(device, "radius", apart=apart)(
        np.array([[0.1, 0.5, 0.25]]), photons, GRIDS["flat"], photons=None, radius=0.1
    )
    assert np.array_equal(radiance, np.zeros((1, 3)))


FILTERS = [PhotonFilter(), PhotonFilter("cone"), PhotonFilter("cone", 3.0), PhotonFilter("epanechnikov")]
GRID = PhotonGrid.over((0, 0, -0.1), (1, 1, 0.1), (6, 7, 1))


@pytest.mark.parametrize("weights", FILTERS, ids=str)
def test_as_by_numpy(estimates: Estimates, weights: PhotonFilter) -> None:
    rng = np.random.default_rng(3)
    positions = np.column_stack([rng.uniform(0, 1, (300, 2)), rng.uniform(-0.05, 0.05, 300)]).astype(np.float32)
    photons = photon_records(positions, rng.uniform(0, 1, (300, 3)))
    places = np.column_stack([rng.uniform(0, 1, (40, 2)), np.zeros(40)]).astype(np.float32)
    for k, radius, exact in ((9, 0.3, True), (9, 0.3, False), (None, 0.2, True), (250, 0.15, True)):
        found, _ = estimates(places, photons, GRID, photons=k, radius=radius, exact=exact, weights=weights)
        for place, radiance in zip(places.astype(float), found, strict=True):
            counted, square = found_by(place, photons, GRID, k or 1 << 24, radius, exact)
            some = photons[counted]
            squares = ((some["position"].astype(float) - place) ** 2).sum(axis=1)
            wanted = filtered(squares, some["power"].astype(float), square, weights) / np.pi
            # Sums of some tens of float32, of which the moment may cancel a part.
            assert np.allclose(radiance, wanted, rtol=2e-5, atol=2e-6 * wanted.max(initial=1e-30))


@pytest.mark.parametrize("weights", FILTERS, ids=str)
def test_an_even_field_is_as_bright_by_every_filter(estimates: Estimates, weights: PhotonFilter) -> None:
    """A lattice of photons of power p a distance h apart: irradiance p / h^2."""
    count, radius = 128, 0.2
    at = (np.arange(count) + 0.5) / count
    positions = np.stack([*np.meshgrid(at, at), np.zeros((count, count))], axis=-1).reshape(-1, 3)
    photons = photon_records(positions, np.full(3, 0.5 / count**2))
    rng = np.random.default_rng(1)
    places = np.column_stack([rng.uniform(0.3, 0.7, (32, 2)), np.zeros(32)])
    for k in (None, 1000):
        found, _ = estimates(places, photons, GRID, photons=k, radius=radius, weights=weights)
        # Lattice points in a disc of radius 18 h or more: the rim's some 110 are right but for a few (Gauss's circle).
        assert np.allclose(found, 0.5 / np.pi, rtol=0.02)
        assert abs(found.mean() * np.pi / 0.5 - 1) < 4e-3


def test_weights_are_never_negative_and_filters_are_checked() -> None:
    for weights in FILTERS:
        assert 0 <= weights.slope <= 1 and 0 < weights.integral <= 1
    assert Settings(photon_filter="cone=2").photon_filter == PhotonFilter("cone", 2.0)
    assert str(Settings(photon_filter="cone").photon_filter) == "cone=1.1"
    for wrong in ("cone=0.9", "cone=", "epanechnikov=2", "gauss", "cone=nan", "cone=inf", 3, PhotonFilter("cone", 0.0)):
        with pytest.raises(ViewerError, match=r"photon.filter"):
            Settings(photon_filter=wrong)
