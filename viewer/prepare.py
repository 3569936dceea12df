"""What a scene becomes before it meets OpenGL: the structure over its triangles or instances, and all modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer import options
from viewer.accel import structures
from viewer.accel.structures import Recipe, Structure
from viewer.scene.scene import Scene, Triangles
from viewer.shading.geometry import flat_geometry
from viewer.shading.geometry_objects import object_geometry
from viewer.shading.materials import appearance
from viewer.shading.modules import constant_environment, pinhole
from viewer.stream.kernel import Module


@dataclass(frozen=True)
class Prepared:
    """A scene ready to be uploaded; made without OpenGL, so that a worker thread can."""

    scene: Scene
    structure: Structure
    recipe: Recipe
    shading: list[Module]

    @cached_property
    def triangles(self) -> Triangles:
        """The scene's triangles in world space; of two levels made when first asked for, which nothing here does."""
        return self.scene.flatten()

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(I + 1,): the scene's number of each instance's first triangle, and the count of all at the end."""
        counts = [len(self.scene.meshes[instance.mesh].triangles) for instance in self.scene.instances]
        return np.cumsum([0, *counts], dtype=np.int64)

    def numbered(self, hits: NDArray) -> tuple[NDArray, NDArray[np.int32]]:
        """Of hits (...) of record `HIT`: the triangle's number in the scene and its instance's, both -1 for none.

        Triangles are int32 where all of the scene's numbers are, else int64.
        """
        number, instance = hits["triangle"].astype(np.int64), hits["instance"].astype(np.int64)
        hit = number >= 0
        if self.structure.levels == 2:
            number = np.where(hit, self.starts[instance] + number, -1)
        else:
            instance = np.searchsorted(self.starts, number, side="right") - 1
        kind = np.int32 if self.starts[-1] <= np.iinfo(np.int32).max else np.int64
        return number.astype(kind), np.where(hit, instance, -1).astype(np.int32)

    def barycentrics(self, hits: NDArray) -> NDArray[np.float32]:
        """Of hits (N,) of record `HIT`: (N, 2), weights of the corners that are second and third when flattened."""
        weights = hits["barycentric"].copy()
        if self.structure.levels == 2:
            hit = np.flatnonzero(hits["triangle"] >= 0)
            turned = hit[self.structure.built.mirrored[hits["instance"][hit]]]
            weights[turned] = weights[turned, ::-1]
        return weights

    def moved(self, scene: Scene) -> Prepared:
        """The same with a scene whose instances stand elsewhere, for which the structure has been changed."""
        made = replace(self, scene=scene)
        made.__dict__["starts"] = self.starts
        return made

    def modules(self, stepwise: bool = False) -> list[Module]:
        """All modules: for passes that take a ray to its hit, or for ``stepwise`` passes of one kernel each."""
        return [*self.structure.modules(stepwise), *self.shading]


def prepare(scene: Scene, progress: Callable[[float, str], None] | None = None, **recipe: Any) -> Prepared:
    """Build a scene's structure, over its flattened triangles or over instances of its meshes; the keywords are the
    options of scope ``prepare``.

    Raises ViewerError for a value out of range and a scene that does not fit.
    """
    chosen = Recipe(**{name: options.check(name, value) for name, value in recipe.items()})
    flat = None
    if chosen.accel in structures.FLAT:
        flat = scene.flatten()
        structure = structures.FLAT[chosen.accel](flat.corners(), chosen, progress)
        geometry = flat_geometry(flat)
    else:
        structure = structures.over_instances(scene, chosen, progress)
        geometry = object_geometry(structure.built.objects)
    shading = [
        pinhole(scene.camera()),
        geometry,
        *appearance(scene.materials, scene.textures),
        constant_environment(),
    ]
    made = Prepared(scene, structure, chosen, shading)
    if flat is not None:
        made.__dict__["triangles"] = flat  # it is at hand
    return made
