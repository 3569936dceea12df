"""Limits of runs, where a driver ends loops after so much work."""

from __future__ import annotations

import pytest

from raystream.stream.machines.singlepass import SampleBatches


def brought(batches: SampleBatches, end: int, at: int, most: int, others: list[int] | None = None) -> tuple[int, int]:
    """Where a ray comes from ``at`` on a driver that lets it have up to ``most`` of the limit in a run, in how many
    runs; alone, by another machine, where not even one is let through: ``others`` then gets the limit."""
    runs = 0
    for to in batches.ends(end):
        runs += 1
        done = to - at <= most
        if done or batches.is_smallest:
            at = max(at, to)
        helped = not done and batches.is_smallest
        batches.record(done or helped, not helped)
        if helped and others is not None:
            others.append(to)
    return at, runs


@pytest.mark.parametrize("most", [0, 1, 3, 7, 20, 1000])
def test_every_ray_comes_to_the_limit(most: int) -> None:
    batches = SampleBatches()
    at = 0
    for end in (1, 2, 4, 8, 16, 64, 65, 66):
        at, runs = brought(batches, end, at, most)
        assert at == end
        assert runs <= 2 * end / max(most, 1) + 10
    assert batches.max_samples is None or batches.max_samples <= 2 * max(most, 1)


def test_nothing_changes_where_no_loop_is_ended() -> None:
    batches = SampleBatches()
    for end in (1, 4, 4, 16, 2, 256):
        assert brought(batches, end, 0, 256) == (end, 1)
    assert batches.max_samples is None


@pytest.mark.parametrize("most", [1, 3, 7])
def test_rays_that_are_not_where_they_were_thought(most: int) -> None:
    """Another picture's, which begin anew, and several tiles brought to the same limit."""
    batches = SampleBatches()
    others: list[int] = []
    for at, end in [(0, 16), (16, 32), (16, 32), (0, 48), (0, 8), (0, 8), (8, 64), (30, 64), (63, 64)]:
        found, runs = brought(batches, end, at, most, others)
        assert found == end and runs <= 2 * end / most + 10
    assert not others, "single-kernel passes are for what no portion lets through"


def test_portions_grow_again() -> None:
    """After a costly picture a cheap one is soon brought in few runs."""
    batches = SampleBatches()
    assert brought(batches, 64, 0, 1)[1] >= 64
    total = sum(brought(batches, 256, 0, 256)[1] for _ in range(4))
    assert total <= 100 and batches.max_samples is not None and batches.max_samples >= 128
    assert brought(batches, 256, 0, 256)[1] <= 2


@pytest.mark.parametrize("most", [1, 3, 7, 20])
def test_larger_portions_are_tried_ever_more_seldom(most: int) -> None:
    """On a driver that never lets more through: some ten of a thousand batches or two are in vain."""
    batches, runs = SampleBatches(), 0
    for _ in range(10):
        at, more = brought(batches, 100 * most, 0, most)
        assert at == 100 * most
        runs += more
    assert batches.max_samples is not None and most / 2 < batches.max_samples <= 2 * most
    assert runs <= 100 * most / (most // 2 + 1) * 10 + 40
