"""The side of a session that shows its pictures, as a protocol: a window's canvas, or anything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from viewer.renderer.device.tile_job import Tile
from viewer.stream.gl.stream import Stream


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
