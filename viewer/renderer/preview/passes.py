"""The passes from light and surfaces to a preview's picture, the same for all scenes of a device: made, compiled and
rehearsed in steps, while the first scene is prepared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from viewer.denoise.filter import Wavelets
from viewer.denoise.records import IRRADIANCE, LIT, RELIEF
from viewer.denoise.regression import FittedLight, Regression
from viewer.denoise.reprojection import History
from viewer.denoise.upsampling import SHOWN, Upsampling
from viewer.denoise.view import MAPPED, Views
from viewer.film.device_film import Buffer, FilmBuffer
from viewer.kernels.records import FEATURES
from viewer.renderer.device.machine_pool import compiled
from viewer.renderer.preview.gbuffer import TINY
from viewer.renderer.preview.motion import PosedMotion
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Declared, PassSet, pass_sources
from viewer.stream.gl.programs.compiler import Batch
from viewer.stream.gl.stream import NamedStreams, Stream
from viewer.stream.jobs import returned

PASSES: Declared = {
    "fitted": ({"lit": LIT, "relief": RELIEF}, IRRADIANCE),
    "blend": ({"lit": LIT, "light": IRRADIANCE, "fitted": IRRADIANCE}, IRRADIANCE),
}


def presenter_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    yield from pass_sources("film/present", PASSES)
    for name, source in pass_sources("film/present", PASSES, MAPPED):
        yield f"{name}, of another projection", source


class Presenter:
    """The blend of least error of a film's reconstructions, on the screen alone: film and files keep every bit. With
    streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = PassSet(device, "film/present", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)

    def blend(self, fitted: FittedLight, light: Stream, camera: Camera, samples: int) -> Stream:
        """The light of least error, `IRRADIANCE`, which holds until the next call. fitted : by regression; light :
        `IRRADIANCE` by wavelets, with its variance; both of a film of ``samples`` of a pixel."""
        lit, size = fitted.lit, light.size
        view = self._views.of(camera, size)
        there, blended = (self._streams.get(name, IRRADIANCE, size) for name in ("fitted", "blended"))
        inputs, form, seen = {"lit": lit, "relief": fitted.relief, **view.streams}, view.features, view.uniforms
        self._passes.draw("fitted", inputs, there, form, **seen, scale=(1.0, 1.0), stride=fitted.stride)
        inputs = {"lit": lit, "light": light, "fitted": there, **view.streams}
        self._passes.draw("blend", inputs, blended, form, **seen, samples=float(samples))
        return blended

    def release(self) -> None:
        """Free the streams."""
        self._streams.release()
        self._views.release()


PLAIN = Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


class CompiledPasses(NamedTuple):
    """From light and surfaces to the picture."""

    wavelets: Wavelets
    history: History
    posed: PosedMotion
    regression: Regression
    upsampling: Upsampling
    presenter: Presenter


_KINDS: dict[str, Any] = {
    "wavelets": Wavelets,
    "history": History,
    "posed": PosedMotion,
    "regression": Regression,
    "upsampling": Upsampling,
    "presenter": Presenter,
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
                if name in ("wavelets", "regression", "upsampling"):  # others have all that is rehearsed
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
                share = next(steps, None)
            if share is None:
                break
            yield 0.5 * share
        for share in compiled(self.device, self._batch):
            yield 0.5 + 0.5 * share
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
        wavelets, history, _, regression, upsampling, _ = self.made()
        device, size = self.device, TINY
        film, features, target = FilmBuffer(device, size), Buffer(device, FEATURES, size), Stream(device, SHOWN, size)
        surfaces = features.blocks[0].stream
        history.seeks = True
        lit = wavelets.demodulate(film, features, camera)
        with history.cache.rehearsing():
            blended = history.blend(lit, surfaces, camera, 1)
        fitted = returned(regression.fit(lit, blended, camera))
        upsampling.draw(fitted, surfaces, camera)
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
