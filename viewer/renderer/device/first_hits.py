"""How a program finds its first hits: by traversal of camera rays, or by rasterising the triangles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.cameras.lens import lens_uniforms
from raystream.kernels.records import FACE, FAR, HIT, RAY, VERTEX
from raystream.lighting.sampler import sampler_uniforms
from raystream.options.table import OPTIONS
from raystream.programs.whitted import shadow_cast
from raystream.renderer.device.tile_job import FirstHitPass, Rectangle
from raystream.renderer.inputs.camera import sampled_lens
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Kernel, Module, Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.raster import Rasterizer, draw_source

# -- first hits by the feed-forward pipeline ---------------------------------------------------------------------------
# The scene's triangles drawn with a depth buffer, as seen from a pinhole.
# All rays of a sample must have one origin and one offset from their pixels' centres. The fragment program runs the
# other machines' intersection test on its pixel's ray, and the triangles are drawn a little larger than they are, so
# that both find the same hits to the bit; `differing_share` tells any differences at silhouettes.

DRAWN_TRIANGLE = Record(
    "Drawn",
    Field("address", "int", about="of the triangle in the table that the test reads"),
    Field("number", "int", about="of the triangle in the scene"),
)

SAMPLE_UNIFORMS = frozenset({"path_samples"})  # uniforms that first hits do not depend on

# The kernels that stand for the two programs: what they need of modules.
_VERTEX = Kernel("cover", (), ("done",), needs=("geometry_at", "camera_sample", "sample_2d", "path_settings"))
_FRAGMENT = Kernel("hit", (), ("done",), needs=("triangle_test", "camera_sample", "sample_2d", "path_settings"))


def unsupported_reason(prepared: PreparedScene, camera: Camera, shared: bool) -> str:
    """Why triangles cannot be drawn to find first hits; empty where they can. shared : whether all pixels of a sample
    have one offset from their centres."""
    if prepared.moving or camera.motion:
        return "the shutter is open for a while"
    if prepared.structure.levels != 1:
        return "instances are not drawn; take --accel bvh or --accel grid"
    if prepared.scene.quadric_count:
        return "quadrics are not drawn; take --first-hits rays"
    if prepared.surfaces.alpha:
        return "surfaces with holes are not drawn; take --first-hits rays"
    if camera.kind:
        return "triangles are drawn for a pinhole alone, by its field of view"
    if camera.aperture > 0:
        return "a lens has no one origin of rays; take --aperture 0"
    if not shared:
        return "every pixel has an offset of its own; take --offsets sample"
    return ""


def raster_sources(prepared: PreparedScene, resources: Resources, sampler: str) -> tuple[Source, Source]:
    """Vertex and fragment program of `RasterizedHits`."""
    return _sources(*_raster_modules(prepared, sampler), resources)


def _sources(
    vertex: Sequence[Module], fragment: Sequence[Module], order: Module, resources: Resources
) -> tuple[Source, Source]:
    limits = resources.device.limits
    rounds = limits is not None and limits.rounds
    return (
        draw_source([*vertex, order], [FACE, VERTEX], "raster/triangle_cover.glsl", resources),
        draw_source(fragment, [RAY, HIT], "raster/triangle_hit.glsl", resources, rounds),
    )


def _raster_modules(prepared: PreparedScene, sampler: str) -> tuple[Sequence[Module], Sequence[Module], Module]:
    """Modules of the vertex program, of the fragment program, and the one with the table of triangles to draw."""
    linked = LinkedProgram(shadow_cast(), prepared.modules(lit=True, sampler=sampler))
    table = Table("drawn", DRAWN_TRIANGLE, _drawn_triangles(linked))
    order = Module("drawn triangles", (), "raster/drawn.glsl", memories=(table,))
    return linked.modules_for([_VERTEX]), linked.modules_for([_FRAGMENT]), order


def _drawn_triangles(linked: LinkedProgram) -> NDArray:
    """(T,) `DRAWN_TRIANGLE`: the finite triangles of the intersection test's table, in the scene's order, which decides
    between equal depths."""
    modules = [linked.providers[name] for name in ("triangle_test", "geometry_at")]
    tables: dict[str, Any] = {memory.name: memory.data for module in modules for memory in module.memories}
    indices, addresses = np.unique(tables["triangles"]["number"], return_index=True)
    finite = np.isfinite(tables["vertices"]["position"]).all(axis=1)
    finite_faces = finite[tables["faces"]["corners"][indices]].all(axis=1)
    out = np.zeros(int(finite_faces.sum()), DRAWN_TRIANGLE.dtype)
    out["number"], out["address"] = indices[finite_faces], addresses[finite_faces]
    return out


class RasterizedHits:
    """The feed-forward pass over a scene of one flat object.

    size : (width, height) of the target: the largest rectangle that is drawn at once. sampler : a name, as of
    `PreparedScene.modules`.
    """

    def __init__(
        self,
        device: Device,
        prepared: PreparedScene,
        resources: Resources,
        size: tuple[int, int],
        sampler: str = "sobol",
    ) -> None:
        self.size, self.picture = size, size
        self._target_key: tuple[Any, ...] | None = None  # of the hits in the target
        vertex, fragment, order = _raster_modules(prepared, sampler)
        self.triangles = len(order.memories[0].data)
        blank = np.zeros(1, HIT.dtype)
        blank["t"], blank["triangle"] = FAR, -1
        used = [memory for module in (*vertex, *fragment, order) for memory in module.memories]
        textures = {f"memory_{m.name}": resources.get(m).texture for m in used if not isinstance(m, Table) or m.hot}
        self._resources, self._order = resources, order
        self.draw = Rasterizer(
            device,
            *_sources(vertex, fragment, order, resources),
            HIT,
            size,
            blank,
            {**textures, "memory_arena": resources.arena},
        )
        self.uniforms = {name: value for module in (*vertex, *fragment) for name, (_, value) in module.uniforms.items()}
        self.uniforms |= resources.bases([*vertex, *fragment, order])
        corners = np.array(np.meshgrid(*np.asarray(prepared.scene.bounds(), np.float64).T)).reshape(3, -1).T
        self._corners = corners[np.isfinite(corners).all(axis=1)]

    def set(self, values: Mapping[str, Any], picture: tuple[int, int]) -> None:
        """Set the modules' uniforms ``values``: of camera, sampler and path. picture : its size, (width, height)."""
        values = {name: value for name, value in values.items() if name not in SAMPLE_UNIFORMS}
        if picture != self.picture or any(self.uniforms.get(name) != value for name, value in values.items()):
            self._target_key = None
        self.uniforms |= values
        self.picture = picture

    def copy_hits(self, stream: Stream, rows: slice, columns: slice, sample: int, origin: Any) -> None:
        """Write the hits of one ``sample``, an index, in a rectangle of the picture to a stream of `HIT` in row order.

        origin : of the camera, world space. A draw covers the whole picture where that fits the target, and is then
        shared by all rectangles of the sample.
        """
        top, left, size = rows.start, columns.start, (columns.stop - columns.start, rows.stop - rows.start)
        fits = self.picture[0] <= self.size[0] and self.picture[1] <= self.size[1]
        corner, target_size = ((0, 0), self.picture) if fits else ((left, top), size)
        key = sample, corner, target_size, tuple(map(float, origin))
        if key != self._target_key:
            self._draw(corner, target_size, sample, origin)
            self._target_key = key
        self._resources.copies.to_rows(self.draw.records, stream, (left - corner[0], top - corner[1]), size)

    def _draw(self, corner: tuple[int, int], size: tuple[int, int], sample: int, origin: Any) -> None:
        farthest = float(np.linalg.norm(self._corners - np.asarray(origin), axis=1).max(initial=1e-30))
        uniforms = {
            **self.uniforms,
            "raster_origin": corner,
            "raster_size": size,
            "raster_number": sample,
            "raster_scale": 2.0
            ** max(-126, min(126, -math.frexp(2.0 * farthest)[1])),  # exact; the farthest corner is within 0.5
        }
        self.draw.draw(self.triangles, size, uniforms)

    def release(self) -> None:
        """Free the textures and the table of the triangles' order; other memories stay."""
        self.draw.release()
        self._resources.drop(self._order.memories)


def differing_share(hits: NDArray, reference: NDArray) -> float:
    """The share of ``hits`` (N,) of `HIT` on another triangle than in the ``reference``: ties at silhouettes."""
    return float((hits["triangle"] != reference["triangle"]).mean()) if len(hits) else 0.0


# -- how a program finds its first hits --------------------------------------------------------------------------------

# Rasterising costs in proportion to the triangles, traversal to the logarithm of their number: a software rasteriser is
# slower beyond so many triangles, measured at 512 x 512.
MAX_SOFTWARE_TRIANGLES = 10_000
MAX_TARGET_PIXELS = 1 << 22  # of a picture that is rasterised as a whole, for all its tiles


@dataclass(frozen=True)
class FirstHits:
    """The effect of the options ``first_hits`` and ``offsets`` on a scene and a camera.

    requested : triangles are to be rasterised, if they can be; ``explicit``: because the user said so.
    shared    : all pixels of a sample have one offset from their centres.
    reason    : why triangles cannot be rasterised; empty where they can.
    once      : all samples of a pixel share one eye ray; its hit is found once.
    unused    : options that have no effect on shared eye rays.
    random    : why every sample's hit is its own though they were to share it; empty where they do.
    """

    requested: bool
    explicit: bool
    shared: bool
    reason: str
    once: bool = False
    unused: tuple[str, ...] = ()
    random: str = ""

    @property
    def mode(self) -> str:
        """``raster``; ``shared``: by a ray through each pixel's centre, ahead of its samples; ``rays``."""
        return "raster" if self.requested and not self.reason else "shared" if self.once else "rays"

    @property
    def notes(self) -> list[str]:
        """Warns when rasterised first hits are unavailable, and of options that have no effect."""
        unavailable = self.explicit and self.reason
        notes = [f"--first-hits raster: {self.reason}; first hits are found by rays"] if unavailable else []
        if self.random:
            notes.append(f"--eye-rays shared: {self.random}; every sample finds its own hit")
        if self.unused:
            notes.append(f"--eye-rays shared: through the pixels' centres, without any use of {', '.join(self.unused)}")
        return notes


def first_hits(settings: Settings, prepared: PreparedScene, camera: Camera, software: bool) -> FirstHits:
    """How a picture finds its first hits. software : the device rasterises on the CPU."""
    explicit = settings.first_hits == "raster"
    requested = explicit
    if settings.first_hits == "auto" and settings.picture_program.rasterises:
        requested = not (software and int(prepared.starts[-1]) > MAX_SOFTWARE_TRIANGLES)
    progressive = settings.picture_program.progressive
    once = settings.eye_rays == "shared" and progressive
    random = ""
    if once:
        blended = "surfaces of mode BLEND pass rays at random" if prepared.surfaces.blend else ""
        moves = prepared.moving or bool(camera.motion)
        random = "the shutter is open for a while" if moves else blended
    camera, pixel_filter = sampled_lens(settings, camera)
    shared = settings.offsets == "sample" or (settings.offsets == "auto" and requested)
    one_offset = shared or pixel_filter == "point" or not progressive
    unused = []
    if once and settings.aperture:
        unused.append(OPTIONS["aperture"].flag)
    if once and settings.pixel_filter not in ("point", OPTIONS["pixel_filter"].value.default):
        unused.append(OPTIONS["pixel_filter"].flag)
    reason = unsupported_reason(prepared, camera, one_offset)
    return FirstHits(requested, explicit, shared, reason, once and not random, tuple(unused), random)


class FirstHitRaster:
    """Rasterised first hits of a scene: compiled when a picture needs them, and reused for pictures of many sizes."""

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self.resources = device, resources
        self._current: tuple[str, RasterizedHits] | None = None

    def prepare(
        self,
        prepared: PreparedScene,
        settings: Settings,
        camera: Camera,
        size: tuple[int, int],
        shape: tuple[int, int],
        centred: bool,
        uniforms: dict[str, Any],
    ) -> FirstHitPass:
        """The pass over rectangles of at most ``shape`` of a picture of ``size`` (width, height); the context must be
        current. centred : through the pixels' centres. uniforms : of the paths."""
        once = settings.eye_rays == "shared"  # all samples have the hits of the first
        # Its target holds all of the picture, or a rectangle.
        fits = size[0] * size[1] <= MAX_TARGET_PIXELS and max(size) <= self.device.max_texture
        raster = self._rasterized_hits(prepared, size if fits else shape, settings.sampler)
        camera, pixel_filter = sampled_lens(settings, camera)
        lens = lens_uniforms(camera, size, "point" if centred else pixel_filter)
        raster.set({**sampler_uniforms(settings.seed), **lens, **uniforms}, size)

        def draw(stream: Stream, rectangle: Rectangle, sample: int) -> None:
            raster.copy_hits(stream, *rectangle, 0 if once else sample, camera.origin)

        return draw

    def _rasterized_hits(self, prepared: PreparedScene, needed: tuple[int, int], sampler: str) -> RasterizedHits:
        current = self._current
        # A larger target than needed will do: pictures of many sizes follow each other in a window.
        if current is None or current[0] != sampler or current[1].size[0] < needed[0] or current[1].size[1] < needed[1]:
            self.release()
            self._current = current = sampler, RasterizedHits(self.device, prepared, self.resources, needed, sampler)
        return current[1]

    def release(self) -> None:
        """Free the pass's textures; it is made again when it is needed."""
        if self._current is not None:
            with self.device.current():
                self._current[1].release()
            self._current = None
