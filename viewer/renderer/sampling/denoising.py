"""Pictures with less noise, from a film and its feature buffers, by the denoiser that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.denoise import oidn
from raystream.denoise.reconstruction import Reconstruction
from raystream.denoise.upsampling import Upsampling
from raystream.film.device_film import Buffer, FilmBuffer
from raystream.film.files.image import Matte
from raystream.kernels.records import FEATURES
from raystream.options.picture import QUALITIES
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import Report
from raystream.renderer.sampling.sampler import FramePlan
from raystream.stream.jobs import returned

UNASKED = ("auto", "none")  # by which a render without a window is not denoised
# Of a quality's limit of noise: Open Image Denoise leaves no grain of 10 % of noise, the other one, and none, do.
TOLERANCE, LEAST_TOLERANCE = {"oidn": 1.0}, 0.5
# Samples whose features are worth their time, and as many at least: edges that few camera rays leave dotted stay so,
# however clean the light is, and camera rays are cheap beside paths.
LEAST_FEATURES, MOST_FEATURES = 16, 64


def check_denoiser(settings: Settings, progressive: bool = True) -> None:
    """Raises ViewerError for a denoiser that is not installed, and for a program that has no samples to denoise, or a
    film that it takes for another."""
    if settings.denoise in UNASKED:
        return
    if not progressive:
        what = f"program {settings.program} has no noise: it adds no samples"
        raise ViewerError(f"--denoise {settings.denoise}", what, "leave it out, or take --program path")
    if settings.denoise == "shader" and not settings.picture_program.demodulates:
        what = f"divides by the albedo, and the film of program {settings.program} is not albedo times light"
        raise ViewerError("--denoise shader", what, "leave it out, or take --denoise oidn")
    if settings.denoise == "oidn":
        oidn.check_installed()


def denoiser_of(settings: Settings, quality: str | None) -> str:
    """The denoiser of a picture: the one that is named, or for a ``quality`` the best that is installed and suits the
    program; ``none`` for no quality."""
    if settings.denoise != "auto":
        return str(settings.denoise)
    if quality is None or not settings.picture_program.noisy:
        return "none"
    if oidn.installed():
        return "oidn"
    return "shader" if settings.picture_program.demodulates else "none"


def noise_limit(quality: str, denoiser: str) -> float:
    """The estimated relative error at which a picture of that quality ends, before that denoiser."""
    return QUALITIES[quality][0] * TOLERANCE.get(denoiser, LEAST_TOLERANCE)


def feature_samples(samples: int) -> int:
    """Camera rays of a pixel whose features guide the denoiser of a picture of ``samples``."""
    return min(max(samples, LEAST_FEATURES), MOST_FEATURES)


@contextmanager
def features_of(
    renderer: RendererParts,
    size: tuple[int, int],
    samples: int,
    progress: Report | None = None,
    on_sample: Callable[[Buffer, int], None] | None = None,
    **form: bool,
) -> Iterator[Buffer]:
    """Hits of the camera rays of every pixel's first ``samples`` samples: a buffer of `FEATURES`, while it lasts.

    on_sample : is shown it after every sample, with the sample's index. form : floor, white and layered, as of
    `Sampler.features`.
    """
    with renderer.device.current():
        buffer = Buffer(renderer.device, FEATURES, size)
    try:
        ends = (samples,) if on_sample is None else range(1, samples + 1)
        for index, end in enumerate(ends):
            plan = FramePlan(renderer.settings, renderer.camera, size, samples=end)
            for done in renderer.sampler.features(plan, buffer, **form):
                if progress is not None:
                    progress((index + done) / len(ends), "feature layers")
            if on_sample is not None:
                with renderer.device.current():
                    on_sample(buffer, index)
        yield buffer
    finally:
        with renderer.device.current():
            buffer.release()


@dataclass(frozen=True, eq=False)
class NoisyPicture:
    """A film's picture on the host, as Open Image Denoise takes it; arrays (H, W, 3) float32, linear sRGB.

    reflected : without ``emission``, the light of lamps and surroundings that the camera sees themselves. It has no
    noise, and lamps of a pixel and less would be smeared to many. albedo, normal : of surfaces. clean : these have no
    noise. seams : columns at which pictures begin that have nothing to do with each other, and the width.
    """

    reflected: NDArray[np.float32]
    emission: NDArray[np.float32]
    albedo: NDArray[np.float32]
    normal: NDArray[np.float32]
    clean: bool
    seams: tuple[int, ...]

    def denoised(self) -> NDArray[np.float32]:
        """(H, W, 3) linear sRGB, in any thread. Raises ViewerError where the denoiser fails."""
        parts = [slice(*ends) for ends in pairwise(self.seams)]
        pictures = [
            oidn.denoise(self.reflected[:, part], self.albedo[:, part], self.normal[:, part], self.clean)
            for part in parts
        ]
        return np.concatenate(pictures, axis=1) + self.emission


def noisy_picture(
    renderer: RendererParts, film: FilmBuffer, of_samples: Buffer, features: Buffer
) -> Generator[None, None, NoisyPicture]:
    """Read a film back, in steps, with the features that guide Open Image Denoise.

    of_samples : features of the film's samples. features : of these, or of more, with all blended surfaces.
    """
    sums = yield from film.read_fields_stepwise(("sum", "count"))
    linear = _mean(sums, "sum")
    sums = yield from features.read_fields_stepwise(("albedo", "normal", "emission", "count"))
    albedo, normal, emission = (_mean(sums, name) for name in ("albedo", "normal", "emission"))
    settings, camera = renderer.settings, renderer.camera
    if not settings.picture_program.demodulates or settings.clamp > 0:  # the film is no sum of light seen and reflected
        emission = np.zeros_like(emission)
    reflected = linear - emission
    # Of blended surfaces samples see one at random: what some of them have seen is noise.
    blended = renderer.prepared.surfaces.blend and of_samples.samples < film.samples
    if of_samples is not features and emission.any() and not blended:
        sums = yield from of_samples.read_fields_stepwise(("emission", "count"))
        reflected = linear - _mean(sums, "emission")
    emission = emission + np.minimum(reflected, 0)  # of a film of more samples than camera rays
    # Camera rays through other points of the lens, at other moments, see other surfaces.
    clean = not (camera.aperture > 0 or camera.motion or renderer.prepared.moving)
    width = film.size[0]
    seams = (0, width // 2, width) if camera.eyes and width > 1 else (0, width)
    return NoisyPicture(reflected, emission, albedo, normal, clean, seams)


def _mean(sums: Mapping[str, NDArray[np.float32]], name: str) -> NDArray[np.float32]:
    """A field (H, W, 3) of a film, or of `FEATURES`, by its samples."""
    return np.divide(sums[name], np.maximum(sums["count"], 1)[..., None], dtype=np.float32)


def denoised(
    renderer: RendererParts, film: FilmBuffer, features: Buffer, how: str, white: bool = False
) -> NDArray[np.float32]:
    """(H, W, 3) linear sRGB, by ``shader`` or ``oidn``; the film stays as it is.

    features : of the film's samples, or more, with all blended surfaces. white : as of `features_of`.

    Raises ViewerError where the denoiser fails, and for a picture that does not fit one texture.
    """
    device = renderer.device
    if how == "shader" and len(film.blocks) > 1:
        wide, tall = film.size
        what = f"{wide} x {tall} pixels do not fit one texture of the driver's"
        raise ViewerError("--denoise shader", what, "a smaller --size, or --denoise oidn")
    with ExitStack() as stack:
        of_samples = features
        if features.samples > film.samples or renderer.prepared.surfaces.blend:
            few = min(film.samples, features.samples)
            of_samples = stack.enter_context(features_of(renderer, film.size, few, white=white))
        stack.enter_context(device.current())
        if how == "oidn":
            return returned(noisy_picture(renderer, film, of_samples, features)).denoised()
        reconstruction, upsampling = Reconstruction(device), Upsampling(device)
        try:
            lit = reconstruction.demodulate(film, of_samples, features, renderer.camera)
            light = returned(reconstruction.light(lit, features.blocks[0].stream, renderer.camera, film.samples))
            shown = upsampling.compose(light, features.blocks[0].stream, renderer.camera)
            return shown.fields(("rgb",))["rgb"].copy()
        finally:
            reconstruction.release()
            upsampling.release()


def matte(renderer: RendererParts, size: tuple[int, int], samples: int, denoiser: str | None = None) -> Matte | None:
    """The matte of a picture of ``size`` (width, height) of ``samples``; None where it is not before a colour, or
    nothing.

    Alpha is the share of the background hidden by surfaces, or by shadows on a floor. It is denoised as the
    picture is, by ``denoiser`` (None: as the settings have it).
    """
    backdrop = renderer.prepared.lighting.backdrop
    if backdrop is None or not (backdrop.transparent or backdrop.color):
        return None
    with renderer.device.current():
        film = FilmBuffer(renderer.device, size)
    try:
        for _ in renderer.sampler.backdrop_weight(
            FramePlan(renderer.settings, renderer.camera, size, samples=samples), film
        ):
            pass
        how = denoiser_of(renderer.settings, None) if denoiser is None else denoiser
        if how == "none" or backdrop.floor is None:
            with renderer.device.current():
                weight = film.film().mean()
        else:
            with features_of(renderer, size, feature_samples(samples), white=True, layered=True) as features:
                weight = denoised(renderer, film, features, how, white=True)
    finally:
        with renderer.device.current():
            film.release()
    return Matte(np.clip(1 - weight[..., 0], 0, 1), None if backdrop.transparent else backdrop.color)
