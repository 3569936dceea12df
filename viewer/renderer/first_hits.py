"""How a renderer's program finds its first hits: by walking camera rays, or by drawing the triangles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from viewer.cameras.lens import lens_uniforms
from viewer.film.film import Film
from viewer.lighting.sampler import sampler_uniforms
from viewer.renderer.picture import run
from viewer.renderer.rasterized import RasterizedHits, unsupported_reason
from viewer.stream.machines.common import Machine
from viewer.stream.machines.counters import Stats

if TYPE_CHECKING:
    from viewer.renderer.renderer import Renderer

DRAWN = frozenset({"shadow"})  # programs that draw unless they are told otherwise
# Drawing costs in proportion to the triangles, walking to the logarithm of their number: on a software rasteriser it is
# slower beyond so many (tools/bench.py raster).
MOST_IN_SOFTWARE = 10_000
LARGEST_TARGET = 1 << 22  # pixels of a picture that is drawn as a whole, for all its pieces


class FirstHits:
    """What follows from the options ``first_hits`` and ``offsets`` for a renderer as it stands."""

    def __init__(self, renderer: Renderer) -> None:
        self.renderer = renderer
        self._made: tuple[str, RasterizedHits] | None = None

    @property
    def requested(self) -> bool:
        """Whether triangles are to be drawn, if they can be."""
        of, chosen = self.renderer, self.renderer.choices
        if chosen.first_hits != "auto":
            return chosen.first_hits == "raster"
        slow = of.device.software and int(of.prepared.starts[-1]) > MOST_IN_SOFTWARE
        return chosen.program in DRAWN and not slow

    @property
    def shared(self) -> bool:
        """Whether all pixels of a sample have one offset from their centres."""
        offsets = self.renderer.settings.offsets
        return offsets == "sample" or (offsets == "auto" and self.requested)

    @property
    def reason(self) -> str:
        """Why triangles cannot be drawn; empty where they can."""
        of = self.renderer
        alike = self.shared or of.pixel_filter == "point" or of.choices.program == "cast"
        return unsupported_reason(of.prepared, of.camera, alike)

    @property
    def mode(self) -> str:
        """``raster`` or ``rays``."""
        return "raster" if self.requested and not self.reason else "rays"

    @property
    def notes(self) -> list[str]:
        """Says so where drawing was asked for in vain."""
        if self.renderer.choices.first_hits != "raster" or not self.reason:
            return []
        return [f"--first-hits raster: {self.reason}; first hits are found by rays"]

    def run(
        self, machine: Machine, down: slice, across: slice, size: tuple[int, int], film: Film | None, samples: int
    ) -> Iterator[float]:
        """`viewer.renderer.picture.run` over a rectangle of a picture of ``size``; where triangles are drawn, a run for
        each sample."""
        device = self.renderer.device
        if "first_hit" not in machine.linked.program.inputs:
            yield from run(device, machine, down, across, film)
            return
        first = 0 if film is None else int(film.count[down, across].min(initial=samples))
        with device.current():
            raster = self._raster(machine, size)
        total = Stats()
        for number in range(first, samples if film is not None else 1):
            with device.current():
                machine.set({"path_samples": number + 1})
                raster.fill(machine.streams["first_hit"], down, across, number, self.renderer.camera.origin)
            for share in run(device, machine, down, across, film):
                yield (number - first + share) / max(1, samples - first)
            total.add(machine.stats)
        total.rays = machine.stats.rays
        machine.stats = total

    def _raster(self, machine: Machine, size: tuple[int, int]) -> RasterizedHits:
        """The pass, set for a picture of that size: its target holds all of it, or what the machine's streams hold."""
        of = self.renderer
        whole = size[0] * size[1] <= LARGEST_TARGET and max(size) <= of.device.max_texture
        needed, sampler = size if whole else machine.size, of.choices.sampler
        made = self._made
        # A larger target than needed will do: pictures of many sizes follow each other in a window.
        if made is None or made[0] != sampler or made[1].size[0] < needed[0] or made[1].size[1] < needed[1]:
            self.release()
            self._made = made = sampler, RasterizedHits(of.device, of.prepared, of.resources, needed, sampler)
        raster = made[1]
        centred = "film" not in machine.linked.program.inputs
        camera = lens_uniforms(of.camera, size, "point" if centred else of.pixel_filter)
        raster.set({**camera, **of.resolved.uniforms(), **sampler_uniforms(of.seed)}, size)
        return raster

    def release(self) -> None:
        """Free the pass's textures; it is made again when it is needed."""
        if self._made is not None:
            with self.renderer.device.current():
                self._made[1].release()
            self._made = None
