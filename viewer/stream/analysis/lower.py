"""Operations of SPIR-V as graph values on the papers' machines: floats alone, four wide.

Divisions become reciprocals of scalars and products; remainders ``x - y floor(x / y)``; lengths and normals dot
products and reciprocal roots; shifts by a constant products. Equal values in different forms thus merge. Constant
expressions are free; scalar ones are evaluated here, so that branches on them keep one arm.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from raystream.stream.analysis.spirv import FUNCTIONS, Operation
from raystream.stream.analysis.values import COMPOSE, CONST, Node, Value, Values, constant_of, is_logical

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
            return graph.replaced(arguments[1], operands[2:], arguments[0])
        if name == "VectorShuffle":
            both = [*graph.components(arguments[0]), *graph.components(arguments[1])]
            return graph.compose([both[k if k < len(both) else 0] for k in operands[2:]])
        if name == "CompositeConstruct":
            if graph.binary.types[operation.type].kind != "vector":
                return tuple(arguments)
            return graph.compose([one for part in arguments for one in graph.components(part)])
        if name.startswith("Image"):
            fetches = name.startswith(("ImageFetch", "ImageSample"))
            graph.fetches += fetches
            # After image and coordinates comes a mask of the operands that follow it.
            args = [*arguments[:2], *arguments[3:]] if fetches else arguments
            return graph.node(name, args, width)
        return self.arithmetic(name, arguments, width)

    def arithmetic(self, name: str, args: Sequence[Value], width: int) -> Value:
        """Of operands that are all values."""
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
            name, args = "FMul", (args[0], self.wide(args[1], width))
        if name in ("FDiv", "UDiv", "SDiv"):
            quotient = self.divided(args[0], args[1])
            return quotient if name == "FDiv" else graph.node("Floor", (quotient,), width)
        if name in ("FMod", "FRem", "UMod", "SMod", "SRem"):
            whole = graph.node("Floor", (self.divided(args[0], args[1]),), width)
            return graph.node("FSub", (args[0], self.product(args[1], whole)), width)
        if name.startswith("Shift"):
            return self.shifted(name, args[0], args[1])
        if name == "BitwiseAnd":
            for number, mask in ((args[0], args[1]), (args[1], args[0])):
                most = constant_of(mask)
                if isinstance(most, int) and most > 0 and most & (most + 1) == 0:  # mod by a fraction, times it
                    scaled = self.product(number, self.wide(graph.constant(1.0 / (most + 1)), width))
                    rest = graph.node("Fract", (scaled,), width)
                    return self.product(rest, self.wide(graph.constant(float(most + 1)), width))
        if name == "ConvertFToS" and args[0].op in ("Floor", "Ceil", "Trunc", "Round", "RoundEven"):
            return args[0]
        if name == "Select":
            return self.select(args[0], args[1], args[2], width)
        if name in ("LogicalAnd", "LogicalOr"):
            for one, other in ((args[0], args[1]), (args[1], args[0])):
                if one.op == CONST:
                    return one if one.extra == (name == "LogicalOr") else other
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

    def wide(self, scalar: Node, width: int) -> Node:
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
            return self.wide(self.graph.constant(1.0 / constant if constant else 0.0), divisor.width)
        parts = []
        for part in self.graph.components(divisor):
            parts.append(part.args[0] if part.op == "Reciprocal" else self.graph.node("Reciprocal", (part,)))
        return self.graph.compose(parts)

    def divided(self, a: Node, b: Node) -> Node:
        """a / b."""
        return self.product(a, self.reciprocal(b))

    def root(self, a: Node, inverse: bool) -> Node:
        """The square root, component by component, or its reciprocal."""
        root = self.graph.compose(
            [
                self.graph.node("ReciprocalRoot", (self.graph.node("FAbs", (part,)),))
                for part in self.graph.components(a)
            ]
        )
        return root if inverse else self.reciprocal(root)

    def shifted(self, name: str, number: Node, by: Node) -> Node:
        """Shifts are products by powers of two; to the right with a floor."""
        graph, to_left = self.graph, name == "ShiftLeftLogical"
        constant = constant_of(by)
        if constant is None:
            factor = graph.node("Exp2", (by if to_left else graph.node("SNegate", (by,), by.width),), by.width)
        else:
            factor = self.wide(graph.constant(2.0 ** (constant if to_left else -constant)), number.width)
        scaled = self.product(number, factor)
        return scaled if to_left else graph.node("Floor", (scaled,), number.width)

    def matrix(self, name: str, args: Sequence[Value]) -> Value:
        """Products of matrices (tuples of columns) by dot products; transposed ones are read by rows."""
        graph = self.graph
        if name == "Transpose":
            return self.transposed(args[0])
        if name == "MatrixTimesScalar":
            return tuple(self.product(column, self.wide(args[1], column.width)) for column in args[0])
        if name == "OuterProduct":
            return tuple(self.product(args[0], self.wide(part, args[0].width)) for part in graph.components(args[1]))
        if name == "VectorTimesMatrix":
            return graph.compose([graph.node("Dot", (args[0], column)) for column in args[0 + 1]])
        rows = self.transposed(args[0])
        if name == "MatrixTimesVector":
            return graph.compose([graph.node("Dot", (row, args[1])) for row in rows])
        if name == "MatrixTimesMatrix":
            return tuple(graph.compose([graph.node("Dot", (row, column)) for row in rows]) for column in args[1])
        return graph.node(name, [*args[0]], 1)  # MatrixInverse

    def transposed(self, matrix: Value) -> Value:
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
            root = self.root(graph.node("Dot", (vector, vector)), inverse=True)
            return self.product(vector, self.wide(root, width)) if name == "Normalize" else self.reciprocal(root)
        if name in ("Sqrt", "InverseSqrt"):
            return self.root(args[0], name == "InverseSqrt")
        if name == "Pow":
            logarithm = graph.node("Log2", (args[0],), width)
            return graph.node("Exp2", (self.product(logarithm, args[1]),), width)
        if name == "Exp":
            scaled = self.product(args[0], self.wide(graph.constant(1.4426950408889634), width))
            return graph.node("Exp2", (scaled,), width)
        if name == "Log":
            logarithm = graph.node("Log2", (args[0],), width)
            return self.product(logarithm, self.wide(graph.constant(0.6931471805599453), width))
        if name in ("Radians", "Degrees"):
            return self.product(args[0], self.wide(graph.constant(0.0174532925), width))
        if name == "Reflect":
            twice = self.product(graph.node("Dot", (args[0], args[1])), graph.constant(2.0))
            return graph.node("FSub", (args[0], self.product(args[1], self.wide(twice, width))), width)
        return graph.node(name, args, width)
