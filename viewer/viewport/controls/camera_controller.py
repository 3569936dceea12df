"""The camera in the hand: orbit and flight. Pure arithmetic in float64, without OpenGL and without a window.

Drags move the camera at once, so that the picture stays under the hand; keys, the wheel, Home and focus are eased. All
easing is advanced in closed form, so that a path does not depend on the frame rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.camera import Camera
from raystream.viewport.controls.optics import CameraOptics
from raystream.viewport.controls.pose import (
    ENDS,
    FINEST,
    MOVE_SECONDS,
    CameraPose,
    Move,
    diagonal,
    finite,
    heading,
    pixels,
    plain,
    pose_of,
    turn,
)
from raystream.viewport.controls.thrust import Thrust

Array = NDArray[np.float64]

ORBIT = math.radians(0.4)  # radians per pixel: once round in 900 pixels
LOOK = math.radians(0.1)  # radians per pixel at a field of view of 40 degrees; less where it is narrower
ZOOM = 0.05  # seconds: the time constant of the wheel
WHEEL_DOLLY = 0.85  # distance per step of the wheel
WHEEL_SPEED = 1.2  # speed per step of the wheel
PINCH = 0.5  # seconds of flight in a doubling of two fingers' distance
CROSSING = 4.0  # seconds in which flight crosses the scene at its own speed
ZOOM_REST = 0.002  # share of the distance below which the wheel's dolly ends
LONGEST_STEP = 3600.0  # seconds in one update
NEAREST_PIVOT = 0.01  # of the scene's diagonal: nearer ones would hold orbit fast
CLOSEST, FARTHEST = 1e-5, 1e4  # distances to the target that a dolly reaches, in diagonals of the scene

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
    _optics: CameraOptics
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
            self._camera = self._optics.camera(self._pose)
        return self._camera

    @property
    def moving(self) -> bool:
        """Whether `update` has something to do: keys held, easing in progress, or a change to report."""
        return self._changed or self._easing or bool(self._wanted().any())

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
        self._optics = CameraOptics.of(camera, self._pose.distance)
        if camera.aperture == 0 and camera.focus is not None:
            self._pose.distance, self._optics.focus = camera.focus, None
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
        own, other = (replace(default(aspect), **optics) for aspect in (before, after))
        if now != own or own == other:
            return False
        self.set_camera(other)
        return True

    def toggle_mode(self) -> None:
        """From orbit to fly and back; the camera stays where it is."""
        self.mode = "fly" if self.mode == "orbit" else "orbit"

    def set_fov(self, degrees: float) -> None:
        """See `CameraOptics.set_fov`."""
        if math.isfinite(degrees):
            self._optics.set_fov(degrees)
            self._touch()

    @property
    def projection(self) -> str:
        """See `CameraOptics.name_of_projection`."""
        return self._optics.name_of_projection

    def choose_projection(self, name: str) -> None:
        """See `CameraOptics.choose_projection`."""
        self._optics.choose_projection(name)
        self._touch()

    def toggle_orthographic(self) -> None:
        """From any projection to an orthographic one that shows as much at the target, and from it to a perspective."""
        self.choose_projection("perspective" if self._optics.orthographic else "orthographic")

    def set_lens(self, aperture: float, focus: float | None) -> None:
        """Radius of the lens, and the distance that it shows sharp (None: the target's), scene units."""
        self._optics.aperture, self._optics.focus = aperture, focus
        self._touch()

    def step_fov(self, steps: float) -> None:
        """Widen the field of view by 5 % a step; negative steps narrow it."""
        if math.isfinite(steps):
            self._optics.widen(steps)
            self._touch()

    def direction(self, x: float, y: float, width: float, height: float) -> Array:
        """(3,) unit direction, world space, through a point of a picture or window of that size, (0, 0) upper left; of
        parallel rays to where that point's ray is at the target's distance."""
        if self.camera.kind:
            return self._towards(*self.ray(x, y, width, height))
        right, up, forward = self._pose.basis()
        slope = self._optics.slope
        sx, sy = (2 * x - width) / max(height, 1e-9) * slope, (1 - 2 * y / max(height, 1e-9)) * slope
        direction = forward + sx * right + sy * up
        return direction / np.linalg.norm(direction)

    def ray(self, x: float, y: float, width: float, height: float) -> tuple[ArrayLike, Array]:
        """The same ray's origin (3,) and unit direction; along the view where the picture shows nothing."""
        camera = self.camera
        if not camera.kind:
            return camera.origin, self.direction(x, y, width, height)
        size = max(int(width), 1), max(int(height), 1)
        origins, ways = camera.measured_in(size).unproject([[x, y]], size)
        return origins[0], ways[0] if np.isfinite(ways).all() else np.asarray(camera.basis()[2])

    def _towards(self, origin: ArrayLike, direction: Array) -> Array:
        """The direction from the eye of a ray's point at the target's distance."""
        if not self._optics.orthographic:
            return direction
        towards = np.asarray(origin) + self._pose.distance * direction - self._pose.eye
        return np.asarray(towards / np.linalg.norm(towards))

    # -- gestures: at once -------------------------------------------------------------------------------------------

    def orbit(self, dx: float, dy: float) -> None:
        """Turn about the target, which stays exactly where it is, so that the near side follows the hand."""
        if self._turned(dx, dy, ORBIT):
            pose = self._pose
            pose.eye = pose.target - pose.distance * pose.forward()

    def look(self, dx: float, dy: float) -> None:
        """Turn the view; the eye stays exactly where it is."""
        if self._turned(dx, dy, LOOK * self._optics.slope / math.tan(math.radians(20))):
            pose = self._pose
            pose.target = pose.eye + pose.distance * pose.forward()

    def pan(self, dx: float, dy: float, height: float, depth: float | None = None) -> None:
        """Shift the camera in its plane so that points at ``depth`` before it (the target) follow the hand.

        height : of the window in the same pixels. depth : along the view, scene units.
        """
        depth = self._pose.distance if depth is None or not 0 < depth < ENDS else depth
        if finite(dx, dy, height):
            right, up, _ = self._pose.basis()
            pixel = self._optics.height_at(depth, self._pose.distance) / max(height, 1.0)
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
            self._pose.roll = turn(self._pose.roll - angle)
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
        distance = float(np.linalg.norm(away)) if np.isfinite(away).all() and np.abs(away).max() < ENDS else 0.0
        if distance <= FINEST * np.abs(self._pose.eye).max():
            return
        yaw, pitch = heading(away / distance, self._pose.yaw)
        self._go(replace(self._pose, target=target, distance=distance, yaw=yaw, pitch=pitch))

    def frame_all(self, aspect: float = 1.0, forward: ArrayLike | None = None) -> None:
        """See the whole scene, level, along ``forward`` (3,), a unit vector, or as now; aspect = width / height."""
        way = self._pose.forward() if forward is None else np.asarray(forward, np.float64)
        self._frame(way, aspect, self._pose.yaw)

    def view(self, name: str, aspect: float = 1.0) -> None:
        """See the whole scene from the ``front``, the ``right`` or the ``top``."""
        self._frame(-np.array(VIEWS[name]), aspect, 0.0)

    def aim(self, distance: float) -> None:
        """Bring the target to a distance along the view, at once; the picture stays.

        It is held within the scene's bounds, and beyond `NEAREST_PIVOT`; infinite: the target's own distance, so held.
        """
        if math.isnan(distance) or not self.indoors:
            return
        pose, forward = self._pose, self._pose.forward()
        low, high = self._bounds
        out = float((np.where(forward > 0, high - pose.eye, pose.eye - low) / np.abs(forward).clip(1e-12)).min())
        wanted = distance if math.isfinite(distance) else pose.distance
        pose.distance = max(min(wanted, out), NEAREST_PIVOT * self._diagonal)
        pose.target = pose.eye + pose.distance * forward
        self._interrupt()
        self._anchor = pose.target
        self._touch()

    def press(self, motion: str) -> None:
        """A key goes down: forward, back, left, right, down, up, fast or slow; more often is once."""
        self._thrust.press(motion)

    def release(self, motion: str) -> None:
        """A key goes up."""
        self._thrust.held.discard(motion)

    def release_all(self) -> None:
        """All keys go up, as when the window loses the focus."""
        self._thrust.held.clear()

    def update(self, dt: float) -> bool:
        """Advance eased motion by ``dt`` seconds; whether the camera has changed since the last update, by drags too.

        Flight covers exactly ``speed`` scene units per second (times 4 with fast, 1/4 with slow) once it is up to it.
        """
        dt = min(dt, LONGEST_STEP) if dt > 0 else 0.0
        if self._move is not None:
            dt = self._advance_move(dt)
        if dt > 0:
            self._advance_zoom(dt)
            self._advance_flight(dt)
        changed, self._changed = self._changed, False
        return changed

    # -- the inside --------------------------------------------------------------------------------------------------

    @property
    def _easing(self) -> bool:
        return self._move is not None or self._pending != 0.0 or bool(self._thrust.velocity.any())

    def _stop(self) -> None:
        self._move = None
        self._thrust.stop()
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
        pose.yaw = turn(pose.yaw + angle * (dx * cos_roll - dy * sin_roll))
        pitch = pose.pitch - angle * (dx * sin_roll + dy * cos_roll)
        pose.pitch = min(max(pitch, -math.pi / 2), math.pi / 2)
        self._touch()
        return True

    def _shift(self, by: Array) -> None:
        """Carry eye, target and the wheel's anchor along."""
        pose = self._pose
        pose.eye = np.clip(pose.eye + by, -ENDS, ENDS)
        pose.target = np.clip(pose.target + by, -ENDS, ENDS)
        self._anchor = np.clip(self._anchor + by, -ENDS, ENDS)
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
        low = max(CLOSEST * self._diagonal, FINEST * 10 * float(np.abs(self._pose.target).max()))
        high = max(FARTHEST * self._diagonal, low)
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
        slope = self._optics.slope * max(narrow, 1e-3)
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
        self._pose = move.at(move.elapsed if left < 0 else MOVE_SECONDS)
        if left >= 0:
            self._move = None
        self._anchor = self._pose.target
        self._touch()
        return max(left, 0.0)

    def _advance_zoom(self, dt: float) -> None:
        if self._pending == 0.0:
            return
        left = self._pending * math.exp(-dt / ZOOM)
        if abs(left) < ZOOM_REST:
            left = 0.0
        self._zoom(self._pending - left, self._anchor)
        self._pending = left

    def _advance_flight(self, dt: float) -> None:
        target_velocity = self._wanted()
        if target_velocity.any() or self._thrust.velocity.any():
            self._shift(self._thrust.advance(dt, target_velocity, max(self.speed, 1e-3 * self.natural_speed)))

    def _wanted(self) -> Array:
        """The velocity that the keys ask for, world space, scene units per second."""
        right, _, forward = self._pose.basis()
        return self._thrust.wanted(right, forward, self.speed)
