"""Animation: keyframe tracks over a hierarchy's nodes, evaluated for all nodes at once; the turntable.

Interpolation as in glTF 2.0 (Khronos, 2021, 3.11 and appendix C): steps, straight lines with spherical linear
quaternions (K. Shoemake, *Animating Rotation with Quaternion Curves*, 1985), and cubic Hermite splines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.scene.camera import Camera
from raystream.scene.deform import MeshPose
from raystream.scene.geometry.triangles import LARGEST_COORDINATE
from raystream.scene.hierarchy import Float, Hierarchy, Index, compose, levels, unit_quaternions, visible_nodes
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.texture import Texture

# Animated property of a node's transform -> numbers in a value.
PATHS = {"translation": 3, "rotation": 4, "scale": 3}
# Others: the weights of its mesh's morph targets, as many as these are, or one alone ("weights/3"); and whether it is
# visible, 0 or 1. Properties beside the nodes are JSON pointers ("/materials/0/alphaCutoff").
OTHER_PATHS = ("weights", "visible")
INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")

# Scale of instances that are not to be seen; the coordinates of rays in their space stay within float32.
_HIDDEN_SCALE = 2.0**-40

# Angle in radians between two quaternions below which sin(u a) / sin(a) is u to float64's last bit.
_MIN_SLERP_ANGLE = 1e-9


@dataclass(frozen=True)
class Track:
    """The keys of one property: of a node (`PATHS`, `OTHER_PATHS`), or of a JSON pointer's target.

    node   : -1 for properties beside the nodes.
    times  : (K,), seconds, rising, K > 0.
    values : (K, width), width 3, 4 for quaternions x y z w, or the number of morph targets; for CUBICSPLINE
             (K, 3, width): in-tangent, value, out-tangent, tangents per second.

    Raises ViewerError when path, interpolation and shapes do not fit.
    """

    node: int
    path: str
    times: NDArray
    values: NDArray
    interpolation: str = "LINEAR"

    def __post_init__(self) -> None:
        where = f"track of node {self.node}"
        pointer = self.path.startswith("/")
        if not pointer and self.path.partition("/")[0] not in (*PATHS, *OTHER_PATHS):
            raise ViewerError(where, f"moves '{self.path}'", f"known: {', '.join((*PATHS, *OTHER_PATHS))}")
        if self.interpolation not in INTERPOLATIONS:
            raise ViewerError(where, f"interpolation '{self.interpolation}'", f"known: {', '.join(INTERPOLATIONS)}")
        three = (3,) if self.interpolation == "CUBICSPLINE" else ()
        width = PATHS.get(self.path)
        width = np.shape(self.values)[-1] if width is None and np.ndim(self.values) else width
        shape = (np.size(self.times), *three, width)
        if np.ndim(self.times) != 1 or not np.size(self.times) or np.shape(self.values) != shape:
            shapes = f"{np.shape(self.times)} and {np.shape(self.values)}"
            raise ViewerError(where, f"times and values have shapes {shapes}", f"the values' should be {shape}")


@dataclass(frozen=True)
class Animation:
    """Tracks that play together, at most one per property of a node."""

    name: str
    tracks: tuple[Track, ...] = ()

    @property
    def duration(self) -> float:
        """Seconds from 0 to the last key of any track; 0 without tracks."""
        return max((float(track.times[-1]) for track in self.tracks), default=0.0)


def merge_animations(animations: Sequence[Animation]) -> Animation:
    """All of them at once; of two that move the same property the first does."""
    tracks: dict[tuple[int, str], Track] = {}
    for track in (track for animation in animations for track in animation.tracks):
        tracks.setdefault((track.node, track.path), track)
    return Animation("all", tuple(tracks.values()))


class Pose(NamedTuple):
    """A scene at a time.

    transforms : (I, 4, 4) float64 of its instances, object to world; `collapsed` where they are not shown.
    meshes     : the poses of deforming ones, by index. materials, textures : those that change, by index.
    """

    transforms: Float
    cameras: list[Camera]
    lights: list[Light]
    meshes: dict[int, MeshPose]
    materials: Mapping[int, Material] = {}
    textures: Mapping[int, Texture] = {}


class Properties(Protocol):
    """The parts of a scene beside its nodes, as functions of animated properties."""

    def materials(self, values: Mapping[str, Float]) -> tuple[dict[int, Material], dict[int, Texture]]:
        """Materials and textures that change, by index; values (width,) by the properties' paths."""

    def lights(self, values: Mapping[str, Float], lights: list[Light], shown: NDArray[np.bool_]) -> list[Light]:
        """The lights with their changes; shown (L,): on visible nodes."""

    def cameras(self, values: Mapping[str, Float], cameras: list[Camera]) -> list[Camera]:
        """The cameras with their changes."""


class Poser:
    """Evaluates one animation over one hierarchy; only moving nodes are computed."""

    def __init__(self, hierarchy: Hierarchy, animation: Animation) -> None:
        self.hierarchy, self.animation = hierarchy, animation
        self._batches = _batches(animation.tracks)
        animated = np.zeros(len(hierarchy.parents), bool)
        animated[[track.node for track in animation.tracks if track.path in PATHS]] = True
        self._animated = np.flatnonzero(animated)
        moves = animated.copy()
        by_depth = levels(hierarchy.parents)
        for level in by_depth[1:]:
            moves[level] |= moves[hierarchy.parents[level]]
        self._levels = [level[moves[level]] for level in by_depth]
        self._rest_world = hierarchy.world()
        toggled = np.zeros(len(hierarchy.parents), bool)
        toggled[[track.node for track in animation.tracks if track.path == "visible"]] = True
        self._visibility_animated = bool(toggled.any())
        self._by_depth = by_depth
        for level in by_depth[1:]:
            toggled[level] |= toggled[hierarchy.parents[level]]
        self.instances = np.union1d(
            _on_moving_nodes(hierarchy.instance_nodes, moves), _on_moving_nodes(hierarchy.owners, toggled)
        )
        self.cameras = _on_moving_nodes(hierarchy.camera_nodes, moves)
        self.lights = _on_moving_nodes(hierarchy.light_nodes, moves)

    def world(self, seconds: float) -> Float:
        """(N, 4, 4) float64: every node's transform to the world at a time; not finite on overflow."""
        nodes = self.hierarchy
        components = {"translation": nodes.translation, "rotation": nodes.rotation, "scale": nodes.scale}
        for path in components.keys() & self._batches.keys():
            batches = self._batches[path]
            components[path] = components[path].copy()
            for batch in batches:
                components[path][batch.nodes] = batch.at(seconds)
        local, animated = nodes.local, self._animated
        if len(animated):
            local = local.copy()
            local[animated] = compose(*(components[path][animated] for path in PATHS))
        world = self._rest_world.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            for depth, level in enumerate(self._levels):
                if len(level):
                    world[level] = world[nodes.parents[level]] @ local[level] if depth else local[level]
        return world

    def visible(self, seconds: float) -> NDArray[np.bool_]:
        """(N,): which nodes are shown at a time: those that are visible below nodes that are."""
        nodes = self.hierarchy
        visible = np.ones(len(nodes.parents), bool) if nodes.visible is None else nodes.visible.copy()
        for batch in self._batches.get("visible", ()):
            visible[batch.nodes] = batch.at(seconds)[:, 0] > 0.5
        return visible_nodes(visible, nodes.parents, self._by_depth)

    def values(self, seconds: float) -> dict[str, Float]:
        """The properties beside the nodes at a time: (width,) float64 by path."""
        return {path: batches[0].at(seconds)[0] for path, batches in self._batches.items() if path[0] == "/"}

    def pose(
        self,
        seconds: float,
        transforms: Float,
        cameras: Sequence[Camera],
        lights: Sequence[Light],
        properties: Properties | None = None,
    ) -> Pose:
        """The instances' transforms, the cameras and the lights at a time; unanimated ones unchanged.

        Instances beyond `LARGEST_COORDINATE` are `collapsed`: one that flies off does not end a film.
        """
        world = self.world(seconds)
        visible = self.visible(seconds) if self._visibility_animated else None
        instance_transforms = transforms.copy()
        instance_transforms[self.instances] = self._instance_transforms(world, visible)
        posed_cameras = list(cameras)
        for index in self.cameras.tolist():
            matrix = world[self.hierarchy.camera_nodes[index]]
            with suppress(ViewerError):  # a camera without a valid view keeps its place
                posed_cameras[index] = place_camera(posed_cameras[index], matrix)
        posed_lights = list(lights)
        for index in self.lights.tolist():
            matrix = world[self.hierarchy.light_nodes[index]]
            with suppress(ViewerError):
                posed_lights[index] = place_light(posed_lights[index], matrix)
        pose = Pose(instance_transforms, posed_cameras, posed_lights, self._mesh_poses(seconds, world))
        values = self.values(seconds)
        if properties is None or not (values or self._visibility_animated):
            return pose
        nodes = self.hierarchy.light_nodes
        is_visible = np.ones(len(lights), bool)
        if visible is not None:
            is_visible[: len(nodes)] = (nodes < 0) | visible[nodes]
        materials, textures = properties.materials(values)
        return pose._replace(
            cameras=properties.cameras(values, posed_cameras),
            lights=properties.lights(values, posed_lights, is_visible),
            materials=materials,
            textures=textures,
        )

    def _instance_transforms(self, world: Float, visible: NDArray[np.bool_] | None) -> Float:
        """The transforms (M, 4, 4), object to world, of the instances `self.instances`; those of hidden nodes, and
        those too far away, are `collapsed`. world : (N, 4, 4) of the nodes; visible : (N,), or None: all are."""
        nodes, offsets = self.hierarchy.instance_nodes[self.instances], self.hierarchy.offsets
        world_transforms = np.where((nodes >= 0)[:, None, None], world[nodes], np.eye(4))
        with np.errstate(over="ignore", invalid="ignore"):
            if offsets is not None:
                world_transforms = world_transforms @ offsets[self.instances]
        is_hidden = ~(np.abs(world_transforms) <= LARGEST_COORDINATE).all(axis=(1, 2))
        if visible is not None:
            is_hidden |= ~visible[self.hierarchy.owners[self.instances]]
        if is_hidden.any():
            world_transforms[is_hidden] = collapsed(world[self.hierarchy.owners[self.instances[is_hidden]]])
        return world_transforms

    def _mesh_poses(self, seconds: float, world: Float) -> dict[int, MeshPose]:
        """The pose of every deforming mesh by its index, as another animation may have posed it; world : (N, 4, 4) of
        the nodes. Meshes of one skin share its joint matrices."""
        weights: dict[int, Float] = {}
        for batch in self._batches.get("weights", ()):
            weights.update(zip(batch.nodes.tolist(), batch.at(seconds), strict=True))
        rest_weights = {deformer.node: deformer.weights for deformer in self.hierarchy.deformers}
        for path in (path for path in self._batches if path.startswith("weights/")):
            index = int(path.partition("/")[2])
            for batch in self._batches[path]:
                for node, value in zip(batch.nodes.tolist(), batch.at(seconds)[:, 0].tolist(), strict=True):
                    if node in rest_weights:
                        weights[node] = weights.get(node, rest_weights[node]).copy()
                        weights[node][index] = value
        skins: dict[int, Float] = {}
        poses = {}
        for deformer in self.hierarchy.deformers:
            if deformer.skin is None:
                joints = np.zeros((0, 4, 4))
            else:
                joints = skins.setdefault(id(deformer.skin), deformer.skin.matrices(world))
            mesh_weights = weights.get(deformer.node, deformer.weights)
            poses[deformer.mesh] = MeshPose(joints, mesh_weights[: len(deformer.weights)])
        return poses


def collapsed(transforms: Float) -> Float:
    """Transforms (N, 4, 4) that hide instances: they scale them until no ray hits them, at the origins that
    ``transforms`` (N, 4, 4) give them, or at the world's where those are too far.

    A structure of two levels takes them as any others, without a rebuild.
    """
    scaled = np.broadcast_to(np.diag([_HIDDEN_SCALE, _HIDDEN_SCALE, _HIDDEN_SCALE, 1.0]), transforms.shape).copy()
    origins = transforms[:, :3, 3]
    scaled[:, :3, 3] = np.where((np.abs(origins) <= LARGEST_COORDINATE).all(axis=1, keepdims=True), origins, 0.0)
    return scaled


def _on_moving_nodes(nodes: Index, moving: NDArray[np.bool_]) -> Index:
    """The indices (K,) of the objects whose node in ``nodes`` (-1: none) is one of ``moving`` (N,)."""
    return np.flatnonzero((nodes >= 0) & moving[nodes]) if len(moving) else np.zeros(0, np.int64)


class _Batch:
    """The tracks of one property and interpolation, in flat arrays; arrays shared by tracks are stored once."""

    def __init__(self, tracks: Sequence[Track], blend: Callable[..., Float]) -> None:
        self.nodes = np.array([track.node for track in tracks], np.int64)
        self._count = np.array([len(track.times) for track in tracks], np.int64)
        self._first_time, self._times = _concatenated([track.times for track in tracks])
        self._first_value, self._values = _concatenated([track.values for track in tracks])
        self._is_rotation = tracks[0].path == "rotation"
        self._blend = blend
        if self._is_rotation and tracks[0].interpolation != "CUBICSPLINE":
            self._values = unit_quaternions(self._values)
        self._rounds = int(self._count.max()).bit_length()

    def at(self, seconds: float) -> Float:
        """(C, width) float64: each track's value at a time, constant before the first and after the last key."""
        before = self._key_before(seconds)
        after = np.minimum(before + 1, self._count - 1)
        start = self._times[self._first_time + before]
        span = self._times[self._first_time + after] - start
        fraction = np.clip((seconds - start) / np.where(span > 0, span, 1.0), 0.0, 1.0)
        value = self._blend(
            self._values[self._first_value + before],
            self._values[self._first_value + after],
            fraction[:, None],
            span[:, None],
        )
        return unit_quaternions(value) if self._is_rotation else value

    def _key_before(self, seconds: float) -> Index:
        """The last key of each track at or before the time, or the first; one vectorised binary search.

        File times are float32; the time is rounded to float32, too, so that 3 / 30 s meets the key of 0.1 s.
        """
        time = float(np.float32(seconds))
        low, high = np.zeros(len(self._count), np.int64), self._count.copy()
        for _ in range(self._rounds):
            middle = np.minimum((low + high) // 2, self._count - 1)
            is_before = self._times[self._first_time + middle] <= time
            low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
        return np.maximum(low - 1, 0)


def _concatenated(arrays: Sequence[NDArray]) -> tuple[Index, Float]:
    """(index of each array's first row, the concatenation in float64); arrays given again are stored once."""
    start_of: dict[int, int] = {}
    unique: list[NDArray] = []
    length = 0
    for array in arrays:
        if id(array) not in start_of:
            start_of[id(array)] = length
            unique.append(array)
            length += len(array)
    return np.array([start_of[id(array)] for array in arrays], np.int64), np.concatenate(unique).astype(np.float64)


def _batches(tracks: Sequence[Track]) -> dict[str, list[_Batch]]:
    """By path, the batches of tracks that share interpolation and width."""
    groups: dict[tuple[str, str, int], list[Track]] = {}
    for track in tracks:
        groups.setdefault((track.path, track.interpolation, np.shape(track.values)[-1]), []).append(track)
    batches: dict[str, list[_Batch]] = {}
    for (path, interpolation, _), members in groups.items():
        linear = _blend_slerp if path == "rotation" else _blend_linear
        blend = {"STEP": _blend_step, "CUBICSPLINE": _blend_spline, "LINEAR": linear}
        batches.setdefault(path, []).append(_Batch(members, blend[interpolation]))
    return batches


# Values (C, width) between two keys: from those (C, width), of splines (C, 3, width), at the keys before and after a
# time, its fraction (C, 1) of the way between them, and their distance ``span`` (C, 1) in seconds.


def _blend_step(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    return before


def _blend_linear(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    return before * (1.0 - fraction) + after * fraction


def _blend_slerp(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    """Unit quaternions along the shorter arc (glTF 2.0, C.4)."""
    after = np.where((before * after).sum(axis=1, keepdims=True) < 0, -after, after)
    # From the half angle's tangent: the arc cosine of a product near 1 loses half the digits.
    difference, total = (np.sqrt(((before + sign * after) ** 2).sum(axis=1, keepdims=True)) for sign in (-1.0, 1.0))
    angle = 2.0 * np.arctan2(difference, total)
    is_small = angle < _MIN_SLERP_ANGLE
    sine = np.where(is_small, 1.0, np.sin(angle))
    first = np.where(is_small, 1.0 - fraction, np.sin((1.0 - fraction) * angle) / sine)
    second = np.where(is_small, fraction, np.sin(fraction * angle) / sine)
    return first * before + second * after


def _blend_spline(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    """A cubic Hermite spline through the values with the tangents times the seconds between keys (glTF 2.0, C.5)."""
    t = fraction
    t2, t3 = t * t, t * t * t
    start, out_tangent, in_tangent, end = before[:, 1], before[:, 2], after[:, 0], after[:, 1]
    with np.errstate(over="ignore", invalid="ignore"):  # the pose is checked as a whole
        return (
            (2 * t3 - 3 * t2 + 1) * start
            + span * (t3 - 2 * t2 + t) * out_tangent
            + (3 * t2 - 2 * t3) * end
            + span * (t3 - t2) * in_tangent
        )


def place_camera(camera: Camera, world: Float) -> Camera:
    """The camera at a node: view along the node's -Z, up along +Y (glTF 2.0, 3.10).

    world : (4, 4) float64. Raises ViewerError for a degenerate axis, and for a position so far away that one unit ahead
    rounds to the same point.
    """
    eye, up, back = world[:3, 3], world[:3, 1], world[:3, 2]
    largest = float(np.abs(back).max())
    if largest > 0:
        back = back / largest  # squares of huge and tiny numbers leave float64's range
        back = back / np.linalg.norm(back)
    return replace(camera, origin=_tuple3(eye), target=_tuple3(eye - back), up=_tuple3(up), motion=())


def place_light(light: Light, world: Float) -> Light:
    """The light at a node, along the node's -Z (KHR_lights_punctual). Raises ViewerError as `Light` does."""
    return replace(light, position=_tuple3(world[:3, 3]), direction=_tuple3(-world[:3, 2]), motion=())


def turntable(camera: Camera, bounds: ArrayLike, fraction: float) -> Camera:
    """The camera after a fraction of a turn about the vertical axis (+Y) through the scene's centre.

    bounds : (2, 3), the scene's lowest and highest corner. fraction : 0 and 1 are the camera itself, 0.25 is a quarter
    turn from +Z towards +X.
    """
    box = np.asarray(bounds, np.float64).reshape(2, 3)
    centre = (box[0] / 2 + box[1] / 2) * (1.0, 0.0, 1.0)
    rotation = _rotation(fraction)
    if fraction % 1.0 == 0.0:
        return camera
    origin, target = (rotation @ (np.subtract(point, centre)) + centre for point in (camera.origin, camera.target))
    return replace(camera, origin=_tuple3(origin), target=_tuple3(target), up=_tuple3(rotation @ camera.up), motion=())


def rotated_about(points: Float, centre: Float, fraction: float) -> Float:
    """Points (N, 3) after a fraction of a turn of `turntable` about the vertical axis through ``centre`` (3,)."""
    return np.asarray((points - centre) @ _rotation(fraction).T + centre)


def _rotation(fraction: float) -> Float:
    """(3, 3): the rotation about +Y, from +Z towards +X, by a fraction of a turn."""
    # Exact quarter turns: their cosines are not quite 0 in float64.
    quarter, remainder = divmod((fraction % 1.0) * 4.0, 1.0)
    c, s = math.cos(remainder * math.pi / 2), math.sin(remainder * math.pi / 2)
    for _ in range(int(quarter)):
        c, s = -s, c
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _tuple3(values: Float) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
