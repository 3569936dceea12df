"""The scene of a renderer: the first one, and the next ones, prepared from the one on show where parts of it stay."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from raystream.base.errors import ViewerError
from raystream.options.declare import Affects
from raystream.options.table import check
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.device.limits import check_limits
from raystream.renderer.inputs.camera import view
from raystream.renderer.inputs.lighting import scene_lighting
from raystream.renderer.inputs.prepared import PreparedScene, adapted, agrees, arranged, keeps_structure, prepare
from raystream.renderer.inputs.scene_copies import SceneCopy
from raystream.renderer.inputs.scene_diff import scene_changes
from raystream.renderer.inputs.settings import PREPARED, VIEW, Settings
from raystream.renderer.inputs.validate import SCENE_KEYWORDS, scene_given, settings_given
from raystream.renderer.sampling.picture import Report
from raystream.scene.camera import Camera
from raystream.scene.edits.animated import AnimatedParts
from raystream.scene.scene import Scene


class SceneSource(NamedTuple):
    """The scene as a caller has it. copy : tells edits in place. animated : the parts that its animation has moved."""

    copy: SceneCopy
    animated: AnimatedParts


class ShownScene(NamedTuple):
    """The scene that a renderer shows, prepared by these settings, and its camera."""

    source: SceneSource
    settings: Settings
    prepared: PreparedScene
    camera: Camera


def first_scene(
    scene: Any, settings: Settings | None, options: dict[str, Any], progress: Report | None = None
) -> ShownScene:
    """A scene as of `raystream.Renderer`, whose arguments these are. options : those of the scene are taken out. Raises
    ViewerError."""
    settings = settings_given(settings)
    asked = {name: value for name, value in options.items() if name not in SCENE_KEYWORDS}
    # A wrong one is told before a file is read.
    copied = SceneCopy(scene_given(scene, options, (settings or Settings()).replace(**asked).max_texture))
    scene = copied.copy
    chosen = _chosen_settings(settings or Settings(), scene, settings, options)
    if not isinstance(scene, PreparedScene):
        prepared = prepare(scene, chosen, progress)
    elif scene.current and agrees(chosen, scene):
        prepared = scene
    else:
        prepared = prepare(scene.given, chosen, progress, scene if scene.current else None)
    check_limits(prepared, chosen)
    return ShownScene(SceneSource(copied, AnimatedParts()), chosen, prepared, view(chosen, prepared.scene))


def _chosen_settings(
    now: Settings, scene: Scene | PreparedScene | None, settings: Settings | None, changes: Mapping[str, Any]
) -> Settings:
    """The requested settings: those by which a scene was prepared hold with it, unless others are given."""
    if settings is None and isinstance(scene, PreparedScene):
        now = now.replace(**{name: scene.settings[name] for name in PREPARED})
    return (settings or now).replace(**changes)


class SceneRequest(NamedTuple):
    """The arguments of an update, checked. scene : None: the one on show. differences : options that differ from the
    present settings, and the parts affected."""

    scene: Scene | PreparedScene | None
    source: SceneSource
    settings: Settings
    differences: Mapping[str, Affects]


def scene_request(
    before: ShownScene,
    scene: Any,
    settings: Settings | None,
    changes: dict[str, Any],
    moment: float | None = None,
    animation: str | int | None = None,
) -> SceneRequest:
    """The arguments of `raystream.Renderer.update`. Raises ViewerError."""
    settings, now, prepared = settings_given(settings), before.settings, before.prepared
    copied, animated = before.source
    if scene is not None:
        scene = scene_given(scene, changes, (settings or now).max_texture)
        copied = SceneCopy(scene, copied, prepared)
        scene = copied.copy
    if moment is not None or animation is not None:
        animated = animated.copy()
        if scene is None:  # which light, ground and glass have become part of
            changes = {"light": (), "classic": False, **changes}
        shown = prepared.scene if scene is None else scene.given if isinstance(scene, PreparedScene) else scene
        scene = animated.at(shown, check("moment", moment), animation)
    chosen = _chosen_settings(now, scene, settings, changes)
    differences = now.differences(chosen)
    fixed = [name for name, affects in differences.items() if affects == Affects.DEVICE]
    if fixed:
        raise ViewerError(f"option '{fixed[0]}'", "is fixed when the renderer is made", "make another Renderer")
    return SceneRequest(scene, SceneSource(copied, animated), chosen, differences)


def show_scene(
    gpu_scene: GpuScene, camera: Camera, request: SceneRequest, progress: Report | None = None
) -> tuple[Camera, Affects]:
    """Show the requested scene, or the one on show by other settings; its camera, and the deepest part that differs.

    camera : of the scene on show. Raises ViewerError for a scene that does not fit; then nothing has changed.
    """
    before, scene, chosen, differences = gpu_scene.prepared, request.scene, request.settings, request.differences
    deepest = max(differences.values(), default=Affects.NOTHING)
    if scene is None and differences.keys().isdisjoint(PREPARED):
        check_limits(before, chosen)
        return (view(chosen, before.scene) if _affects_view(differences) else camera), deepest
    goal: PreparedScene | None = None
    source_scene, near = before.given, before

    def prepared(beside: PreparedScene) -> PreparedScene:
        with gpu_scene.device.aside():  # it may take long
            return prepare(source_scene, chosen, progress, beside)

    if isinstance(scene, PreparedScene):
        source_scene = scene.given
        if scene.current or scene.structure.built is before.structure.built:
            goal, near = (scene if agrees(chosen, scene) else None), scene
    elif scene is not None:
        source_scene = scene
        if source_scene is before.given and differences.keys().isdisjoint(PREPARED):
            goal = before
    elif "ground" in differences:
        source_scene = source_scene.without_ground()  # where something has moved, it had become part of the scene
    if goal is not None:
        shown = goal.scene
    else:
        same = scene is None and deepest < Affects.SCENE
        shown = before.scene if same else arranged(source_scene, chosen)
    edit = scene_changes(before.scene, shown)
    if edit.cameras or not edit.same or _affects_view(differences):
        camera = view(chosen, shown)
    moves = (len(edit.moved) > 0 or bool(edit.posed)) and before.structure.levels == 2
    if goal is None and moves and keeps_structure(before, shown, chosen, edit):
        lighting = scene_lighting(shown, chosen, before.lighting, edit)
        goal = adapted(before, source_scene, shown, chosen, lighting, edit)
    else:
        goal = goal or prepared(near)
        check_limits(goal, chosen)
    gpu_scene.show(goal, edit.moved, partial(prepared, before), edit.posed)
    if not edit.same:
        request.source.animated.forget()
    return camera, max(deepest, Affects.SCENE) if edit.differs else deepest


def _affects_view(differences: Collection[str]) -> bool:
    """Whether an option of the camera is among them."""
    return any(name in VIEW for name in differences)
