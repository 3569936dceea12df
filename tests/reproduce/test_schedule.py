"""The simulated scheduler, against one that moves every call."""

from __future__ import annotations

import numpy as np
import pytest
from reproduction.simulators.schedule import Runs, Simulation

from raystream.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold

POLICIES: tuple[Policy, ...] = (
    Sweep(),
    Naive(),
    MostWork(),
    Threshold(0.2, "active"),
    Threshold(0.2, "all"),
    Threshold(1.0, "active"),
    Threshold(0.01, "all"),
)


def _random_rays(rng: np.random.Generator, rays: int = 60) -> list[list[int]]:
    """Runs of random rays, a few of which never enter the loop, and one of which has a long last run."""
    out = [list(rng.integers(1, 9, rng.integers(0, 12))) for _ in range(rays)]
    out[rays // 2] = [3, 70]
    return [[int(n) for n in ray] for ray in out]


def _call_by_call(rays: list[list[int]], policy: Policy) -> tuple[int, list[int], list[int]]:
    """Passes, passes of each kernel, and rays served by each: every ray moved one call at a time."""
    calls = [[k % 2 for k, n in enumerate(ray) for _ in range(n)] for ray in rays]  # 0 traversal, 1 intersection
    at = [0] * len(rays)
    passes, served = [0, 0], [0, 0]
    while True:
        waits = [calls[i][at[i]] if at[i] < len(calls[i]) else None for i in range(len(rays))]
        waiting = [waits.count(0), waits.count(1)]
        if not any(waiting):
            return sum(passes), passes, served
        for kernel in policy.choose(waiting, len(rays)):  # each behind a mask of its own
            ran = [i for i in range(len(rays)) if at[i] < len(calls[i]) and calls[i][at[i]] == kernel]
            passes[kernel] += bool(ran)
            served[kernel] += len(ran)
            for i in ran:
                at[i] += 1


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_simulated_scheduler_equals_one_that_moves_every_call(policy: Policy) -> None:
    for seed in range(5):
        rays = _random_rays(np.random.default_rng(seed))
        found = Simulation(Runs.from_lists(rays)).play(policy)
        passes, by_kernel, served = _call_by_call(rays, policy)
        assert (found.passes, list(found.by_kernel), list(found.served)) == (passes, by_kernel, served)
        assert found.active_share(len(rays)) == pytest.approx(sum(served) / passes / len(rays))


@pytest.mark.parametrize("of", ["active", "all"])
@pytest.mark.parametrize("percent", [1, 20, 50, 100])
def test_simulated_thresholds_are_the_rule_s(percent: int, of: str) -> None:
    """Against the rule written out: intersect once so many percent wait for it, or nobody for traversal."""

    class Rule:
        counts = True

        def choose(self, waiting: list[int], total: int) -> list[int]:
            first, second = waiting
            whole = total if of == "all" else first + second
            return [int(second > 0 and (100 * second >= percent * whole or first == 0))]

    rays = _random_rays(np.random.default_rng(percent))
    found = Simulation(Runs.from_lists(rays)).play(Threshold(percent / 100, of))
    passes, by_kernel, served = _call_by_call(rays, Rule())
    assert (found.passes, list(found.by_kernel), list(found.served)) == (passes, by_kernel, served)


def test_no_policy_takes_fewer_passes_than_the_bound() -> None:
    rays = _random_rays(np.random.default_rng(9))
    runs = Runs.from_lists(rays)
    assert runs.bound == max(sum(r[::2]) for r in rays) + max(sum(r[1::2]) for r in rays)
    assert runs.calls == sum(map(sum, rays)) == runs.steps.sum() + runs.tests.sum()
    simulation = Simulation(runs)
    assert all(simulation.play(policy).passes >= runs.bound for policy in POLICIES)
    assert Simulation(Runs.from_lists([[5, 3]])).play(Naive()).passes == 8  # one ray: the bound itself
