"""The built-in scenes: geometry, orientation, normals, counts, viewpoints, and numbers that pictures hang on."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections import Counter

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene import builtin
from raystream.scene.builtin.parts.shapes import Part, boxes, revolve, tube
from raystream.scene.builtin.parts.teapot import patches, teapot
from raystream.scene.builtin.teapotahedron import SOLIDS, solid
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

COUNTS = {"cornell": (38, 38), "teapotahedron": (22618, 22618), "forest": (1032768, 35768), "stadium": (64038, 64038)}
COUNTS |= {"balls": (31200, 3120), "glass_ball": (5, 5), "ring": (5, 5), "cornell_photons": (20, 20)}  # quadrics, too
QUADRICS = {"glass_ball": ["ball"], "ring": ["outside", "inside", "rim"]}
QUADRICS["cornell_photons"] = ["glass ball", "mirror ball"]
COUNTS |= {"chair": (33_404, 15_032), "palm_pc": (13_532, 11_612), "knife": (1_676, 1_676), "jet": (4_446, 4_446)}
COUNTS |= {"palace": (33_000, 13_950), "helicopter": (5_428, 5_428)}
COUNTS |= {"building": (1_511_124, 158_578), "hall": (146342, 38858), "prism": (16, 16), "sphere": (10_000, 10_000)}


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


def test_names_and_unknown_ones() -> None:
    photons = ["glass_ball", "ring", "cornell_photons", "hall", "prism", "sphere"]
    photons += ["chair", "palm_pc", "knife", "jet", "palace", "helicopter"]
    assert builtin.names() == ["cornell", "teapotahedron", "forest", "building", "stadium", "balls", *photons]
    with pytest.raises(
        ViewerError, match=r"no such built-in scene.*cornell, teapotahedron, forest, building, stadium, balls"
    ):
        builtin.build("kitchen")


def test_counts(scene) -> None:
    stored = sum(len(mesh.triangles) for mesh in scene.meshes)
    assert (scene.triangle_count, stored) == COUNTS[scene.name]
    quadrics = [mesh.name for mesh in scene.meshes if isinstance(mesh, Quadric)]
    assert quadrics == QUADRICS.get(scene.name, []) and scene.quadric_count == len(quadrics)


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


def test_viewpoints_are_named_once_and_stand_free(scene) -> None:
    names = [camera.name for camera in scene.cameras]
    assert len(set(names)) == len(names) >= 3
    assert scene.camera() is scene.cameras[0]
    middle, size = scene.bounds().mean(axis=0), np.ptp(scene.bounds(), axis=0).max()
    for camera in scene.cameras:
        assert np.linalg.norm(np.subtract(camera.origin, middle)) < 4 * size


def test_building_twice_gives_the_same_bits() -> None:
    for name in builtin.names():
        one, two = builtin.build(name), builtin.build(name)
        for a, b in zip(one.meshes, two.meshes, strict=True):
            np.testing.assert_array_equal(a.positions, b.positions)
            np.testing.assert_array_equal(a.normals, b.normals)
        for a, b in zip(one.instances, two.instances, strict=True):
            assert a.mesh == b.mesh
            np.testing.assert_array_equal(a.transform, b.transform)


@pytest.mark.parametrize(
    ("name", "corners", "faces"), list(zip(SOLIDS, (4, 8, 6, 20, 12), (4, 6, 8, 12, 20), strict=True))
)
def test_platonic_solids(name: str, corners: int, faces: int) -> None:
    part = solid(name)
    assert_closed(part)
    np.testing.assert_allclose(np.linalg.norm(part.positions, axis=1), 1, atol=1e-12)
    assert len(np.unique(np.round(part.positions, 9) + 0.0, axis=0)) == corners
    # As many planes as faces, all equally far from the middle, and the lowest one flat on the ground.
    normals = np.unique(np.round(part.normals, 9) + 0.0, axis=0)
    assert len(normals) == faces
    np.testing.assert_allclose((part.positions * part.normals).sum(axis=1), part.positions[:, 1].min() * -1, atol=1e-12)
    assert np.linalg.norm(normals - [0, -1, 0], axis=1).min() < 1e-8
    # Volumes for circumradius 1 (H. S. M. Coxeter, Regular Polytopes, 1973, table I).
    golden = (1 + 5**0.5) / 2
    known = {
        "tetrahedron": 8 * 3**0.5 / 27,
        "cube": 8 * 3**0.5 / 9,
        "octahedron": 4 / 3,
        "dodecahedron": 2 * 3**0.5 / 9 * (5 + 5**0.5),
        "icosahedron": 4 / 3 * golden**2 / (1 + golden**2) ** 1.5 * 5,
    }
    assert volume(part) == pytest.approx(known[name], rel=1e-12)


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


def test_teapot_lies_on_its_patches() -> None:
    """Points and normals against de Casteljau's algorithm and central differences, in float64."""

    def point(control: np.ndarray, u: float, v: float) -> np.ndarray:
        for t in (u, v):
            while len(control) > 1:
                control = (1 - t) * control[:-1] + t * control[1:]
            control = control[0]
        return control

    part = teapot(8)
    for control in patches():
        for u, v in ((0.375, 0.5), (0.125, 0.875)):
            exact = point(control, u, v)
            nearest = np.linalg.norm(part.positions - exact, axis=1).argmin()
            np.testing.assert_allclose(part.positions[nearest], exact, atol=1e-12)
            h = 1e-5
            du = point(control, u + h, v) - point(control, u - h, v)
            dv = point(control, u, v + h) - point(control, u, v - h)
            normal = np.cross(du, dv) / np.linalg.norm(np.cross(du, dv))
            # Central differences of a cubic: error h^2 of its third derivative.
            assert abs(normal @ part.normals[nearest]) == pytest.approx(1, abs=1e-8)


def test_teapot_poles_have_the_limit_normal() -> None:
    part = teapot(16)
    axis = np.hypot(part.positions[:, 0], part.positions[:, 2]) < 1e-9
    tops = part.normals[axis & (part.positions[:, 1] > 3)]
    bottoms = part.normals[axis & (part.positions[:, 1] < 0.1)]
    np.testing.assert_allclose(tops, [[0, 1, 0]], atol=1e-6)
    np.testing.assert_allclose(bottoms, [[0, -1, 0]], atol=1e-6)


def test_cornell_box_equals_the_published_file(shared_scenes) -> None:
    content = (shared_scenes / "cornell.glb").read_bytes()
    length = struct.unpack_from("<I", content, 12)[0]
    document, binary = json.loads(content[20 : 20 + length]), content[28 + length :]

    def read(number: int) -> np.ndarray:
        accessor = document["accessors"][number]
        view = document["bufferViews"][accessor["bufferView"]]
        kind = {5126: "<f4", 5125: "<u4", 5123: "<u2", 5121: "u1"}[accessor["componentType"]]
        width = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return np.frombuffer(binary, kind, accessor["count"] * width, start).reshape(-1, width)

    scene = builtin.build("cornell")
    assert [mesh.name for mesh in scene.meshes] == [mesh["name"] for mesh in document["meshes"]]
    for mesh, other in zip(scene.meshes, document["meshes"], strict=True):
        (primitive,) = other["primitives"]
        np.testing.assert_array_equal(mesh.positions, read(primitive["attributes"]["POSITION"]))
        np.testing.assert_array_equal(mesh.triangles, read(primitive["indices"]).reshape(-1, 3))
        # float32 rounding of two ways to make a unit vector
        np.testing.assert_allclose(mesh.normals, read(primitive["attributes"]["NORMAL"]), atol=1e-6)
        assert set(mesh.materials) == {primitive["material"]}
    for material, other in zip(scene.materials, document["materials"], strict=True):
        assert material.base_color == tuple(other["pbrMetallicRoughness"]["baseColorFactor"])
        strength = other["extensions"].get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
        emission = np.multiply(other.get("emissiveFactor", (0, 0, 0)), strength)
        np.testing.assert_allclose(material.emission, emission, rtol=1e-12)
    camera = scene.camera()
    assert camera.origin == (278, 273, -800)
    assert np.radians(camera.fov) == pytest.approx(document["cameras"][0]["perspective"]["yfov"], rel=1e-12)
    np.testing.assert_allclose(camera.basis()[2], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(camera.basis()[0], [-1, 0, 0], atol=1e-15)


def test_forest_trees_stand_on_the_ground_and_off_the_path() -> None:
    from raystream.scene.builtin.forest import FOOT, _height, _path

    scene = builtin.build("forest")
    feet = np.array([instance.transform[:3, 3] for instance in scene.instances[1:]])
    assert len(feet) == 2000
    np.testing.assert_allclose(feet[:, 1], _height(feet[:, 0], feet[:, 2]) - FOOT, atol=1e-12)
    assert np.abs(feet[:, 0] - _path(feet[:, 2])).min() > 2.5
    used = Counter(instance.mesh for instance in scene.instances[1:])
    assert len(used) == 6 and min(used.values()) > 40


def test_the_forest_has_the_published_proportions() -> None:
    """Purcell 2004, section 5.2.1: 581 x 128 x 581 voxels of equal sides."""
    box = np.ptp(builtin.build("forest").bounds(), axis=0)
    assert np.rint(128 * box / box.min()).tolist() == [581, 128, 581]


def test_the_building_has_the_published_proportions_and_large_and_small_triangles() -> None:
    """Purcell 2004, section 5.2.1: 250 x 198 x 128 voxels of equal sides, 1.5 million triangles."""
    scene = builtin.build("building")
    box = np.ptp(scene.bounds(), axis=0)
    assert np.rint(128 * box / box.min()).tolist() == [250, 128, 198]
    assert scene.triangle_count == pytest.approx(1.5e6, rel=0.01)
    seen = Counter(instance.mesh for instance in scene.instances)
    each = [np.linalg.norm(face_normals(mesh.positions, mesh.triangles), axis=1) / 2 for mesh in scene.meshes]
    areas = np.concatenate([np.tile(own, seen[number]) for number, own in enumerate(each)])
    assert np.median(areas) < 5e-3 and areas.max() > 100  # square metres: keys, books and castors; walls


def test_two_of_the_balls_are_mirrors() -> None:
    """Adinetz and Berezin 2006, figure 4: interreflections between two reflecting spheres."""
    scene = builtin.build("balls")
    mirrors = [material.name for material in scene.materials if material.reflectivity > 0.5]
    moving = [scene.materials[each.material].name for each in scene.instances[:2]]
    assert mirrors == moving and len(scene.lights) == 2


@pytest.mark.parametrize("viewpoint", ["front", "top"])
def test_the_rotor_is_seen_as_a_disc(viewpoint: str) -> None:
    """Its blades are all in the picture, and lie apart: seen edge-on they are one dark line from side to side."""
    scene, size = builtin.build("helicopter"), (512, 512)
    (rotor,) = (each for each in scene.instances if each.name == "rotor")
    blades = scene.meshes[rotor.mesh].positions @ rotor.transform[:3, :3].T + rotor.transform[:3, 3]
    (camera,) = (each for each in scene.cameras if each.name == viewpoint)
    places = camera.project(blades, size)
    assert (places > 0).all() and (places < size).all()
    width, height = np.ptp(places, axis=0)
    assert height > 0.2 * width


def test_the_hall_is_lit_through_its_openings_alone() -> None:
    """Nothing shines inside, and no ray from the nave's floor leaves through vault or walls but by an opening."""
    from raystream.scene.builtin.hall import RADIUS, SPRING

    scene = builtin.build("hall")
    assert not scene.lights and not any(any(material.emission) for material in scene.materials)
    flat = scene.flatten()
    corners = flat.positions[flat.triangles].astype(np.float64)
    rng = np.random.default_rng(3)
    starts = np.stack([rng.uniform(-3.5, 3.5, 16), np.full(16, 0.5), rng.uniform(-11, 18, 16)], axis=-1)
    for start in starts:
        a, b, c = (corners[:, k, [0, 2]] - start[[0, 2]] for k in range(3))
        areas = [p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0] for p, q in ((b, c), (c, a), (a, b))]
        over = np.sign(areas).min(axis=0) * np.sign(areas).max(axis=0) > 0
        heights = np.einsum("kt,tk->t", np.array(areas)[:, over], corners[over][..., 1]) / np.sum(areas, axis=0)[over]
        assert heights.max() == pytest.approx(SPRING + np.sqrt(RADIUS**2 - start[0] ** 2), abs=0.6)  # coffers, chords


def test_a_wall_is_open_where_it_should_be() -> None:
    """As much of its front is missing as the opening has, and its reveal looks into the opening."""
    from raystream.scene.builtin.hall import ARC, pierced_wall

    part = pierced_wall(4.0, 0.0, 6.0, 1.2, 0.9, 3.7, 0.8)
    normals = face_normals(part.positions, part.triangles)
    front = (normals[:, 2] > 0) & (part.positions[part.triangles][..., 2] == 0).all(axis=1)
    area = np.linalg.norm(normals[front], axis=1).sum() / 2
    arch = ARC / 2 * np.sin(np.pi / ARC) * 1.2**2  # of a polygon in a half circle
    assert area == pytest.approx(4.0 * 6.0 - 2.4 * 2.8 - arch, rel=1e-12)
    inside = np.abs(part.normals[:, 2]) < 0.5
    away = part.positions[inside, :2] - (0.0, 2.8)
    assert (away * part.normals[inside, :2]).sum(axis=1).max() < 0


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
