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
from raystream.renderer.inputs.camera import eye
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
# that both find the same hits to the bit; `differing` tells any differences at silhouettes.

DRAWN = Record(
    "Drawn",
    Field("address", "int", about="of the triangle in the table that the test reads"),
    Field("number", "int", about="of the triangle in the scene"),
)

CHANGING = frozenset({"path_samples"})  # settings that have no part in first hits

# What the two programs ask modules for.
_VERTEX = Kernel("cover", (), ("done",), needs=("geometry_at", "camera_sample", "sample_2d", "path_settings"))
_FRAGMENT = Kernel("hit", (), ("done",), needs=("triangle_test", "camera_sample", "sample_2d", "path_settings"))


def unsupported_reason(prepared: PreparedScene, camera: Camera, shared: bool) -> str:
    """Why triangles cannot be drawn to find first hits; empty where they can.

    shared : whether all pixels of a sample have one offset from their centres.
    """
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
    return _sources(*_modules(prepared, sampler), resources)


def _sources(
    vertex: Sequence[Module], fragment: Sequence[Module], order: Module, resources: Resources
) -> tuple[Source, Source]:
    limits = resources.device.limits
    rounds = limits is not None and limits.rounds
    return (
        draw_source([*vertex, order], [FACE, VERTEX], "raster/triangle_cover.glsl", resources),
        draw_source(fragment, [RAY, HIT], "raster/triangle_hit.glsl", resources, rounds),
    )


def _modules(prepared: PreparedScene, sampler: str) -> tuple[Sequence[Module], Sequence[Module], Module]:
    """Modules of the vertex program, of the fragment program, and the one with the triangles that are drawn."""
    linked = LinkedProgram(shadow_cast(), prepared.modules(lit=True, sampler=sampler))
    table = Table("drawn", DRAWN, _table(linked))
    order = Module("drawn triangles", (), "raster/drawn.glsl", memories=(table,))
    return linked.modules_for([_VERTEX]), linked.modules_for([_FRAGMENT]), order


def _table(linked: LinkedProgram) -> NDArray:
    """(T,) `DRAWN` in the scene's order, which decides ties: the finite triangles of the test's table."""
    modules = [linked.providers[name] for name in ("triangle_test", "geometry_at")]
    tables: dict[str, Any] = {memory.name: memory.data for module in modules for memory in module.memories}
    indices, addresses = np.unique(tables["triangles"]["number"], return_index=True)
    finite = np.isfinite(tables["vertices"]["position"]).all(axis=1)
    finite_faces = finite[tables["faces"]["corners"][indices]].all(axis=1)
    out = np.zeros(int(finite_faces.sum()), DRAWN.dtype)
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
        self._drawn: tuple[Any, ...] | None = None  # what the target holds
        vertex, fragment, order = _modules(prepared, sampler)
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
        """Set uniforms of modules, those of camera, sampler and path, for a picture of a size (width, height)."""
        values = {name: value for name, value in values.items() if name not in CHANGING}
        if picture != self.picture or any(self.uniforms.get(name) != value for name, value in values.items()):
            self._drawn = None
        self.uniforms |= values
        self.picture = picture

    def fill(self, stream: Stream, rows: slice, columns: slice, sample: int, origin: Any) -> None:
        """The hits of one ``sample``, an index, of a rectangle of the picture, into a stream of `HIT` in row order.

        origin : of the camera, world space. A draw fills the target from the rectangle on, and serves all rectangles
        that lie in it.
        """
        top, left, size = rows.start, columns.start, (columns.stop - columns.start, rows.stop - rows.start)
        fits = self.picture[0] <= self.size[0] and self.picture[1] <= self.size[1]
        at, drawn = ((0, 0), self.picture) if fits else ((left, top), size)
        key = sample, at, drawn, tuple(map(float, origin))
        if key != self._drawn:
            self._draw(at, drawn, sample, origin)
            self._drawn = key
        self._resources.copies.to_rows(self.draw.records, stream, (left - at[0], top - at[1]), size)

    def _draw(self, at: tuple[int, int], size: tuple[int, int], sample: int, origin: Any) -> None:
        farthest = float(np.linalg.norm(self._corners - np.asarray(origin), axis=1).max(initial=1e-30))
        uniforms = {
            **self.uniforms,
            "raster_origin": at,
            "raster_size": size,
            "raster_number": sample,
            "raster_scale": 2.0 ** max(-126, min(126, -math.frexp(2.0 * farthest)[1])),
        }
        self.draw.draw(self.triangles, size, uniforms)

    def release(self) -> None:
        """Free the textures and the table of the triangles' order; other memories stay."""
        self.draw.release()
        self._resources.drop(self._order.memories)


def differing(mine: NDArray, other: NDArray) -> float:
    """The share of hits (N,) of `HIT` that are not the same triangle: ties at silhouettes."""
    return float((mine["triangle"] != other["triangle"]).mean()) if len(mine) else 0.0


# -- how a program finds its first hits --------------------------------------------------------------------------------

# Rasterising costs in proportion to the triangles, traversal to the logarithm of their number: a software rasteriser is
# slower beyond so many (tools/bench.py raster).
MOST_IN_SOFTWARE = 10_000
LARGEST_TARGET = 1 << 22  # pixels of a picture that is rasterised as a whole, for all its pieces


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
        vain = self.explicit and self.reason
        notes = [f"--first-hits raster: {self.reason}; first hits are found by rays"] if vain else []
        if self.random:
            notes.append(f"--eye-rays shared: {self.random}; every sample finds its own hit")
        if self.unused:
            notes.append(f"--eye-rays shared: through the pixels' centres, without any use of {', '.join(self.unused)}")
        return notes


def first_hits(settings: Settings, prepared: PreparedScene, camera: Camera, software: bool) -> FirstHits:
    """The decision; ``software``: the device rasterises on the CPU."""
    explicit = settings.first_hits == "raster"
    requested = explicit
    if settings.first_hits == "auto" and settings.picture_program.rasterises:
        requested = not (software and int(prepared.starts[-1]) > MOST_IN_SOFTWARE)
    progressive = settings.picture_program.progressive
    once = settings.eye_rays == "shared" and progressive
    random = ""
    if once:
        blended = "surfaces of mode BLEND pass rays at random" if prepared.surfaces.blend else ""
        moves = prepared.moving or bool(camera.motion)
        random = "the shutter is open for a while" if moves else blended
    camera, pixel_filter = eye(settings, camera)
    shared = settings.offsets == "sample" or (settings.offsets == "auto" and requested)
    alike = shared or pixel_filter == "point" or not progressive
    unused = []
    if once and settings.aperture:
        unused.append(OPTIONS["aperture"].flag)
    if once and settings.pixel_filter not in ("point", OPTIONS["pixel_filter"].value.default):
        unused.append(OPTIONS["pixel_filter"].flag)
    reason = unsupported_reason(prepared, camera, alike)
    return FirstHits(requested, explicit, shared, reason, once and not random, tuple(unused), random)


class RasterPass:
    """The pass that rasterises first hits, made when it is needed and kept for pictures of many sizes."""

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self.resources = device, resources
        self._current: tuple[str, RasterizedHits] | None = None

    def over(
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
        current.

        centred : through the pixels' centres. uniforms : of the paths.
        """
        once = settings.eye_rays == "shared"  # every sample's are those of the first
        # Its target holds all of the picture, or a rectangle.
        fits = size[0] * size[1] <= LARGEST_TARGET and max(size) <= self.device.max_texture
        raster = self._pass(prepared, size if fits else shape, settings.sampler)
        camera, pixel_filter = eye(settings, camera)
        lens = lens_uniforms(camera, size, "point" if centred else pixel_filter)
        raster.set({**sampler_uniforms(settings.seed), **lens, **uniforms}, size)

        def draw(stream: Stream, rectangle: Rectangle, sample: int) -> None:
            raster.fill(stream, *rectangle, 0 if once else sample, camera.origin)

        return draw

    def _pass(self, prepared: PreparedScene, needed: tuple[int, int], sampler: str) -> RasterizedHits:
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
