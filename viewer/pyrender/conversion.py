"""A scene of pyrender as a value for the renderer. Unchanged parts are the same objects as in the last one, so that the
renderer redoes the changed ones only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.pyrender.constants import GLTF
from viewer.pyrender.eye import Eye
from viewer.pyrender.light import DirectionalLight, SpotLight
from viewer.pyrender.node import Node
from viewer.pyrender.primitive import Primitive, edges_of
from viewer.pyrender.scene import Scene
from viewer.pyrender.surfaces import Textures, flat, lit
from viewer.scene.light import Light
from viewer.scene.material import Material
from viewer.scene.mesh import Instance, Mesh
from viewer.scene.scene import Scene as Converted

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

    look : ``lit``; ``flat``, the materials' colours alone; ``solid``, opaque surfaces for rays alone. culled : the back
    faces of wireframes are left out. nodes : of each instance of the last scene.
    """

    def __init__(self, look: str, culled: bool = True) -> None:
        self.look, self.culled = look, culled
        self.nodes: list[Node] = []
        self._made: dict[Any, _Made] = {}
        self._textures = Textures()

    def __call__(
        self, scene: Scene, eye: Eye, point_size: float, wired: Callable[[bool], bool] = lambda own: False
    ) -> Converted:
        """The scene, with points as squares of ``point_size`` pixels before the eye, and lines one pixel wide. wired :
        whether a material is drawn as edges, by its own ``wireframe``. Raises ViewerError for features that the
        renderer lacks."""
        self._textures.begin()
        before, self._made, self.nodes = self._made, {}, []
        instances, materials = [], []
        for node in scene.mesh_nodes:
            pose = scene.get_pose(node)
            mesh = node.mesh
            for given in mesh.primitives if mesh is not None and mesh.is_visible else ():
                if not len(given.positions):
                    continue
                wire = given.mode >= GLTF.TRIANGLES and wired(given.material.wireframe)
                thin = wire or given.mode < GLTF.TRIANGLES  # points and lines face the eye
                key = (given, node) if thin else given
                if key not in self._made:
                    culled = wire and self.culled and not given.material.doubleSided
                    view = (pose.tobytes(), eye.key, point_size, wire, culled) if thin else ()
                    arrays = (
                        *(given.positions, given.normals, given.tangents, given.texcoord_0, given.texcoord_1),
                        *(given.color_0, given.indices, given.poses if thin else None),
                    )
                    values, number, old = (given.mode, *view), len(self._made), before.get(key)
                    same = old is not None and old.number == number and old.values == values
                    if old is not None and same and all(a is b for a, b in zip(old.arrays, arrays, strict=True)):
                        self._made[key] = old
                    else:
                        made: tuple[NDArray, NDArray, NDArray | None, NDArray]
                        if given.mode == GLTF.POINTS:
                            made = _squares(given, pose, eye, point_size)
                        else:
                            made = _ribbons(given, pose, eye, culled) if thin else _triangles(given)
                        built = self._mesh(given, number, *made)
                        self._made[key] = _Made(built, number, arrays, values)
                    materials.append(self._material(given, thin))
                for copy in ONE if thin or given.poses is None else given.poses:
                    matrix = np.eye(4) if thin else pose @ copy
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

    def _material(self, given: Primitive, thin: bool) -> Material:
        culled = not given.material.doubleSided and not thin
        if self.look == "solid":
            return Material(backface_culling=culled)
        return (flat if self.look == "flat" else lit)(given, culled, self._textures)


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
    places, normals = _placed(given, pose, eye)
    inside = (places - eye.pose[:3, 3]) @ np.linalg.inv(eye.pose[:3, :3]).T
    depth = np.ones(len(places)) if eye.parallel else np.abs(inside[:, 2])
    wide, tall = (side * point_size / 2 for side in eye.pixel)
    corners = np.array([(-wide, -tall), (wide, -tall), (wide, tall), (-wide, tall)])
    offsets = corners @ eye.pose[:3, :2].T
    numbers = np.arange(len(places)) % len(given.positions)
    positions = places[:, None] + depth[:, None, None] * offsets
    return positions.reshape(-1, 3), _quads(len(places)), np.repeat(normals, 4, axis=0), np.repeat(numbers, 4)


def _ribbons(given: Primitive, pose: NDArray, eye: Eye, culled: bool) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """As `_squares`, of lines and wireframes: one pixel wide before the eye, at the lines' own depth. culled : without
    the edges of triangles that are seen from behind alone."""
    places, normals = _placed(given, pose, eye)
    inside = (places - eye.pose[:3, 3]) @ np.linalg.inv(eye.pose[:3, :3]).T
    first = len(given.positions) * np.arange(len(places) // len(given.positions))[:, None, None]
    if culled:
        triangles = (first + given.triangles()).reshape(-1, 3)
        corners = inside[triangles]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        back = [0.0, 0.0, 1.0] if eye.parallel else -corners[:, 0]
        pairs = edges_of(triangles[(across * back).sum(axis=1) > 0])
    else:
        pairs = (first + given.segments()).reshape(-1, 2)
    ends = inside[pairs]
    if not eye.parallel:  # from the near plane on
        away = -ends[..., 2]
        pairs, ends, away = (each[(away > eye.near).any(axis=1)] for each in (pairs, ends, away))
        fall = away - away[:, ::-1]
        share = np.clip((away - eye.near) / np.where(fall == 0, 1.0, fall), 0, None) * (away < eye.near)
        ends = ends + share[..., None] * (ends[:, ::-1] - ends)
    scale = np.ones_like(ends[..., 2:]) if eye.parallel else np.maximum(-ends[..., 2:], 1e-9)
    along = np.diff(ends[..., :2] / scale / eye.pixel, axis=1)[:, 0]
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    along = np.where(lengths > 0, along / np.where(lengths > 0, lengths, 1.0), [1.0, 0.0])
    aside = 0.5 * np.stack([-along[:, 1], along[:, 0], np.zeros(len(along))], axis=1) * [*eye.pixel, 0.0]
    quads = np.concatenate([ends - scale * aside[:, None], (ends + scale * aside[:, None])[:, ::-1]], axis=1)
    positions = quads.reshape(-1, 3) @ eye.pose[:3, :3].T + eye.pose[:3, 3]
    order = pairs[:, [0, 1, 1, 0]].reshape(-1)
    return positions, _quads(len(pairs)), normals[order], order % len(given.positions)


def _placed(given: Primitive, pose: NDArray, eye: Eye) -> tuple[NDArray, NDArray]:
    """World positions and normals (N * V, 3) of the vertices of all copies; without normals they face the eye."""
    poses = pose @ (ONE if given.poses is None else given.poses)
    points = np.einsum("nij,vj->nvi", poses[:, :3, :3], given.positions.astype(np.float64)) + poses[:, None, :3, 3]
    places = points.reshape(-1, 3)
    if given.normals is None:
        back = eye.pose[:3, 2] if eye.parallel else eye.pose[:3, 3] - places
        normals = np.broadcast_to(back, places.shape)
    else:
        turns = np.linalg.inv(poses[:, :3, :3])
        normals = np.einsum("nji,vj->nvi", turns, given.normals.astype(np.float64)).reshape(-1, 3)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return places, normals / np.where(lengths > 0, lengths, 1)


def _quads(count: int) -> NDArray:
    """(2 * count, 3) vertex numbers: two triangles for every four corners."""
    return (4 * np.arange(count)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)


def _light(scene: Scene, node: Node) -> Light:
    """A light at its node's pose."""
    pose, given = scene.get_pose(node), node.light
    assert given is not None
    red, green, blue = (float(each) * given.intensity for each in given.color)
    color = red, green, blue
    place, ahead = tuple(map(float, pose[:3, 3])), tuple(map(float, -pose[:3, 2]))
    common: dict[str, Any] = {"name": given.name or node.name or "light", "position": place, "direction": ahead}
    if isinstance(given, SpotLight):
        outer = min(max(given.outerConeAngle, NARROWEST), math.pi / 2)
        return Light(
            "spot", intensity=color, inner=min(given.innerConeAngle, outer - NARROWEST / 2), outer=outer, **common
        )
    return Light("directional" if isinstance(given, DirectionalLight) else "point", intensity=color, **common)
