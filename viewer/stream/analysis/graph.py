"""A program's value graph: functions inlined, copies propagated, common subexpressions merged, branches joined.
Compilers of 2004 did the same; the remaining nodes are counted as instructions.

A loop is followed for one iteration with values of any iteration (`LOOP`). Stores of both arms of a branch are joined
by `JOIN`, at no instruction: the papers' machines mask writes by condition codes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from raystream.stream.analysis.spirv import FUNCTIONS, OUTPUT, BasicBlock, Binary, Function, Operation

# -- the values of a program's graph: unique nodes, decomposed, composed, and joined behind branches -------------------

CONST, INPUT, LOOP, JOIN = "const", "input", "loop", "join"
COMPOSE, EXTRACT, CHOOSE = "compose", "extract", "choose"
BOTH = "both"  # conditions of branches within branches


class Place(NamedTuple):
    """Where a value comes from: functions of the call, outermost first."""

    calls: tuple[str, ...]


class Node:
    """A scalar or vector. op: an instruction's name or one of this module's; args: nodes; extra: constants of it."""

    __slots__ = ("args", "extra", "index", "op", "place", "width")

    def __init__(self, op: str, args: tuple[Node, ...], width: int, extra: Any, place: Place, index: int) -> None:
        self.op, self.args, self.width, self.extra, self.place, self.index = op, args, width, extra, place, index

    def __repr__(self) -> str:
        return f"{self.op}{self.extra if self.extra is not None else ''}#{self.index}"


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
        """A context in which new nodes are of that place."""
        outer_place, self.place = self.place, place
        yield
        self.place = outer_place

    def node(self, op: str, args: Sequence[Node] = (), width: int = 1, extra: Any = None) -> Node:
        """The unique node of an operation."""
        key = (op, tuple(arg.index for arg in args), width, type(extra), extra)  # 1, 1.0 and True are equal in Python
        node = self.nodes.get(key)
        if node is None:
            node = self.nodes[key] = Node(op, tuple(args), width, extra, self.place, len(self.nodes))
        return node

    def constant(self, value: float | int | bool) -> Node:
        """A scalar constant."""
        return self.node(CONST, (), 1, value)

    def build(self, kind: int, make: Callable[[tuple[int, ...]], tuple[str, tuple[Node, ...], Any]]) -> Value:
        """A value of the type ``kind``: a node for each of its scalars and vectors, of the operation, arguments and
        constants that ``make`` returns for its path."""

        def build(type_id: int, path: tuple[int, ...]) -> Value:
            type_ = self.binary.types[type_id]
            if type_.kind in ("struct", "array", "matrix"):
                parts = type_.parts if type_.kind == "struct" else type_.parts * type_.size
                return tuple(build(part, (*path, k)) for k, part in enumerate(parts))
            op, args, extra = make(path)
            return self.node(op, args, self.width(type_id), extra)

        return build(kind, ())

    def width(self, type_id: int) -> int:
        """Components of a scalar or vector type."""
        kind = self.binary.types[type_id]
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
        for defined, other in ((first, second), (second, first)):
            if defined.op == INPUT and defined.extra[0] == "undefined":
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

    def with_part(self, value: Value, path: tuple[Any, ...], new: Value) -> Value:
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
            new_parts = [self._join_parts(address, self.with_part(old, inner_path, new), old) for old in parts_before]
            return tuple(new_parts) if isinstance(value, tuple) else self.compose(new_parts)
        if isinstance(value, tuple):
            return (*value[:step], self.with_part(value[step], inner_path, new), *value[step + 1 :])
        parts = self.components(value)
        parts[step] = new
        return self.compose(parts)

    def _join_parts(self, address: Node, new: Value, old: Value) -> Value:
        if isinstance(new, tuple):
            return tuple(self._join_parts(address, a, b) for a, b in zip(new, old, strict=True))
        return self.node(JOIN, (address, new, old), new.width)


# -- operations of SPIR-V as graph values on the papers' machines: floats alone, four wide -----------------------------
# Divisions become reciprocals of scalars and products; remainders ``x - y floor(x / y)``; lengths and normals dot
# products and reciprocal roots; shifts by a constant products. Equal values in different forms thus merge. Constant
# expressions are free; scalar ones are evaluated here, so that branches on them keep one arm.

FOLDED: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("IAdd", "FAdd"), operator.add),
    **dict.fromkeys(("ISub", "FSub"), operator.sub),
    **dict.fromkeys(("IMul", "FMul"), operator.mul),
    **dict.fromkeys(("SNegate", "FNegate"), operator.neg),
    **dict.fromkeys(("IEqual", "FOrdEqual", "LogicalEqual"), operator.eq),
    **dict.fromkeys(("INotEqual", "FUnordNotEqual", "FOrdNotEqual", "LogicalNotEqual"), operator.ne),
    **dict.fromkeys(("SLessThan", "FOrdLessThan"), operator.lt),
    **dict.fromkeys(("SGreaterThan", "FOrdGreaterThan"), operator.gt),
    **dict.fromkeys(("SLessThanEqual", "FOrdLessThanEqual"), operator.le),
    **dict.fromkeys(("SGreaterThanEqual", "FOrdGreaterThanEqual"), operator.ge),
    "LogicalAnd": lambda a, b: a and b,
    "LogicalOr": lambda a, b: a or b,
    "LogicalNot": operator.not_,
    "ConvertSToF": float,
    "ConvertFToS": int,
}


class Lower:
    """The operations of a graph."""

    def __init__(self, graph: Values) -> None:
        self.graph = graph

    def operation(self, operation: Operation, arguments: Sequence[Value]) -> Value:
        """The value of an operation other than memory accesses and calls. arguments: its operands, None for a plain
        number."""
        graph, name, operands = self.graph, operation.name, operation.operands
        width = graph.width(operation.type)
        if name == "ExtInst":
            return self.function(FUNCTIONS.get(operands[1], f"function {operands[1]}"), arguments[2:], width)
        if name == "CompositeExtract":
            value = arguments[0]
            for step in operands[1:]:
                value = graph.part(value, step)
            return value
        if name == "CompositeInsert":
            return graph.with_part(arguments[1], operands[2:], arguments[0])
        if name == "VectorShuffle":
            components = [*graph.components(arguments[0]), *graph.components(arguments[1])]
            return graph.compose([components[k if k < len(components) else 0] for k in operands[2:]])
        if name == "CompositeConstruct":
            if graph.binary.types[operation.type].kind != "vector":
                return tuple(arguments)
            return graph.compose([component for part in arguments for component in graph.components(part)])
        if name.startswith("Image"):
            fetches = name.startswith(("ImageFetch", "ImageSample"))
            graph.fetches += fetches
            # After image and coordinates comes a mask of the operands that follow it.
            args = [*arguments[:2], *arguments[3:]] if fetches else arguments
            return graph.node(name, args, width)
        return self.arithmetic(name, arguments, width)

    def arithmetic(self, name: str, args: Sequence[Value], width: int) -> Value:
        """The result of operands that are all values."""
        graph = self.graph
        if name in ("Bitcast", "ConvertUToF", "ConvertSToF") and args[0].op != CONST:
            return args[0]  # integers are floats here
        if name == "ConvertFToU":
            name = "ConvertFToS"
        if name.startswith("Matrix") or name in ("VectorTimesMatrix", "OuterProduct", "Transpose"):
            return self.matrix(name, args)
        if name in FOLDED and all(arg.op == CONST for arg in args):
            return graph.constant(FOLDED[name](*(arg.extra for arg in args)))
        if name == "VectorTimesScalar":
            name, args = "FMul", (args[0], self.broadcast(args[1], width))
        if name in ("FDiv", "UDiv", "SDiv"):
            quotient = self.quotient(args[0], args[1])
            return quotient if name == "FDiv" else graph.node("Floor", (quotient,), width)
        if name in ("FMod", "FRem", "UMod", "SMod", "SRem"):
            floor = graph.node("Floor", (self.quotient(args[0], args[1]),), width)
            return graph.node("FSub", (args[0], self.product(args[1], floor)), width)
        if name.startswith("Shift"):
            return self.shift(name, args[0], args[1])
        if name == "BitwiseAnd":
            for factor, mask in ((args[0], args[1]), (args[1], args[0])):
                bits = constant_of(mask)
                if isinstance(bits, int) and bits > 0 and bits & (bits + 1) == 0:  # 2^n - 1: x mod 2^n by Fract
                    scaled = self.product(factor, self.broadcast(graph.constant(1.0 / (bits + 1)), width))
                    fraction = graph.node("Fract", (scaled,), width)
                    return self.product(fraction, self.broadcast(graph.constant(float(bits + 1)), width))
        if name == "ConvertFToS" and args[0].op in ("Floor", "Ceil", "Trunc", "Round", "RoundEven"):
            return args[0]
        if name == "Select":
            return self.select(args[0], args[1], args[2], width)
        if name in ("LogicalAnd", "LogicalOr"):
            for factor, other in ((args[0], args[1]), (args[1], args[0])):
                if factor.op == CONST:
                    return factor if factor.extra == (name == "LogicalOr") else other
        if name in ("FMul", "IMul"):
            return self.product(args[0], args[1])
        if name in ("FAdd", "IAdd", "FSub", "ISub") and constant_of(args[1]) == 0:
            return args[0]
        return graph.node(name, args, width)

    def select(self, condition: Node, first: Value, second: Value, width: int) -> Value:
        """A select between two values."""
        if first is second:
            return first
        if isinstance(first, tuple):
            return tuple(self.select(condition, a, b, a.width) for a, b in zip(first, second, strict=True))
        if condition.op == COMPOSE and all(part is condition.args[0] for part in condition.args):
            condition = condition.args[0]
        if condition.op == CONST:
            return first if condition.extra else second
        if is_logical(first) and constant_of(first) is True and constant_of(second) is False:
            return condition
        return self.graph.node("Select", (condition, first, second), width)

    def broadcast(self, scalar: Node, width: int) -> Node:
        """A scalar in every component."""
        return scalar if width == 1 or scalar.width > 1 else self.graph.compose([scalar] * width)

    def product(self, a: Node, b: Node) -> Node:
        """a b; a factor of one costs no instruction."""
        if constant_of(a) == 1:
            return b
        if constant_of(b) == 1:
            return a
        return self.graph.node("FMul", (a, b), max(a.width, b.width))

    def reciprocal(self, divisor: Node) -> Node:
        """Component by component: 1 / sqrt(x) is a reciprocal root alone."""
        constant = constant_of(divisor)
        if constant is not None:
            return self.broadcast(self.graph.constant(1.0 / constant if constant else 0.0), divisor.width)
        parts = []
        for part in self.graph.components(divisor):
            parts.append(part.args[0] if part.op == "Reciprocal" else self.graph.node("Reciprocal", (part,)))
        return self.graph.compose(parts)

    def quotient(self, a: Node, b: Node) -> Node:
        """a / b."""
        return self.product(a, self.reciprocal(b))

    def square_root(self, a: Node, inverse: bool) -> Node:
        """The square root, component by component, or its reciprocal."""
        root = self.graph.compose(
            [
                self.graph.node("ReciprocalRoot", (self.graph.node("FAbs", (part,)),))
                for part in self.graph.components(a)
            ]
        )
        return root if inverse else self.reciprocal(root)

    def shift(self, name: str, value: Node, by: Node) -> Node:
        """Shifts are products by powers of two; to the right with a floor."""
        graph, to_left = self.graph, name == "ShiftLeftLogical"
        constant = constant_of(by)
        if constant is None:
            factor = graph.node("Exp2", (by if to_left else graph.node("SNegate", (by,), by.width),), by.width)
        else:
            factor = self.broadcast(graph.constant(2.0 ** (constant if to_left else -constant)), value.width)
        scaled = self.product(value, factor)
        return scaled if to_left else graph.node("Floor", (scaled,), value.width)

    def matrix(self, name: str, args: Sequence[Value]) -> Value:
        """Products of matrices (tuples of columns) by dot products; transposed ones are read by rows."""
        graph = self.graph
        if name == "Transpose":
            return self.transpose(args[0])
        if name == "MatrixTimesScalar":
            return tuple(self.product(column, self.broadcast(args[1], column.width)) for column in args[0])
        if name == "OuterProduct":
            factors = [self.broadcast(part, args[0].width) for part in graph.components(args[1])]
            return tuple(self.product(args[0], factor) for factor in factors)
        if name == "VectorTimesMatrix":
            return graph.compose([graph.node("Dot", (args[0], column)) for column in args[0 + 1]])
        rows = self.transpose(args[0])
        if name == "MatrixTimesVector":
            return graph.compose([graph.node("Dot", (row, args[1])) for row in rows])
        if name == "MatrixTimesMatrix":
            return tuple(graph.compose([graph.node("Dot", (row, column)) for row in rows]) for column in args[1])
        return graph.node(name, [*args[0]], 1)  # MatrixInverse

    def transpose(self, matrix: Value) -> Value:
        """Columns of rows."""
        columns = [self.graph.components(column) for column in matrix]
        return tuple(self.graph.compose([column[k] for column in columns]) for k in range(len(columns[0])))

    def function(self, name: str, args: Sequence[Value], width: int) -> Value:
        """A built-in function of GLSL."""
        graph = self.graph
        if name in ("Determinant", "MatrixInverse"):
            size = len(args[0])
            if name == "Determinant":
                return graph.node(name, [*args[0]], 1, size)
            columns = [graph.node("InverseColumn", [*args[0]], size, (size, k)) for k in range(size)]
            return tuple(columns)
        if name in ("Length", "Distance", "Normalize"):
            vector = graph.node("FSub", (args[0], args[1]), args[0].width) if name == "Distance" else args[0]
            if vector.width == 1:
                return graph.node("FAbs" if name != "Normalize" else "FSign", (vector,))
            root = self.square_root(graph.node("Dot", (vector, vector)), inverse=True)
            return self.product(vector, self.broadcast(root, width)) if name == "Normalize" else self.reciprocal(root)
        if name in ("Sqrt", "InverseSqrt"):
            return self.square_root(args[0], name == "InverseSqrt")
        if name == "Pow":
            logarithm = graph.node("Log2", (args[0],), width)
            return graph.node("Exp2", (self.product(logarithm, args[1]),), width)
        if name == "Exp":
            scaled = self.product(args[0], self.broadcast(graph.constant(1.4426950408889634), width))
            return graph.node("Exp2", (scaled,), width)
        if name == "Log":
            logarithm = graph.node("Log2", (args[0],), width)
            return self.product(logarithm, self.broadcast(graph.constant(0.6931471805599453), width))
        if name in ("Radians", "Degrees"):
            return self.product(args[0], self.broadcast(graph.constant(0.0174532925), width))
        if name == "Reflect":
            twice = self.product(graph.node("Dot", (args[0], args[1])), graph.constant(2.0))
            return graph.node("FSub", (args[0], self.product(args[1], self.broadcast(twice, width))), width)
        return graph.node(name, args, width)


# -- a program's value graph -------------------------------------------------------------------------------------------


@dataclass
class Exit:
    """An exit of a run of blocks, from block ``source`` to block ``target``, or RETURN. condition: of the branch taken,
    if known. value: that is returned."""

    target: int
    source: int
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
        for variable_id, (kind, storage) in binary.variables.items():
            name = binary.names.get(variable_id, str(variable_id))
            memory[variable_id] = self.build(kind, lambda path, name=name: (INPUT, (), (name, path)))  # type: ignore[misc]
            if storage == OUTPUT:
                memory[variable_id] = self.build(kind, lambda path: (INPUT, (), ("undefined", path)))
        main = binary.functions[binary.entry]
        _, memory = self.call(main, [], memory, Place((main.name,)))
        for variable_id, (_, storage) in binary.variables.items():
            if storage == OUTPUT:
                self.roots += leaves(memory[variable_id])

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
        memory[base] = self.with_part(memory.get(base), path, value)

    # -- flow ------------------------------------------------------------------------------------------------------

    def call(self, function: Function, arguments: list[Any], memory: Memory, place: Place) -> tuple[Value, Memory]:
        """A function's return value, and the memory after it. arguments: pointers or values."""
        self.frames += 1
        frame = CallFrame(function, place, self.frames)
        for parameter_id, argument in zip(function.parameters, arguments, strict=True):
            if isinstance(argument, Pointer):
                frame.pointers[parameter_id] = argument.base, argument.path
            else:
                frame.values[parameter_id] = argument
        with self.within(place):
            exits = [
                ending for ending in self.run(frame, function.entry, memory, frozenset()) if ending.target == RETURN
            ]
        if not exits:  # it discards
            return self.node(INPUT, (), 1, ("undefined", ())), memory
        value = exits[-1].value
        for ending in reversed(exits[:-1]):
            value = None if value is None else self.join(ending.condition, ending.value, value)
        return value, self.merge_memory(exits)

    def merge_memory(self, exits: Sequence[Exit]) -> Memory:
        """The memory after several exits: values that differ are joined by the exits' conditions."""
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
        entries: Sequence[Exit] = (),
        followed_loop: int = 0,
    ) -> list[Exit]:
        """Follow blocks until one of ``stops``. inside: first block of a loop already being followed."""
        outer_exits: list[Exit] = []
        while label not in stops:
            block = frame.function.blocks[label]
            if block.again and label != followed_loop:
                exits = self._loop(frame, label, memory, stops, entries)
            else:
                exits = self._block(frame, label, block, memory, stops, entries)
            next_exits = [ending for ending in exits if ending.target not in stops and ending.target != RETURN]
            outer_exits += [ending for ending in exits if ending.target in stops or ending.target == RETURN]
            if not next_exits:
                return outer_exits
            # The block's own end, or the block behind a selection or loop.
            assert len({ending.target for ending in next_exits}) == 1, (frame.function.name, label)
            label, memory, entries = next_exits[0].target, self.merge_memory(next_exits), next_exits
        return [*outer_exits, Exit(label, entries[0].source if entries else 0, memory)]

    def _block(
        self,
        frame: CallFrame,
        label: int,
        block: BasicBlock,
        memory: Memory,
        stops: frozenset[int],
        entries: Sequence[Exit],
    ) -> list[Exit]:
        memory = dict(memory)
        for operation in block.operations[:-1]:
            memory = self._operation(frame, operation, memory, entries)
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
        inner_stops = stops | {block.merge} if block.merge and not block.again else stops
        selector = self.value(frame, operands[0])
        if name == "BranchConditional":
            cases = [(None, operands[1]), (None, operands[2])]
            if selector.op == CONST:
                cases = [cases[0 if selector.extra else 1]]
        else:  # Switch
            blocks = dict.fromkeys((operands[1], *operands[3::2]))
            cases = [(None, target) for target in (*list(blocks)[1:], operands[1])]
        exits: list[Exit] = []
        fetches_before = self.fetches
        for index, (_, target) in enumerate(cases):
            if target in inner_stops or target == block.merge:
                case_exits = [Exit(target, label, memory)]
            else:
                case_exits = self.run(frame, target, memory, inner_stops, [Exit(target, label, memory)])
            for ending in case_exits:
                condition = self._condition(selector, index, len(cases), name)
                if condition is not None and ending.condition is not None:
                    condition = self.node(BOTH, (condition, ending.condition))
                ending.condition = condition or ending.condition
                ending.source = ending.source or label
            exits += case_exits
        if len(cases) > 1 and self.fetches > fetches_before:
            self._record_branch(frame, label)
        return exits

    def _record_branch(self, frame: CallFrame, label: int) -> None:
        """Count the branch at a block, over which a jump pays."""
        self.branches.setdefault(frame.place, set()).add((frame.depth, label))

    def _condition(self, chosen: Node, index: int, cases: int, name: str) -> Node | None:
        if index == cases - 1:
            return None
        return chosen if name == "BranchConditional" else self.node("IEqual", (chosen, self.constant(index)))

    def _loop(
        self, frame: CallFrame, label: int, memory: Memory, stops: frozenset[int], entries: Sequence[Exit]
    ) -> list[Exit]:
        block = frame.function.blocks[label]

        conditions: list[Node] = []

        def iteration(any_memory: Memory) -> tuple[list[Exit], list[Exit], list[Exit]]:
            """Exits to the next iteration, exits behind the loop, and others; records their conditions."""
            loop_stops = stops | {block.merge, block.again}
            exits = self.run(frame, label, any_memory, loop_stops, entries, label)
            again = [ending for ending in exits if ending.target == block.again]
            leaving = [ending for ending in exits if ending.target != block.again]
            conditions.extend(ending.condition for ending in again if ending.condition is not None)
            if again and block.again != label:
                after = stops | {block.merge, label}
                leaving += self.run(frame, block.again, self.merge_memory(again), after, again)
            conditions.extend(ending.condition for ending in leaving if ending.condition is not None)
            next_exits = [ending for ending in leaving if ending.target == label]
            merge_exits = [ending for ending in leaving if ending.target == block.merge]
            return next_exits, merge_exits, [ending for ending in leaving if ending.target not in (label, block.merge)]

        self._record_branch(frame, label)
        next_exits, merge_exits, outer_exits = iteration(memory)
        end_memories = [ending.memory for ending in (*next_exits, *merge_exits, *outer_exits)]
        changed_keys = [key for key in memory if any(end[key] is not memory[key] for end in end_memories)]
        any_memory = dict(memory)
        patches: list[tuple[Any, tuple[int, ...], Node]] = []
        for key in changed_keys:
            any_memory[key] = self._any_iteration(memory[key], (frame.depth, label, key), patches, ())
        conditions.clear()
        next_exits, merge_exits, outer_exits = iteration(any_memory)
        if next_exits:
            end = self.merge_memory(next_exits)
            for key, path, node in patches:
                value = end[key]
                for step in path:
                    value = value[step]
                node.args = (*node.args, value, *conditions)
        return [*merge_exits, *outer_exits]

    def _any_iteration(self, value: Value, key: Any, patches: list[Any], path: tuple[int, ...]) -> Value:
        if isinstance(value, tuple):
            return tuple(self._any_iteration(part, key, patches, (*path, k)) for k, part in enumerate(value))
        self.frames += 1
        node = Node(LOOP, (value,), value.width, None, self.place, -self.frames)
        patches.append((key[-1], path, node))
        return node

    # -- operations ------------------------------------------------------------------------------------------------

    def value(self, frame: CallFrame, value_id: int) -> Value:
        """The value of an operand: a constant, or an operation's result."""
        if value_id in frame.values:
            return frame.values[value_id]
        kind, content = self.binary.constants[value_id]
        if content is None:
            return self.build(kind, lambda path: (CONST, (), 0))
        if isinstance(content, tuple):
            parts = [self.value(frame, part) for part in content]
            return self.compose(parts) if self.binary.types[kind].kind == "vector" else tuple(parts)
        return self.constant(content)  # type: ignore[arg-type]

    def _pointer(self, frame: CallFrame, pointer_id: int) -> tuple[Any, tuple[Any, ...]]:
        return frame.pointers.get(pointer_id, (pointer_id, ()))

    def _operation(self, frame: CallFrame, operation: Operation, memory: Memory, entries: Sequence[Exit]) -> Memory:
        name, operands, result = operation.name, operation.operands, operation.result
        if name == "Variable":
            kind = self.binary.pointers[operation.type]
            frame.pointers[result] = (frame.depth, result), ()
            memory[frame.depth, result] = self.build(kind, lambda path: (INPUT, (), ("undefined", path)))
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
            frame.values[result] = self._phi(frame, operands, entries)
        elif name in ("CopyObject", "Image", "SampledImage"):
            frame.values[result] = self.value(frame, operands[0])
        else:
            frame.values[result] = self.lower.operation(
                operation, [self._operand_value(frame, operation, k) for k in range(len(operation.operands))]
            )
        return memory

    def _operand_value(self, frame: CallFrame, operation: Operation, index: int) -> Value:
        """An operand as a value; None for a plain number."""
        operand = operation.operands[index]
        defined = operand in frame.values or operand in self.binary.constants
        return self.value(frame, operand) if defined else None

    def _points(self, frame: CallFrame, value_id: int) -> bool:
        return value_id in frame.pointers or value_id in self.binary.variables

    def _phi(self, frame: CallFrame, operands: tuple[int, ...], entries: Sequence[Exit]) -> Value:
        """The value of a phi instruction: of the exits by which its block was reached, joined by their conditions."""
        by_block = dict(zip(operands[1::2], operands[::2], strict=True))
        choices = [
            (entry.condition, self.value(frame, by_block[entry.source]))
            for entry in entries
            if entry.source in by_block
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
