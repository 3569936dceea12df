"""A screen with a number of its changes: bitmaps are read back and sent only after one."""

from __future__ import annotations

from collections.abc import Callable

from viewer.renderer.device.tile_job import Tile
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream
from viewer.viewport.display.picture_texture import PictureTexture


class Watched(PictureTexture):
    """A canvas. changes : how often the picture on show has changed."""

    def __init__(self, device: Device) -> None:
        self.changes = 0
        self._unseen = False  # what is under way will be shown when it is complete
        super().__init__(device)

    def begin(self, size: tuple[int, int], preview: bool) -> None:
        """See `Screen.begin`."""
        super().begin(size, preview)
        self._unseen = preview
        self._note()

    def put(self, piece: Tile) -> None:
        """See `Screen.put`."""
        super().put(piece)
        self._note()

    def show(self, picture: Stream) -> None:
        """See `Screen.show`."""
        super().show(picture)
        self._note()

    def warp(self, size: tuple[int, int], draw: Callable[[Stream], None]) -> None:
        """See `Screen.warp`."""
        super().warp(size, draw)
        self.changes += 1

    def grow(self, piece: Tile) -> bool:
        """See `PictureTexture.grow`."""
        grows = super().grow(piece)
        self.changes += grows
        return grows

    def end(self) -> None:
        """See `Screen.end`."""
        super().end()
        self.changes += self._unseen
        self._unseen = False

    def drop(self) -> None:
        """See `Screen.drop`."""
        super().drop()
        self._unseen = False

    def _note(self) -> None:
        self.changes += not self._unseen
