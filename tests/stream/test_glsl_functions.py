"""GLSL functions of ``shaders/`` against their twins in NumPy float64."""

from __future__ import annotations

from dataclasses import replace

import glsl_call
import numpy as np
import pytest
from glsl_call import Function
from numpy.typing import NDArray

from raystream.accel import primitives
from raystream.kernels.records import HIT, RAY
from raystream.materials.geometry import flat_geometry
from raystream.materials.tables import appearance
from raystream.scene.material import Material
from raystream.scene.scene import Scene

ULP = 2.0**-24  # half a unit in the last place, relative: one rounding of float32
FAR = np.float32(3.4e38)


def test_sums_keep_what_rounding_loses(device):
    """Two sums of float32 parts are exact together; and a value is added to such a pair to a few 2^-48 of it."""
    random = np.random.default_rng(3)
    sums, values = (random.normal(size=500) * 10.0 ** random.uniform(-3, 3, 500) for _ in range(2))
    sums, values = sums.astype(np.float32), values.astype(np.float32)
    errors = (sums * random.uniform(-0.5, 0.5, 500) * 2.0**-24).astype(np.float32)
    two = "void two_sum(inout float sum, inout float error, float x)"
    total, error = glsl_call.Function(device, two, ["lib/exact.glsl"])(sums, np.zeros(500), values)
    exact = sums.astype(float) + values
    assert np.array_equal(total, exact.astype(np.float32)) and np.array_equal(error, exact - total)
    (_, added) = glsl_call.Function(device, two, ["lib/exact.glsl"])(sums, errors, values)
    assert np.array_equal(added, errors + error)
    pair = "void add_compensated(inout vec3 sum, inout vec3 compensation, vec3 value)"
    three = [np.stack([part, -part, 2 * part], axis=1) for part in (sums, errors, values)]
    total, rest = (part.astype(float) for part in glsl_call.Function(device, pair, ["lib/exact.glsl"])(*three))
    wanted = sum(part.astype(float) for part in three)
    scale = np.abs(three[0]).astype(float) + np.abs(three[2])
    assert (np.abs(total + rest - wanted) <= 4 * 2.0**-48 * scale).all()
    assert (np.abs(rest) <= ULP * np.abs(total)).all()  # renormalised: the rest is below half a unit of the sum


UV_SIGNATURES = (
    "vec3 uv_place(vec2 a, vec2 b, vec2 c, vec3 weights, vec3 ab, vec3 ac)",
    "float uv_ratio(vec2 across, vec2 down, vec2 across_1, vec2 down_1)",
)


@pytest.mark.parametrize("size", [1e-25, 1.0, 1e25])  # no square of which is within float32
def test_how_fast_texture_coordinates_change(device, size):
    """The root of the areas' ratio, in powers of two; of the second coordinates, by that of the first."""
    place, ratio = (glsl_call.Function(device, each, ["lib/triangle_point.glsl"]) for each in UV_SIGNATURES)
    rng = np.random.default_rng(5)
    uvs, uvs_1 = rng.uniform(-2, 3, (2, 200, 3, 2)).astype(np.float32)
    sides = (size * rng.normal(size=(200, 2, 3))).astype(np.float32)
    weights = rng.dirichlet([1, 1, 1], 200).astype(np.float32)

    def area(corners: NDArray) -> NDArray:
        across, down = np.moveaxis(corners[:, 1:].astype(float) - corners[:, :1], 1, 0)
        return np.abs(across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])

    (found,) = place(*np.moveaxis(uvs, 1, 0), weights, *np.moveaxis(sides, 1, 0))
    np.testing.assert_allclose(found[:, :2], np.einsum("nk,nkx->nx", weights, uvs.astype(float)), atol=1e-5)
    wide = np.linalg.norm(np.cross(sides[:, 0].astype(float), sides[:, 1]), axis=1)
    np.testing.assert_allclose(found[:, 2], 0.5 * np.log2(area(uvs) / wide), rtol=1e-6, atol=2e-4)  # slivers
    (found,) = ratio(*(each[:, k] - each[:, 0] for each in (uvs, uvs_1) for k in (1, 2)))
    np.testing.assert_allclose(found, 0.5 * np.log2(area(uvs_1) / area(uvs)), atol=2e-4)


_TEST_ONE = """
Hit test_one(Ray ray, int number) {
    Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    triangle_test(ray, triangle_setup(ray), number, 0, hit);
    return hit;
}
"""


def _triangle_test(device, test: str, corners: NDArray[np.float32]) -> glsl_call.Function:
    module = primitives.triangle_module(test, corners)
    return glsl_call.Function(device, "Hit test_one(Ray ray, int number)", modules=[module], text=_TEST_ONE)


def _rays(origins: NDArray, targets: NDArray) -> NDArray:
    """Unit rays; normalised in float64, rounded once."""
    directions = targets - origins
    rays = np.zeros(len(origins), RAY.dtype)
    rays["origin"] = origins
    rays["direction"] = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    rays["t_max"] = FAR
    return rays


def _exact(rays: NDArray, corners: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """t, v, w (float64) of Moeller and Trumbore for ray i and triangle i, and how far inside the triangle the least
    barycentric weight says the ray passes."""
    a, b, c = (corners[:, k].astype(float) for k in range(3))
    origin, direction = rays["origin"].astype(float), rays["direction"].astype(float)
    ab, ac, s = b - a, c - a, origin - a
    p, q = np.cross(direction, ac), np.cross(s, ab)
    determinant = np.einsum("ij,ij->i", ab, p)
    v = np.einsum("ij,ij->i", s, p) / determinant
    w = np.einsum("ij,ij->i", direction, q) / determinant
    t = np.einsum("ij,ij->i", ac, q) / determinant
    return t, v, w, np.minimum(np.minimum(v, w), 1 - v - w)


@pytest.fixture(scope="module")
def soup():
    """4096 triangles of edges about 1 and a ray at each, nearly half of them meant to hit."""
    random = np.random.default_rng(11)
    corners = (random.normal(size=(4096, 1, 3)) * 3 + random.normal(size=(4096, 3, 3))).astype(np.float32)
    weights = random.dirichlet((1, 1, 1), 4096)
    weights[::2] += random.normal(size=(2048, 3)) * 0.7
    weights /= weights.sum(axis=1, keepdims=True)
    targets = np.einsum("ij,ijk->ik", weights, corners.astype(float))
    rays = _rays(random.normal(size=(4096, 3)) * 6, targets)
    rays["direction"][::7] *= -1  # what lies behind is not hit
    return corners, rays


@pytest.mark.parametrize("test", list(primitives.TESTS))
def test_triangle_tests_agree_with_float64(device, soup, test):
    corners, rays = soup
    (hit,) = _triangle_test(device, test, corners)(rays, np.arange(len(corners)))
    t, v, w, inside = _exact(rays, corners)
    # A determinant d = ab . (direction x ac) small against |ab||ac| amplifies rounding by |ab||ac|/|d|: a dozen
    # roundings on coordinates up to about 30 relative to the origin give 30 * 12 half ulps times that.
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(ab, ac).astype(float)
    facing = np.abs(np.einsum("ij,ij->i", rays["direction"].astype(float), normal))
    bound = 30 * 12 * ULP * np.linalg.norm(ab, axis=1) * np.linalg.norm(ac, axis=1) / facing
    sure = (np.abs(inside) > bound) & (np.abs(t) > bound) & (bound < 0.01)
    assert sure.mean() > 0.95
    expected = (inside > 0) & (t > 0)
    np.testing.assert_array_equal((hit["triangle"] >= 0)[sure], expected[sure])
    found = sure & expected
    assert found.sum() > 1000
    np.testing.assert_array_equal(hit["triangle"][found], np.flatnonzero(found))
    assert np.all(np.abs(hit["t"][found] - t[found]) <= (bound * (1 + np.abs(t)))[found])
    assert np.all(np.abs(hit["barycentric"][found] - np.stack([v, w], axis=1)[found]) <= bound[found, None])
    np.testing.assert_array_equal(hit["t"][~(hit["triangle"] >= 0)], FAR)


def test_edge_functions_keep_their_sign(device):
    function = glsl_call.Function(
        device,
        "float edge_function(vec3 from, vec3 to)",
        modules=[primitives.triangle_module("watertight", np.zeros((1, 3, 3), np.float32))],
    )
    random = np.random.default_rng(5)
    start = random.normal(size=(5000, 3)).astype(np.float32)
    end = random.normal(size=(5000, 3)).astype(np.float32)
    end[1000:3000] = start[1000:3000] * random.normal(size=(2000, 1))  # along one line through the ray: about zero
    (result,) = function(start, end)
    forward, backward = (end[:, k].astype(float) * start[:, 1 - k] for k in (0, 1))
    exact, largest = forward - backward, np.maximum(np.abs(forward), np.abs(backward))
    # Each product is off by half an ulp, their difference by another; below an ulp of the products it is called zero.
    assert np.all(np.abs(result - exact) <= 4 * ULP * largest)
    assert np.all((result == 0) | (np.sign(result) == np.sign(exact)))
    assert np.all((result != 0) | (np.abs(exact) <= 4 * ULP * largest))
    (swapped,) = function(end, start)
    np.testing.assert_array_equal(swapped, -result)  # both triangles of an edge see the same function


def test_rows_end_where_integers_end_them(device):
    """By division of integers; at both ends of rows all over the range, where quotients of floats round upwards."""
    texel_of = glsl_call.Function(device, "ivec2 texel_of(int number, int width)", ["lib/texel_of.glsl"])
    widths = [1, 2, 3, 7, 255, 1000, 4095, 4096, 4097, 16384, (1 << 24) - 1]
    numbers = []
    for width in widths:
        rows = np.unique(np.linspace(0, (1 << 24) // width, 300).astype(np.int64)) * width
        numbers.append(np.clip(np.concatenate([rows, rows - 1, rows + width // 2, [1 << 24]]), 0, 1 << 24))
    width = np.repeat(widths, [len(part) for part in numbers])
    number = np.concatenate(numbers)
    (texel,) = texel_of(number, width)
    np.testing.assert_array_equal(texel, np.stack([number % width, number // width], axis=1))


COUNT = 4000
ONE = "vec2 box_interval(vec3 low, vec3 high, vec3 origin, vec3 inverse, float farthest)"
TWO = "vec4 box_intervals(vec4 x, vec4 y, vec4 z, vec3 origin, vec3 inverse, float farthest)"


def given() -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray, NDArray]:
    """low, high, origin, inverse (N, 3) float32; and the exact distances (N,) float64 of entry and exit."""
    rng = np.random.default_rng(4)
    corners = rng.uniform(-3, 3, (2, COUNT, 3)).astype(np.float32)
    low, high = corners.min(axis=0), corners.max(axis=0)
    origin = rng.uniform(-5, 5, (COUNT, 3)).astype(np.float32)
    direction = rng.uniform(low, high) - origin  # through a point in the box
    inverse = (1 / direction).astype(np.float32)
    wide = [array.astype(np.float64) for array in (low, high, origin, inverse)]
    ends = np.stack([(wide[0] - wide[2]) * wide[3], (wide[1] - wide[2]) * wide[3]])
    return low, high, origin, inverse, np.maximum(ends.min(axis=0).max(axis=1), 0), ends.max(axis=0).min(axis=1)


@pytest.mark.parametrize("boxes", [1, 2])
def test_an_interval_holds_the_exact_one(device, boxes: int) -> None:
    """The exit has a factor of 1 + 2 gamma(3), about 1 + 6e-7 (T. Ize, "Robust BVH Ray Traversal", JCGT 2, 2, 2013).

    The difference and the product round by 2^-24 each; the entry's rounding is taken care of by the exit's factor.
    """
    low, high, origin, inverse, enters, leaves = given()
    far = np.full(COUNT, FAR)
    if boxes == 1:
        (found,) = Function(device, ONE, ["lib/box.glsl"])(low, high, origin, inverse, far)
        found = found[:, None, :]
    else:
        other = np.roll(low, 1, axis=0), np.roll(high, 1, axis=0)
        sides = [np.stack([low[:, k], other[0][:, k], high[:, k], other[1][:, k]], axis=1) for k in range(3)]
        (both,) = Function(device, TWO, ["lib/box.glsl"])(*sides, origin, inverse, far)
        found = both[:, [[0, 2], [1, 3]]]
    entry, exit_ = found[:, 0, 0].astype(np.float64), found[:, 0, 1].astype(np.float64)
    assert (exit_ >= leaves).all() and (entry <= exit_).all()
    # The factor, and three roundings of 2^-24; no more, or boxes would be entered for nothing.
    np.testing.assert_allclose(exit_, leaves * 1.0000006, rtol=3 * 2.0**-24)
    np.testing.assert_allclose(entry, enters, rtol=2 * 2.0**-24)


def _sphere() -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """A closed mesh: an octahedron, each face cut in 16, pushed out to a sphere that is not centred."""
    vertices = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    points = {tuple(v): k for k, v in enumerate(vertices)}

    def number(point: NDArray) -> int:
        return points.setdefault(tuple(np.round(point / np.linalg.norm(point), 9)), len(points))

    for _ in range(2):
        finer = []
        at = np.array(list(points))
        for a, b, c in faces:
            ab, bc, ca = number(at[a] + at[b]), number(at[b] + at[c]), number(at[c] + at[a])
            finer += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        faces = finer
    placed = (np.array(list(points)) * [1.3, 0.9, 1.1] + [0.31, -0.17, 0.05]).astype(np.float32)
    return placed, np.array(faces, np.int32)


def test_watertight_rays_at_edges_and_vertices_hit(device):
    """Rays from everywhere, at vertices and at points of edges, against the triangles that touch there."""
    vertices, faces = _sphere()
    corners = vertices[faces]
    random = np.random.default_rng(2)
    count = 40_000
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    at = np.concatenate(
        [edges[random.integers(0, len(edges), count)], np.repeat(np.arange(len(vertices))[:, None], 2, 1)]
    )
    share = random.random((len(at), 1))
    targets = vertices[at[:, 0]] * share + vertices[at[:, 1]] * (1 - share)
    rays = _rays(random.normal(size=(len(at), 3)) * 2, targets)
    has = (faces[None] == np.arange(len(vertices))[:, None, None]).any(axis=2)
    touching = [np.flatnonzero(row) for row in has[at[:, 0]] & has[at[:, 1]]]
    assert {len(t) for t in touching} == {2, 4, 6}
    near = np.array([np.resize(t, 6) for t in touching])
    (hit,) = _triangle_test(device, "watertight", corners)(np.repeat(rays, 6), near.ravel())
    met = (hit["triangle"] >= 0).reshape(near.shape)
    # The target is rounded, and a rounding can carry a ray past the mesh where it passes its silhouette.
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).astype(float)
    facing = np.einsum("ik,ijk->ij", rays["direction"].astype(float), normals[near])
    silhouette = (facing.min(axis=1) < 1e-4) & (facing.max(axis=1) > -1e-4)
    assert silhouette.mean() < 0.3
    assert met[~silhouette].any(axis=1).all()


@pytest.mark.parametrize("test", list(primitives.TESTS))
def test_degenerate_triangles_and_what_lies_behind_are_not_hit(device, test):
    corners = np.array(
        [
            [[0, 0, 0], [1, 0, 0], [0, 1, 0]],  # a proper one
            [[0, 0, 0], [1, 0, 0], [2, 0, 0]],  # a needle
            [[0.2, 0.3, 0]] * 3,  # a point, right on the ray
            [[0, 0, -1], [0, 1, 0], [0, 0.5, 1]],  # edge on
        ],
        np.float32,
    )
    function = _triangle_test(device, test, corners)
    down = _rays(np.tile([[0.2, 0.3, 5.0]], (4, 1)), np.tile([[0.2, 0.3, 0.0]], (4, 1)))
    np.testing.assert_array_equal(function(down, np.arange(4))[0]["triangle"], [0, -1, -1, -1])
    up = down.copy()
    up["direction"] *= -1
    np.testing.assert_array_equal(function(up, np.arange(4))[0]["triangle"], [-1] * 4)
    near = down.copy()
    near["t_max"] = 5.0  # a hit at t_max does not count
    np.testing.assert_array_equal(function(near, np.arange(4))[0]["triangle"], [-1] * 4)


def test_surfaces_are_interpolated(device):
    random = np.random.default_rng(8)
    scene = Scene.from_triangles(random.normal(size=(30, 3)), random.integers(0, 30, (40, 3)))
    flat = scene.flatten()
    flat = replace(
        flat,
        colors=random.random(flat.colors.shape).astype(np.float32),
        materials=random.integers(0, 2, len(flat)).astype(np.int32),
    )
    materials = [Material(base_color=(0.2, 0.5, 0.9, 1.0)), Material(base_color=(1.0, 0.1, 0.3, 1.0))]
    modules = [flat_geometry(flat), *appearance(materials)]
    function = glsl_call.Function(device, "Surface surface_at(Ray ray, Hit hit)", modules=modules)
    count = 2000
    rays = _rays(random.normal(size=(count, 3)), random.normal(size=(count, 3)))
    hits = np.zeros(count, HIT.dtype)
    hits["triangle"] = random.integers(0, len(flat), count)
    weights = random.dirichlet((1, 1, 1), count)
    hits["barycentric"] = weights[:, 1:]
    (surface,) = function(rays, hits)

    of = flat.triangles[hits["triangle"]]
    given = hits["barycentric"].astype(float)
    weights = np.concatenate([1 - given.sum(axis=1, keepdims=True), given], axis=1)
    normal = np.einsum("ij,ijk->ik", weights, flat.normals[of].astype(float))
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    away = np.einsum("ij,ij->i", normal, rays["direction"].astype(float))
    normal *= np.where(away > 0, -1, 1)[:, None] / length
    sure = np.abs(away) > 1e-5  # which side is the ray's is a matter of rounding where the normal is across it
    # Three weights, products and sums of unit normals: 8 roundings; cancellation amplifies them by 1 / length.
    assert np.all(np.abs(surface["normal"] - normal)[sure] <= (12 * ULP / length)[sure])
    albedo = np.einsum("ij,ijk->ik", weights, flat.colors[of].astype(float))
    albedo *= np.array([m.base_color[:3] for m in materials])[flat.materials[hits["triangle"]]]
    np.testing.assert_allclose(surface["albedo"], albedo, rtol=0, atol=8 * ULP)


def test_a_surface_without_a_shading_normal_has_its_geometric_one(device):
    scene = Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    flat = replace(scene.flatten(), normals=np.array([[0, 0, 1], [0, 0, -1], [0, 0, 1]], np.float32))
    function = glsl_call.Function(
        device, "Surface surface_at(Ray ray, Hit hit)", modules=[flat_geometry(flat), *appearance([Material()])]
    )
    rays = _rays(np.array([[0.3, 0.1, 4.0]]), np.array([[0.25, 0.5, 0.0]]))
    hits = np.zeros(1, HIT.dtype)
    hits["barycentric"] = [0.5, 0.25]
    (surface,) = function(rays, hits)
    np.testing.assert_array_equal(surface["normal"], [[0.0, 0.0, 1.0]])  # on the ray's side
