"""Edits of the scene on show: objects, lights and environments that follow the mouse, the turntable, and the animation,
by a clock that plays, pauses, loops, and steps by frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.options.table import OPTIONS
from raystream.renderer.preview.scheduler import HELD
from raystream.scene.edits.animated import AnimatedParts, playing
from raystream.scene.edits.movable import Movable, movable_lights, placed_light
from raystream.scene.scene import Scene
from raystream.viewport.camera_controller import ORBIT
from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.debug_views.wires import project_points
from raystream.viewport.scene_loader import SceneLoader
from raystream.viewport.viewport import Viewport, choose_pivot

# -- something that follows the mouse, as in Blender -------------------------------------------------------------------
# In the plane of the view, along an axis, or in a plane across one. Pure arithmetic in float64.

Array = NDArray[np.float64]

AXES = "XYZ"
PARALLEL = 1e-4  # sine of the angle to an axis or plane below which a ray tells no place on it


@dataclass
class Grab:
    """start : (3,) the point that was grabbed, world space. name, instance or light : of what it moves, a light without
    extent or all that is one object with an instance, by its index; scene : as it was.

    Points under the cursor stay under it: a grab that began beside the point (a marker) keeps that offset.
    """

    start: ArrayLike
    name: str = ""
    scene: Scene | None = None
    instance: int | None = None
    light: Movable | None = None
    axis: int | None = None  # number of the axis, None: the plane of the view
    plane: bool = False  # across the axis instead of along it
    shift: Array = field(default_factory=lambda: np.zeros(3))  # world space, scene units
    _offset: Array | None = None

    def constrain(self, axis: str, plane: bool = False) -> None:
        """Along the axis of that name, or with ``plane`` across it; the same again frees it."""
        index = AXES.index(axis)
        same = (self.axis, self.plane) == (index, plane)
        self.axis, self.plane = (None, False) if same else (index, plane)

    @property
    def text(self) -> str:
        """Where it may go."""
        if self.axis is None:
            return "in the plane of the view"
        return f"{'across' if self.plane else 'along'} {AXES[self.axis]}"

    def follow(self, origin: ArrayLike, direction: ArrayLike, forward: ArrayLike) -> bool:
        """The cursor's ray: origin and unit direction (3,), and the view's direction. Whether it has moved.

        A ray that tells no place, because it is parallel or leads away, moves nothing.
        """
        eye, ray = np.asarray(origin, np.float64), np.asarray(direction, np.float64)
        start, view = np.asarray(self.start, np.float64), np.asarray(forward, np.float64)
        if self._offset is None:
            free = _on_plane(eye, ray, start, view)
            self._offset = np.zeros(3) if free is None else free - start
        grabbed = start + self._offset
        if self.axis is None:
            point = _on_plane(eye, ray, grabbed, view)
        else:
            axis = np.eye(3)[self.axis]
            point = (_on_plane if self.plane else _on_line)(eye, ray, grabbed, axis)
        if point is None or not np.isfinite(point).all():
            return False
        before, self.shift = self.shift, point - grabbed
        return bool((self.shift != before).any())


def _on_plane(eye: Array, ray: Array, point: Array, normal: Array) -> Array | None:
    """Where a ray meets the plane through a point; None for one that does not."""
    cosine = float(ray @ normal)
    if abs(cosine) < PARALLEL:
        return None
    distance = float((point - eye) @ normal) / cosine
    return eye + distance * ray if distance > 0 else None


def _on_line(eye: Array, ray: Array, point: Array, axis: Array) -> Array | None:
    """The point of a line through ``point`` that a ray comes nearest to."""
    cosine = float(ray @ axis)
    sine2 = 1.0 - cosine * cosine
    if sine2 < PARALLEL**2:
        return None
    away = point - eye
    ray_offset, axis_offset = float(away @ ray), float(away @ axis)
    distance = (ray_offset - cosine * axis_offset) / sine2  # along the ray
    if distance <= 0:
        return None
    return point + (cosine * ray_offset - axis_offset) / sine2 * axis


# -- the lights of the scene on show, by markers -----------------------------------------------------------------------

REACH = 14.0  # window coordinates around a marker in which the cursor takes it
FAR_AWAY = 0.5  # of the scene's diagonal: where a light that is infinitely far has its marker

Position = tuple[float, float, float]


class LightMarkers:
    """All lights of the scene on show. visible : whether markers are drawn. chosen : (area, number) of the selected."""

    def __init__(self, view: Viewport) -> None:
        self.view = view
        self.visible = False
        self.chosen: tuple[bool, int] | None = None
        self._listed: tuple[Scene | None, list[Movable]] = (None, [])  # of a scene
        self._box: tuple[Scene, NDArray[np.float64]] | None = None  # of a scene: (2, 3)

    def listed(self) -> list[Movable]:
        """Every light."""
        scene = self.view.scene
        if self._listed[0] is not scene:
            self._listed = scene, [] if scene is None else movable_lights(scene)
        return self._listed[1]

    def is_chosen(self, light: Movable) -> bool:
        """Whether it is the selected one."""
        return self.chosen == (light.kind == "area", light.item_index)

    def next(self) -> Movable | None:
        """Select the next one, and show the markers."""
        listed = self.listed()
        if not listed:
            return None
        index = next((k for k, light in enumerate(listed) if self.is_chosen(light)), -1)
        light = listed[(index + 1) % len(listed)]
        self.visible, self.chosen = True, (light.kind == "area", light.item_index)
        return light

    def marker_position(self, light: Movable) -> NDArray[np.float64]:
        """(3,) where its marker is, world space."""
        if light.kind != "directional":
            return np.asarray(light.position, np.float64)
        middle, diagonal = self._frame()
        return middle + FAR_AWAY * diagonal * np.asarray(light.position)

    def shifted(self, light: Movable, shift: NDArray[np.float64]) -> Position:
        """Its position when the marker is shifted, world space."""
        position = self.marker_position(light) + shift
        if light.kind == "directional":
            position = position - self._frame()[0]
            if not position.any():
                return light.position
        return float(position[0]), float(position[1]), float(position[2])

    def _frame(self) -> tuple[NDArray[np.float64], float]:
        """The scene's middle, and its diagonal."""
        scene = self.view.scene
        assert scene is not None
        if self._box is None or self._box[0] is not scene:
            self._box = scene, scene.bounds()
        low, high = self._box[1]
        return (low + high) / 2, float(np.linalg.norm(high - low)) or 1.0

    def under(self, cursor: tuple[float, float]) -> Movable | None:
        """The light whose marker is nearest to the cursor, if it is drawn and near enough."""
        if not self.visible or self.view.controller is None:
            return None
        best, nearest = REACH, None
        for light, position in self.markers():
            away = float(np.hypot(position[0] - cursor[0], position[1] - cursor[1]))
            if away < best:
                best, nearest = away, light
        return nearest

    def markers(self) -> list[tuple[Movable, tuple[float, float]]]:
        """Lights that are before the camera, and where in the window."""
        listed, controller = self.listed(), self.view.controller
        if not listed or controller is None:
            return []
        positions = np.array([self.marker_position(light) for light in listed])
        on_screen, before = project_points(controller.camera, self.view.area.size, positions)
        return [
            (light, (float(x), float(y)))
            for light, (x, y), visible in zip(listed, on_screen, before, strict=True)
            if visible
        ]


def moved_light(scene: Scene, light: Movable, position: Sequence[float]) -> Scene:
    """The scene with a light without extent elsewhere."""
    x, y, z = map(float, position)
    lights = list(scene.lights)
    lights[light.item_index] = placed_light(lights[light.item_index], (x, y, z))
    return scene.with_parts(lights=lights)


# -- the clock ---------------------------------------------------------------------------------------------------------

FRAME = 1.0 / OPTIONS["fps"].value.default  # seconds of a step
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)  # multiples of the file's, that are offered


class AnimationPlayer:
    """The time of the animation on show.

    playing : whether time goes by. loop : begin again behind the end; else the last pose stays.
    speed   : multiple of the file's. seconds : the animation's time. due : whether it has changed since `take`.
    """

    def __init__(self) -> None:
        self.playing, self.loop, self.speed = False, True, 1.0
        self.seconds, self.due = 0.0, False

    def restart(self) -> None:
        """Another scene: its first moment, at rest; loop and speed stay."""
        self.playing, self.seconds, self.due = False, 0.0, False

    def toggle(self, duration: float) -> None:
        """Play or pause; from the first moment on where it had come to its end."""
        self.playing = not self.playing
        if self.playing and not self.loop and self.seconds >= duration:
            self.seek(0.0)

    def seek(self, seconds: float) -> None:
        """Go to a moment."""
        self.seconds, self.due = seconds, True

    def step(self, frames: int, duration: float) -> None:
        """Pause, and go ``frames`` frames on from (back, if negative) the nearest one; beyond an end: stop there,
        or in a loop go on from the other end."""
        self.playing = False
        last = int(duration / FRAME + 1e-6)
        frame = round(self.seconds / FRAME) + frames
        frame = frame % (last + 1) if self.loop else min(max(frame, 0), last)
        self.seek(frame * FRAME)

    def advance(self, elapsed: float, duration: float) -> None:
        """Time goes by: ``elapsed`` seconds."""
        seconds = self.seconds + elapsed * self.speed
        if seconds >= duration and not self.loop:
            self.playing, seconds = False, duration
        self.seek(seconds % duration if self.loop and duration > 0 else seconds)

    def take(self) -> float:
        """The moment to show, which is due no more."""
        self.due = False
        return self.seconds


# -- the animation -----------------------------------------------------------------------------------------------------


class SceneAnimation:
    """Poses a scene, once nothing follows the mouse any more. player : its clock."""

    def __init__(self, editing: ObjectEditing) -> None:
        self.editing, self.view, self.player = editing, editing.view, AnimationPlayer()
        self._animated_parts = AnimatedParts()
        self._chosen = False  # another animation has been, and is not shown yet
        self._first: tuple[float | None, int | str | None] = (None, None)  # moment and animation of the first scene

    def play(self) -> None:
        """Play or pause the animation."""
        scene = self._moving_scene()
        self.editing.drop()
        self.player.toggle(scene.duration)
        if self.player.playing:
            self.editing.make_movable()
        self._tell()

    def step(self, frames: int) -> None:
        """Pause the animation, and show it ``frames`` frames later."""
        scene = self._moving_scene()
        self.editing.drop()
        self.player.step(frames, scene.duration)
        self.editing.make_movable()
        self._tell()

    def next(self) -> None:
        """Show the scene's next animation."""
        self.choose((self._moving_scene().animation + 1) % len(self.names))

    def choose(self, animation: int | str) -> None:
        """Show an animation from its first moment on, by its name or number among `names`, or ``all`` at once.
        Parts moved by the one before are at rest again.

        Raises ViewerError for an unknown one, and where nothing moves.
        """
        self._moving_scene().play(animation)
        self.editing.drop()
        self._chosen = True
        self.seek(0.0)
        self._tell()

    def show_at(self, moment: float | None, animation: int | str | None) -> None:
        """Rest at a moment of an animation, as `seek_within` and `choose` do; None leaves it. Before there is
        a scene, this is for the one that comes.

        Raises ViewerError as these do; nothing has changed then.
        """
        if self.view.scene is None:
            before = self._first
            self._first = (before[0] if moment is None else moment, before[1] if animation is None else animation)
            return
        playing(self._moving_scene(), animation)
        if animation is not None:
            self.choose(animation)
        if moment is not None:
            self.seek_within(moment)
            self._tell()

    @property
    def names(self) -> list[str]:
        """The scene's animations by name."""
        scene = self.view.scene
        return [] if scene is None else [item.name for item in scene.animations]

    @property
    def name(self) -> str:
        """The name of the chosen one; empty without any."""
        scene = self.view.scene
        chosen = None if scene is None else scene.playing
        return "" if chosen is None else chosen.name

    def toggle_loop(self) -> None:
        """Whether the animation begins again behind its end."""
        self.player.loop = not self.player.loop
        self.view.say_switched("loop", self.player.loop)

    def _moving_scene(self) -> Scene:
        """The scene. Raises ViewerError where nothing moves in it, and where there is none."""
        scene = self.editing.scene
        if scene.duration == 0:
            raise ViewerError(
                "animation", "nothing moves in this scene", f"{self.view.keymap.text('turntable')} turns it"
            )
        return scene

    def _tell(self) -> None:
        player, name = self.player, f"'{self.name}' " if self.name else ""
        self.view.say(f"animation {name}{'plays' if player.playing else f'rests at {player.seconds:.2f} s'}")

    def seek(self, seconds: float) -> None:
        """Show another moment of the animation."""
        self.player.seek(seconds)
        self.editing.make_movable()
        self.view.wake()

    def seek_within(self, seconds: float) -> None:
        """Pause at a moment of the animation, at an end beyond it. Raises ViewerError where nothing moves."""
        scene = self._moving_scene()
        if np.isfinite(seconds):
            self.player.playing = False
            self.seek(min(max(seconds, 0.0), scene.duration))

    # -- the loop --------------------------------------------------------------------------------------------------

    def shown(self, same: bool) -> None:
        """A scene has come; ``same``: the one that was there, rebuilt or reread."""
        if not same:
            self.player.restart()
            self._animated_parts.clear()
            self._chosen = False
            first, self._first = self._first, (None, None)
            if first != (None, None):
                self.view.attempt(lambda: self.show_at(*first))

    @property
    def plays(self) -> bool:
        """Whether its time goes by."""
        return self.player.playing and self.editing.movable

    @property
    def due(self) -> bool:
        """Whether it has another pose to show."""
        return self.player.due and self.editing.movable

    def pose(self) -> None:
        """The animation's scene at its time."""
        chosen, self._chosen = self._chosen, False
        scene = self._animated_parts.rest(self.editing.scene) if chosen else self.editing.scene
        scene = self._animated_parts.posed(scene, self.player.take())
        if scene is not self.editing.scene:
            self.editing.show(scene)


# -- edits of the scene on show ----------------------------------------------------------------------------------------

TURN_SECONDS = 12.0  # once round on the turntable
MAX_REBUILT = 1 << 14  # triangles of a flat scene whose structure is built anew for each picture, in some 30 ms
TWO_LEVELS = {"grid": "two-level-grid"}  # structure of one level -> of two; of any other two-level-bvh


class ObjectEditing:
    """Moves static parts of the file; pictures in progress are finished first, since they see the scene as it was when
    they began."""

    def __init__(
        self, view: Viewport, scene_loader: SceneLoader, debug_views: DebugViews, markers: LightMarkers
    ) -> None:
        self.view, self.scene_loader, self.debug_views, self.markers = view, scene_loader, debug_views, markers
        self.animation = SceneAnimation(self)
        self._when_shown: Callable[[], None] | None = None
        self.turning = False
        self._grabbed: Grab | None = None
        self._dragging = False  # as long as a button is down
        self._moved = False  # the grab has, and nobody has seen it yet
        self._environment_turned = False  # the environment was
        self._next_scene: Scene | None = None  # by a program that changes the scene
        self._next_scene_until = 0.0  # until when another one is expected, by `time.monotonic`

    @property
    def grabbing(self) -> bool:
        """Whether something follows the mouse."""
        return self._grabbed is not None

    @property
    def active(self) -> bool:
        """Whether the picture changes by itself; nothing does while rendering is paused."""
        offers = self._next_scene is not None or time.monotonic() < self._next_scene_until
        return not self.view.paused and (self.turning or offers or self.animation.plays)

    @property
    def scene(self) -> Scene:
        """The scene on show. Raises SceneMissing."""
        return self.view.require_scene()[0].prepared.scene

    @property
    def movable(self) -> bool:
        """Whether motion compiles nothing, and does not wait long for a structure. A grid's programs hold its
        resolution, which may change."""
        renderer = self.view.renderer
        if renderer is None or renderer.prepared.structure.levels == 2:
            return renderer is not None
        return renderer.prepared.structure.name != "grid" and renderer.prepared.scene.triangle_count <= MAX_REBUILT

    def make_movable(self, action: Callable[[], None] = lambda: None) -> None:
        """Do something that moves an object: in a large scene under a structure of two levels, to which it changes if
        need be."""
        if self.movable:
            action()
            return
        kind = TWO_LEVELS.get(self.scene_loader.requested.accel, "two-level-bvh")
        self._when_shown = action
        self.scene_loader.set(accel=kind)
        self.view.say(f"objects move under a structure of two levels: {kind} is built")

    def show(self, scene: Scene) -> None:
        """Show an edit of the scene."""
        self.view.session.update(scene)
        self.changed()

    def changed(self) -> None:
        """Queries of the old scene are out of date."""
        self.debug_views.scene_changed()
        self.view.wake()

    # -- what is asked for -----------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Start or stop the turntable."""
        self.view.require_scene()
        self.turning = not self.turning
        if self.turning:
            self.view.attempt(lambda: choose_pivot(self.view))
        self.view.say_switched("turntable", self.turning)

    def offer(self, scene: Scene) -> None:
        """Show another scene, once no preview is in progress; where scenes follow one another, the picture is in
        motion."""
        self._grabbed, self._next_scene, self._next_scene_until = None, scene, time.monotonic() + HELD
        self.view.wake()

    def turn_environment(self, degrees: float) -> None:
        """Turn the environment about +Y by an angle."""
        settings = self.scene_loader.requested
        rotation = (settings.environment_rotation + degrees) % 360.0
        self.scene_loader.requested, self._environment_turned = settings.replace(environment_rotation=rotation), True
        self.view.wake()

    def grab(self) -> None:
        """The light whose marker is under the cursor, or else the object there, follows the mouse."""
        view = self.view
        if self.grabbing:
            self.drop()
            return
        view.require_scene()
        light = self.markers.under(view.input.cursor)
        if light is not None:
            self.grab_light(light)
            return

        def grab(instance: int, point: NDArray[np.float64] | None) -> None:
            if point is None:
                view.say("nothing under the cursor to grab")
            else:
                self._hold_instance(instance, point)

        view.trace_under_cursor(grab)

    def grab_light(self, light: Movable) -> None:
        """A light follows the mouse; one of a surface with its whole object."""
        self.markers.chosen = (light.kind == "area", light.item_index)
        if light.kind == "area":
            self._hold_instance(light.item_index, np.asarray(light.position))
        else:
            self._hold(Grab(self.markers.marker_position(light), light.name, self.scene, None, light))

    def drag_light(self) -> None:
        """The selected light, or the first one, follows the mouse until `end_drag`, wherever it is."""
        self.view.require_scene()
        self.drop()
        listed = self.markers.listed()
        light = next((item for item in listed if self.markers.is_chosen(item)), listed[0] if listed else None)
        if light is None:
            raise ViewerError("light", "the scene has none of its own to move")
        self.markers.visible = self._dragging = True
        self.grab_light(light)

    def end_drag(self) -> None:
        """The button is up: the light stays."""
        self._dragging = False
        self.drop()

    def move_light(self, light: Movable, position: tuple[float, float, float]) -> None:
        """Put a light elsewhere; of one that is nowhere the direction to it."""
        if light.kind == "area":
            shift = np.subtract(position, light.position)
            self.make_movable(lambda: self._shift_instance(light.item_index, self.scene, shift))
        else:
            self.show(moved_light(self.scene, light, position))

    def show_variant(self, name: str | None) -> None:
        """Show the scene in one of its material variants; None: as the file has it."""
        self.show(self.scene.with_variant(name))

    def _hold_instance(self, index: int, point: np.ndarray) -> None:
        instance, mesh = (
            self.scene.instances[index],
            self.scene.meshes[self.scene.instances[index].mesh],
        )
        name = instance.name or mesh.name or f"object {index}"
        dragged = self._dragging

        def hold() -> None:
            if self._dragging or not dragged:  # else the button is up before the structure is there
                self._hold(Grab(point, name, self.scene, index))

        self.make_movable(hold)

    def _hold(self, grabbed: Grab) -> None:
        self._grabbed, self.animation.player.playing, self._moved = grabbed, False, False
        self.follow()
        self._tell()

    def _tell(self) -> None:
        assert self._grabbed is not None
        name, constraint = self._grabbed.name, self._grabbed.text
        ends = "releasing the button" if self._dragging else "click or Enter"
        self.view.say(f"{name} follows the mouse {constraint}; X, Y, Z choose an axis, {ends} ends, Esc undoes")

    # -- the mouse and the keyboard ----------------------------------------------------------------------------------

    def follow(self) -> None:
        """The cursor has moved, or the camera."""
        grabbed, controller = self._grabbed, self.view.controller
        if grabbed is not None and controller is not None:
            self._moved |= grabbed.follow(*self.view.ray_under_cursor(), controller.camera.basis()[2])
            self.view.wake()

    def key(self, text: str) -> bool:
        """A key while something follows the mouse; whether it was for that."""
        grabbed = self._grabbed
        if grabbed is None:
            return False
        if text in ("Enter", "NumEnter"):
            self.drop()
        elif text == "Esc":
            self.undo()
        elif text.removeprefix("Shift+") in ("X", "Y", "Z"):
            grabbed.constrain(text[-1], text.startswith("Shift+"))
            self.follow()
            self._tell()
        else:
            return False
        return True

    def button(self, left: bool) -> bool:
        """A click; whether it ended a drag of an object."""
        if not self.grabbing:
            return False
        (self.drop if left else self.undo)()
        return True

    def drop(self) -> None:
        """Drop the dragged object where it is."""
        self._end("")

    def undo(self) -> None:
        """It goes back to where it was."""
        if self._grabbed is not None:
            self._grabbed.shift, self._moved = np.zeros(3), True
        self._end("put back")

    def _end(self, text: str) -> None:
        if self._grabbed is not None:
            self._apply()
            self._grabbed = None
            self.view.say(text)

    # -- the loop ----------------------------------------------------------------------------------------------------

    def shown(self, same: bool) -> None:
        """A scene has come; ``same``: the one that was there, rebuilt or reread."""
        self._grabbed = None
        self.animation.shown(same)
        action, self._when_shown = self._when_shown, None
        if same and action is not None:
            self.view.attempt(action)

    def update(self, dt: float) -> bool:
        """Advance motion by ``dt`` seconds, and show its edits, unless a preview is in progress; whether anything
        moves, or has still to be shown."""
        view = self.view
        if self.turning and self.active and view.controller is not None and not view.area.minimised:
            view.controller.orbit(-dt * 2 * np.pi / (TURN_SECONDS * ORBIT), 0.0)
        if self.animation.plays and self.active and view.scene is not None:
            self.animation.player.advance(dt, view.scene.duration)
        posed = self.animation.due
        pending = self._moved or posed or self._environment_turned or self._next_scene is not None
        if view.session.previewing or not pending:
            return self.active or pending
        if self._environment_turned:
            self._environment_turned = False
            view.session.update(environment_rotation=self.scene_loader.requested.environment_rotation)
            self.changed()
        elif self._next_scene is not None and view.renderer is not None and self.scene_loader.loading is None:
            offered, self._next_scene = self._next_scene, None
            view.attempt(lambda: self.show(offered))
        elif self._moved or posed:
            view.attempt(self._apply if self._moved else self.animation.pose)
        return True

    def _apply(self) -> None:
        """Move the dragged object to the mouse."""
        grabbed, moved, self._moved = self._grabbed, self._moved, False
        if grabbed is None or grabbed.scene is None or not moved:
            return
        if grabbed.instance is not None:
            self._shift_instance(grabbed.instance, grabbed.scene, grabbed.shift)
        elif grabbed.light is not None:
            position = self.markers.shifted(grabbed.light, grabbed.shift)
            self.show(moved_light(grabbed.scene, grabbed.light, position))

    def _shift_instance(self, index: int, scene: Scene, shift: np.ndarray) -> None:
        """An instance, with all that is one object with it, to so far from where it stands in ``scene``."""
        indices = scene.parts(index)
        shifted = np.array([scene.instances[instance].transform for instance in indices])
        shifted[:, :3, 3] += shift
        self.show(self.scene.moved(np.array(indices), shifted))
