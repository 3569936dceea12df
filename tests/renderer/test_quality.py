"""``quality``: its limits, its denoiser, and what it leaves alone."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.denoise import oidn
from raystream.film.error import Stop, stop_of
from raystream.options import values
from raystream.options.picture import QUALITIES
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.scheduler import Scheduler
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.denoising import denoiser_of
from raystream.renderer.sampling.picture import Picture

SIZE = 24, 16


@pytest.fixture(scope="module")
def cornell() -> Renderer:
    return Renderer("cornell", machine="singlepass")


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ((None, None, None), Stop(32)),
        ((7, 2.0, 0.5), Stop(7, 2.0, 0.5)),
        ((None, None, None, "good"), Stop(QUALITIES["good"][1], None, QUALITIES["good"][0], 16)),
        (("9", 3.0, None, "best"), Stop(9, 3.0, QUALITIES["best"][0], 16)),
        ((None, None, None, "best", 0.5), Stop(QUALITIES["best"][1], None, 0.5 * QUALITIES["best"][0], 16)),
        ((None, None, 0.25, "draft", 0.5), Stop(QUALITIES["draft"][1], None, 0.25)),
    ],
)
def test_limits(given: tuple, rules: Stop) -> None:
    assert stop_of(*given) == rules


@pytest.mark.parametrize(
    ("settings", "quality", "there", "found"),
    [
        ({}, None, True, "none"),
        ({}, "good", True, "oidn"),
        ({}, "good", False, "shader"),
        ({"denoise": "none"}, "good", True, "none"),
        ({"denoise": "shader"}, "good", True, "shader"),
        ({"denoise": "oidn"}, None, True, "oidn"),
        ({"program": "whitted"}, "good", True, "none"),
        ({"program": "photon"}, "best", False, "shader"),
    ],
)
def test_denoisers(
    settings: dict, quality: str | None, there: bool, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidn, "find_spec", lambda name: "a module" if there else None)
    assert denoiser_of(Settings(**settings), quality) == found


def test_a_picture_is_denoised_and_its_film_is_not(cornell: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidn, "find_spec", lambda name: None)
    plain = cornell.render(SIZE, spp=QUALITIES["draft"][1])
    found = cornell.render(SIZE, quality="draft")
    assert found.metadata["denoised"] == found.stats.facts["denoised"] == "shader"
    assert "denoised" not in plain.metadata
    np.testing.assert_array_equal(found.layers["noisy"], plain.linear)
    assert not np.array_equal(found.linear, plain.linear)


def test_the_limit_of_noise_ends_it(cornell: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sooner before Open Image Denoise."""
    asked: list[float | None] = []

    def stops(**rules: Any) -> Stop:
        asked.append((made := stop_of(**rules)).error)
        return made

    monkeypatch.setattr("raystream.renderer.render.stop_of", stops)
    monkeypatch.setitem(QUALITIES, "best", (0.9, 4096))
    for there in (True, False):
        monkeypatch.setattr(oidn, "find_spec", lambda name, there=there: "a module" if there else None)
        monkeypatch.setattr(oidn, "denoise", lambda linear, *guides: linear)
        found = cornell.render(SIZE, quality="best")
        assert found.metadata["stopped by"] == "error"
    assert asked == [0.9, 0.45]


def test_pace_changes_nothing(cornell: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many samples a frame has time for: looks are at the same numbers of them."""
    monkeypatch.setattr(oidn, "find_spec", lambda name: None)
    monkeypatch.setitem(QUALITIES, "best", (1.2, 4096))
    made = []
    for pace in (1, 5, 64):
        monkeypatch.setattr(Scheduler, "_more", lambda self, affordable, pixels, most, pace=pace: min(pace, most))
        made.append(cornell.render(SIZE, quality="best"))
    assert {each.metadata["samples"] for each in made} == {made[0].metadata["samples"]}
    assert made[0].metadata["stopped by"] == "error" and made[0].film is not None
    assert int(made[0].film.count.min()) % 16 == 0
    for each in made[1:]:
        np.testing.assert_array_equal(each.layers["noisy"], made[0].layers["noisy"])
        np.testing.assert_array_equal(each.linear, made[0].linear)


def test_wrong_ones_are_refused(cornell: Renderer) -> None:
    with pytest.raises(ViewerError, match=r"quality='fine'.*draft, good or best"):
        cornell.render(SIZE, quality="fine")


def test_without_a_limit_it_is_denoised_where_it_is_looked_at(
    cornell: Renderer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As by the command line: PNG and notebooks show it denoised; numbers, EXR and NPZ are as they were sampled."""
    monkeypatch.setattr(oidn, "find_spec", lambda name: None)
    plain = cornell.render(SIZE, spp=32)
    found = cornell.render(SIZE)
    np.testing.assert_array_equal(found.linear, plain.linear)
    assert "noisy" not in found.layers and "denoised" not in found.metadata
    asked = cornell.render(SIZE, spp=32, denoise="shader")
    for show in (Picture.srgb8, Picture.stops, lambda each: np.array(Image.open(BytesIO(each.png())))):
        np.testing.assert_array_equal(show(found), show(asked))
        assert not np.array_equal(show(found), show(plain))
    found.save(tmp_path / "a.png")
    text: Any = Image.open(tmp_path / "a.png")
    np.testing.assert_array_equal(np.array(text), found.srgb8())
    assert text.text["denoised"] == "shader" and found._repr_png_() == found.png()
    found.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as kept:
        np.testing.assert_array_equal(kept["linear"], plain.linear)
        assert "denoised" not in str(kept["metadata"])
    for limit in ({"spp": 3}, {"error": 0.5}, {"time": 1e3, "spp": 2}, {"denoise": "none"}):
        assert cornell.render(SIZE, **limit).shown is None, limit


def test_a_denoiser_of_one_picture(cornell: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name, or the best that is installed; the renderer's own stays."""
    plain = cornell.render(SIZE, spp=3)
    for there, best in ((True, "oidn"), (False, "shader")):
        monkeypatch.setattr(oidn, "find_spec", lambda name, there=there: "a module" if there else None)
        monkeypatch.setattr(values, "find_spec", oidn.find_spec)
        monkeypatch.setattr(oidn, "denoise", lambda linear, *guides: linear * np.float32(0.5))
        for wanted, name in ((True, best), ("shader", "shader")):
            found = cornell.render(SIZE, spp=3, denoise=wanted)
            assert found.metadata["denoised"] == name and cornell.settings.denoise == "auto"
            np.testing.assert_array_equal(found.layers["noisy"], plain.linear)
        assert Settings(denoise=True).denoise == best and Settings(denoise=False).denoise == "none"
    cornell.update(denoise=True)
    assert "denoised" not in cornell.render(SIZE, spp=3, denoise=False).metadata
    assert cornell.render(SIZE, spp=3).metadata["denoised"] == "shader"
    cornell.update(denoise="auto")
    with pytest.raises(ViewerError, match=r"denoise='smooth'.*auto, none, shader or oidn"):
        cornell.render(SIZE, spp=3, denoise="smooth")
