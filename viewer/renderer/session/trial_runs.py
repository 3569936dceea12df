"""The runs of trials: samples of a small picture of a renderer's scene by any values of the options of machines."""

from __future__ import annotations

import math
from collections.abc import Mapping

from viewer.base.errors import DeviceError
from viewer.film.device_film import FilmBuffer
from viewer.renderer.device.footprint import text
from viewer.renderer.device.gpu_scene import GpuScene
from viewer.renderer.device.machine_pool import working
from viewer.renderer.device.tuning import Preparation, Run, defaults
from viewer.renderer.photon_map.photon_map import PhotonMap
from viewer.renderer.sampling.frame_plan import FramePlan
from viewer.renderer.sampling.parts import RendererParts
from viewer.renderer.sampling.sampler import Sampler


class TrialRuns:
    """Samples of a small picture, on machines beside those of the scene on show.

    width : of the picture, pixels. share : the hot tables are brought to the device a second time, in textures, where
    they take no more than this share of the memory in use.
    """

    def __init__(self, renderer: RendererParts, width: int, share: float = math.inf) -> None:
        self.renderer, self.share = renderer, share
        self.scene = renderer.gpu_scene.beside()
        self.version = self.scene.version
        self.first = defaults(self.scene.device.software_form)
        self.sampler = Sampler(self.scene, PhotonMap(self.scene))
        self._textured: GpuScene | None = None
        self._film: FilmBuffer | None = None
        self.resize(width)

    def resize(self, width: int) -> None:
        """Another width of the picture, pixels."""
        self.size, device = (width, width), self.scene.device
        with device.current():
            self._release_film()
            if self.renderer.progressive:
                self._film = FilmBuffer(device, self.size)

    def prepare(self, values: Mapping[str, str]) -> Preparation:
        """See `viewer.renderer.device.tuning.trials`: a run, or why there is none."""
        asked = {name: word for name, word in values.items() if name != "memory"}
        renderer, device = self.renderer, self.scene.device
        settings = renderer.settings.replace(machine="multipass", **asked)
        if settings.first_hits == "raster":
            settings = settings.replace(first_hits="rays")
        works = working(device, settings)
        if any(str(works[name]) != word for name, word in asked.items()):
            return "the driver fails a self-test of it"
        sampler = self.sampler
        if values["memory"] == "texture":
            reason = self._untextured(device.max_buffer)
            if reason:
                return reason
            self._textured = self._textured or self.scene.beside(buffers=False)
            try:
                for _ in self._textured.upload(settings):
                    yield
            except DeviceError as error:  # the driver's textures are too small
                return str(error)
            sampler = Sampler(self._textured, PhotonMap(self._textured))
        for _ in sampler.warm(settings, renderer.camera, self.size):
            yield
        return sample_run(sampler, FramePlan(settings, renderer.camera, self.size), self._film)

    def _untextured(self, largest: int) -> str:
        """Why hot tables are not tried in textures; empty: they are. largest : texels of a buffer texture."""
        if not largest:
            return "they lie in textures as it is"
        if self.scene.computed:
            return "tables of this scene are computed on the device"
        resources = self.scene.resources
        hot, streams = resources.hot_bytes(), self.renderer.gpu_scene.stream_bytes + self.scene.stream_bytes
        there = sum(resources.bytes().values()) + streams
        if hot > self.share * there:
            return f"a second copy of {text(hot)} of tables is too large beside {text(there)}"
        return ""

    def _release_film(self) -> None:
        if self._film is not None:
            self._film.release()
            self._film = None

    def release(self) -> None:
        """Free all but the scene on show."""
        if self._textured is not None:
            self._textured.leave()
        self.scene.leave()
        with self.scene.device.current():
            self._release_film()


def sample_run(sampler: Sampler, plan: FramePlan, film: FilmBuffer | None) -> Run:
    """Renders the plan and waits for it; samples of a film restart."""
    device = sampler.scene.device

    def run() -> None:
        with device.current():
            if film is not None:
                film.clear()
        for _ in sampler.render_tiles(plan, film):
            pass
        device.wait()

    return run
