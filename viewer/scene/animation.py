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
_UNSEEN = 2.0**-40

# Angle in radians between two quaternions below which sin(u a) / sin(a) is u to float64's last bit.
_CLOSE = 1e-9


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


def merged(animations: Sequence[Animation]) -> Animation:
    """All of them at once; of two that move the same property the first does."""
    tracks: dict[tuple[int, str], Track] = {}
    for track in (track for animation in animations for track in animation.tracks):
        tracks.setdefault((track.node, track.path), track)
    return Animation("all", tuple(tracks.values()))


class Pose(NamedTuple):
    """A scene at a time.

    transforms : (I, 4, 4) float64 of its instances, object to world; `hidden` where they are not shown.
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
        moving = animated.copy()
        by_depth = levels(hierarchy.parents)
        for level in by_depth[1:]:
            moving[level] |= moving[hierarchy.parents[level]]
        self._levels = [level[moving[level]] for level in by_depth]
        self._rest = hierarchy.world()
        shown = np.zeros(len(hierarchy.parents), bool)
        shown[[track.node for track in animation.tracks if track.path == "visible"]] = True
        self._fading = bool(shown.any())
        self._by_depth = by_depth
        for level in by_depth[1:]:
            shown[level] |= shown[hierarchy.parents[level]]
        self.instances = np.union1d(
            _on_moving_nodes(hierarchy.instance_nodes, moving), _on_moving_nodes(hierarchy.owners, shown)
        )
        self.cameras = _on_moving_nodes(hierarchy.camera_nodes, moving)
        self.lights = _on_moving_nodes(hierarchy.light_nodes, moving)

    def world(self, seconds: float) -> Float:
        """(N, 4, 4) float64: every node's transform to the world at a time; not finite on overflow."""
        nodes = self.hierarchy
        parts = {"translation": nodes.translation, "rotation": nodes.rotation, "scale": nodes.scale}
        for path in parts.keys() & self._batches.keys():
            batches = self._batches[path]
            parts[path] = parts[path].copy()
            for batch in batches:
                parts[path][batch.nodes] = batch.at(seconds)
        local, at = nodes.local, self._animated
        if len(at):
            local = local.copy()
            local[at] = compose(parts["translation"][at], parts["rotation"][at], parts["scale"][at])
        world = self._rest.copy()
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

        Instances beyond `LARGEST_COORDINATE` are `hidden`: one that flies off does not end a film.
        """
        world = self.world(seconds)
        moved = transforms.copy()
        moved[self.instances] = self._placed(world, self.visible(seconds) if self._fading else None)
        placed = list(cameras)
        for index in self.cameras.tolist():
            matrix = world[self.hierarchy.camera_nodes[index]]
            with suppress(ViewerError):  # a camera without a valid view keeps its place
                placed[index] = place_camera(placed[index], matrix)
        emitting = list(lights)
        for index in self.lights.tolist():
            matrix = world[self.hierarchy.light_nodes[index]]
            with suppress(ViewerError):
                emitting[index] = place_light(emitting[index], matrix)
        pose = Pose(moved, placed, emitting, self._poses(seconds, world))
        values = self.values(seconds)
        if properties is None or not (values or self._fading):
            return pose
        nodes = self.hierarchy.light_nodes
        shown = np.ones(len(lights), bool)
        if self._fading:
            shown[: len(nodes)] = (nodes < 0) | self.visible(seconds)[nodes]
        materials, textures = properties.materials(values)
        return pose._replace(
            cameras=properties.cameras(values, placed),
            lights=properties.lights(values, emitting, shown),
            materials=materials,
            textures=textures,
        )

    def _placed(self, world: Float, visible: NDArray[np.bool_] | None) -> Float:
        """The transforms (M, 4, 4) of the moving instances."""
        nodes, below = self.hierarchy.instance_nodes[self.instances], self.hierarchy.offsets
        placed = np.where((nodes >= 0)[:, None, None], world[nodes], np.eye(4))
        with np.errstate(over="ignore", invalid="ignore"):
            if below is not None:
                placed = placed @ below[self.instances]
        lost = ~(np.abs(placed) <= LARGEST_COORDINATE).all(axis=(1, 2))
        if visible is not None:
            lost |= ~visible[self.hierarchy.owners[self.instances]]
        if lost.any():
            placed[lost] = hidden(world[self.hierarchy.owners[self.instances[lost]]])
        return placed

    def _poses(self, seconds: float, world: Float) -> dict[int, MeshPose]:
        """The poses of deforming meshes, of all: another animation may have left them; those of one skin share its
        matrices."""
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


def hidden(transforms: Float) -> Float:
    """Transforms (N, 4, 4) of instances that are not to be seen: too small for a ray to hit, at the places that these
    transforms have for them, or at the origin where those are too far.

    A structure of two levels takes them as any others, without a rebuild.
    """
    collapsed = np.broadcast_to(np.diag([_UNSEEN, _UNSEEN, _UNSEEN, 1.0]), transforms.shape).copy()
    place = transforms[:, :3, 3]
    collapsed[:, :3, 3] = np.where((np.abs(place) <= LARGEST_COORDINATE).all(axis=1, keepdims=True), place, 0.0)
    return collapsed


def _on_moving_nodes(nodes: Index, moving: NDArray[np.bool_]) -> Index:
    """The indices (K,) of objects on moving nodes."""
    return np.flatnonzero((nodes >= 0) & moving[nodes]) if len(moving) else np.zeros(0, np.int64)


class _Batch:
    """The tracks of one property and interpolation, in flat arrays; arrays shared by tracks are stored once."""

    def __init__(self, tracks: Sequence[Track], blend: Callable[..., Float]) -> None:
        self.nodes = np.array([track.node for track in tracks], np.int64)
        self._count = np.array([len(track.times) for track in tracks], np.int64)
        self._time, self._times = _flat([track.times for track in tracks])
        self._value, self._values = _flat([track.values for track in tracks])
        self._turns = tracks[0].path == "rotation"
        self._blend = blend
        if self._turns and tracks[0].interpolation != "CUBICSPLINE":
            self._values = unit_quaternions(self._values)
        self._rounds = int(self._count.max()).bit_length()

    def at(self, seconds: float) -> Float:
        """(C, width) float64: each track's value at a time, constant before the first and after the last key."""
        before = self._key_before(seconds)
        after = np.minimum(before + 1, self._count - 1)
        start = self._times[self._time + before]
        span = self._times[self._time + after] - start
        fraction = np.clip((seconds - start) / np.where(span > 0, span, 1.0), 0.0, 1.0)
        value = self._blend(
            self._values[self._value + before], self._values[self._value + after], fraction[:, None], span[:, None]
        )
        return unit_quaternions(value) if self._turns else value

    def _key_before(self, seconds: float) -> Index:
        """The last key of each track at or before the time, or the first; one vectorised binary search.

        File times are float32; the time is rounded to float32, too, so that 3 / 30 s meets the key of 0.1 s.
        """
        time = float(np.float32(seconds))
        low, high = np.zeros(len(self._count), np.int64), self._count.copy()
        for _ in range(self._rounds):
            middle = np.minimum((low + high) // 2, self._count - 1)
            past = self._times[self._time + middle] <= time
            low, high = np.where(past, middle + 1, low), np.where(past, high, middle)
        return np.maximum(low - 1, 0)


def _flat(arrays: Sequence[NDArray]) -> tuple[Index, Float]:
    """Start of each array, and their concatenation, float64; repeated arrays are stored once."""
    places: dict[int, int] = {}
    unique: list[NDArray] = []
    total = 0
    for array in arrays:
        if id(array) not in places:
            places[id(array)] = total
            unique.append(array)
            total += len(array)
    return np.array([places[id(array)] for array in arrays], np.int64), np.concatenate(unique).astype(np.float64)


def _batches(tracks: Sequence[Track]) -> dict[str, list[_Batch]]:
    groups: dict[tuple[str, str, int], list[Track]] = {}
    for track in tracks:
        groups.setdefault((track.path, track.interpolation, np.shape(track.values)[-1]), []).append(track)
    batches: dict[str, list[_Batch]] = {}
    for (path, interpolation, _), members in groups.items():
        blend = {"STEP": _step, "CUBICSPLINE": _spline, "LINEAR": _slerp if path == "rotation" else _line}
        batches.setdefault(path, []).append(_Batch(members, blend[interpolation]))
    return batches


# All take values (C, width), for splines (C, 3, width), at the two keys around a time, its fraction (C, 1) between
# them, and the seconds (C, 1) between them.


def _step(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    return before


def _line(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    return before * (1.0 - fraction) + after * fraction


def _slerp(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    """Unit quaternions along the shorter arc (glTF 2.0, C.4)."""
    after = np.where((before * after).sum(axis=1, keepdims=True) < 0, -after, after)
    # From the half angle's tangent: the arc cosine of a product near 1 loses half the digits.
    apart, together = (np.sqrt(((before + sign * after) ** 2).sum(axis=1, keepdims=True)) for sign in (-1.0, 1.0))
    angle = 2.0 * np.arctan2(apart, together)
    close = angle < _CLOSE
    sine = np.where(close, 1.0, np.sin(angle))
    first = np.where(close, 1.0 - fraction, np.sin((1.0 - fraction) * angle) / sine)
    second = np.where(close, fraction, np.sin(fraction * angle) / sine)
    return first * before + second * after


def _spline(before: Float, after: Float, fraction: Float, span: Float) -> Float:
    """A cubic Hermite spline through the values with the tangents times the seconds between keys (glTF 2.0, C.5)."""
    t = fraction
    t2, t3 = t * t, t * t * t
    start, out, into, end = before[:, 1], before[:, 2], after[:, 0], after[:, 1]
    with np.errstate(over="ignore", invalid="ignore"):  # the pose is checked as a whole
        return (
            (2 * t3 - 3 * t2 + 1) * start
            + span * (t3 - 2 * t2 + t) * out
            + (3 * t2 - 2 * t3) * end
            + span * (t3 - t2) * into
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
    return replace(camera, origin=_vector(eye), target=_vector(eye - back), up=_vector(up), motion=())


def place_light(light: Light, world: Float) -> Light:
    """The light at a node, along the node's -Z (KHR_lights_punctual). Raises ViewerError as `Light` does."""
    return replace(light, position=_vector(world[:3, 3]), direction=_vector(-world[:3, 2]), motion=())


def turntable(camera: Camera, bounds: ArrayLike, fraction: float) -> Camera:
    """The camera after a fraction of a turn about the vertical axis (+Y) through the scene's centre.

    bounds : (2, 3), the scene's lowest and highest corner. fraction : 0 and 1 are the camera itself, 0.25 is a quarter
    turn from +Z towards +X.
    """
    box = np.asarray(bounds, np.float64).reshape(2, 3)
    middle = (box[0] / 2 + box[1] / 2) * (1.0, 0.0, 1.0)
    rotation = _rotation(fraction)
    if fraction % 1.0 == 0.0:
        return camera
    origin, target = (rotation @ (np.subtract(point, middle)) + middle for point in (camera.origin, camera.target))
    return replace(camera, origin=_vector(origin), target=_vector(target), up=_vector(rotation @ camera.up), motion=())


def around(points: Float, middle: Float, fraction: float) -> Float:
    """Points (N, 3) after a fraction of a turn of `turntable` about the vertical axis through ``middle`` (3,)."""
    return np.asarray((points - middle) @ _rotation(fraction).T + middle)


def _rotation(fraction: float) -> Float:
    """(3, 3): the rotation about +Y, from +Z towards +X."""
    # Exact quarter turns: their cosines are not quite 0 in float64.
    quarter, remainder = divmod((fraction % 1.0) * 4.0, 1.0)
    c, s = math.cos(remainder * math.pi / 2), math.sin(remainder * math.pi / 2)
    for _ in range(int(quarter)):
        c, s = -s, c
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _vector(values: Float) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
