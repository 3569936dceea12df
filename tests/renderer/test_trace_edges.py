"""Arbitrary rays at edges and vertices, which must not slip between triangles, and at soups of awkward ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import exact
import meshes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracers import AXES, STRUCTURES, Tracers, assert_right, tracer

import raystream
from raystream import Renderer, ViewerError

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


def test_far_rays_at_edges_and_vertices_all_hit() -> None:
    corners, origins, directions = aimed("teapot", 16.0)
    assert not slips(tracer(corners), corners, origins, directions).any()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_rays_slip_between_triangles_by_moller_trumbore(structure: str) -> None:
    """And not the same ones in each structure: where a test is this inexact, hits may lie beyond a box or a voxel."""
    corners, origins, directions = aimed("teapot", 1.0)
    renderer = tracer(corners, intersection="moller-trumbore").each[structure]
    slipped = slips(renderer, corners, origins, directions)
    print(f"Moeller-Trumbore: {slipped.mean():.2%} of {len(slipped):,} rays pass between triangles")
    assert slipped.mean() > 0.01


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
