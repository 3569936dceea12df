"""Films of a region or a range of samples of a picture, which several machines may render."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from raystream.base.errors import ViewerError
from raystream.film.device_film import FilmBuffer
from raystream.film.error import Stop
from raystream.film.files.checkpoint import Checkpoint
from raystream.film.film import Film
from raystream.renderer.device.tile_job import Rectangle
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.sampler import FramePlan, TileDone
from raystream.stream.machines.counters import Stats


class FilmPart(NamedTuple):
    """A region and a range of samples of a picture.

    size : of the whole picture, (width, height) pixels. samples : number of each pixel. region : (rows, columns) of
    the picture; None: all. first : the index of the first sample.
    """

    size: tuple[int, int]
    samples: int
    region: Rectangle | None = None
    first: int = 0


def film_of_part(
    renderer: RendererParts,
    part: FilmPart,
    film: Film | None = None,
    *,
    stats: Stats | None = None,
    progress: Callable[[float], None] | None = None,
) -> Film:
    """The film of a part of a picture, of the size of its region; equal to the bit to that part of a whole render.

    film : of the same part, to go on from. stats : the runs' counters are added to it. progress : called with the share
    that is done.
    """
    width, height = part.size
    rows, columns = part.region or (slice(0, height), slice(0, width))
    part_size = columns.stop - columns.start, rows.stop - rows.start
    with renderer.device.current():
        buffer = FilmBuffer(renderer.device, part_size, film, corner=(columns.start, rows.start))
    try:
        plan = FramePlan(
            renderer.settings,
            renderer.camera,
            part.size,
            samples=part.samples,
            first_sample=part.first,
            region=(rows, columns),
        )
        for event in renderer.sampler.render_tiles(plan, buffer):
            if isinstance(event, TileDone) and stats is not None:
                stats.add(event.tile.machine.stats)
            if progress is not None:
                progress(event.share)
        with renderer.device.current():
            return buffer.film()
    finally:
        with renderer.device.current():
            buffer.release()


def sample_ranges(before: int, samples: int, length: int) -> Iterator[tuple[int, int]]:
    """Ranges (first, number) of the samples from ``before`` to ``samples``, cut at multiples of ``length``, so that a
    resumed render has the same ranges."""
    while before < samples:
        end = min(samples, (before // length + 1) * length)
        yield before, end - before
        before = end


def check_ranges(renderer: RendererParts, option: str) -> None:
    """Raise ViewerError for programs whose samples cannot be rendered by themselves. option : that the error names."""
    if not renderer.progressive:
        raise ViewerError(option, f"program {renderer.settings.program} adds no samples", "take --program path")
    if "photons" in renderer.program().inputs:
        raise ViewerError(option, "photon maps of different samples follow each other", "leave it out")


def check_fixed_samples(stop: Stop, option: str) -> None:
    """Raise ViewerError where ``stop`` does not fix the number of samples in advance. option : that the error names."""
    if stop.seconds is not None or stop.error is not None:
        rule = "--time" if stop.error is None else "--error"
        raise ViewerError(option, f"{rule} looks at the whole picture while it is made", "give --spp in its place")


def film_by_ranges(
    renderer: RendererParts,
    part: FilmPart,
    length: int,
    film: Film | None = None,
    *,
    state: Checkpoint | None = None,
    stats: Stats | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Film:
    """The film of a whole picture, summed range by range of ``length`` samples: equal to the bit to a farm's. film : to
    go on from. state : saves the film when that is due, and on Ctrl-C. Raises the errors of `check_ranges`."""
    check_ranges(renderer, "--sample-range")
    size, samples = part.size, part.samples
    total = Film(*size) if film is None else film
    ranges = list(sample_ranges(int(total.count.min()), samples, length))
    try:
        for first, count in ranges:

            def report(fraction: float, first: int = first, count: int = count) -> None:
                if progress is not None:
                    progress((first + fraction * count) / samples, f"{first:,} of {samples:,} samples")

            total.join(film_of_part(renderer, FilmPart(size, count, first=first), stats=stats, progress=report))
            if state is not None and state.due():
                state.save(total)
    except KeyboardInterrupt as stop:
        if state is not None and total.count.any() and state.worth(size, stop):
            state.save(total)
        raise
    return total
