"""The photon map by sorting: a list of (cell, photon), sorted by cell, and the start of each cell in it.

Bitonic merge sort in k (k + 1) / 2 passes for 2^k elements, and a binary search in one pass (Purcell 2004, section
6.2.2; Purcell et al. 2003, section 2.2.1). Nothing is read back.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from raystream.kernels.photons import ENTRY, FIRST
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import Pass, pass_source
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw, Job


def list_size(photons: int) -> tuple[int, int]:
    """(width, height) of the smallest stream of a power of two of elements that holds ``photons``."""
    exponent = max(1, (max(photons, 2) - 1).bit_length())
    return 1 << ((exponent + 1) // 2), 1 << (exponent // 2)


def cell_size(cells: int) -> tuple[int, int]:
    """(width, height) of a stream with an element for each cell and one more."""
    width = 1 << (-(-(cells + 1).bit_length() // 2))
    return width, -(-(cells + 1) // width)


def sort_sources() -> Iterator[tuple[str, Source]]:
    """Every pass of a map by sorting, by name."""
    yield "pad", pass_source("photons/pad_list", {"kept": ENTRY}, ENTRY)
    yield "sort", pass_source("photons/sort_step", {"list": ENTRY}, ENTRY, planar=True)
    yield "sort, two steps", pass_source("photons/sort_two_steps", {"list": ENTRY}, ENTRY, planar=True)
    yield "search", pass_source("photons/first_photons", {"list": ENTRY}, FIRST)


class PhotonSort:
    """The passes of the sort, for lists of any size; used sizes are kept. Every call needs a current context.

    paired : two steps in a pass, where there are two of a run; the published sort has a pass for each.
    """

    def __init__(self, device: Device, size: tuple[int, int], paired: bool = False) -> None:
        self.device = device
        self._pad = Pass(device, "photons/pad_list", {"kept": ENTRY}, ENTRY)
        self._step = Pass(device, "photons/sort_step", {"list": ENTRY}, ENTRY, planar=True)
        self._pair = Pass(device, "photons/sort_two_steps", {"list": ENTRY}, ENTRY, planar=True) if paired else None
        self._search = Pass(device, "photons/first_photons", {"list": ENTRY}, FIRST)
        self._held: dict[tuple[int, int], list[Stream]] = {}
        self.passes = 0  # of the last sort
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        """Switch to lists of this size, without compiling."""
        self.size, self.length = size, size[0] * size[1]
        assert self.length & (self.length - 1) == 0, "a power of two"
        if size not in self._held:
            self._held[size] = [Stream(self.device, ENTRY, size) for _ in range(2)]
        self._lists = self._held[size]

    @property
    def list(self) -> Stream:
        """`ENTRY` of every photon, sorted, after `sort`."""
        return self._lists[0]

    def enter(self, entries: Stream, count: int, cells: int) -> Job:
        """Make the unsorted list: the first ``count`` of ``entries``, of `ENTRY`, in a grid of ``cells`` cells."""
        yield Draw(lambda: self._pad.draw({"kept": entries}, self._lists[0], kept=count, cells=cells))

    def sort(self) -> Job:
        """Sort the list: run lengths 2, 4 .. all, and in each the distances run / 2, run / 4 .. 1."""
        self.passes = 0
        run = 2
        while run <= self.length:
            partner = run // 2
            while partner:
                pair = self._pair if partner > 1 else None
                yield Draw(partial(self._exchange, pair or self._step, partner, run))
                partner //= 2 if pair is None else 4
            run *= 2

    def search(self, first: Stream) -> Job:
        """Write the start of each cell into ``first`` of `FIRST`; after the last the number of photons."""
        yield Draw(lambda: self._search.draw({"list": self._lists[0]}, first))

    def _exchange(self, step: Pass, partner: int, run: int) -> None:
        distances = {"partner": self._at(partner), "half_way": self._at(partner // 2), "run": self._at(run)}
        step.draw({"list": self._lists[0]}, self._lists[1], **distances)
        self._lists.reverse()
        self.passes += 1

    def _at(self, number: int) -> tuple[int, int]:
        """Column and row of a power of two."""
        width = self.size[0]
        return (number, 0) if number < width else (0, number // width)

    def release(self) -> None:
        """Free the lists."""
        for lists in self._held.values():
            for stream in lists:
                stream.release()
        self._held.clear()
