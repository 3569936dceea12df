"""Open Image Denoise beside the picture in progress, in a thread of its own."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray

from raystream.denoise.upsampling import SHOWN
from raystream.film.device_film import FilmBuffer
from raystream.renderer.preview.scheduler import BEHIND_OTHERS, cleans
from raystream.renderer.sampling.denoising import NoisyPicture
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import NamedStreams, Stream


class BackgroundDenoiser:
    """One picture at a time. samples : of the one begun last."""

    def __init__(self, device: Device) -> None:
        self.samples = 0
        self._film: FilmBuffer | None = None  # of which it is
        self._coming: Future[NDArray[np.float32]] | None = None
        self._thread = ThreadPoolExecutor(1, "denoiser", _give_way)
        self._streams = NamedStreams(device)

    def begun(self, film: FilmBuffer) -> int:
        """Samples of that film's picture begun last; 0: none has been."""
        return self.samples if film is self._film else 0

    @property
    def free(self) -> bool:
        """Whether another picture can be begun."""
        return self._coming is None

    def wants(self, film: FilmBuffer, samples: int, last: bool) -> bool:
        """Whether a film of ``samples`` is to be denoised now; ``last``: it will not have more soon."""
        return self.free and cleans(samples, self.begun(film), last)

    def owes(self, film: FilmBuffer, samples: int) -> bool:
        """Whether the picture of a film's ``samples`` is still to come."""
        return self.begun(film) < samples or not self.free

    def begin(self, film: FilmBuffer, samples: int, picture: NoisyPicture) -> None:
        """Denoise a film's picture of ``samples``."""
        self._film, self.samples = film, samples
        self._coming = self._thread.submit(picture.denoised)

    def wait(self, seconds: float) -> None:
        """Wait for the picture in progress, no longer than that."""
        if self._coming is not None:
            wait([self._coming], seconds)

    def take(self) -> tuple[FilmBuffer | None, NDArray[np.float32]] | None:
        """A picture that has come, (H, W, 3), and its film; None: no picture has. Raises ViewerError where the denoiser
        fails."""
        coming = self._coming
        if coming is None or not coming.done():
            return None
        self._coming = None
        return self._film, coming.result()

    def stream(self, pixels: NDArray[np.float32]) -> Stream:
        """A picture as a stream of `SHOWN`, which holds until the next one; the context must be current."""
        height, width = pixels.shape[:2]
        stream = self._streams.get("picture", SHOWN, (width, height))
        stream.write_texels([np.concatenate([pixels, np.zeros((height, width, 1), np.float32)], axis=2)])
        return stream

    def forget(self) -> None:
        """The next film is denoised, whatever its samples; the picture in progress is not shown."""
        self._film, self.samples = None, 0

    def release(self) -> None:
        """End the thread, and free the picture; the context must be current."""
        self.forget()
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._streams.release()


def _give_way() -> None:
    """This thread, and those that it starts, make way for others; elsewhere than on Linux that would be the process."""
    if sys.platform == "linux":
        os.nice(BEHIND_OTHERS)
