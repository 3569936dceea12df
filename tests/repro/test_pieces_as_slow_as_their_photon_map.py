"""Steps of a photon map counted as steps of the picture: one slow one, and the picture was cut into the least of
pieces, of which each turn of the window then began but one."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import raystream
from raystream import Renderer
from raystream.film.device_film import FilmBuffer
from raystream.renderer.preview.scheduler import MIN_ROWS, TileRows
from raystream.renderer.sampling.sampler import Event, FramePlan, PhotonMapBuilt, PhotonMapProgress
from raystream.renderer.session.session import Session


def test_a_slow_step_is_forgotten() -> None:
    pace = TileRows(256)
    pace.note(0.5)
    steps = 0
    while pace.expected > 0.01:
        pace.note(0.001)
        steps += 1
    assert steps <= 12  # 0.7 to the 11th is a fiftieth


def test_a_map_is_no_piece(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its steps take, the rows of the next piece are chosen by what the pieces take."""
    events: list[Event] = []
    noted: list[Event] = []

    class Watched(TileRows):
        def note(self, seconds: float) -> None:
            noted.append(events[-1])
            super().note(seconds)

    renderer = Renderer(
        raystream.load("cornell"), device=device, program="photon", machine="singlepass", photons=64, photon_bounces=1
    )
    render_tiles = renderer.sampler.render_tiles

    def watched(plan: FramePlan, film: FilmBuffer | None = None) -> Generator[Event, None, None]:
        for event in render_tiles(plan, film):
            events.append(event)
            yield event

    monkeypatch.setattr(renderer.sampler, "render_tiles", watched)
    session = Session(renderer, (8, 6))
    session.scheduler.tile_rows = Watched(MIN_ROWS)
    session.finish()
    session.release()
    mapped = [event for event in events if isinstance(event, PhotonMapProgress | PhotonMapBuilt)]
    assert renderer.photon_map.trace_count == 1 and len(mapped) > 1 and isinstance(mapped[-1], PhotonMapBuilt)
    assert session.steps > len(noted) > 0 and not any(
        isinstance(event, PhotonMapProgress | PhotonMapBuilt) for event in noted
    )
