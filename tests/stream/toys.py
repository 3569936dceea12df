"""Small programs for the tests of the machines, each with its GLSL and a NumPy model that serves rays state by state.

The models know nothing of passes, masks or policies: `simulate` moves every ray along its wires until it is done, and
so tells results, kernel calls per ray and state, and words fetched at random, to be compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import GATHER, IN, INOUT, OUT, Kernel, Module, ModuleState, Table, Volume
from raystream.stream.declare.program import DONE, RETURN, Call, Program, State
from raystream.stream.declare.record import Field, Record
from raystream.stream.machines.common import Machine

Serve = Callable[..., NDArray]  # arrays of the kernel's arguments, updated in place -> exit names


@dataclass
class Toy:
    """A program, what it needs, and its model: ``serve[kernel](**arguments)`` updates records and returns exits."""

    program: Program
    modules: tuple[Module, ...]
    serve: dict[str, Serve]
    fill: Callable[[int], dict[str, NDArray]]  # inputs of N rays
    words_random: dict[str, int] = field(default_factory=dict)  # per call of a state

    @property
    def linked(self) -> LinkedProgram:
        """The program with its modules."""
        return LinkedProgram(self.program, self.modules)

    def write(self, machine: Machine) -> None:
        """Fill a machine's inputs."""
        for name, array in self.fill(machine.rays).items():
            machine.write(name, array.reshape(machine.size[::-1]))


@dataclass
class Outcome:
    """What the model says: result streams (N,) structured, kernel calls of each state (N,) int."""

    streams: dict[str, NDArray]
    calls: dict[str, NDArray]


def simulate(toy: Toy, inputs: dict[str, NDArray]) -> Outcome:
    """Run the model."""
    program, linked = toy.program, toy.linked
    count = len(next(iter(inputs.values())))
    streams = {name: np.zeros(count, record.dtype) for name, record in linked.records.items()}
    for name, array in inputs.items():
        streams[name][:] = array
    start = program.start
    at = np.full(count, start.state if isinstance(start, Call) else start, object)
    caller = np.full(count, start.then if isinstance(start, Call) else DONE, object)
    calls = {state.name: np.zeros(count, int) for state in program.states}
    while any(at != DONE):
        for state in program.states:
            rays = np.flatnonzero(at == state.name)
            if not len(rays):
                continue
            calls[state.name][rays] += 1
            arguments = {a.name: streams[state.stream_of(a.name)][rays] for a in state.kernel.arguments}
            leaves = toy.serve[state.kernel.name](**arguments)
            for argument in state.kernel.arguments:
                if argument.access.writes:
                    streams[state.stream_of(argument.name)][rays] = arguments[argument.name]
            for ray, leave in zip(rays, leaves, strict=True):
                target = state.exits[leave]
                if target is RETURN:
                    at[ray] = caller[ray]
                elif isinstance(target, Call):
                    at[ray], caller[ray] = target.state, target.then
                else:
                    at[ray] = target
    return Outcome({name: streams[name] for name in program.results}, calls)


# -- collatz: two states that alternate irregularly, between a first and a last one ----------------------------------

SEED = Record("Seed", Field("n", "int"))
NUMBER = Record("Number", Field("n", "int"), Field("steps", "int"))
ANSWER = Record("Answer", Field("steps", "int"), Field("began", "int"))
BEGIN = Kernel("begin", (IN("seed", SEED), OUT("number", NUMBER)), ("even", "odd", "one"))
EVEN = Kernel("even", (INOUT("number", NUMBER),), ("again", "odd", "one"))
ODD = Kernel("odd", (INOUT("number", NUMBER),), ("even",))
TELL = Kernel("tell", (IN("seed", SEED), IN("number", NUMBER), OUT("answer", ANSWER)), ("done",))
SHADERS = {
    "kernels/begin.glsl": """
int begin(in Seed seed, out Number number) {
    number = Number(seed.n, 0);
    return number.n == 1 ? EXIT_ONE : number.n % 2 == 0 ? EXIT_EVEN : EXIT_ODD;
}
""",
    "kernels/even.glsl": """
int even(inout Number number) {
    number = Number(number.n / 2, number.steps + 1);
    return number.n == 1 ? EXIT_ONE : number.n % 2 == 0 ? EXIT_AGAIN : EXIT_ODD;
}
""",
    "kernels/odd.glsl": """
int odd(inout Number number) {
    number = Number(3 * number.n + 1, number.steps + 1);
    return EXIT_EVEN;
}
""",
    "kernels/tell.glsl": """
int tell(in Seed seed, in Number number, out Answer answer) {
    answer = Answer(number.steps, seed.n);
    return EXIT_DONE;
}
""",
}


def _parity(n: NDArray, even: str) -> NDArray:
    return np.where(n == 1, "one", np.where(n % 2 == 0, even, "odd"))


def _begin(seed: NDArray, number: NDArray) -> NDArray:
    number["n"], number["steps"] = seed["n"], 0
    return _parity(number["n"], "even")


def _even(number: NDArray) -> NDArray:
    number["n"] //= 2
    number["steps"] += 1
    return _parity(number["n"], "again")


def _odd(number: NDArray) -> NDArray:
    number["n"] = 3 * number["n"] + 1
    number["steps"] += 1
    return np.full(len(number), "even")


def _tell(seed: NDArray, number: NDArray, answer: NDArray) -> NDArray:
    answer["steps"], answer["began"] = number["steps"], seed["n"]
    return np.full(len(seed), "done")


def _seeds(count: int) -> dict[str, NDArray]:
    seeds = np.zeros(count, SEED.dtype)
    seeds["n"] = 1 + np.arange(count) * 7 % 2000  # below 4000 no number comes near 2^24
    return {"seed": seeds}


COLLATZ = Toy(
    Program(
        "collatz",
        streams={"seed": SEED, "number": NUMBER, "answer": ANSWER},
        inputs=("seed",),
        results=("answer",),
        states=(
            State("begin", BEGIN, {"even": "even", "odd": "odd", "one": "tell"}),
            State("even", EVEN, {"again": "even", "odd": "odd", "one": "tell"}),
            State("odd", ODD, {"even": "even"}),
            State("tell", TELL, {"done": DONE}),
        ),
        start="begin",
        groups={
            "pair": (("even", "odd"),),
            "up": (("begin", "even", "odd"),),
            "ends": (("odd", "tell"),),
            "most": (("begin", "even"), ("odd", "tell")),
        },
    ),
    (),
    {"begin": _begin, "even": _even, "odd": _odd, "tell": _tell},
    _seeds,
)


# -- gathering: a stream of another size, read at any index -----------------------------------------------------------

PICK = Kernel("pick", (IN("seed", SEED), GATHER("numbers", NUMBER), OUT("answer", ANSWER)), ("done",))
SHADERS["kernels/pick.glsl"] = """
int pick(in Seed seed, out Answer answer) {
    answer = Answer(0, seed.n);
    answer.steps += fetch_numbers(seed.n % 55).n;
    answer.steps += fetch_numbers((seed.n + 7) % 55).n;
    answer.steps += fetch_numbers((seed.n + 54) % 55).n;
    return EXIT_DONE;
}
"""
GATHERING = LinkedProgram(
    Program(
        "gathering",
        streams={"seed": SEED, "field": NUMBER, "answer": ANSWER},
        inputs=("seed", "field"),
        results=("answer",),
        states=(State("pick", PICK, {"done": DONE}, {"numbers": "field"}),),
        start="pick",
    ),
    [],
)


# -- nested: a walk like a ray caster's, in an outer loop, called from two places, with memories and uniforms --------

PATH = Record("Path", Field("seed", "int"), Field("bounce", "int"), Field("sum", "float"), Field("error", "float"))
CHOICE = Record("Choice", Field("turn", "int"))
STRIDE = ModuleState("Stride")  # kept by the module
STRIDE_RECORD = Record("Stride", Field("at", "int"), Field("left", "int"), Field("list", "int"))
CELL = Record("Cell", Field("first", "int"), Field("length", "int"), Field("weight", "float"))
CELLS = 61
SETUP = Kernel("setup", (INOUT("path", PATH), OUT("choice", CHOICE)), ("go",))
STEP_IN = Kernel("step_in", (IN("path", PATH), OUT("stride", STRIDE)), ("walk", "nothing"), needs=("cell_of",))
TRAVERSAL = Kernel("walk", (INOUT("stride", STRIDE),), ("again", "list", "end"), needs=("cell_of",))
TAKE = Kernel("take", (INOUT("stride", STRIDE), INOUT("path", PATH)), ("again", "walk"), needs=("cell_of", "two_sum"))
BOUNCE = Kernel("bounce", (INOUT("path", PATH), IN("choice", CHOICE)), ("more", "last", "end"))
LAST = Kernel("last", (INOUT("path", PATH), IN("choice", CHOICE)), ("done",))

SHADERS |= {
    "cells.glsl": """
#include "lib/exact.glsl"
Cell cell_of(int i) {
    Cell cell = fetch_cells(i % CELL_COUNT);
    cell.weight *= fetch_weights(ivec3(i & 1, (i >> 1) & 1, (i >> 2) % 3)) * cell_scale;
    return cell;
}
""",
    "kernels/setup.glsl": """
int setup(inout Path path, out Choice choice) {
    choice.turn = path.seed % 3;
    return EXIT_GO;
}
""",
    "kernels/step_in.glsl": """
int step_in(in Path path, out Stride stride) {
    stride = Stride(path.seed % CELL_COUNT, 3 + path.seed % 11, 0);
    return cell_of(stride.at).length > 1 ? EXIT_WALK : EXIT_NOTHING;
}
""",
    "kernels/walk.glsl": """
int walk(inout Stride stride) {
    stride.at += 1;
    stride.left -= 1;
    stride.list = cell_of(stride.at).length;
    return stride.left <= 0 ? EXIT_END : stride.list > 0 ? EXIT_LIST : EXIT_AGAIN;
}
""",
    "kernels/take.glsl": """
int take(inout Stride stride, inout Path path) {
    Cell cell = cell_of(stride.at);
    stride.list -= 1;
    EXACT float more = ROUNDED(cell.weight * float(stride.list + 1));
    EXACT float x = ROUNDED(more + cell.weight);
    two_sum(path.sum, path.error, x);
    return stride.list > 0 ? EXIT_AGAIN : EXIT_WALK;
}
""",
    "kernels/bounce.glsl": """
int bounce(inout Path path, in Choice choice) {
    path.bounce += 1;
    path.seed = (path.seed * 1103 + 12345) & 65535;
    if (path.bounce > 2) return EXIT_END;
    return path.seed % 3 == choice.turn ? EXIT_LAST : EXIT_MORE;
}
""",
    "kernels/last.glsl": """
int last(inout Path path, in Choice choice) {
    path.bounce += 100 + choice.turn;
    return EXIT_DONE;
}
""",
}

_random = np.random.default_rng(7)
_cells = np.zeros(CELLS, CELL.dtype)
_cells["length"] = _random.integers(0, 5, CELLS)
_cells["weight"] = _random.random(CELLS, np.float32) * 3
_weights = _random.random((3, 2, 2), np.float32) + np.float32(0.1)
_SCALE = np.float32(0.7)


def _weight(at: NDArray) -> NDArray:
    return _cells["weight"][at % CELLS] * (_weights[(at >> 2) % 3, (at >> 1) & 1, at & 1] * _SCALE)


def _setup(path: NDArray, choice: NDArray) -> NDArray:
    choice["turn"] = path["seed"] % 3
    return np.full(len(path), "go")


def _step_in(path: NDArray, stride: NDArray) -> NDArray:
    stride["at"], stride["left"], stride["list"] = path["seed"] % CELLS, 3 + path["seed"] % 11, 0
    return np.where(_cells["length"][stride["at"]] > 1, "walk", "nothing")


def _walk(stride: NDArray) -> NDArray:
    stride["at"] += 1
    stride["left"] -= 1
    stride["list"] = _cells["length"][stride["at"] % CELLS]
    return np.where(stride["left"] <= 0, "end", np.where(stride["list"] > 0, "list", "again"))


def _take(stride: NDArray, path: NDArray) -> NDArray:
    stride["list"] -= 1
    weight = _weight(stride["at"])
    x = weight * (stride["list"] + 1).astype(np.float32) + weight
    total = path["sum"] + x
    back = total - path["sum"]
    path["error"] += (path["sum"] - (total - back)) + (x - back)
    path["sum"] = total
    return np.where(stride["list"] > 0, "again", "walk")


def _bounce(path: NDArray, choice: NDArray) -> NDArray:
    path["bounce"] += 1
    path["seed"] = (path["seed"] * 1103 + 12345) & 65535
    more = np.where(path["seed"] % 3 == choice["turn"], "last", "more")
    return np.where(path["bounce"] > 2, "end", more)


def _last(path: NDArray, choice: NDArray) -> NDArray:
    path["bounce"] += 100 + choice["turn"]
    return np.full(len(path), "done")


def _paths(count: int) -> dict[str, NDArray]:
    paths = np.zeros(count, PATH.dtype)
    paths["seed"] = np.arange(count) * 37 % 65536
    paths["sum"] = 1000.0
    return {"path": paths}


CELLS_MODULE = Module(
    "cells",
    provides=("cell_of", "two_sum"),
    source="cells.glsl",
    memories=(Table("cells", CELL, _cells), Volume("weights", _weights)),
    uniforms={"cell_scale": ("float", float(_SCALE))},
    constants={"CELL_COUNT": CELLS},
    module_state=STRIDE_RECORD,
)
_CELL_WORDS = 4 + 1  # a texel of the table, a float of the volume
NESTED = Toy(
    Program(
        "nested",
        streams={"path": PATH, "choice": CHOICE, "stride": STRIDE},
        inputs=("path",),
        results=("path",),
        states=(
            State("setup", SETUP, {"go": Call("enter", then="bounce")}),
            State("enter", STEP_IN, {"walk": "walk", "nothing": RETURN}),
            State("walk", TRAVERSAL, {"again": "walk", "list": "take", "end": RETURN}),
            State("take", TAKE, {"again": "take", "walk": "walk"}),
            State(
                "bounce",
                BOUNCE,
                {"more": Call("enter", then="bounce"), "last": Call("enter", then="last"), "end": DONE},
            ),
            State("last", LAST, {"done": DONE}),
        ),
        start="setup",
        groups={"ray": (("enter", "walk", "take"),), "odd": (("setup", "enter"), ("take", "bounce"))},
    ),
    (CELLS_MODULE,),
    {"setup": _setup, "step_in": _step_in, "walk": _walk, "take": _take, "bounce": _bounce, "last": _last},
    _paths,
    {"enter": _CELL_WORDS, "walk": _CELL_WORDS, "take": _CELL_WORDS},
)


# -- straight: kernels in a row, sensitive to contraction and reassociation -----------------------------------------

TERM = Record("Term", Field("a", "vec3"), Field("b", "vec3"), Field("c", "float"))
TOTAL = Record("Total", Field("value", "float"), Field("error", "float"), Field("product", "vec3"))
SCALE = Kernel("scale", (IN("term", TERM), OUT("total", TOTAL)), ("next",))
ADD = Kernel("add", (IN("term", TERM), INOUT("total", TOTAL)), ("next",), needs=("two_sum",))
TWO_SUM_MODULE = Module("two sum", provides=("two_sum",), source="lib/exact.glsl")

SHADERS |= {
    "kernels/scale.glsl": """
int scale(in Term term, out Total total) {
    total.product = term.a * term.b + term.c;
    total.value = dot(term.a, term.b) - term.c;
    total.error = 0.0;
    return EXIT_NEXT;
}
""",
    "kernels/add.glsl": """
int add(in Term term, inout Total total) {
    total.product = total.product * term.a - total.product.yzx * term.b;
    two_sum(total.value, total.error, total.product.x);
    two_sum(total.value, total.error, total.product.y * term.c);
    return EXIT_NEXT;
}
""",
}


def _terms(count: int) -> dict[str, NDArray]:
    random = np.random.default_rng(3)
    terms = np.zeros(count, TERM.dtype)
    terms["a"], terms["b"] = random.normal(size=(count, 3)), random.normal(size=(count, 3))
    terms["c"] = random.normal(size=count) * 100
    return {"term": terms}


STRAIGHT = Toy(
    Program(
        "straight",
        streams={"term": TERM, "total": TOTAL},
        inputs=("term",),
        results=("total",),
        states=(
            State("scale", SCALE, {"next": "first"}),
            State("first", ADD, {"next": "second"}),
            State("second", ADD, {"next": "third"}),
            State("third", ADD, {"next": DONE}),
        ),
        start="scale",
        groups={"line": (("scale", "first", "second", "third"),), "half": (("scale", "first"), ("second", "third"))},
    ),
    (TWO_SUM_MODULE,),
    {},  # compared among machines: a product and a sum may be one rounding or two, but alike everywhere
    _terms,
)
