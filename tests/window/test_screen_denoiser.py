"""A session on a screen shows denoised pictures: previews, at rest, and what is there in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from viewer.film.denoise import oidn
from viewer.film.stop import Stop
from viewer.renderer.renderer import Renderer
from viewer.renderer.session import Session
from viewer.window.picture.canvas import Canvas

SIZE = 64, 48


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    return Renderer("cornell", device=device, program="path", machine="singlepass")


@pytest.fixture
def session(renderer: Renderer) -> Any:
    with renderer.device.current():
        made = Session(renderer, SIZE, Stop(4), screen=Canvas(renderer.device))
        yield made
        made.release()
        renderer.update(denoise="auto", program="path")


def run(session: Session, pictures: int = 1, moving: bool = False) -> None:
    """Until so many more pictures are there."""
    wanted = session.pictures + pictures
    while session.pictures < wanted and not session.idle:
        session.advance(0.01, moving)


def noise(picture: np.ndarray) -> float:
    """How much neighbours differ on the Cornell box's back wall."""
    part = picture[16:24, 26:38].mean(axis=-1)
    return float(np.abs(np.diff(part, axis=1)).mean() / part.mean())


def test_a_preview_is_drawn_up_by_features_of_more_pixels(session: Session) -> None:
    session.previews.note(3000)  # samples a second: a budget of 10 ms is for 30 of them
    session._denoiser.drawn.note(1e6)  # type: ignore[union-attr]  # and for all pixels to be drawn up
    run(session, moving=True)
    assert session.shown is not None and session.shown[1][0] < SIZE[0]
    assert SIZE[0] >= session.linear().shape[1] > 2 * session.shown[1][0]


def test_at_rest_the_picture_is_denoised_and_the_film_is_not(session: Session, renderer: Renderer) -> None:
    run(session, 20)
    assert session.converged and session.samples == 4
    film, shown = session.film(), session.linear()
    assert film is not None and noise(shown) < 0.5 * noise(film.linear)
    picture = session.picture()
    np.testing.assert_array_equal(picture.linear, shown)
    np.testing.assert_array_equal(picture.layers["noisy"], film.linear)
    renderer.update(denoise="none")
    np.testing.assert_array_equal(film.linear, renderer.render(SIZE, spp=4).linear)


def test_switched_off_the_film_shows_at_once_and_goes_on(session: Session) -> None:
    run(session, 20)
    before = session.film()
    session.update(denoise="none")
    assert session.samples == 4 and before is not None
    np.testing.assert_array_equal(session.linear(), before.linear)
    session.update(denoise="shader")
    run(session, 2)
    assert session.samples == 4 and session.converged
    assert noise(session.linear()) < 0.5 * noise(before.linear)


def test_open_image_denoise_comes_last(session: Session) -> None:
    pytest.importorskip(oidn.PACKAGE)
    session.update(denoise="oidn")
    run(session, 20)
    film, features = session.film(), session._denoiser._held["own"]  # type: ignore[union-attr]
    assert film is not None and session.converged
    sums = features.read()
    count = sums["count"][..., None]
    expected = oidn.denoise(film.linear, sums["albedo"] / count, sums["normal"] / count)
    np.testing.assert_array_equal(session.linear(), expected)


def test_other_programs_are_shown_as_they_are(session: Session) -> None:
    session.update(program="whitted")
    run(session, 20)
    film = session.film()
    shown = session.linear()
    assert session.converged and (film is None or np.array_equal(shown, film.linear))


def test_a_camera_that_has_moved_has_features_of_its_own(session: Session, renderer: Renderer) -> None:
    run(session, 20)
    before, camera = session.linear(), renderer.camera
    aside = np.add(camera.origin, 0.05 * np.subtract(camera.target, camera.origin)[[2, 1, 0]] * (1, 0, 0))
    session.update(camera=replace(camera, origin=tuple(aside)))
    run(session, 20)
    moved, film = session.linear(), session.film()
    session.update(camera=camera)
    assert film is not None
    lamp = film.linear[..., 0] > 2  # is where the film has it, which is not where it was
    assert lamp.any()
    np.testing.assert_array_equal(moved[..., 0] > 2, lamp)
    assert ((before[..., 0] > 2) != lamp).any()
