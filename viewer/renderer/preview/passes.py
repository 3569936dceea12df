"""The passes from light and surfaces to a preview's picture, the same for all scenes of a device: made, compiled and
rehearsed in steps, while the first scene is prepared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from raystream.denoise.reconstruction import Reconstruction
from raystream.denoise.reprojection import History
from raystream.denoise.upsampling import SHOWN, Upsampling
from raystream.film.device_film import Buffer, FilmBuffer
from raystream.kernels.records import FEATURES
from raystream.renderer.device.machine_pool import compiled
from raystream.renderer.preview.gbuffer import TINY
from raystream.renderer.preview.motion import PosedMotion
from raystream.scene.camera import Camera
from raystream.stream.gl.compiler import Batch
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import returned

PLAIN = Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


class CompiledPasses(NamedTuple):
    """From light and surfaces to the picture."""

    reconstruction: Reconstruction
    history: History
    posed: PosedMotion
    upsampling: Upsampling


_KINDS: dict[str, Any] = {
    "reconstruction": Reconstruction,
    "history": History,
    "posed": PosedMotion,
    "upsampling": Upsampling,
}


class PreviewPasses:
    """Those of one device; the context must be current in every call but `warm`. held : the passes, once made."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.held: CompiledPasses | None = None
        self._parts: dict[str, Any] = {}
        self._batch = Batch()  # of programs still to compile
        self._rehearsed: set[str] = set()  # projections of cameras

    @property
    def compiled(self) -> bool:
        """Whether nothing is left to compile."""
        return self.held is not None and not self._batch

    def made(self) -> CompiledPasses:
        """The passes, compiled."""
        if self.held is None:
            self.prepare()
            self._batch.finish()
        assert self.held is not None
        return self.held

    def prepare(self) -> Batch:
        """Make them; their programs, still to compile."""
        for _ in self._made_one_by_one():
            pass
        return self._batch

    def _made_one_by_one(self) -> Iterator[float]:
        for name, kind in _KINDS.items():
            if name in self._parts:
                continue
            with self.device.deferred() as batch:
                part = self._parts[name] = kind(self.device)
                if name in ("reconstruction", "upsampling"):  # others have all that is rehearsed
                    part.prepare()
            self._batch += batch
            yield len(self._parts) / len(_KINDS)
        if self.held is None:
            self.held = CompiledPasses(**self._parts)

    def warm(self) -> Iterator[float]:
        """Make, compile and rehearse them, a step at a time; may be abandoned. Raises ShaderError."""
        steps = self._made_one_by_one()
        while True:
            with self.device.current():
                fraction = next(steps, None)
            if fraction is None:
                break
            yield 0.5 * fraction
        for fraction in compiled(self.device, self._batch):
            yield 0.5 + 0.5 * fraction
        with self.device.current():
            self.finish()
        yield 1.0

    def finish(self, shown: Camera = PLAIN) -> None:
        """Have all compiled and, for a plain camera and the one that is ``shown``, rehearsed."""
        self.made()
        self._batch.finish()
        for camera in (PLAIN, *([PLAIN.with_projection(shown.projection, shown.eyes)] if shown.kind else [])):
            if camera.kind not in self._rehearsed:
                self._rehearse(camera)
                self._rehearsed.add(camera.kind)

    def _rehearse(self, camera: Camera) -> None:
        """Draw a first picture, of few pixels of nothing: drivers compile their part of a pass when it is drawn first.
        Passes for a film of more samples wait until there is one."""
        reconstruction, history, _, upsampling = self.made()
        device, size = self.device, TINY
        film, features, target = FilmBuffer(device, size), Buffer(device, FEATURES, size), Stream(device, SHOWN, size)
        surfaces = features.blocks[0].stream
        lit = reconstruction.demodulate(film, features, features, camera)
        blended = history.blend(lit, surfaces, camera, 1)
        fitted = returned(reconstruction.fit(lit, blended, camera))
        upsampling.draw(fitted, surfaces, camera)
        upsampling.soften(1, 1.0)
        upsampling.warp(camera, target)
        upsampling.forget()
        history.forget()
        for each in (film, features, target):
            each.release()

    def release(self) -> None:
        """Free their streams; another use makes them again."""
        for part in self._parts.values():
            part.release()
        self._batch.release()
        self._parts.clear()
        self._rehearsed.clear()
        self.held = None
