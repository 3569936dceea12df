"""Points as spheres and lines as cylinders: sizes, colours, bounds, pictures, and their time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.renderer.inputs.prepared import arranged, prepare
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.geometry.quadrics import Quadrics, line_radius, point_radius
from raystream.scene.material import Material
from raystream.scene.mesh import Instance
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

COLORS = np.float32([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])


def cloud(count: int, seed: int = 0) -> np.ndarray:
    """(count, 3) float32 on a sphere."""
    points = np.random.default_rng(seed).standard_normal((count, 3))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def scene_of(*meshes: Any, transform: np.ndarray | None = None) -> Scene:
    place = np.eye(4) if transform is None else transform
    return Scene(list(meshes), [Instance(k, place) for k in range(len(meshes))], [Material(base_color=(1, 1, 1, 1))])


def test_the_radius_is_half_the_mean_distance_of_neighbours() -> None:
    """Of a square grid four of six neighbours are a step away, two a diagonal."""
    x, y = np.meshgrid(np.arange(60.0), np.arange(60.0))
    grid = np.stack([x.ravel(), y.ravel(), np.zeros(3600)], axis=1).astype(np.float32)
    assert point_radius(grid) == pytest.approx((4 + 2 * 2**0.5) / 12, rel=0.05)
    assert point_radius(100 * grid) == pytest.approx(100 * point_radius(grid))
    assert point_radius(np.concatenate([grid, grid])) == pytest.approx(point_radius(grid), rel=0.2)  # each point twice


@pytest.mark.parametrize("count", [2, 3, 50, 5000])
def test_the_radius_against_all_distances(count: int) -> None:
    points = cloud(count)
    distances = np.linalg.norm(points[:, None] - points[None, :2048].astype(float), axis=2).T
    expected = np.sort(distances, axis=1)[:, 1:7].mean() / 2
    assert point_radius(points) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("points", [np.zeros((1, 3)), np.zeros((5, 3)), np.zeros((0, 3)), np.full((2, 3), np.nan)])
def test_the_radius_of_one_place(points: np.ndarray) -> None:
    assert point_radius(points.astype(np.float32)) == 0.5
    assert line_radius(points.astype(np.float32)) == 1 / 500


def test_a_radius_that_is_none() -> None:
    with pytest.raises(ViewerError, match=r"radius 0\.0 of points"):
        Quadrics.spheres(np.zeros((1, 3), np.float32), 0.0)


@pytest.mark.parametrize("accel", ["bvh", "grid", "none", "two-level-bvh", "two-level-grid"])
def test_rays_meet_the_same_as_single_quadrics(accel: str, device: Any) -> None:
    """To float32's rounding, with the points' own numbers."""
    points, lines = cloud(40), np.array([[0, 1], [2, 3], [4, 5]])
    many = scene_of(Quadrics.spheres(points, 0.1), Quadrics.cylinders(points, lines, 0.05))
    single = [Quadric.sphere(point, 0.1) for point in points.tolist()]
    single += [Quadric.cylinder(points[a], points[b], 0.05) for a, b in lines.tolist()]
    rng = np.random.default_rng(1)
    origins = rng.normal(size=(4000, 3)) * 3
    directions = rng.normal(size=(4000, 3)) * 0.7 - origins
    found = Renderer(many, device=device, accel=accel).trace(origins, directions)
    known = Renderer(scene_of(*single), device=device, accel="bvh").trace(origins, directions)
    same = found.instance == np.where(known.instance < 40, 0, 1)
    assert (known.triangle >= 0).sum() > 500
    hit = (found.triangle >= 0) & (known.triangle >= 0)
    assert ((found.triangle >= 0) == (known.triangle >= 0)).mean() > 0.999
    np.testing.assert_allclose(found.distance[hit & same], known.distance[hit & same], atol=1e-4)
    assert same[hit].mean() > 0.999


def test_points_have_their_colors_and_lines_run_between_theirs(device: Any) -> None:
    points = np.float32([[-2, 0, 0], [0, 0, 0], [2, 0, 0]])
    scene = scene_of(
        Quadrics.spheres(points, 0.8, COLORS),
        Quadrics.cylinders(points + np.float32([0, 2, 0]), np.array([[0, 2]]), 0.5, COLORS),
    )
    camera = Camera((0, 1, 10), (0, 1, 0), fov=40)
    for accel in ("bvh", "two-level-bvh"):
        renderer = Renderer(scene, device=device, accel=accel, camera=camera, environment="none")
        film = renderer.render(spp=4, layers=("albedo",), size=(60, 60))
        albedo = film.layers["albedo"]
        across, rows = [30 - 16, 30, 30 + 16], (38, 21)
        balls = np.array([albedo[rows[0], x] for x in across])
        np.testing.assert_allclose(balls[:, :3], np.eye(3), atol=0.05)
        tube = np.array([albedo[rows[1], x] for x in (16, 30, 44)])[:, :3]
        assert tube[0, 0] > 0.8 > tube[1, 0] > tube[2, 0] and tube[2, 2] > 0.8
        assert tube[1, 0] == pytest.approx(0.5, abs=0.1) and tube[1, 2] == pytest.approx(0.5, abs=0.1)


def test_the_option_sets_the_diameter() -> None:
    scene = scene_of(Quadrics.spheres(cloud(10), 0.3), Quadrics.cylinders(cloud(10), np.array([[0, 1]]), 0.3))
    made = arranged(scene, Settings(point_size=0.5))
    assert [mesh.radius for mesh in made.meshes if isinstance(mesh, Quadrics)] == [0.25, 0.125]
    assert arranged(scene, Settings()) is scene


def test_lines_of_obj_beside_faces(tmp_path: Path) -> None:
    (tmp_path / "m.mtl").write_text("newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 1 0\n")
    points = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    (tmp_path / "a.obj").write_text(f"mtllib m.mtl\n{points}usemtl a\nf 1 2 3\nl 1 2 3\nusemtl b\nl -2/1 -1/1\np 1\n")
    scene = load(tmp_path / "a.obj")
    assert [len(mesh.triangles) for mesh in scene.meshes] == [1, 1, 2, 1] and len(scene.instances) == 4
    colors = [scene.materials[mesh.materials[0]].base_color[:3] for mesh in scene.meshes]
    assert colors == [(1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0)]
    assert scene.meshes[2].triangles[:, ::2].tolist() == [[0, 1], [1, 2]]


def test_edges_of_ply(tmp_path: Path) -> None:
    head = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element edge 2\nproperty int vertex1\nproperty int vertex2\nend_header\n"
    (tmp_path / "a.ply").write_text(f"{head}0 0 0\n1 0 0\n1 1 0\n0 1\n1 2\n")
    scene = load(tmp_path / "a.ply")
    assert scene.meshes[0].triangles[:, ::2].tolist() == [[0, 1], [1, 2]] and scene.quadric_count == 2


def test_tessellations_have_colors_and_outward_normals() -> None:
    points = cloud(20)
    colors = np.ones((20, 4), np.float32)
    colors[:, 0] = np.linspace(0, 1, 20)
    tubes = Quadrics.cylinders(points, np.array([[0, 1], [5, 19]]), 0.1, colors)
    for mesh in (Quadrics.spheres(points, 0.2, colors), tubes):
        made = mesh.tessellated()
        corners = made.positions[made.triangles].astype(float)
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert made.normals is not None and ((faces[:, None] * made.normals[made.triangles]).sum(-1) > -1e-9).all()
        assert made.colors is not None and {0.0, 1.0} <= set(made.colors[:, 0].tolist())


def test_many_points_take_little_time() -> None:
    """No loop runs over points, nor over instances of a quadric."""
    points = cloud(200_000)
    prepare(scene_of(Quadrics.spheres(cloud(1000), 0.01)))  # compiles
    begin = time.process_time()
    prepare(scene_of(Quadrics.spheres(points, point_radius(points))))
    assert time.process_time() - begin < 4.0
    places = np.tile(np.eye(4), (20_000, 1, 1))
    places[:, :3, 3] = points[:20_000]
    instances = [Instance(0, place) for place in places]
    begin = time.process_time()
    prepare(Scene([Quadric.sphere((0, 0, 0), 0.01)], instances, [Material()]))
    assert time.process_time() - begin < 3.0
