"""A scene before it meets OpenGL: the structure over its triangles or instances, its lighting, and all modules."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel import structures
from raystream.accel.motion import MOTION, Moving
from raystream.accel.structures import Primitives, Structure, StructureOptions
from raystream.base.errors import ViewerError
from raystream.cameras.lens import moving_lens, projected, thin_lens
from raystream.film.files.checkpoint import fingerprint
from raystream.lighting.emitters import EMISSION_SHARES, emission_shares
from raystream.lighting.light_tree import MIN_TREE_LIGHTS, too_many
from raystream.lighting.path import CANDIDATES, CANDIDATES_OF_TREE
from raystream.materials.geometry import TANGENTS, flat_geometry, flat_tangents, object_geometry, object_tangents
from raystream.materials.opacity import with_opacity_test
from raystream.materials.surface_features import SurfaceFeatures, surface_features
from raystream.materials.tables import appearance, with_tables
from raystream.renderer.inputs.camera import projection_kind
from raystream.renderer.inputs.lighting import Lighting, scene_lighting
from raystream.renderer.inputs.scene_diff import SceneChanges, scene_changes
from raystream.renderer.inputs.settings import PREPARED, Settings
from raystream.scene.camera import Camera
from raystream.scene.deform import DeformedMesh
from raystream.scene.edits.classic_plane import on_plane
from raystream.scene.edits.located import located
from raystream.scene.edits.materials import culled, decided_materials
from raystream.scene.edits.mipmaps import with_textures_within
from raystream.scene.edits.movable import with_light_at
from raystream.scene.exposure import at_keys, key_count, motion_of, shapes_move
from raystream.scene.geometry.quadrics import Quadrics, with_point_size
from raystream.scene.geometry.triangles import Triangles
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module
from raystream.stream.declare.program import Program

OCCLUSION_RANGE = 0.1  # of the scene's diagonal, without the ground: about the size of furniture in a room

Report = Callable[[float, str], None]


@dataclass(frozen=True)
class PreparedScene:
    """A scene ready to be uploaded; made without OpenGL, so that a worker thread can.

    given    : the caller's scene; ``scene`` is that with the settings' ground and lights.
    settings : by which it was prepared; only `raystream.renderer.inputs.settings.PREPARED` matter.
    structure_options : without any ``auto``.
    shading  : the modules of the camera, of the geometry and of the materials.
    materials : the scene's, with options that follow from its meshes decided.
    starts   : (I + 1,) the scene's number of each instance's first triangle, and the count of all at the end.
    surfaces : the features of the scene's surfaces, by which their source is generated.
    flat     : the scene's triangles in world space, where the structure is of these; else None.
    shared   : a cache of derived data, by name, that scenes have in common which differ in poses and transformations
               alone.
    """

    given: Scene
    scene: Scene
    settings: Settings
    structure: Structure
    structure_options: StructureOptions
    shading: list[Module]
    lighting: Lighting
    materials: list[Material]
    starts: NDArray[np.int64]
    surfaces: SurfaceFeatures
    flat: Triangles | None = None
    shared: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def triangles(self) -> Triangles:
        """The scene's triangles in world space; for two levels they are computed at the first access."""
        return self.scene.flatten() if self.flat is None else self.flat

    @property
    def current(self) -> bool:
        """Whether the structure has this scene's transformations: one of two levels is shared by all edits of a
        scene, and follows their motion in place."""
        built = self.structure.built
        return self.structure.levels == 1 or built.current_scene is None or built.current_scene is self.scene

    @property
    def dispersive(self) -> bool:
        """Whether some surfaces refract the channels of light in different directions."""
        return self.surfaces.dispersion

    @property
    def absorbing(self) -> bool:
        """Whether there are volumes that absorb light."""
        return "volume" in self.surfaces.lobes

    @property
    def nested(self) -> bool:
        """Whether volumes overlap or have objects in them."""
        return self.surfaces.nested

    @property
    def backdrop(self) -> str:
        """The backdrop seen by camera rays that miss, one of `raystream.programs.first_hits.BACKDROPS`; "" is none."""
        return "" if self.lighting.backdrop is None else self.lighting.backdrop.kind

    @property
    def wide(self) -> bool:
        """Whether an interaction takes more than five texels."""
        return self.surfaces.interaction.texels > 5

    def light_candidates(self, settings: Settings) -> int:
        """The number of candidate light samples for resampling (RIS) of direct light; 1 is no resampling, as in nested
        volumes."""
        if not settings.picture_program.uses("light_candidates") or self.nested:
            return 1
        if settings.light_candidates != "auto":
            return int(settings.light_candidates)
        candidates = CANDIDATES_OF_TREE if self.light_tree(settings) else CANDIDATES
        return candidates if self.lighting.listed.benefits_from_ris else 1

    def light_tree(self, settings: Settings) -> bool:
        """Whether a light is chosen by a light tree."""
        listed, light_sampler = self.lighting.listed, settings.light_sampler
        if not settings.picture_program.uses("light_sampler") or light_sampler == "power":
            return False
        if not listed.count or too_many(listed):
            return False
        return light_sampler == "tree" or listed.near >= MIN_TREE_LIGHTS

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all that the light in a picture depends on."""
        scene = self.scene
        shading_inputs = (scene.materials, scene.textures, scene.lights, self.lighting.environment)
        return fingerprint(scene.meshes, scene.instances, *shading_inputs, *motion_of(scene))

    def triangle_indices(self, hits: NDArray | Mapping[str, NDArray]) -> NDArray:
        """The triangles' indices in the scene of hits (...) of record `HIT`, or their fields by name; -1 for none.
        int32 where all of the scene's indices are, else int64."""
        dtype = np.int32 if self.starts[-1] <= np.iinfo(np.int32).max else np.int64
        indices: Any = hits["triangle"].astype(dtype)
        if self.structure.levels == 2:
            indices = np.where(indices >= 0, self.starts[hits["instance"].astype(np.intp)] + indices, -1).astype(dtype)
        return np.asarray(indices)

    def instance_indices(self, hits: NDArray | Mapping[str, NDArray]) -> NDArray[np.int32]:
        """The indices of the hits' instances; hits and shape as of `triangle_indices`, -1 for none."""
        instance: Any = 0
        if self.structure.levels == 2:
            instance = hits["instance"]
        elif len(self.starts) > 2:  # several instances
            instance = np.searchsorted(self.starts, hits["triangle"].astype(np.int64), side="right") - 1
        return np.where(hits["triangle"] >= 0, instance, -1).astype(np.int32)

    def barycentrics(self, hits: NDArray) -> NDArray[np.float32]:
        """(N, 2) of hits (N,) of record `HIT`: weights of the corners that are second and third when flattened."""
        weights = hits["barycentric"].copy()
        if self.structure.levels == 2:
            hit = np.flatnonzero(hits["triangle"] >= 0)
            mirrored = hit[self.structure.built.mirrored[hits["instance"][hit]]]
            weights[mirrored] = weights[mirrored, ::-1]
        return weights

    @cached_property
    def moving(self) -> bool:
        """Whether something but a camera moves while the shutter is open."""
        return key_count(self.scene) > 1

    def sample_uniforms(
        self,
        program: Program,
        settings: Settings,
        shared: bool,
        samples: int = 1,
        bounce: int | None = None,
        first: int = 0,
    ) -> dict[str, int | float]:
        """All uniforms of a program's samples, for pictures, layers and debug views: those of
        `Settings.sample_uniforms`, which documents the arguments, and those that depend on the scene."""
        uniforms = settings.sample_uniforms(shared, samples, bounce, first)
        uniforms["light_candidates"] = self.light_candidates(settings)
        if any(
            "occlusion_settings" in state.kernel.needs for state in program.states
        ):  # computed on demand: bounds of a pose take time
            uniforms["occlusion_distance"] = self.occlusion_distance
        return uniforms

    @cached_property
    def occlusion_distance(self) -> float:
        """The length of ambient occlusion rays, scene units."""
        low, high = self.scene.bounds(ground=False)
        return OCCLUSION_RANGE * float(np.linalg.norm(high - low))

    def camera_moves(self, settings: Settings) -> bool:
        """Whether the camera of the settings, which may be any of the scene's, can move while the shutter is open."""
        cameras = [settings.camera] if isinstance(settings.camera, Camera) else self.scene.cameras
        return any(camera.motion for camera in cameras)

    def projection(self, settings: Settings) -> str:
        """The kind of the settings' camera, as of `Camera.kind`."""
        return projection_kind(settings, self.scene)

    def modules(
        self,
        stepwise: bool = False,
        lit: bool = False,
        sampler: str = "sobol",
        tree: bool = False,
        camera_moves: bool = False,
        projection: str = "",
    ) -> list[Module]:
        """All modules: for passes that take a ray to its hit, or for ``stepwise`` passes of one kernel each.

        lit : with the scene's lights and environment, and random numbers by that ``sampler``; else before a plain
        background. tree : lights are chosen by a light tree. camera_moves : while the shutter is open.
        projection : of the camera, as of `Camera.kind`.
        """
        traversal = with_opacity_test(self.structure.modules(stepwise), self.surfaces)
        camera, *shading = self.shading
        lighting = self.lighting.modules(lit, sampler, self.structure.levels * tree)
        if projection:
            camera = projected(projection)
        if camera_moves:
            camera = moving_lens(camera)
        if (camera_moves or self.moving) and lit:  # the sampler's module, the last, has the time of a path
            lighting = [*lighting[:-1], replace(lighting[-1], features=lighting[-1].features | {MOTION})]
        return [*traversal, camera, *shading, *lighting]

    def scene_modules(self) -> list[Module]:
        """The modules with tables of this scene, without the structure's; those of lights where they have been made."""
        lighting = self.lighting
        return [*self.shading[1:], *(lighting.scene_modules(lighting.trees) if lighting.made else [])]

    def made(self) -> list[Module]:
        """All modules that have been made so far."""
        return [*self.structure.made(), *self.shading, *self.lighting.all_modules()]


def prepare(
    scene: Scene,
    settings: Settings | None = None,
    progress: Report | None = None,
    before: PreparedScene | None = None,
    **options: Any,
) -> PreparedScene:
    """Build a scene's structure, over its flattened triangles or over instances of its meshes, and its lighting.

    options : of `raystream.renderer.inputs.settings.PREPARED`, over those of ``settings``.
    before  : of an earlier scene or by other settings: equal parts are shared with it.

    Raises ViewerError for a value out of range, a scene that does not fit, and a file that cannot be read.
    """
    chosen = (settings or Settings()).replace(**options)
    scene.check()
    placed = arranged(scene, chosen)
    if before is None:
        return _prepared(scene, placed, chosen, scene_lighting(placed, chosen), progress)
    changes = scene_changes(before.scene, placed)
    lighting = scene_lighting(placed, chosen, before.lighting, changes)
    if keeps_structure(before, placed, chosen, changes) and not len(changes.moved) and not changes.posed:
        return adapted(before, scene, placed, chosen, lighting, changes)
    return _prepared(scene, placed, chosen, lighting, progress, before, changes)


def arranged(scene: Scene, settings: Settings) -> Scene:
    """The scene with the options ``max_texture``, ``point_size``, ``classic``, ``ground`` and ``light`` applied; one
    far from the origin has coordinates relative to a nearby point."""
    if settings.max_texture is not None:
        scene = with_textures_within(scene, settings.max_texture)
    if settings.point_size is not None and any(isinstance(mesh, Quadrics) for mesh in scene.meshes):
        scene = scene.with_parts(meshes=with_point_size(scene.meshes, settings.point_size))
    if settings.classic:
        scene = on_plane(scene, settings.ground)
    elif settings.ground is not None:
        scene = scene.on_ground(settings.ground)
    for name, position in settings.light:
        scene = with_light_at(scene, name, position)
    return located(scene)


def keeps_structure(before: PreparedScene, scene: Scene, settings: Settings, changes: SceneChanges) -> bool:
    """Whether the structure of ``before`` fits another ``scene``, given its ``changes``: moved instances and posed
    meshes are then updated in place."""
    if before.settings.structure_options() != settings.structure_options() or changes.geometry:
        return False
    deforming = before.structure.deforming
    if changes.posed and (deforming is None or not deforming.accepts(scene.meshes, changes.posed)):
        return False
    if changes.culling and settings.back_faces == "culled":
        return False
    # Under two levels instances and objects bear the materials' numbers and normals in tables of the structure.
    return not changes.attributes or before.structure.levels == 1


def adapted(
    before: PreparedScene, source: Scene, scene: Scene, settings: Settings, lighting: Lighting, changes: SceneChanges
) -> PreparedScene:
    """The prepared ``scene``, made from the caller's ``source``, with other lighting or attributes over the structure
    of ``before``; modules that ``changes`` leave as they are stay."""
    flat = scene.flatten() if changes.attributes else None
    geometry = before.shading[1] if flat is None else flat_geometry(flat, flat_keys(scene, flat))
    materials = before.materials if not (changes.materials or changes.attributes) else decided_materials(scene)
    surfaces = before.surfaces if _surfaces_stay(before, changes) else surface_features(scene)
    surface_modules = _surface_modules(scene, materials, lighting, surfaces, before, changes)
    tangents = [module for module in before.shading if module.name == TANGENTS] if surfaces.has_vertex_tangents else []
    if surfaces.has_vertex_tangents and before.structure.levels == 2:
        objects = before.structure.built.objects
        tangents = tangents or [object_tangents(objects.meshes, objects.keys)]
    elif surfaces.has_vertex_tangents and (flat is not None or not tangents):
        triangles = scene.flatten() if flat is None else flat
        tangents = [flat_tangents(triangles, flat_keys(scene, triangles))]
    emission_modules = (
        [module for module in before.shading if module.name == EMISSION_SHARES] if surfaces.textured_emitters else []
    )
    stale = flat is not None or changes.materials or changes.textures or _moves_emissive_textures(scene, changes)
    if surfaces.textured_emitters and (not emission_modules or stale):
        emission_modules = [emission_shares(scene, _face_meshes(scene, before.structure))]
    tangents += emission_modules
    shading = [before.shading[0], geometry, *surface_modules, *tangents]
    if len(shading) == len(before.shading) and all(map(operator.is_, shading, before.shading)):
        shading = before.shading
    return replace(
        before,
        given=source,
        scene=scene,
        settings=settings,
        shading=shading,
        lighting=lighting,
        materials=materials,
        surfaces=surfaces,
        flat=before.flat if flat is None and not len(changes.moved) else flat,
        shared=before.shared if shading is before.shading and lighting is before.lighting else {},
    )


def _surfaces_stay(before: PreparedScene, changes: SceneChanges) -> bool:
    """Whether the surfaces' features stay: shapes matter to them only where surfaces enclose absorbing volumes."""
    if changes.geometry or changes.attributes or changes.materials or changes.textures:
        return False
    return not (before.absorbing and (changes.posed or len(changes.moved)))


def _prepared(
    source: Scene,
    scene: Scene,
    settings: Settings,
    lighting: Lighting,
    progress: Report | None,
    before: PreparedScene | None = None,
    changes: SceneChanges | None = None,
) -> PreparedScene:
    """The prepared ``scene``, made from the caller's ``source``, with a new structure; modules of ``before`` are
    reused."""
    options = settings.structure_options()
    if options.accel == "auto":
        options = replace(options, accel=structures.default_structure(scene))
    flat = None
    if options.accel in structures.FLAT:
        flat = scene.flatten()
        keys = flat_keys(scene, flat)
        sides = culled(flat.materials, scene.materials) if options.back_faces == "culled" else None
        moving = Moving.of([triangles.positions[flat.triangles] for triangles in keys]) if keys else None
        earlier = before.structure if before is not None and before.structure_options == options else None
        primitives = Primitives(flat.corners(), flat.quadrics, sides, moving)
        structure = structures.FLAT[options.accel](primitives, options, progress, earlier)
        geometry, tangents = flat_geometry(flat, keys), partial(flat_tangents, flat, keys)
    else:
        from raystream.accel.two_level.structure import two_level_structure

        structure = two_level_structure(scene, options, progress)
        geometry = object_geometry(structure.built.objects)
        tangents = partial(object_tangents, structure.built.objects.meshes, structure.built.objects.keys)
    materials, surfaces = decided_materials(scene), surface_features(scene)
    surface_modules = _surface_modules(scene, materials, lighting, surfaces, before, changes)
    shading = [
        thin_lens(scene.camera()),
        geometry,
        *surface_modules,
        *([tangents()] if surfaces.has_vertex_tangents else []),
    ]
    if surfaces.textured_emitters:
        shading.append(emission_shares(scene, _face_meshes(scene, structure)))
    starts = np.cumsum(
        [0, *(len(scene.meshes[instance.mesh].triangles) for instance in scene.instances)], dtype=np.int64
    )
    return PreparedScene(
        source, scene, settings, structure, options, shading, lighting, materials, starts, surfaces, flat
    )


def flat_keys(scene: Scene, flat: Triangles) -> list[Triangles]:
    """The triangles of a moving scene at each key of its motion, the first ``flat``; empty where nothing moves. Raises
    ViewerError for a quadric that moves."""
    if not shapes_move(scene):
        return []
    for instance in scene.instances:
        if instance.motion is not None and isinstance(scene.meshes[instance.mesh], (Quadric, Quadrics)):
            name = instance.name or scene.meshes[instance.mesh].name
            raise ViewerError(f"{scene.name}: {name}", "a quadric that moves", "take --accel two-level-bvh")
    return [flat, *(posed.flatten() for posed in at_keys(scene)[1:])]


def _face_meshes(scene: Scene, structure: Structure) -> list[Mesh]:
    """The meshes whose faces follow each other in the geometry's module, in that order."""
    if structure.levels == 2:
        meshes = list(structure.built.objects.meshes)
        for row, index in enumerate(structure.deforming.indices if structure.deforming is not None else ()):
            meshes[row] = scene.meshes[index]  # in its pose
        return meshes
    return [scene.meshes[instance.mesh] for instance in scene.instances]


def _moves_emissive_textures(scene: Scene, changes: SceneChanges) -> bool:
    """Whether a pose has changed texture coordinates, and so perhaps the emission by a texture."""
    posed = (scene.meshes[index] for index in changes.posed)
    return any(isinstance(mesh, DeformedMesh) and mesh.deformation.morphs("uvs", "uvs_1") for mesh in posed)


def _surface_modules(
    scene: Scene,
    materials: list[Material],
    lighting: Lighting,
    surfaces: SurfaceFeatures,
    before: PreparedScene | None,
    changes: SceneChanges | None,
) -> list[Module]:
    """The modules of materials and textures; those of ``before`` where they still hold."""
    density, count = lighting.listed.density, len(scene.textures)
    if before is None or changes is None or changes.textures:
        return appearance(materials, scene.textures, density, surfaces=surfaces)
    old = [module for module in before.shading[2:] if module.name not in (TANGENTS, EMISSION_SHARES)]
    if surfaces != before.surfaces:
        return appearance(materials, scene.textures, density, old[0], surfaces)
    if materials == before.materials and lighting.listed is before.lighting.listed:
        return old
    return with_tables(old, materials, surfaces, count, density)


def prepared_by(settings: Settings, prepared: PreparedScene) -> bool:
    """Whether these settings would prepare the scene in the same way."""
    return settings.differences(prepared.settings).keys().isdisjoint(PREPARED)
