"""Values of a program's graph."""

from __future__ import annotations

from typing import Any, NamedTuple

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
