"""Arbitrary rays: grazing and axis-parallel ones, watertight edges, ties, odd origins, soups of awkward triangles."""

from __future__ import annotations

from collections.abc import Callable

import exact
import meshes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import viewer
from viewer import Renderer, ViewerError
from viewer.accel.grid_build import LEAST_EXTENT, rounding_margin

AXES = np.concatenate([np.eye(3), -np.eye(3)]).astype(np.float32)


def tracer(corners: np.ndarray, **options) -> Renderer:
    return Renderer(meshes.scene(corners), **options)


def assert_right(corners: np.ndarray, origins: np.ndarray, directions: np.ndarray, hits, least: float = 0.0) -> float:
    """Hits are the exact ones, but for rays that pass an edge too near to tell; returns the share of those.

    least : the least share of rays that must hit.
    """
    verdict = exact.judge(corners, origins, directions, hits.triangle, hits.distance)
    assert not len(verdict.wrong), f"rays {verdict.wrong[:10]} of {len(verdict.wrong)}"
    assert (hits.triangle >= 0).mean() > least
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
    count = 60_000
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
    grid = renderer.grid
    count = 20_000
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
    low = renderer.grid.low.astype(np.float32)
    high = low + renderer.grid.voxel * np.array(renderer.grid.resolution, np.float32)
    count = 20_000
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


def test_any_hit_says_whether_there_is_one(cloud: np.ndarray) -> None:
    rng = np.random.default_rng(13)
    renderer = tracer(cloud)
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


# --- edges


def teapot() -> meshes.Mesh:
    """The Utah teapot around 0, its patches joined where their corners are equal."""
    scene = viewer.load("teapotahedron")
    pot = max(scene.meshes, key=lambda mesh: len(mesh.triangles))
    middle = pot.positions.mean(axis=0)
    return meshes.weld(pot.positions[pot.triangles] - middle)


MESHES: dict[str, tuple[int, Callable[[], meshes.Mesh]]] = {  # rays
    "icosphere": (1_000_000, lambda: meshes.icosphere(4)),
    "box": (100_000, meshes.box),
    "needle": (100_000, meshes.needle),
    "teapot": (200_000, teapot),
}


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


def slips(renderer: Renderer, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Rays that pass the point at distance 1 that they are aimed at without a hit."""
    hits = renderer.trace(origins, directions)
    return ~((hits.triangle >= 0) & (hits.distance < 1.001))


@pytest.mark.parametrize("name", MESHES)
def test_rays_at_edges_and_vertices_all_hit(name: str) -> None:
    corners, origins, directions = aimed(name, 1.0)
    assert len(origins) > 0.9 * MESHES[name][0]
    slipped = slips(tracer(corners), origins, directions)
    assert not slipped.any(), f"{slipped.sum()} of {len(slipped):,}"


def test_far_rays_at_edges_and_vertices_all_hit() -> None:
    corners, origins, directions = aimed("teapot", 16.0)
    assert not slips(tracer(corners), origins, directions).any()


def test_rays_slip_between_triangles_by_moller_trumbore() -> None:
    corners, origins, directions = aimed("teapot", 1.0)
    slipped = slips(tracer(corners, intersection="moller-trumbore"), origins, directions)
    print(f"Moeller-Trumbore: {slipped.mean():.2%} of {len(slipped):,} rays pass between triangles")
    assert slipped.mean() > 0.01
