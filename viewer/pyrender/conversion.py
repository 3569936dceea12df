"""A scene of pyrender as a value for the renderer. Unchanged parts are the same objects as in the last one, so that the
renderer redoes the changed ones only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.pyrender.constants import GLTF
from raystream.pyrender.eye import Eye
from raystream.pyrender.light import DirectionalLight, SpotLight
from raystream.pyrender.node import Node
from raystream.pyrender.primitive import Primitive, edges_of
from raystream.pyrender.scene import Scene
from raystream.pyrender.surfaces import Textures, flat, lit
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene as Converted

ONE = np.eye(4)[None]  # the pose of a mesh without copies
NARROWEST = 1e-3  # least angle between the cones of a spot, radians


@dataclass
class _CachedMesh:
    """A mesh with its number, which is its material's, too, and its sources: arrays, told apart by identity, and
    values."""

    mesh: Mesh
    number: int
    arrays: tuple[Any, ...]
    values: tuple[Any, ...]


class Conversion:
    """Conversions of a scene, one after the other.

    look : ``lit``; ``flat``, the materials' colours alone; ``solid``, opaque surfaces for rays alone. culled : the back
    faces of wireframes are left out. nodes : of each instance of the last scene.
    """

    def __init__(self, look: str, culled: bool = True) -> None:
        self.look, self.culled = look, culled
        self.nodes: list[Node] = []
        self._meshes: dict[Any, _CachedMesh] = {}
        self._textures = Textures()

    def __call__(
        self, scene: Scene, eye: Eye, point_size: float, wired: Callable[[bool], bool] = lambda wireframe: False
    ) -> Converted:
        """The scene, with points as squares of ``point_size`` pixels before the eye, and lines one pixel wide. wired :
        whether a material is drawn as edges, by its own ``wireframe``. Raises ViewerError for features that the
        renderer lacks."""
        self._textures.begin()
        before, self._meshes, self.nodes = self._meshes, {}, []
        instances, materials = [], []
        for node in scene.mesh_nodes:
            pose = scene.get_pose(node)
            mesh = node.mesh
            for primitive in mesh.primitives if mesh is not None and mesh.is_visible else ():
                if not len(primitive.positions):
                    continue
                wire = primitive.mode >= GLTF.TRIANGLES and wired(primitive.material.wireframe)
                thin = wire or primitive.mode < GLTF.TRIANGLES  # points and lines face the eye
                key = (primitive, node) if thin else primitive
                if key not in self._meshes:
                    culled = wire and self.culled and not primitive.material.doubleSided
                    view = (pose.tobytes(), eye.key, point_size, wire, culled) if thin else ()
                    arrays = (
                        *(
                            primitive.positions,
                            primitive.normals,
                            primitive.tangents,
                            primitive.texcoord_0,
                            primitive.texcoord_1,
                        ),
                        *(primitive.color_0, primitive.indices, primitive.poses if thin else None),
                    )
                    values, number, old = (primitive.mode, *view), len(self._meshes), before.get(key)
                    same = old is not None and old.number == number and old.values == values
                    if old is not None and same and all(a is b for a, b in zip(old.arrays, arrays, strict=True)):
                        self._meshes[key] = old
                    else:
                        geometry: tuple[NDArray, NDArray, NDArray | None, NDArray]
                        if primitive.mode == GLTF.POINTS:
                            geometry = _squares(primitive, pose, eye, point_size)
                        else:
                            geometry = _ribbons(primitive, pose, eye, culled) if thin else _triangles(primitive)
                        built = self._mesh(primitive, number, *geometry)
                        self._meshes[key] = _CachedMesh(built, number, arrays, values)
                    materials.append(self._material(primitive, thin))
                for copy in ONE if thin or primitive.poses is None else primitive.poses:
                    matrix = np.eye(4) if thin else pose @ copy
                    instances.append(Instance(self._meshes[key].number, matrix, name=node.name or ""))
                    self.nodes.append(node)
        return Converted(
            [entry.mesh for entry in self._meshes.values()],
            instances,
            materials or [Material()],
            lights=[_light(scene, node) for node in scene.light_nodes] if self.look == "lit" else [],
            name=scene.name or "scene",
            textures=self._textures.found,
        )

    def _mesh(
        self,
        primitive: Primitive,
        number: int,
        positions: NDArray,
        triangles: NDArray,
        normals: NDArray | None,
        vertices: NDArray,
    ) -> Mesh:
        """The mesh of a primitive's ``vertices`` (V,), which stand at ``positions`` (V, 3)."""
        colors, sets = primitive.color_0, [primitive.texcoord_0, primitive.texcoord_1]
        if self.look == "solid":
            colors, sets, normals = None, [None, None], None
        uvs = [
            None if texcoords is None else (texcoords * (1, -1) + (0, 1)).astype(np.float32)[vertices]
            for texcoords in sets
        ]
        tangents = primitive.tangents if self.look == "lit" else None
        return Mesh(
            positions,
            triangles,
            np.full(len(triangles), number, np.int32),
            normals,
            uvs[0],
            None if colors is None else colors[vertices],
            f"mesh {number}",
            uvs[1],
            None if tangents is None or len(vertices) != len(primitive.positions) else tangents,
        )

    def _material(self, primitive: Primitive, thin: bool) -> Material:
        culled = not primitive.material.doubleSided and not thin
        if self.look == "solid":
            return Material(backface_culling=culled)
        return (flat if self.look == "flat" else lit)(primitive, culled, self._textures)


def _triangles(primitive: Primitive) -> tuple[NDArray, NDArray, NDArray | None, NDArray]:
    """Positions, triangles, normals, and the vertices themselves."""
    triangles, count = primitive.triangles(), len(primitive.positions)
    if primitive.normals is None and primitive.indices is not None:  # flat: each corner is a vertex of its own
        vertices = triangles.reshape(-1)
        return primitive.positions[vertices], np.arange(len(vertices)).reshape(-1, 3), None, vertices
    return primitive.positions, triangles, primitive.normals, np.arange(count)


def _squares(
    primitive: Primitive, pose: NDArray, eye: Eye, point_size: float
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """World positions of four corners for each point, two triangles, normals, and the points' numbers: as the
    rasteriser draws points, upright before the eye, at the points' own depth."""
    places, normals = _placed(primitive, pose, eye)
    inside = (places - eye.pose[:3, 3]) @ np.linalg.inv(eye.pose[:3, :3]).T
    depth = np.ones(len(places)) if eye.parallel else np.abs(inside[:, 2])
    wide, tall = (side * point_size / 2 for side in eye.pixel)
    corners = np.array([(-wide, -tall), (wide, -tall), (wide, tall), (-wide, tall)])
    offsets = corners @ eye.pose[:3, :2].T
    numbers = np.arange(len(places)) % len(primitive.positions)
    positions = places[:, None] + depth[:, None, None] * offsets
    return positions.reshape(-1, 3), _quads(len(places)), np.repeat(normals, 4, axis=0), np.repeat(numbers, 4)


def _ribbons(primitive: Primitive, pose: NDArray, eye: Eye, culled: bool) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """As `_squares`, of lines and wireframes: one pixel wide before the eye, at the lines' own depth. culled : without
    the edges of triangles that are seen from behind alone."""
    places, normals = _placed(primitive, pose, eye)
    inside = (places - eye.pose[:3, 3]) @ np.linalg.inv(eye.pose[:3, :3]).T
    first = len(primitive.positions) * np.arange(len(places) // len(primitive.positions))[:, None, None]
    if culled:
        triangles = (first + primitive.triangles()).reshape(-1, 3)
        corners = inside[triangles]
        face_normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        back = [0.0, 0.0, 1.0] if eye.parallel else -corners[:, 0]
        pairs = edges_of(triangles[(face_normals * back).sum(axis=1) > 0])
    else:
        pairs = (first + primitive.segments()).reshape(-1, 2)
    ends = inside[pairs]
    if not eye.parallel:  # from the near plane on
        away = -ends[..., 2]
        pairs, ends, away = (array[(away > eye.near).any(axis=1)] for array in (pairs, ends, away))
        fall = away - away[:, ::-1]
        fraction = np.clip((away - eye.near) / np.where(fall == 0, 1.0, fall), 0, None) * (away < eye.near)
        ends = ends + fraction[..., None] * (ends[:, ::-1] - ends)
    scale = np.ones_like(ends[..., 2:]) if eye.parallel else np.maximum(-ends[..., 2:], 1e-9)
    directions = np.diff(ends[..., :2] / scale / eye.pixel, axis=1)[:, 0]
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    directions = np.where(lengths > 0, directions / np.where(lengths > 0, lengths, 1.0), [1.0, 0.0])
    offsets = (
        0.5 * np.stack([-directions[:, 1], directions[:, 0], np.zeros(len(directions))], axis=1) * [*eye.pixel, 0.0]
    )
    quads = np.concatenate([ends - scale * offsets[:, None], (ends + scale * offsets[:, None])[:, ::-1]], axis=1)
    positions = quads.reshape(-1, 3) @ eye.pose[:3, :3].T + eye.pose[:3, 3]
    order = pairs[:, [0, 1, 1, 0]].reshape(-1)
    return positions, _quads(len(pairs)), normals[order], order % len(primitive.positions)


def _placed(primitive: Primitive, pose: NDArray, eye: Eye) -> tuple[NDArray, NDArray]:
    """World positions and normals (N * V, 3) of the vertices of all copies; without normals they face the eye."""
    poses = pose @ (ONE if primitive.poses is None else primitive.poses)
    points = np.einsum("nij,vj->nvi", poses[:, :3, :3], primitive.positions.astype(np.float64)) + poses[:, None, :3, 3]
    places = points.reshape(-1, 3)
    if primitive.normals is None:
        back = eye.pose[:3, 2] if eye.parallel else eye.pose[:3, 3] - places
        normals = np.broadcast_to(back, places.shape)
    else:
        turns = np.linalg.inv(poses[:, :3, :3])
        normals = np.einsum("nji,vj->nvi", turns, primitive.normals.astype(np.float64)).reshape(-1, 3)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return places, normals / np.where(lengths > 0, lengths, 1)


def _quads(count: int) -> NDArray:
    """(2 * count, 3) vertex numbers: two triangles for every four corners."""
    return (4 * np.arange(count)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)


def _light(scene: Scene, node: Node) -> Light:
    """A light at its node's pose."""
    pose, light = scene.get_pose(node), node.light
    assert light is not None
    red, green, blue = (float(channel) * light.intensity for channel in light.color)
    color = red, green, blue
    place, ahead = tuple(map(float, pose[:3, 3])), tuple(map(float, -pose[:3, 2]))
    common: dict[str, Any] = {"name": light.name or node.name or "light", "position": place, "direction": ahead}
    if isinstance(light, SpotLight):
        outer = min(max(light.outerConeAngle, NARROWEST), math.pi / 2)
        return Light(
            "spot", intensity=color, inner=min(light.innerConeAngle, outer - NARROWEST / 2), outer=outer, **common
        )
    return Light("directional" if isinstance(light, DirectionalLight) else "point", intensity=color, **common)
