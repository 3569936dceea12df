"""Pictures and animation frames rendered by the workers of a cluster."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from raystream.base.errors import ViewerError
from raystream.dataset.picture import FinishedPicture
from raystream.dataset.stage import DatasetStage
from raystream.farm import worker
from raystream.farm.cluster import connected
from raystream.farm.task_scheduler import Task, TaskScheduler
from raystream.farm.units import RANGE_SAMPLES, Unit, sample_units, tile_side, tile_units
from raystream.farm.worker import RendererSpec, Traced
from raystream.film.error import Halves, stop_of
from raystream.film.files.checkpoint import DRIVER, Checkpoint
from raystream.film.film import Film
from raystream.formats.image.environment_maps import resolve_environment
from raystream.formats.objects import scene_from
from raystream.options import table as options
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.render import RENDER_KEYWORDS, framed, resumed_film
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.partial_film import FilmPart, check_fixed_samples, check_ranges
from raystream.renderer.sampling.picture import Picture
from raystream.renderer.sequence import Frame, FrameSequence
from raystream.scene.environment import ImageEnvironment
from raystream.scene.scene import Scene
from raystream.stream.machines.counters import Stats

# -- merging of units' films into the picture's, in any order of arrival -----------------------------------------------
# A merger's film can be resumed at any time.

Merger = Generator[None, tuple[int, Unit, Film], None]  # receives a unit's index, the unit and its film


def merge_tiles(picture_film: Film) -> Merger:
    """Merges films of tiles into the picture's; on close, also the halves of the samples if all tiles have them."""
    halves: list[tuple[Unit, Halves]] = []
    try:
        while True:
            _, unit, film = yield
            picture_film.store(film.records(), unit.left, unit.top)
            if film.halves is not None:
                halves.append((unit, film.halves))
    finally:
        picture_film.halves = _merged_halves(picture_film, halves)


def merge_ranges(picture_film: Film) -> Merger:
    """Merges films of ranges of samples into the picture's, in the order of their indices."""
    pending: dict[int, Film] = {}  # films whose predecessors have not arrived
    next_index = 0
    while True:
        index, _, film = yield
        pending[index] = film
        while next_index in pending:
            picture_film.join(pending.pop(next_index))
            next_index += 1


def _merged_halves(picture_film: Film, tile_halves: list[tuple[Unit, Halves]]) -> Halves | None:
    """The halves of a picture from its tiles': differences and variances are means over pixels. None if tiles lack
    them, or began with different sample counts."""
    total, count = np.zeros_like(picture_film.square), np.zeros_like(picture_film.count)
    for unit, halves in tile_halves:
        total[unit.region], count[unit.region] = halves.sum, halves.count
    counts = picture_film.count
    if not count.size or count.min() == 0 or count.min() < count.max() or counts.min() < counts.max():
        return None
    weights = [unit.width * unit.height / count.size for unit, _ in tile_halves]
    tiles = [halves for _, halves in tile_halves]
    differences = _weighted_sums([halves.differences for halves in tiles], weights)
    variances = _weighted_sums([halves.variances for halves in tiles], weights)
    return Halves(total, count, differences, variances, _relative_std_errors(tiles, weights, variances))


def _weighted_sums(tables: list[dict[int, float]], weights: list[float]) -> dict[int, float]:
    """The sums of weight times value, for each level that all tables have."""
    pairs = [*zip(weights, tables, strict=True)]
    return {level: sum(weight * table[level] for weight, table in pairs) for level in _common_levels(tables)}


def _common_levels(tables: list[dict[int, float]]) -> list[int]:
    """The levels, sorted, that all tables have."""
    return sorted(set.intersection(*map(set, tables)))


def _relative_std_errors(tiles: list[Halves], weights: list[float], variances: dict[int, float]) -> dict[int, float]:
    """By level, the relative standard error of the root of the picture's variance: tiles' errors are independent."""
    result = {}
    for level in _common_levels([halves.relative_std_errors for halves in tiles]):
        errors = [
            weight * halves.variances[level] * halves.relative_std_errors[level]
            for weight, halves in zip(weights, tiles, strict=True)
        ]
        result[level] = math.hypot(*errors) / variances[level] if variances[level] > 0 else 0.0
    return result


# -- pictures and animation frames rendered by the workers of a cluster ------------------------------------------------

Report = Callable[[float | None, str], None]


def render(
    scene: Any, cluster: str = "local", unit: str = "tiles", mix_builds: bool = False, **arguments: Any
) -> Picture:
    """A picture by the workers of a cluster, with the bits of one process.

    scene   : as of `raystream.render`.
    cluster : ``local`` (as many processes as cores), ``local:N``, the address of a scheduler of dask.distributed, or
              its file.
    unit    : ``tiles`` of the picture, or ranges of ``samples``, with the bits of ``sample_range`` in one process.
    mix_builds : accept workers of different versions and drivers.
    arguments : options of `Renderer` and of `Renderer.render`, except ``time`` and ``error``.

    Like all code that starts processes, a calling script needs ``if __name__ == "__main__":``.

    Raises ViewerError for a wrong option, an unresponsive scheduler, and workers of different builds.
    """
    resolved = scene_from(scene, arguments)
    render_keywords = {name: arguments.pop(name) for name in RENDER_KEYWORDS if name in arguments}
    renderer = Renderer(resolved, **arguments)
    try:
        return render_on(renderer, cluster, unit, mix_builds, **render_keywords)
    finally:
        renderer.release()


def render_on(
    renderer: Renderer,
    cluster: str,
    unit: str = "tiles",
    mix_builds: bool = False,
    *,
    resume: str | None = None,
    state: Checkpoint | None = None,
    progress: Report | None = None,
    notify: Callable[[str], None] | None = None,
    on_unit: Callable[[Unit, Traced, float], None] | None = None,
    **render_keywords: Any,
) -> Picture:
    """`render` with the scene and settings of a renderer. notify : called with remarks on workers. on_unit : called
    with each finished unit, its result, and the seconds from its assignment to its end. Samples come from the cluster;
    layers and the denoiser's features are made here."""
    size = options.check("size", render_keywords.get("size", options.OPTIONS["size"].value.default))
    stop = stop_of(
        render_keywords.get("spp"),
        render_keywords.get("time"),
        render_keywords.get("error"),
        render_keywords.get("quality"),
    )
    length = options.check("sample_range", render_keywords.pop("sample_range", None))
    if options.check("unit", unit) == "samples":
        check_ranges(renderer, "--unit samples")
    elif length is not None:
        raise ViewerError("--sample-range", "the cluster's units are tiles", "add --unit samples")
    if not renderer.progressive:
        what = f"program {renderer.settings.program} adds no samples"
        raise ViewerError("--cluster", what, "leave it out, or take --program path")
    check_fixed_samples(stop, "--cluster")
    with framed(renderer, size):
        film, earlier_drivers = (None, "") if resume is None else resumed_film(renderer, resume, size, state)
        workers = Workers(cluster, mix_builds, notify, on_unit)
        ranged = (length or RANGE_SAMPLES) if unit == "samples" else None
        film, stats, drivers = _render_units(renderer, FilmPart(size, stop.spp), film, workers, ranged, state, progress)
        picture = renderer.render(film=film, state=state, progress=progress, **render_keywords)
    picture.stats.add(stats)
    earlier = [name for name in earlier_drivers.split("; ") if name and name != renderer.device.driver]
    picture.metadata[DRIVER] = "; ".join(dict.fromkeys([*earlier, *drivers])) or earlier_drivers
    return picture


class Workers(NamedTuple):
    """The workers of a picture, see `render_on`; mixed : of different builds."""

    cluster: str
    mixed: bool
    notify: Callable[[str], None] | None
    on_unit: Callable[[Unit, Traced, float], None] | None


def _render_units(
    renderer: Renderer,
    part: FilmPart,
    film: Film | None,
    workers: Workers,
    length: int | None,
    state: Checkpoint | None,
    progress: Report | None,
) -> tuple[Film, Stats, list[str]]:
    """Render a picture's missing samples on the workers: its film, the statistics of the runs, and the drivers of the
    samples. film : to go on from. length : samples of a unit; None: units are tiles."""
    size, samples, stats = part.size, part.samples, Stats()
    merged = Film(*size) if film is None else film
    if merged.count.min() >= samples:
        return merged, stats, []
    merged.halves = merged.sample_budget = None  # of samples one after the other
    if progress is not None:
        progress(None, "starting workers")
    with connected(workers.cluster) as client:
        scheduler = TaskScheduler(client, mixed=workers.mixed, notify=workers.notify)
        settings, environment = portable_settings(renderer.settings)
        scene = scheduler.add_payload(renderer.prepared.given, environment)
        spec = RendererSpec(scene, settings, renderer.camera)
        if length is not None:
            units = list(sample_units(size, int(merged.count.min()), samples, length))
        else:
            count = max(1, len(client.nthreads()))
            units = list(tile_units(size, samples, tile_side(size, count), film))
        tasks = [Task(k, str(unit), worker.trace, (spec, size, unit), unit.cost) for k, unit in enumerate(units)]
        total_cost, done_cost = sum(unit.cost for unit in units), 0.0
        merger = (merge_tiles if length is None else merge_ranges)(merged)
        next(merger)  # to its first yield
        try:
            for task, traced in scheduler.run(tasks, scene):
                unit: Unit = units[task.index]
                stats.add(traced.stats)
                done_cost += unit.cost
                if workers.on_unit is not None:
                    workers.on_unit(unit, traced, scheduler.seconds[task.index])
                merger.send((task.index, unit, traced.film))
                if progress is not None:
                    fraction = done_cost / total_cost
                    progress(fraction, _progress_text(length is None, scheduler, len(units), fraction))
                if state is not None and state.due() and merged.count.any():
                    state.save(merged)
        except (KeyboardInterrupt, ViewerError) as stop:
            if state is not None and merged.count.any():
                state.save(merged)
                if isinstance(stop, ViewerError):
                    hint = f"{stop.hint}; then go on with --resume {shlex.quote(str(state.path))}"
                    raise ViewerError(stop.where, stop.what, hint) from stop
            raise
        merger.close()
        return merged, stats, scheduler.drivers()


def portable_settings(settings: Settings) -> tuple[Settings, ImageEnvironment | None]:
    """The settings for other machines, and the environment sent once as a picture, in place of its file's name or out
    of the settings."""
    value = settings.environment
    named = isinstance(value, str) and value not in ("none", "sky", "studio")
    resolved = resolve_environment(value)[0] if named else value
    if isinstance(resolved, ImageEnvironment):
        return settings.replace(environment=None), resolved
    return settings, None


def _progress_text(tiled: bool, scheduler: TaskScheduler, units: int, fraction: float) -> str:
    kind = "tiles" if tiled else "ranges"
    return f"{round(fraction * units)} of {units} {kind}, {len(scheduler.workers)} workers"


def render_frames(
    scene: Scene,
    frames: range,
    fps: float = 30.0,
    turntable: bool = False,
    camera: Any = None,
    render: dict[str, Any] | None = None,
    progress: Report | None = None,
    *,
    shutter: tuple[float, float] | str | None = None,
    motion_keys: int | str = "auto",
    cluster: str = "local",
    mix_builds: bool = False,
    films: bool = False,
    notify: Callable[[str], None] | None = None,
    **arguments: Any,
) -> Generator[Frame, None, None]:
    """`raystream.render_frames` by the workers of a cluster: a frame is a unit; frames arrive in their order. cluster,
    mix_builds : as of `render`. films : keep the frames' films, for .exr."""
    size = {name: value for name, value in (render or {}).items() if name == "size"}
    exposure: dict[str, Any] = {"shutter": shutter, "motion_keys": motion_keys}
    motion = FrameSequence(scene, frames, fps, turntable, camera, arguments, **size, **exposure)
    settings, environment = portable_settings(Settings(**arguments))
    if progress is not None:
        progress(None, "starting workers")
    with connected(cluster) as client:
        scheduler = TaskScheduler(client, mixed=mix_builds, notify=notify)
        scene_key = scheduler.add_payload(scene, environment)
        spec = RendererSpec(scene_key, settings)
        tasks = [
            Task(k, f"frame {index}", worker.frame, (spec, motion, render or {}, k, films))
            for k, index in enumerate(frames)
        ]
        pending: dict[int, Frame] = {}
        next_index = 0
        for done, (task, frame) in enumerate(scheduler.run(tasks, scene_key), 1):
            pending[task.index] = frame
            if progress is not None:
                progress(done / len(tasks), f"{done} of {len(tasks)} frames, {len(scheduler.workers)} workers")
            while next_index in pending:
                yield pending.pop(next_index)
                next_index += 1


def render_dataset(
    stage: DatasetStage,
    indices: Sequence[int],
    cluster: str,
    mix_builds: bool = False,
    notify: Callable[[str], None] | None = None,
) -> Iterator[FinishedPicture]:
    """The pictures of these indices, in any order. cluster, mix_builds : as of `raystream.farm.render`. notify : called
    with remarks on workers."""
    with connected(cluster) as client:
        scheduler = TaskScheduler(client, mixed=mix_builds, notify=notify)
        stage_key = scheduler.add_payload(stage)
        tasks = [Task(k, f"picture {k}", worker.dataset_picture, (stage_key, k)) for k in indices]
        for _, picture in scheduler.run(tasks, stage_key):
            yield picture
