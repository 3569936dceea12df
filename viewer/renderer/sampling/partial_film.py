"""Films of some of a picture's pixels or samples, made by several machines, or one after the other."""

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
    """Some pixels and samples of a picture.

    size : of the whole picture, (width, height) pixels. samples : that every pixel will have. region : (rows, columns)
    of the picture; None: all. first : the number of the first sample.
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
    """The film of a part of a picture, of the size of its region, by a progressive program: the bits that a whole
    render has for it.

    film : of the same part, to go on from. stats : to which the runs are added. progress : called with the share that
    is done.
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
    """The ranges (first, number) missing of ``samples``, each of ``length`` but for the ends: a range
    begins at a multiple of it, wherever a render goes on."""
    while before < samples:
        end = min(samples, (before // length + 1) * length)
        yield before, end - before
        before = end


def check_ranges(renderer: RendererParts, option: str) -> None:
    """Raise ViewerError where samples do not stand alone, of a photon map that follows from the one before."""
    if not renderer.progressive:
        raise ViewerError(option, f"program {renderer.settings.program} adds no samples", "take --program path")
    if "photons" in renderer.program().inputs:
        raise ViewerError(option, "photon maps of different samples follow each other", "leave it out")


def check_whole(stop: Stop, option: str) -> None:
    """Raise ViewerError where a rule looks at the picture while it is made."""
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
    """The film of a whole picture whose samples are summed in ranges of ``length``, which join the sum in their order:
    the bits of a farm's, whoever made which range.

    film : to go on from. state : where it is saved when that is due, and on Ctrl-C. Raises the errors of
    `check_ranges`.
    """
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
