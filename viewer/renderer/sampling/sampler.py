"""The tracer: pieces of pictures, feature buffers and hits of a scene on a device."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from viewer.base.lock import exclusive
from viewer.cameras.lens import lens_uniforms
from viewer.film.adaptive import LEAST, first_decision
from viewer.film.device_film import Buffer, FilmBuffer, FilmError
from viewer.film.error.convergence import ends, is_half
from viewer.kernels.records import FILM, PIXEL
from viewer.lighting.sampler import sampler_uniforms
from viewer.programs import LEVELS, eye_hits, feature_buffers
from viewer.renderer.device.machine_pool import Key, warm
from viewer.renderer.device.tile_job import EyeHits, FinishedTile, FirstHitPass, HeldHits, Rectangle, TileRun, tile_job
from viewer.renderer.device.tiles import inside, tiles
from viewer.renderer.device.tiles import rectangles as cut
from viewer.renderer.inputs.camera import eye as eye_of
from viewer.renderer.inputs.prepared import Report
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.inputs.validate import Given
from viewer.renderer.photon_map.photon_map import PhotonMaps
from viewer.renderer.sampling.picture import COUNTED_LAYERS, SURFACE_LAYERS
from viewer.renderer.sampling.ray_queries import RayTracer
from viewer.scene.camera import Camera
from viewer.stream.declare.program import Program
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import LARGEST_STREAM, Stream
from viewer.stream.machines.counters import Stats


class Tracer(RayTracer):
    """Traces a scene on a device: what `DeviceScene` and `RayTracer` have, and what is computed from it."""

    def __init__(
        self,
        scene: Given,
        settings: Settings | None = None,
        *,
        device: int | Device | None = None,
        progress: Report | None = None,
        **options: Any,
    ) -> None:
        super().__init__(scene, settings, device=device, progress=progress, **options)
        self._film_reduction: FilmError | None = None
        self._photon_maps: PhotonMaps | None = None
        self._held = HeldHits()
        self.under_way: FinishedTile | None = None  # the rectangle that a machine is working on
        self.mapping = False  # what `slices` has done last was for a photon map, which is no piece of the picture

    def _show(self, *args: Any) -> None:
        self._held = HeldHits()
        if self._photon_maps is not None:
            self._photon_maps.forget()
        super()._show(*args)

    def reload(self) -> None:
        """See `DeviceScene.reload`."""
        self._held = HeldHits()
        self._forget_photons()
        super().reload()

    @exclusive
    def release(self) -> None:
        """See `DeviceScene.release`."""
        if self.device.ended:
            return  # all of it is gone
        self._forget_photons()
        super().release()

    def _forget_photons(self) -> None:
        if self._photon_maps is not None:
            self._photon_maps.release()
            self._photon_maps = None

    # -- pieces of pictures ----------------------------------------------------------------------------------------

    def slices(
        self,
        size: tuple[int, int],
        layers: Sequence[str] = (),
        stats: bool = False,
        tile: tuple[int, int] | None = None,
        rows: Callable[[], int] | None = None,
        film: FilmBuffer | None = None,
        samples: int = 1,
        *,
        settings: Settings | None = None,
        camera: Camera | None = None,
        bounce: int | None = None,
        rough: bool = False,
        first: int = 0,
        goal: float | None = None,
        region: Rectangle | None = None,
    ) -> Generator[tuple[float, FinishedTile | None], None, None]:
        """Render piece by piece: yields the share that is done, and a `FinishedTile` whenever one is complete.

        It may be abandoned at any yield. A picture larger than a stream may be is cut into rectangles; ``tile`` (width,
        height) cuts it into smaller ones, whose streams then serve pictures of every size. ``rows`` is asked for the
        height of each, 1 to the tile's, or more where it is narrower: the same streams serve pieces of every cost.
        A progressive program brings every pixel of ``film``, of the picture's size, to so many ``samples``.

        settings, camera : in place of the tracer's own, over the same scene. bounce : of a progressive program, only
        light of paths of this length counts. rough : by a photon map of fewer photons, or of another sample's.
        first : what the numbers of samples begin with. goal : relative error of the film
        for which pixels may end before they have so many samples, by the setting ``adaptive``. region : only these rows
        and columns of the picture, in place of tiles; the film is of their size and has their corner.
        """
        chosen, eye = settings or self.settings, camera or self.camera
        surface, counting = any(name in SURFACE_LAYERS for name in layers), stats or self._counts(layers)
        rectangles: Callable[[], Iterable[Rectangle]]
        region = region or (slice(0, size[1]), slice(0, size[0]))
        part_size = (region[1].stop - region[1].start, region[0].stop - region[0].start)
        if tile is None:
            own = cut(part_size, self.device.max_texture, LARGEST_STREAM)
            whole = [inside(region, rectangle) for rectangle in own]
            rectangles = partial(iter, whole)
            shape = (max(c.stop - c.start for _, c in whole), max(r.stop - r.start for r, _ in whole))
        else:
            rectangles, shape = partial(tiles, size, tile, rows), tile
        hits, program = self._first_hits(chosen, eye), self.program(surface, chosen, eye)
        numbers = sampler_uniforms(chosen.seed, first)
        uniforms = {**chosen.path_uniforms(hits.shared, samples, bounce), **numbers}
        key = self._key(self._picture(surface, chosen, eye), shape, counting, program, chosen)
        lens, pixel_filter = eye_of(chosen, eye)
        every = {**lens_uniforms(lens, size, pixel_filter), **uniforms}
        every["light_candidates"] = self.prepared.light_candidates(chosen)
        progressive = "film" in program.inputs
        ahead: FirstHitPass | EyeHits | None = None
        with self.device.current():
            if progressive and film is None:
                film = FilmBuffer(self.device, part_size, corner=(region[1].start, region[0].start))
            if hits.mode == "shared":
                if counting and film is not None and film.samples == 0:
                    self._held.of = None  # the counters of a new picture have its eye rays
                ahead = EyeHits(*self._eye_hits(shape, counting, chosen), (lens, size), self._held)
            elif hits.mode == "raster":
                ahead = self._raster.over(self.prepared, chosen, eye, size, shape, not progressive, uniforms)
        buffers = {"film": film} if progressive and film is not None else {}
        piece = TileRun(program, (key, chosen), shape, every, buffers, counting)
        mapped = partial(self._mapped, chosen, eye, size, rough) if "photons" in program.inputs else None
        before = 0 if film is None else min(film.samples, samples - 1)
        if mapped is not None or not chosen.adaptive:
            goal = None
        each = mapped is not None and chosen.estimate == "progressive"
        last = before
        for end in (samples,) if film is None else self._sweeps(film, samples, goal, each):
            piece = piece if film is None else replace(piece, chosen=film.chosen)
            for share, found in self._pieces(piece, rectangles(), part_size, ahead, end, hits.once, mapped):
                yield max(0.0, last - before + (end - last) * share) / (samples - before), found
            last = max(last, end)

    def _sweeps(self, film: FilmBuffer, samples: int, goal: float | None, each: bool) -> Iterator[int]:
        """Numbers of samples to which the pixels of a film are brought one after the other, all of them or those that
        it has chosen for a ``goal``, see `slices`. each : one sample at a time: a photon map of each sample serves all
        of the picture before the next one is made.

        In between the film keeps the sums by whose differences it tells its error.
        """
        with self.device.current():
            if goal is None:
                film.even()
        before = min(film.samples, samples - 1)
        if film.sample_budget is None:
            most = samples if goal is None else min(samples, first_decision(film.samples))
            for end in range(before + 1, samples + 1) if each else ends(before, most) if before < most else ():
                if is_half(film.samples):
                    with self.device.current():
                        film.keep(self._film_error)
                yield end
        if goal is None or film.samples < LEAST:
            return
        while True:
            with self.device.current():
                end = film.adapt(goal, samples)
            if not end:
                break
            yield end
        film.samples = max(film.samples, samples)

    def _mapped(
        self, settings: Settings, camera: Camera, size: tuple[int, int], rough: bool, piece: TileRun, number: int
    ) -> Generator[float, None, TileRun]:
        """A piece with the photon map of sample ``number`` (from 0 on), which is made if it is not there."""
        self.mapping, self.under_way = True, None
        try:
            yield from self._photons.make(self.prepared, settings, camera, size[1], number, rough)
        finally:
            self.mapping = False
        uniforms = self._photons.uniforms(self.prepared, settings, camera, size[1], number)
        return replace(piece, uniforms={**piece.uniforms, **uniforms}, streams=self._photons.streams)

    def _eye_hits(
        self, shape: tuple[int, int], counting: bool, settings: Settings
    ) -> tuple[Program, tuple[Key, Settings]]:
        """The program that traces shared eye rays, and its machines' key."""
        program = eye_hits(LEVELS[self.structure.levels])
        return program, (self._key(("first hits",), shape, counting, program, settings), settings)

    def _pieces(
        self,
        piece: TileRun,
        rectangles: Iterable[Rectangle],
        size: tuple[int, int],
        ahead: FirstHitPass | EyeHits | None,
        samples: int,
        once: bool = False,
        mapped: Callable[[TileRun, int], Generator[float, None, TileRun]] | None = None,
    ) -> Iterator[tuple[float, FinishedTile | None]]:
        done, total = 0, size[0] * size[1]
        film = piece.buffers.get("film")
        for rectangle in rectangles:
            count = (rectangle[0].stop - rectangle[0].start) * (rectangle[1].stop - rectangle[1].start)
            if isinstance(film, FilmBuffer) and not film.waits(rectangle):
                done += count
                yield done / total, None
                continue
            stats = Stats()
            # Rasterised first hits, unless all samples share one eye ray, are those of one sample: each is a run of
            # its own.
            ends: Sequence[int] = (samples,)
            if ahead is not None and not once and isinstance(film, FilmBuffer):
                ends = range(film.fewest + 1, samples + 1)
            for number, end in enumerate(ends):
                step = replace(piece, uniforms={**piece.uniforms, "path_samples": end})
                if mapped is not None:
                    made = self._photons.sorted
                    step = yield from _silent(mapped(step, end - 1), done / total)
                    if self._photons.sorted > made:
                        stats.add(self._executor.stats)
                job = tile_job(step, rectangle, self.resources, self._pixels, ahead)
                for share in self._executor.run(job):
                    running = self._executor.machine
                    self.under_way = FinishedTile(*rectangle, running) if running is not None else None
                    yield (done + count * (number + share) / max(1, len(ends))) / total, None
                stats.add(self._executor.stats)
            machine = self._executor.machine
            assert machine is not None
            machine.stats = stats
            self.under_way = None
            done += count
            yield done / total, FinishedTile(*rectangle, machine)
        if isinstance(film, FilmBuffer) and film.chosen is None:
            film.samples = max(film.samples, samples)

    @staticmethod
    def _counts(layers: Sequence[str]) -> bool:
        """Whether a layer shows how often kernels were called."""
        return any(name in COUNTED_LAYERS for name in layers)

    @property
    def _film_error(self) -> FilmError:
        if self._film_reduction is None:
            self._film_reduction = FilmError(self.device)
        return self._film_reduction

    @contextmanager
    def timed(self) -> Iterator[dict[str, float]]:
        """Measure what is computed meanwhile: the seconds of each stage, added up in the dictionary that this gives.
        Photon maps are made anew."""
        if self._photon_maps is not None:
            self._photon_maps.forget()
        times = self._executor.times = {}
        try:
            yield times
        finally:
            self._executor.times = None

    def photon_streams(self) -> dict[str, Stream]:
        """The streams of the photon map that the last picture was made with; none where there is none."""
        return dict(self._photon_maps.streams) if self._photon_maps is not None else {}

    def photon_remark(self) -> str:
        """What to say of a photon map that holds nothing; else nothing."""
        if self.settings.program != "photon" or self._photon_maps is None or self._photon_maps.stored:
            return ""
        lighting = self.prepared.lighting
        if not lighting.listed.count and not lighting.listed.environment_levels:
            return "no light sends photons: --environment sky adds light"
        return "no photon is in the map: no light comes to a surface that is not a mirror or glass, but directly"

    @property
    def photon_maps(self) -> PhotonMaps | None:
        """The photon map's maker, with what it has made last; None before it is needed."""
        return self._photon_maps

    def photon_uniforms(self, camera: Camera, size: tuple[int, int]) -> dict[str, Any]:
        """Of the first sample's radiance estimates in a picture of ``size``, by the map that there is."""
        return self._photons.uniforms(self.prepared, self.settings, camera, size[1], 0)

    @property
    def _photons(self) -> PhotonMaps:
        if self._photon_maps is None:
            self._photon_maps = PhotonMaps(self.device, self.resources, self._executor, self._pixels)
        return self._photon_maps

    def features(
        self,
        buffer: Buffer,
        samples: int,
        tile: tuple[int, int] | None = None,
        rows: Callable[[], int] | None = None,
        camera: Camera | None = None,
    ) -> Iterator[float]:
        """Bring a picture's buffer of `FEATURES` to what the camera rays of each pixel's first ``samples`` samples hit;
        yields the share that is done. Lens, pixel filter and random numbers are the picture's own. tile, rows, camera :
        as of `slices`."""
        chosen, size = self.settings, buffer.size
        whole = list(cut(size, self.device.max_texture, LARGEST_STREAM))
        shape = tile or (max(c.stop - c.start for _, c in whole), max(r.stop - r.start for r, _ in whole))
        rectangles = whole if tile is None else tiles(size, tile, rows)
        program, key = self._feature_program(shape)
        lens, pixel_filter = eye_of(chosen, camera or self.camera)
        every = {**lens_uniforms(lens, size, pixel_filter), **self.uniforms(samples)}
        piece = TileRun(program, (key, chosen), shape, every, {"features": buffer})
        for share, _ in self._pieces(piece, rectangles, size, None, samples):
            yield share
        buffer.samples = max(buffer.samples, samples)

    def _feature_program(self, shape: tuple[int, int]) -> tuple[Program, Key]:
        """The program of the feature buffers, and its machines' key."""
        program = feature_buffers(LEVELS[self.structure.levels])
        return program, Key(("features",), shape, False, self.settings.passes, self.settings.sampler)

    def ready(self, tile: tuple[int, int], counting: bool = False, settings: Settings | None = None) -> bool:
        """Whether `slices` of that tile will run without compiling. settings : in place of the tracer's own."""
        chosen = settings or self.settings
        program = self.program(False, chosen)
        keys = [self._key(self._picture(False, chosen, self.camera), tile, counting, program, chosen)]
        if self._first_hits(chosen, self.camera).mode == "shared":
            keys.append(self._eye_hits(tile, counting, chosen)[1][0])
        machines = [self._machines.get(key) for key in keys]
        mapped = "photons" not in program.inputs or self._photons.ready(self.prepared, chosen, self._machines)
        return mapped and all(machine is not None and machine.warmed for machine in machines)

    def warm(self, tile: tuple[int, int], counting: bool = False, settings: Settings | None = None) -> Iterator[float]:
        """Compile what `slices` of that tile will run, in pieces: GLSL first, then the driver's part of each pass.

        settings : in place of the tracer's own. Yields the share that is done. Raises ShaderError where a shader does
        not compile.
        """
        photons: dict[str, Stream] = {}
        chosen = settings or self.settings
        if "photons" in self.program(False, chosen).inputs:
            if not self._photons.ready(self.prepared, chosen, self._machines):
                self._photons.forget()  # or a map that is there would leave machines given back meanwhile uncompiled
            # A map for the first sample: to a driver the shapes of its streams make variants of what reads them.
            yield from self._photons.make(self.prepared, chosen, self.camera, tile[1], 0)
            photons = self._photons.streams
        with self.device.current():
            machines = [self._machine(tile, False, counting, chosen, self.camera)]
            machines[0].borrow(photons)
            if self._first_hits(chosen, self.camera).mode == "shared":
                program, (key, of) = self._eye_hits(tile, counting, chosen)
                machines.append(self._machines.take(program, key, of))
        for number, machine in enumerate(machines):
            for share in warm(self.device, machine):
                yield (number + share) / len(machines)
        if self.progressive:
            self._warm_copies(tile, "film", FILM)

    def _warm_copies(self, tile: tuple[int, int], name: str, record: Record) -> None:
        """Compile what brings a piece's pixels and its film or features to its machine and back."""
        with self.device.current():
            buffer, rows = Stream(self.device, record, (3, 3)), self.resources.stream(name, record, tile)
            self._pixels.fill(self.resources.stream("pixel", PIXEL, tile), (slice(0, 1), slice(0, 1)))
            self.resources.copies.to_rows(buffer, rows, (0, 0), (1, 1))
            self.resources.copies.from_rows(rows, buffer, (0, 0), (1, 1))
            buffer.release()


def _silent(job: Generator[float, None, TileRun], share: float) -> Generator[tuple[float, None], None, TileRun]:
    """A job of which the picture's progress takes no notice."""
    while True:
        try:
            next(job)
        except StopIteration as end:
            made: TileRun = end.value
            return made
        yield share, None
