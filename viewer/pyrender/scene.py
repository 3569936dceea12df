"""Scenes: a forest of nodes, each an object and its pose beside its parent."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.pyrender.camera import Camera
from raystream.pyrender.checked import Checked, color_vector, label
from raystream.pyrender.light import DirectionalLight, Light, PointLight, SpotLight
from raystream.pyrender.mesh import EMPTY, Bounded, Mesh, bounds_at

T = TypeVar("T")


def _one_of(what: str, kind: type[T]) -> Checked[T | None]:
    """An object of that kind, or None; raises TypeError for another."""

    def read(value: Any) -> T | None:
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{what} is {type(value).__name__}, expected a {kind.__name__}")
        return value

    return Checked(read)


def _array(what: str, value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.array(value, np.float64)
    if array.shape != shape:
        raise ValueError(f"{what} has shape {array.shape}, expected {shape}")
    return array


class Node:
    """A mesh, camera or light at a pose: a ``matrix``, or ``translation`` after ``rotation`` (a unit quaternion x, y,
    z, w) after ``scale``. skin and weights are kept and without effect.

    Raises ValueError for shapes, a matrix that is not affine, and a quaternion that is not of unit length; TypeError
    for another object.
    """

    name = Checked(label)
    camera, mesh, light = _one_of("camera", Camera), _one_of("mesh", Mesh), _one_of("light", Light)  # type: ignore[type-abstract]

    def __init__(
        self,
        name: str | None = None,
        camera: Camera | None = None,
        children: list[Node] | None = None,
        skin: Any = None,
        matrix: ArrayLike | None = None,
        mesh: Mesh | None = None,
        rotation: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        translation: ArrayLike | None = None,
        weights: Any = None,
        light: Light | None = None,
    ) -> None:
        self.name, self.camera, self.mesh, self.light = name, camera, mesh, light
        self.children: list[Node] = [] if children is None else children
        self.skin, self.weights = skin, weights
        self._matrix = np.eye(4)
        if matrix is not None:
            self.matrix = matrix
            return
        for attribute, value in (("scale", scale), ("rotation", rotation), ("translation", translation)):
            if value is not None:
                setattr(self, attribute, value)

    @property
    def objects(self) -> list[Mesh | Light | Camera]:
        """Its mesh, light and camera, those of them that it has."""
        return [item for item in (self.mesh, self.light, self.camera) if item is not None]

    @property
    def matrix(self) -> NDArray[np.float64]:
        """(4, 4): to the parent's space; writes into it place the node elsewhere."""
        return self._matrix

    @matrix.setter
    def matrix(self, value: ArrayLike) -> None:
        array = _array("matrix", value, (4, 4))
        if not np.allclose(array[3], (0.0, 0.0, 0.0, 1.0)):
            raise ValueError(f"the last row of the matrix is {array[3].tolist()}, expected 0 0 0 1")
        self._matrix = array

    @property
    def translation(self) -> NDArray[np.float64]:
        """(3,), a copy."""
        return self._matrix[:3, 3].copy()

    @translation.setter
    def translation(self, value: ArrayLike) -> None:
        self._set(np.s_[:3, 3], _array("translation", value, (3,)))

    @property
    def scale(self) -> NDArray[np.float64]:
        """(3,): the lengths of the matrix's axes."""
        return np.linalg.norm(self._matrix[:3, :3], axis=0)

    @scale.setter
    def scale(self, value: ArrayLike) -> None:
        self._set(np.s_[:3, :3], self._turn() * _array("scale", value, (3,)))

    @property
    def rotation(self) -> NDArray[np.float64]:
        """(4,): the quaternion x, y, z, w of the matrix's axes, w not negative (Shepperd, Quaternion from Rotation
        Matrix, 1978)."""
        axes = self._turn()
        # Four times each component's product with each other one; the row of the largest is the most exact.
        outer = np.diag(4 * [1.0 - np.trace(axes)])
        outer[:3, :3] += axes + axes.T
        outer[3, :3] = outer[:3, 3] = axes[2, 1] - axes[1, 2], axes[0, 2] - axes[2, 0], axes[1, 0] - axes[0, 1]
        outer[3, 3] = 1.0 + np.trace(axes)
        quaternion = outer[np.diag(outer).argmax()]
        return quaternion / np.copysign(np.linalg.norm(quaternion), quaternion[3])

    @rotation.setter
    def rotation(self, value: ArrayLike) -> None:
        x, y, z, w = quaternion = _array("rotation", value, (4,))
        if abs(np.linalg.norm(quaternion) - 1.0) > 1e-3:
            raise ValueError(f"the quaternion's length is {np.linalg.norm(quaternion):g}, expected 1")
        x, y, z, w = quaternion / np.linalg.norm(quaternion)
        axes = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        self._set(np.s_[:3, :3], np.array(axes) * self.scale)

    def _set(self, index: Any, value: NDArray[np.float64]) -> None:
        """Another part of the matrix; an earlier `matrix` stays as it was."""
        self._matrix = self._matrix.copy()
        self._matrix[index] = value

    def _turn(self) -> NDArray[np.float64]:
        """(3, 3): the matrix's axes, of unit length."""
        lengths = self.scale
        return self._matrix[:3, :3] / np.where(lengths > 0, lengths, 1.0)


def _nodes_with(kind: Any) -> Any:
    """A property of a `Scene`: its nodes that have an object of a class."""

    def nodes(scene: Scene) -> Set[Node]:
        return dict.fromkeys(n for n in scene.nodes if any(isinstance(item, kind) for item in n.objects)).keys()

    return property(nodes, doc=f"Nodes with a `{kind.__name__}`.")


def _objects(kind: Any) -> Any:
    """A property of a `Scene`: the objects of its nodes that are of a class, each once."""

    def objects(scene: Scene) -> Set[Any]:
        return dict.fromkeys(item for n in scene.nodes for item in n.objects if isinstance(item, kind)).keys()

    return property(objects, doc=f"Each `{kind.__name__}` of the nodes.")


class Scene(Bounded):
    """Nodes, with a background and ambient light. Sets of nodes and objects keep the order in which they came.

    bg_color : (4,) RGBA as displayed, by default white. ambient_light : (3,) linear radiance from all sides.

    Raises ValueError for a node with two parents, and for one that is there already.
    """

    name = Checked(label)
    bg_color = Checked(lambda value: color_vector(np.ones(4) if value is None else value, 4))
    ambient_light = Checked(lambda value: color_vector(np.zeros(3) if value is None else value, 3))

    def __init__(
        self,
        nodes: Iterable[Node] | None = None,
        bg_color: Any = None,
        ambient_light: Any = None,
        name: str | None = None,
    ) -> None:
        self.bg_color, self.ambient_light, self.name = bg_color, ambient_light, name
        self.clear()
        members = list(nodes or ())
        children = [child for node in members for child in node.children]
        if len(set(children)) < len(children):
            raise ValueError("a node has more than one parent")
        for node in members:
            if node not in children:
                self.add_node(node)

    def clear(self) -> None:
        """Take all nodes out."""
        self._parents: dict[Node, Node | None] = {}
        self._main: Node | None = None

    # -- nodes and objects ---------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> Set[Node]:
        """All nodes."""
        return self._parents.keys()

    mesh_nodes: Set[Node] = _nodes_with(Mesh)
    camera_nodes: Set[Node] = _nodes_with(Camera)
    light_nodes: Set[Node] = _nodes_with(Light)
    point_light_nodes: Set[Node] = _nodes_with(PointLight)
    spot_light_nodes: Set[Node] = _nodes_with(SpotLight)
    directional_light_nodes: Set[Node] = _nodes_with(DirectionalLight)
    meshes: Set[Mesh] = _objects(Mesh)
    cameras: Set[Camera] = _objects(Camera)
    lights: Set[Light] = _objects(Light)
    point_lights: Set[PointLight] = _objects(PointLight)
    spot_lights: Set[SpotLight] = _objects(SpotLight)
    directional_lights: Set[DirectionalLight] = _objects(DirectionalLight)

    @property
    def main_camera_node(self) -> Node | None:
        """The node of the camera that is seen through: by default the first one's."""
        if self._main is None or self._main not in self._parents:
            self._main = next(iter(self.camera_nodes), None)
        return self._main

    @main_camera_node.setter
    def main_camera_node(self, node: Node) -> None:
        self._check(node)
        self._main = node

    def _check(self, node: Node) -> None:
        if node not in self._parents:
            raise ValueError(f"node {getattr(node, 'name', None) or ''} is not in the scene")

    # -- changes -------------------------------------------------------------------------------------------------------

    def add(
        self,
        obj: Mesh | Light | Camera,
        name: str | None = None,
        pose: ArrayLike | None = None,
        parent_node: Node | None = None,
        parent_name: str | None = None,
    ) -> Node:
        """The new node of a mesh, light or camera at a pose (4, 4), in the space of a parent that is there.

        Raises TypeError for another object, ValueError for a name that no node or several have.
        """
        for attribute, kind in (("mesh", Mesh), ("light", Light), ("camera", Camera)):
            if isinstance(obj, kind):
                node = Node(name=name, matrix=pose, **{attribute: obj})  # type: ignore[arg-type]
                break
        else:
            raise TypeError(f"expected a Mesh, Light or Camera, not {type(obj).__name__}")
        if parent_node is None and parent_name is not None:
            parents = self.get_nodes(name=parent_name)
            if len(parents) != 1:
                raise ValueError(f"{len(parents) or 'no'} nodes have the name {parent_name}")
            parent_node = parents.pop()
        self.add_node(node, parent_node)
        return node

    def add_node(self, node: Node, parent_node: Node | None = None) -> None:
        """Add a node with its children. Raises ValueError where it is there, or its parent is not."""
        if node in self._parents:
            raise ValueError(f"node {node.name or ''} is in the scene already")
        if parent_node is not None:
            self._check(parent_node)
            if node not in parent_node.children:
                parent_node.children.append(node)
        self._parents[node] = parent_node
        for child in node.children:
            self.add_node(child, node)

    def remove_node(self, node: Node) -> None:
        """Take a node with its children out. Raises ValueError where it is not there."""
        self._check(node)
        parent = self._parents[node]
        if parent is not None:
            parent.children.remove(node)
        pending = [node]
        while pending:
            removed = pending.pop()
            del self._parents[removed]
            pending += removed.children

    def has_node(self, node: Node) -> bool:
        """Whether a node is there."""
        return node in self._parents

    def get_nodes(
        self, node: Node | None = None, name: str | None = None, obj: Any = None, obj_name: str | None = None
    ) -> set[Node]:
        """The nodes to which all that is given applies."""

        def fits(candidate: Node) -> bool:
            return (
                (node is None or candidate is node)
                and (name is None or candidate.name == name)
                and (obj is None or any(item is obj for item in candidate.objects))
                and (obj_name is None or any(item.name == obj_name for item in candidate.objects))
            )

        return {candidate for candidate in self._parents if fits(candidate)}

    def get_pose(self, node: Node) -> NDArray[np.float64]:
        """(4, 4): a node's own space to the world. Raises ValueError where it is not there."""
        self._check(node)
        pose, parent = node.matrix.copy(), self._parents[node]
        while parent is not None:
            pose = parent.matrix @ pose
            parent = self._parents[parent]
        return pose

    def set_pose(self, node: Node, pose: ArrayLike) -> None:
        """Put a node at another pose (4, 4) beside its parent. Raises ValueError where it is not there."""
        self._check(node)
        node.matrix = pose

    # -- bounds --------------------------------------------------------------------------------------------------------

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner of all meshes; zeros without any."""
        mesh_bounds = [EMPTY]
        for node in self.mesh_nodes:
            box = node.mesh.bounds if node.mesh is not None else EMPTY
            if np.isfinite(box).all():
                mesh_bounds.append(bounds_at(box, self.get_pose(node)[None]))
        boxes = np.array(mesh_bounds)
        merged = np.array([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
        return merged if np.isfinite(merged).all() else np.zeros((2, 3))

    @staticmethod
    def from_trimesh_scene(trimesh_scene: Any, bg_color: Any = None, ambient_light: Any = None) -> Scene:
        """The scene of a ``trimesh.Scene``: every mesh once, a node for each of its nodes."""
        meshes = {name: Mesh.from_trimesh(mesh) for name, mesh in trimesh_scene.geometry.items()}
        scene = Scene(bg_color=bg_color, ambient_light=ambient_light)
        for node in trimesh_scene.graph.nodes_geometry:
            pose, name = trimesh_scene.graph[node]
            scene.add(meshes[name], pose=pose)
        return scene
