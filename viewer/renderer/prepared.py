"""What a scene becomes before it meets OpenGL: the structure over its triangles or instances, and all modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.accel import structures
from viewer.accel.structures import Recipe, Structure
from viewer.cameras.lens import thin_lens
from viewer.cameras.pinhole import constant_environment
from viewer.film.checkpoint import fingerprint
from viewer.formats.image.environment_maps import environment_of
from viewer.lighting.each_light import each_light
from viewer.lighting.environment import environment as environment_module
from viewer.lighting.lights import LightList, scene_lights
from viewer.lighting.path import path_settings, whitted_settings
from viewer.lighting.sampler import sampler as sampler_module
from viewer.materials.geometry import flat_geometry
from viewer.materials.geometry_objects import object_geometry
from viewer.materials.tables import appearance, with_light_density
from viewer.options import table as options
from viewer.scene.environment import Environment
from viewer.scene.scene import Scene, Triangles
from viewer.stream.declare.kernel import Module


@dataclass
class Lighting:
    """What shines on a scene. environment and listed : as data. notes : remarks for the user. each : the lights' module
    for programs that ask all of them."""

    environment: Environment
    listed: LightList
    notes: list[str]
    each: Module
    _plain: list[Module] = field(default_factory=lambda: [constant_environment()], repr=False)
    _lit: list[Module] = field(default_factory=list, repr=False)
    _far: list[Module] = field(default_factory=list, repr=False)  # the environment's, whose tables may be large
    _samplers: dict[str, Module] = field(default_factory=dict, repr=False)

    def over(self, scene: Scene) -> Lighting:
        """The same environment over another scene."""
        listed = scene_lights(scene, self.environment)
        return Lighting(self.environment, listed, self.notes, each_light(scene, self.environment), _far=self._far)

    def modules(self, lit: bool, sampler: str) -> list[Module]:
        """The modules of both; the same objects every time, so that they are uploaded once."""
        if not lit:
            return self._plain
        if not self._lit:
            if not self._far:
                self._far.append(environment_module(self.environment))
            self._lit = [*self._far, self.listed.module(), path_settings()]
            self._lit += [self.each, whitted_settings()]
        if sampler not in self._samplers:
            self._samplers[sampler] = sampler_module(sampler)
        return [*self._lit, self._samplers[sampler]]


@dataclass(frozen=True)
class Prepared:
    """A scene ready to be uploaded; made without OpenGL, so that a worker thread can."""

    scene: Scene
    structure: Structure
    recipe: Recipe
    shading: list[Module]
    lighting: Lighting

    @cached_property
    def triangles(self) -> Triangles:
        """The scene's triangles in world space; of two levels made when first asked for, which nothing here does."""
        return self.scene.flatten()

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(I + 1,): the scene's number of each instance's first triangle, and the count of all at the end."""
        counts = [len(self.scene.meshes[instance.mesh].triangles) for instance in self.scene.instances]
        return np.cumsum([0, *counts], dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Differs where anything does that the light in a picture depends on."""
        scene = self.scene
        looks = (scene.materials, scene.textures, scene.lights, self.lighting.environment)
        return fingerprint(scene.meshes, scene.instances, *looks)

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

    def moved(self, scene: Scene, numbers: NDArray[np.intp]) -> Prepared:
        """The same with a scene whose instances of these numbers stand elsewhere, for which the structure has been
        changed. Lights are listed anew where one of these shines; then ``shading`` and ``lighting`` are other ones."""
        made = replace(self, scene=scene)
        if _emits(scene, numbers):
            lighting = self.lighting.over(scene)
            looks = with_light_density(self.shading[2:], scene.materials, len(scene.textures), lighting.listed.density)
            made = replace(made, shading=[*self.shading[:2], *looks], lighting=lighting)
        made.__dict__["starts"] = self.starts
        return made

    def rebuilt(self, scene: Scene) -> Prepared:
        """Another scene in the same environment, its structure by the same recipe."""
        return _prepared(scene, self.recipe, self.lighting.over(scene), None)

    def modules(self, stepwise: bool = False, lit: bool = False, sampler: str = "sobol") -> list[Module]:
        """All modules: for passes that take a ray to its hit, or for ``stepwise`` passes of one kernel each.

        lit : with the scene's lights and surroundings, and random numbers by that ``sampler``; else before a plain
        background.
        """
        return [*self.structure.modules(stepwise), *self.shading, *self.lighting.modules(lit, sampler)]


def scene_lighting(scene: Scene, environment: Any = None, rotation: float = 0.0) -> Lighting:
    """A scene's lights in an environment: the value of ``--environment``, turned about +Y by so many degrees.

    Raises ViewerError for a file that cannot be read.
    """
    found, notes = environment_of(environment, rotation, lit=scene_lights(scene).count > 0)
    listed = scene_lights(scene, found)
    return Lighting(found, listed, [*notes, *listed.warnings], each_light(scene, found))


def prepare(
    scene: Scene,
    progress: Callable[[float, str], None] | None = None,
    environment: Any = None,
    environment_rotation: float = 0.0,
    **recipe: Any,
) -> Prepared:
    """Build a scene's structure, over its flattened triangles or over instances of its meshes; the keywords of
    ``recipe`` are the options of scope ``prepare``.

    Raises ViewerError for a value out of range and a scene that does not fit.
    """
    chosen = Recipe(**{name: options.check(name, value) for name, value in recipe.items()})
    if chosen.accel == "auto":
        chosen = replace(chosen, accel=structures.automatic(scene))
    lighting = scene_lighting(
        scene,
        options.check("environment", environment),
        options.check("environment_rotation", environment_rotation),
    )
    return _prepared(scene, chosen, lighting, progress)


def _prepared(
    scene: Scene, recipe: Recipe, lighting: Lighting, progress: Callable[[float, str], None] | None
) -> Prepared:
    flat = None
    if recipe.accel in structures.FLAT:
        flat = scene.flatten()
        structure = structures.FLAT[recipe.accel](flat.corners(), recipe, progress)
        geometry = flat_geometry(flat)
    else:
        structure = structures.over_instances(scene, recipe, progress)
        geometry = object_geometry(structure.built.objects)
    looks = appearance(scene.materials, scene.textures, lighting.listed.density)
    made = Prepared(scene, structure, recipe, [thin_lens(scene.camera()), geometry, *looks], lighting)
    if flat is not None:
        made.__dict__["triangles"] = flat  # it is at hand
    return made


def _emits(scene: Scene, numbers: NDArray[np.intp]) -> bool:
    """Whether some of these instances have a surface that shines."""
    emitting = {number for number, material in enumerate(scene.materials) if any(material.emission)}
    if not emitting:
        return False
    drawn = {(scene.instances[number].mesh, scene.instances[number].material) for number in numbers.tolist()}
    used = (np.unique(scene.meshes[mesh].materials).tolist() if own is None else [own] for mesh, own in drawn)
    return any(not emitting.isdisjoint(materials) for materials in used)
