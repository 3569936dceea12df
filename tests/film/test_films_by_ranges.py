"""The film of a picture whose samples are summed range by range: which are missing, and when it is saved."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.film.film import Film
from raystream.renderer.sampling import partial_film
from raystream.renderer.sampling.partial_film import FilmPart, film_by_ranges, sample_ranges


@pytest.mark.parametrize(
    ("before", "samples", "length", "ranges"),
    [
        (0, 10, 4, [(0, 4), (4, 4), (8, 2)]),
        (3, 10, 4, [(3, 1), (4, 4), (8, 2)]),
        (4, 5, 4, [(4, 1)]),
        (0, 4, 4, [(0, 4)]),
        (5, 5, 4, []),
        (9, 5, 4, []),
    ],
)
def test_ranges_that_are_missing(before: int, samples: int, length: int, ranges: list[tuple[int, int]]) -> None:
    assert list(sample_ranges(before, samples, length)) == ranges


class Saving:
    """A checkpoint's file: which counts it was given, whether it is due at each range and worth it at the end."""

    def __init__(self, due: list[bool], worth: bool = True) -> None:
        self.turns, self.kept, self.counts = iter(due), worth, list[float]()

    def due(self) -> bool:
        return next(self.turns)

    def worth(self, size: tuple[int, int], stop: BaseException) -> bool:
        assert isinstance(stop, KeyboardInterrupt)
        return self.kept

    def save(self, film: Film) -> None:
        self.counts.append(float(film.count.min()))


def parts(monkeypatch: pytest.MonkeyPatch, stops_at: int = 99) -> list[tuple[int, int]]:
    """The ranges that are rendered, each without work."""
    ranges: list[tuple[int, int]] = []

    def film_of_part(renderer: Any, part: FilmPart, stats: Any, progress: Any) -> Film:
        if part.first >= stops_at:
            raise KeyboardInterrupt
        ranges.append((part.first, part.samples))
        film = Film(*part.size)
        film.count[:] = part.samples
        progress(0.5)
        return film

    monkeypatch.setattr(partial_film, "film_of_part", film_of_part)
    monkeypatch.setattr(partial_film, "check_ranges", lambda renderer, option: None)
    monkeypatch.setattr(Film, "join", lambda film, other: film.count.__iadd__(other.count), raising=True)
    return ranges


def test_a_film_is_saved_where_that_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    ranges, state, told = parts(monkeypatch), Saving([False, True, True]), list[tuple[float, str]]()
    film = film_by_ranges(
        SimpleNamespace(), FilmPart((3, 2), 10), 4, state=state, progress=lambda *line: told.append(line)
    )
    assert ranges == [(0, 4), (4, 4), (8, 2)] and state.counts == [8.0, 10.0] and np.all(film.count == 10)
    assert told == [(0.2, "0 of 10 samples"), (0.6, "4 of 10 samples"), (0.9, "8 of 10 samples")]


@pytest.mark.parametrize(("stops_at", "worth", "counts"), [(4, True, [4.0]), (4, False, []), (0, True, [])])
def test_a_film_is_saved_on_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, stops_at: int, worth: bool, counts: list[float]
) -> None:
    """If it has samples, and is worth it."""
    parts(monkeypatch, stops_at)
    state = Saving([False] * 3, worth)
    with pytest.raises(KeyboardInterrupt):
        film_by_ranges(SimpleNamespace(), FilmPart((3, 2), 10), 4, state=state)
    assert state.counts == counts
