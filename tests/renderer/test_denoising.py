"""``denoise`` of a render: the picture, the layer ``noisy``, the film, and what cannot be denoised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.denoise import oidn
from raystream.film.files import image
from raystream.film.tonemap import srgb8
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.denoising import MIN_FEATURE_SAMPLES

SIZE = 48, 48


@pytest.fixture(scope="module")
def cornell() -> Renderer:
    return Renderer("cornell", program="path", machine="singlepass")


@pytest.fixture(scope="module")
def truth(cornell: Renderer) -> np.ndarray:
    """Of other samples than the tests'."""
    cornell.update(denoise="none", seed=1)
    found = cornell.render(SIZE, spp=256).linear
    cornell.update(denoise="auto", seed=0)
    return found


def relative(picture: np.ndarray, truth: np.ndarray) -> float:
    """Relative error, of bright and dark parts alike."""
    return float(np.sqrt(np.mean((picture - truth) ** 2 / (truth.mean(axis=-1, keepdims=True) ** 2 + 0.01))))


@pytest.mark.parametrize("how", ["shader", "oidn"])
def test_the_picture_has_less_noise_and_the_film_is_as_without(
    cornell: Renderer, truth: np.ndarray, how: str, tmp_path: Path
) -> None:
    if how == "oidn":
        pytest.importorskip(oidn.PACKAGE)
    cornell.update(denoise="none")
    plain = cornell.render(SIZE, spp=4)
    cornell.update(denoise=how)
    found = cornell.render(SIZE, spp=4, layers="normal")
    np.testing.assert_array_equal(found.layers["noisy"], plain.linear)
    assert found.metadata["denoised"] == how and "denoised" not in plain.metadata
    # Measured 0.45 and 0.61 of the noise, most of what is left at edges, of which so small a picture has many.
    assert relative(found.linear, truth) < 0.7 * relative(plain.linear, truth)
    np.testing.assert_allclose(found.linear.mean(), plain.linear.mean(), rtol=0.01 if how == "shader" else 0.04)
    for name in ("out.exr", "out.png"):
        found.save(tmp_path / name)
    saved = image.read_exr(tmp_path / "out.exr", ["R", "noisy.R"])[1]
    np.testing.assert_array_equal(saved["R"], found.linear[..., 0])
    np.testing.assert_array_equal(saved["noisy.R"], plain.linear[..., 0])
    resumed = cornell.render(SIZE, spp=8, resume=str(tmp_path / "out.exr"))
    cornell.update(denoise="none")
    np.testing.assert_array_equal(resumed.layers["noisy"], cornell.render(SIZE, spp=8).linear)
    assert srgb8(found.linear).shape == (48, 48, 3)


@pytest.mark.parametrize(("size", "eyes", "widths"), [((9, 4), 5.0, [4, 5]), ((1, 4), 5.0, [1]), ((9, 4), None, [9])])
def test_each_eye_of_a_pair_is_denoised_by_itself(
    cornell: Renderer, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], eyes: float | None, widths: list[int]
) -> None:
    parts: list[np.ndarray] = []

    def denoise(linear: np.ndarray, albedo: np.ndarray, normal: np.ndarray, clean: bool, _: bool) -> np.ndarray:
        assert linear.shape == albedo.shape == normal.shape and clean
        parts.append(linear)
        return linear

    monkeypatch.setattr(oidn, "check_installed", lambda: None)
    monkeypatch.setattr(oidn, "denoise", denoise)
    cornell.update(denoise="oidn", stereo=eyes)
    found = cornell.render(size, spp=MIN_FEATURE_SAMPLES)
    cornell.update(denoise="auto", stereo=None)
    assert [part.shape[1] for part in parts] == widths
    np.testing.assert_allclose(found.linear, found.layers["noisy"], rtol=1e-5)


def test_light_that_the_camera_sees_itself_is_not_denoised(cornell: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what a clamp has left of it told from the rest, nor features behind a lens taken for clean."""
    given: list[tuple[float, bool]] = []

    def denoise(linear: np.ndarray, albedo: np.ndarray, normal: np.ndarray, clean: bool, _: bool) -> np.ndarray:
        given.append((float(linear.max()), clean))
        return linear

    monkeypatch.setattr(oidn, "check_installed", lambda: None)
    monkeypatch.setattr(oidn, "denoise", denoise)
    cornell.update(denoise="oidn")
    for change in {}, {"clamp": 4.0}, {"clamp": 0.0, "aperture": 50.0}:
        cornell.update(**change)
        found = cornell.render(SIZE, spp=MIN_FEATURE_SAMPLES)
        np.testing.assert_allclose(found.linear, found.layers["noisy"], rtol=1e-5, atol=1e-6)
    cornell.update(denoise="auto", aperture=None)
    lamp, clamped = float(cornell.render(SIZE, spp=1).linear.max()), 4.0
    assert given[0][0] < 0.5 * lamp and given[1][0] == clamped < lamp
    assert [clean for _, clean in given] == [True, True, False]


@pytest.mark.parametrize("how", ["shader", "oidn"])
def test_a_denoiser_that_is_not_installed_is_one_line(
    cornell: Renderer, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidn, "find_spec", lambda name: None)
    cornell.update(denoise=how)
    if how == "shader":
        cornell.render((8, 8), spp=1)
        return
    with pytest.raises(ViewerError) as caught:
        cornell.render((8, 8), spp=1)
    assert "oidn" in str(caught.value) and "pip install 'raystream[denoise]'" in str(caught.value)


def test_a_program_without_noise_is_refused() -> None:
    renderer = Renderer("cornell", program="cast", denoise="shader")
    with pytest.raises(ViewerError, match=r"cast.*no samples"):
        renderer.render((8, 8))


def test_lamps_that_more_camera_rays_see_leave_no_dots(cornell: Renderer, truth: np.ndarray) -> None:
    """Of two samples, whose film knows nothing of what the other camera rays for its edges see."""
    cornell.update(denoise="shader")
    found = cornell.render(SIZE, spp=2).linear
    cornell.update(denoise="none")
    assert found.min() >= 0 and relative(found, truth) < 0.124, "0.119 measured; by the edges' rays 0.130"
