"""Denoised pictures beside noisy ones: FLIP and relative error of 1, 4, 16 and 64 samples against converged pictures,
on eight scenes, and the denoisers' bias of the mean.

Besides Raystream's own denoiser and Open Image Denoise: the bilateral filter that three-gpu-pathtracer offers as its
denoiser (M. Morrone, "glslSmartDeNoise", 2019), by its published formula and default parameters, with the noisy picture
as its only input.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.errors import LUMINANCE
from benchmarks.noise.eight import Converged, converged, present
from raystream.denoise import oidn
from raystream.renderer.renderer import Renderer

ABOUT = "denoised pictures: FLIP, relative error and mean on eight scenes"

SIZE, COUNTS, SAMPLES = (240, 135), (1, 4, 16, 64), 512
SIGMA, K_SIGMA, THRESHOLD = 5.0, 1.0, 0.03  # of the bilateral filter: three-gpu-pathtracer's defaults
DENOISERS = ("none", "bilateral", "shader", "oidn")
SHEET = (160, 90)  # pixels of one of them
Picture = NDArray[np.float32]


def run(options: Options) -> Result:
    """Every scene, every number of samples, every denoiser."""
    size, counts, samples = ((96, 54), (1, 16), 16) if options.quick else (SIZE, COUNTS, SAMPLES)
    subjects, missing = present(("cornell",) if options.quick else ())
    if not oidn.installed():
        missing.append("oidn: it is not installed: pip install raystream[denoise]")
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "size": size, "missing": missing, "scenes": {}}
    rows: list[list[Picture]] = []
    for subject in subjects:
        truth = converged(subject, size, samples, device)
        say(f"{subject.name}: {', '.join(map(str, counts))} samples")
        renderer = subject.renderer(device, seed=1, denoise="shader")
        figures: dict[str, dict[str, Any]] = {}
        for count in counts:
            pictures = pictures_of(renderer, size, count)
            figures[str(count)] = {name: judged(truth, each, pictures["none"]) for name, each in pictures.items()}
            if count == counts[1]:
                rows.append([truth.shown(each) for each in (*pictures.values(), truth.linear)])
        renderer.release()
        data["scenes"][subject.name] = {"converged": truth.samples, "its_error": truth.error, "samples": figures}
    return Result(data, [_table(data)], sheet=contact_sheet(rows))


def pictures_of(renderer: Renderer, size: tuple[int, int], count: int) -> dict[str, Picture]:
    """Pictures of ``count`` samples, the same ones, by every denoiser."""
    rendered = {}
    for denoiser in ("shader", "oidn") if oidn.installed() else ("shader",):
        renderer.update(denoise=denoiser)
        rendered[denoiser] = renderer.render(size, count)
    noisy: Picture = rendered["shader"].layers["noisy"]
    return {"none": noisy, "bilateral": bilateral(noisy), **{name: each.linear for name, each in rendered.items()}}


def bilateral(linear: NDArray, sigma: float = SIGMA, k_sigma: float = K_SIGMA, threshold: float = THRESHOLD) -> Picture:
    """(H, W, 3): each pixel a mean of those within round(k_sigma * sigma), weighted by Gaussians of the distance
    (standard deviation ``sigma`` pixels) and of the colour difference (``threshold``)."""
    picture = np.asarray(linear, np.float64)
    radius = round(sigma * k_sigma)
    height, width = picture.shape[:2]
    around = np.pad(picture, ((radius, radius), (radius, radius), (0, 0)), mode="edge")
    total, weights = np.zeros_like(picture), np.zeros((height, width, 1))
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            if x * x + y * y > radius * radius:
                continue
            other = around[radius + y : radius + y + height, radius + x : radius + x + width]
            apart = ((other - picture) ** 2).sum(axis=-1, keepdims=True)
            weight = np.exp(-(x * x + y * y) / (2 * sigma**2) - apart / (2 * threshold**2))
            total += weight * other
            weights += weight
    return (total / weights).astype(np.float32)


def judged(truth: Converged, picture: NDArray, noisy: NDArray) -> dict[str, float]:
    """flip, error : see `Converged`. mean : of the picture's luminance over its noisy one's, minus 1. bias : the same
    over the converged one's."""
    each = (picture, noisy, truth.linear)
    mean, of_noisy, of_truth = (float((np.asarray(one, np.float64) @ LUMINANCE).mean()) for one in each)
    distances = {"flip": truth.flip(picture), "error": truth.relative(picture)}
    return {**distances, "mean": mean / of_noisy - 1, "bias": mean / of_truth - 1}


def contact_sheet(rows: list[list[Picture]]) -> NDArray[np.uint8]:
    """(H, W, 3): a row of small pictures for each scene, 0 to 1 each."""
    from PIL import Image

    def small(picture: Picture) -> NDArray[np.uint8]:
        image = Image.fromarray(np.round(picture * 255).astype(np.uint8))
        return np.asarray(image.resize(SHEET, Image.Resampling.BOX))

    return np.concatenate([np.concatenate([small(each) for each in row], axis=1) for row in rows])


def _table(data: dict[str, Any]) -> Table:
    """A row for each scene and number of samples."""
    rows = []
    for name, scene in data["scenes"].items():
        for count, by in scene["samples"].items():
            cells = [by[each]["flip"] if each in by else None for each in DENOISERS]
            cells += [100 * by[each]["error"] if each in by else None for each in DENOISERS]
            cells += [100 * by[each]["mean"] if each in by else None for each in DENOISERS[1:]]
            rows.append((f"{name}, {count}", *cells))
    columns = ["scene, samples", *DENOISERS, *DENOISERS, *DENOISERS[1:]]
    columns[1], columns[5], columns[9] = "FLIP: none", "error %: none", "mean %: bilateral"
    note = (
        "FLIP against the converged picture, both as they are shown. Error: root mean square of pixels' luminance, "
        "relative to the converged one's. Mean: relative change of the mean by denoising."
    )
    return Table("denoised pictures", columns, rows, note)
