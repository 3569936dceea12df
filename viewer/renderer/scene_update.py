"""The scene of a renderer: the first one, and its updates, which reuse what stays of the one on show."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError, warn
from raystream.formats.named import kind_of
from raystream.formats.objects import scene_from
from raystream.options.declare import Affects, join_words
from raystream.options.table import check
from raystream.programs import programs_with
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.inputs.camera import view
from raystream.renderer.inputs.lighting import scene_lighting
from raystream.renderer.inputs.prepared import PreparedScene, adapted, arranged, keeps_structure, prepare, prepared_by
from raystream.renderer.inputs.scene_copies import SceneCopy
from raystream.renderer.inputs.scene_diff import scene_changes
from raystream.renderer.inputs.settings import PREPARED, VIEW, Settings
from raystream.renderer.sampling.picture import Report
from raystream.scene.camera import Camera
from raystream.scene.deform import with_vertices
from raystream.scene.edits.animated import AnimatedParts
from raystream.scene.geometry.vertices import shifted
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module, Table, Texels, Volume
from raystream.stream.declare.limits import LIMITS, Limits

# -- arguments that are scenes, settings and transforms, checked -------------------------------------------------------

SCENE_KEYWORDS = ("variant", "lenient", "up")  # for files and objects that become a `Scene`


def load_scene(scene: Any, options: dict[str, Any], max_texture: int | None = None) -> Scene | PreparedScene:
    """The scene itself, or the one loaded from a name, arrays or another library's object, as of `raystream.load`.

    options : keywords of the call; those of the scene are removed, and a camera is converted with the scene.
    max_texture : the default of that option. Warns of the scene's warnings.

    Raises ViewerError for other objects, for a scene with references to missing parts, and for a file that cannot be
    read.
    """
    if isinstance(scene, PreparedScene):
        return scene
    if isinstance(scene, Scene):
        scene.check()
    resolved = scene_from(scene, options, max_texture)
    if resolved is not scene:
        warn(resolved.warnings)
    return resolved


def checked_settings(settings: object) -> Settings | None:
    """The settings, or None. Raises ViewerError for anything else, such as an option without its keyword."""
    if settings is None or isinstance(settings, Settings):
        return settings
    raise ViewerError("settings", f"expected a Settings, not {kind_of(settings)}", "options have names: depth=8")


def checked_transforms(
    transforms: Any, count: int, base: Sequence[float] = (0.0, 0.0, 0.0)
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ascending indices (N,) among ``count`` instances, and their transformations (N, 4, 4) relative to a base, from
    the argument of `raystream.Renderer.move`. Raises ViewerError."""
    hint = "give (I, 4, 4), or a dictionary of (4, 4) by the instance's number"
    numbered = f"they are numbered from 0 to {count - 1}"
    if isinstance(transforms, Mapping):
        for key in transforms:
            if isinstance(key, (bool, np.bool_)) or not isinstance(key, (int, np.integer)) or not 0 <= key < count:
                raise ViewerError("move", f"there is no instance {key!r}", numbered)
        keys = sorted(transforms)
        indices = np.array(keys, np.intp)
        matrices = np.zeros((len(keys), 4, 4))
        for k, key in enumerate(keys):
            matrix = _matrix_array(transforms[key], f"move: instance {key}", "give a matrix (4, 4)")
            if matrix.shape != (4, 4):
                raise ViewerError(f"move: instance {key}", f"shape {matrix.shape}", "give a matrix (4, 4)")
            matrices[k] = matrix
    else:
        matrices, indices = _matrix_array(transforms, "move", hint), np.arange(count)
    if matrices.shape != (len(indices), 4, 4):
        raise ViewerError("move", f"transformations have shape {matrices.shape} for {len(indices)} instances", hint)
    not_finite = ~np.isfinite(matrices).all(axis=(1, 2))
    if not_finite.any():
        raise ViewerError(
            f"move: instance {indices[not_finite][0]}", "a matrix holds numbers that are not finite", hint
        )
    if (matrices[:, 3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise ViewerError("move", "a matrix's last row is not 0 0 0 1", "transformations are affine")
    matrices = shifted(matrices, -np.array(base)) if any(base) else matrices
    return indices, matrices


def _matrix_array(matrix: Any, where: str, hint: str) -> NDArray[np.float64]:
    """The values as a float64 array. Raises ViewerError at ``where`` with a ``hint`` where they are no real numbers."""
    try:
        if np.iscomplexobj(matrix):
            raise TypeError("complex numbers")
        return np.array(matrix, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ViewerError(where, f"no transformation ({error})", hint) from None


def with_deformed_mesh(scene: Scene, mesh: int, positions: ArrayLike, normals: ArrayLike | None) -> Scene:
    """The scene with other vertices of a mesh, by its index; see `raystream.scene.deform.with_vertices`. Raises
    ViewerError for an unknown mesh."""
    count = len(scene.meshes)
    if isinstance(mesh, bool) or not isinstance(mesh, (int, np.integer)) or not 0 <= mesh < count:
        raise ViewerError("deform", f"there is no mesh {mesh!r}", f"they are numbered from 0 to {count - 1}")
    meshes = list(scene.meshes)
    meshes[mesh] = with_vertices(meshes[mesh], positions, normals)
    return scene.with_parts(meshes=meshes)


# -- limits ------------------------------------------------------------------------------------------------------------
# Whether a scene and its settings fit into the limits of the papers' day (`raystream.stream.declare.limits`).

# Name of a memory -> what its elements are, where that is not the name.
MEMORY_CONTENTS = {
    "grid_pointers": "voxels",
    "grid_lists": "entries of the voxels' lists",
    "nodes": "nodes of the tree",
}
SAMPLER_WITHOUT_BITS = "table"  # it needs no operations on bits


def check_limits(prepared: PreparedScene, settings: Settings) -> None:
    """Raises ViewerError, which names the part that no longer fits and a remedy, where ``settings.limits`` are
    exceeded."""
    limits = LIMITS.get(settings.limits)
    if limits is None:
        return
    flag = f"--limits {limits.name}"
    if settings.picture_program.maps_photons:
        what = "photon mapping came on hardware after it, whose fragments had floats of 32 bits (2003)"
        raise ViewerError(
            flag, what, f"take another --program: {join_words(programs_with(lambda program: not program.maps_photons))}"
        )
    remedies = list(_required_options(settings))
    if remedies:
        what = "programs of the day have neither loops nor bits: a pass is one call of one kernel"
        raise ViewerError(flag, what, f"add {' '.join(remedies)}")
    exceeded = [entry for entry in address_counts(prepared, settings, limits) if entry[0] > entry[2]]
    if exceeded:
        _, contents, limit = max(exceeded, key=lambda entry: entry[0] / entry[2])
        excess = ", ".join(f"{count:,} {name}" for count, name, _ in exceeded)
        raise ViewerError(flag, f"{excess}; an address tells {limit:,} apart", _size_hint(prepared, contents, limit))


def _required_options(settings: Settings) -> Iterator[str]:
    """The options, as flags with values, that the limits require and that the settings do not have."""
    if settings.machine != "multipass":
        yield "--machine multipass"
    if settings.fuse != "none":
        yield "--fuse none"
    if settings.unroll.counts is None:
        yield "--unroll 1"
    if settings.picture_program.progressive and settings.sampler != SAMPLER_WITHOUT_BITS:
        yield f"--sampler {SAMPLER_WITHOUT_BITS}"


def address_counts(prepared: PreparedScene, settings: Settings, limits: Limits) -> Iterator[tuple[int, str, int]]:
    """(count, name, limit) of all elements that programs address: records of tables, voxels, texels."""
    for module in _program_modules(prepared, settings):
        for memory in module.memories:
            contents = MEMORY_CONTENTS.get(memory.name, memory.name.replace("_", " "))
            if isinstance(memory, Volume):
                yield int(memory.data.size), contents, limits.integers
            elif isinstance(memory, Table | Texels):
                yield len(memory.data), contents, limits.integers


def _program_modules(prepared: PreparedScene, settings: Settings) -> list[Module]:
    """The modules of the settings' program, for passes of one kernel."""
    with_lighting, tree = settings.picture_program.progressive, prepared.light_tree(settings)
    return prepared.modules(True, with_lighting, settings.sampler, tree, prepared.camera_moves(settings))


def _size_hint(prepared: PreparedScene, contents: str, limit: int) -> str:
    """The advice to a user where there are more than ``limit`` elements named ``contents``."""
    if prepared.structure_options.accel == "grid" and contents in (
        MEMORY_CONTENTS["grid_pointers"],
        MEMORY_CONTENTS["grid_lists"],
    ):
        resolution = [int(n) for n in prepared.structure.built.resolution]
        fitting = _fitting_resolution(resolution, limit)
        return f"take --grid {fitting}" if fitting < min(resolution) else f"take a --grid below {min(resolution)}"
    return "use a smaller scene"


def _fitting_resolution(resolution: list[int], max_voxels: int) -> int:
    """Voxels along the shortest side of the finest grid of about these proportions with at most ``max_voxels``."""
    shortest = min(resolution)
    for size in range(shortest, 1, -1):
        if math.prod(math.ceil(n * size / shortest) for n in resolution) <= max_voxels:
            return size
    return 1


# -- the scene of a renderer -------------------------------------------------------------------------------------------


class SceneSource(NamedTuple):
    """A caller's scene. copy : finds edits in place. animated : the parts that its animation has moved."""

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
    """The first scene of a `raystream.Renderer`, by its arguments. options : keywords of the scene are removed. Raises
    ViewerError."""
    settings = checked_settings(settings)
    renderer_options = {name: value for name, value in options.items() if name not in SCENE_KEYWORDS}
    # Options are checked before a file is read.
    copied = SceneCopy(load_scene(scene, options, (settings or Settings()).replace(**renderer_options).max_texture))
    scene = copied.copy
    chosen = _chosen_settings(settings or Settings(), scene, settings, options)
    if not isinstance(scene, PreparedScene):
        prepared = prepare(scene, chosen, progress)
    elif scene.current and prepared_by(chosen, scene):
        prepared = scene
    else:
        prepared = prepare(scene.given, chosen, progress, scene if scene.current else None)
    check_limits(prepared, chosen)
    return ShownScene(SceneSource(copied, AnimatedParts()), chosen, prepared, view(chosen, prepared.scene))


def _chosen_settings(
    present: Settings, scene: Scene | PreparedScene | None, settings: Settings | None, changes: Mapping[str, Any]
) -> Settings:
    """The ``settings``, or else the ``present`` ones with those by which the scene was prepared; with ``changes``."""
    if settings is None and isinstance(scene, PreparedScene):
        present = present.replace(**{name: scene.settings[name] for name in PREPARED})
    return (settings or present).replace(**changes)


class SceneRequest(NamedTuple):
    """The checked arguments of an update. scene : None: the one on show. differences : option that differs from the
    present settings -> the part of the renderer affected."""

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
    """The checked arguments of `raystream.Renderer.update`. Raises ViewerError."""
    settings, present, prepared = checked_settings(settings), before.settings, before.prepared
    copied, animated = before.source
    if scene is not None:
        scene = load_scene(scene, changes, (settings or present).max_texture)
        copied = SceneCopy(scene, copied, prepared)
        scene = copied.copy
    if moment is not None or animation is not None:
        animated = animated.copy()
        if scene is None:  # these have become part of the scene on show
            changes = {"light": (), "classic": False, **changes}
        shown = prepared.scene if scene is None else scene.given if isinstance(scene, PreparedScene) else scene
        scene = animated.at(shown, check("moment", moment), animation)
    chosen = _chosen_settings(present, scene, settings, changes)
    differences = present.differences(chosen)
    fixed = [name for name, affects in differences.items() if affects == Affects.DEVICE]
    if fixed:
        raise ViewerError(f"option '{fixed[0]}'", "is fixed when the renderer is made", "make another Renderer")
    return SceneRequest(scene, SceneSource(copied, animated), chosen, differences)


def show_scene(
    gpu_scene: GpuScene, camera: Camera, request: SceneRequest, progress: Report | None = None
) -> tuple[Camera, Affects]:
    """Show the requested scene, or the one on show by other settings; returns its camera, and the deepest part
    affected.

    camera : of the scene on show. Raises ViewerError for a scene that does not fit; then nothing has changed.
    """
    before, scene, chosen, differences = gpu_scene.prepared, request.scene, request.settings, request.differences
    deepest = max(differences.values(), default=Affects.NOTHING)
    if scene is None and differences.keys().isdisjoint(PREPARED):
        check_limits(before, chosen)
        return (view(chosen, before.scene) if _affects_view(differences) else camera), deepest
    goal: PreparedScene | None = None
    source_scene, similar = before.given, before  # `prepared` shares equal parts with the similar scene

    def prepared(similar: PreparedScene) -> PreparedScene:
        with gpu_scene.device.lent_context():  # it may take long
            return prepare(source_scene, chosen, progress, similar)

    if isinstance(scene, PreparedScene):
        source_scene = scene.given
        if scene.current or scene.structure.built is before.structure.built:
            goal, similar = (scene if prepared_by(chosen, scene) else None), scene
    elif scene is not None:
        source_scene = scene
        if source_scene is before.given and differences.keys().isdisjoint(PREPARED):
            goal = before
    elif "ground" in differences:
        source_scene = source_scene.without_ground()  # moving an instance has made the ground part of the scene
    if goal is not None:
        shown = goal.scene
    else:
        same_scene = scene is None and deepest < Affects.SCENE
        shown = before.scene if same_scene else arranged(source_scene, chosen)
    edit = scene_changes(before.scene, shown)
    if edit.cameras or not edit.same_scene or _affects_view(differences):
        camera = view(chosen, shown)
    moves = (len(edit.moved) > 0 or bool(edit.posed)) and before.structure.levels == 2
    if goal is None and moves and keeps_structure(before, shown, chosen, edit):
        lighting = scene_lighting(shown, chosen, before.lighting, edit)
        goal = adapted(before, source_scene, shown, chosen, lighting, edit)
    else:
        goal = goal or prepared(similar)
        check_limits(goal, chosen)
    gpu_scene.show(goal, edit.moved, partial(prepared, before), edit.posed)
    if not edit.same_scene:
        request.source.animated.clear()
    return camera, max(deepest, Affects.SCENE) if edit.differs else deepest


def _affects_view(differences: Collection[str]) -> bool:
    """Whether an option of the view is among those that differ."""
    return any(name in VIEW for name in differences)
