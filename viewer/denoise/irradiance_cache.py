"""The light that has been seen on the surfaces of a scene, kept in space while the camera moves: an irradiance cache.

Reprojected history is lost where it leaves the picture, and of a fast camera there are few pictures before. The
cache keeps light by its place in the scene: in cells of space, found by a hash of their place and of the side that
their surfaces face (N. Binder, S. Fricke and A. Keller, "Massively Parallel Path Space Filtering", 2019; P. Gautron,
"Real-Time Ray-Traced Ambient Occlusion of Complex Scenes using Spatial Hashing", 2020). The finest cells are as wide as
two pixels of light there; wider ones are asked where these have seen too little.

All of it is on the device, and nothing is read back. The table is a stream to which pixels are scattered with addition.
Fragment programs have no atomic compare and swap by which a cell could claim a texel, so that collisions are told
afterwards: a cell adds its fingerprint with every sample, and where the mean is another one, another cell has been
there. Nothing is evicted for another either: every picture some rows are cleared, each in its turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from viewer.denoise.records import CELL, KNOWN, LIT
from viewer.denoise.view import view_uniforms
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass, pass_source
from viewer.stream.gl.stream import Stream
from viewer.stream.raster.scatter import Scatter, scatter_sources

EDGE_BITS = 10  # 2^10 x 2^10 cells, 32 MiB
LIFETIME = 512  # pictures, in which every cell is cleared once
LEVELS = 4  # of cells, each twice as wide as the one before, that light is kept in and sought in
WIDE = 2  # pixels of light: the finest
TAPS = 2  # cells of a level that are asked
ERROR = 0.15  # relative, of light that is known well enough: else wider cells tell
MOST_KEPT = 1 << 15  # pixels of a picture that are kept: of a larger one each time others
MOST_POINTS = 1 << 13  # of those in cells of their own: of more the finest are those of blocks of four
KEPT: dict[str, Record] = {"lit": LIT}
SOUGHT: dict[str, Record] = {"lit": LIT, "cells": CELL}


def _constants(bits: int) -> dict[str, int]:
    return {"EDGE_BITS": bits, "PLACE_BITS": 17, "TAPS": TAPS, "LEVELS": LEVELS, "WIDE": WIDE}


def cache_sources() -> Iterator[tuple[str, Source]]:
    """The fragment programs, by name."""
    yield "cache_find", pass_source("film/denoise/cache_find", SOUGHT, KNOWN, True, (), **_constants(EDGE_BITS))


def cache_point_sources() -> tuple[Source, Source]:
    """The vertex and the fragment program that keep light."""
    return scatter_sources("film/denoise/cache_add", KEPT, CELL, **_constants(EDGE_BITS))


class IrradianceCache:
    """Light on surfaces, in 2^bits x 2^bits cells; the context must be current in every call.

    error : relative, within which cells should tell it, see `ERROR`. empty : none is kept. cells : a stream of `CELL`,
    made when there is light to keep.
    """

    def __init__(self, device: Device, error: float = ERROR, bits: int = EDGE_BITS) -> None:
        self.device, self.error, self.empty = device, error, True
        self.cells: Stream | None = None
        self._edge = 1 << bits
        self._add = Scatter(device, "film/denoise/cache_add", KEPT, CELL, **_constants(bits))
        self._find = Pass(device, "film/denoise/cache_find", SOUGHT, KNOWN, True, (), **_constants(bits))
        self._turn = 0  # pictures that were kept

    def forget(self) -> None:
        """The light is another one."""
        if self.cells is not None and not self.empty:
            self.cells.clear()
        self.empty = True

    @contextmanager
    def rehearsing(self) -> Iterator[None]:
        """Within, light is kept in a single cell, and goes afterwards: to make all cells, or to clear them, takes
        longer than the rest of the rehearsal."""
        cells, empty = self.cells, self.empty
        self.cells = single = Stream(self.device, CELL, (1, 1))
        try:
            yield
        finally:
            single.release()
            self.cells, self.empty = cells, empty

    def _made(self) -> Stream:
        if self.cells is None:
            self.cells = Stream(self.device, CELL, (self._edge, self._edge))
            self.cells.clear()
        return self.cells

    def add(self, lit: Stream, camera: Camera, samples: int) -> None:
        """Keep the light of a picture, a stream of `LIT` of which each pixel is the mean of ``samples``."""
        cells = self._made()
        rows = [number * self._edge // LIFETIME for number in (self._turn % LIFETIME, self._turn % LIFETIME + 1)]
        cells.clear_rows(rows[0], rows[1] - rows[0])
        (width, height), turn = lit.size, self._turn
        stride = max(1, math.ceil(math.sqrt(width * height / MOST_KEPT)))
        first = min(turn % stride, width - 1), min(turn // stride % stride, height - 1)
        taken = tuple(-(-(size - start) // stride) for size, start in zip(lit.size, first, strict=True))
        finest = 0 if taken[0] * taken[1] <= MOST_POINTS else 1
        points = sum(
            math.prod(-(-count // (1 << level)) for count in taken) for level in range(finest, finest + LEVELS)
        )
        values = {"first": first, "stride": stride, "taken": taken, "finest": finest, "samples": float(samples)}
        self._add.add({"lit": lit}, cells, points, **self._uniforms(lit, camera, stride), **values)
        self._turn, self.empty = (turn + 1) % (1 << 24), False

    def find(self, lit: Stream, camera: Camera, known: Stream) -> None:
        """Draw the cached light of a picture's surfaces to a stream of `KNOWN` of its size."""
        if self.cells is None:
            known.clear()
            return
        self._find.draw({"lit": lit, "cells": self.cells}, known, **self._uniforms(lit, camera, 1), error=self.error)

    def _uniforms(self, lit: Stream, camera: Camera, stride: int) -> dict[str, Any]:
        view = view_uniforms(camera, lit.size)
        eye = np.asarray(camera.origin, np.float64)
        high = eye.astype(np.float32).astype(np.float64)
        places = {"eye_high": tuple(map(float, high)), "eye_low": tuple(map(float, eye - high)), "turn": self._turn}
        return {**view, **places, "pixel": stride * math.hypot(*view["view_down"])}

    def release(self) -> None:
        """Free the cells."""
        if self.cells is not None:
            self.cells.release()
        self.cells, self.empty = None, True
