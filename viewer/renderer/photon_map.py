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
from raystream.renderer.device.footprint import bytes_text
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
    """The settings that the photons' order by cells depends on, with the grid."""
    if settings.photon_map == "sort":
        return ("sort",)
    return ("stencil", settings.footprint, settings.redistribution, settings.photon_points)


class PhotonCells:
    """The photon map over a grid, on a device: sorted, or by stencil routing.

    streams : those of `raystream.kernels.photons.MAPS`, after `order`. uniforms : of the modules that read them.
    stored : photons within the grid, also those beyond a cell's capacity. build_count : how often `order` has run.
    """

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self.resources = device, resources
        self.streams: dict[str, Stream] = {}
        self.uniforms: dict[str, Any] = {}
        self.stored = self.build_count = 0
        self._compaction: PhotonCompaction | None = None
        self._sorting: PhotonSort | None = None
        self._routing: StencilRouting | None = None
        self._checked_request: tuple[Any, ...] | None = None  # the arguments for which there was memory

    def check_memory(self, settings: Settings, grid: PhotonGrid, size: tuple[int, int], extra_bytes: int = 0) -> None:
        """Raise ViewerError where free memory is less than photons (a stream of ``size``), their map and
        ``extra_bytes`` will take. Checked for software drivers alone, whose textures are in main memory."""
        request = size, grid.cells, settings.photon_map, settings.footprint, extra_bytes
        if self._checked_request == request:  # most of it is taken by now
            return
        free = available() if self.device.software else None
        slots = size[0] * size[1]
        needed = extra_bytes + slots * 16 * (PHOTON.texels + 2 * ENTRY.texels)  # the list, and its buffer
        if settings.photon_map == "stencil":
            needed += routing_bytes(grid.cells, settings.footprint)
        else:
            needed += 16 * (2 * ENTRY.texels * slots + FIRST.texels * grid.cells)
        allocated = sum(stream.bytes for stream in self.streams.values())
        if free is not None and needed - allocated > free:
            what = f"takes about {bytes_text(needed)} of memory, and {bytes_text(free)} are free"
            hint = "take fewer --photons, --caustic-photons or --photon-bounces, or a coarser --photon-grid"
            raise ViewerError("photon map", what, hint)
        self._checked_request = request

    def order(self, photons: Stream, count: int, grid: PhotonGrid, settings: Settings) -> Job:
        """The job that sorts the photons in the first ``count`` elements of a stream into the grid's cells."""
        entries = self.resources.stream("kept photons", ENTRY, photons.size)
        self._compaction = compaction = self._compaction or PhotonCompaction(self.device)
        self.stored = yield Host(lambda: compaction.run(photons, count, grid, entries))
        if settings.photon_map == "stencil":
            routing = yield Host(lambda: self._stencil_routing(grid.cells, settings))
            yield from routing.make(photons, entries, self.stored, grid, settings.redistribution)
            self.streams = {"photons": photons, "footprints": routing.map, "routed_cells": routing.cells}
            self.uniforms = routing.uniforms
        else:
            yield from self._sort_steps(photons, entries, grid)
        self.build_count += 1

    def _stencil_routing(self, cells: int, settings: Settings) -> StencilRouting:
        """The routing for this number of cells and settings: the one of the last call where it fits, else a new one."""
        fetched, routing = settings.photon_points == "fetch", self._routing
        if routing is None or (routing.count, routing.edge, routing.fetched) != (cells, settings.footprint, fetched):
            self._free_routing()
            self._routing = routing = StencilRouting(self.device, cells, settings.footprint, fetched=fetched)
        return routing

    def _free_routing(self) -> None:
        if self._routing is not None:
            self._routing.release()
            self._routing = None

    def _sort_steps(self, photons: Stream, entries: Stream, grid: PhotonGrid) -> Job:
        """Sort ``entries`` by cell, and find each cell's first photon."""
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
        self.streams, self._checked_request = {}, None
        if self._sorting is not None:
            self._sorting.release()
            self._sorting = None
        if self._compaction is not None:
            self._compaction.release()
        self._free_routing()


# -- the photon map of a scene, made when it is needed -----------------------------------------------------------------

EMISSION_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.scope.emission)  # photons depend on these
# The radius of a progressive estimate's first sample, in pixels; and alpha, by which the square shrinks with each
# sample (C. Knaus and M. Zwicker, "Progressive Photon Mapping: A Probabilistic Approach", 2011, equation 15).
FIRST_RADIUS_PIXELS, RADIUS_ALPHA = 4.0, 2 / 3
CAUSTIC_RADIUS_RATIO = 1 / 2  # to the radius of other photons: caustic ones are emitted more densely
HASH_BUCKETS = 1 << 16
CELL_RADII, CELL_STEPS_PER_OCTAVE = 1.5, 4  # edge of hashed cells in greatest radii, and steps it is rounded up to
MAX_RADIUS_SHARE = 1 / 20  # of the scene's diagonal: default greatest radius of an estimate of nearest photons
MIN_PHOTONS = 1 << 12  # in a reduced map: fewer show nothing
STEPS_PER_EVENT = 8  # steps of a map between two events, at which callers look at the clock
GRID_CELLS = 40  # along the scene's longest side, as published
MAX_FIRST_SAMPLE_BYTES = 1 << 26  # of the first sample's photons, which up to this size stay beside a later one's


def radius_share(sample: int) -> float:
    """The radius of a progressive estimate in a ``sample``, from 0 on, relative to that in the first one."""
    squared = 1.0
    for k in range(1, sample + 1):
        squared *= (k + RADIUS_ALPHA) / (k + 1)
    return math.sqrt(squared)


@dataclass(frozen=True)
class Emission:
    """The photons emitted for one map.

    sets : pairs of a number of photons and the kinds of `STORED` among them that are stored. spheres : (S, 4), centre
    and radius, that caustic photons are aimed at. frame : (width, height) of the stream of a set after one bounce.
    size : of the stream of all sets and bounces.
    """

    sets: tuple[tuple[int, tuple[str, ...]], ...]
    spheres: NDArray[np.float32]
    frame: tuple[int, int]
    size: tuple[int, int]

    @classmethod
    def from_settings(cls, settings: Settings, spheres: NDArray[np.float32]) -> Emission:
        """The emission by the options: with a second set of caustic photons where they are requested and ``spheres``
        bound something specular."""
        sets: tuple[tuple[int, tuple[str, ...]], ...] = ((settings.photons, tuple(STORED)),)
        if settings.caustic_photons and len(spheres):
            sets = (settings.photons, ("indirect",)), (settings.caustic_photons, ("caustic",))
        width, height = list_size(max(count for count, _ in sets))
        rows = sum(-(-count // width) for count, _ in sets)
        return cls(sets, spheres, (width, height), (width, rows * settings.photon_bounces))

    def fewer(self, part: int) -> Emission:
        """An emission of 1 / ``part`` of the photons, but at least `MIN_PHOTONS` a set, in streams of the same size."""
        sets = tuple((min(count, max(MIN_PHOTONS, count // part)), kinds) for count, kinds in self.sets)
        return replace(self, sets=sets)

    def photon_slots(self, bounces: int) -> int:
        """The number of elements, from the first on, that photons take in the stream of all frames."""
        width = self.frame[0]
        return sum(-(-count // width) for count, _ in self.sets) * bounces * width

    @property
    def separate_caustics(self) -> bool:
        """Whether caustic photons are emitted as a set of their own."""
        return len(self.sets) > 1

    @property
    def keeps_first_sample(self) -> bool:
        """Whether the first sample's photons are small enough to be kept beside those of a later sample."""
        return PHOTON.texels * 16 * self.size[0] * self.size[1] <= MAX_FIRST_SAMPLE_BYTES

    @property
    def photons(self) -> int:
        """The number of photons emitted, of all sets."""
        return sum(count for count, _ in self.sets)


class PhotonMap:
    """The photons of a scene and their map, each rebuilt when it is needed and out of date.

    Photons hold until the scene's version or the settings of emission change; for a progressive estimate each sample
    has others, and the first one's are kept for the next picture. Their order by cells holds until the grid changes.

    trace_count : how often photons were traced. emitted : their number the last time. cells : by cells of ``grid``.
    """

    def __init__(self, scene: GpuScene) -> None:
        self.scene = scene
        self.cells = PhotonCells(scene.device, scene.resources)
        self.grid = PhotonGrid.over((0, 0, 0), (1, 1, 1), (1, 1, 1))
        self.trace_count = self.emitted = 0
        self._map_key: tuple[Any, ...] = ()  # the settings of the order by cells
        self._specular = SpecularBounds()
        self._specular_spheres: tuple[Scene, NDArray[np.float32]] | None = (
            None  # a scene, and spheres around its specular objects
        )
        self._traced_keys: dict[str, tuple[Any, ...]] = {}  # stream of photons -> their sample, sets and options
        self._mapped_stream = ""  # the stream whose photons are in the map
        self._version = scene.version  # of the scene whose photons these are

    @property
    def streams(self) -> dict[str, Stream]:
        """The streams of `raystream.kernels.photons.MAPS`, after `make`; empty where the map is of a former scene."""
        return self.cells.streams if self._version == self.scene.version else {}

    @property
    def build_count(self) -> int:
        """How often photons were sorted into their cells, so far."""
        return self.cells.build_count

    @property
    def stored(self) -> int:
        """Photons in the map."""
        return self.cells.stored

    def ready(self, settings: Settings) -> bool:
        """Whether `make` will run without compiling."""
        size = self._emission(settings).frame
        machines = [self.scene.machines.get(key) for key in _machine_keys(self.scene.prepared, settings, size)]
        return self.cells.build_count > 0 and all(machine is not None and machine.warmed for machine in machines)

    def make(
        self, settings: Settings, camera: Camera, height: int, sample_index: int, part: int = 1
    ) -> Iterator[float]:
        """Make the map for sample ``sample_index``, from 0 on, of a picture of ``height`` pixels, unless it is made.

        part : where above 1, any sample's photons serve, or else 1 / ``part`` of this one's: for pictures in motion.
        Yields estimates of the share that is done. Raises ViewerError for more photons than a texture holds.
        """
        if self._version != self.scene.version:
            self.forget()
        prepared, emission = self.scene.prepared, self._emission(settings)
        sample = sample_index if settings.estimate == "progressive" else 0
        common = settings.final_gather > 0, *(settings[name] for name in EMISSION_OPTIONS)
        name = "photons" if sample and emission.keeps_first_sample else "photons of the first sample"
        if part > 1:
            entry = self._traced_keys.get(self._mapped_stream)
            if entry is not None and entry[2:] == common:
                name, (sample, sets) = self._mapped_stream, entry[:2]
                emission = replace(emission, sets=sets)
            else:
                emission = emission.fewer(part)
        key = sample, emission.sets, *common
        maps = 2 if emission.separate_caustics and settings.estimate != "published" else 1
        grid = _grid(prepared, settings, camera, height, sample_index, maps)
        traced = self._traced_keys.get(name) == key
        ordered = grid, map_settings(settings)
        if traced and name == self._mapped_stream and ordered == (self.grid, self._map_key):
            return
        self._mapped_stream = ""
        if not traced:
            self._traced_keys.pop(name, None)
        steps = self.scene.executor.run(self._map_steps(settings, sample, grid, emission, name))
        for count, _ in enumerate(_every_nth(steps)):
            yield 1 - 1 / (1 + 0.05 * count)
        self._traced_keys[name] = key
        self._mapped_stream, (self.grid, self._map_key) = name, ordered

    def uniforms(self, settings: Settings, camera: Camera, height: int, sample_index: int = 0) -> dict[str, Any]:
        """The uniforms of the radiance estimate, the grid and the map, for sample ``sample_index``, from 0 on, of a
        picture of ``height`` pixels."""
        common = settings.photon_filter, settings.final_gather, CAUSTIC_RADIUS_RATIO if self.grid.kinds > 1 else 1.0
        if settings.estimate == "progressive":
            share, (radius, footprint) = radius_share(sample_index), _first_radius(settings, camera, height)
            estimate = RadianceEstimate(None, radius * share, True, camera.origin, footprint * share, *common)
        else:
            low, high = np.asarray(self.scene.prepared.scene.bounds(ground=False), np.float64)
            radius = settings.photon_radius or MAX_RADIUS_SHARE * float(np.linalg.norm(high - low))
            exact = settings.estimate == "nearest"
            estimate = RadianceEstimate(settings.nearest, radius, exact, camera.origin, 0.0, *common)
        return {**estimate.uniforms, **self.grid.uniforms, **self.cells.uniforms}

    def remark(self, settings: Settings) -> str:
        """A remark for the user where the last picture's map is empty; else an empty text."""
        if not settings.picture_program.maps_photons or not self.trace_count or self.stored:
            return ""
        lighting = self.scene.prepared.lighting
        if not lighting.listed.count and not lighting.listed.environment_levels:
            return "no light sends photons: --environment sky adds light"
        return "no photon is in the map: no light comes to a surface that is not a mirror or glass, but directly"

    def _emission(self, settings: Settings) -> Emission:
        """The photons to emit by the settings, caustic ones towards the scene's specular objects."""
        scene = self.scene.prepared.scene
        if self._specular_spheres is None or self._specular_spheres[0] is not scene:
            self._specular_spheres = scene, self._specular.spheres(scene)
        return Emission.from_settings(settings, self._specular_spheres[1])

    def _map_steps(self, settings: Settings, sample_index: int, grid: PhotonGrid, emission: Emission, name: str) -> Job:
        """The job of a map: trace photons into the stream ``name``, unless they are in it, and sort them into
        ``grid``."""
        width, height = emission.size
        if (
            max(width, height) > self.scene.device.max_texture or width * height > LARGEST_INTEGER
        ):  # addresses are floats
            what = f"{emission.photons:,} photons that come to {settings.photon_bounces} surfaces are too many"
            raise ViewerError("photon map", what, "take fewer --photons, --caustic-photons or --photon-bounces")
        frame = emission.frame[0] * emission.frame[1]
        # Streams of a frame: lent to the machines, and the machines' own.
        extra_bytes = frame * 16 * (PIXEL.texels + 2 * sum(record.texels for record in (RAY, PATH, PHOTON)))
        if settings.estimate == "progressive" and emission.keeps_first_sample:  # the first sample's photons are kept
            extra_bytes += 16 * PHOTON.texels * width * height
        self.cells.check_memory(settings, grid, emission.size, extra_bytes)
        current = self.cells.streams.get("photons")
        if current is not None and current.size != (
            width,
            height,
        ):  # the stream is freed where another size replaces it
            self.cells.streams = {}
        photons = self.scene.resources.stream(name, PHOTON, (width, height))
        if name not in self._traced_keys:
            yield TimedStage("trace photons")
            yield from self._trace_steps(settings, sample_index, photons, emission)
        yield TimedStage("build grid")
        yield from self.cells.order(photons, emission.photon_slots(settings.photon_bounces), grid, settings)

    def _trace_steps(self, settings: Settings, sample_index: int, photons: Stream, emission: Emission) -> Job:
        """Trace each set of photons bounce by bounce; their frames follow each other in the rows of ``photons``."""
        prepared, resources, size = self.scene.prepared, self.scene.resources, emission.frame
        low, high = np.asarray(bounds_in_motion(prepared.scene), np.float64)
        middle, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-18)
        pixel = resources.stream("photon pixel", PIXEL, size)
        frame = {
            name: resources.stream(f"photon {name}", record, size)
            for name, record in (("ray", RAY), ("path", PATH), ("photon", PHOTON), ("media", prepared.surfaces.media))
        }
        least = (
            0 if settings.final_gather else 1
        )  # final gather needs directly lit photons, too: it traces no shadow rays
        common: dict[str, Any] = {"width": size[0], "spheres": emission.spheres, "least": least}
        yield Draw(lambda: self.scene.pixels.fill(pixel, (slice(0, size[1]), slice(0, size[0]))))
        if emission.photon_slots(settings.photon_bounces) < photons.size[0] * photons.size[1]:
            yield Clear(photons)  # a reduced set leaves rows with photons of before
        row = 0
        emission_key, frame_key = _machine_keys(prepared, settings, size)
        levels = LEVELS[prepared.structure.levels]
        program = photon_frame(levels, prepared.dispersive, prepared.absorbing, prepared.nested)
        for count, kinds in emission.sets:
            sent = PhotonPass(middle, radius, sample_index, count, settings.photon_bounces, kinds=kinds, **common)
            uniforms = {**sent.uniforms, **sampler_uniforms(settings.seed), "path_smooth": SMOOTH_OF_TREES}
            rows = -(-count // size[0])
            yield Clear(frame["photon"])  # the last row may have elements without photons
            shared_streams = {"pixel": pixel, "ray": frame["ray"], "path": frame["path"]}
            machine = yield Run(photon_emission(), (emission_key, settings), size, count, shared_streams, uniforms)
            machine.warmed = True
            yield Clear(frame["media"])  # light begins outside of all volumes
            for _ in range(settings.photon_bounces):
                machine = yield Run(program, (frame_key, settings), size, count, {**shared_streams, **frame}, uniforms)
                machine.warmed = True
                yield Copy(photons, frame["photon"], (0, row), (size[0], rows), back=True)
                row += rows
        self.trace_count, self.emitted = self.trace_count + 1, emission.photons

    def forget(self) -> None:
        """Discard photons and map; `make` traces them again."""
        self._mapped_stream, self.cells.streams, self._version = "", {}, self.scene.version
        self._traced_keys.clear()

    def release(self) -> None:
        """Free all that the resources do not own; `make` builds the map, and compiles its shaders, again."""
        self.forget()
        with self.scene.device.current():
            self.cells.release()
        self.cells = PhotonCells(self.scene.device, self.scene.resources)


def _every_nth(steps: Iterator[float]) -> Iterator[float]:
    """Every `STEPS_PER_EVENT`-th fraction: a sort has many small passes."""
    return (fraction for index, fraction in enumerate(steps) if index % STEPS_PER_EVENT == 0)


def _machine_keys(prepared: PreparedScene, settings: Settings, size: tuple[int, int]) -> tuple[Key, Key]:
    """The keys of the two machines that emit photons, and that trace one bounce of them, in streams of ``size``."""
    form = "photons", prepared.dispersive, prepared.absorbing, prepared.nested
    common = size, False, settings.passes, settings.sampler
    return Key(("emission",), *common), Key(form, *common)


def _first_radius(settings: Settings, camera: Camera, height: int) -> tuple[float, float]:
    """The first radius of a progressive estimate: a part in scene units, and one per unit of distance from the
    camera."""
    if settings.photon_radius:
        return settings.photon_radius, 0.0
    pixel = camera.pixel(height)
    if isinstance(camera.projection, Orthographic):  # a pixel has one size everywhere
        return FIRST_RADIUS_PIXELS * pixel, 0.0
    return 0.0, FIRST_RADIUS_PIXELS * pixel


def _grid(
    prepared: PreparedScene, settings: Settings, camera: Camera, height: int, sample_index: int, kinds: int
) -> PhotonGrid:
    """The grid of a map of ``kinds`` kinds of photons: `GRID_CELLS` cells along the scene, or for a progressive
    estimate hashed cells a little larger than its greatest radius, in steps, so that small moves of the camera keep
    the map."""
    low, high = np.asarray(bounds_in_motion(prepared.scene), np.float64)
    widest = max(float((high - low).max()), 1e-18)
    if settings.estimate != "progressive":
        if settings.photon_grid is not None:
            return PhotonGrid.over(low, high, settings.photon_grid, kinds)
        edge = max(float(np.ptp(prepared.scene.bounds(ground=False), axis=0).max()), 1e-3 * widest) / GRID_CELLS
        return PhotonGrid.over(low, high, np.maximum(1, np.ceil((high - low) / edge - 1e-3)).astype(int), kinds)
    radius, footprint = _first_radius(settings, camera, height)
    corners = np.stack(np.meshgrid(*np.stack([low, high], 1), indexing="ij"), -1).reshape(-1, 3)
    farthest = float(np.linalg.norm(corners - np.asarray(camera.origin, np.float64), axis=1).max())
    radius = (radius + footprint * farthest) * radius_share(sample_index)
    octaves = math.log2(max(CELL_RADII * radius, 1e-6 * widest))
    edge = 2.0 ** (math.ceil(CELL_STEPS_PER_OCTAVE * octaves) / CELL_STEPS_PER_OCTAVE)
    return PhotonGrid.hashed(low, edge, HASH_BUCKETS, kinds)
