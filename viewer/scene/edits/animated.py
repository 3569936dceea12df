"""An animation in a scene that is edited as well: its changes, and the scene before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from raystream.base.errors import ViewerError
from raystream.scene.mesh import transforms_of
from raystream.scene.scene import Scene

PARTS = ("instances", "meshes", "cameras", "lights", "materials", "textures")  # lists of a scene that a pose changes


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
        self._changed: dict[tuple[str, int], tuple[Any, Any]] = {}  # (list, number) -> as it was before, as posed

    def at(self, scene: Scene, moment: float | None, animation: str | int | None) -> Scene:
        """The scene at a moment in seconds (None: the first) of an animation by name or number (None: the chosen one).

        Another animation begins at `rest`. Raises ViewerError for an unknown one, and where there is none.
        """
        check_animated(scene, animation)
        if animation is not None:
            scene = self.rest(playing(scene, animation))
        return self.posed(scene, moment or 0.0)

    def copy(self) -> AnimatedParts:
        """Another one that knows the same."""
        other = AnimatedParts()
        other._changed = dict(self._changed)
        return other

    def posed(self, scene: Scene, seconds: float) -> Scene:
        """The scene, edits and all, at a time of its animation; itself where nothing changes. See `Scene.pose`."""
        pose = scene.pose(seconds)
        differ = (transforms_of(scene.instances) != pose.transforms).any(axis=(1, 2))
        moved = np.flatnonzero(differ)
        posed = scene.moved(moved, pose.transforms[moved]) if len(moved) else scene
        posed = posed.deformed(pose.meshes).with_materials_of(pose)
        if pose.lights != scene.lights:
            posed = posed.with_parts(lights=pose.lights)
        if pose.cameras != scene.cameras:
            posed = posed.with_parts(cameras=pose.cameras)
        for name in PARTS:
            before, after = getattr(scene, name), getattr(posed, name)
            for index, (old, new) in enumerate(zip(before, after, strict=True) if before is not after else ()):
                if old is not new:
                    first, last = self._changed.get((name, index), (None, None))
                    self._changed[name, index] = (first if last is not None and _same(old, last) else old), new
        return posed

    def rest(self, scene: Scene) -> Scene:
        """The scene as it was before its animation; other changes since then stay."""
        lists: dict[str, list] = {}
        for (name, index), (first, last) in self._changed.items():
            parts = lists.setdefault(name, list(getattr(scene, name)))
            if index < len(parts) and _same(parts[index], last):
                # Another material variant may have come meanwhile.
                parts[index] = replace(parts[index], transform=first.transform) if name == "instances" else first
        self._changed.clear()
        return scene.with_parts(**lists) if lists else scene

    def forget(self) -> None:
        """Another scene comes."""
        self._changed.clear()


def _same(a: Any, b: Any) -> bool:
    """Whether a part is as another: an instance where it stands at the same place."""
    return a is b or (hasattr(a, "transform") and hasattr(b, "transform") and np.array_equal(a.transform, b.transform))
