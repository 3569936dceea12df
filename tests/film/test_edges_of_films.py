"""Values at the edges: progress by the nearer rule, the pause after a slow save, whole numbers beyond 2^24."""

from __future__ import annotations

import pytest

from raystream.film.error import Stop


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
