"""Pieces of a picture: rectangles that a machine runs at once, and the one function that runs samples over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewer.film.film import Film
from viewer.kernels import PIXEL
from viewer.stream.gl.device import Device
from viewer.stream.machines.common import Machine, Progress
from viewer.stream.machines.counters import Stats

# Brings the first hits of a sample, by its number, into the machine's stream for them.
Fill = Callable[[Machine, slice, slice, int], None]


@dataclass(frozen=True)
class Slice:
    """A rectangle of the picture that was rendered in one run; ``columns`` and ``rows`` index the picture."""

    rows: slice
    columns: slice
    machine: Machine


def run(
    device: Device,
    machine: Machine,
    down: slice,
    across: slice,
    film: Film | None,
    samples: int = 1,
    fill: Fill | None = None,
) -> Iterator[float]:
    """Run a rectangle of the picture, at most as many pixels as the machine's streams hold; yields the share done.

    film : of a progressive program, whose rectangle the run goes on from until every pixel has ``samples``, and which
    has the new samples at the end. fill : where first hits are rasterised; each sample is then a run of its own.
    It may be abandoned at any yield; the film then has whole samples.
    """
    if fill is None or "first_hit" not in machine.linked.program.inputs:
        yield from _run(device, machine, down, across, film)
        return
    first = 0 if film is None else int(film.count[down, across].min(initial=samples))
    total = Stats()
    for number in range(first, samples if film is not None else 1):
        with device.current():
            machine.set({"path_samples": number + 1})
            fill(machine, down, across, number)
        for share in _run(device, machine, down, across, film):
            yield (number - first + share) / max(1, samples - first)
        total.add(machine.stats)
    total.rays = machine.stats.rays
    machine.stats = total


def _run(device: Device, machine: Machine, down: slice, across: slice, film: Film | None) -> Iterator[float]:
    width, height = machine.size
    pixels = np.zeros((height, width), PIXEL.dtype)
    y, x = np.mgrid[down, across]
    count = y.size
    flat = pixels.reshape(-1)
    flat["at"][:count, 0], flat["at"][:count, 1] = x.ravel(), y.ravel()
    with device.current():
        machine.write("pixel", pixels)
        if film is not None:
            machine.write("film", _in_rows(film.records(*_box(down, across)), (width, height)))
    steps = machine.run(None if count == machine.rays else count)
    while True:
        with device.current():
            state: Progress | None = next(steps, None)
        if state is None:
            break
        yield 1 - state.active / max(1, state.rays)
    if film is None:
        return
    with device.current():
        held = machine.read("film").reshape(-1)[:count].reshape(y.shape)
    try:
        film.store(held, across.start, down.start)
    except KeyboardInterrupt:  # a film is saved on Ctrl-C: it must not hold half of a rectangle
        film.store(held, across.start, down.start)
        raise


def _box(down: slice, across: slice) -> tuple[int, int, int, int]:
    """Left, top, width and height of a rectangle."""
    return across.start, down.start, across.stop - across.start, down.stop - down.start


def _in_rows(values: NDArray, shape: tuple[int, int]) -> NDArray:
    """The values of a rectangle in row order, as a stream of ``shape`` (width, height) holds them."""
    out = np.zeros(shape[0] * shape[1], values.dtype)
    out[: values.size] = values.ravel()
    return out.reshape(shape[1], shape[0])
