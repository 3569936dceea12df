"""A session on a canvas: previews that follow the hand, and the full picture in pieces, without a window."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.base.errors import ViewerError
from raystream.renderer.preview.scheduler import SCALES
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.sampler import FramePlan, Tiling
from raystream.renderer.session.session import Session
from raystream.viewport.picture_texture import PictureTexture

SIZE = (300, 150)  # more than a tile wide, and no multiple of one


@pytest.fixture
def session(device: Any) -> Session:
    renderer = Renderer(raystream.load("teapotahedron"), device=device, program="cast")
    return Session(renderer, SIZE, screen=PictureTexture(device))


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (513, 2), (257, 129)])
def test_sizes(session: Session, size: tuple[int, int]) -> None:
    session.resize(size)
    session.finish(converged=False)
    assert session.renderer is not None
    np.testing.assert_array_equal(session.linear(), session.renderer.render(size).linear)


def test_only_previews_while_moving(session: Session) -> None:
    session.finish(converged=False)
    pictures = session.pictures
    for _ in range(3):
        session.restart()
        session.advance(1.0, moving=True)
    assert session.pictures - pictures == 3
    # Each fits a second's budget at full size: then it is complete already.
    assert session.scale == 1.0 and session.complete
    session.restart()
    for _ in range(1000):
        session.advance(0.001, moving=True)  # a millisecond is not enough for the whole
    assert (
        session.scale < 1.0
        and not session.complete
        and session.waiting(moving=True)
        and not session.waiting(moving=False)
    )
    assert session.linear().any()
    session.finish(converged=False)
    assert session.complete and session.scale == 1.0


def test_the_scale_follows_the_rate(session: Session) -> None:
    session.finish(converged=False)
    choose = lambda: session.scheduler.light.choose(SIZE[0] * SIZE[1], 0.02, session.scheduler.rate)  # noqa: E731
    chosen = []
    for rate in (1e3, 1e5, 1e6, 1e9):
        session.scheduler.light.rate = rate
        chosen.append(choose())
    assert chosen[0] == SCALES[-1] and chosen[-1] == 1.0 and chosen == sorted(chosen)
    pixels = SIZE[0] * SIZE[1]
    assert chosen[2] ** 2 * pixels <= 1e6 * 0.02 < (chosen[2] * 2**0.25) ** 2 * pixels
    for share in (1.05, 0.65):  # of the budget, at a rate a little other: the scale stays, or the picture would shimmer
        session.scheduler.light.rate, session.scheduler.light.scale = (
            chosen[2] ** 2 * pixels / (0.02 * share),
            chosen[2],
        )
        assert choose() == chosen[2]
    for share, factor in ((1.15, 2**-0.25), (0.55, 2**0.25)):  # too slow, or too small: the next scale
        session.scheduler.light.rate, session.scheduler.light.scale = (
            chosen[2] ** 2 * pixels / (0.02 * share),
            chosen[2],
        )
        assert choose() == pytest.approx(factor * chosen[2])


def test_a_turn_ends_when_its_seconds_are_over(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that a step takes 3 ms of: so many steps as fit, the first one in any case, whatever the machine."""
    session.finish(converged=False)
    assert session.renderer is not None
    sampler = session.renderer.sampler
    clock, render_tiles = [0.0], sampler.render_tiles
    for module in ("session.session", "preview.frame"):
        name = f"raystream.renderer.{module}.time"
        monkeypatch.setattr(name, SimpleNamespace(perf_counter=lambda: clock[0]))

    def timed(plan: FramePlan, film: Any = None) -> Any:
        assert plan.tiling is not None
        for event in render_tiles(replace(plan, tiling=Tiling(plan.tiling.size, lambda: 1)), film):
            clock[0] += 0.003
            yield event

    monkeypatch.setattr(sampler, "render_tiles", timed)
    session.reset_timing()  # of real steps
    for budget, steps in ((0.0, 1), (0.002, 1), (0.008, 2), (0.0149, 4), (0.0301, 10)):
        session.restart()
        session.convergence.changed = False  # the full picture at once
        before = session.steps
        session.advance(budget)
        assert session.steps - before == steps
        session.abandon()


def test_a_picture_is_never_empty(session: Session) -> None:
    """At rest the full picture begins from the last one, enlarged."""
    session.finish(converged=False)
    before = session.linear().mean()
    session.restart()
    for _ in range(200):
        session.advance(1e-6)
        assert session.linear().mean() > 0.5 * before > 0
        if session.complete:
            break
    assert session.complete


def test_what_cannot_be_made_leaves_the_last_picture(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.finish(converged=False)
    before = session.linear()

    def broken(*_: Any, **__: Any) -> Any:
        raise ViewerError("shader", "broken")
        yield

    assert session.renderer is not None
    monkeypatch.setattr(session.renderer.sampler, "render_tiles", broken)
    session.restart()
    with pytest.raises(ViewerError):
        session.advance(1.0)
    session.fail()
    assert session.idle and not session.complete
    np.testing.assert_array_equal(session.linear(), before)
    monkeypatch.undo()
    session.restart()
    session.finish(converged=False)
    np.testing.assert_array_equal(session.linear(), before)
