"""A picture with its layers: a session until a rule says stop, and results beside its samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel.structures import ON_DEVICE
from raystream.base.errors import DriverWarning, ViewerError, stack_level
from raystream.base.part_file import is_stream
from raystream.film.device_film import Buffer
from raystream.film.error import Stop, stop_of
from raystream.film.files.checkpoint import DRIVER, Checkpoint
from raystream.film.files.checkpoint import resume as resumed
from raystream.film.film import Film
from raystream.film.layers import LAYERS, NOISY, WORDS
from raystream.options.picture import BEST_STATE, DEFAULT_QUALITY
from raystream.options.table import OPTIONS, check, keywords
from raystream.renderer.device.footprint import check_memory
from raystream.renderer.inputs.camera import fitted, view_notes
from raystream.renderer.inputs.hit_attributes import PosedFrame
from raystream.renderer.inputs.settings import NAMES, Settings, unknown_keyword
from raystream.renderer.layers import (
    HIT_FIELDS,
    HitLayers,
    bounce_layers,
    can_sort_light,
    checked_layers,
    write_cast_layers,
    write_feature_layers,
    write_path_layers,
)
from raystream.renderer.sampling.denoising import (
    DEFAULT_TOLERANCE,
    TOLERANCE,
    check_denoiser,
    denoised,
    denoiser_of,
    feature_samples,
    features_of,
)
from raystream.renderer.sampling.partial_film import FilmPart, check_fixed_samples, check_ranges, film_by_ranges
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import FEATURE_LAYERS, Picture, Report
from raystream.renderer.sampling.picture_metadata import picture_facts, sample_settings
from raystream.renderer.session.session import Session
from raystream.stream.machines.counters import Stats

RENDER_KEYWORDS = (*keywords("render"), "stats", "progress", "film", "state")
DEFAULT = {name: entry.value.default for name, entry in OPTIONS.items()}


@dataclass(frozen=True)
class PictureRequest:
    """The checked arguments of `raystream.Renderer.render`, which documents them."""

    size: tuple[int, int]
    stop: Stop
    layers: Sequence[str] = ()
    counting: bool = False
    sample_range: int | None = None
    resume: str | None = None
    film: Film | None = None
    state: Checkpoint | None = None
    denoiser: str = "none"
    denoises_display: bool = False  # 8-bit files and notebooks show it denoised, and ``linear`` keeps its noise


def check_keywords(names: Iterable[str]) -> None:
    """Raises ViewerError for a keyword that ``render`` does not know."""
    for name in names:
        if name in NAMES:
            raise ViewerError(f"keyword '{name}'", "belongs to Renderer and its update, not to render")
        raise unknown_keyword(name, "render", RENDER_KEYWORDS)


def picture_request(
    renderer: RendererParts,
    size: tuple[int, int] | str,
    layers: Sequence[str] | str,
    limits: Mapping[str, Any],
    continuation: Mapping[str, Any],
    denoise: str | bool | None = None,
    stats: bool = False,
    state: Checkpoint | None = None,
) -> PictureRequest:
    """The checked arguments of `raystream.Renderer.render`.

    limits : spp, time, error and quality. continuation : resume, sample_range and film. denoise : None: by the
    renderer's settings.

    Raises ViewerError for values out of range, and for those that the program, its denoiser or the memory do not allow.
    """
    names = checked_layers(renderer, check("layers", layers, WORDS))
    if not isinstance(stats, (bool, np.bool_)):
        raise ViewerError(f"stats={stats!r:.60}", "expected True or False")
    continuation = {k: value if k == "film" else check(k, value) for k, value in continuation.items()}
    pixels: tuple[int, int] = check("size", size)
    settings = renderer.settings if denoise is None else renderer.settings.replace(denoise=denoise)
    quality = limits["quality"] if renderer.progressive else None
    by_default = renderer.progressive and all(value is None for value in (*limits.values(), *continuation.values()))
    denoiser = denoiser_of(settings, DEFAULT_QUALITY if by_default else quality)
    stop = stop_of(**limits, tolerance=TOLERANCE.get(denoiser, DEFAULT_TOLERANCE))
    denoises_display = by_default and settings.denoise == "auto"
    request = PictureRequest(
        pixels,
        stop,
        names,
        bool(stats),
        **continuation,
        state=state,
        denoiser=denoiser,
        denoises_display=denoises_display,
    )
    _check_request(renderer, request, settings)
    return request


def _check_request(renderer: RendererParts, request: PictureRequest, settings: Settings) -> None:
    """Raises ViewerError for a request that the renderer's program, its denoiser or the memory do not allow."""
    progressive = renderer.progressive
    if request.sample_range is not None:
        check_ranges(renderer, "--sample-range")
        check_fixed_samples(request.stop, "--sample-range")
    if not progressive and request.resume is not None:
        raise ViewerError("--resume", f"program {settings.program} adds no samples", "take --program path")
    check_denoiser(settings, progressive)
    check_memory(request.size, progressive, request.layers, renderer.device.software, settings.max_depth + 1)


def render_picture(renderer: RendererParts, request: PictureRequest, progress: Report | None = None) -> Picture:
    """Render the requested picture with its layers. Raises ViewerError for a file that cannot be resumed."""
    film, state, drivers = request.film, request.state, renderer.device.driver
    if film is None and request.resume is not None:
        film, drivers = resumed_film(renderer, request.resume, request.size, state)
    layers: dict[str, NDArray] = {
        name: LAYERS[name].empty(*request.size[::-1]) for name in request.layers if name in LAYERS
    }
    if "triangle" in layers and renderer.prepared.starts[-1] > np.iinfo(np.int32).max:
        layers["triangle"] = layers["triangle"].astype(np.int64)
    sampled_layers = layers if renderer.progressive else {}
    hit_layers = HitLayers(renderer.prepared, layers, request.size, renderer.progressive)
    range_stats: Stats | None = None
    if request.sample_range is not None:
        range_stats = Stats()
        film = film_by_ranges(
            renderer,
            FilmPart(request.size, request.stop.spp),
            request.sample_range,
            film,
            state=state,
            stats=range_stats,
            progress=progress,
        )
    session = Session(
        renderer,
        request.size,
        request.stop,
        film=film,
        state=state,
        counting=request.counting,
        layers={} if renderer.progressive else hit_layers.cast_layers(layers),
        sorts_light=film is None and not request.counting and can_sort_light(renderer, layers),
    )
    try:
        if range_stats is not None:
            session.stats.add(range_stats)
        session.finish(progress=progress)
        with session.saving():
            if "bounce" in request.layers:
                layers = {**layers, **bounce_layers(renderer, session.size, session.samples, progress)}
            features = {name: layers[name] for name in FEATURE_LAYERS if name in sampled_layers}
            denoiser = request.denoiser
            clean = _features(renderer, session, features, hit_layers, denoiser, progress) if session.samples else None
            film_buffer, written = session.convergence.film.buffer, {*features, "samples"}
            if film_buffer:
                written |= write_path_layers(renderer, film_buffer, sampled_layers, progress)
            unwritten = {name: layer for name, layer in sampled_layers.items() if name not in written}
            cast = hit_layers.cast_layers(unwritten) if renderer.progressive else {}
            if cast:
                write_cast_layers(renderer, request.size, cast, request.counting, progress)
        picture = session.picture(request.denoiser)
        samples = np.ones(request.size[::-1], np.int32) if picture.film is None else picture.film.count
        hit_layers.write(renderer.camera, samples, renderer.last_frame() if renderer.last_frame is not None else None)
        if "motion" in layers:
            renderer.last_frame = partial(PosedFrame, renderer.prepared.scene, renderer.camera)
        if "samples" in sampled_layers and picture.film is not None:
            layers["samples"] = picture.film.count.astype(np.int32)
    finally:
        session.release()
    if clean is not None and request.denoises_display:
        picture.shown = clean, request.denoiser
    elif clean is not None:
        layers[NOISY.name], picture.linear = picture.linear, clean
        picture.metadata["denoised"] = picture.stats.facts["denoised"] = request.denoiser
    picture.layers, picture.metadata[DRIVER] = layers, drivers
    picture.metadata |= hit_layers.metadata()
    picture.layer_remarks = hit_layers.remarks()
    return picture


@contextmanager
def framed(renderer: RendererParts, size: tuple[int, int]) -> Iterator[None]:
    """A context in which the renderer's camera, where it is the default view, frames the scene for pictures of ``size``
    (width, height)."""
    camera = renderer.camera
    renderer.camera = fitted(camera, renderer.settings, renderer.prepared.scene, size)
    try:
        yield
    finally:
        renderer.camera = camera


def remarks_on(renderer: RendererParts) -> list[str]:
    """Remarks for the user, as of `raystream.Renderer.notes`."""
    settings, camera, prepared, device = renderer.settings, renderer.camera, renderer.prepared, renderer.device
    gpu_scene = renderer.gpu_scene
    notes = [device.remark] if device.remark else []
    notes += [*gpu_scene.first_hits(settings, camera).notes, *gpu_scene.fallbacks(settings)]
    if not renderer.progressive and (prepared.moving or camera.motion):
        notes.append(f"program {settings.program} shows the moment at which the shutter opens")
    notes += view_notes(settings, camera)
    if settings.rebuild == ON_DEVICE and prepared.structure.name != "grid":
        notes.append(f"--rebuild {ON_DEVICE} serves --accel grid alone, and not {prepared.structure.name}")
    states = gpu_scene.program(settings, "rays").states
    has_lighting = any("environment_radiance" in state.kernel.needs for state in states)
    return [*notes, *(prepared.lighting.notes if has_lighting else [])]


def checkpoint_of(renderer: RendererParts, path: str | Path) -> Checkpoint | None:
    """The state file of a render to ``path``, as of `raystream.Renderer.checkpoint`."""
    if not renderer.progressive or is_stream(path):
        return None
    facts = {key: str(value) for key, value in picture_facts(renderer).items()}
    return Checkpoint(path, sample_settings(renderer), facts)


def centre_layers(renderer: RendererParts, size: tuple[int, int], names: Sequence[str]) -> dict[str, NDArray]:
    """Layers of hits and surfaces, by their ``names`` in `raystream.film.layers.LAYERS`, of ``size`` (width, height),
    at the pixels' centres: by the ray caster, whatever the program."""
    layers: dict[str, NDArray] = {name: LAYERS[name].empty(*size[::-1]) for name in names}
    hit_layers = HitLayers(renderer.prepared, layers, size, False)
    write_cast_layers(renderer, size, hit_layers.cast_layers(layers), False)
    hit_layers.write(renderer.camera, np.ones(size[::-1], np.int32))
    return layers


def resumed_film(
    renderer: RendererParts, path: str, size: tuple[int, int], state: Checkpoint | None
) -> tuple[Film | None, str]:
    """The film of the file at ``path`` to resume, and the drivers of its samples and this device's.

    path : auto is the state file of a stopped render with that ``state``, if there is one; else there is no film.
    Raises ViewerError for a file of another picture.
    """
    if path == BEST_STATE:
        if state is None:
            raise ViewerError("--resume auto", "needs a state to look for", "give state=renderer.checkpoint(path)")
        best, _, _ = state.find(size)
        if best is None:
            return None, renderer.device.driver
        path = str(best)
    film = resumed(path, size, sample_settings(renderer))
    drivers = _drivers(path, film.drivers, renderer.device.driver)
    if state is not None:
        state.use(path)
        state.metadata[DRIVER] = drivers
    return film, drivers


def _features(
    renderer: RendererParts,
    session: Session,
    layers: dict[str, NDArray],
    hit_layers: HitLayers,
    denoiser: str,
    progress: Report | None,
) -> NDArray[np.float32] | None:
    """Write the feature ``layers`` of a session's samples; returns the denoised picture (H, W, 3), None without
    denoiser. Layers are means over all samples, without the invisible floor of shadows; a denoiser needs fewer samples,
    and the floor. hit_layers : counts each sample's hits, if it does so."""
    film, denoises = session.convergence.film.buffer, denoiser != "none"
    if film is None:
        return None
    guide_samples, on_sample = feature_samples(session.samples), None
    if layers or hit_layers.counts_samples:
        samples = session.samples if layers else guide_samples
        if hit_layers.counts_samples:
            with renderer.device.current():
                counts = film.fields(("count",))["count"]
            samples = int(counts.max())

            def on_sample(buffer: Buffer, sample: int) -> None:
                hit_layers.count_sample(buffer.fields(HIT_FIELDS), counts > sample)

        backdrop = renderer.prepared.lighting.backdrop
        suits_denoiser = (backdrop is None or backdrop.floor is None) and not renderer.prepared.surfaces.blend
        with features_of(renderer, session.size, samples, progress, on_sample, floor=False) as features:
            if layers:
                write_feature_layers(features, layers)
            if denoises and suits_denoiser:
                return denoised(renderer, film, features, denoiser)
    if not denoises:
        return None
    with features_of(renderer, session.size, guide_samples, progress, layered=True) as features:
        return denoised(renderer, film, features, denoiser)


def _drivers(path: str, before: str, now: str) -> str:
    """The names of the drivers of a resumed picture's samples, joined by "; ". before : those in its file; empty
    where it has none. now : this device's. Warns where that is another one."""
    names = before.split("; ") if before else []
    if names and now not in names:
        text = f"{path}: rendered by {before} so far, and now by {now}: as good a picture, but with bits of its own"
        warnings.warn(text, DriverWarning, stacklevel=stack_level())
    return "; ".join(dict.fromkeys([*names, now]))
