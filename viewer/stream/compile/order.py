"""The order in which to serve states: a weak topological order of the state graph.

The order (F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993) nests the graph's loops: ``eye
enter (traverse intersect) shade`` runs eye and enter once, alternates traverse and intersect until no ray is left
between them, then shades. It gives a single pass its loops, and a multipass machine the states that compete for the
next pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class StateLoop:
    """States that a ray may enter again: ``head`` first, then ``body`` (states and inner loops)."""

    head: str
    body: tuple[str | StateLoop, ...]

    def states(self) -> list[str]:
        """All its states."""
        return [self.head, *flatten(self.body)]


Element = str | StateLoop


def flatten(elements: Sequence[Element]) -> list[str]:
    """The states of nested elements, in order."""
    out: list[str] = []
    for element in elements:
        out += element.states() if isinstance(element, StateLoop) else [element]
    return out


def innermost(elements: Sequence[Element], states: Sequence[str]) -> list[tuple[str, ...]]:
    """Those of the ``states`` in order, each alone but for the loops that have no loop inside."""
    out: list[tuple[str, ...]] = []
    for element in elements:
        if isinstance(element, StateLoop) and any(isinstance(inner, StateLoop) for inner in element.body):
            out += innermost([element.head, *element.body], states)
        else:
            out.append(tuple(flatten([element])))
    return [group for group in out if group[0] in states]


def weak_topological_order(
    states: Sequence[str],
    successors: Callable[[str], Sequence[str]],
    start: str | None,
    heads: tuple[str, ...] = (),
    rank: Sequence[str] = (),
) -> tuple[Element, ...]:
    """Nested order of ``states`` (edges to others are ignored). A state that only loops on itself is a plain element.

    Components are in topological order; ties follow the given order of ``states``. ``start`` is where rays begin;
    ``heads`` are those of enclosing loops, further entries. ``rank`` orders the states of a loop, head first,
    regardless of edges; a state reached too late waits for the next iteration.
    """
    inside = set(states)

    def edges(name: str) -> list[str]:
        return [s for s in successors(name) if s in inside and s != name]

    out: list[Element] = []
    components = _components(states, edges)
    while components:
        targets = {id(c): {t for name in c for t in edges(name)} for c in components}
        ready = [c for c in components if rank or not any(targets[id(o)] & set(c) for o in components if o is not c)]
        component = min(ready, key=lambda c: min(map((rank or states).index, c)))
        components.remove(component)
        if len(component) == 1:
            out.append(component[0])
            continue
        members = [s for s in states if s in component]
        outside = [*heads, *(s for s in states if s not in component)]
        entered = [s for s in members if s == start or any(s in successors(o) for o in outside)]
        head = min(members, key=rank.index) if rank else entered[0] if entered else members[0]
        body = [s for s in members if s != head]
        out.append(StateLoop(head, weak_topological_order(body, successors, None, (*heads, head), rank)))
    return tuple(out)


def _components(states: Sequence[str], edges: Callable[[str], list[str]]) -> list[list[str]]:
    """Strongly connected components; graphs here have a dozen nodes."""
    search = _Components(edges)
    for name in states:
        if name not in search.index:
            search.visit(name)
    return search.found


class _Components:
    """Tarjan's search (1972) for strongly connected components. found : complete ones."""

    def __init__(self, edges: Callable[[str], list[str]]) -> None:
        self.edges = edges
        self.index: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.stack: list[str] = []
        self.found: list[list[str]] = []

    def visit(self, name: str) -> None:
        """Search from a node that is new."""
        index, low, stack = self.index, self.low, self.stack
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in self.edges(name):
            if target not in index:
                self.visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            at = stack.index(name)
            self.found.append(stack[at:][::-1])
            del stack[at:]
