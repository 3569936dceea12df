"""The scene of a renderer: the first one, and the next ones, prepared from the one on show where parts of it stay."""

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
from raystream.renderer.inputs.prepared import PreparedScene, adapted, agrees, arranged, keeps_structure, prepare
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

SCENE_KEYWORDS = ("variant", "lenient", "up")  # of what is no `Scene` yet


def scene_given(scene: Any, options: dict[str, Any], max_texture: int | None = None) -> Scene | PreparedScene:
    """The scene itself, or that of a name, arrays or another library's object as of `raystream.load`, with its
    warnings.

    options : keywords of the call; those of the scene are taken out, and a camera is converted with the scene.
    max_texture : where they have none.

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


def settings_given(settings: object) -> Settings | None:
    """The settings, or None. Raises ViewerError for anything else, such as an option without its keyword."""
    if settings is None or isinstance(settings, Settings):
        return settings
    raise ViewerError("settings", f"expected a Settings, not {kind_of(settings)}", "options have names: depth=8")


def placed(
    transforms: Any, count: int, base: Sequence[float] = (0.0, 0.0, 0.0)
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ascending indices (N,) of instances among ``count``, and where they go (N, 4, 4) relative to a base."""
    hint = "give (I, 4, 4), or a dictionary of (4, 4) by the instance's number"
    numbered = f"they are numbered from 0 to {count - 1}"
    if isinstance(transforms, Mapping):
        for key in transforms:
            if isinstance(key, (bool, np.bool_)) or not isinstance(key, (int, np.integer)) or not 0 <= key < count:
                raise ViewerError("move", f"there is no instance {key!r}", numbered)
        chosen = sorted(transforms)
        indices = np.array(chosen, np.intp)
        matrices = np.zeros((len(chosen), 4, 4))
        for k, key in enumerate(chosen):
            matrix = _real(transforms[key], f"move: instance {key}", "give a matrix (4, 4)")
            if matrix.shape != (4, 4):
                raise ViewerError(f"move: instance {key}", f"shape {matrix.shape}", "give a matrix (4, 4)")
            matrices[k] = matrix
    else:
        matrices, indices = _real(transforms, "move", hint), np.arange(count)
    if matrices.shape != (len(indices), 4, 4):
        raise ViewerError("move", f"transformations have shape {matrices.shape} for {len(indices)} instances", hint)
    broken = ~np.isfinite(matrices).all(axis=(1, 2))
    if broken.any():
        raise ViewerError(f"move: instance {indices[broken][0]}", "a matrix holds numbers that are not finite", hint)
    if (matrices[:, 3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise ViewerError("move", "a matrix's last row is not 0 0 0 1", "transformations are affine")
    matrices = shifted(matrices, -np.array(base)) if any(base) else matrices
    return indices, matrices


def _real(matrix: Any, where: str, hint: str) -> NDArray[np.float64]:
    try:
        if np.iscomplexobj(matrix):
            raise TypeError("complex numbers")
        return np.array(matrix, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ViewerError(where, f"no transformation ({error})", hint) from None


def deformed(scene: Scene, mesh: int, positions: ArrayLike, normals: ArrayLike | None) -> Scene:
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

# What the elements of a memory are, where its name does not say it.
WORDS = {"grid_pointers": "voxels", "grid_lists": "entries of the voxels' lists", "nodes": "nodes of the tree"}
WITHOUT_BITS = "table"  # the sampler that needs no operations on bits


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
    remedies = list(_conflicts(settings))
    if remedies:
        what = "programs of the day have neither loops nor bits: a pass is one call of one kernel"
        raise ViewerError(flag, what, f"add {' '.join(remedies)}")
    over = [(count, word, most) for count, word, most in sizes(prepared, settings, limits) if count > most]
    if over:
        _, word, most = max(over, key=lambda size: size[0] / size[2])
        excess = ", ".join(f"{n:,} {w}" for n, w, _ in over)
        raise ViewerError(flag, f"{excess}; an address tells {most:,} apart", _hint(prepared, word, most))


def _conflicts(settings: Settings) -> Iterator[str]:
    """Options that would have to be others."""
    if settings.machine != "multipass":
        yield "--machine multipass"
    if settings.fuse != "none":
        yield "--fuse none"
    if settings.unroll.counts is None:
        yield "--unroll 1"
    if settings.picture_program.progressive and settings.sampler != WITHOUT_BITS:
        yield f"--sampler {WITHOUT_BITS}"


def sizes(prepared: PreparedScene, settings: Settings, limits: Limits) -> Iterator[tuple[int, str, int]]:
    """(number, name, most) of all that programs address: records of tables, voxels, texels of pictures."""
    for module in _modules(prepared, settings):
        for memory in module.memories:
            word = WORDS.get(memory.name, memory.name.replace("_", " "))
            if isinstance(memory, Volume):
                yield int(memory.data.size), word, limits.integers
            elif isinstance(memory, Table | Texels):
                yield len(memory.data), word, limits.integers


def _modules(prepared: PreparedScene, settings: Settings) -> list[Module]:
    lit, tree = settings.picture_program.progressive, prepared.light_tree(settings)
    return prepared.modules(True, lit, settings.sampler, tree, prepared.camera_moves(settings))


def _hint(prepared: PreparedScene, word: str, most: int) -> str:
    if prepared.structure_options.accel == "grid" and word in (WORDS["grid_pointers"], WORDS["grid_lists"]):
        resolution = [int(n) for n in prepared.structure.built.resolution]
        largest = _largest_grid(resolution, most)
        return f"take --grid {largest}" if largest < min(resolution) else f"take a --grid below {min(resolution)}"
    return "use a smaller scene"


def _largest_grid(resolution: list[int], most: int) -> int:
    """Voxels along the shortest side of a grid of about these proportions with at most that number in all."""
    least = min(resolution)
    for size in range(least, 1, -1):
        if math.prod(math.ceil(n * size / least) for n in resolution) <= most:
            return size
    return 1


# -- the scene of a renderer -------------------------------------------------------------------------------------------


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
        with gpu_scene.device.lent_context():  # it may take long
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
        request.source.animated.clear()
    return camera, max(deepest, Affects.SCENE) if edit.differs else deepest


def _affects_view(differences: Collection[str]) -> bool:
    """Whether an option of the camera is among them."""
    return any(name in VIEW for name in differences)
