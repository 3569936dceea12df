"""The order of states against brute force."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.programs import ray_cast
from raystream.stream.compile.link import Element, StateLoop, flatten, weak_topological_order

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


def test_the_ray_casters_order():
    program = ray_cast(layers=True)
    order = weak_topological_order([s.name for s in program.states], program.successors, "eye")
    assert shown(order) == "eye setup (traverse intersect) shade describe"


def test_nested_loops_nest():
    edges = {"a": ["b"], "b": ["c", "e"], "c": ["d", "c"], "d": ["c", "b"], "e": ["b", "f"], "f": []}
    assert shown(weak_topological_order(list(edges), edges.__getitem__, "a")) == "a (b (c d) e) f"


def test_an_inner_loop_begins_where_rays_come_in():
    edges = {"enter": ["walk"], "test": ["walk", "shade"], "walk": ["test"], "shade": ["enter"]}
    assert shown(weak_topological_order(list(edges), edges.__getitem__, "enter")) == "(enter (walk test) shade)"
