"""The sampler: a plan of a frame and a film become finished tiles, or feature buffers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from raystream.cameras.lens import lens_uniforms
from raystream.film.adaptive import LEAST, first_decision
from raystream.film.device_film import Buffer, FilmBuffer, FilmError
from raystream.film.error import ends, is_half
from raystream.kernels.records import FILM, PIXEL
from raystream.lighting.backdrop import WHITE, Tone, tones_uniforms
from raystream.programs import LEVELS, backdrop_weight, eye_hits, feature_buffers, visibility
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.device.machine_pool import Key, resolved_settings, warm
from raystream.renderer.device.tile_job import (
    CachedHits,
    EyeHits,
    FirstHitPass,
    Rectangle,
    Tile,
    TileRun,
    inside,
    tile_job,
    tiles,
)
from raystream.renderer.device.tile_job import rectangles as cut
from raystream.renderer.inputs.camera import eye
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.photon_map import PhotonMap
from raystream.renderer.sampling.picture import COUNTED_LAYERS, SURFACE_LAYERS
from raystream.scene.camera import Camera
from raystream.stream.declare.program import Program
from raystream.stream.declare.record import Record
from raystream.stream.gl.stream import LARGEST_STREAM, Stream
from raystream.stream.machines.counters import Stats

# -- a frame to render, and the events on the way there ----------------------------------------------------------------


@dataclass(frozen=True)
class Tiling:
    """Tiles of at most ``size`` (width, height), whose streams serve pictures of every size.

    rows : is asked for the height of each, 1 to the size's, or more where it is narrower: the same streams serve tiles
    of every cost.
    """

    size: tuple[int, int]
    rows: Callable[[], int] | None = None


@dataclass(frozen=True)
class FramePlan:
    """A frame, or more samples of one.

    settings, camera : by which it is made. size : of the whole picture, (width, height). region : the rows and columns
    of it that are rendered, in place of tiles; the film is of their size and has their corner.

    samples      : that every pixel of a progressive program's film will have.
    first_sample : the number of the first one.
    bounce       : only light of paths of this length, in surface interactions, counts.
    error_goal   : relative error of the film for which pixels may end before they have all samples, by the setting
                   ``adaptive``.
    photon_part  : beyond 1 a map of another sample's photons will do, or of a ``photon_part``-th of this one's.

    tiling   : without it the picture is cut only where it is larger than a stream may be.
    layers   : of the ray caster, see `raystream.film.layers`. counting : every pass is counted, see `Stats`.
    """

    settings: Settings
    camera: Camera
    size: tuple[int, int]
    region: Rectangle | None = None
    samples: int = 1
    first_sample: int = 0
    bounce: int | None = None
    error_goal: float | None = None
    photon_part: int = 1
    tiling: Tiling | None = None
    layers: tuple[str, ...] = ()
    counting: bool = False


class PlanProgress(NamedTuple):
    """The share of the plan that is done, 0 .. 1."""

    share: float


class PhotonMapProgress(NamedTuple):
    """A step of a photon map, whose time no tile has; ``share`` of the plan that is done."""

    share: float


class PhotonMapBuilt(NamedTuple):
    """A photon map is complete; ``share`` of the plan that is done."""

    share: float


class TileUnderWay(NamedTuple):
    """A pass over a tile; ``share`` of the plan that is done."""

    share: float
    tile: Tile


class TileDone(NamedTuple):
    """A tile has all its samples; ``share`` of the plan that is done."""

    share: float
    tile: Tile


Event = PlanProgress | PhotonMapProgress | PhotonMapBuilt | TileUnderWay | TileDone


# -- the sampler -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sweep:
    """The common part of a plan's tiles: their run, pixels in all, the pass of first hits ahead of it, which may be
    found ``once`` for all samples of a pixel, and whether they are lit by photons."""

    run: TileRun
    pixels: int
    ahead: FirstHitPass | EyeHits | None = None
    once: bool = False
    photons: bool = False


def _tones(tones: tuple[Tone, Tone]) -> dict[str, Tone]:
    """The uniforms of a plain background."""
    return {name: value for name, (_, value) in tones_uniforms(tones).items()}


class Sampler:
    """Renders the tiles of a scene's pictures. Two plans at a time would disturb each other: the older one then raises
    DeviceError."""

    def __init__(self, scene: GpuScene, photon_map: PhotonMap) -> None:
        self.scene, self.photon_map = scene, photon_map
        self._cached_hits = CachedHits()

    def render_tiles(self, plan: FramePlan, film: FilmBuffer | None = None) -> Generator[Event, None, None]:
        """Render tile by tile. It may be abandoned at any event.

        film : of a progressive program, to which samples are added; of the size of the plan's region. Each round of
        samples goes over all tiles.
        """
        scene, settings = self.scene, plan.settings
        surfaces = any(name in SURFACE_LAYERS for name in plan.layers)
        counting = plan.counting or any(name in COUNTED_LAYERS for name in plan.layers)
        rectangles, shape = self._tiles(plan)
        region = plan.region or (slice(0, plan.size[1]), slice(0, plan.size[0]))
        part_size = (region[1].stop - region[1].start, region[0].stop - region[0].start)
        hits = scene.first_hits(settings, plan.camera)
        program = scene.program(settings, hits.mode, surfaces)
        key = scene.picture_key(program, settings, hits.mode, shape, surfaces, counting)
        lens, pixel_filter = eye(settings, plan.camera)
        paths = scene.prepared.sample_uniforms(
            program, settings, hits.shared, plan.samples, plan.bounce, plan.first_sample
        )
        uniforms = {**lens_uniforms(lens, plan.size, pixel_filter), **paths}
        progressive, photons = "film" in program.inputs, "photons" in program.inputs
        with scene.device.current():
            if progressive and film is None:
                film = FilmBuffer(scene.device, part_size, corner=(region[1].start, region[0].start))
            ahead: FirstHitPass | EyeHits | None = None
            if hits.mode == "shared":
                if counting and film is not None and film.samples == 0:
                    self._cached_hits.of = None  # the counters of a new picture have its eye rays
                of = scene.version, lens, plan.size
                ahead = EyeHits(*self._eye_hits(shape, counting, settings), of, self._cached_hits)
            elif hits.mode == "raster":
                view = settings, plan.camera, plan.size
                ahead = scene.raster.over(scene.prepared, *view, shape, not progressive, paths)
        buffers: dict[str, Buffer] = {"film": film} if progressive and film is not None else {}
        if film is not None and film.light is not None:
            settings = self._at_once(plan).settings
            program, form = scene.light_layers(settings, traced=True)
            key = scene.key(("light layers", form), program, settings, shape)
            buffers["sums"] = film.light
        run = TileRun(program, (key, settings), shape, uniforms, buffers, counting)
        sweep = _Sweep(run, part_size[0] * part_size[1], ahead, hits.once, photons)
        samples = plan.samples
        last = before = 0 if film is None else min(film.samples, samples - 1)
        for end in (samples,) if film is None else self._rounds(plan, film, photons):
            sweep = sweep if film is None else replace(sweep, run=replace(run, chosen=film.chosen))
            for event in self._sweep(plan, sweep, rectangles(), end):
                fraction = max(0.0, last - before + (end - last) * event.share) / (samples - before)
                yield event._replace(share=fraction)
            last = max(last, end)

    def _tiles(self, plan: FramePlan) -> tuple[Callable[[], Iterable[Rectangle]], tuple[int, int]]:
        """The rectangles of a plan, a new iterator each time, and the (width, height) of the streams that they fit."""
        if plan.tiling is not None:
            return partial(tiles, plan.size, plan.tiling.size, plan.tiling.rows), plan.tiling.size
        region = plan.region or (slice(0, plan.size[1]), slice(0, plan.size[0]))
        size = (region[1].stop - region[1].start, region[0].stop - region[0].start)
        rectangles = [
            inside(region, rectangle) for rectangle in cut(size, self.scene.device.max_texture, LARGEST_STREAM)
        ]
        shape = (max(c.stop - c.start for _, c in rectangles), max(r.stop - r.start for r, _ in rectangles))
        return partial(iter, rectangles), shape

    def _eye_hits(
        self, shape: tuple[int, int], counting: bool, settings: Settings
    ) -> tuple[Program, tuple[Key, Settings]]:
        """The program that traces shared eye rays, and its machines' key."""
        program = eye_hits(self.scene.traversal(settings))
        return program, (self.scene.key(("first hits",), program, settings, shape, counting), settings)

    def _rounds(self, plan: FramePlan, film: FilmBuffer, photons: bool) -> Iterator[int]:
        """Numbers of samples to which the pixels of a film are brought one after the other, all of them or those that
        it has chosen for the plan's ``error_goal``. photons : a photon map of each sample serves all of the picture
        before the next one is made.

        In between the film keeps the sums by whose differences it tells its error.
        """
        samples, settings = plan.samples, plan.settings
        goal = plan.error_goal if settings.adaptive and not photons else None
        with self.scene.device.current():
            if goal is None:
                film.even()
        before = min(film.samples, samples - 1)
        if film.sample_budget is None:
            most = samples if goal is None else min(samples, first_decision(film.samples))
            one_by_one = photons and settings.estimate == "progressive"
            for end in range(before + 1, samples + 1) if one_by_one else ends(before, most) if before < most else ():
                if is_half(film.samples):
                    with self.scene.device.current():
                        film.keep(self._film_error)
                yield end
        if goal is None or film.samples < LEAST:
            return
        while True:
            with self.scene.device.current():
                end = film.adapt(goal, samples)
            if not end:
                break
            yield end
        film.brought_to(max(film.samples, samples))

    @cached_property
    def _film_error(self) -> FilmError:
        return FilmError(self.scene.device)

    def _sweep(self, plan: FramePlan, sweep: _Sweep, rectangles: Iterable[Rectangle], samples: int) -> Iterator[Event]:
        """All tiles, brought to ``samples``."""
        scene, done, film = self.scene, 0, sweep.run.buffers.get("film")
        executor = scene.executor
        for rectangle in rectangles:
            count = (rectangle[0].stop - rectangle[0].start) * (rectangle[1].stop - rectangle[1].start)
            if isinstance(film, FilmBuffer) and not film.waits(rectangle):
                done += count
                yield PlanProgress(done / sweep.pixels)
                continue
            stats = Stats()
            # Rasterised first hits, unless all samples share one eye ray, are those of one sample: each is a run of
            # its own.
            ends: Sequence[int] = (samples,)
            if sweep.ahead is not None and not sweep.once and isinstance(film, FilmBuffer):
                ends = range(film.fewest + 1, samples + 1)
            tile: Tile | None = None
            for index, end in enumerate(ends):
                run = replace(sweep.run, uniforms={**sweep.run.uniforms, "path_samples": end})
                if sweep.photons:
                    orders = self.photon_map.sorted
                    for _ in self._make_photons(plan, end - 1):
                        yield PhotonMapProgress(done / sweep.pixels)
                    if self.photon_map.sorted > orders:
                        stats.add(executor.stats)
                        yield PhotonMapBuilt(done / sweep.pixels)
                    uniforms = self.photon_map.uniforms(plan.settings, plan.camera, plan.size[1], end - 1)
                    run = replace(run, uniforms={**run.uniforms, **uniforms}, streams=self.photon_map.streams)
                for fraction in executor.run(tile_job(run, rectangle, scene.resources, scene.pixels, sweep.ahead)):
                    fraction = (done + count * (index + fraction) / max(1, len(ends))) / sweep.pixels
                    machine = executor.machine
                    if machine is not None and (tile is None or tile.machine is not machine):
                        begun = machine.linked.counted is run.program  # else first hits and photons come before it
                        tile = Tile(*rectangle, machine) if begun else None
                    yield PlanProgress(fraction) if tile is None else TileUnderWay(fraction, tile)
                stats.add(executor.stats)
            machine = executor.machine
            assert machine is not None
            machine.stats = stats
            done += count
            yield TileDone(done / sweep.pixels, Tile(*rectangle, machine))
        if isinstance(film, FilmBuffer) and film.chosen is None:
            film.brought_to(max(film.samples, samples))

    def _make_photons(self, plan: FramePlan, sample_index: int) -> Iterator[float]:
        """The photon map of a sample (its index is from 0 on), if it is not there."""
        return self.photon_map.make(plan.settings, plan.camera, plan.size[1], sample_index, plan.photon_part)

    def features(
        self, plan: FramePlan, buffer: Buffer, floor: bool = True, white: bool = False, layered: bool = False
    ) -> Iterator[float]:
        """Fill a buffer of `FEATURES` of a picture with the hits of the camera rays of each pixel's first samples, as
        many as the plan has; yields the share that is done. Lens, pixel filter and random numbers are the picture's
        own.
        floor : a floor before the backdrop is a surface, too, as denoisers want it. white : before a white background,
        where there is a plain one. ``layered``: rays take all blended surfaces, each by its coverage, in place of one
        at random."""
        prepared, settings, shape = self.scene.prepared, plan.settings, self._tiles(plan)[1]
        program = feature_buffers(LEVELS[self.scene.structure.levels], prepared.backdrop, prepared.surfaces.blend)
        common = shape, False, settings.passes, settings.sampler
        camera, projection = prepared.camera_moves(settings), prepared.projection(settings)
        key = Key(("features",), *common, camera_moves=camera, projection=projection)
        tones = prepared.lighting.backdrop.tones if prepared.lighting.backdrop is not None else None
        uniforms: dict[str, Any] = {"floor_solid": int(floor)}
        if prepared.surfaces.blend:
            uniforms["opacity_layered"] = int(layered)
        if tones is not None:
            uniforms |= _tones((WHITE, WHITE) if white else tones)
        yield from self._fill(plan, program, key, {"features": buffer}, uniforms)
        buffer.brought_to(max(buffer.samples, plan.samples))

    def sorts_light(self, settings: Settings, camera: Camera) -> bool:
        """Whether the paths of pictures may be sorted as they are traced, into the film's `FilmBuffer.light`: that pass
        is too large for GPUs, is a single one, and finds its first hits by rays."""
        device = self.scene.device
        if device.limits is not None or self.scene.first_hits(settings, camera).mode != "rays":
            return False
        return str(resolved_settings(device, settings.replace(machine="singlepass")).machine) == "singlepass"

    def light_layers(self, plan: FramePlan, film: FilmBuffer, buffer: Buffer) -> Iterator[float]:
        """Bring a buffer of `LIGHT_SUMS` to the samples that every pixel of a film of the plan's size has; yields the
        share that is done. The film is the path tracer's, and stays as it is."""
        plan, shape = self._at_once(plan), self._tiles(plan)[1]
        program, form = self.scene.light_layers(plan.settings)
        key = self.scene.key(("light layers", form), program, plan.settings, shape)
        yield from self._fill(plan, program, key, {"film": film, "sums": buffer})

    def visibility(
        self, plan: FramePlan, film: FilmBuffer, buffer: Buffer, shadow: bool, occlusion: bool
    ) -> Iterator[float]:
        """Bring a buffer of `VISIBILITY` to a film's samples, as `light_layers` does. shadow, occlusion : whether
        visibility of light and of the hemisphere is sampled."""
        plan = self._at_once(replace(plan, settings=plan.settings.replace(strategy="lights")))
        shape = self._tiles(plan)[1]
        program = visibility(LEVELS[self.scene.structure.levels], shadow, occlusion)
        key = self.scene.key(("visibility", shadow, occlusion), program, plan.settings, shape)
        yield from self._fill(plan, program, key, {"film": film, "visibility": buffer})

    def backdrop_weight(self, plan: FramePlan, film: FilmBuffer) -> Iterator[float]:
        """Bring a film to the visible share of the backdrop in each pixel's first samples, 0 to 1, as many as the plan
        has; yields the share that is done. The scene must have a backdrop that is plain."""
        scene, settings = self.scene, plan.settings
        program = backdrop_weight(LEVELS[scene.structure.levels], scene.prepared.backdrop)
        key = scene.key(("backdrop",), program, settings, self._tiles(plan)[1])
        yield from self._fill(plan, program, key, {"film": film}, {**_tones((WHITE, WHITE)), "path_clamp": 0.0})

    def _at_once(self, plan: FramePlan) -> FramePlan:
        """The plan by the single pass, where there is one: between passes, streams as wide as those of layers take
        several times as long."""
        if self.scene.device.limits is not None:
            return plan
        return replace(plan, settings=plan.settings.replace(machine="singlepass"))

    def _fill(
        self,
        plan: FramePlan,
        program: Program,
        key: Key,
        buffers: dict[str, Buffer | FilmBuffer],
        values: Mapping[str, Any] | None = None,
    ) -> Iterator[float]:
        """Run a program of samples over a picture's buffers; yields the share that is done. values : uniforms beside
        those of lens and paths."""
        scene, settings = self.scene, plan.settings
        rectangles, shape = self._tiles(plan)
        lens, pixel_filter = eye(settings, plan.camera)
        shared = scene.first_hits(settings, plan.camera).shared
        paths = scene.prepared.sample_uniforms(program, settings, shared, plan.samples)
        uniforms = {**lens_uniforms(lens, plan.size, pixel_filter), **paths}
        run = TileRun(program, (key, settings), shape, {**uniforms, **(values or {})}, buffers)
        sweep = _Sweep(run, plan.size[0] * plan.size[1])
        for event in self._sweep(plan, sweep, rectangles(), plan.samples):
            yield event.share

    @contextmanager
    def timed(self) -> Iterator[dict[str, float]]:
        """Measure the work done meanwhile: the seconds of each stage, added up in the dictionary that this gives.
        Photon maps are made again."""
        self.photon_map.forget()
        times = self.scene.executor.times = {}
        try:
            yield times
        finally:
            self.scene.executor.times = None

    # -- compiling -------------------------------------------------------------------------------------------------

    def ready(self, settings: Settings, camera: Camera, tile: tuple[int, int], counting: bool = False) -> bool:
        """Whether `render_tiles` in tiles of (width, height) will run without compiling."""
        scene = self.scene
        mode = scene.first_hits(settings, camera).mode
        program = scene.program(settings, mode)
        keys = [scene.picture_key(program, settings, mode, tile, counting=counting)]
        if mode == "shared":
            keys.append(self._eye_hits(tile, counting, settings)[1][0])
        machines = [scene.machines.get(key) for key in keys]
        mapped = "photons" not in program.inputs or self.photon_map.ready(settings)
        return mapped and all(machine is not None and machine.warmed for machine in machines)

    def warm(
        self, settings: Settings, camera: Camera, tile: tuple[int, int], counting: bool = False
    ) -> Iterator[float]:
        """Compile the programs of `render_tiles` in tiles of (width, height), in pieces: GLSL first, then the driver's
        part of each pass.

        Yields the share that is done. Raises ShaderError where a shader does not compile.
        """
        photons: dict[str, Stream] = {}
        scene = self.scene
        mode = scene.first_hits(settings, camera).mode
        program = scene.program(settings, mode)
        if "photons" in program.inputs:
            if not self.photon_map.ready(settings):
                self.photon_map.forget()  # or a map that is there would leave machines given back meanwhile uncompiled
            # A map for the first sample: to a driver the shapes of its streams make variants of what reads them.
            scene.executor.compiles_by_steps = True
            try:
                yield from self.photon_map.make(settings, camera, tile[1], 0)
            finally:
                scene.executor.compiles_by_steps = False
            photons = self.photon_map.streams
        with scene.device.current():
            key = scene.picture_key(program, settings, mode, tile, counting=counting)
            machines = [scene.machines.take(program, key, settings, deferred=True)]
            machines[0].borrow(photons)
            if mode == "shared":
                eye_program, (eye_key, of) = self._eye_hits(tile, counting, settings)
                machines.append(scene.machines.take(eye_program, eye_key, of, deferred=True))
        yield from warm(scene.device, *machines)
        if "film" in program.inputs:
            self._warm_copies(tile, "film", FILM)

    def _warm_copies(self, tile: tuple[int, int], name: str, record: Record) -> None:
        """Compile the transfers of a tile's pixels, film and features to its machine and back."""
        scene, resources = self.scene, self.scene.resources
        with scene.device.current():
            buffer, rows = Stream(scene.device, record, (3, 3)), resources.stream(name, record, tile)
            scene.pixels.fill(resources.stream("pixel", PIXEL, tile), (slice(0, 1), slice(0, 1)))
            resources.copies.to_rows(buffer, rows, (0, 0), (1, 1))
            resources.copies.from_rows(rows, buffer, (0, 0), (1, 1))
            buffer.release()
