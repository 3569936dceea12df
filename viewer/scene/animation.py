"""Animation: keyframe tracks over a hierarchy's nodes, evaluated for all nodes at once; the turntable.

Interpolation as in glTF 2.0 (Khronos, 2021, 3.11 and appendix C): steps, straight lines with spherical linear
quaternions (K. Shoemake, *Animating Rotation with Quaternion Curves*, 1985), and cubic Hermite splines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.base.errors import ViewerError
from viewer.scene.camera import Camera
from viewer.scene.deform.deformation import MeshPose
from viewer.scene.hierarchy import Float, Hierarchy, Index, compose, levels, unit_quaternions
from viewer.scene.light import Light

# Animated property of a node -> numbers in a value.
PATHS = {"translation": 3, "rotation": 4, "scale": 3}
INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")

# Angle in radians between two quaternions below which sin(u a) / sin(a) is u to float64's last bit.
_CLOSE = 1e-9


@dataclass(frozen=True)
class Track:
    """The keys of one node's translation, rotation or scale.

    times  : (K,), seconds, rising, K > 0.
    values : (K, width), width 3, or 4 for quaternions x y z w; for CUBICSPLINE (K, 3, width): in-tangent, value,
             out-tangent, tangents per second.

    Raises ViewerError when path, interpolation and shapes do not fit.
    """

    node: int
    path: str
    times: NDArray
    values: NDArray
    interpolation: str = "LINEAR"

    def __post_init__(self) -> None:
        where = f"track of node {self.node}"
        if self.path not in PATHS:
            raise ViewerError(where, f"moves '{self.path}'", f"known: {', '.join(PATHS)}")
        if self.interpolation not in INTERPOLATIONS:
            raise ViewerError(where, f"interpolation '{self.interpolation}'", f"known: {', '.join(INTERPOLATIONS)}")
        three = (3,) if self.interpolation == "CUBICSPLINE" else ()
        wanted = (np.size(self.times), *three, PATHS[self.path])
        if np.ndim(self.times) != 1 or not np.size(self.times) or np.shape(self.values) != wanted:
            shapes = f"{np.shape(self.times)} and {np.shape(self.values)}"
            raise ViewerError(where, f"times and values have shapes {shapes}", f"the values' should be {wanted}")


@dataclass(frozen=True)
class Animation:
    """Tracks that play together, at most one per property of a node."""

    name: str
    tracks: tuple[Track, ...] = ()

    @property
    def duration(self) -> float:
        """Seconds from 0 to the last key of any track; 0 without tracks."""
        return max((float(track.times[-1]) for track in self.tracks), default=0.0)


class Pose(NamedTuple):
    """A scene at a time.

    transforms : (I, 4, 4) float64 of its instances, object to world. meshes : the poses of deforming ones, by number.
    """

    transforms: Float
    cameras: list[Camera]
    lights: list[Light]
    meshes: dict[int, MeshPose]


class Poser:
    """Evaluates one animation over one hierarchy; only moving nodes are computed."""

    def __init__(self, hierarchy: Hierarchy, animation: Animation) -> None:
        self.hierarchy, self.animation = hierarchy, animation
        self._batches = _batches(animation.tracks)
        animated = np.zeros(len(hierarchy.parents), bool)
        animated[[track.node for track in animation.tracks]] = True
        self._animated = np.flatnonzero(animated)
        moving = animated.copy()
        by_depth = levels(hierarchy.parents)
        for level in by_depth[1:]:
            moving[level] |= moving[hierarchy.parents[level]]
        self._levels = [level[moving[level]] for level in by_depth]
        self._rest = hierarchy.world()
        self.instances = _on_moving_nodes(hierarchy.instance_nodes, moving)
        self.cameras = _on_moving_nodes(hierarchy.camera_nodes, moving)
        self.lights = _on_moving_nodes(hierarchy.light_nodes, moving)

    def world(self, seconds: float) -> Float:
        """(N, 4, 4) float64: every node's transform to the world at a time; not finite on overflow."""
        nodes = self.hierarchy
        parts = {"translation": nodes.translation, "rotation": nodes.rotation, "scale": nodes.scale}
        for path, batches in self._batches.items():
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

    def pose(self, seconds: float, transforms: Float, cameras: Sequence[Camera], lights: Sequence[Light]) -> Pose:
        """The instances' transforms, the cameras and the lights at a time; unanimated ones unchanged.

        Raises ViewerError where a transform overflows float64.
        """
        world = self.world(seconds)
        moved = transforms.copy()
        below = self.hierarchy.offsets
        nodes = self.hierarchy.instance_nodes[self.instances]
        with np.errstate(over="ignore", invalid="ignore"):
            moved[self.instances] = world[nodes] if below is None else world[nodes] @ below[self.instances]
        if not np.isfinite(moved[self.instances]).all():
            where = f"animation '{self.animation.name}'"
            raise ViewerError(where, f"at {seconds:g} s a transform overflows float64", "scale it down")
        placed = list(cameras)
        for number in self.cameras.tolist():
            matrix = world[self.hierarchy.camera_nodes[number]]
            with suppress(ViewerError):  # a camera without a valid view keeps its place
                placed[number] = place_camera(placed[number], matrix)
        emitting = list(lights)
        for number in self.lights.tolist():
            matrix = world[self.hierarchy.light_nodes[number]]
            with suppress(ViewerError):
                emitting[number] = place_light(emitting[number], matrix)
        return Pose(moved, placed, emitting, self._poses(world))

    def _poses(self, world: Float) -> dict[int, MeshPose]:
        """The poses of deforming meshes; those of one skin share its matrices."""
        skins: dict[int, Float] = {}
        found = {}
        for each in self.hierarchy.deformers:
            if each.skin is not None and id(each.skin) not in skins:
                skins[id(each.skin)] = each.skin.matrices(world)
            joints = np.zeros((0, 4, 4)) if each.skin is None else skins[id(each.skin)]
            found[each.mesh] = MeshPose(joints, each.weights)
        return found


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
        before = self._before(seconds)
        after = np.minimum(before + 1, self._count - 1)
        start = self._times[self._time + before]
        span = self._times[self._time + after] - start
        share = np.clip((seconds - start) / np.where(span > 0, span, 1.0), 0.0, 1.0)
        value = self._blend(
            self._values[self._value + before], self._values[self._value + after], share[:, None], span[:, None]
        )
        return unit_quaternions(value) if self._turns else value

    def _before(self, seconds: float) -> Index:
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
    kept: list[NDArray] = []
    total = 0
    for array in arrays:
        if id(array) not in places:
            places[id(array)] = total
            kept.append(array)
            total += len(array)
    return np.array([places[id(array)] for array in arrays], np.int64), np.concatenate(kept).astype(np.float64)


def _batches(tracks: Sequence[Track]) -> dict[str, list[_Batch]]:
    groups: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        groups.setdefault((track.path, track.interpolation), []).append(track)
    found: dict[str, list[_Batch]] = {}
    for (path, interpolation), members in groups.items():
        blend = {"STEP": _step, "CUBICSPLINE": _spline, "LINEAR": _slerp if path == "rotation" else _line}
        found.setdefault(path, []).append(_Batch(members, blend[interpolation]))
    return found


# All take values (C, width), for splines (C, 3, width), at the two keys around a time, its fraction (C, 1) between
# them, and the seconds (C, 1) between them.


def _step(before: Float, after: Float, share: Float, span: Float) -> Float:
    return before


def _line(before: Float, after: Float, share: Float, span: Float) -> Float:
    return before * (1.0 - share) + after * share


def _slerp(before: Float, after: Float, share: Float, span: Float) -> Float:
    """Unit quaternions along the shorter arc (glTF 2.0, C.4)."""
    after = np.where((before * after).sum(axis=1, keepdims=True) < 0, -after, after)
    # From the half angle's tangent: the arc cosine of a product near 1 loses half the digits.
    apart, together = (np.sqrt(((before + sign * after) ** 2).sum(axis=1, keepdims=True)) for sign in (-1.0, 1.0))
    angle = 2.0 * np.arctan2(apart, together)
    close = angle < _CLOSE
    sine = np.where(close, 1.0, np.sin(angle))
    first = np.where(close, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
    second = np.where(close, share, np.sin(share * angle) / sine)
    return first * before + second * after


def _spline(before: Float, after: Float, share: Float, span: Float) -> Float:
    """A cubic Hermite spline through the values with the tangents times the seconds between keys (glTF 2.0, C.5)."""
    t = share
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


def turntable(camera: Camera, bounds: ArrayLike, share: float) -> Camera:
    """The camera after a fraction of a turn about the vertical axis (+Y) through the scene's centre.

    bounds : (2, 3), the scene's lowest and highest corner. share : 0 and 1 are the camera itself, 0.25 is a quarter
    turn from +Z towards +X.
    """
    box = np.asarray(bounds, np.float64).reshape(2, 3)
    middle = (box[0] / 2 + box[1] / 2) * (1.0, 0.0, 1.0)
    # Exact quarter turns: their cosines are not quite 0 in float64.
    quarter, rest = divmod((share % 1.0) * 4.0, 1.0)
    c, s = math.cos(rest * math.pi / 2), math.sin(rest * math.pi / 2)
    for _ in range(int(quarter)):
        c, s = -s, c
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])

    if share % 1.0 == 0.0:
        return camera
    origin, target = (turn @ (np.subtract(point, middle)) + middle for point in (camera.origin, camera.target))
    return replace(camera, origin=_vector(origin), target=_vector(target), up=_vector(turn @ camera.up), motion=())


def _vector(values: Float) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
