"""All that a recipe's pictures are made of: models, environments and the dataset's objects, and scenes of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream import formats
from raystream.base.errors import ViewerError
from raystream.base.version import __version__
from raystream.dataset.recipe import DatasetRecipe, Model
from raystream.dataset.sampling import Placement, PlacementReport, SceneLayout, Shape, sample_layout
from raystream.film.files.checkpoint import fingerprint
from raystream.film.mattes import classes, objects, shortened, unique
from raystream.formats.image.environment_maps import load as load_environment
from raystream.scene import builtin
from raystream.scene.environment import ImageEnvironment
from raystream.scene.geometry.bounds import used_points
from raystream.scene.material import TEXTURE_FIELDS, Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene
from raystream.scene.texture import Texture

BUILT_IN = ("none", "sky", "studio")
MIN_EXTENT = 1e-12  # scene units, of a model's longest side
Environment = str | tuple[float, float, float] | ImageEnvironment


class Kind(NamedTuple):
    """An annotated object, of which scenes have copies. model : index of the recipe's. part : of the model's objects,
    -1: all of it. category : an index of `DatasetStage.categories`."""

    model: int
    part: int
    name: str
    category: int


class PlacedObject(NamedTuple):
    """A copy of a kind, by its index, in a scene."""

    kind: int
    placement: Placement


@dataclass(frozen=True, eq=False)
class Asset:
    """A model as it is read: its scene, its shape, the middle (3,) of its box, and of each instance the part that it
    is of, 0 where it is not split."""

    scene: Scene
    shape: Shape
    middle: NDArray[np.float64]
    parts: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Arrangement:
    """A scene of the dataset, with the copies in it and of each instance the copy's number, -1 for none (I + 1,):
    the last is that of the rest, such as the ground."""

    scene: Scene
    objects: tuple[PlacedObject, ...]
    owners: NDArray[np.int32]


class DatasetStage:
    """The models and environments of a recipe, read; it can be sent to another process.

    kinds, categories : of the dataset. depth_scale : mm of a step of depths.
    notes : remarks on the files.

    Raises ViewerError for a file that is missing or cannot be read, and for a model of no extent.
    """

    def __init__(self, recipe: DatasetRecipe) -> None:
        self.recipe = recipe
        names = unique([model.name or Path(model.file).stem for model in recipe.models])
        labels: dict[str, int] = {}
        self.assets: list[Asset] = []
        self.kinds: list[Kind] = []
        self.notes: list[str] = []
        for index, (model, name) in enumerate(zip(recipe.models, names, strict=True)):
            asset = _load_asset(recipe, model, f"{recipe.name}: models[{index}]")
            self.assets.append(asset)
            self.notes += asset.scene.warnings
            for part, object_name, category in _kinds(asset.scene, model, name) if model.annotate else ():
                self.kinds.append(Kind(index, part, object_name, labels.setdefault(category, len(labels))))
        self.categories = tuple(labels)
        self.depth_scale = recipe.depth_scale or _round_up(2 * 1000 * recipe.cameras.distance[1] / 0xFFFF)
        self.environments = [self._environment(choice) for choice in recipe.environment.choices]
        self._kind_indices = {(kind.model, kind.part): index for index, kind in enumerate(self.kinds)}
        self._meshes, self._materials, self._textures = self._merge_models()

    @cached_property
    def digest(self) -> str:
        """A digest of all that the pictures depend on, to tell a manifest's or a worker's."""
        recipe = self.recipe
        content = [(asset.scene.meshes, asset.scene.instances, asset.scene.materials) for asset in self.assets]
        plain = replace(recipe, name="", folder="", models=tuple(replace(m, file="") for m in recipe.models))
        textures = [asset.scene.textures for asset in self.assets]
        parts = (self.kinds, self.categories, content, textures, self.environments)
        return fingerprint(__version__, plain, *parts)

    def layout(self, scene: int, report: PlacementReport | None = None) -> SceneLayout:
        """The layout of the scene of that index. report : see `raystream.dataset.sampling.sample_layout`."""
        return sample_layout(self.recipe, [asset.shape for asset in self.assets], scene, report)

    def arranged(self, layout: SceneLayout) -> Arrangement:
        """Build the scene of a layout: an instance for each instance of each copy's model, in the order of copies."""
        instances, owners, placed_objects = list[Instance](), list[int](), list[PlacedObject]()
        for copy, placement in enumerate(layout.placements):
            asset, (first_mesh, first_material) = self.assets[placement.model], self._first[placement.model]
            matrix = placement.matrix.copy()
            matrix[:3, 3] -= matrix[:3, :3] @ asset.middle
            split, object_indices = self.recipe.models[placement.model].split, dict[int, int]()
            for part_index in sorted(set(asset.parts.tolist())):
                kind = self._kind_indices.get((placement.model, part_index if split else -1))
                if kind is not None:
                    object_indices[part_index] = len(placed_objects)
                    placed_objects.append(PlacedObject(kind, placement))
            for instance, part_index in zip(asset.scene.instances, asset.parts.tolist(), strict=True):
                material = None if instance.material is None else instance.material + first_material
                name = f"{instance.name} of copy {copy}"
                instances.append(Instance(instance.mesh + first_mesh, matrix @ instance.transform, material, name))
                owners.append(object_indices.get(part_index, -1))
        scene = Scene(
            self._meshes, instances, self._materials, lights=list(layout.lights), name="scene", textures=self._textures
        )
        return Arrangement(scene, tuple(placed_objects), np.array([*owners, -1], np.int32))

    def surfaces(self, kind: Kind) -> Iterator[tuple[Mesh, NDArray[np.float64]]]:
        """The meshes of an object, with their transforms (4, 4) from each to the model, its middle at the origin."""
        asset = self.assets[kind.model]
        for instance, part in zip(asset.scene.instances, asset.parts.tolist(), strict=True):
            if kind.part in (-1, part):
                matrix = instance.transform.copy()
                matrix[:3, 3] -= asset.middle
                yield asset.scene.meshes[instance.mesh], matrix

    def _environment(self, choice: str | tuple[float, float, float]) -> Environment:
        if not isinstance(choice, str) or choice in BUILT_IN:
            return choice
        path = os.path.join(self.recipe.folder, choice)
        if not os.path.exists(path):
            where, hint = f"{self.recipe.name}: environment: choices", f"or one of {', '.join(BUILT_IN)}"
            raise ViewerError(where, f"there is no file {path[:200]}", hint)
        return load_environment(path, notes=self.notes)

    def _merge_models(self) -> tuple[list[Mesh], list[Material], list[Texture]]:
        """The meshes, materials and textures of all models, and in ``_first`` each model's first mesh and material."""
        meshes, materials, textures = list[Mesh](), list[Material](), list[Texture]()
        self._first: list[tuple[int, int]] = []
        for asset in self.assets:
            scene, first_material = asset.scene, len(materials)
            self._first.append((len(meshes), first_material))
            meshes += [mesh.with_materials(mesh.materials + np.int32(first_material)) for mesh in scene.meshes]
            materials += [_renumbered(material, len(textures)) for material in scene.materials]
            textures += scene.textures
        return meshes, materials, textures


def _round_up(value: float) -> float:
    """The first of 0.1, 0.2, 0.5, 1, 2 ... that is not below ``value``."""
    return next(
        size for power in range(-1, 20) for size in (10.0**power, 2 * 10.0**power, 5 * 10.0**power) if size >= value
    )


def _load_asset(recipe: DatasetRecipe, model: Model, where: str) -> Asset:
    """Read a model's file or build its built-in scene. where : the model in the recipe, for messages."""
    path = os.path.join(recipe.folder, model.file)
    try:
        if model.file in builtin.names() and not os.path.exists(path):
            scene = builtin.build(model.file).tessellated()
        else:
            scene = formats.load(path).tessellated()
    except ViewerError as error:
        raise ViewerError(f"{where}: {error.where[:200]}", error.what, error.hint) from None
    points = np.concatenate(
        [np.zeros((0, 3))]
        + [
            points @ instance.transform[:3, :3].T + instance.transform[:3, 3]
            for instance in scene.instances
            for points in used_points([scene.meshes[instance.mesh]])
        ]
    )
    side = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if not MIN_EXTENT < side < np.inf:
        raise ViewerError(f"{where}: {model.file[:200]}", "has no extent", "a model needs a surface")
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    points = points - middle
    radius = float(np.sqrt((points**2).sum(axis=1).max()))
    parts = objects(scene).indices if model.split else np.zeros(len(scene.instances), np.int32)
    return Asset(scene, Shape(points, side, radius), middle, parts)


def _kinds(scene: Scene, model: Model, name: str) -> Iterator[tuple[int, str, str]]:
    """(part, name, category) of each of a model's annotated objects; part -1 if it is not split."""
    class_indices, class_names = classes(scene)
    if not model.split:
        found = sorted({class_names[index] for index in class_indices.tolist() if index >= 0})
        yield -1, name, model.category or (found[0] if len(found) == 1 else name)
        return
    parts, names = objects(scene)
    for part, object_name in enumerate(names):
        found = sorted({class_names[index] for index in class_indices[parts == part].tolist() if index >= 0})
        category = model.category or (found[0] if len(found) == 1 else object_name)
        yield part, shortened(f"{name}/{object_name}"), category


def _renumbered(material: Material, first: int) -> Material:
    """The material with ``first`` added to each of its texture indices."""
    changed = {name: getattr(material, name) + first for name in TEXTURE_FIELDS if getattr(material, name) is not None}
    if material.classic is not None and material.classic.textures:
        layers = tuple(replace(layer, texture=layer.texture + first) for layer in material.classic.textures)
        changed["classic"] = replace(material.classic, textures=layers)
    return replace(material, **changed)
