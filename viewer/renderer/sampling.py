"""What a renderer's pictures are made of: samples added to a film until a rule says stop, layers, and facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viewer.film.checkpoint import CONTENT, Checkpoint
from viewer.film.film import Film
from viewer.film.layers import LAYERS, series
from viewer.film.stop import Stop
from viewer.renderer.picture import Picture, Report, Slice, collect
from viewer.stream.machines.counters import Stats

if TYPE_CHECKING:
    from viewer.renderer.renderer import Renderer

MOST_IN_RUN, RUN_SECONDS = 16, 0.5  # samples of a pixel, and time of one run

# Brings every pixel of a film to so many samples; yields as `Renderer.slices` does.
Run = Callable[[Film, int], Iterator[tuple[float, Slice | None]]]


def add_samples(
    run: Run,
    film: Film,
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
    started, number = perf_counter(), int(film.count.min())
    batch = 1
    while not (reason := stop.reason(number, perf_counter() - started, film if stop.looks(number) else None)):
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
            state.save(film)
        # Many samples in a run keep its passes full; few let rules, progress and Ctrl-C come in between.
        batch = max(1, min(MOST_IN_RUN, int(RUN_SECONDS / max(per_sample, 1e-6))))
    return reason


def fill(renderer: Renderer, film: Film, samples: int, counting: bool = False) -> Iterator[tuple[float, Slice | None]]:
    """Bring every pixel of the film to so many samples; yields as `Renderer.slices` does."""
    return renderer.slices(film.size, stats=counting, film=film, samples=samples)


def bounce_layers(renderer: Renderer, film: Film, progress: Report | None = None) -> dict[str, NDArray]:
    """A layer (H, W, 3) for each number of surfaces that light has come over, with the samples that ``film`` has."""
    made, settings = {}, renderer.settings
    rule = Stop(int(film.count.min()))
    try:
        for bounce, name in enumerate(series("bounce", int(renderer.resolved.depth or 0) + 1)):
            renderer.settings = replace(settings, bounce=bounce)
            part = Film(*film.size)
            add_samples(partial(fill, renderer), part, rule, Stats(), progress, text=f"{name}: ")
            made[name] = part.linear
    finally:
        renderer.settings = settings
    return made


def cast(
    renderer: Renderer,
    film: Film,
    layers: dict[str, NDArray],
    total: Stats,
    progress: Report | None = None,
    counting: bool = False,
) -> None:
    """The ray caster's picture, added to the film, and its layers; beside a program of samples the layers alone."""
    beside, chosen = renderer.samples, renderer.choices
    if beside:
        renderer.configure(program="cast")
    try:
        for done, part in renderer.slices(film.size, tuple(layers), counting):
            if part is not None:
                collect(part, renderer.device, renderer.prepared, None if beside else film, layers)
                if not beside:
                    total.add(part.machine.stats)
            if progress is not None:
                progress(done, "layers" if beside else f"rendering {film.size[0]} x {film.size[1]}")
    finally:
        renderer.choices = chosen


def make_picture(
    renderer: Renderer,
    film: Film,
    stop: Stop,
    names: Sequence[str] = (),
    counting: bool = False,
    progress: Report | None = None,
    state: Checkpoint | None = None,
) -> Picture:
    """The picture that a renderer makes as it stands, going on from a film, with layers of these names.

    counting : every pass. state : is saved when it is due, and on Ctrl-C where that is worth it.
    """
    began = perf_counter()
    width, height = film.size
    total, made, reason = Stats(), dict[str, NDArray](), ""
    plain = {name: LAYERS[name].empty(height, width) for name in names if name in LAYERS}
    if "triangle" in plain and renderer.prepared.starts[-1] > np.iinfo(np.int32).max:
        plain["triangle"] = plain["triangle"].astype(np.int64)
    try:
        if renderer.samples:
            reason = add_samples(partial(fill, renderer, counting=counting), film, stop, total, progress, state)
        if "bounce" in names:
            made = bounce_layers(renderer, film, progress)
        if plain or not renderer.samples:
            cast(renderer, film, plain, total, progress, counting)
    except KeyboardInterrupt:
        if state is not None and state.worth(film):
            state.save(film)
        raise
    facts = {"size": f"{width}x{height}", **picture_facts(renderer)}
    if renderer.samples:
        facts |= {"samples": int(film.count.min()), "stopped by": reason}
        if np.isfinite(error := film.error()):
            facts["estimated error"] = f"{error:.3g}"
    total.facts = {**facts, "seconds": perf_counter() - began}
    kept = (film, sample_settings(renderer)) if renderer.samples else ()
    return Picture(film.linear, {**plain, **made}, total, {key: str(value) for key, value in facts.items()}, *kept)


def sampling_facts(renderer: Renderer) -> dict[str, str]:
    """The settings of a program of samples, as texts."""
    chosen = {name: str(value) for name, value in vars(renderer.resolved).items() if name != "bounce"}
    return {
        **chosen,
        "sampler": renderer.choices.sampler,
        "seed": str(renderer.seed),
        "pixel_filter": renderer.pixel_filter,
        "environment": renderer.prepared.lighting.environment.name,
    }


def sample_settings(renderer: Renderer) -> dict[str, str]:
    """Everything that a sample depends on, beside pixel and number: what a picture to be resumed must agree in."""
    camera, recipe = renderer.camera, renderer.prepared.recipe
    return {
        "scene": renderer.scene.name,
        "program": renderer.choices.program,
        "camera": camera.text(),
        "fov": str(camera.fov),
        "lens": f"{camera.aperture} {camera.focus_distance}" if camera.aperture > 0 else "pinhole",
        **sampling_facts(renderer),
        "intersection": recipe.intersection + (f" {recipe.plane_slack}" if recipe.intersection == "planes" else ""),
        "levels": str(renderer.structure.levels),
        CONTENT: renderer.prepared.fingerprint,  # last: what a user has set is named first
    }


def picture_facts(renderer: Renderer) -> dict[str, Any]:
    """What a picture says of how it was made; of a program of samples with all settings."""
    from viewer.base.version import __version__

    return {
        "raystream": __version__,
        "scene": renderer.scene.name,
        "triangles": int(renderer.prepared.starts[-1]),
        **renderer.choices.facts(),
        "first_hits": renderer.first_hits.mode,
        "accel": renderer.structure.name,
        **renderer.structure.facts,
        "intersection": renderer.prepared.recipe.intersection,
        "camera": renderer.camera.text(),
        "fov": renderer.camera.fov,
        "renderer": renderer.device.name,
        **(sampling_facts(renderer) if renderer.samples else {}),
    }
