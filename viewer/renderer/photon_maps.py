"""The photon map of a scene, made when it is needed: photons in frames, sorted by cell; but for the number of photons
that are stored nothing is read back.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from viewer.base.errors import ViewerError
from viewer.film.buffers import Pixels
from viewer.kernels.photons import ENTRY, FIRST, PHOTON
from viewer.kernels.records import PATH, PIXEL, RAY
from viewer.lighting.photons import estimate_uniforms, photon_uniforms
from viewer.lighting.sampler import sampler_uniforms
from viewer.photons.grid import PhotonGrid
from viewer.photons.keep import Keep
from viewer.photons.sort import PhotonSort, cell_size, list_size
from viewer.programs import LEVELS, photon_frame
from viewer.renderer.machine_pool import Key
from viewer.renderer.prepared import Prepared
from viewer.renderer.settings import Settings
from viewer.scene.camera import Camera
from viewer.stream.declare.record import LARGEST_INTEGER
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream
from viewer.stream.jobs import Clear, Copy, Draw, Executor, Host, Job, Run

# Of a progressive estimate's first radius, in pixels; each sample's square is that much of the one's before
# (C. Knaus and M. Zwicker, "Progressive Photon Mapping: A Probabilistic Approach", 2011, equation 15).
FIRST_PIXELS, SHRINKING = 4.0, 2 / 3
BUCKETS = 1 << 16  # of the hash
EDGE, EDGE_STEPS = 1.5, 4  # of its cells, in greatest radii, rounded up to a power of the EDGE_STEPS-th root of 2
NEAREST_SHARE = 1 / 20  # of the scene's diagonal: the greatest radius of an estimate of the nearest, unless told
ROUGH, LEAST_ROUGH = 4, 1 << 12  # part of the photons that follow what moves, and the least number of them
TOGETHER = 8  # steps of a map between two looks at the clock
CELLS_ACROSS = 40  # of the grid, as published


def radius_share(number: int) -> float:
    """The radius of sample ``number`` (from 0 on) as a share of the first one's."""
    squared = 1.0
    for k in range(1, number + 1):
        squared *= (k + SHRINKING) / (k + 1)
    return math.sqrt(squared)


class PhotonMaps:
    """Photons and their map on a device. Photons are kept until light, geometry or settings change, and for a
    progressive estimate until the next sample; their order by cells until the grid changes, too.

    streams : "photons", "photon_list" and "first_photons", after `make`. traced, sorted : how often, so far. stored :
    photons in the map.
    """

    def __init__(self, device: Device, resources: Resources, executor: Executor, pixels: Pixels) -> None:
        self.device, self.resources, self.executor, self.pixels = device, resources, executor, pixels
        self.streams: dict[str, Stream] = {}
        self.grid = PhotonGrid.over((0, 0, 0), (1, 1, 1), (1, 1, 1))
        self.traced = self.sorted = self.stored = 0
        self._keep: Keep | None = None
        self._sorts: dict[tuple[int, int], PhotonSort] = {}  # by the size of their lists
        self._of: tuple[Prepared, tuple[Any, ...]] | None = None  # what the photons are of
        self._which = (0, 0)  # sample that they are for, and how many have left the lights
        self._run: set[Key] = set()  # machines of frames that have run, and so are compiled

    def ready(self, settings: Settings, machines: Container[Key]) -> bool:
        """Whether `make` will run without compiling; ``machines``: those that are kept."""
        keys = [_frame_key(settings, first) for first in (True, False)[: settings.photon_bounces]]
        return self._keep is not None and all(key in machines and key in self._run for key in keys)

    def make(
        self,
        prepared: Prepared,
        settings: Settings,
        camera: Camera,
        height: int,
        number: int,
        rough: bool = False,
    ) -> Iterator[float]:
        """The map for sample ``number`` (from 0 on) of a picture of ``height`` pixels; nothing where it is there.

        rough : photons of any sample will do, and where there are none, fewer of them: what moves is to be followed.
        Yields the share that is done. Raises ViewerError for more photons than a texture holds.
        """
        names = ("photons", "photon_bounces", "sampler", "seed")
        of = tuple(settings[name] for name in names)
        grid = _grid(prepared, settings, camera, height, number)
        which = (number if settings.estimate == "progressive" else 0, settings.photons)
        same = self._of is not None and self._of[0] is prepared and self._of[1] == of
        if rough:
            which = self._which if same else (which[0], min(settings.photons, max(LEAST_ROUGH, which[1] // ROUGH)))
        traced = same and self._which == which
        if traced and grid == self.grid:
            return
        self._of, self._which = None, which
        for count, _ in enumerate(_grouped(self.executor.run(self._steps(prepared, settings, which, grid, traced)))):
            yield 1 - 1 / (1 + 0.05 * count)
        self._of, self.grid = (prepared, of), grid

    def uniforms(
        self, prepared: Prepared, settings: Settings, camera: Camera, height: int, number: int
    ) -> dict[str, Any]:
        """Of the estimate in sample ``number`` (from 0 on) of a picture of ``height`` pixels."""
        if settings.estimate == "progressive":
            radius, footprint = (value * radius_share(number) for value in _first_radius(settings, camera, height))
            found = estimate_uniforms(None, radius, eye=camera.origin, footprint=footprint)
        else:
            low, high = np.asarray(prepared.scene.bounds(ground=False), np.float64)
            radius = settings.photon_radius or NEAREST_SHARE * float(np.linalg.norm(high - low))
            found = estimate_uniforms(settings.nearest, radius, settings.estimate == "nearest")
        return {**found, **self.grid.uniforms}

    def _steps(
        self, prepared: Prepared, settings: Settings, which: tuple[int, int], grid: PhotonGrid, traced: bool
    ) -> Job:
        """All that is to be done, or where the photons are ``traced`` already, their order alone. which : the sample,
        and how many photons leave the lights for it."""
        width, height = list_size(settings.photons)
        whole = width, height * settings.photon_bounces
        if max(whole) > self.device.max_texture or whole[0] * whole[1] > LARGEST_INTEGER:  # places are floats
            what = f"{settings.photons:,} photons that come to {settings.photon_bounces} surfaces are too many"
            raise ViewerError("photon map", what, "take fewer --photons or --photon-bounces")
        photons = self.resources.stream("photons", PHOTON, whole)
        if not traced:
            yield from self._trace(prepared, settings, which, photons, (width, height))
        yield from self._sort(photons, width * -(-which[1] // width) * settings.photon_bounces, grid)

    def _trace(
        self, prepared: Prepared, settings: Settings, which: tuple[int, int], photons: Stream, size: tuple[int, int]
    ) -> Job:
        """The frames of photons, of streams of ``size`` the rows that are used, one below the other."""
        number, count = which
        rows = -(-count // size[0])
        resources = self.resources
        low, high = np.asarray(prepared.scene.bounds(), np.float64)
        middle, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-18)
        pixel = resources.stream("photon pixel", PIXEL, size)
        frame = {
            name: resources.stream(f"photon {name}", record, size)
            for name, record in (("ray", RAY), ("path", PATH), ("photon", PHOTON))
        }
        uniforms = {
            **photon_uniforms(middle, radius, number, count, settings.photon_bounces),
            **sampler_uniforms(settings.seed),
        }
        yield Clear(frame["photon"])  # where there are fewer photons than places
        yield Draw(lambda: self.pixels.fill(pixel, (slice(0, size[1]), slice(0, size[0]))))
        for bounce in range(settings.photon_bounces):
            first = bounce == 0
            program = photon_frame(LEVELS[prepared.structure.levels], first)
            key = _frame_key(settings, first)
            yield Run(program, (key, settings), size, count, {"pixel": pixel, **frame}, uniforms)
            self._run.add(key)
            yield Copy(photons, frame["photon"], (0, bounce * rows), (size[0], rows), back=True)
        self.traced += 1

    def _sort(self, photons: Stream, count: int, grid: PhotonGrid) -> Job:
        """The first ``count`` photons by cells."""
        resources = self.resources
        kept = resources.stream("kept photons", ENTRY, photons.size)
        starts = resources.stream("first photons", FIRST, cell_size(grid.cells))
        self._keep = keep = self._keep or Keep(self.device)
        self.stored = yield Host(lambda: keep.run(photons, count, grid, kept))
        size = list_size(self.stored)
        if size not in self._sorts:
            self._sorts[size] = PhotonSort(self.device, size)
        sort = self._sorts[size]
        yield from sort.enter(kept, self.stored, grid.cells)
        yield from sort.sort()
        yield from sort.search(starts)
        self.streams = {"photons": photons, "photon_list": sort.list, "first_photons": starts}
        self.sorted += 1

    def forget(self) -> None:
        """The photons are of no use any more; they are traced again when they are needed."""
        self._of, self.streams = None, {}

    def release(self) -> None:
        """Free what the resources do not own; the map is made again when it is needed."""
        self.forget()
        with self.device.current():
            for sort in self._sorts.values():
                sort.release()
            if self._keep is not None:
                self._keep.release()
        self._sorts.clear()


def _grouped(steps: Iterator[float]) -> Iterator[float]:
    """Every `TOGETHER`-th: the passes of a sort are small, and many."""
    return (share for number, share in enumerate(steps) if number % TOGETHER == 0)


def _frame_key(settings: Settings, first: bool) -> Key:
    """Of the machine that traces a frame, the ``first`` one or a later one."""
    return Key(("photons", first), list_size(settings.photons), False, settings.passes, settings.sampler)


def _first_radius(settings: Settings, camera: Camera, height: int) -> tuple[float, float]:
    """The first radius of a progressive estimate: scene units, and a share of the distance from the eye."""
    if settings.photon_radius:
        return settings.photon_radius, 0.0
    pixel = 2 * math.tan(math.radians(camera.fov) / 2) / height
    return 0.0, FIRST_PIXELS * pixel


def _grid(prepared: Prepared, settings: Settings, camera: Camera, height: int, number: int) -> PhotonGrid:
    """Cells of a fortieth of the scene, or, of a progressive estimate, a little larger than its greatest radius; in
    steps, so that the map lasts while the camera moves a little."""
    low, high = np.asarray(prepared.scene.bounds(), np.float64)
    widest = max(float((high - low).max()), 1e-18)
    if settings.estimate != "progressive":
        edge = max(float(np.ptp(prepared.scene.bounds(ground=False), axis=0).max()), 1e-3 * widest) / CELLS_ACROSS
        return PhotonGrid.over(low, high, np.maximum(1, np.ceil((high - low) / edge - 1e-3)).astype(int))
    radius, footprint = _first_radius(settings, camera, height)
    corners = np.stack(np.meshgrid(*np.stack([low, high], 1), indexing="ij"), -1).reshape(-1, 3)
    farthest = float(np.linalg.norm(corners - np.asarray(camera.origin, np.float64), axis=1).max())
    radius = (radius + footprint * farthest) * radius_share(number)
    edge = 2.0 ** (math.ceil(EDGE_STEPS * math.log2(max(EDGE * radius, 1e-6 * widest))) / EDGE_STEPS)
    return PhotonGrid.hashed(low, edge, BUCKETS)
