"""A scene: meshes, their instances, materials and cameras, as plain data without OpenGL."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError
from raystream.base.ordered import distinct
from raystream.scene.animation import Animation, Pose, Poser, Properties, merge_animations
from raystream.scene.camera import Camera
from raystream.scene.card import card
from raystream.scene.deform import DeformedMesh, MeshPose
from raystream.scene.geometry.batches import offsets
from raystream.scene.geometry.bounds import ALBEDO, NONE, SHADOW, SQUARE, bounds_of_instances, ground_transform
from raystream.scene.geometry.framing import overview, silhouette
from raystream.scene.geometry.quadrics import Quadrics, without_quadrics
from raystream.scene.geometry.triangles import Triangles, flattened
from raystream.scene.geometry.vertices import centred
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import Quadric
from raystream.scene.texture import Texture

# -- a mesh of a caller's arrays, checked ------------------------------------------------------------------------------

COLOR_TOLERANCE = 1e-3  # by which colours in floats may pass 1


def mesh_of_arrays(
    name: str, vertices: ArrayLike, faces: ArrayLike, normals: ArrayLike | None, colors: ArrayLike | None
) -> tuple[Mesh, NDArray[np.float64], list[str]]:
    """A mesh relative to its centre, the map (4, 4) that puts it back, and remarks on its triangles, see
    `Scene.from_triangles`."""
    points = checked_array(name, "vertices", vertices, (3,))
    points, transform = centred(vertices) if len(points) else (points, np.eye(4))
    triangles = checked_array(name, "faces", faces, (3,), np.integer)
    rgba = None
    if colors is not None:
        linear = checked_array(name, "colors", colors, (3, 4))
        if len(linear) != len(points):
            raise ViewerError(name, f"{len(linear)} colors for {len(points)} vertices")
        if linear.size and not (linear.min() >= 0 and linear.max() <= 1 + COLOR_TOLERANCE):
            what = f"colors reach from {linear.min():g} to {linear.max():g}"
            raise ViewerError(name, what, "give 0 to 1, linear; render((vertices, faces, colors)) takes bytes, too")
        rgba = np.ones((len(points), 4), np.float32)
        rgba[:, : linear.shape[1]] = linear
    unit_normals = None if normals is None else checked_array(name, "normals", normals, (3,))
    mesh = Mesh(points, triangles, normals=unit_normals, colors=rgba, name=name)
    invalid = int((~np.isfinite(mesh.positions[mesh.triangles]).all(axis=(1, 2))).sum())
    remarks = [f"{name}: {invalid} of {len(triangles)} triangles have corners that are not finite"] if invalid else []
    remarks += [] if len(triangles) else [f"{name}: no triangles"]
    return mesh, transform, remarks


def checked_array(
    where: str, what: str, values: ArrayLike, widths: tuple[int, ...], kind: type = np.float32
) -> NDArray:
    """The values as (N, width), one of ``widths``: float32, or for another ``kind`` as they are. Raises ViewerError for
    other shapes and types, naming ``what`` of ``where``."""
    try:
        array = source = np.asarray(values)
        if kind is np.float32 and source.dtype.kind != "c":
            with np.errstate(over="ignore"):  # checked below
                array = source.astype(np.float32)
                if source.dtype == np.float64 and (np.isinf(array) & np.isfinite(source)).any():
                    raise OverflowError("beyond float32")
        elif source.dtype.kind == "O":
            array = source.astype(np.int64)
    except OverflowError as error:
        raise ViewerError(where, f"{what} hold a number that is too large ({error})", "scale them down") from None
    except (TypeError, ValueError) as error:
        raise ViewerError(where, f"{what} are not numbers ({error})", f"give (N, {widths[0]})") from None
    if not array.size:
        return np.zeros((0, widths[0]), np.float32 if kind is np.float32 else np.int32)
    if array.ndim != 2 or array.shape[1] not in widths:
        expected = " or ".join(f"(N, {width})" for width in widths)
        raise ViewerError(where, f"{what} have shape {array.shape}, expected {expected}")
    if not np.issubdtype(array.dtype, kind):
        expected = "real numbers" if kind is np.float32 else "whole numbers"
        raise ViewerError(where, f"{what} are {array.dtype}, expected {expected}")
    return array


# -- a scene -----------------------------------------------------------------------------------------------------------

# Times at which an animated scene is sampled for the bounds of its whole motion.
BOUNDS_SAMPLES = 16
ALL_ANIMATIONS = -1  # number of all animations at once
_Cached = tuple[list[object], NDArray[np.float64]]
BOX_CORNERS = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)], bool)  # (8, 3): the high coordinates


@declared
@dataclass
class Scene:
    """A file's contents. ``warnings`` are one-line remarks for the user on omissions and repairs.

    In an animated scene, instances, cameras and lights belong to nodes of ``hierarchy``; later additions are placed
    directly in the world. ``animation`` is the index among ``animations`` played by `pose`, or `ALL_ANIMATIONS`; see
    `play`. ``properties`` apply animation beside the nodes.
    """

    meshes: list[Mesh] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    materials: list[Material] = field(default_factory=lambda: [Material()])
    cameras: list[Camera] = field(default_factory=list)
    lights: list[Light] = field(default_factory=list)  # besides emissive surfaces
    name: str = "scene"
    warnings: list[str] = field(default_factory=list)
    textures: list[Texture] = field(default_factory=list)
    extensions_used: list[str] = field(default_factory=list)
    extensions_ignored: list[str] = field(default_factory=list)
    source: dict[str, Any] = field(default_factory=dict)  # the file's own document, for later use
    hierarchy: Hierarchy | None = None
    animations: list[Animation] = field(default_factory=list)
    animation: int = 0
    properties: Properties | None = None
    variants: dict[str, dict[int, int]] = field(default_factory=dict)  # name -> material of meshes, by index
    variant: str | None = None  # the current one
    framed: bool = field(default=False, metadata={"added": True})  # by the default view, whatever cameras it has
    # Whether light may stand beside its own where that leaves much dark, and a backdrop where nothing is around: of
    # files, whose lights nobody here has set.
    fills: bool = field(default=False, metadata={"added": True})
    # From the model towards the camera of the default view; None: as `overview` has it.
    front: tuple[float, float, float] | None = field(default=None, metadata={"added": True})
    # The file's point that places are relative to: `raystream.scene.edits.located`.
    origin: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), metadata={"added": True})
    _poser: Poser | None = field(default=None, init=False, repr=False, compare=False)
    _all: tuple[list[Animation], Animation] | None = field(default=None, init=False, repr=False, compare=False)
    # What takes a look at every vertex, and of which meshes and instances it is.
    _outline: _Cached | None = field(default=None, init=False, repr=False, compare=False)
    _bounds: dict[bool, _Cached] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_triangles(
        cls,
        vertices: ArrayLike,
        faces: ArrayLike,
        normals: ArrayLike | None = None,
        colors: ArrayLike | None = None,
        base_color: tuple[float, float, float] = (0.8, 0.8, 0.8),
        name: str = "triangles",
    ) -> Scene:
        """A scene of one mesh. vertices (V, 3); faces (T, 3); normals (V, 3) unit; colors (V, 3 or 4) linear, 0 to 1.
        ``warnings`` tell of triangles whose corners are not finite, which nothing hits, and of none at all.

        Raises ViewerError when shapes disagree, an index is out of range, and for numbers that are complex or beyond
        float32.
        """
        mesh, transform, notes = mesh_of_arrays(name, vertices, faces, normals, colors)
        checked_array(name, "base_color", [base_color], (3,))
        return cls(
            [mesh], [Instance(0, transform)], [Material(base_color=(*base_color, 1.0))], name=name, warnings=notes
        )

    @property
    def triangle_count(self) -> int:
        """Visible triangles and quadrics, counted per instance."""
        return int(np.array([len(mesh.triangles) for mesh in self.meshes], np.int64)[meshes_of(self.instances)].sum())

    @property
    def quadric_count(self) -> int:
        """Visible quadrics, counted per instance."""
        types = (Quadric, Quadrics)
        counts = {index: len(mesh.triangles) for index, mesh in enumerate(self.meshes) if isinstance(mesh, types)}
        return sum(counts.get(i.mesh, 0) for i in self.instances) if counts else 0

    def check(self) -> None:
        """Raises ViewerError for an instance of no mesh, and for a material or texture in use that is not there."""
        meshes = meshes_of(self.instances)
        overrides = (-1 if instance.material is None else instance.material for instance in self.instances)
        materials = np.fromiter(overrides, np.int64, len(self.instances))
        inherits = np.fromiter((instance.material is None for instance in self.instances), bool, len(self.instances))
        self._raise_at_first("instance", "mesh", meshes, (meshes < 0) | (meshes >= len(self.meshes)), len(self.meshes))
        is_missing = ~inherits & ((materials < 0) | (materials >= len(self.materials)))
        self._raise_at_first("instance", "material", materials, is_missing, len(self.materials))
        indices = distinct(meshes[inherits]).tolist()
        named = np.concatenate([np.zeros(0, np.int32), *(self.meshes[index].materials for index in indices)])
        is_missing = (named < 0) | (named >= len(self.materials))
        if is_missing.any():
            starts = offsets([len(self.meshes[index].materials) for index in indices])
            mesh_index = int(np.searchsorted(starts, is_missing.argmax(), side="right")) - 1
            rows = slice(starts[mesh_index], starts[mesh_index + 1])
            what = f"mesh {indices[mesh_index]}, triangle"
            self._raise_at_first(what, "material", named[rows], is_missing[rows], len(self.materials))
        for index, material in enumerate(self.materials):
            texture_indices = np.array(sorted(material.texture_numbers), np.int64)
            is_missing = (texture_indices < 0) | (texture_indices >= len(self.textures))
            self._raise_at_first(f"material {index}, use", "texture", texture_indices, is_missing, len(self.textures))

    def _raise_at_first(self, what: str, target: str, indices: NDArray, is_missing: NDArray, count: int) -> None:
        if is_missing.any():
            first = int(is_missing.argmax())
            hint = f"there are {count:,}, numbered from 0"
            raise ViewerError(self.name, f"{what} {first} names {target} {indices[first]}", hint)

    def bounds(self, ground: bool = True) -> NDArray[np.float64]:
        """(2, 3) float64: lowest and highest corner over all finite vertices in use; zeros for an empty scene.

        ground : whether to include the ground added by `on_ground`.

        Another array in a mesh or an instance is seen; numbers changed within an array are not.
        """
        ground = ground or all(mesh is not SQUARE for mesh in self.meshes)
        cached = self._bounds.get(ground)
        if cached is None or not self._is_current(cached):
            self._bounds[ground] = cached = self._shape_sources(), self._compute_bounds(ground)
        return cached[1].copy()

    def _is_current(self, cached: _Cached) -> bool:
        return same_items(cached[0], self._shape_sources())

    def _shape_sources(self) -> list[object]:
        """The sources of bounds and outline: objects, and their arrays, in place of which there may be others."""
        arrays = [array for mesh in self.meshes if type(mesh) is Mesh for array in (mesh.positions, mesh.triangles)]
        return [*self.meshes, *self.instances, *arrays, *(instance.transform for instance in self.instances)]

    def _compute_bounds(self, ground: bool) -> NDArray[np.float64]:
        drawn = {instance.mesh for instance in self.instances}
        if not ground:
            drawn -= {index for index, mesh in enumerate(self.meshes) if mesh is SQUARE}
        return bounds_of_instances(self.meshes, self.instances, drawn)

    def tessellated(self, segments: int = 128) -> Scene:
        """The scene with triangles in place of its quadrics, by `Quadric.tessellated` and `Quadrics.tessellated`."""
        meshes = without_quadrics(self.meshes, segments)
        return self if same_items(meshes, self.meshes) else self.with_parts(meshes=meshes)

    def to_trimesh(self) -> Any:
        """A ``trimesh.Scene`` of the scene: meshes by material, instances, the first camera, textures, vertex colours.

        Quadrics become triangles; lights, animations and material fields unknown to trimesh are dropped. Raises
        ViewerError if trimesh is not installed.
        """
        from raystream.scene.to_trimesh import trimesh_scene

        return trimesh_scene(self.tessellated())

    def parts(self, number: int) -> list[int]:
        """The indices of the instances that form one object with this one: those with its name at its place, and those
        on descendants of its node.

        A glTF mesh of several primitives has an instance for each. An unnamed one is an object of its own.
        """
        chosen, numbers = self.instances[number], {number}
        if chosen.name:
            numbers |= {
                k
                for k, other in enumerate(self.instances)
                if other.name == chosen.name and np.array_equal(other.transform, chosen.transform)
            }
        nodes = [] if self.hierarchy is None else self.hierarchy.instance_nodes.tolist()
        if self.hierarchy is not None and number < len(nodes) and nodes[number] >= 0:
            is_below = np.zeros(len(self.hierarchy.parents), bool)
            for node, parent in enumerate(self.hierarchy.parents.tolist()):  # parents precede their children
                is_below[node] = parent >= 0 and (parent == nodes[number] or is_below[parent])
            numbers |= {k for k, node in enumerate(nodes) if node >= 0 and is_below[node]}
        return sorted(numbers)

    def with_variant(self, variant: str | int | None) -> Scene:
        """The scene with one of its ``variants``, by name or by index from 0 in the file's order: other materials on
        some meshes. None: the file's default.

        Raises ViewerError with the known ones for an unknown one.
        """
        name, names = None, list(self.variants)
        if variant is not None:
            name, text = str(variant), str(variant)[:9]
            if name not in names and text.isascii() and text.isdigit() and int(text) < len(names):
                name = names[int(text)]
            if name not in names:
                choices = ", ".join(f"{index} '{label}'" for index, label in enumerate(names)) or "none"
                raise ViewerError(self.name, f"no variant '{variant}'", f"variants: {choices}")
        if name == self.variant:
            return self
        changing = set().union(*self.variants.values())
        chosen = {} if name is None else self.variants[name]
        instances = [
            replace(instance, material=chosen.get(instance.mesh)) if instance.mesh in changing else instance
            for instance in self.instances
        ]
        return self.with_parts(instances=instances, variant=name)

    def __getstate__(self) -> dict[str, Any]:
        """Its parts, without values derived from them: a pickled scene is the same before and after."""
        parts = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {**parts, "_bounds": {}, "_outline": None}

    def __repr__(self) -> str:
        quadrics = self.quadric_count
        beside = f"{quadrics:,} quadrics, " if quadrics else ""
        return (
            f"<Scene {self.name!r}: {self.triangle_count - quadrics:,} triangles, {beside}{len(self.meshes):,} meshes, "
            f"{len(self.instances):,} instances, {len(self.materials):,} materials, {len(self.cameras):,} cameras, "
            f"{len(self.lights):,} lights, {len(self.animations):,} animations>"
        )

    def _repr_html_(self) -> str:
        """The notebook's picture."""
        return card(repr(self), self)

    @property
    def own_camera(self) -> Camera | None:
        """The camera that pictures are seen by where none is asked for; None where a default view frames the scene."""
        return None if self.framed or not self.cameras else self.cameras[0]

    def camera(self, name: str | None = None, aspect: float = 1.0) -> Camera:
        """The camera of that name; by default its own, or a view that the scene fills in pictures of that aspect.

        Raises ViewerError with the known names for an unknown one.
        """
        if name is None:
            return self.own_camera or replace(overview(self.silhouette(), aspect, self.front), base=self.origin)
        for camera in self.cameras:
            if camera.name == name:
                return camera
        names = ", ".join(camera.name for camera in self.cameras) or "none"
        raise ViewerError(self.name, f"no camera '{name}'", f"cameras: {names}; or give 'ox,oy,oz tx,ty,tz'")

    def silhouette(self) -> NDArray[np.float64]:
        """(K, 3), world space: the outermost vertices, without the ground; of very many instances the corners of their
        box. (0, 3) for an empty scene."""
        cached = self._outline
        if cached is None or not self._is_current(cached):
            outline = silhouette(self.meshes, self.instances)
            if outline is None:
                low, high = self.bounds(ground=False)
                outline = np.where(BOX_CORNERS, high, low)
            self._outline = cached = self._shape_sources(), outline
        return cached[1]

    # -- ground ----------------------------------------------------------------------------------------------------

    @property
    def ground(self) -> int | None:
        """The index of the instance added by `on_ground`, or None."""
        index = next((index for index, mesh in enumerate(self.meshes) if mesh is SQUARE), None)
        if index is None:
            return None
        last = len(self.instances) - 1
        return next((last - k for k, instance in enumerate(reversed(self.instances)) if instance.mesh == index), None)

    def on_ground(self, size: tuple[float, float] | str = "auto") -> Scene:
        """The scene on a grey, horizontal rectangle, an unanimated instance of its own; itself if it has one.

        size : along x and z, in heights of the model; ``auto``: large. It lies under the centre of the model, at the
        lowest point of the chosen animation. Not added under an empty model, nor where the ground
        is `SHADOW` or `NONE`.
        """
        if self.ground is not None or size in (SHADOW, NONE):
            return self
        transform = ground_transform(self.motion_bounds(), size)
        if transform is None:
            return self
        instance = Instance(len(self.meshes), transform, len(self.materials), SQUARE.name)
        material = Material(SQUARE.name, (ALBEDO, ALBEDO, ALBEDO, 1.0))
        return self.with_parts(
            meshes=[*self.meshes, SQUARE],
            instances=[*self.instances, instance],
            materials=[*self.materials, material],
        )

    def without_ground(self) -> Scene:
        """The scene before `on_ground`; itself without ground."""
        index = self.ground
        if index is None:
            return self
        meshes, materials = self.meshes, self.materials
        if meshes[-1] is SQUARE:
            meshes = meshes[:-1]
        if self.instances[index].material == len(materials) - 1:
            materials = materials[:-1]
        return self.with_parts(
            meshes=meshes,
            instances=[*self.instances[:index], *self.instances[index + 1 :]],
            materials=materials,
        )

    def with_parts(self, **parts: Any) -> Scene:
        """The scene with other parts, fields of it by name; its cached motion and outline are shared."""
        scene = replace(self, **parts)
        scene._poser, scene._all = self._poser, self._all
        shapes = scene._shape_sources()
        scene._bounds = {ground: cached for ground, cached in self._bounds.items() if same_items(cached[0], shapes)}
        if self._outline is not None and same_items(self._outline[0], shapes):
            scene._outline = self._outline
        return scene

    def motion_bounds(self) -> NDArray[np.float64]:
        """(2, 3): bounds of the model over the chosen animation, without the ground."""
        if self.duration == 0:
            return self.bounds(ground=False)
        times = np.linspace(0.0, self.duration, BOUNDS_SAMPLES)
        boxes = np.array([self.posed(seconds).bounds(ground=False) for seconds in times.tolist()])
        return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])

    # -- motion ----------------------------------------------------------------------------------------------------

    @property
    def duration(self) -> float:
        """Duration of the chosen animation in seconds; 0 without one."""
        playing = self.playing
        return 0.0 if playing is None else playing.duration

    @property
    def playing(self) -> Animation | None:
        """The chosen animation; None without any."""
        if not self.animations or self.animation != ALL_ANIMATIONS:
            return self.animations[self.animation] if self.animations else None
        if self._all is None or not same_items(self._all[0], self.animations):
            self._all = list(self.animations), merge_animations(self.animations)
        return self._all[1]

    def play(self, animation: str | int) -> None:
        """Choose the animation for `pose`, by name or index, from 0 in the file's order, or all of them at once by
        ``all``.

        Raises ViewerError with the known ones for an unknown one.
        """
        names = [item.name for item in self.animations]
        if animation in names:
            self.animation = names.index(str(animation))
            return
        text = str(animation)
        if text == "all" and names:
            self.animation = ALL_ANIMATIONS
            return
        if text.isascii() and text.isdigit() and int(text[:9]) < len(names):
            self.animation = int(text[:9])
            return
        choices = ", ".join(f"{index} '{name}'" for index, name in enumerate(names)) or "none"
        raise ViewerError(self.name, f"no animation '{animation}'", f"animations: {choices}")

    def pose(self, seconds: float) -> Pose:
        """Transforms (I, 4, 4) float64 of all instances, the cameras and the lights, at a time of the animation.

        Constant before the first key and after the last one. Objects not on animated nodes keep their place, and those
        beyond `LARGEST_COORDINATE` are too small to be seen. Raises ViewerError for a non-finite time.
        """
        if not np.isfinite(seconds):
            raise ViewerError(self.name, f"a time of {seconds} seconds", "give a finite number")
        transforms = transforms_of(self.instances)
        animation = self.playing
        if self.hierarchy is None or animation is None:
            return Pose(transforms, list(self.cameras), list(self.lights), {})
        if self._poser is None or self._poser.animation is not animation or self._poser.hierarchy is not self.hierarchy:
            self._poser = Poser(self.hierarchy, animation)
        nodes = self.hierarchy
        node_counts = len(nodes.instance_nodes), len(nodes.camera_nodes), len(nodes.light_nodes)
        counts = len(self.instances), len(self.cameras), len(self.lights)
        if any(more > less for more, less in zip(node_counts, counts, strict=True)):
            what = f"nodes for {node_counts[0]} instances, {node_counts[1]} cameras and {node_counts[2]} lights"
            has = f"but the scene has {counts[0]}, {counts[1]} and {counts[2]}"
            raise ViewerError(self.name, f"{what}, {has}", "mend its hierarchy")
        return self._poser.pose(float(seconds), transforms, self.cameras, self.lights, self.properties)

    def posed(self, seconds: float) -> Scene:
        """The scene at a time, by `pose`; shares its static parts with this one."""
        pose = self.pose(seconds)
        posed_instances = zip(self.instances, pose.transforms, strict=True)
        instances = [replace(instance, transform=matrix, motion=None) for instance, matrix in posed_instances]
        scene = self.with_parts(instances=instances, cameras=pose.cameras, lights=pose.lights)
        return scene.deformed(pose.meshes).with_materials_of(pose)

    def with_materials_of(self, pose: Pose) -> Scene:
        """The scene with the materials and textures of a pose; itself where none change."""
        changed: dict[str, list] = {}
        for name, replacements in (("materials", pose.materials), ("textures", pose.textures)):
            items = list(getattr(self, name))
            for index, item in replacements.items():
                items[index] = item
            if replacements and not same_items(items, getattr(self, name)):
                changed[name] = items
        return self.with_parts(**changed) if changed else self

    def deformed(self, poses: Mapping[int, MeshPose]) -> Scene:
        """The scene with deforming meshes, by index, in these poses; shares all else with this one."""
        meshes = list(self.meshes)
        for index, pose in poses.items():
            if isinstance(mesh := meshes[index], DeformedMesh):
                meshes[index] = mesh.posed(pose)
        return self if same_items(meshes, self.meshes) else self.with_parts(meshes=meshes)

    @property
    def deforms(self) -> bool:
        """Whether a mesh in it can deform."""
        return any(isinstance(mesh, DeformedMesh) for mesh in self.meshes)

    def moved(self, numbers: NDArray[np.intp], transforms: NDArray[np.float64]) -> Scene:
        """The scene with the instances of these indices (N,) moved to (N, 4, 4); shares all else with this one."""
        instances = list(self.instances)
        for number, matrix in zip(numbers.tolist(), transforms, strict=True):
            old = instances[number]
            instances[number] = Instance(old.mesh, matrix, old.material, old.name)
        return self.with_parts(instances=instances)

    def flatten(self) -> Triangles:
        """Every instance's triangles in world space, with normals and colours (white where the mesh has none).

        Raises ViewerError for a coordinate beyond float32 ray tracing, and for more triangles than float addresses can
        number.
        """
        return flattened(self.name, self.meshes, self.instances)


def same_items(a: Sequence[object], b: Sequence[object]) -> bool:
    """Whether two sequences hold the same objects."""
    return len(a) == len(b) and all(map(operator.is_, a, b))
