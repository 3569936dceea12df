"""The sampler: renders the tiles of a planned frame into a film, or its feature buffers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from raystream.cameras.lens import lens_uniforms
from raystream.film.adaptive import MIN_SAMPLES, first_decision
from raystream.film.device_film import Buffer, FilmBuffer, FilmError
from raystream.film.error import is_half, round_ends
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
from raystream.renderer.device.tile_job import rectangles as cut_rectangles
from raystream.renderer.inputs.camera import sampled_lens
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.photon_map import PhotonMap
from raystream.renderer.sampling.picture import COUNTER_LAYERS, SURFACE_LAYERS
from raystream.scene.camera import Camera
from raystream.stream.declare.program import Program
from raystream.stream.declare.record import Record
from raystream.stream.gl.stream import LARGEST_STREAM, Stream
from raystream.stream.machines.counters import Stats

# -- a frame to render, and the events on the way there ----------------------------------------------------------------


@dataclass(frozen=True)
class Tiling:
    """Tiles of at most ``size`` (width, height), which is that of the machines' streams for all pictures.

    rows : called for the height of each tile, by which its cost is controlled; narrower tiles may be higher.
    """

    size: tuple[int, int]
    rows: Callable[[], int] | None = None


@dataclass(frozen=True)
class FramePlan:
    """A frame, or further samples of one.

    size   : of the whole picture, (width, height). region : (rows, columns) that alone are rendered; the film has their
             size and corner.

    samples      : number of samples that every pixel of the film will have.
    first_sample : index of the first one.
    bounce       : only light of paths of this length, in surface interactions, counts.
    error_goal   : relative error of the film; with the setting ``adaptive`` pixels may end early once they have it.
    photon_part  : where above 1, a map of another sample's photons, or of 1 / ``photon_part`` of them, is enough.

    tiling   : None: the picture is cut only where it is larger than a stream can be.
    layers   : of the ray caster, see `raystream.film.layers`. counting : count every pass, see `Stats`.
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
    """A step of a photon map, which belongs to no tile; ``share`` of the plan that is done."""

    share: float


class PhotonMapBuilt(NamedTuple):
    """A photon map is complete; ``share`` of the plan that is done."""

    share: float


class TilePass(NamedTuple):
    """A pass over a tile has been drawn; ``share`` of the plan that is done."""

    share: float
    tile: Tile


class TileDone(NamedTuple):
    """A tile has all its samples; ``share`` of the plan that is done."""

    share: float
    tile: Tile


Event = PlanProgress | PhotonMapProgress | PhotonMapBuilt | TilePass | TileDone


# -- the sampler -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _TileRound:
    """The common inputs of all tiles of a round.

    pixels : of all tiles. first_hits : how they are found ahead of the run; ``once`` for all samples of a pixel.
    photons : the program gathers from a photon map.
    """

    run: TileRun
    pixels: int
    first_hits: FirstHitPass | EyeHits | None = None
    once: bool = False
    photons: bool = False


def _background_uniforms(tones: tuple[Tone, Tone]) -> dict[str, Tone]:
    """The uniforms of a plain background with these tones."""
    return {name: value for name, (_, value) in tones_uniforms(tones).items()}


class Sampler:
    """Renders pictures of a scene tile by tile, one plan at a time: when another one begins, an unfinished one raises
    DeviceError."""

    def __init__(self, scene: GpuScene, photon_map: PhotonMap) -> None:
        self.scene, self.photon_map = scene, photon_map
        self._cached_hits = CachedHits()

    def render_tiles(self, plan: FramePlan, film: FilmBuffer | None = None) -> Generator[Event, None, None]:
        """Render a plan tile by tile, in rounds of samples over all tiles; callers may stop at any event. film : of a
        progressive program, of the size of the plan's region; samples are added to it."""
        scene, settings = self.scene, plan.settings
        surfaces = any(name in SURFACE_LAYERS for name in plan.layers)
        counting = plan.counting or any(name in COUNTER_LAYERS for name in plan.layers)
        rectangles, shape = self._tile_rectangles(plan)
        region = plan.region or (slice(0, plan.size[1]), slice(0, plan.size[0]))
        part_size = (region[1].stop - region[1].start, region[0].stop - region[0].start)
        hits = scene.first_hits(settings, plan.camera)
        program = scene.program(settings, hits.mode, surfaces)
        key = scene.picture_key(program, settings, hits.mode, shape, surfaces, counting)
        lens, pixel_filter = sampled_lens(settings, plan.camera)
        paths = scene.prepared.sample_uniforms(
            program, settings, hits.shared, plan.samples, plan.bounce, plan.first_sample
        )
        uniforms = {**lens_uniforms(lens, plan.size, pixel_filter), **paths}
        progressive, photons = "film" in program.inputs, "photons" in program.inputs
        with scene.device.current():
            if progressive and film is None:
                film = FilmBuffer(scene.device, part_size, corner=(region[1].start, region[0].start))
            first_hits: FirstHitPass | EyeHits | None = None
            if hits.mode == "shared":
                if counting and film is not None and film.samples == 0:
                    self._cached_hits.key = None  # the counters of a new picture are to include its eye rays
                view_key = scene.version, lens, plan.size
                first_hits = EyeHits(*self._eye_hits(shape, counting, settings), view_key, self._cached_hits)
            elif hits.mode == "raster":
                view = settings, plan.camera, plan.size
                first_hits = scene.raster.prepare(scene.prepared, *view, shape, not progressive, paths)
        buffers: dict[str, Buffer] = {"film": film} if progressive and film is not None else {}
        if film is not None and film.light is not None:
            settings = self._single_pass_plan(plan).settings
            program, form = scene.light_layers(settings, traced=True)
            key = scene.key(("light layers", form), program, settings, shape)
            buffers["sums"] = film.light
        run = TileRun(program, (key, settings), shape, uniforms, buffers, counting)
        tile_round = _TileRound(run, part_size[0] * part_size[1], first_hits, hits.once, photons)
        samples = plan.samples
        last = before = 0 if film is None else min(film.samples, samples - 1)
        for end in (samples,) if film is None else self._sample_rounds(plan, film, photons):
            tile_round = tile_round if film is None else replace(tile_round, run=replace(run, chosen=film.chosen))
            for event in self._render_round(plan, tile_round, rectangles(), end):
                fraction = max(0.0, last - before + (end - last) * event.share) / (samples - before)
                yield event._replace(share=fraction)
            last = max(last, end)

    def _tile_rectangles(self, plan: FramePlan) -> tuple[Callable[[], Iterable[Rectangle]], tuple[int, int]]:
        """A function that returns an iterator over a plan's rectangles, and the (width, height) of streams that these
        fit."""
        if plan.tiling is not None:
            return partial(tiles, plan.size, plan.tiling.size, plan.tiling.rows), plan.tiling.size
        region = plan.region or (slice(0, plan.size[1]), slice(0, plan.size[0]))
        size = (region[1].stop - region[1].start, region[0].stop - region[0].start)
        local = cut_rectangles(size, self.scene.device.max_texture, LARGEST_STREAM)
        rectangles = [inside(region, rectangle) for rectangle in local]
        shape = (max(c.stop - c.start for _, c in rectangles), max(r.stop - r.start for r, _ in rectangles))
        return partial(iter, rectangles), shape

    def _eye_hits(
        self, shape: tuple[int, int], counting: bool, settings: Settings
    ) -> tuple[Program, tuple[Key, Settings]]:
        """The program that traces shared eye rays, and the (key, settings) of its machine, with streams of
        ``shape``."""
        program = eye_hits(self.scene.traversal(settings))
        return program, (self.scene.key(("first hits",), program, settings, shape, counting), settings)

    def _sample_rounds(self, plan: FramePlan, film: FilmBuffer, photons: bool) -> Iterator[int]:
        """The numbers of samples that a film's pixels have after each round. photons : with a photon map each round is
        one sample, whose map serves all tiles. Between rounds the film saves half sums, by which its error is
        estimated, and for the plan's ``error_goal`` chooses the pixels of the next round."""
        samples, settings = plan.samples, plan.settings
        goal = plan.error_goal if settings.adaptive and not photons else None
        with self.scene.device.current():
            if goal is None:
                film.reset_adaptive()
        before = min(film.samples, samples - 1)
        if film.sample_budget is None:
            last = samples if goal is None else min(samples, first_decision(film.samples))
            rounds: Iterable[int] = round_ends(before, last) if before < last else ()
            if photons and settings.estimate == "progressive":
                rounds = range(before + 1, samples + 1)
            for end in rounds:
                if is_half(film.samples):
                    with self.scene.device.current():
                        film.store_half(self._film_error)
                yield end
        if goal is None or film.samples < MIN_SAMPLES:
            return
        while True:
            with self.scene.device.current():
                end = film.adapt(goal, samples)
            if not end:
                break
            yield end
        film.set_samples(max(film.samples, samples))

    @cached_property
    def _film_error(self) -> FilmError:
        return FilmError(self.scene.device)

    def _render_round(
        self, plan: FramePlan, tile_round: _TileRound, rectangles: Iterable[Rectangle], samples: int
    ) -> Iterator[Event]:
        """Render all rectangles up to ``samples`` per pixel, one tile after the other. Yields `PlanProgress`, of photon
        maps `PhotonMapProgress` and `PhotonMapBuilt`, `TilePass` while a tile is rendered, and `TileDone` after it."""
        scene, done_pixels, film = self.scene, 0, tile_round.run.buffers.get("film")
        executor = scene.executor
        for rectangle in rectangles:
            count = (rectangle[0].stop - rectangle[0].start) * (rectangle[1].stop - rectangle[1].start)
            if isinstance(film, FilmBuffer) and not film.needs_samples(rectangle):
                done_pixels += count
                yield PlanProgress(done_pixels / tile_round.pixels)
                continue
            stats = Stats()
            # Rasterised first hits are those of one sample, unless all share one eye ray: then each sample is a run.
            sample_ends: Sequence[int] = (samples,)
            if tile_round.first_hits is not None and not tile_round.once and isinstance(film, FilmBuffer):
                sample_ends = range(film.min_samples + 1, samples + 1)
            tile: Tile | None = None
            for index, end in enumerate(sample_ends):
                run = replace(tile_round.run, uniforms={**tile_round.run.uniforms, "path_samples": end})
                if tile_round.photons:
                    build_count = self.photon_map.build_count
                    for _ in self._make_photons(plan, end - 1):
                        yield PhotonMapProgress(done_pixels / tile_round.pixels)
                    if self.photon_map.build_count > build_count:
                        stats.add(executor.stats)
                        yield PhotonMapBuilt(done_pixels / tile_round.pixels)
                    uniforms = self.photon_map.uniforms(plan.settings, plan.camera, plan.size[1], end - 1)
                    run = replace(run, uniforms={**run.uniforms, **uniforms}, streams=self.photon_map.streams)
                job = tile_job(run, rectangle, scene.resources, scene.pixels, tile_round.first_hits)
                for fraction in executor.run(job):
                    fraction = (done_pixels + count * (index + fraction) / max(1, len(sample_ends))) / tile_round.pixels
                    machine = executor.machine
                    if machine is not None and (tile is None or tile.machine is not machine):
                        is_picture = machine.linked.counted is run.program  # not that of first hits or photons
                        tile = Tile(*rectangle, machine) if is_picture else None
                    yield PlanProgress(fraction) if tile is None else TilePass(fraction, tile)
                stats.add(executor.stats)
            machine = executor.machine
            assert machine is not None
            machine.stats = stats
            done_pixels += count
            yield TileDone(done_pixels / tile_round.pixels, Tile(*rectangle, machine))
        if isinstance(film, FilmBuffer) and film.chosen is None:
            film.set_samples(max(film.samples, samples))

    def _make_photons(self, plan: FramePlan, sample_index: int) -> Iterator[float]:
        """Make the photon map of the sample ``sample_index``, from 0 on, unless it is made."""
        return self.photon_map.make(plan.settings, plan.camera, plan.size[1], sample_index, plan.photon_part)

    def features(
        self, plan: FramePlan, buffer: Buffer, floor: bool = True, white: bool = False, layered: bool = False
    ) -> Iterator[float]:
        """Add to a buffer of `FEATURES` the hits of the camera rays of the picture's samples, up to the plan's number.

        floor : the floor before a backdrop counts as a surface, as denoisers need it. white : a plain background is
        white. layered : rays see all blended surfaces, weighted by coverage, in place of one at random.
        Yields the share that is done.
        """
        prepared, settings, shape = self.scene.prepared, plan.settings, self._tile_rectangles(plan)[1]
        program = feature_buffers(LEVELS[self.scene.structure.levels], prepared.backdrop, prepared.surfaces.blend)
        common = shape, False, settings.passes, settings.sampler
        camera, projection = prepared.camera_moves(settings), prepared.projection(settings)
        key = Key(("features",), *common, camera_moves=camera, projection=projection)
        tones = prepared.lighting.backdrop.tones if prepared.lighting.backdrop is not None else None
        uniforms: dict[str, Any] = {"floor_solid": int(floor)}
        if prepared.surfaces.blend:
            uniforms["opacity_layered"] = int(layered)
        if tones is not None:
            uniforms |= _background_uniforms((WHITE, WHITE) if white else tones)
        yield from self._run_over_picture(plan, program, key, {"features": buffer}, uniforms)
        buffer.set_samples(max(buffer.samples, plan.samples))

    def sorts_light(self, settings: Settings, camera: Camera) -> bool:
        """Whether a picture's light can be sorted into layers, `FilmBuffer.light`, as its paths are traced: by the
        single pass of software drivers, too large for GPUs, with first hits by rays."""
        device = self.scene.device
        if device.limits is not None or self.scene.first_hits(settings, camera).mode != "rays":
            return False
        return str(resolved_settings(device, settings.replace(machine="singlepass")).machine) == "singlepass"

    def light_layers(self, plan: FramePlan, film: FilmBuffer, buffer: Buffer) -> Iterator[float]:
        """Add to a buffer of `LIGHT_SUMS` the light of the samples of a path tracer's ``film``, by tracing them again.
        The film, of the plan's size, stays as it is. Yields the share that is done."""
        plan, shape = self._single_pass_plan(plan), self._tile_rectangles(plan)[1]
        program, form = self.scene.light_layers(plan.settings)
        key = self.scene.key(("light layers", form), program, plan.settings, shape)
        yield from self._run_over_picture(plan, program, key, {"film": film, "sums": buffer})

    def visibility(
        self, plan: FramePlan, film: FilmBuffer, buffer: Buffer, shadow: bool, occlusion: bool
    ) -> Iterator[float]:
        """Add to a buffer of `VISIBILITY` the samples of ``film``, as `light_layers` does. shadow, occlusion :
        whether the visibility of lights, and of the hemisphere, is sampled."""
        plan = self._single_pass_plan(replace(plan, settings=plan.settings.replace(strategy="lights")))
        shape = self._tile_rectangles(plan)[1]
        program = visibility(LEVELS[self.scene.structure.levels], shadow, occlusion)
        key = self.scene.key(("visibility", shadow, occlusion), program, plan.settings, shape)
        yield from self._run_over_picture(plan, program, key, {"film": film, "visibility": buffer})

    def backdrop_weight(self, plan: FramePlan, film: FilmBuffer) -> Iterator[float]:
        """Add to a film the visible share of the backdrop, 0 to 1, in each of the plan's samples; yields the share
        that is done. The scene must have a plain backdrop."""
        scene, settings = self.scene, plan.settings
        program = backdrop_weight(LEVELS[scene.structure.levels], scene.prepared.backdrop)
        key = scene.key(("backdrop",), program, settings, self._tile_rectangles(plan)[1])
        yield from self._run_over_picture(
            plan, program, key, {"film": film}, {**_background_uniforms((WHITE, WHITE)), "path_clamp": 0.0}
        )

    def _single_pass_plan(self, plan: FramePlan) -> FramePlan:
        """The plan on the single pass machine, where the device has it: storing the wide streams of layers between
        passes takes several times as long."""
        if self.scene.device.limits is not None:
            return plan
        return replace(plan, settings=plan.settings.replace(machine="singlepass"))

    def _run_over_picture(
        self,
        plan: FramePlan,
        program: Program,
        key: Key,
        buffers: dict[str, Buffer | FilmBuffer],
        values: Mapping[str, Any] | None = None,
    ) -> Iterator[float]:
        """Run a program of samples over all tiles of a plan. buffers : by the names of the program's streams.
        values : uniforms in addition to those of lens and paths. Yields the share that is done."""
        scene, settings = self.scene, plan.settings
        rectangles, shape = self._tile_rectangles(plan)
        lens, pixel_filter = sampled_lens(settings, plan.camera)
        shared = scene.first_hits(settings, plan.camera).shared
        paths = scene.prepared.sample_uniforms(program, settings, shared, plan.samples)
        uniforms = {**lens_uniforms(lens, plan.size, pixel_filter), **paths}
        run = TileRun(program, (key, settings), shape, {**uniforms, **(values or {})}, buffers)
        tile_round = _TileRound(run, plan.size[0] * plan.size[1])
        for event in self._render_round(plan, tile_round, rectangles(), plan.samples):
            yield event.share

    @contextmanager
    def timed(self) -> Iterator[dict[str, float]]:
        """A context with a dictionary of the seconds of each stage, summed over the work done within. Photon maps are
        discarded first."""
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
        has_photons = "photons" not in program.inputs or self.photon_map.ready(settings)
        return has_photons and all(machine is not None and machine.warmed for machine in machines)

    def warm(
        self, settings: Settings, camera: Camera, tile: tuple[int, int], counting: bool = False
    ) -> Iterator[float]:
        """Compile the programs of `render_tiles` for tiles of (width, height) step by step: GLSL first, then the
        driver's part of each pass. Yields the share that is done. Raises ShaderError where a shader does not
        compile."""
        photons: dict[str, Stream] = {}
        scene = self.scene
        mode = scene.first_hits(settings, camera).mode
        program = scene.program(settings, mode)
        if "photons" in program.inputs:
            if not self.photon_map.ready(settings):
                self.photon_map.forget()  # a map that exists would not run, and so not compile, its machines
            # A whole map of the first sample: drivers compile variants by the shapes of the streams that are read.
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
                eye_program, (eye_key, eye_settings) = self._eye_hits(tile, counting, settings)
                machines.append(scene.machines.take(eye_program, eye_key, eye_settings, deferred=True))
        yield from warm(scene.device, *machines)
        if "film" in program.inputs:
            self._warm_copies(tile, "film", FILM)

    def _warm_copies(self, tile: tuple[int, int], name: str, record: Record) -> None:
        """Compile the transfers of a tile's pixels, and of buffers of ``record`` to the stream ``name`` and back."""
        scene, resources = self.scene, self.scene.resources
        with scene.device.current():
            buffer, rows = Stream(scene.device, record, (3, 3)), resources.stream(name, record, tile)
            scene.pixels.fill(resources.stream("pixel", PIXEL, tile), (slice(0, 1), slice(0, 1)))
            resources.copies.to_rows(buffer, rows, (0, 0), (1, 1))
            resources.copies.from_rows(rows, buffer, (0, 0), (1, 1))
            buffer.release()
