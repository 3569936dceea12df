"""Denoised pictures of few samples have few specks and holes, and more samples never look worse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from subjects import SCENES, SIZE, bound, converged, most_specks, specks_of_even_places

from raystream.denoise import oidn
from raystream.film.files.compare import ComparedPicture, Comparison, compare, stacked_ids
from raystream.film.tonemap import srgb8

RISE = 0.01  # of FLIP over that of fewer samples
FEW, MORE = (1, 2, 4, 8), (16, 32)  # samples
IDS = "object,material"


class Rendering:
    """A scene's pictures of more and more samples, which both denoisers share.

    ids : of its surfaces, (H, W, K).
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.renderer = SCENES[name].renderer(seed=1, denoise="none")  # that of the converged pictures is another
        picture = self.renderer.render(SIZE, 1, layers=IDS)
        self.ids: NDArray | None = stacked_ids(picture.layers)
        self._films = {1: picture.film}

    def linear(self, samples: int, denoiser: str) -> NDArray[np.float32]:
        """(H, W, 3), the bits of a picture that begins anew."""
        if samples not in self._films:
            before = self._films[max(count for count in self._films if count < samples)]
            self._films[samples] = self.renderer.render(SIZE, samples, film=before).film
        return self.renderer.render(SIZE, samples, film=self._films[samples], denoise=denoiser).linear


@pytest.fixture(scope="module", params=SCENES)
def rendering(request: pytest.FixtureRequest, shared_scenes: Path) -> Iterator[Rendering]:
    rendering = Rendering(request.param)
    yield rendering
    rendering.renderer.release()


@pytest.mark.filterwarnings("ignore:the scene has no lights")
@pytest.mark.parametrize("counts", [FEW, pytest.param(MORE, marks=pytest.mark.slow)], ids=["few", "more"])
@pytest.mark.parametrize("denoiser", ["shader", "oidn"])
def test_pictures_of_files(rendering, denoiser, counts):
    """Bounds of specks and holes hold from 2 samples on. Fringes are in the table, and have no bound."""
    if denoiser == "oidn":
        pytest.importorskip(oidn.PACKAGE)
    name = rendering.name
    lines, best, wrong = [], math.inf, []
    for samples in counts:
        light = rendering.linear(samples, denoiser)
        picture = ComparedPicture(name, light, ids=rendering.ids)
        figures = compare(converged(name), picture)
        lines.append(line(samples, figures))
        most = {"specks": most_specks(name, samples, denoiser), "holes": bound(samples, denoiser)}
        wrong += [f"{samples} samples: {fault}" for fault in faults(figures, most, best)]
        if (even := specks_of_even_places(name, light)) > bound(samples, denoiser):
            wrong.append(f"{samples} samples: {even:.2%} specks where the converged picture has no dots")
        best = min(best, figures.flip or 0.0)
    print(f"{name}, {denoiser}", *lines, sep="\n")
    assert not wrong, "\n".join(wrong)


def line(samples: int, figures: Comparison) -> str:
    """The figures of a picture."""
    spots = figures.blemishes
    assert spots is not None
    shares = f"specks {spots.specks:.2%}, holes {spots.holes:.2%}, fringes {spots.fringes or 0:.2%}"
    return f"{samples:3} samples: {shares}, FLIP {figures.flip or math.nan:.4f}, relative error {figures.error:.3f}"


def faults(figures: Comparison, most: dict[str, float], best: float) -> list[str]:
    """What is beyond the bounds. most : share of specks, and of holes; best : FLIP of fewer samples."""
    spots, flip = figures.blemishes, figures.flip or 0.0
    assert spots is not None
    shares = {"specks": spots.specks, "holes": spots.holes}
    beyond = [f"{share:.2%} {kind}, bound {most[kind]:.2%}" for kind, share in shares.items() if share > most[kind]]
    return beyond + ([f"FLIP {flip:.4f} after {best:.4f}"] if flip > best + RISE else [])


@pytest.mark.parametrize("name", SCENES)
def test_converged_pictures_are_of_their_size(name):
    picture = converged(name)
    assert picture.pixels.shape == (SIZE[1], SIZE[0], 3) and picture.displayed and picture.exposure is not None
    assert np.ptp(picture.pixels) > 0.5


@pytest.mark.filterwarnings("ignore:the scene has no lights")
def test_single_bright_samples_leave_no_spots_on_the_table(shared_scenes: Path) -> None:
    """Light through the glass ball that one path in thousands meets is hundreds of times as bright as the table: where
    the converged picture is even the denoised one is, too. 12 of 255 are the converged one's noise; spots had 38."""
    truth, rendering = converged("glass_ball"), Rendering("glass_ball")
    light = rendering.linear(4, "shader")
    rendering.renderer.release()
    exposure, tonemap, level = truth.exposure, truth.tonemap, truth.pixels.mean(axis=-1)
    assert isinstance(exposure, float) and tonemap
    around = sliding_window_view(np.pad(level, 9, mode="edge"), (19, 19))
    table = (np.ptp(around, axis=(2, 3)) < 0.06) & (level > 0.3)
    assert table.mean() > 0.1
    off = np.abs(srgb8(light, exposure, tonemap) / 255 - truth.pixels).max(axis=-1)
    assert off[table].max() < 15 / 255
