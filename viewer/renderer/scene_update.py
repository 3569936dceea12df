"""The scene that an update of the renderer shows, prepared from the one on show where parts of it stay."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from viewer.options.declare import Affects
from viewer.renderer.device.gpu_scene import GpuScene
from viewer.renderer.device.limits import check_limits
from viewer.renderer.inputs.camera import view
from viewer.renderer.inputs.lighting import scene_lighting
from viewer.renderer.inputs.prepared import PreparedScene, adapted, agrees, arranged, keeps_structure, prepare
from viewer.renderer.inputs.scene_diff import SceneChanges, scene_changes
from viewer.renderer.inputs.settings import PREPARED, VIEW, Settings
from viewer.renderer.sampling.picture import Report
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene


class SceneUpdate(NamedTuple):
    """The next scene, its camera, and the parts in which it differs from the one on show."""

    goal: PreparedScene
    camera: Camera
    edit: SceneChanges


def chosen_settings(
    now: Settings, scene: Scene | PreparedScene | None, settings: Settings | None, changes: Mapping[str, Any]
) -> Settings:
    """The requested settings: those by which a scene was prepared hold with it, unless others are given."""
    if settings is None and isinstance(scene, PreparedScene):
        now = now.replace(**{name: scene.settings[name] for name in PREPARED})
    return (settings or now).replace(**changes)


def updated_scene(
    gpu_scene: GpuScene,
    camera: Camera,
    scene: Scene | PreparedScene | None,
    chosen: Settings,
    differences: Mapping[str, Affects],
    progress: Report | None,
) -> SceneUpdate:
    """Another scene, or the one on show by other settings, prepared and brought to the device.

    camera : of the scene on show. differences : options that differ from the present settings, and the parts affected.
    Raises ViewerError for a scene that does not fit; then nothing has changed.
    """
    before, goal = gpu_scene.prepared, None
    given, near = before.given, before
    if isinstance(scene, PreparedScene):
        given = scene.given
        if scene.current or scene.structure.built is before.structure.built:
            goal, near = (scene if agrees(chosen, scene) else None), scene
    elif scene is not None:
        given = scene
        if given is before.given and differences.keys().isdisjoint(PREPARED):
            goal = before
    elif "ground" in differences:
        given = given.without_ground()  # where something has moved, it had become part of the scene
    if goal is not None:
        shown = goal.scene
    else:
        same = scene is None and max(differences.values(), default=Affects.NOTHING) < Affects.SCENE
        shown = before.scene if same else arranged(given, chosen)
    edit = scene_changes(before.scene, shown)
    if edit.cameras or not edit.same or affects_view(differences):
        camera = view(chosen, shown)
    moves = (len(edit.moved) > 0 or bool(edit.posed)) and before.structure.levels == 2
    if goal is None and moves and keeps_structure(before, shown, chosen, edit):
        lighting = scene_lighting(shown, chosen, before.lighting, edit)
        goal = adapted(before, given, shown, chosen, lighting, edit)
    else:
        goal = goal or prepare(given, chosen, progress, near)
        check_limits(goal, chosen)
    gpu_scene.show(goal, edit.moved, partial(prepare, given, chosen, progress, before), edit.posed)
    return SceneUpdate(goal, camera, edit)


def affects_view(differences: Collection[str]) -> bool:
    """Whether an option of the camera is among them."""
    return any(name in VIEW for name in differences)
