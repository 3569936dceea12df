"""Arbitrary rays: grazing and axis-parallel ones, watertight edges, vertices, odd origins, awkward soups."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import exact
import meshes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import raystream
from raystream import Hits, Renderer, ViewerError
from raystream.accel.grid.build import MIN_EXTENT, rounding_margin
from raystream.accel.structures import Structure

AXES = np.concatenate([np.eye(3), -np.eye(3)]).astype(np.float32)

STRUCTURES = {"bvh": {"accel": "bvh"}, "octants": {"accel": "bvh", "traversal": "octants"}, "grid": {"accel": "grid"}}


class Tracers:
    """A renderer for each structure, asked together: they must agree to the bit, and one answer is judged."""

    def __init__(self, corners: np.ndarray, options: dict[str, Any]) -> None:
        scene = meshes.scene(corners)
        self.each = {
            name: Renderer(scene, **{**choices, **options}, program="cast") for name, choices in STRUCTURES.items()
        }

    def trace(self, *rays: Any, **options: Any) -> Hits:
        return self._agreed(lambda renderer: renderer.trace(*rays, **options))

    def render(self, size: tuple[int, int], layers: tuple[str, ...]) -> tuple[np.ndarray, ...]:
        """The picture, linear, and its layers."""

        def arrays(renderer: Renderer) -> tuple[np.ndarray, ...]:
            picture = renderer.render(size, layers=layers)
            return picture.linear, *picture.layers.values()

        return self._agreed(arrays)

    @property
    def grid(self) -> Structure:
        return self.each["grid"].prepared.structure

    def _agreed(self, ask: Callable[[Renderer], Any]) -> Any:
        first = None
        for name, renderer in self.each.items():
            answer = ask(renderer)
            first = answer if first is None else first
            assert all(one.tobytes() == other.tobytes() for one, other in zip(first, answer, strict=True)), name
        return first


def tracer(corners: np.ndarray, **options: Any) -> Tracers:
    return Tracers(corners, options)


def assert_right(
    corners: np.ndarray,
    origins: np.ndarray,
    directions: np.ndarray,
    hits: Hits,
    least: float = 0.0,
    **tolerances: float,
) -> float:
    """Hits are the exact ones, but for rays that pass an edge too near to tell; returns the share of those.

    least : the least share of rays that must hit.
    """
    verdict = exact.judge(corners, origins, directions, hits.triangle, hits.distance, **tolerances)
    assert not len(verdict.wrong), f"rays {verdict.wrong[:10]} of {len(verdict.wrong)}"
    assert (hits.triangle >= 0).mean() >= least
    assert np.array_equal(hits.triangle >= 0, np.isfinite(hits.distance))
    assert ((hits.barycentrics >= 0) & (hits.barycentrics <= 1)).all()
    return len(verdict.near_edge) / len(origins)


@pytest.fixture(scope="module")
def cloud() -> np.ndarray:
    """300 triangles of all sizes, and the same number on a lattice of eighths: corners, edges and planes in common."""
    rng = np.random.default_rng(3)
    loose = rng.uniform(-1, 1, (300, 1, 3)) + rng.uniform(-1, 1, (300, 3, 3)) * rng.uniform(0.02, 0.6, (300, 1, 1))
    lattice = rng.integers(-8, 9, (300, 1, 3)) / 8 + rng.integers(-2, 3, (300, 3, 3)) / 8
    return np.concatenate([loose, lattice]).astype(np.float32)


# --- directions


def test_grazing_rays(cloud: np.ndarray) -> None:
    """Rays almost in a triangle's plane, from 1e-2 down to nothing, past it and through it, from everywhere."""
    rng = np.random.default_rng(5)
    count = 12_000
    own = cloud[rng.integers(0, len(cloud), count)].astype(np.float64)
    a, ab, ac = own[:, 0], own[:, 1] - own[:, 0], own[:, 2] - own[:, 0]
    normal = np.cross(ab, ac)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    keep = length[:, 0] > 1e-6
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    target = a + rng.uniform(-1, 2, (count, 1)) * ab + rng.uniform(-1, 2, (count, 1)) * ac
    start = a + rng.uniform(-3, 3, (count, 1)) * ab + rng.uniform(-3, 3, (count, 1)) * ac
    angle = 10.0 ** rng.uniform(-6, -2, (count, 1)) * rng.integers(0, 2, (count, 1))
    apart = np.linalg.norm(target - start, axis=1, keepdims=True)
    origins = (start + angle * apart * normal).astype(np.float32)[keep]
    directions = (target[keep] - origins).astype(np.float32)
    share = assert_right(cloud, origins, directions, tracer(cloud).trace(origins, directions), least=0.3)
    print(f"grazing: {share:.1e} of rays too near an edge")
    # In the plane of a triangle to the last bit, a ray is within rounding of its edges: half of these are.
    assert share < 0.2


def test_axis_parallel_rays(cloud: np.ndarray) -> None:
    """One and two zero components, from anywhere, from lattice points, and exactly on the planes between voxels."""
    rng = np.random.default_rng(6)
    renderer = tracer(cloud)
    grid = renderer.grid.built
    count = 6_000  # twelve times
    planes = grid.low + rng.integers(0, np.array(grid.resolution) + 1, (count, 3)).astype(np.float32) * grid.voxel
    for where, origins in (
        ("anywhere", rng.uniform(-1.5, 1.5, (count, 3))),
        ("lattice", rng.integers(-12, 13, (count, 3)) / 8),
        ("planes", planes),
        ("one plane", np.where(np.eye(3, dtype=bool)[rng.integers(0, 3, count)], planes, rng.normal(size=(count, 3)))),
    ):
        axis = AXES[rng.integers(0, 6, count)]
        slanted = axis + AXES[rng.integers(0, 6, count)] * rng.uniform(0, 1, (count, 1)).astype(np.float32)
        slanted[~slanted.any(axis=1)] = [0, 1, 0]
        diagonal = rng.integers(-1, 2, (count, 3)).astype(np.float32)
        diagonal[~diagonal.any(axis=1)] = [1, 0, 0]
        for directions in (axis, slanted, diagonal):
            o = origins.astype(np.float32)
            share = assert_right(cloud, o, directions, renderer.trace(o, directions), least=0.05)
            # on the lattice most rays run along edges
            assert share < (1 if where == "lattice" else 0.05), where


def test_negative_zeros_and_nearly_zero_components(cloud: np.ndarray) -> None:
    rng = np.random.default_rng(7)
    renderer = tracer(cloud)
    origins = rng.uniform(-1.5, 1.5, (3000, 3)).astype(np.float32)
    axis = AXES[rng.integers(0, 6, len(origins))]
    plain = renderer.trace(origins, axis)
    for tiny in (-0.0, 1e-45, -1e-45, 1e-38, -1e-38, 1e-31, -1e-31, 1e-29, -1e-25, 1e-20):
        directions = np.where(axis == 0, np.float32(tiny), axis)
        other = renderer.trace(origins, directions)
        assert np.array_equal(plain.triangle, other.triangle) and np.array_equal(plain.distance, other.distance), tiny


def test_length_of_the_direction_is_the_unit_of_distance(cloud: np.ndarray) -> None:
    rng = np.random.default_rng(8)
    renderer = tracer(cloud)
    origins, directions = rng.uniform(-2, 2, (2, 5000, 3)).astype(np.float32)
    plain = renderer.trace(origins, directions)
    for power in (-100, -1, 3, 100):  # a power of two costs no bit
        scaled = renderer.trace(origins, np.ldexp(directions, power))
        assert np.array_equal(scaled.triangle, plain.triangle)
        assert np.array_equal(scaled.distance, np.ldexp(plain.distance, -power))
    # what float32 cannot hold: a hit all the same
    least = renderer.trace(origins, np.ldexp(np.sign(directions), -149), t_max=np.inf)
    assert (least.triangle >= 0).any() and np.isfinite(least.distance[least.triangle >= 0]).all()


# --- origins


def test_origins_on_the_box_and_far_away(cloud: np.ndarray) -> None:
    rng = np.random.default_rng(9)
    renderer = tracer(cloud)
    grid = renderer.grid.built
    low = grid.low.astype(np.float32)
    high = low + grid.voxel * np.array(grid.resolution, np.float32)
    count = 8_000
    inside = rng.uniform(low, high, (count, 3)).astype(np.float32)
    faces = np.where(rng.integers(0, 2, (count, 3)) > 0, low, high).astype(np.float32)
    on_face = np.where(np.eye(3, dtype=bool)[rng.integers(0, 3, count)], faces, inside)
    diagonal = np.linalg.norm(high - low)
    away = rng.normal(size=(count, 3))
    away *= rng.uniform(1, 16, (count, 1)) * diagonal / np.linalg.norm(away, axis=1, keepdims=True)
    for where, origins in (("face", on_face), ("corner", faces), ("far", (inside + away).astype(np.float32))):
        directions = (rng.uniform(low, high, (count, 3)) - origins).astype(np.float32)
        share = assert_right(cloud, origins, directions, renderer.trace(origins, directions), least=0.3)
        # one in a thousand passes an edge of these 600 triangles within 1e-6 of 16 diagonals
        print(f"{where}: {share:.1e} of rays too near an edge")
        assert share < 2e-3, where
    outward = renderer.trace(on_face[:100] + 2 * (on_face[:100] - (low + high) / 2), on_face[:100] - (low + high) / 2)
    assert (outward.triangle == -1).all()


def test_origins_inside_a_voxel_full_of_triangles() -> None:
    """2,000 triangles in one voxel of a grid that a far triangle makes coarse."""
    rng = np.random.default_rng(10)
    knot = rng.uniform(-1, 1, (2000, 3, 3)) * 0.01
    corners = np.concatenate([knot, [[[9, 9, 9], [9, 8, 9], [8, 9, 9]]]]).astype(np.float32)
    renderer = tracer(corners, grid=4)
    assert renderer.grid.statistics["longest_list"] >= 2000
    origins = rng.uniform(-0.01, 0.01, (4000, 3)).astype(np.float32)
    directions = rng.normal(size=origins.shape).astype(np.float32)
    assert assert_right(corners, origins, directions, renderer.trace(origins, directions), least=0.8) < 1e-2


def test_an_origin_on_a_triangle_does_not_hit_it() -> None:
    rng = np.random.default_rng(11)
    floor = np.float32([[[-4, 0, -4], [4, 0, -4], [0, 0, 5]]])
    renderer = tracer(floor)
    origins = rng.uniform(-0.9, 0.9, (2000, 3)).astype(np.float32)
    origins[:, 1] = 0
    steep = rng.uniform(-1, 1, origins.shape).astype(np.float32)
    steep[:, 1] = np.where(steep[:, 1] > 0, 1.5, -1.5)  # the largest component: heights over the floor stay exact
    assert (renderer.trace(origins, steep).triangle == -1).all()
    corner = np.repeat(floor[0], 500, axis=0)
    assert (renderer.trace(corner, rng.normal(size=corner.shape)).triangle == -1).all()
    # Elsewhere a rounding may be left: far below any offset that secondary rays start from.
    tilted = rng.uniform(-1, 1, (1, 3, 3)).astype(np.float32)
    inner = (rng.dirichlet([1, 1, 1], 4000) @ tilted[0].astype(np.float64)).astype(np.float32)
    hits = tracer(tilted).trace(inner, rng.normal(size=inner.shape))
    slanted = np.median(hits.distance[hits.triangle >= 0]) if (hits.triangle >= 0).any() else 0.0
    assert slanted < 1e-6


# --- how far


def test_t_max_is_exclusive(cloud: np.ndarray) -> None:
    rng = np.random.default_rng(12)
    renderer = tracer(cloud)
    origins, directions = rng.uniform(-2, 2, (2, 5000, 3)).astype(np.float32)
    first = renderer.trace(origins, directions)
    hit = first.triangle >= 0
    o, d, t = origins[hit], directions[hit], first.distance[hit]
    assert not (renderer.trace(o, d, t_max=t).triangle >= 0).any()
    again = renderer.trace(o, d, t_max=np.nextafter(t, np.float32(np.inf)))
    assert np.array_equal(again.triangle, first.triangle[hit]) and np.array_equal(again.distance, t)
    for nothing in (0.0, -1.0, -np.inf):
        none = renderer.trace(o, d, t_max=nothing)
        assert (none.triangle == -1).all() and np.isinf(none.distance).all() and not none.barycentrics.any()
    mixed = renderer.trace(o, d, t_max=np.where(np.arange(len(t)) % 2, t, 3e38))
    assert np.array_equal(mixed.triangle >= 0, np.arange(len(t)) % 2 == 0)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_any_hit_says_whether_there_is_one(cloud: np.ndarray, structure: str) -> None:
    """Which one is found first is the structure's own."""
    rng = np.random.default_rng(13)
    renderer = tracer(cloud).each[structure]
    origins, directions = rng.uniform(-2, 2, (2, 20_000, 3)).astype(np.float32)
    t_max = rng.uniform(0, 2, len(origins)).astype(np.float32)
    closest = renderer.trace(origins, directions, t_max)
    some = renderer.trace(origins, directions, t_max, any_hit=True)
    assert np.array_equal(closest.triangle >= 0, some.triangle >= 0)
    hit = closest.triangle >= 0
    assert (some.distance[hit] >= closest.distance[hit]).all() and (some.distance[hit] < t_max[hit]).all()
    assert (some.triangle != closest.triangle).any()  # the flag does something
    half = np.arange(len(origins)) % 2 == 0
    mixed = renderer.trace(origins, directions, t_max, any_hit=half)
    assert np.array_equal(mixed.triangle, np.where(half, some.triangle, closest.triangle))


@pytest.fixture(scope="module")
def layered() -> np.ndarray:
    """A floor of coplanar triangles of all sizes, each several times, and copies of it at the same places."""
    rng = np.random.default_rng(15)
    floor = rng.integers(-16, 17, (120, 3, 3)) / 8
    floor[..., 1] = rng.integers(-1, 2, (120, 1)) / 4
    floor = floor[np.linalg.norm(np.cross(floor[:, 1] - floor[:, 0], floor[:, 2] - floor[:, 0]), axis=1) > 0]
    again = floor[rng.permutation(len(floor))]
    loose = rng.uniform(-2, 2, (40, 3, 3))
    return np.concatenate([loose, floor, again, loose, floor]).astype(np.float32)


CHOICES = (
    {"machine": "singlepass"},
    {"machine": "multipass", "fuse": "ray"},
    {"machine": "multipass", "fuse": "none", "unroll": 1},
    {"machine": "multipass", "fuse": "none", "policy": "most-work", "mask": "none"},
)


def test_of_equal_distances_the_lower_number_wins(layered: np.ndarray) -> None:
    """On every machine and at every resolution. Heights over the floor are exact where the ray is steep."""
    rng = np.random.default_rng(16)
    count = 6000
    origins = rng.uniform(-2, 2, (count, 3)).astype(np.float32)
    origins[:, 1] = rng.integers(-16, 17, count) / 8 + 1 / 16
    directions = rng.uniform(-0.9, 0.9, (count, 3)).astype(np.float32)
    directions[:, 1] = np.where(origins[:, 1] > 0, -1, 1)
    first = None
    for resolution in (1, 7, "auto"):
        renderer = tracer(layered, grid=resolution)
        for choices in CHOICES if resolution == 7 else CHOICES[:1]:
            for each in renderer.each.values():
                each.update(**choices)
            hits = renderer.trace(origins, directions)
            first = first or hits
            for a, b in zip(first, hits, strict=True):
                assert np.array_equal(a, b), (resolution, choices)
    assert first is not None
    own = layered[np.maximum(first.triangle, 0)]
    flat = (first.triangle >= 0) & (np.ptp(own[..., 1], axis=1) == 0)
    assert flat.mean() > 0.3
    # the lowest of all that are hit as near, and whose edges are not too near
    near = layered[first.triangle[flat], 0, 1]
    o, d = origins[flat].astype(np.float64), directions[flat].astype(np.float64)
    meet = o + d * ((near - o[:, 1]) / d[:, 1])[:, None]
    inside = np.ones((len(meet), len(layered)), bool)
    a, b, c = (layered[:, k].astype(np.float64)[None, :, [0, 2]] for k in range(3))
    p = meet[:, None, [0, 2]]
    signs = [cross(b - a, p - a), cross(c - b, p - b), cross(a - c, p - c)]
    inside = np.all([s > 1e-6 for s in signs], axis=0) | np.all([s < -1e-6 for s in signs], axis=0)
    unsure = (np.min(np.abs(signs), axis=0) <= 1e-6) & ~inside
    level = (layered[..., 1] == near[:, None, None]).all(axis=2)
    lowest = np.where(inside & level, np.arange(len(layered)), len(layered)).min(axis=1)
    sure = ~(unsure & level & (np.arange(len(layered)) < lowest[:, None])).any(axis=1)
    assert sure.mean() > 0.9
    assert np.array_equal(first.triangle[flat][sure], lowest[sure])


# --- ties and grids


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def test_box_is_wider_than_the_triangles_by_the_rounding_of_a_walk(cloud: np.ndarray) -> None:
    """Rays in the very faces of the triangles' bounds hit what lies in them."""
    low, high = cloud.min(axis=(0, 1)), cloud.max(axis=(0, 1))
    assert (rounding_margin(np.stack([low, high]).astype(float)) > MIN_EXTENT).all()
    for axis in range(3):
        for level in (low[axis], high[axis]):
            wall = np.full((2, 3, 3), level, np.float32)
            u, v = (axis + 1) % 3, (axis + 2) % 3
            wall[:, :, u] = np.float32([[low[u], high[u], low[u]], [high[u], high[u], low[u]]])
            wall[:, :, v] = np.float32([[low[v], low[v], high[v]], [low[v], high[v], high[v]]])
            renderer = tracer(np.concatenate([cloud, wall]))
            rng = np.random.default_rng(18)
            inside = rng.uniform(low, high, (500, 3)).astype(np.float32)
            onto = inside.copy()
            onto[:, axis] = level
            hits = renderer.trace(inside, onto - inside)
            assert (hits.triangle >= 0).all() and (hits.distance <= 1).all()


# --- arguments


def test_shapes_and_values_are_checked() -> None:
    renderer = tracer(np.float32([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]))
    point, up = np.float32([[0.2, 0.2, 1]]), np.float32([[0, 0, -1]])
    for origins, directions, words in (
        (point.ravel()[:2], up, "shapes"),
        (np.zeros((3, 2)), np.zeros((3, 2)), "shapes"),
        (np.zeros((2, 3)), np.ones((3, 3)), "shapes"),
        (np.zeros((1, 1, 3)), np.ones((1, 1, 3)), "shapes"),
        (5.0, up, "shapes"),
        (None, up, "shapes"),
        ("here", up, "shapes"),
        ([{}], up, "shapes"),
        (point, np.zeros((1, 3)), "make no ray"),
        (point, [[np.nan, 0, 1]], "make no ray"),
        (point, [[np.inf, 0, 1]], "make no ray"),
        ([[np.nan, 0, 0]], up, "make no ray"),
        ([[1e300, 0, 0]], up, "make no ray"),
    ):
        with pytest.raises(ViewerError, match=words):
            renderer.trace(origins, directions)
    for bad in ({"t_max": np.nan}, {"t_max": [1, 2]}, {"any_hit": [True, False]}, {"t_max": "far"}):
        with pytest.raises(ViewerError):
            renderer.trace(point, up, **bad)
    with pytest.raises(ViewerError, match="ray 2"):
        renderer.trace(np.zeros((4, 3)), [[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]])


def test_one_ray_no_ray_and_more_than_a_stream_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = tracer(np.float32([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]))
    one = renderer.trace([0.2, 0.3, 1], [0, 0, -1], t_max=1e300)
    assert one.distance.tolist() == [1] and one.triangle.tolist() == [0]
    assert np.allclose(one.barycentrics, [[0.2, 0.3]], atol=1e-6)
    assert [len(part) for part in renderer.trace(np.zeros((0, 3)), np.zeros((0, 3)))] == [0, 0, 0, 0]
    assert one.distance.dtype == one.barycentrics.dtype == np.float32 and one.triangle.dtype == np.int32
    rng = np.random.default_rng(19)
    origins = rng.uniform(-0.5, 1.5, (5000, 3))
    broadcast = renderer.trace(origins, [0, 0, -1])
    monkeypatch.setattr("raystream.renderer.sampling.sampler.LARGEST_STREAM", 1536)
    cut = renderer.trace(origins, np.broadcast_to([0, 0, -1], origins.shape), t_max=np.full(5000, np.inf))
    for a, b in zip(broadcast, cut, strict=True):
        assert np.array_equal(a, b)


# --- edges


def teapot() -> meshes.Mesh:
    """The Utah teapot around 0, its patches joined where their corners are equal."""
    scene = raystream.load("teapotahedron")
    pot = max(scene.meshes, key=lambda mesh: len(mesh.triangles))
    middle = pot.positions.mean(axis=0)
    return meshes.weld(pot.positions[pot.triangles] - middle)


MESHES: dict[str, tuple[int, Callable[[], meshes.Mesh]]] = {  # rays
    "icosphere": (100_000, lambda: meshes.icosphere(4)),
    "box": (40_000, meshes.box),
    "needle": (30_000, meshes.needle),
    "teapot": (60_000, teapot),
}


@cache
def aimed(name: str, distance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners of a mesh, and rays at points of its edges and at its vertices, from outside and (convex) inside."""
    rng = np.random.default_rng(list(MESHES).index(name))
    count, build = MESHES[name]
    mesh = build()
    rays = [meshes.from_outside(mesh, rng, count // 2, distance)]
    if name == "teapot":
        rays.append(meshes.from_outside(mesh, rng, count // 2, 0.1 * distance))
    else:
        rays.append(meshes.from_inside(mesh, rng, count // 2))
    origins, directions = (np.concatenate(parts) for parts in zip(*rays, strict=True))
    return mesh.corners(), origins, directions


def slips(renderer: Tracers | Renderer, corners: np.ndarray, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Rays that pass the point at distance 1 that they are aimed at without a hit there."""
    hits = renderer.trace(origins, directions)
    hit, slipped = hits.triangle >= 0, hits.distance > 1.001
    # On the long edge of a sliver the distance may be off by more, since it is told by the ratio of two thin areas.
    far = np.flatnonzero(hit & slipped)
    slipped[far] = exact.edge_distance(corners[hits.triangle[far]], origins[far], directions[far]) > exact.NEAR_EDGE
    return slipped


@pytest.mark.parametrize("name", MESHES)
def test_rays_at_edges_and_vertices_all_hit(name: str) -> None:
    corners, origins, directions = aimed(name, 1.0)
    assert len(origins) > 0.9 * MESHES[name][0]
    slipped = slips(tracer(corners), corners, origins, directions)
    assert not slipped.any(), f"{slipped.sum()} of {len(slipped):,}"


# --- soups


# On two lattices: corners in common, and corners anywhere.
coordinates = st.one_of(st.integers(-8, 8).map(lambda n: n / 4), st.integers(-8192, 8192).map(lambda n: n / 4096))
points = st.tuples(coordinates, coordinates, coordinates)
soups = st.lists(st.tuples(points, points, points), min_size=1, max_size=12)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    soups,
    st.sampled_from([1e-15, 1e-6, 1.0, 1e6, 1e15]),
    st.sampled_from(["plain", "slivers", "flat", "twice", "mixed sizes", "broken"]),
    st.sampled_from(["auto", 1, 7]),
    st.integers(0, 2**32 - 1),
)
def test_soups_against_all_triangles_in_float64(triangles, scale: float, kind: str, grid, seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = np.array(triangles, np.float64)
    if kind == "slivers":
        corners[:, 2] = 0.3 * corners[:, 0] + 0.7 * corners[:, 1] + 1e-5 * rng.normal(size=(len(corners), 3))
    elif kind == "flat":
        corners[..., rng.integers(3)] = 0.5
    elif kind == "twice":
        corners = np.concatenate([corners, corners[::-1]])
    elif kind == "mixed sizes":
        corners *= 10.0 ** rng.uniform(-6, 0, (len(corners), 1, 1))
    corners = (corners * scale).astype(np.float32)
    if kind == "broken":
        corners[rng.integers(len(corners)), rng.integers(3), rng.integers(3)] = rng.choice([np.nan, np.inf, -np.inf])
    count = 2000
    whole = corners[np.isfinite(corners).all(axis=(1, 2))]
    origins = rng.uniform(-3, 3, (count, 3)) * scale
    aims = rng.uniform(-2, 2, (count, 3)) * scale
    if len(whole):
        own = whole[rng.integers(0, len(whole), count)]
        inner = (own * rng.dirichlet([1, 1, 1], count)[..., None]).sum(axis=1)
        aims = np.where(rng.integers(0, 4, (count, 1)) > 0, inner, aims)
    origins = origins.astype(np.float32)
    directions = ((aims - origins) / scale).astype(np.float32)
    directions[::7] = AXES[rng.integers(0, 6, len(directions[::7]))]
    directions[~directions.any(axis=1)] = [0, 0, 1]
    try:
        renderer = tracer(corners, grid=grid)
    except ViewerError as error:  # seven voxels along a side that is a thousandth of the others
        assert "grid=7: needs" in str(error)
        renderer = tracer(corners)
    hits = renderer.trace(origins, directions)
    assert np.isfinite(corners[hits.triangle[hits.triangle >= 0]]).all()
    with np.errstate(invalid="ignore"):  # triangles that are not finite
        # Where a ray meets a thin triangle along its length is told by the ratio of two areas as thin, and each is a
        # difference of products that are off by 2^-23: 2e-4 wide, 5e-4 off. What is thinner is near an edge anyway.
        assert_right(corners, origins, directions, hits, near_edge=1e-4, tie=1e-3)
    linear, normal, _ = renderer.render((24, 24), layers=("normal", "albedo"))
    assert np.isfinite(linear).all() and np.isfinite(normal).all()
