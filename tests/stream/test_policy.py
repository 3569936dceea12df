"""Policies choose from counts alone."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.stream.machines.policy import MostWork, Naive, Sweep, Threshold, policy

waiting = st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any)


def test_naive_takes_the_latest():
    assert Naive().choose([5, 1, 0], 10) == [1]
    assert Naive().choose([5, 0, 0], 10) == [0]


def test_most_work_takes_the_fullest_and_the_earliest_of_equals():
    assert MostWork().choose([3, 7, 7], 100) == [1]


def test_sweep_takes_all_and_needs_no_counts():
    assert Sweep().choose([0, 3, 0], 9) == [0, 1, 2] and not Sweep().counts
    assert all(p.counts for p in (Naive(), Threshold(), MostWork()))


@pytest.mark.parametrize(
    ("share", "of", "rays", "total", "chosen"),
    [
        (0.2, "active", [80, 20], 1000, 1),  # 20 % of the active rays, exactly
        (0.2, "active", [81, 19], 1000, 0),
        (0.2, "all", [80, 20], 1000, 0),  # but 2 % of all
        (0.2, "all", [80, 200], 1000, 1),
        (0.07, "all", [50, 7], 100, 1),  # 0.07 * 100 is a little more than 7
        (0.5, "active", [0, 40, 60], 100, 2),
        (0.5, "active", [0, 60, 40], 100, 1),
        (0.9, "active", [0, 60, 40], 100, 1),  # nobody is enough, and none waits for the first: the fullest
        (0.9, "active", [1, 60, 40], 100, 0),
        (1.0, "active", [0, 5], 100, 1),
        (0.0, "active", [5, 0], 100, 0),  # a step that nobody waits for is not served
    ],
)
def test_threshold(share, of, rays, total, chosen):
    assert Threshold(share, of).choose(rays, total) == [chosen]


@given(waiting, st.integers(0, 100), st.sampled_from(["active", "all"]), st.integers(0, 3000))
def test_threshold_is_the_rule_in_whole_numbers(rays, percent, of, more):
    """The latest state but the first for which so many percent wait; else the first; else the fullest. Exactly: shares
    of two places and counts of up to 6,000 are never within a float's rounding of each other unless they are equal."""
    total = sum(rays) + more  # of the stream, rays elsewhere included
    whole = {"active": sum(rays), "all": total}[of]
    enough = [k for k, n in enumerate(rays) if k > 0 and n > 0 and Fraction(n, whole) >= Fraction(percent, 100)]
    expected = enough[-1] if enough else 0 if rays[0] else rays.index(max(rays))
    assert Threshold(percent / 100, of).choose(rays, total) == [expected]


@given(
    waiting, st.floats(0, 1), st.sampled_from(["active", "all"]), st.sampled_from(["naive", "most-work", "threshold"])
)
def test_a_policy_with_counts_never_serves_nobody(rays, share, of, name):
    (chosen,) = policy(name, share, of).choose(rays, 6000)
    assert rays[chosen] > 0


def test_policies_by_name():
    assert policy("threshold", 0.3, "all") == Threshold(0.3, "all")
    with pytest.raises(ViewerError, match=r"unknown policy 'round-robin'.*sweep, naive, threshold, most-work"):
        policy("round-robin")
    for share, of in ((1.5, "active"), (-0.1, "all"), (0.2, "some"), (float("nan"), "all")):
        with pytest.raises(ViewerError, match="threshold"):
            policy("threshold", share, of)
