"""The photon map of a scene, made when it is needed: photons in frames, then brought to the cells of a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from viewer.base.errors import ViewerError
from viewer.film.buffers import Pixels
from viewer.kernels.photons import PHOTON
from viewer.kernels.records import PATH, PIXEL, RAY
from viewer.lighting.photons import estimate_uniforms, photon_uniforms
from viewer.lighting.sampler import sampler_uniforms
from viewer.photons.grid import PhotonGrid
from viewer.photons.sort import list_size
from viewer.programs import LEVELS, photon_frame
from viewer.renderer.machine_pool import Key
from viewer.renderer.photon_cells import PhotonCells, map_settings
from viewer.renderer.prepared import Prepared
from viewer.renderer.settings import Settings
from viewer.scene.camera import Camera
from viewer.stream.declare.record import LARGEST_INTEGER
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream
from viewer.stream.jobs import Clear, Copy, Draw, Executor, Job, Run, Stage

# Of a progressive estimate's first radius, in pixels; each sample's square is that much of the one's before
# (C. Knaus and M. Zwicker, "Progressive Photon Mapping: A Probabilistic Approach", 2011, equation 15).
FIRST_PIXELS, SHRINKING = 4.0, 2 / 3
BUCKETS = 1 << 16  # of the hash
EDGE, EDGE_STEPS = 1.5, 4  # of its cells, in greatest radii, rounded up to a power of the EDGE_STEPS-th root of 2
NEAREST_SHARE = 1 / 20  # of the scene's diagonal: the greatest radius of an estimate of the nearest, unless told
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

    traced : how often, so far. cells : the map, and what there is to know of it.
    """

    def __init__(self, device: Device, resources: Resources, executor: Executor, pixels: Pixels) -> None:
        self.device, self.resources, self.executor, self.pixels = device, resources, executor, pixels
        self.cells = PhotonCells(device, resources)
        self.grid = PhotonGrid.over((0, 0, 0), (1, 1, 1), (1, 1, 1))
        self.traced = 0
        self._map: tuple[Any, ...] = ()  # of what settings the order by cells is
        self._of: tuple[Prepared, tuple[Any, ...]] | None = None  # what the photons are of

    @property
    def streams(self) -> dict[str, Stream]:
        """Of the map: those of `viewer.kernels.photons.MAPS`, after `make`."""
        return self.cells.streams

    @property
    def sorted(self) -> int:
        """How often photons were brought to their cells, so far."""
        return self.cells.orders

    @property
    def stored(self) -> int:
        """Photons in the map."""
        return self.cells.stored

    def make(self, prepared: Prepared, settings: Settings, camera: Camera, height: int, number: int) -> Iterator[float]:
        """The map for sample ``number`` (from 0 on) of a picture of ``height`` pixels; nothing where it is there.

        Yields the share that is done. Raises ViewerError for more photons than a texture holds.
        """
        progressive = settings.estimate == "progressive"
        names = ("photons", "photon_bounces", "sampler", "seed")
        of = (number if progressive else 0, *(settings[name] for name in names))
        grid = _grid(prepared, settings, camera, height, number)
        traced = self._of is not None and self._of[0] is prepared and self._of[1] == of
        if traced and grid == self.grid and self._map == map_settings(settings):
            return
        self._of = None
        for count, _ in enumerate(self.executor.run(self._steps(prepared, settings, of[0], grid, traced))):
            yield 1 - 1 / (1 + 0.05 * count)
        self._of, self.grid, self._map = (prepared, of), grid, map_settings(settings)

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
        return {**found, **self.grid.uniforms, **self.cells.uniforms}

    def _steps(self, prepared: Prepared, settings: Settings, number: int, grid: PhotonGrid, traced: bool) -> Job:
        """All that is to be done, or where the photons are ``traced`` already, their order alone."""
        width, height = list_size(settings.photons)
        whole = width, height * settings.photon_bounces
        if max(whole) > self.device.max_texture or whole[0] * whole[1] > LARGEST_INTEGER:  # places are floats
            what = f"{settings.photons:,} photons that come to {settings.photon_bounces} surfaces are too many"
            raise ViewerError("photon map", what, "take fewer --photons or --photon-bounces")
        frames = width * height * 16 * sum(record.texels for record in (PIXEL, RAY, PATH, PHOTON))
        self.cells.check_memory(settings, grid, whole, frames)
        photons = self.resources.stream("photons", PHOTON, whole)
        if not traced:
            yield Stage("trace photons")
            yield from self._trace(prepared, settings, number, photons, (width, height))
        yield Stage("build grid")
        yield from self.cells.order(photons, grid, settings)

    def _trace(
        self, prepared: Prepared, settings: Settings, number: int, photons: Stream, size: tuple[int, int]
    ) -> Job:
        """The frames of photons, each of ``size``, one below the other."""
        resources = self.resources
        low, high = np.asarray(prepared.scene.bounds(), np.float64)
        middle, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-18)
        pixel = resources.stream("photon pixel", PIXEL, size)
        frame = {
            name: resources.stream(f"photon {name}", record, size)
            for name, record in (("ray", RAY), ("path", PATH), ("photon", PHOTON))
        }
        uniforms = {
            **photon_uniforms(middle, radius, number, settings.photons, settings.photon_bounces),
            **sampler_uniforms(settings.seed),
        }
        yield Clear(frame["photon"])  # where there are fewer photons than places
        yield Draw(lambda: self.pixels.fill(pixel, (slice(0, size[1]), slice(0, size[0]))))
        for bounce in range(settings.photon_bounces):
            first = bounce == 0
            program = photon_frame(LEVELS[prepared.structure.levels], first)
            key = Key(("photons", first), size, False, settings.passes, settings.sampler)
            yield Run(program, (key, settings), size, settings.photons, {"pixel": pixel, **frame}, uniforms)
            yield Copy(photons, frame["photon"], (0, bounce * size[1]), size, back=True)
        self.traced += 1

    def forget(self) -> None:
        """The photons are of no use any more; they are traced again when they are needed."""
        self._of, self.cells.streams = None, {}

    def release(self) -> None:
        """Free what the resources do not own; the map is made again when it is needed."""
        self.forget()
        with self.device.current():
            self.cells.release()


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
        if settings.photon_grid is not None:
            return PhotonGrid.over(low, high, settings.photon_grid)
        edge = max(float(np.ptp(prepared.scene.bounds(ground=False), axis=0).max()), 1e-3 * widest) / CELLS_ACROSS
        return PhotonGrid.over(low, high, np.maximum(1, np.ceil((high - low) / edge - 1e-3)).astype(int))
    radius, footprint = _first_radius(settings, camera, height)
    corners = np.stack(np.meshgrid(*np.stack([low, high], 1), indexing="ij"), -1).reshape(-1, 3)
    farthest = float(np.linalg.norm(corners - np.asarray(camera.origin, np.float64), axis=1).max())
    radius = (radius + footprint * farthest) * radius_share(number)
    edge = 2.0 ** (math.ceil(EDGE_STEPS * math.log2(max(EDGE * radius, 1e-6 * widest))) / EDGE_STEPS)
    return PhotonGrid.hashed(low, edge, BUCKETS)
