"""The layers of a picture that are made beside it: path lengths apart, features, and the ray caster's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.film.device_film import Buffer, FilmBuffer
from raystream.film.layers import LAYERS, expanded, series
from raystream.film.stop import Stop
from raystream.kernels.light_layers import LIGHT_LAYERS, LIGHT_SUMS, VISIBILITY
from raystream.renderer.sampling.frame_plan import FramePlan, TileDone
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import Report, collect
from raystream.renderer.session.session import Session

HIDDEN_LAYERS = ("shadow", "occlusion")


def checked_layers(renderer: RendererParts, words: Sequence[str]) -> tuple[str, ...]:
    """The layers that words name. Raises ViewerError for one that the renderer's program does not have."""
    program, where = renderer.settings.picture_program, "take --program path"
    names = expanded(words, program.sorts_light)
    if "bounce" in names and not renderer.progressive:
        raise ViewerError("--layers bounce", f"program {program.name} adds no samples", where)
    if "bounce" in names and "photons" in renderer.program().inputs:
        raise ViewerError("--layers bounce", "photons of all path lengths count together in an estimate", where)
    for name in names if not program.sorts_light else ():
        if name in LAYERS and LAYERS[name].paths:
            raise ViewerError(f"--layers {name}", f"program {program.name} traces no paths", where)
    return names


def bounce_layers(
    renderer: RendererParts, size: tuple[int, int], samples: int, progress: Report | None = None
) -> dict[str, NDArray]:
    """A layer (H, W, 3) for each path length in surface interactions, of ``samples`` samples of every pixel."""
    layers: dict[str, NDArray] = {}
    for bounce, name in enumerate(series("bounce", renderer.settings.max_depth + 1)):

        def report(fraction: float, text: str, name: str = name) -> None:
            if progress is not None:
                progress(fraction, f"{name}: {text}")

        session = Session(renderer, size, Stop(samples), bounce=bounce)
        session.finish(progress=report)
        layers[name] = session.linear()
        session.release()
    return layers


def path_layers(
    renderer: RendererParts, film: FilmBuffer, layers: Mapping[str, NDArray], progress: Report | None = None
) -> set[str]:
    """Fill those of a picture's layers, arrays by name, that follow from the paths of its film; their names."""
    light = {name: layers[name] for name in LIGHT_LAYERS if name in layers}
    if light:
        light_layers(renderer, film, light, progress)
    hidden = {name: layers[name] for name in HIDDEN_LAYERS if name in layers}
    if hidden:
        visibility_layers(renderer, film, hidden, progress)
    return {*light, *hidden}


def sorts_light(renderer: RendererParts, layers: Mapping[str, NDArray]) -> bool:
    """Whether layers of light are among a new picture's, by name, and its own paths may be sorted into them."""
    if not renderer.progressive or layers.keys().isdisjoint(LIGHT_LAYERS):
        return False
    return renderer.sampler.sorts_light(renderer.settings, renderer.camera)


def light_layers(
    renderer: RendererParts, film: FilmBuffer, layers: dict[str, NDArray], progress: Report | None = None
) -> None:
    """Fill the layers of light, arrays by name, of the samples that a path traced film has: those sorted with it, or
    by the same paths once more."""
    if film.light is not None:
        with renderer.device.current():
            means(film.light, layers)
        return
    with renderer.device.current():
        sums = Buffer(renderer.device, LIGHT_SUMS, film.size)
    try:
        plan = FramePlan(renderer.settings, renderer.camera, film.size, samples=max(1, film.samples))
        for fraction in renderer.sampler.light_layers(plan, film, sums):
            if progress is not None:
                progress(fraction, "layers of light")
        with renderer.device.current():
            means(sums, layers)
    finally:
        with renderer.device.current():
            sums.release()


def means(sums: Buffer, layers: Mapping[str, NDArray]) -> None:
    """Fill layers (H, W, 3), fields of the sums' record by name, with the means of their samples."""
    totals = sums.fields((*layers, "count"))
    for name, layer in layers.items():
        np.divide(totals[name], np.maximum(totals["count"], 1)[..., None], out=layer)


def visibility_layers(
    renderer: RendererParts, film: FilmBuffer, layers: dict[str, NDArray], progress: Report | None = None
) -> None:
    """Fill ``shadow`` and ``occlusion``, arrays by name, of the samples that a path traced film has."""
    with renderer.device.current():
        buffer = Buffer(renderer.device, VISIBILITY, film.size)
    try:
        plan = FramePlan(renderer.settings, renderer.camera, film.size, samples=max(1, film.samples))
        requested = "shadow" in layers, "occlusion" in layers
        for fraction in renderer.sampler.visibility(plan, film, buffer, *requested):
            if progress is not None:
                progress(fraction, "shadow and occlusion")
        with renderer.device.current():
            sums = buffer.fields()
        if "shadow" in layers:
            lit = sums["light"] > 0
            np.divide(sums["hidden"], np.where(lit, sums["light"], 1), out=layers["shadow"])
        if "occlusion" in layers:
            np.divide(sums["near"], np.maximum(sums["count"], 1), out=layers["occlusion"])
    finally:
        with renderer.device.current():
            buffer.release()


def feature_layers(buffer: Buffer, layers: dict[str, NDArray]) -> None:
    """Fill the feature layers, arrays by name, with averages over the samples of a buffer of `FEATURES`, through the
    lens and the pixel filter of the picture: normal and albedo, to which a ray without a hit adds 0, and the depth of
    the hit."""
    with buffer.device.current():
        sums = buffer.read()
    count, hits = np.maximum(sums["count"], 1), sums["hits"]
    for name, layer in layers.items():
        if name == "depth":
            layer[...] = np.where(hits > 0, sums["depth"] / np.maximum(hits, 1), np.inf)
        else:
            layer[...] = sums[name] / count[..., None]


def cast_layers(
    renderer: RendererParts,
    size: tuple[int, int],
    layers: dict[str, NDArray],
    counting: bool,
    progress: Report | None = None,
) -> None:
    """Fill the ray caster's layers, arrays by name, beside a progressive program."""
    settings = renderer.settings.replace(program="cast")
    plan = FramePlan(settings, renderer.camera, size, layers=tuple(layers), counting=counting)
    for event in renderer.sampler.render_tiles(plan):
        if isinstance(event, TileDone):
            collect(event.tile, renderer.device, renderer.prepared, None, layers)
        if progress is not None:
            progress(event.share, "layers")
