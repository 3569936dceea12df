"""What a farm refuses, in one line each."""

from __future__ import annotations

from typing import Any

import pytest

import raystream
from raystream.farm import task_scheduler
from raystream.farm.pictures import render_on
from raystream.farm.units import Build, Unit, check_builds, sample_units, tile_side, tile_units
from raystream.film.film import Film


def test_builds_are_listed_with_their_workers() -> None:
    """One by its address, the others by their number."""
    one, other = Build("1", "aa", "llvmpipe"), Build("2", "bb", "radeonsi")
    listed = "raystream 1 (aa), llvmpipe on a{}; raystream 2 (bb), radeonsi on d "
    for workers, more in (("ad", ""), ("abd", " and 1 more"), ("abcd", " and 2 more")):
        with pytest.raises(raystream.ViewerError) as caught:
            check_builds({name: other if name == "d" else one for name in workers}, mixed=False)
        assert listed.format(more) in str(caught.value)


def test_workers_with_other_code(scheduler: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(task_scheduler, "source_digest", lambda: "other")
    renderer = raystream.Renderer("cornell", machine="singlepass", depth=1)
    with pytest.raises(raystream.ViewerError, match="has other code"):
        render_on(renderer, scheduler, size=(32, 32), spp=1)
    assert render_on(renderer, scheduler, mix_builds=True, size=(32, 32), spp=1).linear.any()
    renderer.release()


@pytest.mark.parametrize(
    ("options", "drawn", "said"),
    [
        ({"program": "cast"}, {}, "adds no samples"),
        ({}, {"error": 0.1}, "error= looks at the whole picture"),
        ({}, {"time": 1.0}, "time= looks at the whole picture"),
        ({}, {"sample_range": 4}, "units are tiles"),
        ({"program": "photon", "photons": 64}, {"unit": "samples"}, "follow each other"),
        ({}, {"unit": "pixels"}, "expected tiles or samples"),
    ],
)
def test_what_cannot_be_cut(options: dict[str, Any], drawn: dict[str, Any], said: str) -> None:
    """Before any worker is asked."""
    renderer = raystream.Renderer("cornell", machine="singlepass", **options)
    with pytest.raises(raystream.ViewerError, match=said):
        render_on(renderer, "tcp://127.0.0.1:1", size=(8, 8), **drawn)
    renderer.release()


@pytest.mark.parametrize(
    ("size", "workers", "side"),
    [((1200, 800), 16, 100), ((8192, 8192), 4, 256), ((64, 64), 64, 32), ((6000, 10), 1, 100), ((10, 10), 1, 32)],
)
def test_tiles_are_neither_large_nor_small(size: tuple[int, int], workers: int, side: int) -> None:
    """Six for each worker; what dies with a worker is bounded, and so is what passes cost beside rays."""
    assert tile_side(size, workers) == side


def test_units_cover_the_picture_once() -> None:
    side = tile_side((100, 70), 2)
    covered = [
        (x, y)
        for unit in tile_units((100, 70), 3, side)
        for y in range(*unit.region[0].indices(70))
        for x in range(*unit.region[1].indices(100))
    ]
    assert len(covered) == len(set(covered)) == 100 * 70
    assert [(u.first, u.samples) for u in sample_units((4, 4), 5, 20, 8)] == [(5, 3), (8, 8), (16, 4)]


def test_units_of_a_picture_that_has_begun() -> None:
    """Complete tiles are left out; one that has begun goes on from its film, and costs the rest."""
    film = Film(96, 32)
    film.count[:, :32], film.count[:, 32:33] = 4, 4
    found = list(tile_units((96, 32), 4, 32, film))
    assert [(unit.left, unit.width, unit.film is None, unit.cost) for unit in found] == [
        (32, 32, False, 31 * 32 * 4),
        (64, 32, True, 32 * 32 * 4),
    ]
    film.count[:] = 4
    assert not list(tile_units((96, 32), 4, 32, film)) and len(list(tile_units((96, 32), 5, 32, film))) == 3


def test_pixels_with_more_samples_than_asked_for() -> None:
    """As a render to an error leaves them: they cost nothing, and take nothing off what the others cost."""
    film = Film(4, 2)
    film.count[:] = [[9, 9, 1, 0], [3, 4, 5, 9]]
    (unit,) = tile_units((4, 2), 4, 32, film)
    assert unit.cost == (3 + 4) + 1 and Unit(0, 0, 4, 2, 1, film=film).cost == 1
    assert Unit(0, 0, 4, 2, 0, film=film).cost == 0 and isinstance(unit.cost, float)
