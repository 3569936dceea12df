"""Values at the edges: progress by the nearer rule, the pause after a slow save, whole numbers beyond 2^24."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from raystream.film.error import Stop
from raystream.film.files import image
from raystream.film.files.checkpoint import PAUSE, Checkpoint
from raystream.film.film import Film


@pytest.mark.parametrize(
    ("rule", "samples", "seconds", "share"),
    [
        (Stop(10), 5, 99.0, 0.5),
        (Stop(10), 0, 99.0, 0.0),
        (Stop(10, seconds=20.0), 1, 5.0, 0.25),
        (Stop(10, seconds=20.0), 8, 5.0, 0.8),
        (Stop(10, seconds=20.0), 2.5, 5.0, 0.25),
        (Stop(10, seconds=20.0), 1, 30.0, 1.0),
        (Stop(10, error=0.1), 4, 9.0, 0.4),
        (Stop(10), 12, 0.0, 1.0),
    ],
)
def test_progress_is_that_of_the_rule_that_is_nearer_its_end(
    rule: Stop, samples: float, seconds: float, share: float
) -> None:
    assert rule.share(samples, seconds) == share


def test_after_a_slow_save_the_next_waits_ten_times_as_long(tmp_path: Path) -> None:
    """A tenth of the time goes into saving, at most."""
    film = Film(2, 2)
    film.add(np.ones((2, 2, 3)))

    def clock() -> Iterator[float]:
        yield from (0.0, 100.0, 120.0)  # when it is made, when saving begins, and when it ends
        while True:
            yield now[0]

    now, ticks = [120.0], clock()
    state = Checkpoint(tmp_path / "a.exr", {}, clock=lambda: next(ticks))
    state.save(film)
    for seconds, due in ((61.0, False), (PAUSE * 20.0 - 1, False), (PAUSE * 20.0, True)):
        now[0] = 120.0 + seconds
        assert state.due() == due
    assert PAUSE == 10


@pytest.mark.parametrize("largest", [(1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 31) - 1])
def test_triangle_numbers_of_an_exr_are_exact(tmp_path: Path, largest: int) -> None:
    """Float32 as far as it is exact; beyond, whole numbers, with 2^32 - 1 where nothing is hit."""
    numbers = np.int64([[largest, largest - 1], [0, -1]])
    image.save(tmp_path / "a.exr", np.zeros((2, 2, 3)), {"triangle": numbers})
    found = image.read_exr(tmp_path / "a.exr")[1]["triangle"]
    whole = largest > 1 << 24
    assert found.dtype == (np.uint32 if whole else np.float32)
    np.testing.assert_array_equal(found.astype(np.int64), np.where(numbers < 0, 0xFFFFFFFF if whole else -1, numbers))
