"""The values of a program's graph: unique nodes, decomposed, composed, and joined behind branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from raystream.stream.analysis.spirv import Binary

CONST, INPUT, LOOP, JOIN = "const", "input", "loop", "join"
COMPOSE, EXTRACT, CHOOSE = "compose", "extract", "choose"
BOTH = "both"  # conditions of branches within branches


class Place(NamedTuple):
    """Where a value comes from: functions of the call, outermost first."""

    calls: tuple[str, ...]


class Node:
    """A scalar or vector. op: an instruction's name or one of this module's; args: nodes; extra: constants of it."""

    __slots__ = ("args", "extra", "number", "op", "place", "width")

    def __init__(self, op: str, args: tuple[Node, ...], width: int, extra: Any, place: Place, number: int) -> None:
        self.op, self.args, self.width, self.extra, self.place, self.number = op, args, width, extra, place, number

    def __repr__(self) -> str:
        return f"{self.op}{self.extra if self.extra is not None else ''}#{self.number}"


Value = Any  # a Node, or a tuple of values: a structure, an array, the columns of a matrix
Memory = dict[Any, Value]


COMPARISONS = frozenset(
    f"{kind}{what}"
    for kind in ("S", "U", "FOrd", "FUnord")
    for what in ("LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual")
) | {"IEqual", "INotEqual", *(f"F{kind}{what}" for kind in ("Ord", "Unord") for what in ("Equal", "NotEqual"))}
LOGIC = frozenset(("LogicalAnd", "LogicalOr", "LogicalNot", "LogicalEqual", "LogicalNotEqual", "Any", "All"))
LOGICAL = COMPARISONS | LOGIC | {"IsNan", "IsInf", BOTH}


def is_logical(node: Node) -> bool:
    """Whether a node's value is boolean."""
    if node.op == CONST:
        return isinstance(node.extra, bool)
    return node.op in LOGICAL or (node.op == JOIN and node.extra is True)


def constant_of(node: Node) -> float | int | bool | None:
    """The constant in all of a node's components; None for another node."""
    if node.op == CONST:
        return node.extra  # type: ignore[no-any-return]
    if node.op == COMPOSE and all(part is node.args[0] for part in node.args):
        return constant_of(node.args[0])
    return None


class Values:
    """nodes : all so far. place : of new nodes. fetches : texture fetches so far."""

    def __init__(self, binary: Binary) -> None:
        self.binary = binary
        self.nodes: dict[Any, Node] = {}
        self.fetches = 0
        self.place = Place(())

    @contextmanager
    def within(self, place: Place) -> Iterator[None]:
        """Nodes that are made meanwhile are of that place."""
        before, self.place = self.place, place
        yield
        self.place = before

    def node(self, op: str, args: Sequence[Node] = (), width: int = 1, extra: Any = None) -> Node:
        """The unique node of an operation."""
        key = (op, tuple(arg.number for arg in args), width, type(extra), extra)  # 1, 1.0 and True are equal in Python
        node = self.nodes.get(key)
        if node is None:
            node = self.nodes[key] = Node(op, tuple(args), width, extra, self.place, len(self.nodes))
        return node

    def constant(self, value: float | int | bool) -> Node:
        """A scalar constant."""
        return self.node(CONST, (), 1, value)

    def opaque(self, kind: int, make: Callable[[tuple[int, ...]], tuple[str, tuple[Node, ...], Any]]) -> Value:
        """A value of a type from nodes, made for each of its scalars and vectors by path."""

        def build(number: int, path: tuple[int, ...]) -> Value:
            type_ = self.binary.types[number]
            if type_.kind in ("struct", "array", "matrix"):
                parts = type_.parts if type_.kind == "struct" else type_.parts * type_.size
                return tuple(build(part, (*path, k)) for k, part in enumerate(parts))
            op, args, extra = make(path)
            return self.node(op, args, self.width(number), extra)

        return build(kind, ())

    def width(self, number: int) -> int:
        """Components of a scalar or vector type."""
        kind = self.binary.types[number]
        return kind.size if kind.kind == "vector" else 1

    def compose(self, parts: Sequence[Node]) -> Node:
        """A vector of scalars; the vector itself if they are all its components in order."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        if (
            first.op == EXTRACT
            and first.args[0].width == len(parts)
            and all(p.op == EXTRACT and p.args == first.args and p.extra == k for k, p in enumerate(parts))
        ):
            return first.args[0]
        return self.node(COMPOSE, tuple(parts), len(parts))

    def extract(self, vector: Node, index: int) -> Node:
        """One component."""
        if vector.width == 1:
            return vector
        if vector.op == COMPOSE:
            return vector.args[index]
        return self.node(EXTRACT, (vector,), 1, index)

    def components(self, vector: Node) -> list[Node]:
        """All components."""
        return [self.extract(vector, k) for k in range(vector.width)]

    def join(self, condition: Node | None, first: Value, second: Value) -> Value:
        """A value selected by a condition."""
        if first is second:
            return first
        if isinstance(first, tuple):
            return tuple(self.join(condition, a, b) for a, b in zip(first, second, strict=True))
        for one, other in ((first, second), (second, first)):
            if one.op == INPUT and one.extra[0] == "undefined":
                return other
        if condition is not None and (first.op, second.op) == (CONST, CONST) and first.extra is True:
            return condition  # the other is False: equal ones are one node
        args = (first, second) if condition is None else (condition, first, second)
        return self.node(JOIN, args, first.width, is_logical(first) or is_logical(second))

    def part(self, value: Value, step: Any) -> Value:
        """A part of a value, by constant or by dynamic index."""
        if isinstance(step, Node):
            if step.op == CONST:
                return self.part(value, int(step.extra))
            if isinstance(value, tuple):
                return self._choose(value, step)
            return self.node(CHOOSE, (self.node("Address", (step,)), value))
        return value[step] if isinstance(value, tuple) else self.extract(value, step)

    def _choose(self, values: tuple[Value, ...], step: Node) -> Value:
        if isinstance(values[0], tuple):
            return tuple(self._choose(part, step) for part in zip(*values, strict=True))
        return self.node(CHOOSE, (self.node("Address", (step,)), *values), values[0].width)

    def replaced(self, value: Value, path: tuple[Any, ...], new: Value) -> Value:
        """A value with one part replaced."""
        if not path:
            return new
        step, inner_path = path[0], path[1:]
        if isinstance(step, Node) and step.op == CONST:
            step = int(step.extra)
        if isinstance(step, Node):  # a dynamic index may be any part
            count = len(value) if isinstance(value, tuple) else value.width
            parts_before = [self.part(value, k) for k in range(count)]
            address = self.node("Address", (step,))
            changed = [self._either(address, self.replaced(one, inner_path, new), one) for one in parts_before]
            return tuple(changed) if isinstance(value, tuple) else self.compose(changed)
        if isinstance(value, tuple):
            return (*value[:step], self.replaced(value[step], inner_path, new), *value[step + 1 :])
        parts = self.components(value)
        parts[step] = new
        return self.compose(parts)

    def _either(self, address: Node, new: Value, old: Value) -> Value:
        if isinstance(new, tuple):
            return tuple(self._either(address, a, b) for a, b in zip(new, old, strict=True))
        return self.node(JOIN, (address, new, old), new.width)
