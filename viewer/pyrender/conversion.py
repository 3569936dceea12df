"""A scene of pyrender as a value for the renderer. Unchanged parts are the same objects as in the last one, so that the
renderer redoes the changed ones only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.pyrender.constants import GLTF
from viewer.pyrender.eye import Eye
from viewer.pyrender.light import DirectionalLight, SpotLight
from viewer.pyrender.node import Node
from viewer.pyrender.primitive import Primitive
from viewer.pyrender.scene import Scene
from viewer.pyrender.surfaces import Textures, flat, lit, solid
from viewer.scene.light import Light
from viewer.scene.material import Material
from viewer.scene.mesh import Instance, Mesh
from viewer.scene.scene import Scene as Converted
from viewer.scene.texture import linear_from_srgb

ONE = np.eye(4)[None]  # the pose of a mesh without copies
NARROWEST = 1e-3  # least angle between the cones of a spot, radians


@dataclass
class _Made:
    """A mesh with its number, which is its material's, too, and its sources: arrays, told apart by identity, and
    values."""

    mesh: Mesh
    number: int
    arrays: tuple[Any, ...]
    values: tuple[Any, ...]


class Conversion:
    """Conversions of a scene, one after the other.

    look : ``lit``; ``flat``, the materials' colours alone; ``solid``, opaque surfaces for rays alone.
    nodes : of each instance of the last scene.
    """

    def __init__(self, look: str) -> None:
        self.look = look
        self.nodes: list[Node] = []
        self._made: dict[Any, _Made] = {}
        self._textures = Textures()

    def __call__(self, scene: Scene, eye: Eye, point_size: float) -> Converted:
        """The scene, with points as squares of ``point_size`` pixels before the eye. Raises ViewerError for lines, and
        for features that the renderer lacks."""
        self._textures.begin()
        before, self._made, self.nodes = self._made, {}, []
        instances, materials = [], []
        for node in scene.mesh_nodes:
            pose = scene.get_pose(node)
            for given in node.mesh.primitives if node.mesh.is_visible else ():
                if GLTF.POINTS < given.mode < GLTF.TRIANGLES:
                    raise ViewerError(
                        f"mesh {node.mesh.name or node.name or ''}", "lines cannot be traced", "give them thickness"
                    )
                if not len(given.positions):
                    continue
                squares = given.mode == GLTF.POINTS
                key = (given, node) if squares else given
                if key not in self._made:
                    view = (pose.tobytes(), eye.key, point_size) if squares else ()
                    arrays = (
                        *(given.positions, given.normals, given.tangents, given.texcoord_0, given.texcoord_1),
                        *(given.color_0, given.indices, given.poses if squares else None),
                    )
                    values, number, old = (given.mode, *view), len(self._made), before.get(key)
                    same = old is not None and old.number == number and old.values == values
                    if old is not None and same and all(a is b for a, b in zip(old.arrays, arrays, strict=True)):
                        self._made[key] = old
                    else:
                        made = _squares(given, pose, eye, point_size) if squares else _triangles(given)
                        mesh = self._mesh(given, number, *made)
                        self._made[key] = _Made(mesh, number, arrays, values)
                    materials.append(self._material(given))
                for copy in ONE if squares or given.poses is None else given.poses:
                    matrix = np.eye(4) if squares else pose @ copy
                    instances.append(Instance(self._made[key].number, matrix, name=node.name or ""))
                    self.nodes.append(node)
        return Converted(
            [each.mesh for each in self._made.values()],
            instances,
            materials or [Material()],
            lights=[_light(scene, node) for node in scene.light_nodes] if self.look == "lit" else [],
            name=scene.name or "scene",
            textures=self._textures.found,
        )

    def _mesh(
        self,
        given: Primitive,
        number: int,
        positions: NDArray,
        triangles: NDArray,
        normals: NDArray | None,
        vertices: NDArray,
    ) -> Mesh:
        """The mesh of a primitive's ``vertices`` (V,), which stand at ``positions`` (V, 3)."""
        colors, sets = given.color_0, [given.texcoord_0, given.texcoord_1]
        if colors is not None and self.look == "flat":
            colors = colors.copy()
            colors[:, :3] = linear_from_srgb(np.clip(colors[:, :3], 0, 1).astype(np.float64))
        if self.look == "solid":
            colors, sets, normals = None, [None, None], None
        uvs = [None if own is None else (own * (1, -1) + (0, 1)).astype(np.float32)[vertices] for own in sets]
        tangents = given.tangents if self.look == "lit" else None
        return Mesh(
            positions,
            triangles,
            np.full(len(triangles), number, np.int32),
            normals,
            uvs[0],
            None if colors is None else colors[vertices],
            f"mesh {number}",
            uvs[1],
            None if tangents is None or len(vertices) != len(given.positions) else tangents,
        )

    def _material(self, given: Primitive) -> Material:
        if self.look == "solid":
            return solid(given)
        return (flat if self.look == "flat" else lit)(given, self._textures)


def _triangles(given: Primitive) -> tuple[NDArray, NDArray, NDArray | None, NDArray]:
    """Positions, triangles, normals, and the vertices themselves."""
    triangles, count = given.triangles(), len(given.positions)
    if given.normals is None and given.indices is not None:  # flat: each corner is a vertex of its own
        vertices = triangles.reshape(-1)
        return given.positions[vertices], np.arange(len(vertices)).reshape(-1, 3), None, vertices
    return given.positions, triangles, given.normals, np.arange(count)


def _squares(given: Primitive, pose: NDArray, eye: Eye, point_size: float) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """World positions of four corners for each point, two triangles, normals, and the points' numbers: as the
    rasteriser draws points, upright before the eye, at the points' own depth."""
    poses = pose @ (ONE if given.poses is None else given.poses)
    points = np.einsum("nij,vj->nvi", poses[:, :3, :3], given.positions.astype(np.float64)) + poses[:, None, :3, 3]
    places = points.reshape(-1, 3)
    inside = (places - eye.pose[:3, 3]) @ np.linalg.inv(eye.pose[:3, :3]).T
    depth = np.ones(len(places)) if eye.parallel else np.abs(inside[:, 2])
    wide, tall = (side * point_size / 2 for side in eye.pixel)
    corners = np.array([(-wide, -tall), (wide, -tall), (wide, tall), (-wide, tall)])
    offsets = corners @ eye.pose[:3, :2].T
    if given.normals is None:
        back = eye.pose[:3, 2] if eye.parallel else eye.pose[:3, 3] - places
        normals = np.broadcast_to(back, places.shape)
    else:
        turns = np.linalg.inv(poses[:, :3, :3])
        normals = np.einsum("nji,vj->nvi", turns, given.normals.astype(np.float64)).reshape(-1, 3)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0, lengths, 1)
    numbers = np.tile(np.arange(len(given.positions)), len(poses))
    triangles = 4 * np.arange(len(places))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    positions = places[:, None] + depth[:, None, None] * offsets
    return positions.reshape(-1, 3), triangles.reshape(-1, 3), np.repeat(normals, 4, axis=0), np.repeat(numbers, 4)


def _light(scene: Scene, node: Node) -> Light:
    """A light at its node's pose."""
    pose, given = scene.get_pose(node), node.light
    color = tuple(float(each) * given.intensity for each in given.color)
    place, ahead = tuple(map(float, pose[:3, 3])), tuple(map(float, -pose[:3, 2]))
    common: dict[str, Any] = {"name": given.name or node.name or "light", "position": place, "direction": ahead}
    if isinstance(given, SpotLight):
        outer = min(max(given.outerConeAngle, NARROWEST), math.pi / 2)
        return Light(
            "spot", intensity=color, inner=min(given.innerConeAngle, outer - NARROWEST / 2), outer=outer, **common
        )
    return Light("directional" if isinstance(given, DirectionalLight) else "point", intensity=color, **common)
