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

UNREQUESTED = ("auto", "none")  # values of ``denoise`` that name no denoiser
# By denoiser, the factor on a quality's limit of noise: Open Image Denoise leaves no grain of 10 % of noise.
TOLERANCE, DEFAULT_TOLERANCE = {"oidn": 1.0}, 0.5
# Samples of the features that guide a denoiser: with few camera rays edges are dotted, and stay so however clean the
# light is; camera rays are cheap beside paths.
MIN_FEATURE_SAMPLES, MAX_FEATURE_SAMPLES = 16, 64


def check_denoiser(settings: Settings, progressive: bool = True) -> None:
    """Raises ViewerError for a denoiser that is not installed, or that cannot denoise the program's pictures."""
    if settings.denoise in UNREQUESTED:
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
    """The denoiser of a picture, ``oidn``, ``shader`` or ``none``: by the settings, or where these say ``auto`` the
    best installed one that suits the program, if a ``quality`` is requested."""
    if settings.denoise != "auto":
        return str(settings.denoise)
    if quality is None or not settings.picture_program.noisy:
        return "none"
    if oidn.installed():
        return "oidn"
    return "shader" if settings.picture_program.demodulates else "none"


def noise_limit(quality: str, denoiser: str) -> float:
    """The estimated relative error at which a picture of that quality sample_counts, before that denoiser."""
    return QUALITIES[quality][0] * TOLERANCE.get(denoiser, DEFAULT_TOLERANCE)


def feature_samples(samples: int) -> int:
    """Camera rays of a pixel whose features guide the denoiser of a picture of ``samples``."""
    return min(max(samples, MIN_FEATURE_SAMPLES), MAX_FEATURE_SAMPLES)


@contextmanager
def features_of(
    renderer: RendererParts,
    size: tuple[int, int],
    samples: int,
    progress: Report | None = None,
    on_sample: Callable[[Buffer, int], None] | None = None,
    **form: bool,
) -> Iterator[Buffer]:
    """A context with a buffer of `FEATURES`: of the camera rays of every pixel's first ``samples`` samples.

    on_sample : called with the buffer and the sample's index after each sample. form : floor, white and layered, as of
    `Sampler.features`.
    """
    with renderer.device.current():
        buffer = Buffer(renderer.device, FEATURES, size)
    try:
        sample_counts = (samples,) if on_sample is None else range(1, samples + 1)
        for index, end in enumerate(sample_counts):
            plan = FramePlan(renderer.settings, renderer.camera, size, samples=end)
            for fraction in renderer.sampler.features(plan, buffer, **form):
                if progress is not None:
                    progress((index + fraction) / len(sample_counts), "feature layers")
            if on_sample is not None:
                with renderer.device.current():
                    on_sample(buffer, index)
        yield buffer
    finally:
        with renderer.device.current():
            buffer.release()


@dataclass(frozen=True, eq=False)
class NoisyPicture:
    """A film's picture on the host for Open Image Denoise; arrays (H, W, 3) float32, linear sRGB.

    emission : light of emitters and environment seen directly, which has no noise; a denoiser would smear lamps of a
    pixel. reflected : all other light. albedo, normal : of surfaces. clean : whether these have no noise.
    seams : the columns at which independent pictures begin, of stereo pairs, and the width at the end.
    """

    reflected: NDArray[np.float32]
    emission: NDArray[np.float32]
    albedo: NDArray[np.float32]
    normal: NDArray[np.float32]
    clean: bool
    seams: tuple[int, ...]

    def denoised(self, draft: bool = False) -> NDArray[np.float32]:
        """The denoised picture, (H, W, 3) linear sRGB; callable in any thread. ``draft``: by a smaller network. Raises
        ViewerError where that fails."""
        columns = [slice(*part) for part in pairwise(self.seams)]
        pictures = [
            oidn.denoise(self.reflected[:, part], self.albedo[:, part], self.normal[:, part], self.clean, draft)
            for part in columns
        ]
        return np.concatenate(pictures, axis=1) + self.emission


def noisy_picture(
    renderer: RendererParts, film: FilmBuffer, film_features: Buffer, features: Buffer
) -> Generator[None, None, NoisyPicture]:
    """Read back, in steps, a film with the features that guide Open Image Denoise. film_features : of the film's own
    samples. features : of these or more, each ray with all blended surfaces."""
    sums = yield from film.read_fields_stepwise(("sum", "count"))
    linear = _mean_of_samples(sums, "sum")
    sums = yield from features.read_fields_stepwise(("albedo", "normal", "emission", "count"))
    albedo, normal, emission = (_mean_of_samples(sums, name) for name in ("albedo", "normal", "emission"))
    settings, camera = renderer.settings, renderer.camera
    if not settings.picture_program.demodulates or settings.clamp > 0:  # the film is no sum of the two
        emission = np.zeros_like(emission)
    reflected = linear - emission
    # A sample sees blended surfaces at random, so that emission seen by some samples is noise.
    has_noise = renderer.prepared.surfaces.blend and film_features.samples < film.samples
    if film_features is not features and emission.any() and not has_noise:
        sums = yield from film_features.read_fields_stepwise(("emission", "count"))
        reflected = linear - _mean_of_samples(sums, "emission")
    emission = emission + np.minimum(reflected, 0)  # where the film has more samples than the features
    # Depth of field and motion blur are noise in the features, too.
    clean = not (camera.aperture > 0 or camera.motion or renderer.prepared.moving)
    width = film.size[0]
    seams = (0, width // 2, width) if camera.eyes and width > 1 else (0, width)
    return NoisyPicture(reflected, emission, albedo, normal, clean, seams)


def _mean_of_samples(sums: Mapping[str, NDArray[np.float32]], name: str) -> NDArray[np.float32]:
    """The mean (H, W, 3) over samples of a field of a film or of `FEATURES`."""
    return np.divide(sums[name], np.maximum(sums["count"], 1)[..., None], dtype=np.float32)


def denoised(
    renderer: RendererParts, film: FilmBuffer, features: Buffer, denoiser_name: str, white: bool = False
) -> NDArray[np.float32]:
    """The film's picture denoised, (H, W, 3) linear sRGB; the film stays as it is. denoiser_name : ``shader``,
    ``oidn``.

    features : of the film's samples or more, each ray with all blended surfaces. white : as of `features_of`.

    Raises ViewerError where the denoiser fails, and for a picture that does not fit one texture.
    """
    device = renderer.device
    if denoiser_name == "shader" and len(film.blocks) > 1:
        width, height = film.size
        what = f"{width} x {height} pixels do not fit one texture of the driver's"
        raise ViewerError("--denoise shader", what, "a smaller --size, or --denoise oidn")
    with ExitStack() as stack:
        film_features = features
        if features.samples > film.samples or renderer.prepared.surfaces.blend:
            samples = min(film.samples, features.samples)
            film_features = stack.enter_context(features_of(renderer, film.size, samples, white=white))
        stack.enter_context(device.current())
        if denoiser_name == "oidn":
            return returned(noisy_picture(renderer, film, film_features, features)).denoised()
        reconstruction, upsampling = Reconstruction(device), Upsampling(device)
        try:
            demodulated = reconstruction.demodulate(film, film_features, features, renderer.camera)
            light = returned(
                reconstruction.light(demodulated, features.blocks[0].stream, renderer.camera, film.samples)
            )
            picture = upsampling.compose(light, features.blocks[0].stream, renderer.camera)
            return picture.fields(("rgb",))["rgb"].copy()
        finally:
            reconstruction.release()
            upsampling.release()


def matte(renderer: RendererParts, size: tuple[int, int], samples: int, denoiser: str | None = None) -> Matte | None:
    """The matte of a picture of ``size`` (width, height) of ``samples``; None where its background is neither a colour
    nor transparent. Alpha is the share of the background hidden by surfaces, or by shadows on a floor. denoiser : of
    the picture, and so of alpha; None: by the settings."""
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
        denoiser_name = denoiser_of(renderer.settings, None) if denoiser is None else denoiser
        if denoiser_name == "none" or backdrop.floor is None:
            with renderer.device.current():
                weight = film.film().mean()
        else:
            with features_of(renderer, size, feature_samples(samples), white=True, layered=True) as features:
                weight = denoised(renderer, film, features, denoiser_name, white=True)
    finally:
        with renderer.device.current():
            film.release()
    return Matte(np.clip(1 - weight[..., 0], 0, 1), None if backdrop.transparent else backdrop.color)
