"""What a session decides between two runs: sizes, how many samples come next, and how large pieces are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

import raystream
from raystream import Renderer
from raystream.film.error import Stop
from raystream.renderer.device.tile_job import tiles
from raystream.renderer.preview import frame
from raystream.renderer.preview.scheduler import MAX_STEP, Batches, TileRows
from raystream.renderer.session import session as session_module
from raystream.renderer.session.session import Session

SIZE = (8, 6)
PIXELS = SIZE[0] * SIZE[1]


@pytest.fixture(scope="module")
def renderer(device: Any) -> Iterator[Renderer]:
    made = Renderer(raystream.load("cornell"), device=device, machine="singlepass", depth=1)
    yield made
    made.release()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a tenth of a millisecond whenever somebody looks at it."""
    ticks = count()
    slow = SimpleNamespace(perf_counter=lambda: next(ticks) * 1e-4)
    for module in (session_module, frame):
        monkeypatch.setattr(module, "time", slow)


def runs(session: Session, rate: float) -> list[int]:
    """The samples after each run, at so many samples a second."""
    found = []
    while not session.idle:
        session.scheduler.rate = rate
        session.advance(0.0)
        while session.running:
            session.advance(0.0)
        found.append(session.samples)
    return found


def test_a_minimised_window_keeps_its_picture(renderer: Renderer) -> None:
    session = Session(renderer, SIZE, Stop(2))
    session.finish()
    for size in ((0, 0), (0, 6), (8, 0), SIZE):
        session.resize(size)
        assert session.size == SIZE and session.idle and session.samples == 2
    session.release()


@pytest.mark.parametrize(
    ("growth", "expected"), [(2, [1, 3, 7, 15, 31, 40]), (4, [1, 5, 21, 37, 40]), (16, [1, 17, 33, 40])]
)
def test_a_run_is_so_many_times_as_long_as_the_one_before(
    renderer: Renderer, clock: None, growth: int, expected: list[int]
) -> None:
    """At most sixteen samples, and no more than are wanted."""
    session = Session(renderer, SIZE, Stop(40))
    session.scheduler.batches = Batches(1e9, growth, 1.0)
    assert runs(session, 1e9) == expected
    session.release()


@pytest.mark.parametrize(("seconds", "second"), [(0.55, 5), (1.05, 9), (None, 17)])
def test_a_run_is_no_longer_than_the_time_that_is_left(
    renderer: Renderer, clock: None, seconds: float | None, second: int
) -> None:
    """At eight samples a second, and two seconds for a run: the first is one sample, the next what the time allows."""
    session = Session(renderer, SIZE, Stop(64, seconds=seconds))
    session.scheduler.rate = 8.0 * PIXELS
    seen = []
    while len(seen) < 2:
        session.scheduler.rate = 8.0 * PIXELS
        session.advance(0.0)
        if not session.running:
            seen.append(session.samples)
    assert seen == [1, second]
    session.release()


def test_another_error_is_looked_at_at_once(renderer: Renderer) -> None:
    """However long ago the film was looked at for the old one."""
    session = Session(renderer, SIZE, Stop(4096, error=1e-6, _last_check=1000))
    session.stop_at(64, 0.5)
    assert session.stop == Stop(64, error=0.5) and session.stop.needs_error(16) and not session.stop.needs_error(15)
    session.stop_at(64, 0.0)
    assert session.stop == Stop(64) and not session.stop.needs_error(64)
    session.release()


def test_cheap_rows_leave_room_for_the_dearest() -> None:
    """As many as would take the longest step that is allowed, if they cost as much as the dearest seen twice."""
    pace, dear = TileRows(128), MAX_STEP / 12.5
    for _ in range(3):
        pace.note(pace.next() * dear)
    assert pace.next() == 8  # the least
    rows = []
    for _ in range(3):
        pace.note(1e-9)
        rows.append(pace.next())
    assert rows == [12, 12, 12]
    pace.forget()  # by a fifth for each picture
    pace.note(1e-9)
    assert pace.next() == 15


def test_narrow_tiles_are_higher() -> None:
    """A piece of so many rays, whatever its shape: the last column of 44 pixels is 58 rows high instead of 10."""
    found = list(tiles((300, 100), (256, 128), lambda: 10))
    assert [(r.start, r.stop) for r, c in found if c.start == 0] == [(k, k + 10) for k in range(0, 100, 10)]
    assert [(r.start, r.stop, c.start, c.stop) for r, c in found if c.start] == [(0, 58, 256, 300), (58, 100, 256, 300)]


def test_another_picture_s_seconds_begin_anew(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of time is of each picture."""
    now = [3.0]
    monkeypatch.setattr(session_module, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    session = Session(renderer, (4, 4))
    now[0] += 0.25
    assert session.convergence.elapsed == 0.25
    session.convergence.begin()
    assert session.convergence.elapsed == 0.0
    session.release()
