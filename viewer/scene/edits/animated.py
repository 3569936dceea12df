"""An animation in a scene that is edited as well: its changes, and the scene before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from raystream.base.errors import ViewerError
from raystream.scene.mesh import transforms_of
from raystream.scene.scene import Scene

POSED_LISTS = ("instances", "meshes", "cameras", "lights", "materials", "textures")  # of a scene, that a pose changes


def playing(scene: Scene, animation: str | int | None) -> Scene:
    """The scene with an animation chosen as by `Scene.play`; itself for None. Raises ViewerError for an unknown one."""
    if animation is None:
        return scene
    chosen = scene.with_parts()  # scenes are values
    chosen.play(animation)
    return chosen


def check_animated(scene: Scene, animation: str | int | None) -> None:
    """Raises ViewerError where nothing moves, and for an unknown animation; None: the chosen one."""
    if not scene.animations:
        raise ViewerError(scene.name, "nothing moves in it")
    playing(scene, animation)


class AnimatedParts:
    """The parts of a scene that its animation has changed since `rest`."""

    def __init__(self) -> None:
        self._changed: dict[tuple[str, int], tuple[Any, Any]] = {}  # (list, index) -> (original, last posed)

    def at(self, scene: Scene, moment: float | None, animation: str | int | None) -> Scene:
        """The scene at a moment in seconds (None: the first) of an animation by name or number (None: the chosen one).

        Another animation begins at `rest`. Raises ViewerError for an unknown one, and where there is none.
        """
        check_animated(scene, animation)
        if animation is not None:
            scene = self.rest(playing(scene, animation))
        return self.posed(scene, moment or 0.0)

    def copy(self) -> AnimatedParts:
        """An independent copy."""
        other = AnimatedParts()
        other._changed = dict(self._changed)
        return other

    def posed(self, scene: Scene, seconds: float) -> Scene:
        """The scene, edits and all, at a time of its animation; itself where nothing changes. See `Scene.pose`."""
        pose = scene.pose(seconds)
        is_moved = (transforms_of(scene.instances) != pose.transforms).any(axis=(1, 2))
        moved_instances = np.flatnonzero(is_moved)
        posed = scene.moved(moved_instances, pose.transforms[moved_instances]) if len(moved_instances) else scene
        posed = posed.deformed(pose.meshes).with_materials_of(pose)
        if pose.lights != scene.lights:
            posed = posed.with_parts(lights=pose.lights)
        if pose.cameras != scene.cameras:
            posed = posed.with_parts(cameras=pose.cameras)
        for name in POSED_LISTS:
            before, after = getattr(scene, name), getattr(posed, name)
            for index, (old, new) in enumerate(zip(before, after, strict=True) if before is not after else ()):
                if old is not new:
                    original, last = self._changed.get((name, index), (None, None))
                    is_ours = last is not None and _is_same_part(old, last)  # or else an edit has replaced it
                    self._changed[name, index] = original if is_ours else old, new
        return posed

    def rest(self, scene: Scene) -> Scene:
        """The scene as it was before its animation; other changes since then stay."""
        lists: dict[str, list] = {}
        for (name, index), (original, last_posed) in self._changed.items():
            items = lists.setdefault(name, list(getattr(scene, name)))
            if index < len(items) and _is_same_part(items[index], last_posed):
                # Another material variant may have come meanwhile.
                items[index] = replace(items[index], transform=original.transform) if name == "instances" else original
        self._changed.clear()
        return scene.with_parts(**lists) if lists else scene

    def clear(self) -> None:
        """Forget all changes, for another scene."""
        self._changed.clear()


def _is_same_part(a: Any, b: Any) -> bool:
    """Whether two items of a list are one, or instances of equal transforms."""
    return a is b or (hasattr(a, "transform") and hasattr(b, "transform") and np.array_equal(a.transform, b.transform))
