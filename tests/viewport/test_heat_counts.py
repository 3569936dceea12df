"""The heat map by a renderer whose tiles are written down: what is counted where, in which time, and its colours."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.sampling.sampler import FramePlan, PhotonMapBuilt, PhotonMapProgress, TileDone, TilePass
from raystream.scene.camera import Camera
from raystream.viewport.debug_views import debug_views, false_color
from raystream.viewport.debug_views.debug_views import COARSE, Heat

SIZE = (20, 12)  # coarse: 3 x 2
START = Camera((0, 0, 5), (0, 0, 0))
COUNTS = np.arange(240, dtype=np.int32).reshape(12, 20)
ROUGH = np.array([[5, 6, 100], [8, 9, 10]], np.int32)


class Renderer:
    """Renders the whole picture in two tiles, each a pass and its end, of 0.01 s; the coarse one in one."""

    def __init__(self, clock: list[float], maps_photons: bool = False) -> None:
        self.clock, self.maps_photons = clock, maps_photons
        self.device, self.settings, self.sampler = SimpleNamespace(software=True), "settings", self
        self.camera = START
        self.plans: list[FramePlan] = []
        self.warmed: list[Any] = []

    def warm(self, settings: Any, camera: Any, tile: Any, counting: bool) -> Iterator[float]:
        for share in (0.5, 1.0):
            self.warmed.append((tile, counting, share))
            yield share

    def ready(self, settings: Any, camera: Any, tile: Any, counting: bool) -> bool:
        return bool(self.warmed) and counting

    def render_tiles(self, plan: FramePlan) -> Iterator[Any]:
        self.plans.append(plan)
        return self._tiles(plan)

    def _tiles(self, plan: FramePlan) -> Iterator[Any]:
        width, height = plan.size
        counts = COUNTS if (width, height) == SIZE else ROUGH
        if self.maps_photons:
            for event in (PhotonMapProgress(0.0), PhotonMapBuilt(0.0)):
                self.clock[0] += 1.0
                yield event
        rows = [slice(0, 8), slice(8, 12)] if (width, height) == SIZE else [slice(0, height)]
        for number, each in enumerate(rows):
            calls = np.zeros(400, np.int32)  # streams are larger than a tile
            part = counts[each].ravel()
            calls[: part.size] = part
            machine: Any = SimpleNamespace(stats=SimpleNamespace(calls={"traverse": calls, "intersect": calls + 1}))
            tile: Any = SimpleNamespace(rows=each, columns=slice(0, width), machine=machine)
            self.clock[0] += 0.01
            yield TilePass((number + 0.5) / len(rows), tile)
            self.clock[0] += 0.01
            yield TileDone((number + 1) / len(rows), tile)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(debug_views, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return now


def opened(clock: list[float], what: str = "steps", limit: float | None = None, photons: bool = False) -> Heat:
    renderer: Any = Renderer(clock, photons)
    return Heat(renderer, START, SIZE, what, limit)


@pytest.mark.parametrize(("what", "more"), [("steps", 0), ("tests", 1)])
def test_the_whole_map(clock: list[float], what: str, more: int) -> None:
    made = opened(clock, what)
    assert COARSE == 8 and made.rough.shape == (2, 3) and made.counts.shape == (12, 20)
    assert (made.rough == -1).all() and (made.counts == -1).all() and made.progress == 0.0
    assert made.advance() and made.complete and made.ready and made.progress == 1.0
    np.testing.assert_array_equal(made.counts, COUNTS + more)
    np.testing.assert_array_equal(made.rough, ROUGH + more)
    assert made.limit == 100.0 + more
    coarse, full = made.renderer.plans  # type: ignore[attr-defined]
    assert (coarse.size, full.size) == ((3, 2), SIZE)
    assert coarse.camera == full.camera == START and coarse.layers == full.layers == (what,)
    assert coarse.tiling is not None and coarse.tiling.size == debug_views.stream_shape(True)
    assert made.advance() and len(made.renderer.plans) == 2  # type: ignore[attr-defined]


def test_what_nothing_counts(clock: list[float]) -> None:
    with pytest.raises(ViewerError, match=r"nothing counts 'boxes' \(one of steps, tests\)"):
        opened(clock, "boxes")


def test_coarse_first(clock: list[float]) -> None:
    made = opened(clock)
    assert made.advance(rough=True) and made.ready and not made.complete
    assert made.limit == 100.0 and (made.counts == -1).all() and made.progress == 0.0
    assert made.advance(rough=True) and (made.counts == -1).all()


def test_a_coarse_map_s_tile_is_always_finished(clock: list[float]) -> None:
    made = opened(clock)
    assert not made.advance(0.0)
    assert (made.rough == -1).all(), "a piece of it"
    made = opened(clock)
    assert not made.advance(0.0, rough=True)
    np.testing.assert_array_equal(made.rough, ROUGH)
    assert made.advance(0.0, rough=True), "its end takes no time"


@pytest.mark.parametrize(
    ("budget", "shares"),
    [
        (0.0, [0.25, 0.5, 0.75, 1.0]),
        (0.019, [0.25, 0.5, 0.75, 1.0]),  # the next step would end after it
        (0.021, [0.5, 1.0]),
        (0.031, [0.75, 1.0]),
        (0.045, [1.0]),
    ],
)
def test_pieces_of_a_budget(clock: list[float], budget: float, shares: list[float]) -> None:
    """Steps of 0.01 s, of which the next one is expected to take as long: as many as fit, the first in any case."""
    made = opened(clock)
    made.advance(rough=True)
    seen = []
    while not made.complete:
        made.advance(budget)
        seen.append(made.progress)
    assert list(dict.fromkeys(seen)) == shares


def test_photon_maps_have_no_tile_s_time(clock: list[float]) -> None:
    """Nor any counts: a second of theirs is not what a step takes."""
    made = opened(clock, photons=True)
    assert not made.advance(0.0) and made._rows.expected == 0.0
    while not made.complete:
        made.advance(0.0)
    assert made._rows.expected == pytest.approx(0.01, abs=0.011)
    np.testing.assert_array_equal(made.counts, COUNTS)


def test_the_renderer_was_used_elsewhere(clock: list[float]) -> None:
    """A tile that is cut begins anew; whole ones stay, and so does a map between two tiles."""
    made = opened(clock)
    made.advance(rough=True)
    plans = made.renderer.plans  # type: ignore[attr-defined]
    made.interrupted()
    assert len(plans) == 2, "nothing was cut"
    made.advance(0.0)
    assert made.progress == 0.25
    made.interrupted()
    made.interrupted()
    assert len(plans) == 3 and plans[2].size == SIZE
    made.advance(0.0)
    made.advance(0.0)
    assert made.progress == 0.5 and (made.counts[:8] >= 0).all() and (made.counts[8:] == -1).all()
    made.interrupted()
    assert len(plans) == 3
    made.advance()
    np.testing.assert_array_equal(made.counts, COUNTS)


@pytest.mark.parametrize(
    ("limit", "found"), [(None, 100.0), (50.0, 50.0), (49.9, 100.0), (200.0, 200.0), (200.1, 100.0), (100.0, 100.0)]
)
def test_colours_of_another_map_are_kept_where_they_suit(clock: list[float], limit: float | None, found: float) -> None:
    """From half to twice its own."""
    made = opened(clock, limit=limit)
    made.advance(rough=True)
    assert made.limit == found
    made.advance()
    assert made.limit == found


def test_what_is_shown_so_far(clock: list[float]) -> None:
    """Coarse blocks of eight pixels, and counts where they are known."""
    made = opened(clock)
    assert (made.show().picture == false_color.NONE).all() and made.show().legend.title.startswith("steps per ray (0 %")
    made.advance(rough=True)
    blocks = np.repeat(np.repeat(ROUGH, 8, axis=0), 8, axis=1)[:12, :20]
    while made.progress < 0.5:
        made.advance(0.0)
    expected = np.where(np.arange(12)[:, None] < 8, COUNTS, blocks)
    shown = made.show()
    wanted = false_color.count("steps per ray (50 % counted)", expected, expected >= 0, "steps", 100.0)
    np.testing.assert_array_equal(shown.picture, wanted.picture)
    assert shown.legend.title == wanted.legend.title and shown.legend.ramps[0].high == 100.0
    made.advance()
    assert made.show().legend.title == "steps per ray, 239 at most"
    made.limit = None
    shown = made.show()
    wanted = false_color.count("steps per ray", COUNTS, COUNTS >= 0, "steps")
    np.testing.assert_array_equal(shown.picture, wanted.picture)
    assert shown.legend.ramps[0].high == 239.0


def test_kernels_are_compiled_with_counters(clock: list[float]) -> None:
    made = opened(clock)
    assert not made.compiled
    made.compile()
    tile = debug_views.stream_shape(True)
    assert made.compiled and made.renderer.warmed == [(tile, True, 0.5), (tile, True, 1.0)]  # type: ignore[attr-defined]
