"""Models far from their origin, such as in UTM: shape, pictures, cameras, layers and rays in the file's coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import ascii_stl, load_bytes, ply

from raystream.formats import load
from raystream.formats.objects import scene_of
from raystream.renderer.inputs.prepared import arranged
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.edits.located import about, located
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.light import Light
from raystream.scene.mesh import Instance
from raystream.scene.scene import Scene

UTM = np.array([500000.3, 4649777.1, 120.7])
CORNERS = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)], np.float64)
FACES = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
TRIANGLES = np.concatenate([FACES[:, [0, 1, 2]], FACES[:, [0, 2, 3]]])


def cube(place: np.ndarray = UTM, edge: float = 0.7) -> np.ndarray:
    return place + edge * CORNERS


def obj(folder: Path, points: np.ndarray) -> Scene:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    lines += [f"f {' '.join(str(k + 1) for k in face)}" for face in FACES.tolist()]
    (folder / "a.obj").write_text("\n".join(lines))
    return load(folder / "a.obj")


@pytest.mark.parametrize("reader", ["obj", "ply", "ply ascii", "ply float", "arrays", "triangles", "stl"])
def test_every_reader_keeps_the_shape(reader: str, tmp_path: Path) -> None:
    points = cube()
    if reader == "obj":
        scene = obj(tmp_path, points)
    elif reader.startswith("ply"):
        encoding = "binary_little_endian" if reader == "ply" else "ascii"
        kind = "float" if reader == "ply float" else "double"
        vertex = {axis: (kind, points[:, k].tolist()) for k, axis in enumerate("xyz")}
        scene = load_bytes("a.ply", tmp_path, ply(encoding, vertex, TRIANGLES.tolist()))
    elif reader == "arrays":
        scene = scene_of((points, TRIANGLES))
    elif reader == "triangles":
        scene = Scene.from_triangles(points, TRIANGLES)
    else:
        scene = load_bytes("a.stl", tmp_path, ascii_stl(points[TRIANGLES]))
    np.testing.assert_allclose(scene.bounds(), [UTM, UTM + 0.7], rtol=0, atol=1e-6)
    assert scene.meshes[0].positions.dtype == np.float32 and np.abs(scene.meshes[0].positions).max() < 2
    assert len(scene.meshes[0].positions) == 8


def test_points_keep_their_distances(tmp_path: Path) -> None:
    text = "\n".join(f"v {x!r} {y!r} {z!r}" for x, y, z in cube().tolist())
    (tmp_path / "a.obj").write_text(text)
    scene = load(tmp_path / "a.obj")
    mesh = scene.meshes[0]
    assert isinstance(mesh, Quadrics)
    np.testing.assert_allclose(scene.bounds(), [UTM - mesh.radius, UTM + 0.7 + mesh.radius], rtol=0, atol=1e-5)


@pytest.mark.parametrize("place", [np.zeros(3), np.array([5.0, 0.0, 0.0]), np.array([1000.0, 2000.0, 3000.0])])
def test_near_or_exact_positions_stay_as_they_are(place: np.ndarray, tmp_path: Path) -> None:
    """Where float32 holds them, or rounds by less than a millionth of the size."""
    scene = obj(tmp_path, cube(place, 0.5))
    assert np.array_equal(scene.meshes[0].positions, cube(place, 0.5).astype(np.float32))
    assert np.array_equal(scene.instances[0].transform, np.eye(4))


def test_a_scene_is_moved_and_back() -> None:
    light = Light("point", position=tuple(UTM + 1))
    camera = Camera(tuple(UTM + 5), tuple(UTM), name="own")
    scene = Scene.from_triangles(cube(), TRIANGLES).with_parts(lights=[light], cameras=[camera])
    near = located(scene)
    assert any(near.origin) and located(near) is near
    for each, point in ((near.lights[0].position, UTM + 1), (near.cameras[0].origin, UTM + 5), (near.bounds()[0], UTM)):
        np.testing.assert_allclose(np.add(each, near.origin), point, rtol=0, atol=1e-6)
        assert np.abs(each).max() < 20
    back = about(near, (0, 0, 0))
    np.testing.assert_allclose(back.bounds(), scene.bounds(), rtol=0, atol=2e-8)
    assert near.cameras[0].text() == Camera.parse(near.cameras[0].text()).text()
    np.testing.assert_allclose(Camera.parse(near.cameras[0].text()).origin, UTM + 5, rtol=0, atol=2e-8)
    plain = Scene.from_triangles(cube(np.zeros(3)), TRIANGLES)
    assert located(plain) is plain and arranged(plain, Settings()) is plain


@pytest.fixture(scope="module")
def pair() -> tuple[Scene, Scene]:
    """The same far away and near."""
    near = np.round(UTM)
    return Scene.from_triangles(cube(), TRIANGLES), Scene.from_triangles(cube(UTM - near), TRIANGLES)


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh", "grid"])
def test_pictures_rays_and_layers_agree_with_those_of_the_same_nearby(
    pair: tuple[Scene, Scene], accel: str, device: Any
) -> None:
    """By the default view, and by a camera in the file's coordinates."""
    far, near = pair
    shift = np.round(UTM)
    eye = Camera((2.0, 1.5, 3.0), (0.5, 0.5, 0.9), fov=40)
    moved = Camera(tuple(np.add(eye.origin, shift)), tuple(np.add(eye.target, shift)), fov=40)
    options: dict[str, Any] = {"device": device, "accel": accel, "environment": "sky"}
    for own, other in ((None, None), (moved.text(), eye.text()), (moved, eye)):
        there, here = Renderer(far, camera=own, **options), Renderer(near, camera=other, **options)
        layers = [each.render(size=(40, 40), spp=4, layers=("position", "depth")) for each in (there, here)]
        (a, b) = (each.linear for each in layers)
        assert b.std() > 0.02 and (np.abs(a - b).max(axis=-1) > 0.02).mean() < 0.03
        place, at = (each.layers["position"].astype(np.float64) for each in layers)
        hit = layers[1].layers["depth"] < 100
        hit = hit.reshape(40, 40) & (np.abs(at).sum(axis=-1) > 0)
        assert hit.mean() > 0.1
        np.testing.assert_allclose(
            (place - at)[hit], np.broadcast_to(shift, (hit.sum(), 3)), atol=0.6
        )  # a float32 each
        assert Camera.parse(there.camera.text()).origin == pytest.approx(np.add(here.camera.origin, shift), abs=1e-3)
    origins = np.array([[0.6, 0.4, 5.0], [0.6, 0.4, -5.0], [9.0, 9.0, 9.0]])
    ways = np.array([[0, 0, -1.0], [0, 0, 1.0], [0, 1.0, 0]])
    found, known = there.trace(origins + shift, ways), here.trace(origins, ways)
    assert found.triangle.tolist() == known.triangle.tolist()
    np.testing.assert_allclose(found.distance[:2], known.distance[:2], atol=1e-4)


def test_instances_are_moved_in_the_file_s_coordinates(pair: tuple[Scene, Scene], device: Any) -> None:
    far, _ = pair
    renderer = Renderer(far, device=device, accel="two-level-bvh")
    lifted = far.instances[0].transform.copy()
    lifted[1, 3] += 3.0
    renderer.move({0: lifted})
    there = renderer.trace(UTM + (0.35, 10, 0.35), [[0, -1, 0]])
    assert there.distance[0] == pytest.approx(10 - 3.7, abs=1e-4)


def test_exports_are_in_the_file_s_coordinates(pair: tuple[Scene, Scene]) -> None:
    pytest.importorskip("trimesh")
    shown = located(pair[0])
    np.testing.assert_allclose(shown.to_trimesh().bounds, [UTM, UTM + 0.7], rtol=0, atol=1e-6)


def test_bounds_of_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from raystream.cli.report import describe

    scene = obj(tmp_path, cube())
    np.testing.assert_allclose(describe(scene)["bounds"], [UTM, UTM + 0.7], rtol=0, atol=1e-6)


def test_placed_meshes_of_a_far_scene(device: Any) -> None:
    """Meshes near their own origins, placed far away by their instances."""
    mesh = Scene.from_triangles(CORNERS, TRIANGLES).meshes[0]
    place = np.eye(4)
    place[:3, 3] = UTM
    renderer = Renderer(Scene([mesh], [Instance(0, place)]), device=device)
    hits = renderer.trace(UTM + (0.3, 0.6, 4.0), [[0, 0, -1]])
    assert hits.distance[0] == pytest.approx(3.0, abs=1e-5)
