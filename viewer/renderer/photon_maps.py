"""The photon map of a scene, made when it is needed: photons in frames, sorted by cell; nothing is read back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from viewer.base.errors import ViewerError
from viewer.film.buffers import Pixels
from viewer.kernels.photons import FIRST, PHOTON
from viewer.kernels.records import PATH, PIXEL, RAY
from viewer.lighting.photons import estimate_uniforms, photon_uniforms
from viewer.lighting.sampler import sampler_uniforms
from viewer.photons.grid import PhotonGrid
from viewer.photons.sort import PhotonSort, cell_size, list_size
from viewer.programs import LEVELS, photon_frame
from viewer.renderer.machine_pool import Key
from viewer.renderer.prepared import Prepared
from viewer.renderer.settings import Settings
from viewer.scene.camera import Camera
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import LARGEST_STREAM, Stream
from viewer.stream.jobs import Copy, Draw, Executor, Job, Run

# Of a progressive estimate's first radius, in pixels; each sample's square is that much of the one's before
# (C. Knaus and M. Zwicker, "Progressive Photon Mapping: A Probabilistic Approach", 2011, equation 15).
FIRST_PIXELS, SHRINKING = 6.0, 2 / 3
NEAREST_SHARE = 1 / 20  # of the scene's diagonal: the greatest radius of an estimate of the nearest, unless told
CELLS_ACROSS = 40  # of the grid, as published
UNENDING = 1 << 22  # photons that a progressive estimate would ask for


def radius_share(number: int) -> float:
    """The radius of sample ``number`` (from 0 on) as a share of the first one's."""
    squared = 1.0
    for k in range(1, number + 1):
        squared *= (k + SHRINKING) / (k + 1)
    return math.sqrt(squared)


class PhotonMaps:
    """Photons and their map on a device, kept until light, geometry or settings change; the camera is none of these,
    but for progressive estimates, whose cells are as large as their radius.

    streams : "photons", "photon_list" and "first_photons", after `make`.
    """

    def __init__(self, device: Device, resources: Resources, executor: Executor, pixels: Pixels) -> None:
        self.device, self.resources, self.executor, self.pixels = device, resources, executor, pixels
        self.streams: dict[str, Stream] = {}
        self.grid = PhotonGrid.over((0, 0, 0), (1, 1, 1), (1, 1, 1))
        self.made = 0  # maps so far
        self._sort: PhotonSort | None = None
        self._of: tuple[Prepared, tuple[Any, ...]] | None = None  # what the map is of

    def make(self, prepared: Prepared, settings: Settings, number: int) -> Iterator[float]:
        """The map for sample ``number`` (from 0 on); nothing where it is there already. Yields the share that is done.

        Raises ViewerError for more photons than a texture holds.
        """
        progressive = settings.estimate == "progressive"
        names = ("photons", "photon_bounces", "estimate", "photon_radius", "sampler", "seed")
        of = (number if progressive else 0, *(settings[name] for name in names))
        if self._of is not None and self._of[0] is prepared and self._of[1] == of:
            return
        self._of = None
        bounces, photons = settings.photon_bounces, settings.photons
        wide, tall = list_size(photons)
        if wide * tall > LARGEST_STREAM * 4 or tall * bounces > self.device.max_texture:
            what = f"{photons:,} photons and {bounces} surfaces"
            raise ViewerError("photon map", f"{what} exceed a texture", "take fewer --photons or --photon-bounces")
        steps = self._job(prepared, settings, of[0], (wide, tall))
        for count, _ in enumerate(self.executor.run(steps)):
            yield 1 - 1 / (1 + 0.05 * count)
        self._of = prepared, of
        self.made += 1

    def _job(self, prepared: Prepared, settings: Settings, number: int, size: tuple[int, int]) -> Job:
        resources, bounces = self.resources, settings.photon_bounces
        low, high = np.asarray(prepared.scene.bounds(), np.float64)
        middle, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-18)
        with self.device.current():
            pixel = resources.stream("photon pixel", PIXEL, size)
            frame = {
                name: resources.stream(f"photon {name}", record, size)
                for name, record in (("ray", RAY), ("path", PATH), ("photon", PHOTON))
            }
            photons = resources.stream("photons", PHOTON, (size[0], size[1] * bounces))
        yield Draw(lambda: self.pixels.fill(pixel, (slice(0, size[1]), slice(0, size[0]))))
        uniforms = {
            **photon_uniforms(middle, radius, number, settings.photons, bounces),
            **sampler_uniforms(settings.seed),
        }
        for bounce in range(bounces):
            first = bounce == 0
            program = photon_frame(LEVELS[prepared.structure.levels], first)
            key = Key(("photons", first), size, False, settings.passes, settings.sampler)
            yield Run(program, (key, settings), size, settings.photons, {"pixel": pixel, **frame}, uniforms)
            yield Copy(photons, frame["photon"], (0, bounce * size[1]), size, back=True)
        self.grid = grid = self._grid(settings, low, high, radius)
        count = size[0] * size[1] * bounces
        entries = list_size(count)
        with self.device.current():
            if self._sort is None or self._sort.size != entries:
                if self._sort is not None:
                    self._sort.release()
                self._sort = PhotonSort(self.device, entries)
            starts = resources.stream("first photons", FIRST, cell_size(grid.cells))
        sort = self._sort
        yield from sort.enter(photons, count, grid)
        yield from sort.sort()
        yield from sort.search(starts)
        self.streams = {"photons": photons, "photon_list": sort.list, "first_photons": starts}

    def _grid(self, settings: Settings, low: Any, high: Any, radius: float) -> PhotonGrid:
        edge = max(float((high - low).max()), 1e-18) / CELLS_ACROSS
        if settings.estimate == "progressive":
            return PhotonGrid.hashed(low, edge, 1 << 16)
        return PhotonGrid.over(low, high, np.maximum(1, np.ceil((high - low) / edge - 1e-3)).astype(int))

    def uniforms(
        self, settings: Settings, camera: Camera, size: tuple[int, int], number: int, diagonal: float
    ) -> dict[str, Any]:
        """Of the estimate in sample ``number`` (from 0 on) of a picture of ``size`` (width, height)."""
        if settings.estimate == "progressive":
            share = radius_share(number)
            pixel = 2 * math.tan(math.radians(camera.fov) / 2) / size[1]
            own = settings.photon_radius
            found = estimate_uniforms(
                UNENDING,
                own * share,
                eye=camera.origin,
                footprint=0.0 if own else FIRST_PIXELS * pixel * share,
            )
        else:
            radius = settings.photon_radius or NEAREST_SHARE * diagonal
            found = estimate_uniforms(settings.nearest, radius, settings.estimate == "nearest")
        return {**found, **self.grid.uniforms}

    def release(self) -> None:
        """Forget the map; it is made again when it is needed."""
        self._of = None
        if self._sort is not None:
            with self.device.current():
                self._sort.release()
            self._sort = None
