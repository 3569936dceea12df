"""The photon map of a scene, made when it is needed: photons in frames, then brought to the cells of a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.memory import available
from raystream.kernels.photons import ENTRY, FIRST, PHOTON, STORED
from raystream.kernels.records import PATH, PIXEL, RAY
from raystream.lighting.path import SMOOTH_OF_TREES
from raystream.lighting.photons import PhotonPass, RadianceEstimate
from raystream.lighting.sampler import sampler_uniforms
from raystream.lighting.specular_bounds import SpecularBounds
from raystream.options.table import OPTIONS
from raystream.photons.grid import (
    PhotonCompaction,
    PhotonGrid,
    PhotonSort,
    StencilRouting,
    cell_size,
    list_size,
    routing_bytes,
)
from raystream.programs import LEVELS, photon_emission, photon_frame
from raystream.renderer.device.footprint import text
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.device.machine_pool import Key
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.scene.exposure import bounds_in_motion
from raystream.scene.projections import Orthographic
from raystream.scene.scene import Scene
from raystream.stream.declare.record import LARGEST_INTEGER
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Clear, Copy, Draw, Host, Job, Run, TimedStage

# -- photon cells ------------------------------------------------------------------------------------------------------
# Photons brought to the cells of a grid, by sorting or by stencil routing; but for the number of photons that are
# stored nothing is read back, unless asked for.


def map_settings(settings: Settings) -> tuple[Any, ...]:
    """The key of the photons' order by cells, beside the grid."""
    if settings.photon_map == "sort":
        return ("sort",)
    return ("stencil", settings.footprint, settings.redistribution, settings.photon_points)


class PhotonCells:
    """The photon map of a grid on a device, of one kind at a time.

    streams : those of `raystream.kernels.photons.MAPS`, after `order`. uniforms : of the modules that read them.
    stored : photons that came to a cell, whether it holds them or not. orders : how often photons were brought to their
    cells.
    """

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self.resources = device, resources
        self.streams: dict[str, Stream] = {}
        self.uniforms: dict[str, Any] = {}
        self.stored = self.orders = 0
        self._compaction: PhotonCompaction | None = None
        self._sorting: PhotonSort | None = None
        self._routing: StencilRouting | None = None
        self._fits: tuple[Any, ...] | None = None  # for which there was memory

    def check_memory(self, settings: Settings, grid: PhotonGrid, size: tuple[int, int], beside: int = 0) -> None:
        """Find out, before any is taken, whether the memory that is free holds photons (a stream of ``size``) and their
        map, and ``beside`` bytes more. Raises ViewerError that names both; nothing where the driver has its own."""
        request = size, grid.cells, settings.photon_map, settings.footprint, beside
        if self._fits == request:  # most of it is taken by now
            return
        free = available() if self.device.software else None
        slots = size[0] * size[1]
        needed = beside + slots * 16 * (PHOTON.texels + 2 * ENTRY.texels)  # the list, and its buffer
        if settings.photon_map == "stencil":
            needed += routing_bytes(grid.cells, settings.footprint)
        else:
            needed += 16 * (2 * ENTRY.texels * slots + FIRST.texels * grid.cells)
        allocated = sum(stream.bytes for stream in self.streams.values())
        if free is not None and needed - allocated > free:
            what = f"takes about {text(needed)} of memory, and {text(free)} are free"
            hint = "take fewer --photons, --caustic-photons or --photon-bounces, or a coarser --photon-grid"
            raise ViewerError("photon map", what, hint)
        self._fits = request

    def order(self, photons: Stream, count: int, grid: PhotonGrid, settings: Settings) -> Job:
        """Bring the photons of a stream's first ``count`` places to the cells."""
        entries = self.resources.stream("kept photons", ENTRY, photons.size)
        self._compaction = compaction = self._compaction or PhotonCompaction(self.device)
        self.stored = yield Host(lambda: compaction.run(photons, count, grid, entries))
        if settings.photon_map == "stencil":
            routing = yield Host(lambda: self._router(grid.cells, settings))
            yield from routing.make(photons, entries, self.stored, grid, settings.redistribution)
            self.streams = {"photons": photons, "footprints": routing.map, "routed_cells": routing.cells}
            self.uniforms = routing.uniforms
        else:
            yield from self._sort(photons, entries, grid)
        self.orders += 1

    def _router(self, cells: int, settings: Settings) -> StencilRouting:
        """The one of before, where it fits."""
        fetched, routing = settings.photon_points == "fetch", self._routing
        if routing is None or (routing.count, routing.edge, routing.fetched) != (cells, settings.footprint, fetched):
            self._free_routing()
            self._routing = routing = StencilRouting(self.device, cells, settings.footprint, fetched=fetched)
        return routing

    def _free_routing(self) -> None:
        if self._routing is not None:
            self._routing.release()
            self._routing = None

    def _sort(self, photons: Stream, entries: Stream, grid: PhotonGrid) -> Job:
        starts = self.resources.stream("first photons", FIRST, cell_size(grid.cells))
        size = list_size(self.stored)
        sort = self._sorting
        if sort is None:
            sort = self._sorting = PhotonSort(self.device, size)
        sort.resize(size)
        yield from sort.enter(entries, self.stored, grid.cells)
        yield from sort.sort()
        yield from sort.search(starts)
        self.streams, self.uniforms = {"photons": photons, "photon_list": sort.list, "first_photons": starts}, {}

    def release(self) -> None:
        """Free memory that the resources do not own; the context must be current."""
        self.streams, self._fits = {}, None
        if self._sorting is not None:
            self._sorting.release()
            self._sorting = None
        if self._compaction is not None:
            self._compaction.release()
        self._free_routing()


# -- the photon map of a scene, made when it is needed -----------------------------------------------------------------

# Of a progressive estimate's first radius, in pixels; each sample's square is that much of the one's before
# (C. Knaus and M. Zwicker, "Progressive Photon Mapping: A Probabilistic Approach", 2011, equation 15).
EMISSION = tuple(
    name for name, option in OPTIONS.items() if option.scope.emission
)  # options by which photons are traced
FIRST_PIXELS, SHRINKING = 4.0, 2 / 3
CAUSTIC_SHARE = 1 / 2  # of a radius, for caustic photons where they are apart: they lie close together
BUCKETS = 1 << 16  # of the hash
EDGE, EDGE_STEPS = 1.5, 4  # of its cells, in greatest radii, rounded up to a power of the EDGE_STEPS-th root of 2
NEAREST_SHARE = 1 / 20  # of the scene's diagonal: the greatest radius of an estimate of the nearest, unless told
LEAST_PHOTONS = 1 << 12  # of a map of a part of them: fewer show nothing
TOGETHER = 8  # steps of a map between two looks at the clock
CELLS_ACROSS = 40  # of the grid, as published
LARGEST_KEPT = 1 << 26  # bytes of the first sample's photons, to be kept beside those of a later one


def radius_share(sample: int) -> float:
    """The radius of a ``sample`` (from 0 on) as a share of the first one's."""
    squared = 1.0
    for k in range(1, sample + 1):
        squared *= (k + SHRINKING) / (k + 1)
    return math.sqrt(squared)


@dataclass(frozen=True)
class Emission:
    """The photons emitted for one map.

    sets : how many photons, and kinds of `STORED` of them that go into the map. spheres : (S, 4), at which caustic ones
    are aimed. frame : (width, height) of the stream of a frame. size : of that of all frames.
    """

    sets: tuple[tuple[int, tuple[str, ...]], ...]
    spheres: NDArray[np.float32]
    frame: tuple[int, int]
    size: tuple[int, int]

    @classmethod
    def of(cls, settings: Settings, spheres: NDArray[np.float32]) -> Emission:
        """The emission by the options: caustic photons are a group of their own where they are asked for and something
        is specular."""
        sets: tuple[tuple[int, tuple[str, ...]], ...] = ((settings.photons, tuple(STORED)),)
        if settings.caustic_photons and len(spheres):
            sets = (settings.photons, ("indirect",)), (settings.caustic_photons, ("caustic",))
        width, height = list_size(max(count for count, _ in sets))
        rows = sum(-(-count // width) for count, _ in sets)
        return cls(sets, spheres, (width, height), (width, rows * settings.photon_bounces))

    def fewer(self, part: int) -> Emission:
        """A ``part``-th of the photons, in streams of the same size."""
        sets = tuple((min(count, max(LEAST_PHOTONS, count // part)), kinds) for count, kinds in self.sets)
        return replace(self, sets=sets)

    def places(self, bounces: int) -> int:
        """Places of the stream of all frames that photons are in, from the first on."""
        width = self.frame[0]
        return sum(-(-count // width) for count, _ in self.sets) * bounces * width

    @property
    def apart(self) -> bool:
        """Whether caustic photons are sent apart."""
        return len(self.sets) > 1

    @property
    def small(self) -> bool:
        """Whether the first sample's photons are kept beside those of a later one."""
        return PHOTON.texels * 16 * self.size[0] * self.size[1] <= LARGEST_KEPT

    @property
    def photons(self) -> int:
        """How many are sent."""
        return sum(count for count, _ in self.sets)


class PhotonMap:
    """The photons of a scene and their map. Photons are kept until the scene's version or settings change, and for a
    progressive estimate until the next sample but one after the first, whose photons stay for the next picture; their
    order by cells is kept until the grid changes, too.

    Where something is specular, caustic photons are sent apart from the others, aimed at it.

    traced : how often, so far. sent : photons of the last time. cells : photons by cells of ``grid``.
    """

    def __init__(self, scene: GpuScene) -> None:
        self.scene = scene
        self.cells = PhotonCells(scene.device, scene.resources)
        self.grid = PhotonGrid.over((0, 0, 0), (1, 1, 1), (1, 1, 1))
        self.traced = self.sent = 0
        self._map: tuple[Any, ...] = ()  # of what settings the order by cells is
        self._specular = SpecularBounds()
        self._aims: tuple[Scene, NDArray[np.float32]] | None = None  # spheres of what is specular, of a scene
        self._traced: dict[str, tuple[Any, ...]] = {}  # streams of photons -> sample, sets and options of theirs
        self._mapped = ""  # the stream whose photons are in the map
        self._version = scene.version  # of which all of that is

    @property
    def streams(self) -> dict[str, Stream]:
        """Those of `raystream.kernels.photons.MAPS`, after `make`; none where there is no map of the scene as it is."""
        return self.cells.streams if self._version == self.scene.version else {}

    @property
    def sorted(self) -> int:
        """How often photons were brought to their cells, so far."""
        return self.cells.orders

    @property
    def stored(self) -> int:
        """Photons in the map."""
        return self.cells.stored

    def ready(self, settings: Settings) -> bool:
        """Whether `make` will run without compiling. Photons of another light or scene are traced by the same
        machines."""
        size = self._emission(settings).frame
        machines = [self.scene.machines.get(key) for key in _keys(self.scene.prepared, settings, size)]
        return self.cells.orders > 0 and all(machine is not None and machine.warmed for machine in machines)

    def make(
        self, settings: Settings, camera: Camera, height: int, sample_index: int, part: int = 1
    ) -> Iterator[float]:
        """The map for a sample (its index is from 0 on) of a picture of ``height`` pixels; nothing where it is there.

        part : beyond 1 photons of any sample will do, and where there are none, a ``part``-th of them: motion shows
        soon.
        Yields the share that is done. Raises ViewerError for more photons than a texture holds.
        """
        if self._version != self.scene.version:
            self.forget()
        prepared, emission = self.scene.prepared, self._emission(settings)
        sample = sample_index if settings.estimate == "progressive" else 0
        common = settings.final_gather > 0, *(settings[name] for name in EMISSION)
        name = "photons" if sample and emission.small else "photons of the first sample"
        if part > 1:
            entry = self._traced.get(self._mapped)
            if entry is not None and entry[2:] == common:
                name, (sample, sets) = self._mapped, entry[:2]
                emission = replace(emission, sets=sets)
            else:
                emission = emission.fewer(part)
        key = sample, emission.sets, *common
        maps = 2 if emission.apart and settings.estimate != "published" else 1
        grid = _grid(prepared, settings, camera, height, sample_index, maps)
        traced = self._traced.get(name) == key
        ordered = grid, map_settings(settings)
        if traced and name == self._mapped and ordered == (self.grid, self._map):
            return
        self._mapped = ""
        if not traced:
            self._traced.pop(name, None)
        steps = self.scene.executor.run(self._steps(settings, sample, grid, emission, name))
        for count, _ in enumerate(_grouped(steps)):
            yield 1 - 1 / (1 + 0.05 * count)
        self._traced[name] = key
        self._mapped, (self.grid, self._map) = name, ordered

    def uniforms(self, settings: Settings, camera: Camera, height: int, sample_index: int = 0) -> dict[str, Any]:
        """The uniforms of the radiance estimate in a sample (its index is from 0 on) of a picture of ``height``
        pixels."""
        common = settings.photon_filter, settings.final_gather, CAUSTIC_SHARE if self.grid.kinds > 1 else 1.0
        if settings.estimate == "progressive":
            radius, footprint = (
                value * radius_share(sample_index) for value in _first_radius(settings, camera, height)
            )
            estimate = RadianceEstimate(None, radius, True, camera.origin, footprint, *common)
        else:
            low, high = np.asarray(self.scene.prepared.scene.bounds(ground=False), np.float64)
            radius = settings.photon_radius or NEAREST_SHARE * float(np.linalg.norm(high - low))
            exact = settings.estimate == "nearest"
            estimate = RadianceEstimate(settings.nearest, radius, exact, camera.origin, 0.0, *common)
        return {**estimate.uniforms, **self.grid.uniforms, **self.cells.uniforms}

    def remark(self, settings: Settings) -> str:
        """A remark where the last picture's map holds no photon; else nothing."""
        if not settings.picture_program.maps_photons or not self.traced or self.stored:
            return ""
        lighting = self.scene.prepared.lighting
        if not lighting.listed.count and not lighting.listed.environment_levels:
            return "no light sends photons: --environment sky adds light"
        return "no photon is in the map: no light comes to a surface that is not a mirror or glass, but directly"

    def _emission(self, settings: Settings) -> Emission:
        """The photons to emit."""
        scene = self.scene.prepared.scene
        if self._aims is None or self._aims[0] is not scene:
            self._aims = scene, self._specular.of(scene)
        return Emission.of(settings, self._aims[1])

    def _steps(self, settings: Settings, sample_index: int, grid: PhotonGrid, emission: Emission, name: str) -> Job:
        """All that is to be done, or where the photons are in the stream of that name already, their order alone."""
        width, height = emission.size
        if max(width, height) > self.scene.device.max_texture or width * height > LARGEST_INTEGER:  # places are floats
            what = f"{emission.photons:,} photons that come to {settings.photon_bounces} surfaces are too many"
            raise ViewerError("photon map", what, "take fewer --photons, --caustic-photons or --photon-bounces")
        frame = emission.frame[0] * emission.frame[1]
        beside = frame * 16 * (PIXEL.texels + 2 * sum(record.texels for record in (RAY, PATH, PHOTON)))  # lent, and own
        if settings.estimate == "progressive" and emission.small:  # the first sample's photons are kept
            beside += 16 * PHOTON.texels * width * height
        self.cells.check_memory(settings, grid, emission.size, beside)
        current = self.cells.streams.get("photons")
        if current is not None and current.size != (width, height):  # it ends where another size takes its place
            self.cells.streams = {}
        photons = self.scene.resources.stream(name, PHOTON, (width, height))
        if name not in self._traced:
            yield TimedStage("trace photons")
            yield from self._trace(settings, sample_index, photons, emission)
        yield TimedStage("build grid")
        yield from self.cells.order(photons, emission.places(settings.photon_bounces), grid, settings)

    def _trace(self, settings: Settings, sample_index: int, photons: Stream, emission: Emission) -> Job:
        """The frames of photons, one below the other."""
        prepared, resources, size = self.scene.prepared, self.scene.resources, emission.frame
        low, high = np.asarray(bounds_in_motion(prepared.scene), np.float64)
        middle, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-18)
        pixel = resources.stream("photon pixel", PIXEL, size)
        frame = {
            name: resources.stream(f"photon {name}", record, size)
            for name, record in (("ray", RAY), ("path", PATH), ("photon", PHOTON), ("media", prepared.surfaces.media))
        }
        least = 0 if settings.final_gather else 1  # a gather's rays come to surfaces without shadow rays
        common: dict[str, Any] = {"width": size[0], "spheres": emission.spheres, "least": least}
        yield Draw(lambda: self.scene.pixels.fill(pixel, (slice(0, size[1]), slice(0, size[0]))))
        if emission.places(settings.photon_bounces) < photons.size[0] * photons.size[1]:
            yield Clear(photons)  # places that fewer photons leave alone hold none of before
        row = 0
        emission_key, frame_key = _keys(prepared, settings, size)
        levels = LEVELS[prepared.structure.levels]
        program = photon_frame(levels, prepared.dispersive, prepared.absorbing, prepared.nested)
        for count, kinds in emission.sets:
            sent = PhotonPass(middle, radius, sample_index, count, settings.photon_bounces, kinds=kinds, **common)
            uniforms = {**sent.uniforms, **sampler_uniforms(settings.seed), "path_smooth": SMOOTH_OF_TREES}
            rows = -(-count // size[0])
            yield Clear(frame["photon"])  # where there are fewer photons than places
            lent = {"pixel": pixel, "ray": frame["ray"], "path": frame["path"]}
            machine = yield Run(photon_emission(), (emission_key, settings), size, count, lent, uniforms)
            machine.warmed = True
            yield Clear(frame["media"])  # light begins outside of all volumes
            for _ in range(settings.photon_bounces):
                machine = yield Run(program, (frame_key, settings), size, count, {**lent, **frame}, uniforms)
                machine.warmed = True
                yield Copy(photons, frame["photon"], (0, row), (size[0], rows), back=True)
                row += rows
        self.traced, self.sent = self.traced + 1, emission.photons

    def forget(self) -> None:
        """Discard the photons; they are traced again when they are needed."""
        self._mapped, self.cells.streams, self._version = "", {}, self.scene.version
        self._traced.clear()

    def release(self) -> None:
        """Free memory that the resources do not own; the map is made, and its shaders compiled, again when it is
        needed."""
        self.forget()
        with self.scene.device.current():
            self.cells.release()
        self.cells = PhotonCells(self.scene.device, self.scene.resources)


def _grouped(steps: Iterator[float]) -> Iterator[float]:
    """Every `TOGETHER`-th: the passes of a sort are small, and many."""
    return (fraction for index, fraction in enumerate(steps) if index % TOGETHER == 0)


def _keys(prepared: PreparedScene, settings: Settings, size: tuple[int, int]) -> tuple[Key, Key]:
    """The keys of the machines that emit photons, and that trace a frame of them, in streams of that size."""
    form = "photons", prepared.dispersive, prepared.absorbing, prepared.nested
    common = size, False, settings.passes, settings.sampler
    return Key(("emission",), *common), Key(form, *common)


def _first_radius(settings: Settings, camera: Camera, height: int) -> tuple[float, float]:
    """The first radius of a progressive estimate: scene units, and a share of the distance from the eye."""
    if settings.photon_radius:
        return settings.photon_radius, 0.0
    pixel = camera.pixel(height)
    if isinstance(camera.projection, Orthographic):  # is as wide everywhere
        return FIRST_PIXELS * pixel, 0.0
    return 0.0, FIRST_PIXELS * pixel


def _grid(
    prepared: PreparedScene, settings: Settings, camera: Camera, height: int, sample_index: int, kinds: int
) -> PhotonGrid:
    """For a number of kinds of photons. Cells of a fortieth of the scene, or, of a progressive estimate, a little
    larger than its greatest radius; in steps, so that the map lasts while the camera moves a little."""
    low, high = np.asarray(bounds_in_motion(prepared.scene), np.float64)
    widest = max(float((high - low).max()), 1e-18)
    if settings.estimate != "progressive":
        if settings.photon_grid is not None:
            return PhotonGrid.over(low, high, settings.photon_grid, kinds)
        edge = max(float(np.ptp(prepared.scene.bounds(ground=False), axis=0).max()), 1e-3 * widest) / CELLS_ACROSS
        return PhotonGrid.over(low, high, np.maximum(1, np.ceil((high - low) / edge - 1e-3)).astype(int), kinds)
    radius, footprint = _first_radius(settings, camera, height)
    corners = np.stack(np.meshgrid(*np.stack([low, high], 1), indexing="ij"), -1).reshape(-1, 3)
    farthest = float(np.linalg.norm(corners - np.asarray(camera.origin, np.float64), axis=1).max())
    radius = (radius + footprint * farthest) * radius_share(sample_index)
    edge = 2.0 ** (math.ceil(EDGE_STEPS * math.log2(max(EDGE * radius, 1e-6 * widest))) / EDGE_STEPS)
    return PhotonGrid.hashed(low, edge, BUCKETS, kinds)
