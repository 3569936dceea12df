"""Objects of raystream.pyrender: poses, projections, textures, primitives, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from rasteriser import at, box

from raystream.pyrender import (
    GLTF,
    DirectionalLight,
    IntrinsicsCamera,
    Light,
    Mesh,
    MetallicRoughnessMaterial,
    Node,
    OrthographicCamera,
    PerspectiveCamera,
    Primitive,
    Scene,
)
from raystream.pyrender.conversion import Conversion, Eye


@pytest.mark.parametrize("angle", [0.0, 0.3, 2.0, np.pi, 4.5])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0.6, 0.8), (-0.48, 0.6, 0.64)])
def test_rotations(axis, angle):
    """A quaternion turns by its angle about its axis (Rodrigues' formula), and the matrix gives it back."""
    axis = np.array(axis, float)
    quaternion = np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))
    node = Node(rotation=quaternion, scale=[1, 2, 3], translation=[4, 5, 6])
    for k, vector in enumerate(np.eye(3)):
        turned = np.cos(angle) * vector + np.sin(angle) * np.cross(axis, vector)
        turned = turned + (1 - np.cos(angle)) * axis * (axis @ vector)
        np.testing.assert_allclose(node.matrix[:3, k], (k + 1) * turned, atol=1e-12)
    found = Node(matrix=node.matrix)
    assert abs(found.rotation @ quaternion) == pytest.approx(1) and found.rotation[3] >= 0
    np.testing.assert_allclose(found.scale, [1, 2, 3])
    np.testing.assert_allclose(found.translation, [4, 5, 6])
    found.scale = [2, 2, 2]
    np.testing.assert_allclose(np.linalg.norm(found.matrix[:3, :3], axis=0), 2)
    assert abs(found.rotation @ quaternion) == pytest.approx(1)


def test_poses_of_children():
    scene, parent, child = Scene(), Node(matrix=at(1, 0, 0, (0, 0, np.pi / 2))), Node(translation=[1, 0, 0], mesh=box())
    parent.children.append(child)
    scene.add_node(parent)
    assert scene.nodes == {parent, child} and scene.mesh_nodes == {child}
    np.testing.assert_allclose(scene.get_pose(child)[:3, 3], [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(scene.bounds, [[0.5, 0.5, -0.5], [1.5, 1.5, 0.5]], atol=1e-7)
    again = Scene(nodes=[child, parent])
    assert again.get_pose(child)[1, 3] == pytest.approx(1)
    with pytest.raises(ValueError, match="more than one parent"):
        Scene(nodes=[parent, Node(children=[child]), child])
    for act in (lambda: scene.add_node(child), lambda: scene.get_pose(Node()), lambda: scene.set_pose(None, np.eye(4))):
        with pytest.raises(ValueError, match=r"^node .*in the scene"):
            act()


def test_projections():
    """A point on the edge of the view is at the edge of clip space; the planes are at its ends."""
    near, far = 0.5, 20.0
    camera = PerspectiveCamera(np.pi / 2, near, far, aspectRatio=1.5)
    clip = camera.get_projection_matrix() @ np.array([[1.5, 1, -1, 1], [0, 0, -near, 1], [0, 0, -far, 1]]).T
    np.testing.assert_allclose((clip / clip[3])[:2, 0], 1)
    np.testing.assert_allclose((clip / clip[3])[2, 1:], [-1, 1])
    camera.zfar = None
    clip = camera.get_projection_matrix() @ np.array([0, 0, -near, 1])
    assert clip[2] / clip[3] == pytest.approx(-1)
    clip = OrthographicCamera(9.0, 2.0).get_projection_matrix(300, 200) @ [3, 2, -0.05, 1]
    np.testing.assert_allclose(clip, [1, 1, -1, 1], atol=1e-12)
    assert OrthographicCamera(4.0, 2.0).get_projection_matrix()[0, 0] == 0.25
    camera = IntrinsicsCamera(fx=100, fy=120, cx=30, cy=20)
    clip = camera.get_projection_matrix(200, 100) @ [0.5, -0.25, -1, 1]  # at pixel (80, 50)
    np.testing.assert_allclose(clip[:2] / clip[3], [80 / 100 - 1, 1 - 50 / 50], atol=1e-12)


def test_triangles_of_modes():
    corners = np.zeros((5, 3))
    made = {mode: Primitive(corners, mode=mode).triangles().tolist() for mode in range(7)}
    assert made[GLTF.TRIANGLES] == [[0, 1, 2]] and made[GLTF.TRIANGLE_FAN] == [[0, 1, 2], [0, 2, 3], [0, 3, 4]]
    assert made[GLTF.TRIANGLE_STRIP] == [[0, 1, 2], [1, 3, 2], [2, 3, 4]]
    assert not any(made[mode] for mode in range(4))


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: PerspectiveCamera(1.0, 0.5, 0.5), ValueError, "zfar is 0.5, expected a number above znear, 0.5"),
        (lambda: PerspectiveCamera(1.0).get_projection_matrix(), ValueError, "needs the picture's width and height"),
        (Light, TypeError, "a DirectionalLight, a PointLight or a SpotLight"),
        (
            lambda: MetallicRoughnessMaterial(alphaMode="CLEAR"),
            ValueError,
            "alphaMode is 'CLEAR', expected one of OPAQUE",
        ),
        (
            lambda: Primitive(np.zeros((2, 3)), normals=np.zeros(3)),
            ValueError,
            r"normals have shape \(3,\), expected \(2, 3\)",
        ),
        (lambda: Primitive([], material=np.zeros(3)), TypeError, "material is ndarray, expected a Material"),
        (lambda: Node(matrix=5 * np.eye(4)), ValueError, "the last row of the matrix"),
        (lambda: Node(mesh=DirectionalLight()), TypeError, "mesh is DirectionalLight, expected a Mesh"),
        (lambda: Scene().add(None), TypeError, "not NoneType"),
        (lambda: Scene().add(Mesh([]), parent_name="none"), ValueError, "no nodes have the name none"),
    ],
)
def test_what_is_refused(make, kind, words):
    """In one line that names the value."""
    with pytest.raises(kind, match=words) as fault:
        make()
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("smooth", [True, False])
def test_attributes_of_a_primitive_come_to_its_mesh(smooth):
    """Vertex by vertex; a flat one's corners are vertices of their own, of which a file's tangents are not."""
    random = np.random.default_rng(6)
    indices = np.array([[0, 1, 2], [2, 1, 3]])
    given = {name: random.random((4, size)) for name, size in (("texcoord_0", 2), ("texcoord_1", 2), ("color_0", 4))}
    tangents = np.array([[1.0, 0, 0, 1], [0, 1, 0, -1], [0, 0, 1, 1], [-1, 0, 0, 1]])
    normals = np.array([[0.0, 0, 1]] * 4) if smooth else None
    primitive = Primitive(random.random((4, 3)), normals, tangents, **given, indices=indices)
    scene = Scene()
    scene.add(Mesh([primitive]))
    eye = Eye(np.eye(4), PerspectiveCamera(1.0).get_projection_matrix(8, 8), 0.0, np.inf, (8, 8))
    made = {look: Conversion(look)(scene, eye, 1.0).meshes[0] for look in ("lit", "flat", "solid")}
    rows = np.arange(4) if smooth else indices.ravel()
    for look in ("lit", "flat"):
        mesh = made[look]
        np.testing.assert_allclose(mesh.positions, primitive.positions[rows])
        np.testing.assert_allclose(mesh.uvs, (given["texcoord_0"] * (1, -1) + (0, 1))[rows], atol=1e-6)
        np.testing.assert_allclose(mesh.uvs_1, (given["texcoord_1"] * (1, -1) + (0, 1))[rows], atol=1e-6)
        np.testing.assert_allclose(mesh.colors, given["color_0"][rows], atol=1e-6)
        assert (mesh.normals is not None) is smooth
        assert (mesh.tangents is not None) is (smooth and look == "lit")
    if smooth:
        np.testing.assert_array_equal(made["lit"].tangents, tangents)
    bare = made["solid"]
    assert [bare.uvs, bare.uvs_1, bare.colors, bare.tangents, bare.normals] == [None] * 5
