"""Loops whose own state only they read, calls in a pass of each loop, and how many rays a run says are left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from toys import COLLATZ, NUMBER, SEED, Toy, simulate

from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record
from raystream.stream.machines.common import Machine
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Naive, Sweep
from raystream.stream.machines.singlepass import Singlepass

SIZE = (9, 5)
RAYS = SIZE[0] * SIZE[1]
TURN = Record("Turn", Field("k", "int"))  # of the first loop alone: no other state reads it

SOURCES = {
    "count_out": """
int count_out(in Seed seed, out Number number, out Turn turn) {
    number = Number(seed.n, 0);
    turn = Turn(0);
    return EXIT_GO;
}
""",
    "triangular": """
int triangular(inout Number number, inout Turn turn) {
    turn.k += 1;
    number = Number(number.n - 1, number.steps + turn.k);
    return number.n > 0 ? EXIT_AGAIN : EXIT_OUT;
}
""",
    "twice": """
int twice(inout Number number) {
    number.steps *= 2;
    return EXIT_GO;
}
""",
    "refill": """
int refill(inout Number number) {
    number.n += 1;
    return number.n < number.steps % 7 ? EXIT_AGAIN : EXIT_OUT;
}
""",
}


def _count_out(seed: NDArray, number: NDArray, turn: NDArray) -> NDArray:
    number["n"], number["steps"], turn["k"] = seed["n"], 0, 0
    return np.full(len(seed), "go")


def _triangular(number: NDArray, turn: NDArray) -> NDArray:
    turn["k"] += 1
    number["n"] -= 1
    number["steps"] += turn["k"]
    return np.where(number["n"] > 0, "again", "out")


def _twice(number: NDArray) -> NDArray:
    number["steps"] *= 2
    return np.full(len(number), "go")


def _refill(number: NDArray) -> NDArray:
    number["n"] += 1
    return np.where(number["n"] < number["steps"] % 7, "again", "out")


def _seeds(count: int) -> dict[str, NDArray]:
    seeds = np.zeros(count, SEED.dtype)
    seeds["n"] = 1 + np.arange(count) % 11
    return {"seed": seeds}


LOOPS = Toy(  # five states, so that a census takes two passes, and the last is a loop
    Program(
        "loops",
        streams={"seed": SEED, "number": NUMBER, "turn": TURN},
        inputs=("seed",),
        results=("number",),
        states=(
            State(
                "begin",
                Kernel("count_out", (IN("seed", SEED), OUT("number", NUMBER), OUT("turn", TURN)), ("go",)),
                {"go": "sum"},
            ),
            State(
                "sum",
                Kernel("triangular", (INOUT("number", NUMBER), INOUT("turn", TURN)), ("again", "out")),
                {"again": "sum", "out": "double"},
            ),
            State("double", Kernel("twice", (INOUT("number", NUMBER),), ("go",)), {"go": "more"}),
            State("more", Kernel("twice", (INOUT("number", NUMBER),), ("go",)), {"go": "fill"}),
            State(
                "fill", Kernel("refill", (INOUT("number", NUMBER),), ("again", "out")), {"again": "fill", "out": DONE}
            ),
        ),
        start="begin",
    ),
    (),
    {"count_out": _count_out, "triangular": _triangular, "twice": _twice, "refill": _refill},
    _seeds,
)


@pytest.fixture(autouse=True, scope="module")
def _kernels(shader_folder: Path) -> None:
    for name, text in SOURCES.items():
        (shader_folder / "kernels" / f"{name}.glsl").write_text(text, encoding="utf-8")


def fill(machine: Machine, toy: Toy) -> None:
    for name, array in toy.fill(RAYS).items():
        machine.write(name, array.reshape(SIZE[::-1]))


def check(machine: Machine) -> None:
    fill(machine, LOOPS)
    machine.finish()
    np.testing.assert_array_equal(
        machine.read("number").reshape(-1), simulate(LOOPS, LOOPS.fill(RAYS)).streams["number"]
    )


@pytest.mark.parametrize("count", ["query", "census"])
@pytest.mark.parametrize("unroll", [1, 3, "auto"])
def test_a_loop_keeps_what_only_it_reads(device, unroll: Any, count: str) -> None:
    """Where a pass may end within the loop, its own stream goes on to the next pass; the steps say so, too."""
    machine = Multipass(device, LOOPS.linked, SIZE, unroll=unroll, count=count)
    step = machine.steps[1]
    assert step.name == "sum" and step.loads == step.stores == ("number", "turn")
    check(machine)


def test_the_single_pass_of_the_same(device) -> None:
    check(Singlepass(device, LOOPS.linked, SIZE))


@pytest.mark.parametrize(
    ("unroll", "calls"), [(1, (1, 1)), (4, (4, 4)), ((3,), (3, 3)), ((2, 5), (2, 5)), ((2, 5, 9), (2, 5))]
)
def test_calls_in_a_pass_of_each_loop(device, unroll: Any, calls: tuple[int, int]) -> None:
    """The last number given holds for the loops behind."""
    machine = Multipass(device, LOOPS.linked, SIZE, counting=True, policy=Naive(), unroll=unroll)
    check(machine)
    turns = simulate(LOOPS, LOOPS.fill(RAYS)).calls
    for state, most in zip(("sum", "fill"), calls, strict=True):
        passes = [p for p in machine.stats.passes if p.step == state]
        assert machine.calls_in_pass[state] == most
        assert len(passes) == -(-int(turns[state].max()) // most)
        assert sum(p.calls for p in passes) == turns[state].sum()


# -- rays that are left ------------------------------------------------------------------------------------------------


def rounds(stage: tuple[str, ...]) -> list[tuple[list[int], int]]:
    """Of each round over the stage's states, one call each: the rays that every pass runs on, and those left in it."""
    streams = {name: np.zeros(RAYS, record.dtype) for name, record in COLLATZ.linked.records.items()}
    streams |= {name: array.copy() for name, array in COLLATZ.fill(RAYS).items()}
    at, found = np.full(RAYS, "begin", object), []

    def serve(name: str) -> int:
        state, rays = COLLATZ.program.by_name[name], np.flatnonzero(at == name)
        arguments = {a.name: streams[a.name][rays] for a in state.kernel.arguments}
        leaves = COLLATZ.serve[state.kernel.name](**arguments)
        for argument, array in arguments.items():
            streams[argument][rays] = array
        at[rays] = [state.exits[leave] for leave in leaves]
        return len(rays)

    serve("begin")
    while np.isin(at, stage).any():
        found.append(([serve(name) for name in stage], int(np.isin(at, stage).sum())))
    return found


def test_a_sweep_tells_the_rays_of_all_states_of_its_loop(gpu_form) -> None:
    """A round is read a round late; the rays that all of its passes ran on are the most that are left."""
    machine = Multipass(gpu_form, COLLATZ.linked, SIZE, policy=Sweep(), unroll=1)
    fill(machine, COLLATZ)
    seen = [progress.active for progress in machine.run()]
    model = rounds(("even", "odd"))
    expected = [RAYS, RAYS]  # of the first state, and of a round of which nothing is read yet
    for ran, _ in model:
        expected.append(min(expected[-1], sum(ran)))
    assert seen[: len(expected)] == expected
    left = [RAYS] + [rays for _, rays in model]
    assert all(told >= true for told, true in zip(expected[1:], left, strict=False))
    assert any(told > ran[0] for told, (ran, _) in zip(expected[2:], model, strict=True))  # the first state's alone


def test_a_policy_s_run_tells_who_waits_in_its_loop(device) -> None:
    """The rays in the loop before each pass, by both counts."""
    entering = int((simulate(COLLATZ, COLLATZ.fill(RAYS)).calls["even"] > 0).sum())  # one begins at 1
    for count in ("query", "census"):
        machine = Multipass(device, COLLATZ.linked, SIZE, policy=Naive(), unroll=1, count=count, counting=True)
        fill(machine, COLLATZ)
        runs = machine.run()
        next(runs)  # the first state
        seen = [told.active for told in runs if machine.stats.passes[-1].step in ("even", "odd")]
        assert seen[0] == entering == RAYS - 1 and seen == sorted(seen, reverse=True) and seen[-1] < 5
        assert len(seen) == sum(p.step in ("even", "odd") for p in machine.stats.passes)


def test_a_census_tells_all_that_are_not_done(device) -> None:
    """Those of later states, too: all rays of this program wait for its last one while the loop is served."""
    machine = Multipass(device, COLLATZ.linked, SIZE, policy=Sweep(), unroll=1, count="census")
    fill(machine, COLLATZ)
    seen = [progress.active for progress in machine.run()]
    assert len(seen) > 20 and set(seen[:-1]) == {RAYS} and seen[-1] == 0
