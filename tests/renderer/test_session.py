"""A session without a window: what the command line drives, and any screen, is the renderer's picture to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.film.error import Stop
from raystream.film.film import Film
from raystream.kernels.records import FILM
from raystream.options.declare import Affects
from raystream.renderer.device.tile_job import Tile
from raystream.renderer.session.session import Session
from raystream.stream.gl.stream import Stream

SIZE = (40, 30)


@pytest.fixture
def renderer(device: Any) -> Renderer:
    return Renderer(raystream.load("cornell"), device=device, machine="singlepass", denoise="none")


class Paper:
    """A screen of NumPy arrays, which notes what is done to it."""

    def __init__(self) -> None:
        self.shown = self.coming = np.zeros((1, 1, 3), np.float32)
        self.said: list[str] = []

    def begin(self, size: tuple[int, int], preview: bool) -> None:
        self.coming = np.zeros((size[1], size[0], 3), np.float32)
        if not preview:
            self.shown = self.coming
        self.said.append("preview" if preview else "picture")

    def put(self, piece: Tile) -> None:
        target = self.coming[piece.rows, piece.columns]
        records = piece.machine.read("film").reshape(-1)[: target.shape[0] * target.shape[1]]
        target[...] = (records["sum"] / records["count"][:, None]).reshape(target.shape)

    def show(self, picture: Stream) -> None:
        records = picture.read()
        if picture.record == FILM:
            texels = records["sum"] / records["count"][..., None]
        else:
            texels = records["rgb"]
        if self.coming is not self.shown:
            self.coming = np.zeros(texels.shape, np.float32)
        self.coming[...] = texels
        self.said.append("denoised")

    def warp(self, size: tuple[int, int], draw: Callable[[Stream], None]) -> None:
        raise AssertionError("only denoised pictures are warped")

    def end(self) -> None:
        self.shown = self.coming
        self.said.append("end")

    def drop(self) -> None:
        self.said.append("drop")

    def linear(self) -> np.ndarray:
        return self.shown


def test_any_screen_shows_the_renderers_picture(renderer: Renderer) -> None:
    paper = Paper()
    session = Session(renderer, SIZE, Stop(3), screen=paper)
    session.advance(1.0)
    assert session.compiling == "path" and not paper.said  # it is told first
    session.finish()
    assert session.samples == 3 and session.converged and session.convergence.reason == "spp" and session.idle
    assert paper.said[0] in ("preview", "picture") and paper.said[-1] == "end"
    expected = renderer.render(SIZE, 3)
    np.testing.assert_array_equal(paper.shown, expected.linear)
    np.testing.assert_array_equal(session.picture().linear, expected.linear)
    assert session.picture().metadata["samples"] == "3"
    session.stop_at(5, None)  # what is there stays
    assert not session.idle and session.samples == 3
    session.finish()
    np.testing.assert_array_equal(session.linear(), renderer.render(SIZE, 5).linear)


def test_the_film_alone(renderer: Renderer) -> None:
    """Without a screen: in steps, with texts of how far it is; and from a film on."""
    told: list[tuple[float, str]] = []
    session = Session(renderer, SIZE, Stop(4))
    session.finish(progress=lambda share, text: told.append((share, text)))
    film = session.film()
    assert film is not None and (film.count == 4).all()
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[-1] == 1.0 and told[-1][1] == "4 of 4 samples"
    first = Session(renderer, SIZE, Stop(2), film=Film(*SIZE))
    first.finish()
    second = Session(renderer, SIZE, Stop(4), film=first.film())
    assert second.samples == 2
    second.finish()
    np.testing.assert_array_equal(second.linear(), session.linear())
    again = Session(renderer, SIZE, Stop(3), film=second.film())  # it has enough
    assert again.idle and again.convergence.reason == "spp"
    for each in (session, first, second, again):
        each.release()


def test_the_rules_that_end_it(renderer: Renderer) -> None:
    session = Session(renderer, SIZE, Stop(64, seconds=0.0))
    session.finish()
    assert session.convergence.reason == "time" and session.samples == 0
    session = Session(renderer, SIZE, Stop(4096, error=0.9))
    session.finish()
    assert session.convergence.reason == "error" and 16 <= session.samples < 4096
    film = session.film()
    assert film is not None and session.error == pytest.approx(film.error(), rel=1e-5)
    assert session.error <= 0.9


def test_a_picture_of_one_run(device: Any) -> None:
    """Of a program that adds no samples; its layers come with it."""
    renderer = Renderer(raystream.load("cornell"), device=device, machine="singlepass", program="cast")
    layers = {"depth": np.zeros((SIZE[1], SIZE[0]), np.float32)}
    session = Session(renderer, SIZE, Stop(64), layers=layers)
    session.finish()
    picture = renderer.render(SIZE, layers="depth")
    np.testing.assert_array_equal(session.linear(), picture.linear)
    np.testing.assert_array_equal(layers["depth"], picture.layers["depth"])
    assert session.samples == 1 and session.picture().film is None


@pytest.mark.parametrize(
    ("changes", "affects", "begins_anew"),
    [
        ({"seed": 4}, Affects.UNIFORMS, True),
        ({"strategy": "lights", "depth": 2}, Affects.UNIFORMS, True),
        ({"environment": "sky"}, Affects.LIGHTING, True),
        ({"accel": "grid"}, Affects.STRUCTURE, True),
        ({"seed": 0}, Affects.NOTHING, False),
    ],
    ids=lambda value: str(value)[:30],
)
def test_updates_begin_the_picture_anew(
    renderer: Renderer, changes: dict[str, Any], affects: Affects, begins_anew: bool
) -> None:
    session = Session(renderer, SIZE, Stop(2), screen=Paper())
    session.finish()
    assert session.update(**changes) == affects
    assert session.idle != begins_anew and (session.samples == 0) == begins_anew
    session.finish()
    np.testing.assert_array_equal(session.linear(), renderer.render(SIZE, 2).linear)


def test_a_failed_update_lets_the_picture_go_on(renderer: Renderer) -> None:
    session = Session(renderer, SIZE, Stop(3), screen=Paper())
    session.finish(converged=False)
    samples = session.samples
    for changes in ({"environment": "missing.hdr"}, {"traversal": "dda"}, {"light": {"nobody": (0, 0, 0)}}):
        with pytest.raises(ViewerError):
            session.update(**changes)
        assert session.samples == samples
    session.finish()
    np.testing.assert_array_equal(session.linear(), renderer.render(SIZE, 3).linear)


def test_a_scene_that_changes_ends_a_preview(renderer: Renderer) -> None:
    paper = Paper()
    session = Session(renderer, (300, 200), Stop(2), screen=paper)
    session.finish(converged=False)
    session.update(seed=1)
    session.advance(1e-6)
    assert session.previewing
    session.update(seed=2)  # it is finished first
    assert session.previewing and "drop" not in paper.said
    matrix = renderer.scene.instances[0].transform.copy()
    matrix[0, 3] += 10.0
    session.update(renderer.scene.moved(np.array([0]), matrix[None]))
    assert not session.previewing and paper.said[-1] == "drop"
    session.finish()
    np.testing.assert_array_equal(session.linear(), renderer.render((300, 200), 2).linear)
