"""The renderer: a scene, settings and a machine become whole pictures; the heart of the Python interface."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from inspect import Signature, cleandoc
from pathlib import Path
from typing import Never

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import DriverWarning, ViewerError
from viewer.base.lock import exclusive
from viewer.base.textfile import is_stream
from viewer.film.error.stop import Stop
from viewer.film.files.checkpoint import DRIVER, Checkpoint
from viewer.film.files.checkpoint import resume as resumed
from viewer.film.files.states import AUTO
from viewer.film.film import Film
from viewer.film.layers import LAYERS, NOISY, SERIES
from viewer.options import table as options
from viewer.options.declare import suggestion
from viewer.options.docs import docstring, signature
from viewer.programs import PICTURES
from viewer.renderer.device.footprint import check_memory
from viewer.renderer.inputs.settings import NAMES
from viewer.renderer.layers import bounce_layers, cast_layers, feature_layers
from viewer.renderer.sampling.denoising import MOST_FEATURES, UNASKED, check_denoiser, denoised, features_of
from viewer.renderer.sampling.partial_film import check_ranges, check_whole, film_by_ranges
from viewer.renderer.sampling.picture import FEATURE_LAYERS, Picture, Report
from viewer.renderer.sampling.picture_metadata import picture_facts, sample_settings
from viewer.renderer.sampling.sampler import Tracer
from viewer.renderer.session.session import Session
from viewer.stream.machines.counters import Stats

RENDER_KEYWORDS = (*options.keywords("render"), "stats", "progress", "film", "state")
DEFAULT = {name: entry.default for name, entry in options.OPTIONS.items()}


class Renderer(Tracer):
    """Renders pictures of one scene. Every option of ``raystream render`` is a keyword of the same name, here and of
    `update`, or of `render`.

    scene    : a `Scene`, the name of a file or of a built-in scene as of `viewer.load`, or a scene that is
               `viewer.renderer.inputs.prepared.prepare`d; the options by which it was prepared then hold. Scenes are
               values: what was given is read once, and `update` shows another one.
    settings : a `Settings` in place of, or under, the keywords.
    device   : number of the EGL device, a `Device`, or None for the driver's choice.
    progress : called with the share of the structure that is built and a text.

    Raises ViewerError for a value out of range, what is no scene, and a scene that does not fit; DeviceError without
    OpenGL 3.3.
    """

    @exclusive
    def render(
        self,
        size: tuple[int, int] | str = DEFAULT["size"],
        spp: int | None = DEFAULT["spp"],
        layers: Sequence[str] | str = (),
        stats: bool = False,
        progress: Report | None = None,
        time: float | None = DEFAULT["time"],
        error: float | None = DEFAULT["error"],
        resume: str | None = DEFAULT["resume"],
        sample_range: int | None = DEFAULT["sample_range"],
        film: Film | None = None,
        state: Checkpoint | None = None,
        **unknown: Never,
    ) -> Picture:
        """A picture of ``size`` (width, height) with the layers asked for.

        spp, time, error : of progressive programs, which end with the first of these that is met. The ray caster
        samples pixel centres, so that all its samples are one.
        stats    : count every pass (the host then waits for each), see `Stats`.
        progress : called with the share that is done and a text.
        film     : of the same picture, to go on from, in place of ``resume``.
        state    : where to save a long render's state as it goes, and on Ctrl-C.

        Raises ViewerError for an unknown keyword, a value out of range, and a file that cannot be resumed.
        """
        for name in unknown:
            if name in NAMES:
                raise ViewerError(f"keyword '{name}'", "belongs to Renderer and its update, not to render")
            raise ViewerError(f"keyword '{name}'", "unknown to render", suggestion(name, RENDER_KEYWORDS))
        self.revive()
        width, height = options.check("size", size)
        names = options.check("layers", layers, (*LAYERS, *SERIES))
        time, error = options.check("time", time), options.check("error", error)
        stop = Stop(options.most_samples(options.check("spp", spp), time, error), time, error)
        sample_range = options.check("sample_range", sample_range)
        if sample_range is not None:
            check_ranges(self, "--sample-range")
            check_whole(stop, "--sample-range")
        if not self.progressive and (resume is not None or "bounce" in names):
            what = "--resume" if resume is not None else "--layers bounce"
            raise ViewerError(what, f"program {self.settings.program} adds no samples", "take --program path")
        check_denoiser(self.settings, self.progressive)
        if "bounce" in names and "photons" in self.program().inputs:
            what = "photons of all path lengths count together in an estimate"
            raise ViewerError("--layers bounce", what, "take --program path")
        bounces = self.settings.max_depth + 1
        check_memory((width, height), self.progressive, names, self.device.software, bounces)
        drivers = self.device.driver
        if film is None and resume is not None:
            film, drivers = self.resumed(resume, (width, height), state)
        made: dict[str, NDArray] = {name: LAYERS[name].empty(height, width) for name in names if name in LAYERS}
        if "triangle" in made and self.prepared.starts[-1] > np.iinfo(np.int32).max:
            made["triangle"] = made["triangle"].astype(np.int64)
        beside = made if self.progressive else {}
        ranged: Stats | None = None
        if sample_range is not None:
            ranged = Stats()
            film = film_by_ranges(
                self, (width, height), stop.spp, sample_range, film=film, state=state, stats=ranged, progress=progress
            )
        session = Session(
            self,
            (width, height),
            stop,
            film=film,
            state=state,
            counting=stats,
            layers={} if self.progressive else made,
        )
        try:
            if ranged is not None:
                session.stats.add(ranged)
            session.finish(progress=progress)
            with session.saving():
                if "bounce" in names:
                    made = {**made, **bounce_layers(self, session.size, session.samples, progress)}
                features = {name: made[name] for name in FEATURE_LAYERS if name in beside}
                clean = self._features(session, features, progress) if session.samples else None
                rest = {name: layer for name, layer in beside.items() if name not in (*features, "samples")}
                if rest:
                    cast_layers(self, (width, height), rest, stats, progress)
            picture = session.picture()
            if "samples" in beside and picture.film is not None:
                made["samples"] = picture.film.count.astype(np.int32)
        finally:
            session.release()
        if clean is not None:
            made[NOISY.name], picture.linear = picture.linear, clean
            picture.metadata["denoised"] = self.settings.denoise
        picture.layers, picture.metadata[DRIVER] = made, drivers
        return picture

    def resumed(self, path: str, size: tuple[int, int], state: Checkpoint | None) -> tuple[Film | None, str]:
        """The film of a file to go on from, and the drivers of its samples once those of this one join them. path :
        auto is what a render with that ``state`` has left, if anything. Raises ViewerError for a file of another
        picture."""
        if path == AUTO:
            if state is None:
                raise ViewerError("resume 'auto'", "needs a state to look for", "give state=renderer.checkpoint(path)")
            best, _, _ = state.find(size)
            if best is None:
                return None, self.device.driver
            path = str(best)
        film = resumed(path, size, sample_settings(self))
        drivers = _drivers(path, film.drivers, self.device.driver)
        if state is not None:
            state.use(path)
            state.metadata[DRIVER] = drivers
        return film, drivers

    def _features(
        self, session: Session, layers: dict[str, NDArray], progress: Report | None
    ) -> NDArray[np.float32] | None:
        """Fill the feature layers of a session's samples, and the picture denoised, (H, W, 3), where that is asked for.

        Layers are averages over all samples; without them the denoiser makes do with fewer.
        """
        film, clean = session.device_film.buffer, self.settings.denoise not in UNASKED
        if film is None or not (layers or clean):
            return None
        samples = session.samples if layers else min(session.samples, MOST_FEATURES)
        with features_of(self, session.size, samples, progress) as features:
            if layers:
                feature_layers(features, layers)
            return denoised(self, film, features) if clean else None

    def checkpoint(self, path: str | Path) -> Checkpoint | None:
        """Where a render of samples to that file keeps its state as it goes; None for other programs, and where a FIFO
        or device takes the picture."""
        if not self.progressive or is_stream(path):
            return None
        facts = {key: str(value) for key, value in picture_facts(self).items()}
        return Checkpoint(path, sample_settings(self), facts)


def _drivers(path: str, before: str, now: str) -> str:
    """The drivers of a picture's samples, once those of this one join them; ``before``: of the file, if it says."""
    names = before.split("; ") if before else []
    if names and now not in names:
        text = f"{path}: rendered by {before} so far, and now by {now}: as good a picture, but with bits of its own"
        warnings.warn(text, DriverWarning, stacklevel=5)
    return "; ".join(dict.fromkeys([*names, now]))


def _explain() -> None:
    """Docstrings and signature from the options' declaration."""
    for documented, names in ((Renderer, NAMES), (Renderer.render, options.keywords("render"))):
        told = docstring(names, {"program": PICTURES, "layers": (*LAYERS, *SERIES)})
        documented.__doc__ = f"{cleandoc(documented.__doc__ or '')}\n\nOptions:\n\n{told}\n"
    own = Signature.from_callable(Tracer.__init__)
    plain = own.replace(parameters=list(own.parameters.values())[1:], return_annotation=Signature.empty)
    Renderer.__signature__ = signature(plain, NAMES)  # type: ignore[attr-defined]
    Renderer.render.__signature__ = signature(Signature.from_callable(Renderer.render), ())  # type: ignore[attr-defined]


_explain()
