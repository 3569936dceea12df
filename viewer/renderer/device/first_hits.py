"""How a program finds its first hits: by traversal of camera rays, or by rasterising the triangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raystream.cameras.lens import lens_uniforms
from raystream.lighting.sampler import sampler_uniforms
from raystream.options.table import OPTIONS
from raystream.renderer.device.rasterized import RasterizedHits, unsupported_reason
from raystream.renderer.device.tile_job import FirstHitPass, Rectangle
from raystream.renderer.inputs.camera import eye
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream

# Rasterising costs in proportion to the triangles, traversal to the logarithm of their number: a software rasteriser is
# slower beyond so many (tools/bench.py raster).
MOST_IN_SOFTWARE = 10_000
LARGEST_TARGET = 1 << 22  # pixels of a picture that is rasterised as a whole, for all its pieces


@dataclass(frozen=True)
class FirstHits:
    """The effect of the options ``first_hits`` and ``offsets`` on a scene and a camera.

    requested : triangles are to be rasterised, if they can be; ``explicit``: because the user said so.
    shared    : all pixels of a sample have one offset from their centres.
    reason    : why triangles cannot be rasterised; empty where they can.
    once      : all samples of a pixel share one eye ray; its hit is found once.
    unused    : options that have no effect on shared eye rays.
    random    : why every sample's hit is its own though they were to share it; empty where they do.
    """

    requested: bool
    explicit: bool
    shared: bool
    reason: str
    once: bool = False
    unused: tuple[str, ...] = ()
    random: str = ""

    @property
    def mode(self) -> str:
        """``raster``; ``shared``: by a ray through each pixel's centre, ahead of its samples; ``rays``."""
        return "raster" if self.requested and not self.reason else "shared" if self.once else "rays"

    @property
    def notes(self) -> list[str]:
        """Warns when rasterised first hits are unavailable, and of options that have no effect."""
        vain = self.explicit and self.reason
        notes = [f"--first-hits raster: {self.reason}; first hits are found by rays"] if vain else []
        if self.random:
            notes.append(f"--eye-rays shared: {self.random}; every sample finds its own hit")
        if self.unused:
            notes.append(f"--eye-rays shared: through the pixels' centres, without any use of {', '.join(self.unused)}")
        return notes


def first_hits(settings: Settings, prepared: PreparedScene, camera: Camera, software: bool) -> FirstHits:
    """The decision; ``software``: the device rasterises on the CPU."""
    explicit = settings.first_hits == "raster"
    requested = explicit
    if settings.first_hits == "auto" and settings.picture_program.rasterises:
        requested = not (software and int(prepared.starts[-1]) > MOST_IN_SOFTWARE)
    progressive = settings.picture_program.progressive
    once = settings.eye_rays == "shared" and progressive
    random = ""
    if once:
        blended = "surfaces of mode BLEND pass rays at random" if prepared.look.blend else ""
        moves = prepared.moving or bool(camera.motion)
        random = "the shutter is open for a while" if moves else blended
    camera, pixel_filter = eye(settings, camera)
    shared = settings.offsets == "sample" or (settings.offsets == "auto" and requested)
    alike = shared or pixel_filter == "point" or not progressive
    unused = []
    if once and settings.aperture:
        unused.append(OPTIONS["aperture"].flag)
    if once and settings.pixel_filter not in ("point", OPTIONS["pixel_filter"].value.default):
        unused.append(OPTIONS["pixel_filter"].flag)
    reason = unsupported_reason(prepared, camera, alike)
    return FirstHits(requested, explicit, shared, reason, once and not random, tuple(unused), random)


class RasterPass:
    """The pass that rasterises first hits, made when it is needed and kept for pictures of many sizes."""

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self.resources = device, resources
        self._current: tuple[str, RasterizedHits] | None = None

    def over(
        self,
        prepared: PreparedScene,
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
        once = settings.eye_rays == "shared"  # every sample's are those of the first
        # Its target holds all of the picture, or a rectangle.
        fits = size[0] * size[1] <= LARGEST_TARGET and max(size) <= self.device.max_texture
        raster = self._pass(prepared, size if fits else shape, settings.sampler)
        camera, pixel_filter = eye(settings, camera)
        lens = lens_uniforms(camera, size, "point" if centred else pixel_filter)
        raster.set({**sampler_uniforms(settings.seed), **lens, **uniforms}, size)

        def draw(stream: Stream, rectangle: Rectangle, number: int) -> None:
            raster.fill(stream, *rectangle, 0 if once else number, camera.origin)

        return draw

    def _pass(self, prepared: PreparedScene, needed: tuple[int, int], sampler: str) -> RasterizedHits:
        current = self._current
        # A larger target than needed will do: pictures of many sizes follow each other in a window.
        if current is None or current[0] != sampler or current[1].size[0] < needed[0] or current[1].size[1] < needed[1]:
            self.release()
            self._current = current = sampler, RasterizedHits(self.device, prepared, self.resources, needed, sampler)
        return current[1]

    def release(self) -> None:
        """Free the pass's textures; it is made again when it is needed."""
        if self._current is not None:
            with self.device.current():
                self._current[1].release()
            self._current = None
