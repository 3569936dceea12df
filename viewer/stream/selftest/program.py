"""The program of the machines' self-test: the way of a number to 1 (Collatz), in two states that alternate irregularly
between a first and a last one, with a table and a sum of floats; and its NumPy model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel, Module, Table
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record

SEED = Record("Seed", Field("n", "int"))
NUMBER = Record("Number", Field("n", "int"), Field("steps", "int"), Field("sum", "float"))
ANSWER = Record("Answer", Field("steps", "int"), Field("began", "int"), Field("sum", "float"))
WEIGHT = Record("Weight", Field("weight", "float"))

BEGIN = Kernel("collatz_begin", (IN("seed", SEED), OUT("number", NUMBER)), ("even", "odd", "one"), ("weight_of",))
EVEN = Kernel("collatz_even", (INOUT("number", NUMBER),), ("again", "odd", "one"), ("weight_of",))
ODD = Kernel("collatz_odd", (INOUT("number", NUMBER),), ("even",), ("weight_of",))
END = Kernel("collatz_end", (IN("seed", SEED), IN("number", NUMBER), OUT("answer", ANSWER)), ("done",))

PROGRAM = Program(
    "collatz",
    streams={"seed": SEED, "number": NUMBER, "answer": ANSWER},
    inputs=("seed",),
    results=("answer",),
    states=(
        State("begin", BEGIN, {"even": "even", "odd": "odd", "one": "end"}),
        State("even", EVEN, {"again": "even", "odd": "odd", "one": "end"}),
        State("odd", ODD, {"even": "even"}),
        State("end", END, {"done": DONE}),
    ),
    start="begin",
    groups={"pair": (("even", "odd"),)},
)
FUSIONS = ("none", *PROGRAM.groups)
WEIGHTS = 251  # rows of the table


def linked() -> LinkedProgram:
    """The program with its table."""
    data = np.zeros(WEIGHTS, WEIGHT.dtype)
    data["weight"] = np.random.default_rng(41).uniform(0.5, 1.5, WEIGHTS)
    table = Table("weights", WEIGHT, data, hot=True)
    module = Module("weights", ("weight_of",), "stream/weights.glsl", (table,), constants={"WEIGHTS": WEIGHTS})
    return LinkedProgram(PROGRAM, [module])


def seeds(count: int) -> NDArray:
    """(count,) structured of `SEED`, none of whose ways comes near 2^24."""
    rows = np.zeros(count, SEED.dtype)
    rows["n"] = 1 + np.arange(count) * 7 % 2000
    return rows


def steps(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Steps of every number on its way to 1."""
    n, counts = numbers.astype(np.int64), np.zeros(len(numbers), np.int32)
    while (n > 1).any():
        counts += n > 1
        n = np.where(n > 1, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
    return counts
