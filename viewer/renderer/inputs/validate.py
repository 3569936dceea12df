"""Checks of a renderer's arguments: a scene in any of its forms, settings, and transformations of instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError, warn
from raystream.formats.named import kind_of
from raystream.formats.objects import taken
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.scene.deform import with_vertices
from raystream.scene.geometry.vertices import shifted
from raystream.scene.scene import Scene

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
    resolved = taken(scene, options, max_texture)
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
