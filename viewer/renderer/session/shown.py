"""What a session shows: the picture so far, and how it stands."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from viewer.base.lock import FairLock, exclusive
from viewer.film.film import Film
from viewer.renderer.device.tile_job import Tile
from viewer.renderer.preview.denoiser import ScreenDenoiser
from viewer.renderer.preview.frame import Round
from viewer.renderer.preview.screen import Screen
from viewer.renderer.sampling.parts import RendererParts
from viewer.renderer.session.developing import Developing
from viewer.scene.camera import Camera
from viewer.stream.machines.counters import Stats


class Shown:
    """The picture on show, of ``size`` (width, height) pixels; what adds to it is
    `viewer.renderer.session.session.Session`.

    screen, layers, counting, bounce : see there.
    """

    def __init__(
        self,
        size: tuple[int, int],
        screen: Screen | None,
        layers: dict[str, NDArray] | None,
        counting: bool,
        bounce: int | None,
    ) -> None:
        self.renderer: RendererParts | None = None
        self._without = FairLock()  # a renderer
        self.size = (max(1, size[0]), max(1, size[1]))
        self.screen, self.layers, self.counting, self.bounce = screen, layers or {}, counting, bounce
        self.complete = True  # the picture on show is the whole one, whatever the number of its samples
        self.converged = True
        self.progress = 1.0  # of the picture or the samples under way
        self.samples = 0  # of every pixel of the picture on show
        self.error = math.inf  # estimated, relative, of the picture on show
        self.developing = Developing()  # the film of the picture on show, where samples are added to it
        self.reason = ""  # the rule that has said stop
        self.scale = 1.0  # of the picture on show
        self.shown: tuple[Camera, tuple[int, int]] | None = None  # camera and size of the picture on show
        self.seconds = 0.0  # of tracing in the last picture
        self.total_seconds = 0.0  # of tracing in the samples on show
        self.stats = Stats()  # of all runs
        self._cast = np.zeros((1, 1, 3), np.float32)  # without a screen: the picture of a program that adds no samples
        self._job: Round | None = None  # under way
        self._denoiser: ScreenDenoiser | None = None
        self._added_none = False  # in the next round: the film that there is is denoised

    @property
    def lock(self) -> FairLock:
        """The renderer's: while one thread works on a session, or on its renderer, the others wait for their turn."""
        return self.renderer.lock if self.renderer is not None else self._without

    @property
    def previewing(self) -> bool:
        """Whether a preview is under way, which must see the scene as it was when it began."""
        return self._job is not None and self._job.preview

    @property
    def under_way(self) -> Tile | None:
        """The tile of the picture on show that a machine works on."""
        return None if self._job is None or self._job.preview else self._job.under_way

    @property
    def running(self) -> bool:
        """Whether a picture, or a round of samples, is under way: nothing else may run on the renderer meanwhile."""
        return self._job is not None

    @exclusive
    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3) float32 linear sRGB of the picture on show, row 0 at the top."""
        if self.screen is not None:
            return self.screen.linear()
        film = self.film()
        return self._cast if film is None else film.linear

    @exclusive
    def film(self) -> Film | None:
        """The film of the picture on show, read back from the device; None for a program that adds no samples."""
        return self.developing.read(settled=self._job is None)

    @property
    def _tracer(self) -> RendererParts:
        assert self.renderer is not None, "a session without a renderer"
        return self.renderer

    @property
    def _filter(self) -> ScreenDenoiser | None:
        """What denoises the pictures on the screen; None where they are shown as they are."""
        settings = self._tracer.settings
        wanted = settings.denoise != "none" and settings.picture_program.noisy and settings.picture_program.demodulates
        return self._denoiser if wanted else None

    def _show_denoiser(self) -> None:
        """Another denoiser, or none, of the same film."""
        denoiser, film = self._filter, self.developing.buffer
        if denoiser is None or (self.converged and self._tracer.settings.denoise == "oidn") or film is None:
            self._show_film()
            return
        denoiser.forget()
        self.converged, self._added_none = False, True  # a round without new samples shows it

    def _show_converged(self) -> None:
        """The last picture: by its own samples alone."""
        denoiser = self._filter
        if self._tracer.settings.denoise == "oidn":
            self._show_film()
        elif denoiser is not None and denoiser.blended:
            self._show_denoiser()

    def _show_film(self) -> None:
        """The picture on the screen is the film's own, or of a film that is complete the one of Open Image Denoise."""
        film, denoiser = self.developing.buffer, self._denoiser
        if film is None or denoiser is None or self.screen is None:
            return
        with film.device.current():
            last = denoiser.last(film) if self.converged and self._tracer.settings.denoise == "oidn" else None
            self.screen.show(last or film.blocks[0].stream)
