"""The G-buffer of a moving pinhole's pictures by the rasteriser: instances of meshes, and quadrics by their boxes.

A picture of many pixels takes a fraction of the time that its rays take; silhouettes are those of rays but for the
rasteriser's rounding of screen positions. Surfaces with holes are tested fragment by fragment as rays test them. Pixels
that see blended ones are without a sample: rays find those behind them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any
from weakref import ref

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.accel import quadrics
from raystream.cameras.lens import lens_uniforms
from raystream.kernels.backdrop import BACKDROP_NEEDS
from raystream.kernels.records import FACE, FEATURES, HIT, RAY, VERTEX
from raystream.programs import LEVELS, feature_buffers
from raystream.renderer.device.deformer import GpuDeformer
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.scene.camera import Camera
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.edits.materials import culls
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import PlacedQuadrics, Quadric
from raystream.scene.scene import Scene
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Kernel, Module, Table
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.raster import (
    ONE_SIDED,
    TESTED,
    InstancedMeshes,
    MeshGroups,
    PinholeView,
    RasterMesh,
    VisibilityBuffer,
    draw_source,
    raster_source,
)

_BOX = np.array(  # a box's triangles, over corners numbered by the bits of x, y and z
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]],
    np.int32,
)


_KEPT = "raster scene"


class RasterScene:
    """A scene's meshes for drawing, made without OpenGL; the same in all its poses. of : (I,) which of the ``meshes``
    an instance is drawn as."""

    def __init__(self, prepared: PreparedScene) -> None:
        self.meshes, self.of = raster_meshes(prepared)
        self._modules: dict[str, list[Module]] = {}

    def modules(self, prepared: PreparedScene) -> dict[str, list[Module]]:
        """Modules of the programs by name. prepared : the scene in any of its poses."""
        self._modules = self._modules or _modules(prepared)
        return self._modules

    @cached_property
    def groups(self) -> MeshGroups:
        """The meshes' triangles by the places where they lie, which takes a while for many."""
        return MeshGroups(self.meshes)


def raster_scene(prepared: PreparedScene) -> RasterScene:
    """A scene for drawing, made once, by a worker thread where that comes first; it is kept with the scene."""
    shared = prepared.shared
    if (drawn := shared.get(_KEPT)) is None:
        drawn = shared[_KEPT] = RasterScene(prepared)
    assert isinstance(drawn, RasterScene)
    return drawn


def raster_meshes(prepared: PreparedScene) -> tuple[list[RasterMesh], NDArray[np.int64]]:
    """The meshes that instances are drawn as, one for each material that they give it, and (I,) which."""
    scene, mesh_numbers = prepared.scene, dict[tuple[int, int | None], int]()
    of = np.array([mesh_numbers.setdefault((i.mesh, i.material), len(mesh_numbers)) for i in scene.instances], np.int64)
    sides = np.array([*map(culls, scene.materials), False]) & (prepared.structure_options.back_faces == "culled")
    tested = np.array([*(item.alpha_mode != "opaque" for item in scene.materials), False])
    kinds = {key: _kinds(scene, *key, sides, tested) for key in mesh_numbers}
    if prepared.structure.levels == 2:  # instances share an object's triangles, which are culled where all cull them
        for (mesh, _), kind in kinds.items():
            shared = np.bitwise_and.reduce([kinds[key] for key in kinds if key[0] == mesh]) & ONE_SIDED
            kind[:] = (kind & TESTED) | shared
    deforming = prepared.structure.deforming
    posed = set() if deforming is None else {*deforming.numbers}
    shapes = [_raster_mesh(scene.meshes[mesh], kinds[mesh, material], mesh in posed) for mesh, material in mesh_numbers]
    return shapes, of


def _kinds(scene: Scene, mesh: int, material: int | None, sides: NDArray, tested: NDArray) -> NDArray[np.uint8]:
    """(T,) of a mesh's triangles, in the mesh's own materials or all of one."""
    numbers = scene.meshes[mesh].materials
    if material is not None:
        numbers = np.full_like(numbers, material)
    numbers = np.where((numbers >= 0) & (numbers < len(scene.materials)), numbers, -1)
    return (ONE_SIDED * sides[numbers] + TESTED * tested[numbers]).astype(np.uint8)


def _raster_mesh(mesh: Mesh, kinds: NDArray[np.uint8], posed: bool) -> RasterMesh:
    """posed : the device writes the positions."""
    if posed and isinstance(mesh, DeformedMesh):
        return RasterMesh(mesh.rest.positions, mesh.triangles, kinds)
    if not isinstance(mesh, (Quadric, Quadrics)):
        return RasterMesh(mesh.positions, mesh.triangles, kinds)
    ends = quadrics.boxes(PlacedQuadrics.of(mesh.shape, mesh.maps))
    corners = np.stack([ends[:, [k & 1, k >> 1 & 1, k >> 2 & 1], [0, 1, 2]] for k in range(8)], axis=1).reshape(-1, 3)
    faces = (_BOX + 8 * np.arange(len(ends), dtype=np.int32)[:, None, None]).reshape(-1, 3)
    numbers = np.repeat(np.arange(len(ends), dtype=np.int32), len(_BOX))
    return RasterMesh(corners, faces, np.full(len(faces), TESTED, np.uint8), numbers)


def gbuffer_sources(prepared: PreparedScene, resources: Resources) -> dict[str, Source]:
    """The programs over the visibility buffer: ``gbuffer``, and ``tested`` where the scene has surfaces to test."""
    return {name: _source(name, modules, resources) for name, modules in _modules(prepared).items()}


def _modules(prepared: PreparedScene) -> dict[str, list[Module]]:
    """Modules of the programs by name."""
    look, scene, levels = prepared.look, prepared.scene, prepared.structure.levels
    some = bool(scene.quadric_count)
    hit = Module(
        "visible hit",
        provides=("visible_hit",),
        source=f"raster/hit_{'objects' if levels == 2 else 'flat'}{'_quadrics' if some else ''}.glsl",
        needs=("geometry_at", *(["object_ray"] if levels == 2 else []), *(["quadric_test"] if some else [])),
        uses=(RAY, HIT, FACE, VERTEX),
        features=frozenset({"ALPHA"} if look.alpha else ()),
    )
    linked = LinkedProgram(feature_buffers(LEVELS[levels], prepared.backdrop), [*prepared.modules(lit=True), hit])
    visible = ("geometry_at", "camera_ray", "visible_hit")
    behind = ("environment_radiance", *BACKDROP_NEEDS[prepared.backdrop])
    needs: dict[str, tuple[str, ...]] = {"gbuffer": (*visible, "surface_at", "emission_seen", *behind)}
    needs["gbuffer"] += ("opacity_at",) if look.blend else ()
    if look.alpha or some:
        needs["tested"] = (*visible, *(["opacity_passes"] if look.alpha else []))
    return {name: linked.modules_for([Kernel(name, (), ("done",), needs=need)]) for name, need in needs.items()}


def _source(name: str, modules: list[Module], resources: Resources) -> Source:
    file = {"gbuffer": "raster/gbuffer.glsl", "tested": "raster/visible_tested.glsl"}[name]
    return draw_source(modules, [RAY, HIT, FACE, VERTEX, FEATURES], file, resources)


class _Bound:
    """A program with the memories and uniforms of its modules."""

    def __init__(self, shader: Shader, modules: list[Module], resources: Resources) -> None:
        self.shader = shader
        memories = [memory for module in modules for memory in module.memories]
        own = {f"memory_{m.name}": resources.get(m).texture for m in memories if not isinstance(m, Table) or m.hot}
        self._textures = {**own, "memory_arena": resources.arena}
        self._uniforms = {name: value for module in modules for name, (_, value) in module.uniforms.items()}
        self._uniforms |= resources.bases(modules)

    def bind(self, lens: dict[str, Any]) -> Shader:
        """The program, ready to be drawn with, as a camera of this lens sees the scene."""
        for name, value in {**self._uniforms, **lens}.items():
            self.shader.set(name, value)
        for name, texture in self._textures.items():
            self.shader.bind(name, texture)
        return self.shader


class GBufferRaster:
    """The pass over a scene; the context must be current in every call.

    before : of another scene; resources common to both are taken from it, and the rest released. deformer : of its
    deforming objects, whose posed vertices are drawn.
    """

    def __init__(
        self,
        device: Device,
        prepared: PreparedScene,
        resources: Resources,
        before: GBufferRaster | None = None,
        deformer: GpuDeformer | None = None,
    ) -> None:
        self.device, drawn = device, raster_scene(prepared)
        self._drawn = ref(drawn)
        self.programs: dict[str, _Bound]
        modules = drawn.modules(prepared)
        sources = {name: _source(name, own, resources) for name, own in modules.items()}
        made = {} if before is None else {name: bound.shader for name, bound in before.programs.items()}
        shaders = {
            name: made[name] for name in made if name in sources and made[name].source.text == sources[name].text
        }
        for name in sources.keys() - shaders.keys():
            vertex = raster_source("visible_vertex") if name == "tested" else None
            shaders[name] = Shader(device, sources[name], vertex, listed=vertex is not None)
        same = before is not None and before.drawing.shader is shaders["gbuffer"]
        self.drawing: Drawing = before.drawing if before is not None and same else square(device, shaders["gbuffer"])
        self.meshes: InstancedMeshes
        self.visibility: VisibilityBuffer
        if before is not None and before.draws(drawn.meshes):
            self.meshes, self.visibility = before.meshes, before.visibility
        else:
            if before is not None:
                before.release()
            self.meshes = InstancedMeshes(device, drawn.groups)
            self.visibility = VisibilityBuffer(device, self.meshes)
        self._stand(prepared, resources, deformer, shaders)

    def follow(self, prepared: PreparedScene, resources: Resources, deformer: GpuDeformer | None) -> None:
        """Draw the same scene in another pose and at other places, as `serves` tells."""
        self._stand(prepared, resources, deformer, {name: bound.shader for name, bound in self.programs.items()})

    def _stand(
        self, prepared: PreparedScene, resources: Resources, deformer: GpuDeformer | None, shaders: Mapping[str, Shader]
    ) -> None:
        self._prepared, scene, drawn = ref(prepared), prepared.scene, raster_scene(prepared)
        self._blended = prepared.look.blend
        modules, of = drawn.modules(prepared), drawn.of
        self.programs = {name: _Bound(shader, modules[name], resources) for name, shader in shaders.items()}
        extra = np.zeros((len(of), 1, 4), np.float32)
        if prepared.structure.levels == 2:
            extra[:, 0, 0] = np.arange(len(of))
        else:
            extra[:, 0, 1] = prepared.starts[:-1]
        transforms = np.array([instance.transform for instance in scene.instances], np.float64).reshape(-1, 4, 4)
        if deformer is not None:
            resources.settle()
            self._pose(prepared, of, transforms, deformer)
        self.meshes.place(of, transforms, extra)

    def _pose(
        self, prepared: PreparedScene, of: NDArray, transforms: NDArray[np.float64], deformer: GpuDeformer
    ) -> None:
        """Draw posed vertices, in their objects' spaces; transforms (I, 4, 4), changed: from there."""
        if deformer.posed is None:
            return
        objects, poses = prepared.structure.built.objects, deformer.deforming.poses
        places = {mesh: object_numbers for object_numbers, mesh in enumerate(deformer.deforming.numbers)}
        owners = np.array([places.get(instance.mesh, -1) for instance in prepared.scene.instances], np.int64)
        posed = np.flatnonzero(owners >= 0)
        transforms[posed, :3, :3] /= objects.scales[owners[posed], None, None]
        numbers, first = np.unique(of[posed], return_index=True)
        object_numbers = owners[posed[first]]
        middle, half = objects.parts[object_numbers, 0, :3], objects.parts[object_numbers, 0, 3:6]
        self.meshes.groups.enclose(numbers, middle - half, middle + half)
        self.meshes.write_positions(numbers, deformer.posed, poses.firsts[object_numbers])

    @property
    def prepared(self) -> PreparedScene | None:
        """The scene; None once nobody else has it."""
        return self._prepared()

    def serves(self, prepared: PreparedScene) -> bool:
        """Whether this is the scene that it was made of, in any pose."""
        return self._drawn() is raster_scene(prepared)

    def draws(self, meshes: list[RasterMesh]) -> bool:
        """Whether its buffers hold these very meshes."""
        mine = self.meshes.groups.meshes
        return len(mine) == len(meshes) and all(a.same(b) for a, b in zip(mine, meshes, strict=True))

    def draw(self, camera: Camera, target: Stream) -> None:
        """The features of all pixels of a stream of `FEATURES`: one sample, through their centres; none of those that
        see blended surfaces."""
        self.draw_triangles(camera, target.size)
        self.draw_surfaces(camera, target)

    def draw_triangles(self, camera: Camera, size: tuple[int, int]) -> None:
        """Its first half: the nearest triangle of every pixel of a picture of ``size`` (width, height)."""
        lens = lens_uniforms(camera, size, "point")
        names = "camera_origin", "camera_right", "camera_up", "camera_forward"
        tested = self.programs.get("tested")
        view = PinholeView(*(np.asarray(lens[name], np.float64) for name in names))
        layered = {"opacity_layered": 1} if self._blended else {}
        self.visibility.draw(view, size, None if tested is None else tested.bind({**lens, **layered}))

    def draw_surfaces(self, camera: Camera, target: Stream) -> None:
        """Its second half: shading of the visibility buffer, by the same camera."""
        target.framebuffer.use()
        target.framebuffer.viewport = (0, 0, *target.size)
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        shader = self.programs["gbuffer"].bind(lens_uniforms(camera, target.size, "point"))
        shader.bind("in_visible", self.visibility.visible)
        shader.bind("in_order", self.meshes.order)
        shader.bind("in_slots", self.meshes.slots)
        self.drawing.render()

    def release(self) -> None:
        """Free buffers and textures; the scene's memories stay."""
        self.visibility.release()
        self.meshes.release()
