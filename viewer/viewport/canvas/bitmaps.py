"""The picture on show as bitmaps: when another one is due, and how good it has to be."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.preview.scheduler import SENT_AT_LAST, SENT_FILLING, SENT_GROWTH, SENT_REFINING
from raystream.stream.gl.device import Device
from raystream.viewport.display.display import Display
from raystream.viewport.display.picture_texture import PictureTexture
from raystream.viewport.frame_loop import FrameLoop

IN_MOTION, IN_REFINING = 80, 92  # qualities of JPEG, of 100


class Bitmaps:
    """Bitmaps of a view's picture. The device's context is current wherever it is used."""

    def __init__(self, device: Device, frame_loop: FrameLoop, canvas: PictureTexture) -> None:
        self.device, self.frame_loop, self.canvas = device, frame_loop, canvas
        self.view, self.session = frame_loop.view, frame_loop.session
        self._display = Display(device)
        self._target: Any = None  # framebuffer
        self._sent_picture: tuple[Any, ...] = ()  # what the one given last was of
        self._sent_at, self._sent_samples = 0.0, 0  # when, and with how many samples of a complete picture
        self._rested = False  # it was at rest

    @property
    def at_rest(self) -> bool:
        """Whether the picture stays as it is, but for the exposure, until an event or an update; a scene's first one
        does not."""
        stays = self.session.idle or self.view.paused
        return stays and not self.frame_loop.moving and self.view.renderer is not None

    @property
    def quality(self) -> int:
        """Of the bitmap as JPEG, of 100."""
        return IN_REFINING if self.session.complete else IN_MOTION

    def due(self) -> bool:
        """Whether another one is: the picture looks otherwise than the last one, and enough; or it has come to rest."""
        view, session, now = self.view, self.session, time.monotonic()
        if view.area.minimised or not self.frame_loop.anything:
            return False
        passed, complete = now - self._sent_at, session.complete
        soon = passed < (SENT_REFINING if complete else SENT_FILLING)
        if not soon and session.under_way is not None:
            self.canvas.grow(session.under_way)
        look = view.tone.stops, view.tone.tonemap, view.area.pixels
        of = (session.pictures + session.warped, *look, self.canvas.changes)
        rests, rested = self.at_rest, self._rested
        self._rested = rests
        if of == self._sent_picture and rests <= rested:
            return False
        if not rests and complete and self._sent_samples and look == self._sent_picture[1:-1]:
            if soon or (session.samples < SENT_GROWTH * self._sent_samples and passed < SENT_AT_LAST):
                return False
        elif not rests and soon and of[:-1] == self._sent_picture[:-1]:
            return False
        self._sent_picture, self._sent_at, self._sent_samples = of, now, session.samples if complete else 0
        return True

    def read(self) -> NDArray[np.uint8]:
        """(H, W, 4) uint8: the picture on show as it is, sRGB and opaque, row 0 at the top."""
        view = self.view
        width, height = view.area.pixels
        if self._target is None or self._target.size != view.area.pixels:
            context = self.device.context
            self._target = context.framebuffer([context.texture(view.area.pixels, 4)])
        self._display.draw(self.canvas.texture, self._target, view.area.pixels, view.tone.stops, view.tone.tonemap)
        pixels = np.frombuffer(self._target.read(components=4, alignment=1), np.uint8)
        self.canvas.settle()
        bitmap = pixels.reshape(height, width, 4)[::-1].copy()
        bitmap[..., 3] = 255
        return bitmap
