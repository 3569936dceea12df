"""Scenes: a forest of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.pyrender.camera import Camera
from raystream.pyrender.checked import Checked, color_vector, label
from raystream.pyrender.light import DirectionalLight, Light, PointLight, SpotLight
from raystream.pyrender.mesh import Mesh
from raystream.pyrender.node import Node
from raystream.pyrender.primitive import EMPTY, Bounded, bounds_at


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

    def _with(self, has: Callable[[Node], bool]) -> Set[Node]:
        return dict.fromkeys(node for node in self._parents if has(node)).keys()

    @property
    def nodes(self) -> Set[Node]:
        """All nodes."""
        return self._parents.keys()

    @property
    def mesh_nodes(self) -> Set[Node]:
        """Nodes with a mesh."""
        return self._with(lambda node: node.mesh is not None)

    @property
    def camera_nodes(self) -> Set[Node]:
        """Nodes with a camera."""
        return self._with(lambda node: node.camera is not None)

    @property
    def light_nodes(self) -> Set[Node]:
        """Nodes with a light."""
        return self._with(lambda node: node.light is not None)

    @property
    def point_light_nodes(self) -> Set[Node]:
        """Nodes with a `PointLight`."""
        return self._with(lambda node: isinstance(node.light, PointLight))

    @property
    def spot_light_nodes(self) -> Set[Node]:
        """Nodes with a `SpotLight`."""
        return self._with(lambda node: isinstance(node.light, SpotLight))

    @property
    def directional_light_nodes(self) -> Set[Node]:
        """Nodes with a `DirectionalLight`."""
        return self._with(lambda node: isinstance(node.light, DirectionalLight))

    @property
    def meshes(self) -> Set[Mesh]:
        """The meshes of nodes."""
        return dict.fromkeys(node.mesh for node in self._parents if node.mesh is not None).keys()

    @property
    def cameras(self) -> Set[Camera]:
        """The cameras of nodes."""
        return dict.fromkeys(node.camera for node in self._parents if node.camera is not None).keys()

    @property
    def lights(self) -> Set[Light]:
        """The lights of nodes."""
        return dict.fromkeys(node.light for node in self._parents if node.light is not None).keys()

    @property
    def point_lights(self) -> Set[PointLight]:
        """The point lights of nodes."""
        return dict.fromkeys(light for light in self.lights if isinstance(light, PointLight)).keys()

    @property
    def spot_lights(self) -> Set[SpotLight]:
        """The spot lights of nodes."""
        return dict.fromkeys(light for light in self.lights if isinstance(light, SpotLight)).keys()

    @property
    def directional_lights(self) -> Set[DirectionalLight]:
        """The directional lights of nodes."""
        return dict.fromkeys(light for light in self.lights if isinstance(light, DirectionalLight)).keys()

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
            objects = [item for item in (candidate.mesh, candidate.light, candidate.camera) if item is not None]
            return (
                (node is None or candidate is node)
                and (name is None or candidate.name == name)
                and (obj is None or any(item is obj for item in objects))
                and (obj_name is None or any(item.name == obj_name for item in objects))
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
