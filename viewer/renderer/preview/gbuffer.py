"""The G-buffer of moving pictures: rasterised where a scene has few triangles for the window's pixels, else by rays.

Both grow with the pixels, that of the rasteriser with the triangles, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal
from weakref import ref

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.accel import primitives
from raystream.cameras.lens import lens_uniforms
from raystream.film.device_film import Buffer
from raystream.kernels.paths import BACKDROP_NEEDS
from raystream.kernels.records import FACE, FEATURES, HIT, PIXEL, RAY, VERTEX
from raystream.programs import LEVELS, feature_buffers
from raystream.renderer.device.deformer import GpuDeformer
from raystream.renderer.device.machine_pool import Key, warm
from raystream.renderer.inputs.camera import sampled_lens
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.scheduler import STEP, rasterises
from raystream.renderer.sampling.parts import RendererParts
from raystream.scene.camera import Camera
from raystream.scene.deform import DeformedMesh
from raystream.scene.edits.materials import culls
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import PlacedQuadrics, Quadric
from raystream.scene.scene import Scene
from raystream.stream import raster
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Kernel, Module, Table
from raystream.stream.gl.compiler import Batch
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.passes import Declared, PassSet
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import NamedStreams, Stream
from raystream.stream.machines.common import CHOICE
from raystream.stream.machines.singlepass import Singlepass

# -- the G-buffer of a moving pinhole's pictures by the rasteriser -----------------------------------------------------
# Instances of meshes, and quadrics by their boxes.
# A picture of many pixels takes a fraction of the time that its rays take; silhouettes are those of rays but for the
# rasteriser's rounding of screen positions. Surfaces with holes are tested fragment by fragment as rays test them.
# Pixels that see blended ones are without a sample: rays find those behind them.

_BOX = np.array(  # a box's triangles, over corners numbered by the bits of x, y and z
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]],
    np.int32,
)


_SHARED_KEY = "raster scene"


class RasterScene:
    """A scene's meshes for drawing, made without OpenGL; the same in all its poses. mesh_indices : (I,) of the
    instances, in ``meshes``."""

    def __init__(self, prepared: PreparedScene) -> None:
        self.meshes, self.mesh_indices = raster_meshes(prepared)
        self._modules: dict[str, list[Module]] = {}

    def modules(self, prepared: PreparedScene) -> dict[str, list[Module]]:
        """Modules of the programs by name. prepared : the scene in any of its poses."""
        self._modules = self._modules or _modules(prepared)
        return self._modules

    @cached_property
    def groups(self) -> raster.MeshGroups:
        """The meshes' triangles by the places where they lie, which takes a while for many."""
        return raster.MeshGroups(self.meshes)


def raster_scene(prepared: PreparedScene) -> RasterScene:
    """A scene for drawing, made once, by a worker thread where that comes first; it is kept with the scene."""
    shared = prepared.shared
    if (scene_meshes := shared.get(_SHARED_KEY)) is None:
        scene_meshes = shared[_SHARED_KEY] = RasterScene(prepared)
    assert isinstance(scene_meshes, RasterScene)
    return scene_meshes


def raster_meshes(prepared: PreparedScene) -> tuple[list[raster.RasterMesh], NDArray[np.int64]]:
    """The meshes that instances are drawn as, one for each material that they give it, and (I,) which."""
    scene, index_of = prepared.scene, dict[tuple[int, int | None], int]()
    mesh_indices = np.array(
        [index_of.setdefault((i.mesh, i.material), len(index_of)) for i in scene.instances], np.int64
    )
    sides = np.array([*map(culls, scene.materials), False]) & (prepared.structure_options.back_faces == "culled")
    tested = np.array([*(item.alpha_mode != "opaque" for item in scene.materials), False])
    kinds = {key: _kinds(scene, *key, sides, tested) for key in index_of}
    if prepared.structure.levels == 2:  # instances share an object's triangles, which are culled where all cull them
        for (mesh, _), kind in kinds.items():
            shared = np.bitwise_and.reduce([kinds[key] for key in kinds if key[0] == mesh]) & raster.ONE_SIDED
            kind[:] = (kind & raster.ALPHA_TESTED) | shared
    deforming = prepared.structure.deforming
    posed = set() if deforming is None else {*deforming.indices}
    shapes = [_raster_mesh(scene.meshes[mesh], kinds[mesh, material], mesh in posed) for mesh, material in index_of]
    return shapes, mesh_indices


def _kinds(scene: Scene, mesh: int, material: int | None, sides: NDArray, tested: NDArray) -> NDArray[np.uint8]:
    """(T,) of a mesh's triangles, in the mesh's own materials or all of one."""
    indices = scene.meshes[mesh].materials
    if material is not None:
        indices = np.full_like(indices, material)
    indices = np.where((indices >= 0) & (indices < len(scene.materials)), indices, -1)
    return (raster.ONE_SIDED * sides[indices] + raster.ALPHA_TESTED * tested[indices]).astype(np.uint8)


def _raster_mesh(mesh: Mesh, kinds: NDArray[np.uint8], posed: bool) -> raster.RasterMesh:
    """posed : the device writes the positions."""
    if posed and isinstance(mesh, DeformedMesh):
        return raster.RasterMesh(mesh.rest.positions, mesh.triangles, kinds)
    if not isinstance(mesh, (Quadric, Quadrics)):
        return raster.RasterMesh(mesh.positions, mesh.triangles, kinds)
    ends = primitives.boxes(PlacedQuadrics.of(mesh.shape, mesh.maps))
    corners = np.stack([ends[:, [k & 1, k >> 1 & 1, k >> 2 & 1], [0, 1, 2]] for k in range(8)], axis=1).reshape(-1, 3)
    faces = (_BOX + 8 * np.arange(len(ends), dtype=np.int32)[:, None, None]).reshape(-1, 3)
    indices = np.repeat(np.arange(len(ends), dtype=np.int32), len(_BOX))
    return raster.RasterMesh(corners, faces, np.full(len(faces), raster.ALPHA_TESTED, np.uint8), indices)


def gbuffer_sources(prepared: PreparedScene, resources: Resources) -> dict[str, Source]:
    """The programs over the visibility buffer: ``gbuffer``, and ``tested`` where the scene has surfaces to test."""
    return {name: _source(name, modules, resources) for name, modules in _modules(prepared).items()}


def _modules(prepared: PreparedScene) -> dict[str, list[Module]]:
    """Modules of the programs by name."""
    surfaces, scene, levels = prepared.surfaces, prepared.scene, prepared.structure.levels
    some = bool(scene.quadric_count)
    hit = Module(
        "visible hit",
        provides=("visible_hit",),
        source=f"raster/hit_{'objects' if levels == 2 else 'flat'}{'_quadrics' if some else ''}.glsl",
        needs=("geometry_at", *(["object_ray"] if levels == 2 else []), *(["quadric_test"] if some else [])),
        uses=(RAY, HIT, FACE, VERTEX),
        features=frozenset({"ALPHA"} if surfaces.alpha else ()),
    )
    linked = LinkedProgram(feature_buffers(LEVELS[levels], prepared.backdrop), [*prepared.modules(lit=True), hit])
    visible = ("geometry_at", "camera_ray", "visible_hit")
    behind = ("environment_radiance", *BACKDROP_NEEDS[prepared.backdrop])
    needs: dict[str, tuple[str, ...]] = {"gbuffer": (*visible, "surface_at", "emission_seen", *behind)}
    needs["gbuffer"] += ("opacity_at",) if surfaces.blend else ()
    if surfaces.alpha or some:
        needs["tested"] = (*visible, *(["opacity_passes"] if surfaces.alpha else []))
    return {name: linked.modules_for([Kernel(name, (), ("done",), needs=need)]) for name, need in needs.items()}


def _source(name: str, modules: list[Module], resources: Resources) -> Source:
    file = {"gbuffer": "raster/gbuffer.glsl", "tested": "raster/visible_tested.glsl"}[name]
    return raster.draw_source(modules, [RAY, HIT, FACE, VERTEX, FEATURES], file, resources)


class _Bound:
    """A program with the memories and uniforms of its modules."""

    def __init__(self, shader: Shader, modules: list[Module], resources: Resources) -> None:
        self.shader = shader
        memories = [memory for module in modules for memory in module.memories]
        tables = {f"memory_{m.name}": resources.get(m).texture for m in memories if not isinstance(m, Table) or m.hot}
        self._textures = {**tables, "memory_arena": resources.arena}
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
        self.device, to_draw = device, raster_scene(prepared)
        self._raster_scene = ref(to_draw)
        modules = to_draw.modules(prepared)
        sources = {name: _source(name, program_modules, resources) for name, program_modules in modules.items()}
        compiled: dict[str, Shader] = {} if before is None else before.shaders
        self.shaders: dict[str, Shader] = {
            n: s for n, s in compiled.items() if n in sources and s.source.text == sources[n].text
        }
        for name in sources.keys() - self.shaders.keys():
            vertex = raster.raster_source("visible_vertex") if name == "tested" else None
            self.shaders[name] = Shader(device, sources[name], vertex, listed=vertex is not None)
        shader = self.shaders["gbuffer"]
        same = before is not None and before.drawing.shader is shader
        self.drawing: Drawing = before.drawing if before is not None and same else square(device, shader)
        self.meshes: raster.InstancedMeshes
        self.visibility: raster.VisibilityBuffer
        if before is not None and before.draws(to_draw.meshes):
            self.meshes, self.visibility = before.meshes, before.visibility
        else:
            if before is not None:
                before.release()
            self.meshes = raster.InstancedMeshes(device, to_draw.groups)
            self.visibility = raster.VisibilityBuffer(device, self.meshes)
        self.follow(prepared, resources, deformer)

    def follow(self, prepared: PreparedScene, resources: Resources, deformer: GpuDeformer | None) -> None:
        """Draw the same scene in another pose and at other places, as `serves` tells."""
        self._prepared, scene, to_draw = ref(prepared), prepared.scene, raster_scene(prepared)
        self._blended = prepared.surfaces.blend
        modules, mesh_indices = to_draw.modules(prepared), to_draw.mesh_indices
        self.programs = {name: _Bound(shader, modules[name], resources) for name, shader in self.shaders.items()}
        extra = np.zeros((len(mesh_indices), 1, 4), np.float32)
        if prepared.structure.levels == 2:
            extra[:, 0, 0] = np.arange(len(mesh_indices))
        else:
            extra[:, 0, 1] = prepared.starts[:-1]
        transforms = np.array([instance.transform for instance in scene.instances], np.float64).reshape(-1, 4, 4)
        if deformer is not None:
            resources.update_computed_tables()
            self._pose(prepared, mesh_indices, transforms, deformer)
        self.meshes.set_instances(mesh_indices, transforms, extra)

    def _pose(
        self, prepared: PreparedScene, mesh_indices: NDArray, transforms: NDArray[np.float64], deformer: GpuDeformer
    ) -> None:
        """Draw posed vertices, in their objects' spaces; transforms (I, 4, 4), changed: from there."""
        if deformer.posed is None:
            return
        objects, poses = prepared.structure.built.objects, deformer.deforming.poses
        slots = {mesh: slot for slot, mesh in enumerate(deformer.deforming.indices)}
        owners = np.array([slots.get(instance.mesh, -1) for instance in prepared.scene.instances], np.int64)
        posed = np.flatnonzero(owners >= 0)
        transforms[posed, :3, :3] /= objects.scales[owners[posed], None, None]
        indices, first = np.unique(mesh_indices[posed], return_index=True)
        object_indices = owners[posed[first]]
        middle, half = objects.parts[object_indices, 0, :3], objects.parts[object_indices, 0, 3:6]
        self.meshes.groups.set_boxes(indices, middle - half, middle + half)
        self.meshes.write_positions(indices, deformer.posed, poses.firsts[object_indices])

    @property
    def prepared(self) -> PreparedScene | None:
        """The scene; None once nobody else has it."""
        return self._prepared()

    def serves(self, prepared: PreparedScene) -> bool:
        """Whether this is the scene that it was made of, in any pose."""
        return self._raster_scene() is raster_scene(prepared)

    def draws(self, meshes: list[raster.RasterMesh]) -> bool:
        """Whether its buffers hold these very meshes."""
        mine = self.meshes.groups.meshes
        return len(mine) == len(meshes) and all(a.draws_alike(b) for a, b in zip(mine, meshes, strict=True))

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
        view = raster.PinholeView(*(np.asarray(lens[name], np.float64) for name in names))
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


# -- feature buffers of pictures that must come quickly: one pass over a buffer in place, whatever its size ------------
# Pieces that are copied into a machine's streams and back cost more than the camera rays of a simple scene.

NOMINAL = 15, 15  # of the machine, until it has a buffer; no powers of two, as in `gbuffer.TINY`
Blended = Literal["random", "layers", "unfilled"]  # see `GBufferTracer.fill`
PASSES: Declared = {"unfilled": ({"features": FEATURES}, CHOICE)}
MAX_PIXEL_STREAMS = 4  # streams of pixels that are kept, one for each size


class GBufferTracer:
    """Fills buffers of `FEATURES` of one block each."""

    def __init__(self, renderer: RendererParts) -> None:
        self.renderer = renderer
        self._passes, self._streams = PassSet(renderer.device, "raster", PASSES), NamedStreams(renderer.device)
        self._pixels: dict[tuple[int, int], Stream] = {}  # by size, the one used last at the end

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile."""
        machine = self.renderer.gpu_scene.machines.get(self._key()[0])
        return machine is not None and machine.warmed

    def warm(self) -> Iterator[float]:
        """Compile the programs of `fill`; yields the share done."""
        machine = self.prepare()
        yield from warm(self.renderer.device, machine)

    def prepare(self) -> Singlepass:
        """Its machine, whose programs may still be to compile."""
        with self.renderer.device.current():
            if self.renderer.prepared.surfaces.blend:
                self._passes.prepare("unfilled")
            return self._machine(deferred=True)

    def fill(
        self,
        buffer: Buffer,
        samples: int,
        camera: Camera,
        rate: float,
        settings: Settings,
        first: int = 0,
        blended: Blended = "random",
    ) -> Iterator[None]:
        """Fill a buffer with the hits of the camera rays of each pixel's first ``samples`` samples, in strips that take
        about a step of a session each, in all of which the context must be current.

        rate : rays a second, as far as is known. settings : by which lens, pixel filter and random numbers are chosen.
        first : number of the first sample. blended : of blended surfaces a ray takes one at random, or all, each by
        its coverage (layers), or these in pixels without a sample alone (unfilled).
        """
        renderer, size = self.renderer, buffer.size
        rays = size[0] * size[1] * max(0, samples - buffer.samples)
        if not rays:
            return
        lens, pixel_filter = sampled_lens(settings, camera)
        machine, features = self._machine(), buffer.blocks[0].stream
        shared = renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared
        uniforms = renderer.prepared.sample_uniforms(machine.linked.program, settings, shared, samples, first=first)
        machine.use_streams({"pixel": self._pixel(size), "features": features})
        if renderer.prepared.surfaces.blend:
            uniforms["opacity_layered"] = int(blended != "random")
        machine.set({**lens_uniforms(lens, size, pixel_filter), **uniforms})
        chosen = None
        if blended == "unfilled":  # pixels that have a sample would cost two thirds of a ray
            chosen = self._streams.get("unfilled", CHOICE, size)
            self._passes.draw("unfilled", {"features": features}, chosen)
        machine.choose(chosen)
        machine.bands = min(size[1], max(1, math.ceil(rays / (rate * STEP))))
        for _ in machine.run():
            yield None
        buffer.set_samples(max(buffer.samples, samples))

    def _key(self) -> tuple[Key, Settings]:
        settings = self.renderer.settings.replace(machine="singlepass")
        projection = self.renderer.prepared.projection(settings)
        common = NOMINAL, False, settings.passes, settings.sampler
        return Key(("features in place",), *common, projection=projection), settings

    def _machine(self, deferred: bool = False) -> Singlepass:
        key, settings = self._key()
        prepared = self.renderer.prepared
        program = feature_buffers(LEVELS[prepared.structure.levels], prepared.backdrop, prepared.surfaces.blend)
        machine = self.renderer.gpu_scene.machines.take(program, key, settings, deferred=deferred)
        assert isinstance(machine, Singlepass)
        return machine

    def _pixel(self, size: tuple[int, int]) -> Stream:
        """The pixels of a picture, each in its place."""
        stream = self._pixels.pop(size, None)
        if stream is None:
            while len(self._pixels) >= MAX_PIXEL_STREAMS:
                self._pixels.pop(next(iter(self._pixels))).release()
            stream = Stream(self.renderer.device, PIXEL, size)
            self.renderer.gpu_scene.pixels.fill(stream, (slice(0, size[1]), slice(0, size[0])))
        self._pixels[size] = stream
        return stream

    def release(self) -> None:
        """Free the streams; the machine stays with the renderer."""
        with self.renderer.device.current():
            for stream in self._pixels.values():
                stream.release()
            self._streams.release()
        self._pixels.clear()


# -- the G-buffer of moving pictures -----------------------------------------------------------------------------------

# The picture that the driver compiles its part for. Mesa's llvmpipe (22.3) has programs of their own for textures whose
# edges are powers of two, which those of windows are not.
TINY = 15, 9

MAX_BOXES = 1 << 15  # quadrics of a scene that is rasterised


class GBuffer:
    """Rasterises features. pictures : so far. window_pixels : in all of which it is worth its time, or not."""

    def __init__(self, renderer: RendererParts) -> None:
        self.renderer = renderer
        self.pictures = 0
        self.window_pixels = 0
        self._raster: GBufferRaster | None = None
        self._batch = Batch()  # of programs still to compile
        self._last_prepared: PreparedScene | None = None  # the scene of the last picture
        self._reloads = 0  # of the shaders' files, when its programs were made

    @property
    def suits(self) -> bool:
        """Whether features are rasterised in this scene and window."""
        prepared = self.renderer.prepared
        triangles = int(prepared.starts[-1])
        deforming = prepared.structure.deforming
        if self.renderer.camera.kind:
            return False  # rays find what a pinhole alone can draw
        if prepared.scene.quadric_count > MAX_BOXES:
            return False  # each is drawn as a box
        if deforming is not None and not deforming.poses.finite:
            return False  # triangles with corners nowhere would reach through the picture
        return self.renderer.device.limits is None and rasterises(triangles, self.window_pixels)

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile."""
        return (self._raster is not None and not self._batch) or not self.suits

    def prepare(self) -> Batch:
        """Make the rasteriser; its programs, still to compile. The context must be current."""
        if self._raster is None:
            with self.renderer.device.deferred() as self._batch:
                self._make()
        return self._batch

    def warm(self) -> None:
        """Compile the rasteriser; the context must be current."""
        self._batch.finish()
        current = self._raster or self._make()
        buffer = Buffer(self.renderer.device, FEATURES, TINY)
        current.draw(self.renderer.camera.with_lens(0.0), buffer.blocks[0].stream)
        buffer.release()

    def chosen(self) -> bool:
        """Whether the next picture's features are rasterised; the context must be current.

        Not in the first picture of other meshes: those that change all the time are not worth their buffers.
        """
        prepared, last_prepared, current = self.renderer.prepared, self._last_prepared, self._raster
        self._last_prepared = prepared
        if not self.suits:
            return False
        if current is not None and current.prepared is prepared:
            return True
        scene = self.renderer.gpu_scene
        if current is not None and current.serves(prepared) and self._reloads == scene.reloads:
            current.follow(prepared, scene.resources, scene.deformer)
            return True
        moved = current is not None and current.draws(raster_scene(prepared).meshes)
        if not (moved or prepared is last_prepared):
            return False
        self._make()
        return True

    def draw(self, buffer: Buffer, camera: Camera) -> None:
        """Fill a buffer of one block, one sample through the pixels' centres, where that has been `chosen`; the context
        must be current. Pixels that see blended surfaces have no sample yet, nor has the buffer: they are for rays."""
        self.queue_triangles(buffer, camera)
        self.queue_surfaces(buffer, camera)
        self.renderer.device.wait()

    def queue_triangles(self, buffer: Buffer, camera: Camera) -> None:
        """The first half of `draw`, which is not waited for."""
        assert self._raster is not None
        self._raster.draw_triangles(camera, buffer.size)

    def queue_surfaces(self, buffer: Buffer, camera: Camera) -> None:
        """The second half, likewise."""
        assert self._raster is not None
        self._raster.draw_surfaces(camera, buffer.blocks[0].stream)
        if not self.renderer.prepared.surfaces.blend:
            buffer.set_samples(1)
        self.pictures += 1

    def _make(self) -> GBufferRaster:
        renderer = self.renderer
        scene = renderer.gpu_scene
        self._raster = GBufferRaster(renderer.device, renderer.prepared, scene.resources, self._raster, scene.deformer)
        self._reloads = scene.reloads
        return self._raster

    def release(self) -> None:
        """Free buffers and textures."""
        if self._raster is not None:
            with self.renderer.device.current():
                self._raster.release()
        self._raster = self._last_prepared = None
