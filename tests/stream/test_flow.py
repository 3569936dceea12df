"""Passes only where rays can wait, by the exits of a program: what a machine that does not count them leaves out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from toys import COLLATZ, NESTED, Toy, simulate

from viewer.stream.machines.count import Queries
from viewer.stream.machines.mask import MASKS
from viewer.stream.machines.multipass import Multipass
from viewer.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold
from viewer.stream.machines.tiled import TileLoop

SIZE = (33, 7)
RAYS = SIZE[0] * SIZE[1]


def ran(machine: Multipass, toy: Toy) -> Multipass:
    """After a run that gave what the model does."""
    inputs = toy.fill(RAYS)
    for name, array in inputs.items():
        machine.write(name, array.reshape(SIZE[::-1]))
    machine.finish()
    for name, array in simulate(toy, inputs).streams.items():
        np.testing.assert_array_equal(machine.read(name).reshape(-1), array)
    return machine


@pytest.mark.parametrize("mask", ["depth", "stencil", "kill", "none"])
@pytest.mark.parametrize("policy", [Naive(), Threshold(0.2, "active"), MostWork()])
def test_only_steps_that_rays_may_have_come_to_are_counted(device, policy: Policy, mask: str) -> None:
    """Of a pass of "odd" all rays go to "even": no count pass is needed. The policy takes the same passes."""
    published = ran(Multipass(device, COLLATZ.linked, SIZE, policy=policy, unroll=1, mask=mask, counting=True), COLLATZ)
    found = ran(Multipass(device, COLLATZ.linked, SIZE, policy=policy, unroll=1, mask=mask), COLLATZ).stats
    assert found.kernel_passes == published.stats.kernel_passes
    even = Counter(p.step for p in published.stats.passes)["even"]
    narrowed = int(np.log2(RAYS)) + 2  # at most, as rays are halved
    assert 2 * (1 + even) < found.count_passes <= 2 * (1 + even) + narrowed < published.stats.count_passes


@pytest.mark.parametrize("mask", list(MASKS))
def test_a_loop_within_a_loop_is_run_to_its_end(device, mask: str) -> None:
    """So that a pass of the outer one serves all of its rays: the passes are as many as the longest way has calls."""
    machine = ran(Multipass(device, NESTED.linked, SIZE, policy=Sweep(), unroll=1, mask=mask, counting=True), NESTED)
    passes = Counter(p.step for p in machine.stats.passes if p.fragments)
    assert passes["bounce"] == simulate(NESTED, NESTED.fill(RAYS)).calls["bounce"].max()


@pytest.mark.parametrize("policy", [Sweep(), Naive()])
def test_the_last_rays_are_drawn_in_their_tiles(device, policy: Policy) -> None:
    size = (61, 40)
    seeds = COLLATZ.fill(size[0] * size[1])
    seeds["seed"]["n"] = 5
    seeds["seed"]["n"][1500] = 703  # one long way
    machine = Multipass(device, COLLATZ.linked, size, policy=policy, unroll=1, tile=4)
    machine.write("seed", seeds["seed"].reshape(size[::-1]))
    kept = {machine.tiles.count for _ in machine.run() if not machine.tiles.all}
    assert kept == {1}
    np.testing.assert_array_equal(machine.read("answer").reshape(-1), simulate(COLLATZ, seeds).streams["answer"])


def test_rays_are_looked_for_where_exits_lead(device) -> None:
    """Of three passes each leads to the next, the first to itself, too. A pass without a query may have found rays."""
    queries = Queries(device)
    after = np.array([[True, True, False], [False, False, True], [True, False, False]])
    loop = TileLoop(queries, after, entered=np.array([True, False, False]))
    answers: list[int] = []
    queries.read = lambda query: answers.pop(0)  # type: ignore[method-assign]  # of no draw

    def draw(number: int, *found: int) -> list[bool]:
        answers.extend(found)
        loop.ask(number, asks=bool(found))
        assert loop.may(np.flatnonzero(after[number])) and not loop.over
        loop.read()
        return [loop.any([k]) for k in range(3)]

    assert draw(0, 5) == [True, True, False]
    assert draw(0, 0) == [False, True, False]
    assert draw(1, 2) == [False, False, True]  # all that it served went on
    assert draw(2) == [True, False, False]
    assert draw(0, 0) == [False, False, False] and loop.over
