"""The film of a session's picture: on the device while samples are added, read back when somebody asks for it."""

from __future__ import annotations

from viewer.film.device_film import ComingError, FilmBuffer
from viewer.film.error.film_error import FilmError
from viewer.film.film import Film
from viewer.stream.gl.device import Device


class SessionFilm:
    """The film of the picture on show, and at most one copy of it on the host.

    buffer : None for a program that adds no samples, and while the picture on show is a preview.
    """

    def __init__(self) -> None:
        self.buffer: FilmBuffer | None = None
        self._reduction: FilmError | None = None  # compiled once, for all films
        self._coming: ComingError | None = None  # of samples before
        self._host: tuple[int, Film] | None = None  # the samples that every pixel had when it was read back

    @staticmethod
    def blank(device: Device, size: tuple[int, int], film: Film | None = None) -> FilmBuffer:
        """A film on the device, with the contents of another one."""
        with device.current():
            return FilmBuffer(device, size, film)

    def take(self, buffer: FilmBuffer | None) -> None:
        """Another film, or the same with more samples."""
        if buffer is not self.buffer:
            self.release()
        self.buffer, self._host = buffer, None

    def read(self, settled: bool = True) -> Film | None:
        """The film on the host; not ``settled``: samples are being added."""
        buffer = self.buffer
        if buffer is None:
            return None
        if not settled or self._host is None or self._host[0] != buffer.samples:
            with buffer.device.current():
                self._host = buffer.samples if settled else -1, buffer.film()
        return self._host[1]

    def error(self) -> float:
        """The estimated relative error of the picture, without reading the film back."""
        if self.buffer is None:
            return float("inf")
        with self.buffer.device.current():
            self._coming = None
            return self.buffer.error(self._compiled(self.buffer))

    def late_error(self) -> float | None:
        """The error of samples before, once the device has it, which is not waited for; None: none is there yet."""
        if self.buffer is None:
            return float("inf")
        with self.buffer.device.current():
            found = None
            if self._coming is not None and self._coming.ready:
                found, self._coming = self.buffer.late_error(self._coming), None
            if self._coming is None:
                self._coming = self.buffer.begin_error(self._compiled(self.buffer))
            return self.buffer.error() if self._coming is None else found

    def _compiled(self, buffer: FilmBuffer) -> FilmError:
        if self._reduction is None or self._reduction.device is not buffer.device:
            self._reduction = buffer.reduction or FilmError(buffer.device)
        return self._reduction

    @property
    def relative_std_error(self) -> float:
        """The relative standard error of `error`, as of its last call."""
        return 0.0 if self.buffer is None else self.buffer.relative_std_error

    def release(self) -> None:
        """Free the film."""
        buffer, self.buffer, self._host, self._coming = self.buffer, None, None, None
        if buffer is not None:
            free(buffer)


def free(buffer: FilmBuffer) -> None:
    """Give a film back."""
    with buffer.device.current():
        buffer.release()
