"""The radiance estimate in tiles: counts against a loop over passes, and against the machine's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reproduction import photon_cases, timed
from reproduction.photon_cases import VISITS, calls, gains, in_tiles
from reproduction.sections import photon_times as tiles


def drawn(visits: Any, edge: int) -> tuple[int, int]:
    """Tiles and fragments, pass by pass."""
    height, width = visits.shape
    draws = fragments = 0
    for number in range(visits.max()):
        for top in range(0, height, edge):
            for left in range(0, width, edge):
                tile = visits[top : top + edge, left : left + edge]
                if (tile > number).any():
                    draws += 1
                    fragments += tile.size
    return draws, fragments


@pytest.mark.parametrize("edge", [1, 3, 4, 16, 32])
def test_tiles_are_drawn_until_their_last_pixel_is_done(edge: int) -> None:
    visits = np.random.default_rng(63).integers(0, 9, (21, 34))
    found = in_tiles(visits, edge)
    assert (found.draws, found.fragments) == drawn(visits, edge) and found.passes == visits.max()


def test_gains_grow_as_tiles_get_smaller_up_to_those_of_single_pixels() -> None:
    visits = np.random.default_rng(64).integers(0, 9, (21, 34))
    found = gains(visits, (1, 2, 4, 64))
    assert found["gains"]["64"] == 1
    assert found["gains"]["1"] == visits.max() * visits.size / visits.sum()
    assert found["gains"]["1"] >= found["gains"]["2"] >= found["gains"]["4"] >= 1


def test_calls_of_pixels_are_the_machine_s(device: Any) -> None:
    renderer, size = photon_cases.renderer_of("GLASS BALL", device, True)
    visits = calls(renderer, size)
    stats = renderer.render(size, spp=1, stats=True).stats
    renderer.release()
    for state in VISITS:
        assert visits[state].shape == size[::-1]
        assert visits[state].sum() == stats.kernels[state].calls > 0


def test_conclusions_on_tiles_have_the_clock_beside_the_counts(context: Any, monkeypatch: Any) -> None:
    """The largest gain by counts, none by the clock: in part."""
    gained = {"gains": {"16": 6.0, "1": 7.0}, "longest": 9, "mean": 2, "radii": {}, "quad": 10, "pixels": 256}
    gained["tiles"] = {"16": (1, 1, 1), "1": (1, 1, 1)}
    seconds = {tiles.QUAD: 2.0, tiles.IN_TILES: 4.0, tiles.PIXELS: 1.0}
    one = timed.Spread((1.0,))
    clock = {way: timed.Timed(one, one, {"seconds": timed.Spread((each,))}) for way, each in seconds.items()}
    said = list(tiles.tiles_conclusions({"GLASS BALL": gained}, clock, "6.8 and 2"))
    assert [each.verdict for each in said] == ["in part", "holds"]
    assert "6 by counts" in said[0].figure and "0.5 by the clock" in said[0].figure
    assert "7 over one quad by counts" in said[1].figure and "2 by the clock" in said[1].figure
