"""The denoiser beside a session: one picture at a time, whose it is, and what is left of it afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gl_objects import living
from numpy.typing import NDArray

from raystream.renderer.preview.frame import FrameClock
from raystream.renderer.preview.preview import BackgroundDenoiser, Preview
from raystream.renderer.preview.scheduler import OIDN_GROWTH, OIDN_SECONDS, Scheduler, cleans, drafts
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device

CLEAN = np.arange(2 * 3 * 3, dtype=np.float32).reshape(2, 3, 3)
FILM: Any = object()
OTHER: Any = object()


def noisy(denoised: Callable[[], NDArray[np.float32]] = CLEAN.copy) -> Any:
    return SimpleNamespace(denoised=lambda draft: denoised() + 100 * draft)


@pytest.fixture
def preview(device: Device) -> Any:
    renderer = Renderer("cornell", device=device)
    made = Preview(renderer, FrameClock(device, Scheduler()))
    yield made
    made.release()
    renderer.release()


def test_a_picture_comes_once_with_its_film(device: Device) -> None:
    denoiser = BackgroundDenoiser(device)
    assert denoiser.free and denoiser.take() is None and not denoiser.begun(FILM)
    asked = threading.Event()
    denoiser.begin(FILM, 8, noisy(lambda: CLEAN + np.float32(asked.wait(20.0))))
    assert not denoiser.free and denoiser.take() is None
    assert (denoiser.begun(FILM), denoiser.begun(OTHER)) == (8, 0)
    asked.set()
    denoiser.wait(20.0)
    film, found = denoiser.take() or (None, None)
    assert film is FILM and denoiser.free and denoiser.take() is None
    np.testing.assert_array_equal(found, CLEAN + 1)
    with device.current():
        shown = denoiser.stream(CLEAN).read_texels()[..., 0, :]
        np.testing.assert_array_equal(shown, np.concatenate([CLEAN, np.zeros((2, 3, 1))], axis=2))
        denoiser.release()


@pytest.mark.parametrize(
    ("film", "samples", "last", "wanted", "owed"),
    [
        (FILM, 8, True, False, False),
        (FILM, 9, True, True, True),
        (FILM, 9, False, False, True),
        (FILM, int(8 * OIDN_GROWTH), False, True, True),
        (OTHER, 1, False, True, True),
    ],
)
def test_a_film_is_denoised_again_with_many_more_samples(
    device: Device, film: Any, samples: int, last: bool, wanted: bool, owed: bool
) -> None:
    """Of the film's eight; or with any more, where there will be no others."""
    denoiser = BackgroundDenoiser(device)
    denoiser.begin(FILM, 8, noisy())
    assert not denoiser.free and denoiser.owes(film, samples)
    denoiser.wait(20.0)
    denoiser.take()
    assert (cleans(samples, denoiser.begun(film), last), denoiser.owes(film, samples)) == (wanted, owed)
    denoiser.forget()
    assert cleans(samples, denoiser.begun(film), last) and denoiser.owes(film, samples)
    with device.current():
        denoiser.release()


def test_a_draft_is_made_again_once_its_film_is_complete(device: Device) -> None:
    """By the whole network, though the film has no more samples; while it goes on, a draft counts as any."""
    denoiser = BackgroundDenoiser(device)
    denoiser.begin(FILM, 8, noisy(), draft=True)
    denoiser.wait(20.0)
    _, picture = denoiser.take() or (None, None)
    np.testing.assert_array_equal(picture, CLEAN + 100)
    assert denoiser.owes(FILM, 8) and cleans(8, 8, True, denoiser.draft) and not cleans(9, 8, False, denoiser.draft)
    denoiser.begin(FILM, 8, noisy())
    denoiser.wait(20.0)
    _, picture = denoiser.take() or (None, None)
    np.testing.assert_array_equal(picture, CLEAN)
    assert not denoiser.owes(FILM, 8) and not cleans(8, 8, True, denoiser.draft)
    with device.current():
        denoiser.release()


def test_drafts_until_samples_have_taken_as_long() -> None:
    rate = 4 / OIDN_SECONDS  # samples a second: of four a pixel takes as long as the whole network does
    assert [drafts(samples, rate, last=False) for samples in (1, 3, 4, 8)] == [True, True, False, False]
    assert not drafts(1, rate, last=True)


def test_a_released_preview_has_no_thread_and_no_textures(device: Device, preview: Preview) -> None:
    """Though it is still there: a session's goes with the window, and what it denoised with the film."""
    before = living(device)
    preview.background.begin(FILM, 1, noisy())
    preview.background.wait(20.0)
    (thread,) = preview.background._thread._threads
    with device.current():
        preview.background.stream(CLEAN)
    assert living(device)["Texture"] > before["Texture"]
    preview.release()
    thread.join(20.0)
    assert not thread.is_alive() and living(device) == before
    with pytest.raises(RuntimeError, match="after shutdown"):
        preview.background.begin(FILM, 2, noisy())
