"""Edits of the scene on show, and its animation: a clock that plays, pauses, loops, and steps by frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from raystream.base.errors import ViewerError
from raystream.options.table import OPTIONS
from raystream.scene.edits.animated import AnimatedParts, playing
from raystream.scene.scene import Scene
from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.scene_loader import SceneLoader
from raystream.viewport.viewport import Viewport

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


# -- edits of the scene on show ----------------------------------------------------------------------------------------

MOST_REBUILT = 1 << 14  # triangles of a flat scene whose structure is built anew for each picture, in some 30 ms
TWO_LEVELS = {"grid": "two-level-grid"}  # structure of one level -> of two; of any other two-level-bvh


class SceneEdits:
    """Shows edits of a view's scene."""

    def __init__(self, view: Viewport, scene_loader: SceneLoader, debug_views: DebugViews) -> None:
        self.view, self.scene_loader, self.debug_views = view, scene_loader, debug_views
        self._when_shown: Callable[[], None] | None = None

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
        return renderer.prepared.structure.name != "grid" and renderer.prepared.scene.triangle_count <= MOST_REBUILT

    def make_movable(self, then: Callable[[], None] = lambda: None) -> None:
        """Do something that moves an object: in a large scene under a structure of two levels, to which it changes if
        need be."""
        if self.movable:
            then()
            return
        kind = TWO_LEVELS.get(self.scene_loader.requested.accel, "two-level-bvh")
        self._when_shown = then
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

    def shown(self, same: bool) -> None:
        """A scene has come; ``same``: the one that was there, rebuilt or reread."""
        then, self._when_shown = self._when_shown, None
        if same and then is not None:
            self.view.attempt(then)


# -- the animation -----------------------------------------------------------------------------------------------------


class SceneAnimation:
    """Poses a scene. player : its clock. drop : called before, so that nothing follows the mouse."""

    def __init__(self, edits: SceneEdits, drop: Callable[[], None]) -> None:
        self.edits, self.view, self.player, self._drop = edits, edits.view, AnimationPlayer(), drop
        self._animated_parts = AnimatedParts()
        self._chosen = False  # another animation has been, and is not shown yet
        self._first: tuple[float | None, int | str | None] = (None, None)  # moment and animation of the first scene

    def play(self) -> None:
        """Play or pause the animation."""
        scene = self._moving_scene()
        self._drop()
        self.player.toggle(scene.duration)
        if self.player.playing:
            self.edits.make_movable()
        self._tell()

    def step(self, frames: int) -> None:
        """Pause the animation, and show it ``frames`` frames later."""
        scene = self._moving_scene()
        self._drop()
        self.player.step(frames, scene.duration)
        self.edits.make_movable()
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
        self._drop()
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
        scene = self.edits.scene
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
        self.edits.make_movable()
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
        return self.player.playing and self.edits.movable

    @property
    def due(self) -> bool:
        """Whether it has another pose to show."""
        return self.player.due and self.edits.movable

    def pose(self) -> None:
        """The animation's scene at its time."""
        chosen, self._chosen = self._chosen, False
        scene = self._animated_parts.rest(self.edits.scene) if chosen else self.edits.scene
        scene = self._animated_parts.posed(scene, self.player.take())
        if scene is not self.edits.scene:
            self.edits.show(scene)
