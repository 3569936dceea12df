"""How a program finds its first hits: by traversal of camera rays, or by rasterising the triangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viewer.cameras.lens import lens_uniforms
from viewer.lighting.sampler import sampler_uniforms
from viewer.renderer.pieces import FirstHitPass, Rectangle
from viewer.renderer.prepared import Prepared
from viewer.renderer.rasterized import RasterizedHits, unsupported_reason
from viewer.renderer.settings import Settings
from viewer.scene.camera import Camera
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream

RASTERISED = frozenset({"shadow"})  # programs that rasterise unless they are told otherwise
# Rasterising costs in proportion to the triangles, traversal to the logarithm of their number: a software rasteriser is
# slower beyond so many (tools/bench.py raster).
MOST_IN_SOFTWARE = 10_000
LARGEST_TARGET = 1 << 22  # pixels of a picture that is rasterised as a whole, for all its pieces


@dataclass(frozen=True)
class FirstHits:
    """What follows from the options ``first_hits`` and ``offsets`` for a scene and a camera.

    requested : triangles are to be rasterised, if they can be; ``explicit``: because the user said so.
    shared    : all pixels of a sample have one offset from their centres.
    reason    : why triangles cannot be rasterised; empty where they can.
    """

    requested: bool
    explicit: bool
    shared: bool
    reason: str

    @property
    def mode(self) -> str:
        """``raster`` or ``rays``."""
        return "raster" if self.requested and not self.reason else "rays"

    @property
    def notes(self) -> list[str]:
        """Warns when rasterised first hits are unavailable."""
        vain = self.explicit and self.reason
        return [f"--first-hits raster: {self.reason}; first hits are found by rays"] if vain else []


def first_hits(settings: Settings, prepared: Prepared, camera: Camera, software: bool) -> FirstHits:
    """The decision; ``software``: the device rasterises on the CPU."""
    explicit = settings.first_hits == "raster"
    requested = explicit
    if settings.first_hits == "auto" and settings.program in RASTERISED:
        requested = not (software and int(prepared.starts[-1]) > MOST_IN_SOFTWARE)
    shared = settings.offsets == "sample" or (settings.offsets == "auto" and requested)
    alike = shared or settings.pixel_filter == "point" or settings.program == "cast"
    return FirstHits(requested, explicit, shared, unsupported_reason(prepared, camera, alike))


class RasterPass:
    """The pass that rasterises first hits, made when it is needed and kept for pictures of many sizes."""

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self.resources = device, resources
        self._made: tuple[str, RasterizedHits] | None = None

    def over(
        self,
        prepared: Prepared,
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
        # Its target holds all of the picture, or a rectangle.
        whole = size[0] * size[1] <= LARGEST_TARGET and max(size) <= self.device.max_texture
        raster = self._pass(prepared, size if whole else shape, settings.sampler)
        lens = lens_uniforms(camera, size, "point" if centred else settings.pixel_filter)
        raster.set({**lens, **uniforms, **sampler_uniforms(settings.seed)}, size)

        def draw(stream: Stream, rectangle: Rectangle, number: int) -> None:
            raster.fill(stream, *rectangle, number, camera.origin)

        return draw

    def _pass(self, prepared: Prepared, needed: tuple[int, int], sampler: str) -> RasterizedHits:
        made = self._made
        # A larger target than needed will do: pictures of many sizes follow each other in a window.
        if made is None or made[0] != sampler or made[1].size[0] < needed[0] or made[1].size[1] < needed[1]:
            self.release()
            self._made = made = sampler, RasterizedHits(self.device, prepared, self.resources, needed, sampler)
        return made[1]

    def release(self) -> None:
        """Free the pass's textures; it is made again when it is needed."""
        if self._made is not None:
            with self.device.current():
                self._made[1].release()
            self._made = None
