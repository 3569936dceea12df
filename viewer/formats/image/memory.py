"""The memory of a scene's images, charged by their headers before they are decoded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from raystream.base.errors import ViewerError
from raystream.base.memory import available

LARGEST_SIDE = 1 << 24  # texels of an image: Pillow refuses rows of 2 ** 31 bits for want of memory
LARGEST_IMAGE = 1 << 28  # texels of an image, such as 16,384 x 16,384: 1 GiB
MOST_TEXELS = 1 << 30  # of all images of a scene: 4 GiB
# Memory to decode an image, and memory of all images, beside a multiple of their files' bytes: real pictures are not
# packed much tighter, and pictures of one colour are small.
FREE_BYTES = 1 << 30
DECODED_PER_BYTE, HELD_PER_BYTE = 16, 256


@dataclass(frozen=True)
class ImageHeader:
    """Of an encoded image.

    decoder : bytes for each texel of the whole picture until it is decoded; if it ``scales``, of the reduced picture.
    texel : bytes of a decoded texel. least : the largest factor of reduction. hint : the remedy for an image
    that is too large even if reduced.
    """

    width: int
    height: int
    decoder: float
    texel: int = 4
    scales: bool = False
    least: int = 1 << 15
    hint: str = "use a smaller image"

    def peak(self, factor: int) -> int:
        """Bytes to decode it, reduced by a factor."""
        texels = self.width * self.height
        decoded_texels = texels / min(factor, 8) ** 2 if self.scales else texels
        return int(self.decoder * decoded_texels + self.texel * texels / factor**2)


class ImageMemory:
    """The memory for the images of a scene: texels that are kept with their copies on the device, and copies while they
    are decoded.

    side : the option ``max_texture``. An image that does not fit is reduced to it by halves; no other one is, since the
    option reduces images in linear light.
    """

    def __init__(self, side: int | None = None) -> None:
        free = available()
        self.side = side
        self.texels = 0
        self._most = MOST_TEXELS if free is None else min(MOST_TEXELS, free // 10)
        self._peak = None if free is None else free // 2
        self._granted = FREE_BYTES
        self._charged = self._decoding = 0
        self._condition = threading.Condition()

    def plan(self, image: ImageHeader, length: int, where: str) -> int:
        """The factor by which an image of ``length`` bytes is reduced; charges its texels. Raises ViewerError where
        it does not fit."""
        self._granted += HELD_PER_BYTE * length
        factor, fault = 1, self._fault(image, length, 1)
        if fault and self.side is not None:
            while max(image.width, image.height) // factor > self.side and factor < image.least:
                factor *= 2
            fault = self._fault(image, length, factor) if factor > 1 else fault
        if fault:
            smaller = self._fault(image, length, min(16, image.least))
            raise ViewerError(where, fault, image.hint if smaller else "--max-texture 1024 reads it at a smaller size")
        texels = image.width * image.height // factor**2
        self.texels += texels
        self._charged += image.texel * texels
        return factor

    def add(self, texels: int, where: str) -> None:
        """Charge the texels of an image that was made of others. Raises ViewerError beyond the limit."""
        self.texels += texels
        if self.texels > self._most:
            what = f"more than {self._most:,} texels in all pictures"
            raise ViewerError(where, what, "use smaller ones")

    @contextmanager
    def decoding(self, size: int) -> Iterator[None]:
        """Waits until ``size`` bytes more, beside those that others are decoding, are within those of one image."""
        with self._condition:
            self._condition.wait_for(lambda: not self._decoding or self._decoding + size <= FREE_BYTES)
            self._decoding += size
        try:
            yield
        finally:
            with self._condition:
                self._decoding -= size
                self._condition.notify_all()

    def _fault(self, image: ImageHeader, length: int, factor: int) -> str:
        """The reason to refuse an image at a size; "" if it fits."""
        size, texels = f"{image.width:,} x {image.height:,} texels", image.width * image.height
        if max(image.width, image.height) > LARGEST_SIDE:
            return f"{size}, more than {LARGEST_SIDE:,} a side"
        most = min(LARGEST_IMAGE, self._most - self.texels)
        if texels > LARGEST_IMAGE or texels // factor**2 > most:
            return f"{size}, more than {most:,}"
        peak, limit = image.peak(factor), FREE_BYTES + DECODED_PER_BYTE * length
        limit = limit if self._peak is None else min(limit, self._peak)
        if peak > limit:
            return f"{size} take {peak / 2**30:.1f} GiB to decode {length:,} bytes, more than {limit / 2**30:.1f}"
        if self._charged + image.texel * texels // factor**2 > self._granted:
            return f"{size} and the images before take more than {self._granted / 2**30:.1f} GiB"
        return ""
