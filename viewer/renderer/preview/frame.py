"""A frame in progress, and the screen that shows it: a window's canvas, or anything else."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from raystream.film.device_film import FilmBuffer
from raystream.renderer.device.tile_job import Tile
from raystream.renderer.preview.scheduler import ScheduledFrame
from raystream.renderer.sampling.frame_plan import Event
from raystream.scene.camera import Camera
from raystream.stream.gl.objects import Timestamp
from raystream.stream.gl.stream import Stream

Steps = Generator[Event, None, None]


def _no_steps() -> Steps:
    """Of a frame that is traced already."""
    yield from ()


@dataclass
class FrameJob:
    """A frame, as it is made: the camera, the film that it adds to, the number of its first sample, and its steps.

    white : luminance that its screen shows as white. denoised : the picture shown is. tracing : its tiles are still
    traced. spent : seconds so far; of these for photon maps (mapping) and for upsampling. moments : of a frame for
    which nobody waits: when the device has begun it, traced its light, found its surfaces, and ended.
    """

    frame: ScheduledFrame
    camera: Camera
    film: FilmBuffer | None
    first: int = 0
    white: float = 1.0
    denoised: bool = False
    tracing: bool = True
    spent: float = 0.0
    mapping: float = 0.0
    upsampling: float = 0.0
    under_way: Tile | None = None  # that a machine works on
    moments: list[Timestamp] = field(default_factory=list)
    steps: Steps = field(default_factory=_no_steps)

    @property
    def eye(self) -> Camera:
        """Its camera; of one that moves all is sharp: through a lens one sample of a pixel shows dots."""
        return self.camera.with_lens(0.0) if self.frame.kind.in_motion else self.camera


class Screen(Protocol):
    """Where a session's pictures are shown, tile by tile: linear sRGB, row 0 at the top."""

    def begin(self, size: tuple[int, int], preview: bool) -> None:
        """Another picture of that size (width, height) begins. A preview is shown when it has ended; any other at once,
        the one on show enlarged at first."""
        ...

    def put(self, piece: Tile) -> None:
        """A tile is complete: its machine's streams hold it until the next call."""
        ...

    def show(self, picture: Stream) -> None:
        """The picture in progress is this one, a stream of `SHOWN` or `FILM`, and of a preview maybe a larger one."""
        ...

    def warp(self, size: tuple[int, int], draw: Callable[[Stream], None]) -> None:
        """The picture on show is the contents of a stream of `SHOWN` of that size; a preview in progress goes on."""
        ...

    def end(self) -> None:
        """The picture is complete."""
        ...

    def drop(self) -> None:
        """A preview in progress will not be completed."""
        ...

    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3): the picture on show."""
        ...
