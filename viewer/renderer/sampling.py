"""What a tracer's pictures are made of: samples added to a film until a rule says stop, layers, and facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.film.buffers import FilmBuffer
from viewer.film.checkpoint import CONTENT, Checkpoint
from viewer.film.film import Film
from viewer.film.layers import LAYERS, series
from viewer.film.stop import Stop
from viewer.options.declare import Affects
from viewer.options.table import OPTIONS
from viewer.renderer.picture import Picture, Report, collect
from viewer.renderer.pieces import Slice
from viewer.renderer.settings import VIEW
from viewer.renderer.tracer import Tracer
from viewer.stream.machines.counters import Stats

MOST_IN_RUN, RUN_SECONDS = 16, 0.5  # samples of a pixel, and time of one run

# Brings every pixel of a film to so many samples; yields as `Tracer.slices` does.
Run = Callable[[FilmBuffer, int], Iterator[tuple[float, Slice | None]]]


def add_samples(
    run: Run,
    film: FilmBuffer,
    stop: Stop,
    stats: Stats,
    progress: Report | None = None,
    state: Checkpoint | None = None,
    text: str = "",
) -> str:
    """Add samples until a rule says stop, and return its name.

    stats : gets the counters of all runs. state : is saved when it is due. text : goes before the progress's "sample 3
    of 32".
    """
    started, number = perf_counter(), film.samples
    batch = 1
    while True:
        with film.device.current():
            reason = stop.reason(number, perf_counter() - started, film if stop.looks(number) else None)
        if reason:
            return reason
        target, began = min(stop.spp, number + batch), perf_counter()
        for done, part in run(film, target):
            if part is not None:
                stats.add(part.machine.stats)
            if progress is not None:
                shown = number + done * (target - number)
                sample = min(int(shown) + 1, target)
                progress(stop.share(shown, perf_counter() - started), f"{text}sample {sample} of {stop.spp}")
        per_sample = (perf_counter() - began) / (target - number)
        number = target
        if state is not None and state.due():
            with film.device.current():
                read = film.film()
            state.save(read)
        # Many samples in a run keep its passes full; few let rules, progress and Ctrl-C come in between.
        batch = max(1, min(MOST_IN_RUN, int(RUN_SECONDS / max(per_sample, 1e-6))))


def fill(
    tracer: Tracer, film: FilmBuffer, samples: int, counting: bool = False, bounce: int | None = None
) -> Iterator[tuple[float, Slice | None]]:
    """Bring every pixel of the film to so many samples; yields as `Tracer.slices` does."""
    return tracer.slices(film.size, stats=counting, film=film, samples=samples, bounce=bounce)


def bounce_layers(tracer: Tracer, film: Film, progress: Report | None = None) -> dict[str, NDArray]:
    """A layer (H, W, 3) for each path length in surface interactions, with the samples that ``film`` has."""
    made = {}
    rule = Stop(int(film.count.min()))
    for bounce, name in enumerate(series("bounce", tracer.settings.max_depth + 1)):
        with tracer.device.current():
            part = FilmBuffer(tracer.device, film.size)
        add_samples(partial(fill, tracer, bounce=bounce), part, rule, Stats(), progress, text=f"{name}: ")
        with tracer.device.current():
            made[name] = part.film().linear
            part.release()
    return made


def cast(
    tracer: Tracer,
    film: Film,
    layers: dict[str, NDArray],
    total: Stats,
    progress: Report | None = None,
    counting: bool = False,
) -> None:
    """The ray caster's picture, added to the film, and its layers; beside a progressive program the layers alone."""
    beside = tracer.progressive
    settings = tracer.settings.replace(program="cast") if beside else tracer.settings
    for done, part in tracer.slices(film.size, tuple(layers), counting, settings=settings):
        if part is not None:
            collect(part, tracer.device, tracer.prepared, None if beside else film, layers)
            if not beside:
                total.add(part.machine.stats)
        if progress is not None:
            progress(done, "layers" if beside else f"rendering {film.size[0]} x {film.size[1]}")


def make_picture(
    tracer: Tracer,
    film: Film,
    stop: Stop,
    names: Sequence[str] = (),
    counting: bool = False,
    progress: Report | None = None,
    state: Checkpoint | None = None,
) -> Picture:
    """The picture that a tracer makes as it stands, going on from a film, with layers of these names.

    counting : every pass. state : is saved when it is due, and on Ctrl-C where that is worth it.
    """
    began = perf_counter()
    width, height = film.size
    total, made, reason = Stats(), dict[str, NDArray](), ""
    plain = {name: LAYERS[name].empty(height, width) for name in names if name in LAYERS}
    if "triangle" in plain and tracer.prepared.starts[-1] > np.iinfo(np.int32).max:
        plain["triangle"] = plain["triangle"].astype(np.int64)
    try:
        if tracer.progressive:
            with tracer.device.current():
                buffer = FilmBuffer(tracer.device, film.size, film)
            try:
                reason = add_samples(partial(fill, tracer, counting=counting), buffer, stop, total, progress, state)
            finally:  # on Ctrl-C, too: what there is may be saved
                with tracer.device.current():
                    film = buffer.film()
                    buffer.release()
        if "bounce" in names:
            made = bounce_layers(tracer, film, progress)
        if plain or not tracer.progressive:
            cast(tracer, film, plain, total, progress, counting)
    except KeyboardInterrupt:
        if state is not None and state.worth(film):
            state.save(film)
        raise
    facts = {"size": f"{width}x{height}", **picture_facts(tracer)}
    if tracer.progressive:
        facts |= {"samples": int(film.count.min()), "stopped by": reason}
        if np.isfinite(error := film.error()):
            facts["estimated error"] = f"{error:.3g}"
    total.facts = {**facts, "seconds": perf_counter() - began}
    kept = (film, sample_settings(tracer)) if tracer.progressive else ()
    return Picture(film.linear, {**plain, **made}, total, {key: str(value) for key, value in facts.items()}, *kept)


def sampling_facts(tracer: Tracer) -> dict[str, str]:
    """The settings that samples depend on, as texts: all options that affect what a sample is, but for the view."""
    settings = tracer.settings
    decided = {
        "depth": settings.max_depth,
        "offsets": "sample" if tracer.first_hits.shared else "pixel",
    }
    found = {}
    for name, value in settings.items():
        option = OPTIONS[name]
        if option.affects in (Affects.UNIFORMS, Affects.PROGRAM) and name not in (*VIEW, "program"):
            if name == "environment_rotation" and value == option.default:
                continue  # files from before it was told apart
            found[name] = str(decided.get(name, value))
    return {**found, "environment": tracer.prepared.lighting.environment.name}


def sample_settings(tracer: Tracer) -> dict[str, str]:
    """Everything that a sample depends on, beside pixel and number: what a picture to be resumed must agree in."""
    camera, recipe = tracer.camera, tracer.prepared.recipe
    return {
        "scene": tracer.scene.name,
        "program": tracer.settings.program,
        "camera": camera.text(),
        "fov": str(camera.fov),
        "lens": f"{camera.aperture} {camera.focus_distance}" if camera.aperture > 0 else "pinhole",
        **sampling_facts(tracer),
        "intersection": recipe.intersection + (f" {recipe.plane_slack}" if recipe.intersection == "planes" else ""),
        "levels": str(tracer.structure.levels),
        CONTENT: tracer.prepared.fingerprint,  # last: what a user has set is named first
    }


def picture_facts(tracer: Tracer) -> dict[str, Any]:
    """What a picture says of how it was made; of a progressive program with all settings."""
    from viewer.base.version import __version__

    return {
        "raystream": __version__,
        "scene": tracer.scene.name,
        "triangles": int(tracer.prepared.starts[-1]),
        **tracer.settings.facts(),
        "first_hits": tracer.first_hits.mode,
        "accel": tracer.structure.name,
        **tracer.structure.facts,
        "intersection": tracer.prepared.recipe.intersection,
        "camera": tracer.camera.text(),
        "fov": tracer.camera.fov,
        "renderer": tracer.device.name,
        **(sampling_facts(tracer) if tracer.progressive else {}),
    }
