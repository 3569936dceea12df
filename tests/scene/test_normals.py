"""Vertex normals by crease angle, and tangents by MikkTSpace: against plain NumPy, and on known meshes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.formats import load
from raystream.scene.geometry import normals as normals_module
from raystream.scene.geometry.normals import all_with_normals, with_normals, with_tangents
from raystream.scene.geometry.vertices import weld
from raystream.scene.mesh import Mesh

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)


def sphere(around: int, down: int) -> Mesh:
    """A unit sphere of latitude and longitude, outward; its poles have ``around`` faces each."""
    theta = np.pi * np.arange(1, down) / down
    phi = 2 * np.pi * np.arange(around) / around
    ring = np.stack(
        [
            np.sin(theta)[:, None] * np.cos(phi),
            np.cos(theta)[:, None] * np.ones(around),
            -np.sin(theta)[:, None] * np.sin(phi),
        ],
        axis=-1,
    )
    positions = np.concatenate([ring.reshape(-1, 3), [[0, 1, 0], [0, -1, 0]]])
    i, j = np.meshgrid(np.arange(down - 2), np.arange(around), indexing="ij")
    a, b = i * around + j, i * around + (j + 1) % around
    c, d = a + around, b + around
    top, bottom, k = len(positions) - 2, len(positions) - 1, np.arange(around)
    last = (down - 2) * around
    faces = [
        np.stack([a, c, d], -1).reshape(-1, 3),
        np.stack([a, d, b], -1).reshape(-1, 3),
        np.stack([np.full(around, top), k, (k + 1) % around], -1),
        np.stack([np.full(around, bottom), last + (k + 1) % around, last + k], -1),
    ]
    return Mesh(positions, np.concatenate(faces))


def slowly(mesh: Mesh, degrees: float) -> np.ndarray:
    """The definition, corner by corner, in float64: (T, 3, 3)."""
    p = mesh.positions.astype(np.float64)
    t = mesh.triangles
    place = {}
    group = [place.setdefault(tuple(q + 0.0), k) for k, q in enumerate(mesh.positions)]
    normal, angle = [], []
    for a, b, c in t:
        n = np.cross(p[b] - p[a], p[c] - p[a])
        length = np.linalg.norm(n)
        normal.append(n / length if length > 0 else n * 0)
        angle.append([])
        for x, y, z in ((a, b, c), (b, c, a), (c, a, b)):
            u, v = p[y] - p[x], p[z] - p[x]
            size = np.linalg.norm(u) * np.linalg.norm(v)
            angle[-1].append(math.acos(min(1, max(-1, u @ v / size))) if size > 0 else 0)
    out = np.zeros((len(t), 3, 3))
    for i in range(len(t)):
        for c in range(3):
            total = np.zeros(3)
            for j in range(len(t)):
                for k in range(3):
                    near = group[t[j, k]] == group[t[i, c]]
                    if near and normal[i] @ normal[j] >= math.cos(math.radians(degrees)) - 1e-12:
                        total += angle[j][k] * normal[j]
            length = np.linalg.norm(total)
            out[i, c] = total / length if length > 1e-9 else normal[i]
    return out


def corner_normals(mesh: Mesh) -> np.ndarray:
    return mesh.normals[mesh.triangles]


def check_kept(before: Mesh, after: Mesh) -> None:
    """Triangle order, corner positions and the first vertices are those of the mesh before."""
    assert np.array_equal(after.positions[after.triangles], before.positions[before.triangles], equal_nan=True)
    assert np.array_equal(after.positions[: len(before.positions)], before.positions, equal_nan=True)
    assert np.array_equal(after.materials, before.materials)
    # float32 unit vectors: three roundings of 2^-24
    assert np.allclose(np.linalg.norm(after.normals, axis=1), 1, atol=3e-7)


def test_mesh_with_normals_comes_back_itself():
    mesh = Mesh(CUBE, CUBE_FACES, normals=np.tile(np.float32([0, 0, 1]), (8, 1)))
    assert with_normals(mesh) is mesh


def test_cube_at_90_degrees_is_smooth_and_whole():
    mesh = with_normals(Mesh(CUBE, CUBE_FACES), 90.0)
    assert len(mesh.positions) == 8
    # Angle weights make the corner's normal the diagonal however its squares are cut: the point of them.
    assert np.allclose(mesh.normals, (CUBE * 2 - 1) / math.sqrt(3), atol=1e-6)


@pytest.mark.parametrize("small", [True, False], ids=["plain", "compiled"])
@pytest.mark.parametrize("degrees", [1.0, 25.0, 40.0, 100.0, 180.0])
def test_against_the_definition(degrees, small, monkeypatch):
    monkeypatch.setattr(normals_module, "SMALL", 10**9 if small else 0)
    rng = np.random.default_rng(1)
    mesh = sphere(9, 6)
    mesh.positions = (mesh.positions + rng.normal(0, 0.08, mesh.positions.shape)).astype(np.float32)
    made = with_normals(mesh, degrees)
    check_kept(mesh, made)
    # float64 sums, rounded once to float32
    assert np.allclose(corner_normals(made), slowly(mesh, degrees), atol=2e-7)


def test_flat_at_0_degrees():
    mesh = sphere(12, 8)
    mesh.uvs = np.arange(2 * len(mesh.positions), dtype=np.float32).reshape(-1, 2)
    mesh.colors = np.arange(4 * len(mesh.positions), dtype=np.float32).reshape(-1, 4)
    mesh.uvs_1, mesh.tangents = mesh.uvs + 1, mesh.colors + 1
    made = with_normals(mesh, 0.0)
    check_kept(mesh, made)
    faces = normals_module.face_normals(mesh.positions, mesh.triangles)
    assert np.allclose(corner_normals(made), faces[:, None], atol=1e-7)
    assert np.array_equal(made.uvs[made.triangles], mesh.uvs[mesh.triangles])
    assert np.array_equal(made.colors[made.triangles], mesh.colors[mesh.triangles])
    assert np.array_equal(made.uvs_1[made.triangles], mesh.uvs_1[mesh.triangles])
    assert np.array_equal(made.tangents[made.triangles], mesh.tangents[mesh.triangles])


def test_seams_of_equal_positions_stay_smooth():
    whole = sphere(16, 8)
    torn = Mesh(whole.positions[whole.triangles].reshape(-1, 3), np.arange(3 * len(whole.triangles)).reshape(-1, 3))
    assert np.allclose(corner_normals(with_normals(torn)), corner_normals(with_normals(whole)), atol=2e-7)
    assert len(with_normals(torn).positions) == len(torn.positions)


def test_pole_of_100k_faces():
    """All pairs would take minutes."""
    mesh = sphere(100_000, 4)
    made = with_normals(mesh, 180.0)
    poles = np.isin(made.triangles, [len(mesh.positions) - 2, len(mesh.positions) - 1])
    assert np.allclose(np.abs(corner_normals(made)[poles][:, 1]), 1, atol=1e-6)


def test_pole_with_creases_is_split_by_direction():
    """A steep cone of many faces: cells of directions hold to the crease angle within their size of 3.75 degrees."""
    around, phi = 720, 2 * np.pi * np.arange(720) / 720
    rim = np.stack([np.cos(phi), np.zeros(around), -np.sin(phi)], -1)
    mesh = Mesh(np.concatenate([rim, [[0, 2, 0]]]), [[around, k, (k + 1) % around] for k in range(around)])
    made = with_normals(mesh, 30.0)
    faces = normals_module.face_normals(mesh.positions, mesh.triangles)
    tip = corner_normals(made)[:, 0]
    assert ((tip * faces).sum(axis=1) > math.cos(math.radians(5))).all()
    assert len(np.unique(tip, axis=0)) > 30


def test_empty_meshes():
    assert with_normals(Mesh(np.zeros((0, 3)), np.zeros((0, 3), int))).normals.shape == (0, 3)
    assert with_normals(Mesh(CUBE, np.zeros((0, 3), int))).normals.shape == (8, 3)


@given(
    st.integers(1, 12).flatmap(
        lambda v: st.tuples(
            st.lists(
                st.tuples(*[st.floats(width=32, allow_nan=True, allow_infinity=True)] * 3), min_size=v, max_size=v
            ),
            st.lists(st.tuples(*[st.integers(0, v - 1)] * 3), max_size=20),
            st.sampled_from([0.0, 1.0, 40.0, 180.0]),
        )
    )
)
@settings(max_examples=150, deadline=None)
def test_anything_gives_unit_normals(case):
    positions, triangles, degrees = case
    mesh = Mesh(np.array(positions, np.float32), np.array(triangles, np.int32).reshape(-1, 3))
    made = with_normals(mesh, degrees)
    check_kept(mesh, made)


@pytest.mark.parametrize("small", [True, False], ids=["plain", "compiled"])
def test_weld_finds_equal_rows(small):
    rng = np.random.default_rng(2)
    rows = rng.integers(-2, 3, (500, 3)).astype(np.float32)
    rows[rng.random(rows.shape) < 0.2] *= -1  # negative zeros
    number, first = weld(rows.view(np.uint32), small)
    expected, index = np.unique(rows + 0.0, axis=0, return_inverse=True)
    assert len(first) == len(expected)
    assert np.array_equal(rows[first][number], rows)
    assert (np.diff(first) > 0).all()  # numbered by first appearance
    assert len(set(zip(number.tolist(), index.ravel().tolist(), strict=True))) == len(first)


def assert_same(one: Mesh, other: Mesh) -> None:
    """To the bit."""
    assert one.name == other.name
    for name in ("positions", "triangles", "materials", "normals", "uvs", "colors", "uvs_1", "tangents"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name


@pytest.mark.parametrize("count", [3, 400])
def test_many_meshes_at_once_are_as_one_by_one(count, monkeypatch):
    """Where interpreted and where compiled; several share positions, many have copies of vertices."""
    monkeypatch.setattr(normals_module, "BATCH", 4000)
    rng = np.random.default_rng(count)
    meshes = [Mesh(CUBE, CUBE_FACES), Mesh(CUBE, CUBE_FACES, normals=np.tile([0, 0, 1], (8, 1))), sphere(40, 20)]
    for k in range(count):
        vertices, faces = (int(each) for each in rng.integers((3, 0), (30, 20)))
        positions = rng.integers(0, 3, (vertices, 3)) * rng.choice([1.0, -0.5, 0.0])
        positions[0, 0] = rng.choice([0.0, np.nan, 1.0])
        more = {"uvs": 2, "colors": 4, "uvs_1": 2, "tangents": 4}
        given = {name: rng.random((vertices, width)) for name, width in more.items() if rng.random() < 0.5}
        triangles = rng.integers(0, vertices, (faces, 3))
        meshes.append(Mesh(positions, triangles, rng.integers(0, 4, faces), name=f"mesh {k}", **given))
    before = [(each.positions.tobytes(), each.triangles.tobytes()) for each in meshes]
    made = all_with_normals(iter(meshes))
    assert len(made) == len(meshes) and made[1] is meshes[1]
    for mesh, one in zip(meshes, made, strict=True):
        assert_same(one, with_normals(mesh))
    assert before == [(each.positions.tobytes(), each.triangles.tobytes()) for each in meshes]
    assert any(len(one.positions) > len(mesh.positions) for mesh, one in zip(meshes, made, strict=True))


def grid(columns: int, rows: int, **more: Any) -> Mesh:
    """A square grid in the plane z = 0 with corners at whole numbers, seen from +z."""
    x, y = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1))
    points = np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3).astype(np.float32)
    low = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    right, up = low + 1, low + columns + 1
    triangles = np.stack([low, right, up + 1, low, up + 1, up], axis=1).reshape(-1, 3)
    return Mesh(points, triangles, normals=np.tile(np.float32([0, 0, 1]), (len(points), 1)), **more)


@pytest.mark.parametrize("uv_set", [0, 1])
@pytest.mark.parametrize(
    ("u", "v", "tangent"),
    [
        ((2, 0), (0, -3), (1, 0, 0, 1)),
        ((2, 0), (0, 3), (1, 0, 0, -1)),
        ((0, 1), (1, 0), (0, 1, 0, 1)),
        ((-1, 0), (0, -1), (-1, 0, 0, -1)),
        ((3, 4), (4, -3), (0.6, 0.8, 0, 1)),
        ((1, 0), (0.5, -1), (0.8**0.5, 0.2**0.5, 0, 1)),
    ],
)
def test_along_u(uv_set, u, v, tangent):
    """The tangent is where u grows and v stays; the sign makes cross(normal, tangent) point along -v."""
    flat = grid(3, 2)
    uvs = (flat.positions[:, :2] @ np.transpose([u, v])).astype(np.float32)
    made = with_tangents(replace(flat, **{"uvs_1" if uv_set else "uvs": uvs}), uv_set)
    assert np.allclose(made.tangents, tangent, atol=1e-6)
    assert with_tangents(made, uv_set) is made
    assert with_tangents(flat, uv_set) is flat


def test_a_mirrored_image_splits_its_seam():
    mesh = grid(4, 2, uvs=None)
    mesh.uvs = np.stack([np.abs(mesh.positions[:, 0] - 2), -mesh.positions[:, 1]], axis=1)
    mesh.colors = np.random.default_rng(0).random((len(mesh.positions), 4), np.float32)
    made = with_tangents(mesh)
    assert len(made.positions) == len(mesh.positions) + 3  # the vertices at x = 2
    for name in ("positions", "normals", "uvs", "colors"):
        assert np.array_equal(getattr(made, name)[made.triangles], getattr(mesh, name)[mesh.triangles])
    right = made.positions[made.triangles][..., 0].mean(axis=1) > 2
    expected = np.where(right[:, None], (1, 0, 0, 1), (-1, 0, 0, -1))
    assert np.allclose(made.tangents[made.triangles], expected[:, None], atol=1e-6)


def test_a_smooth_surface():
    """On a cylinder around y, whose u runs around: the tangent at a vertex is that of the circle."""
    mesh = grid(24, 2)
    angle = mesh.positions[:, 0] / 24 * 2 * np.pi
    mesh.normals = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1).astype(np.float32)
    mesh.uvs = mesh.positions[:, :2] * np.float32([1, -1])
    mesh.positions = mesh.normals + mesh.positions * np.float32([0, 1, 0])
    made = with_tangents(mesh)
    inner = (mesh.uvs[:, 0] > 0) & (mesh.uvs[:, 0] < 24)
    expected = np.stack([np.cos(angle), 0 * angle, -np.sin(angle), 1 + 0 * angle], axis=1)
    assert np.allclose(made.tangents[inner], expected[inner], atol=1e-6)


def test_no_direction():
    """Texture coordinates at one point, a face without area, and a corner that is not finite."""
    mesh = grid(2, 1)
    mesh.uvs = np.zeros((6, 2), np.float32)
    assert not with_tangents(mesh).tangents.any()
    mesh.uvs = mesh.positions[:, :2] * np.float32([1, -1])
    mesh.uvs[[2, 5]] = mesh.uvs[[1, 4]]  # the right half shows a line
    mesh.positions[5] = np.nan
    made = with_tangents(mesh)
    assert np.allclose(made.tangents[[0, 1, 3, 4]], (1, 0, 0, 1)) and len(made.positions) == 6


@pytest.mark.parametrize("name", ["Avocado", "AlphaBlendModeTest"])
def test_those_that_files_bring(name, shared_scenes):
    """Of MikkTSpace; within the rounding of texture coordinates but where the exporter had other faces around."""
    for mesh in load(shared_scenes / "models" / f"{name}.glb").meshes:
        theirs = mesh.tangents[mesh.triangles].reshape(-1, 4)
        made = with_tangents(replace(mesh, tangents=None))
        ours = made.tangents[made.triangles].reshape(-1, 4)
        assert (theirs[:, 3] == ours[:, 3]).mean() > 0.998
        assert np.quantile((theirs[:, :3] * ours[:, :3]).sum(axis=1), 0.01) > 0.998
