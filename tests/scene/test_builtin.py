"""The built-in scenes: geometry, orientation, normals, counts, viewpoints, and numbers that pictures hang on."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest

from raystream.scene import builtin
from raystream.scene.builtin.parts.shapes import Part, boxes, revolve, tube
from raystream.scene.builtin.parts.teapot import teapot
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene


@pytest.fixture(scope="module", params=builtin.names())
def scene(request):
    return builtin.build(request.param)


def directed_edges(positions: np.ndarray, triangles: np.ndarray) -> Counter:
    """Directed edges by position, so that split vertices count as one."""
    _, place = np.unique(np.round(positions, 9) + 0.0, axis=0, return_inverse=True)
    corner = place.reshape(-1)[triangles]
    return Counter(map(tuple, np.concatenate([corner[:, [0, 1]], corner[:, [1, 2]], corner[:, [2, 0]]]).tolist()))


def assert_closed(part: Part) -> None:
    edges = directed_edges(part.positions, part.triangles)
    assert all(count == 1 and edges[b, a] == 1 for (a, b), count in list(edges.items()))


def volume(part: Part) -> float:
    a, b, c = part.positions[part.triangles].transpose(1, 0, 2)
    return float((np.cross(a, b) * c).sum() / 6)


def face_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = positions[triangles].astype(np.float64).transpose(1, 0, 2)
    return np.cross(b - a, c - a)


def test_every_mesh_is_sound(scene) -> None:
    assert {instance.mesh for instance in scene.instances} == set(range(len(scene.meshes)))
    for each in scene.meshes:
        mesh = each.tessellated(32) if isinstance(each, Quadric) else each
        assert np.isfinite(mesh.positions).all()
        assert set(np.unique(mesh.triangles)) == set(range(len(mesh.positions))), f"{mesh.name}: unused vertices"
        assert mesh.materials.min() >= 0 and mesh.materials.max() < len(scene.materials)
        # float32 rounding of unit vectors
        np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-6, err_msg=mesh.name)
        faces = face_normals(mesh.positions, mesh.triangles)
        assert (np.linalg.norm(faces, axis=1) > 0).all(), f"{mesh.name}: a triangle has no area"
        # Shading normals stay on their triangle's front, so triangles and normals agree which way is out.
        agree = (faces[:, None] * mesh.normals[mesh.triangles]).sum(axis=-1)
        assert (agree > 0).all(), f"{mesh.name}: {np.count_nonzero(agree <= 0)} normals behind their triangle"
        if mesh.colors is not None:
            assert mesh.colors.min() >= 0 and mesh.colors.max() <= 1


def test_shapes_are_closed_and_face_outwards() -> None:
    box = boxes([(0, 0, 0), (5, 0, 0)], [(1, 2, 3), (6, 1, 1)])
    assert_closed(box)
    assert volume(box) == pytest.approx(7)
    cone = revolve([(0, 0), (1, 0), (0.5, 1), (0, 1)], 400)
    assert_closed(cone)
    # A frustum; the 400-gon lacks pi^2 / 6 * (2 / 400)^2 = 4e-5 of the circle.
    assert volume(cone) == pytest.approx(np.pi / 3 * (1 + 0.5 + 0.25), rel=1e-4)
    pipe = tube([(0, 0, 0), (0, 1, 0.1), (0, 2, 0)], [0.5, 0.4, 0.3], 9)
    faces = face_normals(pipe.positions, pipe.triangles)
    assert ((faces[:, None] * pipe.normals[pipe.triangles]).sum(axis=-1) > 0).all()
    edges = directed_edges(pipe.positions, pipe.triangles)
    assert sum((b, a) not in edges for a, b in edges) == 2 * 9  # open at both ends alone


@pytest.mark.parametrize("divisions", [4, 7, 16])
def test_teapot_has_no_cracks(divisions: int) -> None:
    part = teapot(divisions)
    # 8 patches (lid's knob, bottom) have an edge shrunk to a point and lose a triangle per division there.
    assert len(part.triangles) == 2 * 32 * divisions**2 - 8 * divisions
    edges = directed_edges(part.positions, part.triangles)
    assert set(edges.values()) == {1}
    # What is open: the body's and the lid's rim, both ends of spout and handle, each 4 edges of patches.
    assert sum((b, a) not in edges for a, b in edges) == 4 * 4 * divisions
    # Patches agree on their common points to the bit, and split them at creases alone.
    exact, vertex = np.unique(part.positions + 0.0, axis=0, return_inverse=True)
    assert len(exact) == len(np.unique(np.round(part.positions, 9) + 0.0, axis=0))
    order = np.argsort(vertex.reshape(-1), kind="stable")
    twins = vertex.reshape(-1)[order][1:] == vertex.reshape(-1)[order][:-1]
    cosine = (part.normals[order][1:] * part.normals[order][:-1]).sum(axis=1)[twins]
    assert len(cosine) and (cosine < np.cos(np.radians(20))).all()  # the handle touches the body in a point
    np.testing.assert_allclose(np.linalg.norm(part.normals, axis=1), 1, atol=1e-12)
    faces = face_normals(part.positions, part.triangles)
    if divisions > 4:  # coarser than that, the lip's triangles bend further than their corners' normals
        assert ((faces[:, None] * part.normals[part.triangles]).sum(axis=-1) > 0).all()


VALUES = {
    "cornell": (1.075016301e11, 19.23984962, 1219.86659, 0, 68.13681455),
    "teapotahedron": (57668.55146, 47.89085213, 49.75335714, 227.8135177, 402.310128),
    "forest": (103001377, 14181.03834, 200.8584025, 0, 46.46293591),
    "building": (1981835.547, 7918.686374, 94.38907143, 0, 142.9152072),
    "stadium": (42191092.93, 4.69845447, 33.46069048, 0, 65.23475257),
    "balls": (5.751939196, 10.02764217, 36.19092857, 314.4360134, 290.2513895),
    "glass_ball": (0.4441374707, 2.76773183, 11.65184286, 0, 65.96239803),
    "ring": (1.367101294, 4.69845447, 13.0722, 0.3027803227, 29.49240618),
    "cornell_photons": (8.97102848e10, 19.23984962, 736.7139707, 0, 109.3272128),
    "hall": (206937.7295, 148.4738596, 31.93357143, 0, 77.13826942),
    "prism": (-0.3624797875, 7.244360902, 13.00077195, 6.030969162, 46.01534305),
    "sphere": (4038.252615, 1.385526316, 15.84504762, 0, 22.90587066),
    "chair": (5868.034617, 14.70307475, 13.24779762, 0.9097223192, 32.13343314),
    "palm_pc": (5106.31831, 12.13300437, 15.29260714, 20.19139648, 104.7957389),
    "knife": (1453.942311, 0.4851712615, 15.44760476, 15.24200254, 63.04455887),
    "jet": (137157.8618, 0.4851712615, 33.54428571, 0.7836503093, 57.16620061),
    "palace": (885357.258, 238.2459029, 42.2847619, 0.7234191922, 55.38861238),
    "helicopter": (2227070.122, 6.703766158, 34.70559524, 0.7408850088, 62.72546777),
}


def weighed(rows: list[list[float]]) -> float:
    """A sum in which each number of each row counts by another weight, so that none stands for another."""
    found = 0.0
    for k, row in enumerate(rows):
        found += (1.0 + 0.1 * (k % 97)) * sum(value / (3.0 + j) for j, value in enumerate(row))
    return found


def shapes_of(scene: Scene) -> list[list[float]]:
    """Of each mesh its area, and moments of the area of first and second order; of a quadric its map."""
    rows = []
    for mesh in scene.meshes:
        if isinstance(mesh, Quadric):
            rows.append(np.ravel(mesh.maps).tolist())
            continue
        a, b, c = mesh.positions.astype(np.float64)[mesh.triangles].transpose(1, 0, 2)
        area, centre = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2, (a + b + c) / 3
        area = area * (1.0 + 0.1 * mesh.materials)
        rows.append([area.sum(), *(area @ centre), *(area @ centre**2), *(mesh.normals.astype(np.float64).sum(axis=0))])
        if mesh.colors is not None:
            rows.append(mesh.colors.astype(np.float64).sum(axis=0).tolist())
    return rows


def fields_of(parts: object) -> list[list[float]]:
    """The numbers in dataclasses, field by field."""

    def flat(value: object) -> list[float]:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return [number for each in dataclasses.fields(value) for number in flat(getattr(value, each.name))]
        if isinstance(value, (bool, int, float, np.ndarray, tuple, list)):
            found = np.ravel(np.array(value, dtype=object)).tolist()
            return [float(number) for number in found if isinstance(number, (bool, int, float)) and np.isfinite(number)]
        return []

    return [flat(part) for part in parts]  # type: ignore[attr-defined]


def numbers_of(scene: Scene) -> list[float]:
    """Of shapes, places, cameras, lights and materials."""
    places = [[float(each.mesh), *np.ravel(each.transform).tolist(), each.material or 0] for each in scene.instances]
    parts = [fields_of(each) for each in (scene.cameras, scene.lights, scene.materials)]
    return [weighed(rows) for rows in (shapes_of(scene), places, *parts)]


@pytest.mark.parametrize("name", builtin.names())
def test_a_scene_is_as_it_was(name: str) -> None:
    """To a millionth: processors and builds of NumPy differ by rounding of a sine in float32, by 4e-7 of a sum, and
    a part of a building by more."""
    np.testing.assert_allclose(numbers_of(builtin.build(name)), VALUES[name], rtol=1e-6, atol=1e-9)
