"""A program's value graph: functions inlined, copies propagated, common subexpressions merged, branches joined.
Compilers of 2004 did the same; the remaining nodes are counted as instructions.

A loop is followed for one iteration with values of any iteration (`LOOP`). Stores of both arms of a branch are joined
by `JOIN`, at no instruction: the papers' machines mask writes by condition codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from raystream.stream.analysis.lower import Lower
from raystream.stream.analysis.spirv import OUTPUT, BasicBlock, Binary, Function, Operation
from raystream.stream.analysis.values import (
    BOTH,
    CONST,
    INPUT,
    LOOP,
    Memory,
    Node,
    Place,
    Value,
    Values,
)


@dataclass
class Exit:
    """An exit of a stretch of blocks: to a block, or RETURN. condition: of the branch taken, if known."""

    target: int
    came: int
    memory: Memory
    condition: Node | None = None
    value: Value = None


@dataclass
class CallFrame:
    """A call. place: of all its values; branches: number met so far."""

    function: Function
    place: Place
    depth: int
    values: dict[int, Value] = field(default_factory=dict)
    pointers: dict[int, tuple[Any, tuple[Any, ...]]] = field(default_factory=dict)


RETURN = -1


class Graph(Values):
    """The graph of a compiled program's ``main``.

    roots : its outputs and discards. fetches : texture fetches so far, over all calls. branches : by the functions of a
    call, loops and branches with a fetching arm; a jump over these pays.
    """

    def __init__(self, binary: Binary) -> None:
        super().__init__(binary)
        self.roots: list[Node] = []
        self.branches: dict[Place, set[tuple[int, int]]] = {}
        self.frames = 0
        self.lower = Lower(self)
        memory: Memory = {}
        for number, (kind, storage) in binary.variables.items():
            name = binary.names.get(number, str(number))
            memory[number] = self.opaque(kind, lambda path, name=name: (INPUT, (), (name, path)))  # type: ignore[misc]
            if storage == OUTPUT:
                memory[number] = self.opaque(kind, lambda path: (INPUT, (), ("undefined", path)))
        main = binary.functions[binary.entry]
        _, memory = self.call(main, [], memory, Place((main.name,)))
        for number, (_, storage) in binary.variables.items():
            if storage == OUTPUT:
                self.roots += leaves(memory[number])

    # -- memory ----------------------------------------------------------------------------------------------------

    def load(self, memory: Memory, pointer: tuple[Any, tuple[Any, ...]]) -> Value:
        """The value behind a pointer."""
        base, path = pointer
        value = memory[base]
        for step in path:
            value = self.part(value, step)
        return value

    def store(self, memory: Memory, pointer: tuple[Any, tuple[Any, ...]], value: Value) -> None:
        """Store a value behind a pointer."""
        base, path = pointer
        memory[base] = self.replaced(memory.get(base), path, value)

    # -- flow ------------------------------------------------------------------------------------------------------

    def call(self, function: Function, arguments: list[Any], memory: Memory, place: Place) -> tuple[Value, Memory]:
        """A function's return value, and the memory after it. arguments: pointers or values."""
        self.frames += 1
        frame = CallFrame(function, place, self.frames)
        for number, argument in zip(function.parameters, arguments, strict=True):
            if isinstance(argument, Pointer):
                frame.pointers[number] = argument.base, argument.path
            else:
                frame.values[number] = argument
        with self.within(place):
            exits = [
                ending for ending in self.run(frame, function.entry, memory, frozenset()) if ending.target == RETURN
            ]
        if not exits:  # it discards
            return self.node(INPUT, (), 1, ("undefined", ())), memory
        value = exits[-1].value
        for ending in reversed(exits[:-1]):
            value = None if value is None else self.join(ending.condition, ending.value, value)
        return value, self.merged(exits)

    def merged(self, exits: Sequence[Exit]) -> Memory:
        """The joined memory of several exits."""
        memory = exits[-1].memory
        for ending in reversed(exits[:-1]):
            if ending.memory is memory:
                continue
            joined = dict(memory)
            for key, value in ending.memory.items():
                if key not in memory:
                    joined[key] = value
                elif memory[key] is not value:
                    joined[key] = self.join(ending.condition, value, memory[key])
            memory = joined
        return memory

    def run(
        self,
        frame: CallFrame,
        label: int,
        memory: Memory,
        stops: frozenset[int],
        came: Sequence[Exit] = (),
        inside: int = 0,
    ) -> list[Exit]:
        """Follow blocks until one of ``stops``. inside: first block of a loop already being followed."""
        away: list[Exit] = []
        while label not in stops:
            block = frame.function.blocks[label]
            if block.again and label != inside:
                exits = self._loop(frame, label, memory, stops, came)
            else:
                exits = self._block(frame, label, block, memory, stops, came)
            next_exits = [ending for ending in exits if ending.target not in stops and ending.target != RETURN]
            away += [ending for ending in exits if ending.target in stops or ending.target == RETURN]
            if not next_exits:
                return away
            # The block's own end, or the block behind a selection or loop.
            assert len({ending.target for ending in next_exits}) == 1, (frame.function.name, label)
            label, memory, came = next_exits[0].target, self.merged(next_exits), next_exits
        return [*away, Exit(label, came[0].came if came else 0, memory)]

    def _block(
        self,
        frame: CallFrame,
        label: int,
        block: BasicBlock,
        memory: Memory,
        stops: frozenset[int],
        came: Sequence[Exit],
    ) -> list[Exit]:
        memory = dict(memory)
        for operation in block.operations[:-1]:
            memory = self._operation(frame, operation, memory, came)
        last = block.operations[-1]
        name, operands = last.name, last.operands
        if name == "Branch":
            return [Exit(operands[0], label, memory)]
        if name in ("Return", "ReturnValue"):
            return [Exit(RETURN, label, memory, None, self.value(frame, operands[0]) if operands else None)]
        if name in ("Kill", "Unreachable"):
            if name == "Kill":
                self.roots.append(self.node("Kill", (), 1, label))
            return []
        within = stops | {block.merge} if block.merge and not block.again else stops
        chosen = self.value(frame, operands[0])
        if name == "BranchConditional":
            cases = [(None, operands[1]), (None, operands[2])]
            if chosen.op == CONST:
                cases = [cases[0 if chosen.extra else 1]]
        else:  # Switch
            numbers = dict.fromkeys((operands[1], *operands[3::2]))
            cases = [(None, target) for target in (*list(numbers)[1:], operands[1])]
        exits: list[Exit] = []
        before = self.fetches
        for number, (_, target) in enumerate(cases):
            if target in within or target == block.merge:
                case_exits = [Exit(target, label, memory)]
            else:
                case_exits = self.run(frame, target, memory, within, [Exit(target, label, memory)])
            for ending in case_exits:
                condition = self._condition(chosen, number, len(cases), name)
                if condition is not None and ending.condition is not None:
                    condition = self.node(BOTH, (condition, ending.condition))
                ending.condition = condition or ending.condition
                ending.came = ending.came or label
            exits += case_exits
        if len(cases) > 1 and self.fetches > before:
            self._jumps(frame, label)
        return exits

    def _jumps(self, frame: CallFrame, label: int) -> None:
        self.branches.setdefault(frame.place, set()).add((frame.depth, label))

    def _condition(self, chosen: Node, number: int, cases: int, name: str) -> Node | None:
        if number == cases - 1:
            return None
        return chosen if name == "BranchConditional" else self.node("IEqual", (chosen, self.constant(number)))

    def _loop(
        self, frame: CallFrame, label: int, memory: Memory, stops: frozenset[int], came: Sequence[Exit]
    ) -> list[Exit]:
        block = frame.function.blocks[label]

        conditions: list[Node] = []

        def iteration(begun: Memory) -> tuple[list[Exit], list[Exit], list[Exit]]:
            """Exits to the next iteration, exits behind the loop, and others; records their conditions."""
            loop_stops = stops | {block.merge, block.again}
            exits = self.run(frame, label, begun, loop_stops, came, label)
            again = [ending for ending in exits if ending.target == block.again]
            leaving = [ending for ending in exits if ending.target != block.again]
            conditions.extend(ending.condition for ending in again if ending.condition is not None)
            if again and block.again != label:
                more = stops | {block.merge, label}
                leaving += self.run(frame, block.again, self.merged(again), more, again)
            conditions.extend(ending.condition for ending in leaving if ending.condition is not None)
            back = [ending for ending in leaving if ending.target == label]
            behind = [ending for ending in leaving if ending.target == block.merge]
            return back, behind, [ending for ending in leaving if ending.target not in (label, block.merge)]

        self._jumps(frame, label)
        back, behind, away = iteration(memory)
        ends = [ending.memory for ending in (*back, *behind, *away)]
        changed = [key for key in memory if any(end[key] is not memory[key] for end in ends)]
        begun = dict(memory)
        patches: list[tuple[Any, tuple[int, ...], Node]] = []
        for key in changed:
            begun[key] = self._any_turn(memory[key], (frame.depth, label, key), patches, ())
        conditions.clear()
        back, behind, away = iteration(begun)
        if back:
            end = self.merged(back)
            for key, path, node in patches:
                value = end[key]
                for step in path:
                    value = value[step]
                node.args = (*node.args, value, *conditions)
        return [*behind, *away]

    def _any_turn(self, value: Value, key: Any, patches: list[Any], path: tuple[int, ...]) -> Value:
        if isinstance(value, tuple):
            return tuple(self._any_turn(part, key, patches, (*path, k)) for k, part in enumerate(value))
        self.frames += 1
        node = Node(LOOP, (value,), value.width, None, self.place, -self.frames)
        patches.append((key[-1], path, node))
        return node

    # -- operations ------------------------------------------------------------------------------------------------

    def value(self, frame: CallFrame, number: int) -> Value:
        """The value of an operand: a constant, or an operation's result."""
        if number in frame.values:
            return frame.values[number]
        kind, content = self.binary.constants[number]
        if content is None:
            return self.opaque(kind, lambda path: (CONST, (), 0))
        if isinstance(content, tuple):
            parts = [self.value(frame, part) for part in content]
            return self.compose(parts) if self.binary.types[kind].kind == "vector" else tuple(parts)
        return self.constant(content)  # type: ignore[arg-type]

    def _pointer(self, frame: CallFrame, number: int) -> tuple[Any, tuple[Any, ...]]:
        return frame.pointers.get(number, (number, ()))

    def _operation(self, frame: CallFrame, operation: Operation, memory: Memory, came: Sequence[Exit]) -> Memory:
        name, operands, result = operation.name, operation.operands, operation.result
        if name == "Variable":
            kind = self.binary.pointers[operation.type]
            frame.pointers[result] = (frame.depth, result), ()
            memory[frame.depth, result] = self.opaque(kind, lambda path: (INPUT, (), ("undefined", path)))
            if len(operands) > 1:
                memory[frame.depth, result] = self.value(frame, operands[1])
        elif name == "Load":
            frame.values[result] = self.load(memory, self._pointer(frame, operands[0]))
        elif name == "Store":
            self.store(memory, self._pointer(frame, operands[0]), self.value(frame, operands[1]))
        elif name == "AccessChain":
            base, path = self._pointer(frame, operands[0])
            frame.pointers[result] = base, (*path, *(self.value(frame, operand) for operand in operands[1:]))
        elif name == "FunctionCall":
            function = self.binary.functions[operands[0]]
            arguments = [
                Pointer(*self._pointer(frame, operand)) if self._points(frame, operand) else self.value(frame, operand)
                for operand in operands[1:]
            ]
            place = Place((*frame.place.calls, function.name))
            frame.values[result], memory = self.call(function, arguments, memory, place)
        elif name == "Phi":
            frame.values[result] = self._phi(frame, operands, came)
        elif name in ("CopyObject", "Image", "SampledImage"):
            frame.values[result] = self.value(frame, operands[0])
        else:
            frame.values[result] = self.lower.operation(
                operation, [self._given(frame, operation, k) for k in range(len(operation.operands))]
            )
        return memory

    def _given(self, frame: CallFrame, operation: Operation, number: int) -> Value:
        """An operand as a value; None for a plain number."""
        operand = operation.operands[number]
        defined = operand in frame.values or operand in self.binary.constants
        return self.value(frame, operand) if defined else None

    def _points(self, frame: CallFrame, number: int) -> bool:
        return number in frame.pointers or number in self.binary.variables

    def _phi(self, frame: CallFrame, operands: tuple[int, ...], came: Sequence[Exit]) -> Value:
        by_block = dict(zip(operands[1::2], operands[::2], strict=True))
        choices = [
            (ending.condition, self.value(frame, by_block[ending.came])) for ending in came if ending.came in by_block
        ]
        if not choices:
            choices = [(None, self.value(frame, operand)) for operand in operands[::2]]
        value = choices[-1][1]
        for condition, other in reversed(choices[:-1]):
            value = self.join(condition, other, value)
        return value


class Pointer(NamedTuple):
    """An argument that is passed by reference."""

    base: Any
    path: tuple[Any, ...]


def leaves(value: Value) -> list[Node]:
    """The scalars and vectors of a value."""
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]
