"""The camera in the hand: orbit and flight. Pure arithmetic in float64, without OpenGL and without a window.

Drags move the camera at once, so that the picture stays under the hand; keys, the wheel, Home and focus are eased. All
easing is advanced in closed form, so that a path does not depend on the frame rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.camera import Camera, Vector
from raystream.scene.projections import MAX_HEIGHT, Equirectangular, Fisheye, Orthographic, Projection

# -- where a camera is and how it is turned, as a hand moves it; and the eased way from one pose to another ------------
# Attitude is yaw, pitch and roll about the world's +Y, which neither drifts nor flips: pitch ends at straight up and
# straight down.

Array = NDArray[np.float64]

MOVE_SECONDS = 0.3  # that an eased way takes
MAX_COORD = 1e30  # coordinates beyond are held here, so that squares stay finite
FINEST = 1e-9  # distance to the target as a share of the coordinates: float64 must tell the two apart
MAX_DRAG = 1e5  # pixels in one event; more is a fault of the driver
LEVEL = 1e-9  # radians of roll that are none
ZENITH = 1e-5  # sine of the angle to +-Y below which up, not forward, tells the heading


@dataclass
class CameraPose:
    """Where the camera is and how it is turned; angles in radians.

    yaw : of the view about +Y, 0 towards -Z and growing towards +X. pitch : up from the horizon, in [-pi/2, pi/2].
    roll : of the camera about its view, growing clockwise, so that the picture turns anticlockwise.
    target is eye + distance * forward to a rounding; gestures keep the one of the two that stays where it is exactly.
    """

    eye: Array
    target: Array
    distance: float
    yaw: float
    pitch: float
    roll: float

    def basis(self) -> tuple[Array, Array, Array]:
        """(right, up, forward), orthonormal."""
        sin_yaw, cos_yaw = math.sin(self.yaw), math.cos(self.yaw)
        sin_pitch, cos_pitch = math.sin(self.pitch), math.cos(self.pitch)
        sin_roll, cos_roll = math.sin(self.roll), math.cos(self.roll)
        level = np.array([cos_yaw, 0.0, sin_yaw])
        above = np.array([-sin_pitch * sin_yaw, cos_pitch, sin_pitch * cos_yaw])
        forward = np.array([cos_pitch * sin_yaw, sin_pitch, -cos_pitch * cos_yaw])
        return cos_roll * level - sin_roll * above, cos_roll * above + sin_roll * level, forward

    def forward(self) -> Array:
        """The view's unit vector."""
        return self.basis()[2]

    def camera(self, fov: float, name: str) -> Camera:
        """The camera here; up is +Y where the camera is level."""
        _, up, forward = self.basis()
        if self.roll == 0 and math.cos(self.pitch) > ZENITH:
            up = np.array([0.0, 1.0, 0.0])
        least = FINEST * max(np.abs(self.eye).max(), np.abs(self.target).max())
        distinct = self.distance > least and bool((self.target != self.eye).any())
        target = self.target if distinct else self.eye + 2 * least * forward
        return Camera(plain(self.eye), plain(target), plain(up), fov=fov, name=name)


@dataclass
class Move:
    """An eased way from one pose to another."""

    start: CameraPose
    goal: CameraPose
    elapsed: float = 0.0

    def pose_at(self, elapsed: float) -> CameraPose:
        """The pose after some seconds; from the end on the goal itself."""
        if elapsed >= MOVE_SECONDS:
            return replace(self.goal)
        x = elapsed / MOVE_SECONDS
        s = x * x * (3 - 2 * x)
        a, b = self.start, self.goal
        pose = CameraPose(
            a.eye + s * (b.eye - a.eye),
            a.target,
            a.distance * (b.distance / a.distance) ** s,
            a.yaw + s * wrapped(b.yaw - a.yaw),
            a.pitch + s * (b.pitch - a.pitch),
            a.roll + s * wrapped(b.roll - a.roll),
        )
        pose.target = pose.eye + pose.distance * pose.forward()
        return pose


def pose_of(camera: Camera) -> CameraPose:
    """The pose of a camera; it may differ by roundings, so the camera itself is kept until it moves."""
    eye, target = (np.clip(np.array(point), -MAX_COORD, MAX_COORD) for point in (camera.origin, camera.target))
    _, up, forward = camera.basis()
    above = math.copysign(1.0, -forward[1]) * up  # where the view is straight down, up tells the heading
    yaw, pitch = heading(forward, math.atan2(above[0], -above[2]))
    distance = max(float(np.linalg.norm(target - eye)), FINEST * float(np.abs(eye).max()), 1e-30)
    pose = CameraPose(eye, target, distance, yaw, pitch, 0.0)
    right, level_up, _ = pose.basis()
    roll = math.atan2(float(up @ right), float(up @ level_up))
    pose.roll = roll if abs(roll) > LEVEL else 0.0
    return pose


def heading(forward: Array, yaw: float) -> tuple[float, float]:
    """Yaw and pitch of a unit direction; straight up and down it keeps the yaw that is given."""
    level = math.hypot(forward[0], forward[2])
    return (math.atan2(forward[0], -forward[2]) if level > ZENITH else yaw), math.atan2(forward[1], level)


def wrapped(angle: float) -> float:
    """The same angle in [-pi, pi]."""
    return math.remainder(angle, 2 * math.pi)


def plain(vector: Array) -> Vector:
    """Three Python floats."""
    x, y, z = (float(component) for component in vector)
    return x, y, z


def diagonal(bounds: ArrayLike) -> float:
    """The length of a box's diagonal, (2, 3) scene units; 1 where it has none that float64 can tell."""
    box = np.asarray(bounds, np.float64).reshape(2, 3)
    size = float(np.linalg.norm(box[1] - box[0])) if np.isfinite(box).all() and (box[1] >= box[0]).all() else 0.0
    return size if size > FINEST * np.abs(box).max(initial=0.0, where=np.isfinite(box)) and size > 0 else 1.0


def finite(*values: float) -> bool:
    """Whether all of them are."""
    return all(math.isfinite(value) for value in values)


def pixels(length: float) -> float:
    """A drag's length, held to `MAX_DRAG`."""
    return min(max(length, -MAX_DRAG), MAX_DRAG)


# -- lens and projection of the camera in the hand ---------------------------------------------------------------------

FOV_STEP = 1.05
MIN_FOV, MAX_FOV = 1.0, 170.0  # degrees
MIN_ANGLE, MAX_ANGLE = 1.0, 360.0  # across a fisheye's circle, degrees
HALF_SPHERE = 180.0  # of a new fisheye
# Projections that need no measured camera, by the names of `--projection`.
PROJECTIONS = ("perspective", "orthographic", "equirectangular", "fisheye", "equisolid")
MIN_EXTENT, MAX_EXTENT = 1e-12, 1e12  # of an orthographic camera, in distances to the target


# -- flight by keys: those that are down, and the velocity that follows them -------------------------------------------
# Pure arithmetic in float64.

GLIDE = 0.06  # seconds: the time constant with which flight takes up and loses speed
FAST, SLOW = 4.0, 0.25
AT_REST = 0.005  # share of the speed below which flight ends

# Motion -> its part in the camera's right, the world's up, the camera's forward.
MOTIONS = {
    "forward": (0, 0, 1),
    "back": (0, 0, -1),
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "down": (0, -1, 0),
    "up": (0, 1, 0),
}
PACES = {"fast": FAST, "slow": SLOW}


class Thrust:
    """keys : motions and paces whose keys are down. velocity : (3,) world space, scene units per second."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.velocity: Array = np.zeros(3)

    def press(self, motion: str) -> None:
        """A key goes down. Raises ValueError for a key of no motion and no pace."""
        if motion not in MOTIONS and motion not in PACES:
            raise ValueError(f"no motion '{motion}'")
        self.keys.add(motion)

    def target_velocity(self, right: Array, forward: Array, speed: float) -> Array:
        """The velocity that the keys ask for, under a camera with these axes, (3,) unit length."""
        parts = np.sum([MOTIONS[key] for key in self.keys if key in MOTIONS] or [(0, 0, 0)], axis=0)
        direction = parts[0] * right + parts[1] * np.array([0.0, 1.0, 0.0]) + parts[2] * forward
        length = float(np.linalg.norm(direction))
        if length < 1e-6 or not math.isfinite(speed):
            return np.zeros(3)
        pace = math.prod(PACES[key] for key in self.keys if key in PACES)
        return direction * (min(max(speed, 0.0), MAX_COORD) * pace / length)

    def advance(self, dt: float, target_velocity: Array, speed: float) -> Array:
        """The way (3,) of ``dt`` seconds. Velocity v decays towards the keys' velocity, w:
        x(dt) = x + w dt + (v - w) T (1 - exp(-dt / T)).

        Where keys are up, and it is slow beside ``speed``, the rest of the way is taken in one: the place of rest is
        the same at every frame rate.
        """
        lag = self.velocity - target_velocity
        decay = math.exp(-dt / GLIDE)
        ending = not target_velocity.any() and np.linalg.norm(lag) * decay < AT_REST * speed
        if ending or decay == 0.0:
            decay = 0.0
        self.velocity = target_velocity + lag * decay
        return target_velocity * dt + lag * (GLIDE * (1 - decay))


# -- the camera in the hand: orbit and flight --------------------------------------------------------------------------

ORBIT = math.radians(0.4)  # radians per pixel: once round in 900 pixels
LOOK = math.radians(0.1)  # radians per pixel at a field of view of 40 degrees; less where it is narrower
ZOOM = 0.05  # seconds: the time constant of the wheel
WHEEL_DOLLY = 0.85  # distance per step of the wheel
WHEEL_SPEED = 1.2  # speed per step of the wheel
PINCH = 0.5  # seconds of flight in a doubling of two fingers' distance
CROSSING = 4.0  # seconds in which flight crosses the scene at its own speed
ZOOM_REST = 0.002  # share of the distance below which the wheel's dolly ends
MAX_STEP = 3600.0  # seconds in one update
MIN_PIVOT = 0.01  # of the scene's diagonal: nearer ones would hold orbit fast
MIN_DISTANCE, MAX_DISTANCE = 1e-5, 1e4  # distances to the target that a dolly reaches, in diagonals of the scene

# View -> direction from the scene's middle to the camera.
VIEWS = {"front": (0.0, 0.0, 1.0), "right": (1.0, 0.0, 0.0), "top": (0.0, 1.0, 0.0)}


class CameraController:
    """A camera that orbits and flies.

    camera : where it starts. bounds : (2, 3) of the scene, scene units; they give speed and range. default_view : the
    scene's, of pictures of an aspect (width / height), see `fit`.

    mode  : ``orbit`` or ``fly``; selects the wheel's effect. speed : of flight, scene units per second.
    entered : the eye has been within the scene's bounds since a camera was set or all was framed.
    Gestures take pixels, x to the right and y down. Arguments that are not finite change nothing.
    """

    entered: bool
    _pose: CameraPose
    _lens: Camera  # the fields beside the pose, at rest
    _extent: float  # height of an orthographic picture, in distances to the target
    _camera: Camera | None  # of the pose; made when it is asked for
    _move: Move | None
    _pending: float  # logarithm of the distance's factor that the wheel has still to give
    _anchor: Array  # the point that the wheel's dolly leaves where it is in the picture
    _changed: bool

    def __init__(
        self, camera: Camera, bounds: ArrayLike, default_view: Callable[[float], Camera] | None = None
    ) -> None:
        self.mode = "orbit"
        self._thrust = Thrust()
        self._diagonal = diagonal(bounds)
        self._bounds = np.asarray(bounds, np.float64)
        self._default_view = default_view
        self.speed = self.natural_speed
        self.set_camera(camera)

    # -- state -------------------------------------------------------------------------------------------------------

    @property
    def camera(self) -> Camera:
        """The camera as it is now; the very one that was set until it is moved."""
        if self._camera is None:
            placed, projection = self._pose.camera(self._lens.fov, self._lens.name), self._lens.projection
            if self._orthographic:  # the nearer, the less it shows
                projection = Orthographic(min(max(self._extent * self._pose.distance, MIN_EXTENT), MAX_HEIGHT))
            origin, target, up = placed.origin, placed.target, placed.up
            self._camera = replace(self._lens, origin=origin, target=target, up=up, projection=projection)
        return self._camera

    @property
    def moving(self) -> bool:
        """Whether `update` has something to do: keys held, easing in progress, or a change to report."""
        return self._changed or self._easing or bool(self._keys_velocity().any())

    @property
    def indoors(self) -> bool:
        """Whether the eye is within the scene's bounds."""
        return self.within(self._pose.eye)

    def within(self, point: ArrayLike) -> bool:
        """Whether a point (3,) is within the scene's bounds."""
        return bool(((self._bounds[0] < point) & (point < self._bounds[1])).all())

    @property
    def natural_speed(self) -> float:
        """The speed of flight that suits the scene, scene units per second."""
        return self._diagonal / CROSSING

    def set_camera(self, camera: Camera) -> None:
        """Take another camera as it is, at once; eased motion ends.

        A pinhole's focus, which no picture shows, is where a file's camera is taken to look: the target comes there.
        """
        self._pose = pose_of(camera)
        self._lens, projection = replace(camera, motion=()), camera.projection
        self._extent = projection.height / self._pose.distance if isinstance(projection, Orthographic) else 1.0
        if camera.aperture == 0 and camera.focus is not None:
            self._pose.distance = camera.focus
            self._lens = replace(self._lens, focus=None)
            self._pose.target = self._pose.eye + camera.focus * self._pose.forward()
        self._stop()
        self._camera = camera
        self._changed = True
        self.entered = self.indoors

    def set_bounds(self, bounds: ArrayLike, default_view: Callable[[float], Camera] | None = None) -> None:
        """Another scene, (2, 3) scene units; the speed keeps its ratio to the scene's own. default_view : its own;
        None: that of the scene before."""
        factor = self.speed / self.natural_speed
        self._diagonal = diagonal(bounds)
        self._bounds = np.asarray(bounds, np.float64)
        self.speed = factor * self.natural_speed
        self._default_view = default_view or self._default_view

    def fit(self, before: float, after: float) -> bool:
        """The picture goes from one aspect (width / height) to another: a camera that is the default view of the
        first, but for its lens, is that of the other; whether it is another one."""
        default = self._default_view
        if before == after or default is None:
            return False
        now = self.camera
        optics = {name: getattr(now, name) for name in ("fov", "aperture", "focus", "projection", "eyes")}
        default_before, default_after = (replace(default(aspect), **optics) for aspect in (before, after))
        if now != default_before or default_before == default_after:
            return False
        self.set_camera(default_after)
        return True

    def toggle_mode(self) -> None:
        """From orbit to fly and back; the camera stays where it is."""
        self.mode = "fly" if self.mode == "orbit" else "orbit"

    @property
    def _orthographic(self) -> bool:
        """Whether its rays are parallel."""
        return isinstance(self._lens.projection, Orthographic)

    @property
    def _slope(self) -> float:
        """Tangent of half the field of view."""
        return math.tan(math.radians(self._lens.fov) / 2)

    def _change_lens(self, **fields: Any) -> None:
        self._lens = replace(self._lens, **fields)
        self._touch()

    def set_lens(self, aperture: float, focus: float | None) -> None:
        """Radius of the lens, and the distance that it shows sharp (None: the target's), scene units."""
        self._change_lens(aperture=aperture, focus=focus)

    def set_fov(self, degrees: float) -> None:
        """Vertical field of view in degrees, held to 1..170; of a fisheye the angle across its circle, to 360."""
        if not math.isfinite(degrees):
            return
        if isinstance(projection := self._lens.projection, Fisheye):
            self._change_lens(projection=replace(projection, angle=min(max(degrees, MIN_ANGLE), MAX_ANGLE)))
        else:
            self._change_lens(fov=min(max(degrees, MIN_FOV), MAX_FOV))

    def step_fov(self, steps: float) -> None:
        """Widen the field of view by 5 % a step; negative steps narrow it."""
        if not math.isfinite(steps):
            return
        factor = FOV_STEP ** min(max(steps, -200.0), 200.0)
        if self._orthographic:
            self._extent = min(max(self._extent * factor, MIN_EXTENT), MAX_EXTENT)
            self._touch()
        else:
            projection = self._lens.projection
            self.set_fov((projection.angle if isinstance(projection, Fisheye) else self._lens.fov) * factor)

    @property
    def projection(self) -> str:
        """One of `PROJECTIONS`, or the kind of a measured camera."""
        projection = self._lens.projection
        if isinstance(projection, Fisheye) and projection.equisolid:
            return "equisolid"
        return "perspective" if projection is None else projection.kind

    def choose_projection(self, name: str) -> None:
        """Take one of `PROJECTIONS`: an orthographic one shows as much at the target as the perspective; a fisheye
        keeps its angle."""
        previous = self._lens.projection
        projection: Projection | None = None
        if name == "orthographic":
            projection, self._extent = Orthographic(1.0), self._extent if self._orthographic else 2 * self._slope
        elif name == "equirectangular":
            projection = Equirectangular()
        elif name != "perspective":
            angle = previous.angle if isinstance(previous, Fisheye) else HALF_SPHERE
            projection = Fisheye(angle, name == "equisolid")
        self._change_lens(projection=projection)

    def toggle_orthographic(self) -> None:
        """From any projection to an orthographic one that shows as much at the target, and from it to a perspective."""
        self.choose_projection("perspective" if self._orthographic else "orthographic")

    def ray(self, x: float, y: float, width: float, height: float) -> tuple[Array, Array]:
        """Origin (3,) and unit direction, world space, of the ray through a point of a picture or window of that size,
        (0, 0) upper left; along the view where the picture shows nothing."""
        camera, size = self.camera, (max(int(width), 1), max(int(height), 1))
        origins, ways = camera.with_picture_size(size).unproject([[x, y]], size)
        return origins[0], ways[0] if np.isfinite(ways).all() else np.asarray(camera.basis()[2])

    def direction(self, x: float, y: float, width: float, height: float) -> Array:
        """(3,) the same ray's direction; of parallel rays that to where it is at the target's distance."""
        origin, direction = self.ray(x, y, width, height)
        if not self._orthographic:
            return direction
        towards = origin + self._pose.distance * direction - self._pose.eye
        return np.asarray(towards / np.linalg.norm(towards))

    # -- gestures: at once -------------------------------------------------------------------------------------------

    def orbit(self, dx: float, dy: float) -> None:
        """Turn about the target, which stays exactly where it is, so that the near side follows the hand."""
        if self._turned(dx, dy, ORBIT):
            pose = self._pose
            pose.eye = pose.target - pose.distance * pose.forward()

    def look(self, dx: float, dy: float) -> None:
        """Turn the view; the eye stays exactly where it is."""
        if self._turned(dx, dy, LOOK * self._slope / math.tan(math.radians(20))):
            pose = self._pose
            pose.target = pose.eye + pose.distance * pose.forward()

    def pan(self, dx: float, dy: float, height: float, depth: float | None = None) -> None:
        """Shift the camera in its plane so that points at ``depth`` before it (the target) follow the hand.

        height : of the window in the same pixels. depth : along the view, scene units.
        """
        depth = self._pose.distance if depth is None or not 0 < depth < MAX_COORD else depth
        if finite(dx, dy, height):
            right, up, _ = self._pose.basis()
            view_height = self._extent * self._pose.distance if self._orthographic else 2 * depth * self._slope
            pixel = view_height / max(height, 1.0)
            self._interrupt()
            self._shift(pixel * (pixels(dy) * up - pixels(dx) * right))

    def dolly(self, factor: float, toward: ArrayLike | None = None) -> None:
        """Multiply the distance to the target's plane.

        toward : direction in which a point of that plane lies that shall stay where it is in the picture; the target.
        """
        if math.isfinite(factor) and factor > 0:
            self._interrupt()
            self._zoom(math.log(factor), self._anchored(toward))

    def pinch(self, ratio: float, toward: ArrayLike) -> None:
        """Two fingers come to ``ratio`` times their distance: dolly, so that the points between them keep to them; in
        flight go the way of `PINCH` seconds for each doubling."""
        if self.mode == "orbit":
            self.dolly(1 / ratio if finite(ratio) and ratio else math.nan, toward)
        elif finite(ratio) and ratio > 0:
            self._interrupt()
            self._shift(np.asarray(toward, np.float64) * (self.speed * PINCH * min(max(math.log2(ratio), -8.0), 8.0)))

    def roll(self, angle: float) -> None:
        """Turn the picture clockwise about its middle, radians."""
        if math.isfinite(angle):
            self._interrupt()
            self._pose.roll = wrapped(self._pose.roll - angle)
            self._touch()

    # -- gestures: eased ---------------------------------------------------------------------------------------------

    def wheel(self, steps: float, toward: ArrayLike | None = None) -> None:
        """Orbit: dolly to the point under the cursor, in the direction ``toward``; fly: set the speed."""
        if not math.isfinite(steps):
            return
        steps = min(max(steps, -100.0), 100.0)
        if self.mode == "fly":
            low, high = 1e-4 * self.natural_speed, 1e4 * self.natural_speed
            self.speed = min(max(self.speed * WHEEL_SPEED**steps, low), high)
            return
        self._interrupt(zoom=False)
        self._anchor = self._anchored(toward)
        self._pending = self._allowed(self._pending + steps * math.log(WHEEL_DOLLY))

    def focus(self, point: ArrayLike) -> None:
        """Turn to a point of the world, which becomes the target; the eye stays, so that nothing hides the point."""
        target = np.asarray(point, np.float64).reshape(3)
        away = target - self._pose.eye
        distance = float(np.linalg.norm(away)) if np.isfinite(away).all() and np.abs(away).max() < MAX_COORD else 0.0
        if distance <= FINEST * np.abs(self._pose.eye).max():
            return
        yaw, pitch = heading(away / distance, self._pose.yaw)
        self._go(replace(self._pose, target=target, distance=distance, yaw=yaw, pitch=pitch))

    def frame_all(self, aspect: float = 1.0, forward: ArrayLike | None = None) -> None:
        """See the whole scene, level, along ``forward`` (3,), a unit vector, or as now; aspect = width / height."""
        direction = self._pose.forward() if forward is None else np.asarray(forward, np.float64)
        self._frame(direction, aspect, self._pose.yaw)

    def view(self, name: str, aspect: float = 1.0) -> None:
        """See the whole scene from the ``front``, the ``right`` or the ``top``."""
        self._frame(-np.array(VIEWS[name]), aspect, 0.0)

    def aim(self, distance: float) -> None:
        """Bring the target to a distance along the view, at once; the picture stays.

        It is held within the scene's bounds, and beyond `MIN_PIVOT`; infinite: the target's own distance, so held.
        """
        if math.isnan(distance) or not self.indoors:
            return
        pose, forward = self._pose, self._pose.forward()
        low, high = self._bounds
        out = float((np.where(forward > 0, high - pose.eye, pose.eye - low) / np.abs(forward).clip(1e-12)).min())
        target_distance = distance if math.isfinite(distance) else pose.distance
        pose.distance = max(min(target_distance, out), MIN_PIVOT * self._diagonal)
        pose.target = pose.eye + pose.distance * forward
        self._interrupt()
        self._anchor = pose.target
        self._touch()

    def press(self, motion: str) -> None:
        """A key goes down: forward, back, left, right, down, up, fast or slow; more often is once."""
        self._thrust.press(motion)

    def release(self, motion: str) -> None:
        """A key goes up."""
        self._thrust.keys.discard(motion)

    def release_all(self) -> None:
        """All keys go up, as when the window loses the focus."""
        self._thrust.keys.clear()

    def update(self, dt: float) -> bool:
        """Advance eased motion by ``dt`` seconds; whether the camera has changed since the last update, by drags too.

        Flight covers exactly ``speed`` scene units per second (times 4 with fast, 1/4 with slow) once it is up to it.
        """
        dt = min(dt, MAX_STEP) if dt > 0 else 0.0
        if self._move is not None:
            dt = self._advance_move(dt)
        if dt > 0 and self._pending != 0.0:
            rest = self._pending * math.exp(-dt / ZOOM)
            rest = rest if abs(rest) >= ZOOM_REST else 0.0
            self._zoom(self._pending - rest, self._anchor)
            self._pending = rest
        keys_velocity = self._keys_velocity()
        if dt > 0 and (keys_velocity.any() or self._thrust.velocity.any()):
            self._shift(self._thrust.advance(dt, keys_velocity, max(self.speed, 1e-3 * self.natural_speed)))
        changed, self._changed = self._changed, False
        return changed

    # -- the inside --------------------------------------------------------------------------------------------------

    @property
    def _easing(self) -> bool:
        return self._move is not None or self._pending != 0.0 or bool(self._thrust.velocity.any())

    def _stop(self) -> None:
        self._move = None
        self._thrust.velocity = np.zeros(3)
        self._pending = 0.0
        self._anchor = self._pose.target

    def _interrupt(self, zoom: bool = True) -> None:
        """The hand takes over from eased motion; keys that are held go on."""
        self._move = None
        if zoom:
            self._pending = 0.0

    def _touch(self) -> None:
        self._camera, self._changed = None, True
        self.entered = self.entered or (self._move is None and self.indoors)

    def _turned(self, dx: float, dy: float, angle: float) -> bool:
        """Turn by a drag, ``angle`` radians a pixel; along the picture's own axes, however it is rolled."""
        if not finite(dx, dy):
            return False
        self._interrupt()
        pose, dx, dy = self._pose, pixels(dx), pixels(dy)
        sin_roll, cos_roll = math.sin(pose.roll), math.cos(pose.roll)
        pose.yaw = wrapped(pose.yaw + angle * (dx * cos_roll - dy * sin_roll))
        pitch = pose.pitch - angle * (dx * sin_roll + dy * cos_roll)
        pose.pitch = min(max(pitch, -math.pi / 2), math.pi / 2)
        self._touch()
        return True

    def _shift(self, by: Array) -> None:
        """Carry eye, target and the wheel's anchor along."""
        pose = self._pose
        pose.eye = np.clip(pose.eye + by, -MAX_COORD, MAX_COORD)
        pose.target = np.clip(pose.target + by, -MAX_COORD, MAX_COORD)
        self._anchor = np.clip(self._anchor + by, -MAX_COORD, MAX_COORD)
        self._touch()

    def _anchored(self, toward: ArrayLike | None) -> Array:
        """The point of the target's plane in that direction; the target for directions that do not meet it."""
        pose = self._pose
        if toward is not None:
            direction = np.asarray(toward, np.float64).reshape(3)
            cosine = float(direction @ pose.forward()) if np.isfinite(direction).all() else 0.0
            if cosine > 1e-3 * np.linalg.norm(direction):
                return pose.eye + direction * (pose.distance / cosine)
        return pose.target

    def _allowed(self, log: float) -> float:
        """A logarithm of the distance's factor, cut so that the distance keeps to its range or comes back to it."""
        now = self._pose.distance
        low = max(MIN_DISTANCE * self._diagonal, FINEST * 10 * float(np.abs(self._pose.target).max()))
        high = max(MAX_DISTANCE * self._diagonal, low)
        return min(max(log, min(0.0, math.log(low / now))), max(0.0, math.log(high / now)))

    def _zoom(self, log: float, anchor: Array) -> None:
        pose = self._pose
        factor = math.exp(self._allowed(log))
        pose.eye = anchor + (pose.eye - anchor) * factor
        pose.target = anchor + (pose.target - anchor) * factor
        pose.distance *= factor
        self._touch()

    def _frame(self, forward: Array, aspect: float, yaw: float) -> None:
        # Camera.framing fills a square; in a narrower window the sides decide.
        narrow = min(1.0, aspect) if math.isfinite(aspect) and aspect > 0 else 1.0
        slope = self._slope * max(narrow, 1e-3)
        framing = Camera.framing(self._bounds, math.degrees(2 * math.atan(slope)), plain(-forward))
        pose = pose_of(framing)
        yaw, pitch = heading(forward, yaw)
        self.entered = False
        self._go(replace(pose, yaw=yaw, pitch=pitch, roll=0.0))

    def _go(self, goal: CameraPose) -> None:
        self._stop()
        self._move = Move(replace(self._pose), goal)

    def _advance_move(self, dt: float) -> float:
        """Advance a move; the rest of ``dt`` when it has ended."""
        assert self._move is not None
        move, left = self._move, self._move.elapsed + dt - MOVE_SECONDS
        move.elapsed += dt
        self._pose = move.pose_at(move.elapsed if left < 0 else MOVE_SECONDS)
        if left >= 0:
            self._move = None
        self._anchor = self._pose.target
        self._touch()
        return max(left, 0.0)

    def _keys_velocity(self) -> Array:
        """The velocity that the keys ask for, world space, scene units per second."""
        right, _, forward = self._pose.basis()
        return self._thrust.target_velocity(right, forward, self.speed)
