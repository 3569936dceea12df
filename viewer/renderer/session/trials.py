"""Values of ``auto`` on a new GPU, by trials in the background: `raystream.renderer.device.tuning` keeps it.

Nobody waits for it. Programs are compiled in the driver's threads, runs take some milliseconds each and half a second
together, nothing on show is touched, and trials stop at once where something is to be shown again. The next process has
the results: in this one no program is recompiled.

Software drivers are left out, for which the defaults were measured, and so are other memories for large scenes, whose
tables would be there twice: ``raystream devices --measure`` (`measure`) has both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import moderngl

from raystream.base.errors import DeviceError, ViewerError
from raystream.film.device_film import FilmBuffer
from raystream.renderer.device import tuning
from raystream.renderer.device.footprint import bytes_text
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.device.machine_pool import resolved_settings
from raystream.renderer.device.tuning import Outcome, Preparation, Run
from raystream.renderer.photon_map import PhotonMap
from raystream.renderer.preview.scheduler import ASLEEP, POLL, SETTLED
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.sampler import FramePlan, Sampler
from raystream.renderer.session.session import Session
from raystream.stream.jobs import returned


class TrialRuns:
    """Samples of a small picture, on machines beside those of the scene on show.

    width : of the picture, pixels. share : the hot tables are brought to the device a second time, in textures, where
    they take no more than this share of the memory in use.
    """

    def __init__(self, renderer: RendererParts, width: int, share: float = math.inf) -> None:
        self.renderer, self.share = renderer, share
        self.scene = renderer.gpu_scene.fork()
        self.version = self.scene.version
        self.first = tuning.defaults(self.scene.device.software_form)
        self.sampler = Sampler(self.scene, PhotonMap(self.scene))
        self._textured: GpuScene | None = None
        self._film: FilmBuffer | None = None
        self.resize(width)

    def resize(self, width: int) -> None:
        """Another width of the picture, pixels."""
        self.size, device = (width, width), self.scene.device
        with device.current():
            if self._film is not None:
                self._film.release()
            self._film = FilmBuffer(device, self.size) if self.renderer.progressive else None

    def prepare(self, values: Mapping[str, str]) -> Preparation:
        """See `raystream.renderer.device.tuning.trials`: a run, or why there is none."""
        options: dict[str, Any] = {name: word for name, word in values.items() if name != "memory"}
        renderer, device = self.renderer, self.scene.device
        settings = renderer.settings.replace(machine="multipass", **options)
        if settings.first_hits == "raster":
            settings = settings.replace(first_hits="rays")
        works = resolved_settings(device, settings)
        if any(str(works[name]) != word for name, word in options.items()):
            return "the driver fails a self-test of it"
        sampler = self.sampler
        if values["memory"] == "texture":
            reason = self._untextured(device.max_buffer)
            if reason:
                return reason
            self._textured = self._textured or self.scene.fork(buffers=False)
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
        bytes_in_use = sum(resources.bytes().values()) + streams
        if hot > self.share * bytes_in_use:
            return f"a second copy of {bytes_text(hot)} of tables is too large beside {bytes_text(bytes_in_use)}"
        return ""

    def release(self) -> None:
        """Free all but the scene on show."""
        if self._textured is not None:
            self._textured.release_fork()
        self.scene.release_fork()
        with self.scene.device.current():
            if self._film is not None:
                self._film.release()


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


SIDES = 64, 1024  # of the picture of the trials, pixels: smallest and largest
RUN = 0.005  # seconds that it is to take
SHARE = 0.25  # of what is on the device, for a second copy of hot tables
MAX_ATTEMPTS = 5  # of a process: a hand that never rests ends them all
RESTED = 3.0  # seconds since anything moved, before they begin
LONG, PART = 20.0, 0.1  # seconds of a render after which they are worth it, and the share of these that they may take


class BackgroundTrials:
    """Trials beside a renderer, in steps, once for a driver build."""

    def __init__(self) -> None:
        self._finished_drivers: set[str] = set()  # drivers of which there is nothing to find out
        self._attempts = 0
        self._runs: TrialRuns | None = None
        self._steps: Iterator[Outcome | None] = iter(())
        self._outcomes: list[Outcome] = []

    @property
    def busy(self) -> bool:
        """Whether they have begun."""
        return self._runs is not None

    def wanted(self, renderer: RendererParts) -> bool:
        """Whether there is something to find out: on a GPU as it is, for a program of samples in several passes."""
        device, settings = renderer.device, renderer.settings
        if device.software or device.driver in self._finished_drivers or self._attempts >= MAX_ATTEMPTS:
            return False
        if settings.machine != "multipass" or not renderer.progressive or settings.picture_program.maps_photons:
            return False
        if (
            device.limits is not None
            or device.distrusted
            or not device.allow_buffers
            or device.driver in tuning.load_tuning()
        ):
            self._finished_drivers.add(device.driver)
            return False
        return True

    def due(self, session: Session, rested: float) -> bool:
        """Whether the session's next frame is to wait for a step; the picture has rested for ``rested`` seconds."""
        renderer = session.renderer
        if renderer is None or rested < RESTED or not session.complete:
            return False
        return not renderer.device.compiler.busy if self.busy else self._may_begin(session)

    def _may_begin(self, session: Session) -> bool:
        """Whether they may begin, where the driver compiles in threads of its own."""
        renderer = session.renderer
        if renderer is None or not renderer.device.compiler.polls or session.samples < SETTLED:
            return False
        return self.wanted(renderer)

    def wait_timeout(self, session: Session) -> float:
        """Seconds until they go on, of a session that is idle; infinite: there are none."""
        if self.busy:
            return POLL
        return ASLEEP if session.idle and self._may_begin(session) else math.inf

    def advance(self, session: Session, budget: float) -> None:
        """Some steps, of a session that has no frame in progress: ``budget`` seconds, but for the last of them."""
        renderer, began = session.renderer, time.perf_counter()
        if renderer is None or (self._runs is not None and self._runs.renderer is not renderer):
            self.abandon()
            return
        if not self.busy:
            pixels = session.size[0] * session.size[1]
            self.begin(renderer, session.samples * pixels / max(session.convergence.seconds, 1e-6))
        while self.step() and time.perf_counter() - began < budget:
            if renderer.device.compiler.busy:
                return

    def begin(self, renderer: RendererParts, rate: float) -> None:
        """Begin trials on a renderer's scene. rate : samples a second of all its pixels, by which their pictures have
        their size."""
        self._attempts += 1
        width = int(math.sqrt(rate * RUN)) // SIDES[0] * SIDES[0]
        self._runs, self._outcomes = TrialRuns(renderer, max(SIDES[0], min(SIDES[1], width)), SHARE), []
        prepare, first = self._runs.prepare, self._runs.first
        self._steps = tuning.trials(
            prepare, time.perf_counter, first, renderer.device.wait, max_seconds=tuning.MAX_RUN_SECONDS
        )

    def step(self) -> bool:
        """A shader, or a run; at the end the results are saved. Whether there are more steps."""
        runs, note = self._runs, ""
        if runs is None:
            return False
        if runs.renderer.gpu_scene.version != runs.version:
            self.abandon()
            return False
        try:
            with runs.scene.device.current():
                outcome = next(self._steps)
        except StopIteration:
            chosen = tuning.fastest_values(self._outcomes, runs.first) if self._outcomes else None
        except (ViewerError, moderngl.Error) as error:
            chosen, note = runs.first, f"trials failed: {' '.join(str(error).split())}"[:200]
        else:
            if outcome is not None:
                self._outcomes.append(outcome)
            return True
        if chosen is not None:
            tuning.save_tuning(runs.scene.device.driver, chosen, self._outcomes, note, at_once=False)
        self._finished_drivers.add(runs.scene.device.driver)
        self.abandon()
        return False

    def abandon(self) -> None:
        """Stop them, without a result."""
        runs, self._runs, self._steps = self._runs, None, iter(())
        if runs is not None:
            runs.release()

    def poll(self) -> None:
        """Poll the driver's compilation, while frames go on."""
        if self._runs is not None:
            device = self._runs.scene.device
            with device.current():
                for compilation in list(device.compiler.pending):
                    compilation.poll()


def measure_after(
    renderer: RendererParts, samples: int, seconds: float, begun: Callable[[], None] = lambda: None
) -> bool:
    """Trials after a render of ``samples`` of pixels in ``seconds``; whether they have come to an end. begun : is
    called where there are any."""
    background, device = BackgroundTrials(), renderer.device
    if seconds < LONG or not background.wanted(renderer):
        return False
    begun()
    end = time.perf_counter() + PART * seconds
    background.begin(renderer, samples / seconds)
    try:
        while background.step():
            if time.perf_counter() > end:
                return False
            if device.compiler.busy:
                time.sleep(POLL)
    finally:
        background.abandon()
    return True


def measure(renderer: RendererParts) -> list[Outcome]:
    """Measure on a renderer's scene, at once, the values of ``auto`` on its device, and keep them for the driver build;
    the result. Its memories are to lie in buffer textures."""
    device = renderer.device
    clock = time.process_time if device.software else time.perf_counter  # others work on the same processor
    runs = TrialRuns(renderer, SIDES[0])
    try:
        with device.current():
            while runs.size[0] < SIDES[1] and _seconds(runs) < RUN:
                runs.resize(2 * runs.size[0])
            outcomes = [outcome for outcome in tuning.trials(runs.prepare, clock, runs.first) if outcome is not None]
    finally:
        runs.release()
    tuning.save_tuning(device.driver, tuning.fastest_values(outcomes, runs.first), outcomes)
    return outcomes


def _seconds(runs: TrialRuns) -> float:
    """The seconds of a run, compiled, by the values before any trial; infinite where there is none."""
    run = returned(runs.prepare(runs.first))
    if isinstance(run, str):
        return math.inf
    run()
    began = time.perf_counter()
    run()
    return time.perf_counter() - began
