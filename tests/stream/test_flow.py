"""Passes only where rays can have come to by the exits of a program; the order of states against brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import COLLATZ, NESTED, Toy, simulate

from raystream.stream.compile.link import Element, StateLoop, flatten, weak_topological_order
from raystream.stream.gl.device import Device
from raystream.stream.machines.mask import MASKS
from raystream.stream.machines.multipass import MIN_LOOP_FRACTION, Flow, LoopTiles, Multipass
from raystream.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold

SIZE = (33, 7)
RAYS = SIZE[0] * SIZE[1]


def ran(machine: Multipass, toy: Toy) -> Multipass:
    """After a run that gave the model's results."""
    for _ in passes(machine, toy):
        pass
    return machine


def passes(machine: Multipass, toy: Toy) -> Iterator[int]:
    """The kernel passes at each yield of such a run."""
    toy.write(machine)
    for progress in machine.run():
        yield progress.passes
    for name, array in simulate(toy, toy.fill(RAYS)).streams.items():
        np.testing.assert_array_equal(machine.read(name).reshape(-1), array)


@pytest.mark.parametrize("mask", ["depth", "stencil", "kill", "none"])
@pytest.mark.parametrize("policy", [Naive(), Threshold(0.2, "active"), MostWork()])
def test_only_steps_that_rays_may_have_come_to_are_counted(device: Device, policy: Policy, mask: str) -> None:
    """From "odd" all rays go to "even": no count pass is needed. The policy takes the same passes."""
    options = {"policy": policy, "unroll": 1, "mask": mask}
    published = ran(Multipass(device, COLLATZ.linked, SIZE, counting=True, **options), COLLATZ)
    found = ran(Multipass(device, COLLATZ.linked, SIZE, **options), COLLATZ).stats
    assert found.kernel_passes == published.stats.kernel_passes
    even = Counter(p.step for p in published.stats.passes)["even"]
    narrowed = int(np.log2(RAYS)) + 2  # at most, as rays are halved
    assert 2 * (1 + even) < found.count_passes <= 2 * (1 + even) + narrowed < published.stats.count_passes


def test_steps_are_counted_until_all_rays_are_found(device: Device) -> None:
    """From "take" rays go to "walk" or to itself; were they to go anywhere, most would be found before the end."""
    published = ran(Multipass(device, NESTED.linked, SIZE, policy=Naive(), unroll=1, counting=True), NESTED)
    passes = Counter(p.step for p in published.stats.passes)
    machine = Multipass(device, NESTED.linked, SIZE, policy=Naive(), unroll=1)
    first, flow = next((step, flow) for step, flow in machine.flows.items() if len(flow.after) == 4)
    after = flow.after.copy()
    after[2] = True
    machine.flows[first] = replace(flow, after=after)
    found = ran(machine, NESTED).stats
    assert found.kernel_passes == published.stats.kernel_passes
    everything = 4 + 2 * passes["enter"] + 3 * passes["walk"] + 3 * passes["take"] + passes["bounce"]
    assert found.count_passes < everything


@pytest.mark.parametrize("policy", [Sweep(), Naive()])
@pytest.mark.parametrize("toy", [COLLATZ, NESTED], ids=["collatz", "nested"])
def test_a_machine_may_be_left_after_every_pass(device: Device, toy: Toy, policy: Policy) -> None:
    """Debug views look at its streams then."""
    told = list(passes(Multipass(device, toy.linked, SIZE, policy=policy, unroll=1), toy))
    assert sorted(set(told)) == list(range(1, told[-1] + 1))


def test_a_sweep_draws_no_pass_without_a_ray_that_could_have_come(device: Device, monkeypatch) -> None:
    """Each pass of "odd" follows one of "even" that found rays."""
    order: list[tuple[str, int]] = []
    draw, machine = Multipass._draw, Multipass(device, COLLATZ.linked, SIZE, unroll=1)

    def drawn(self: Multipass, entry, *args, **kept):
        waiting = int((machine.state.read()["at"] == machine.linked.program.number(entry.step.states[0])).sum())
        order.append((entry.step.name, waiting))
        return draw(self, entry, *args, **kept)

    monkeypatch.setattr(Multipass, "_draw", drawn)
    ran(machine, COLLATZ)
    for (before, rays), (name, _) in pairwise(order):
        assert name != "odd" or (before == "even" and rays > 0)
    assert machine.stats.count_passes <= int(np.log2(RAYS)) + 2  # to find the tiles, none for a pass


def test_an_inner_loop_is_left_when_few_of_its_rays_are_in_it(device: Device, monkeypatch) -> None:
    """And is entered again with those that came meanwhile. By tiles, whose rays are not counted, it goes to its end."""
    assert 0 < MIN_LOOP_FRACTION < 1
    for few, mask, least in (
        (MIN_LOOP_FRACTION, "depth", False),
        (0.0, "depth", True),
        (MIN_LOOP_FRACTION, "tiles", True),
    ):
        monkeypatch.setattr("raystream.stream.machines.multipass.MIN_LOOP_FRACTION", few)
        machine = Multipass(device, NESTED.linked, SIZE, unroll=1, mask=mask)
        served: list[str] = []
        draw = machine._draw
        monkeypatch.setattr(
            machine, "_draw", lambda e, *a, _d=draw, _s=served, **k: (_s.append(e.step.name), _d(e, *a, **k))[1]
        )
        ran(machine, NESTED)
        wanted = simulate(NESTED, NESTED.fill(RAYS)).calls["bounce"].max()  # rounds of the outer loop, at least
        assert (served.count("bounce") == wanted) == least, (few, mask, served.count("bounce"), wanted)


@pytest.mark.parametrize("mask", [name for name in MASKS if name != "tiles"])
@pytest.mark.parametrize("policy", [Sweep(), Naive()])
def test_the_last_rays_are_drawn_in_their_tiles(device: Device, policy: Policy, mask: str) -> None:
    size = (61, 40)
    seeds = COLLATZ.fill(size[0] * size[1])
    seeds["seed"]["n"] = 5
    seeds["seed"]["n"][1500] = 703  # one long way
    machine = Multipass(device, COLLATZ.linked, size, policy=policy, unroll=1, tile=4, mask=mask)
    machine.write("seed", seeds["seed"].reshape(size[::-1]))
    kept = {machine.tiles.count for _ in machine.run() if not machine.tiles.all}
    assert kept == {1}
    np.testing.assert_array_equal(machine.read("answer").reshape(-1), simulate(COLLATZ, seeds).streams["answer"])


def test_rays_are_looked_for_where_exits_lead() -> None:
    """Of three passes each leads to the next, the first to itself, too."""
    after = np.array([[True, True, False], [False, False, True], [True, False, False]])
    flow = Flow(after, np.array([True, False, False]), np.array([False, True, False]), ((0,), (1, 2)))
    tiles = LoopTiles(flow, (1, 2))

    def draw(number: int, *found: bool) -> list[list[bool]]:
        tiles.record(number, np.array([found]))
        return tiles.alive[:, 0].tolist()

    assert draw(0, True, False) == [[True, False], [True, False], [False, False]]
    assert draw(0, False, False) == [[False, False], [True, False], [False, False]]
    assert draw(1, True, False) == [[False, False], [False, False], [True, False]]  # all that it served went on
    assert tiles.any([1, 2]) and not tiles.any([0, 1]) and not tiles.over
    assert draw(2, False, False) == [[False, False]] * 3 and tiles.over
    assert flow.reached([0]) == ([0, 1], True)
    assert flow.reached([1]) == ([2], False) and flow.reached([0, 1]) == ([0, 1, 2], False)  # some may have left


Graph = dict[str, list[str]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of up to nine states that can all be reached from the first."""
    names = [f"s{k}" for k in range(draw(st.integers(1, 9)))]
    edges: Graph = {name: [] for name in names}
    for k, name in enumerate(names[1:], 1):
        edges[draw(st.sampled_from(names[:k]))].append(name)
    for start, end in draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=14)):
        if end not in edges[start]:
            edges[start].append(end)
    return edges


def reachable(edges: Graph, start: str, within: set[str]) -> set[str]:
    """States that a way of at least one edge leads to, all of it within a set."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for target in edges[ahead.pop()]:
            if target in within and target not in seen:
                seen.add(target)
                ahead.append(target)
    return seen


def check(edges: Graph, elements: tuple[Element, ...], within: set[str]) -> None:
    """Between elements all edges lead forward; without its head, a loop is an order again."""
    place = {s: k for k, e in enumerate(elements) for s in (e.states() if isinstance(e, StateLoop) else [e])}
    assert set(place) == within
    for start in within:
        for end in edges[start]:
            assert end not in place or end == start or place[start] <= place[end]
    for element in elements:
        if isinstance(element, StateLoop):
            members = set(element.states())
            for state in members:  # a loop is a strongly connected component, and no more
                assert reachable(edges, state, within) & within >= members
            check(edges, element.body, members - {element.head})


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_every_cycle_has_a_head_and_components_are_in_order(edges):
    states = list(edges)
    order = weak_topological_order(states, edges.__getitem__, states[0])
    assert sorted(flatten(order)) == sorted(states)
    check(edges, order, set(states))


@given(graphs(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_part_of_the_states_is_ordered_alike(edges, data):
    part = data.draw(st.lists(st.sampled_from(list(edges)), min_size=1, unique=True))
    check(edges, weak_topological_order(part, edges.__getitem__, part[0]), set(part))


def shown(elements: tuple[Element, ...]) -> str:
    return " ".join(f"({shown((e.head, *e.body))})" if isinstance(e, StateLoop) else e for e in elements)


def test_nested_loops_nest():
    edges = {"a": ["b"], "b": ["c", "e"], "c": ["d", "c"], "d": ["c", "b"], "e": ["b", "f"], "f": []}
    assert shown(weak_topological_order(list(edges), edges.__getitem__, "a")) == "a (b (c d) e) f"


def test_an_inner_loop_begins_where_rays_come_in():
    edges = {"enter": ["walk"], "test": ["walk", "shade"], "walk": ["test"], "shade": ["enter"]}
    assert shown(weak_topological_order(list(edges), edges.__getitem__, "enter")) == "(enter (walk test) shade)"
