"""Loops whose own state only they read, limits of runs, rays excluded from one, and runs that begin anew."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from toys import COLLATZ, NESTED, NUMBER, SEED, Toy, simulate

from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import CHOICE, SELECTED_DEPTH, Machine, RaySelection
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Naive, Sweep
from raystream.stream.machines.singlepass import SampleBatches, Singlepass
from raystream.stream.selftest import masks

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


def check(machine: Machine) -> None:
    LOOPS.write(machine)
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


def test_a_sweep_tells_no_fewer_rays_than_are_left_in_its_loop(gpu_form) -> None:
    """Of all of its states: a round is read a round late."""
    machine = Multipass(gpu_form, COLLATZ.linked, SIZE, policy=Sweep(), unroll=1)
    COLLATZ.write(machine)
    numbers, told = [machine.linked.program.number(name) for name in ("even", "odd")], []
    for progress in machine.run():
        told.append(progress.active)
        assert progress.active >= np.isin(machine.state.read()["at"], numbers).sum()
    assert told == sorted(told, reverse=True) and len({*told}) > 5


def test_a_policy_s_run_tells_who_waits_in_its_loop(device) -> None:
    """The rays in the loop before each pass, by both counts."""
    entering = int((simulate(COLLATZ, COLLATZ.fill(RAYS)).calls["even"] > 0).sum())  # one begins at 1
    for count in ("query", "census"):
        machine = Multipass(device, COLLATZ.linked, SIZE, policy=Naive(), unroll=1, count=count, counting=True)
        COLLATZ.write(machine)
        runs = machine.run()
        next(runs)  # the first state
        seen = [told.active for told in runs if machine.stats.passes[-1].step in ("even", "odd")]
        assert seen[0] == entering == RAYS - 1 and seen == sorted(seen, reverse=True) and seen[-1] < 5
        assert len(seen) == sum(p.step in ("even", "odd") for p in machine.stats.passes)


def test_a_census_tells_all_that_are_not_done(device) -> None:
    """Those of later states, too: all rays of this program wait for its last one while the loop is served."""
    machine = Multipass(device, COLLATZ.linked, SIZE, policy=Sweep(), unroll=1, count="census")
    COLLATZ.write(machine)
    seen = [progress.active for progress in machine.run()]
    assert len(seen) > 20 and set(seen[:-1]) == {RAYS} and seen[-1] == 0


PIXELS = (7, 6)


def test_depths_are_of_the_last_choice_alone(device: Device) -> None:
    """Within its bands: what was chosen before in others is not any more."""
    random = np.random.default_rng(1)
    with device.current():
        choice, stream = RaySelection(device, PIXELS), Stream(device, CHOICE, PIXELS)
        for bands in ([(0, 0, 7, 2), (0, 4, 7, 1)], [(0, 3, 5, 3)]):
            chosen = random.integers(0, 2, PIXELS[::-1])
            rays = np.zeros(PIXELS[::-1], CHOICE.dtype)
            rays["chosen"] = chosen
            stream.write(rays)
            within = np.zeros(PIXELS[::-1], bool)
            for x, y, width, height in bands:
                within[y : y + height, x : x + width] = True
            count = choice.write_depths(stream, bands, counted=True)
            depth = np.frombuffer(choice.depth_buffer().read(alignment=4), np.float32).reshape(PIXELS[::-1])
            there = np.abs(depth - SELECTED_DEPTH) < 1e-6  # half of 24 bits is read as a part of 2^24 - 1
            np.testing.assert_array_equal(there, (chosen > 0) & within)
            assert count == (chosen[within] > 0).sum() > 0
            assert choice.write_depths(stream, bands) == 0  # is not asked for
        choice.release()
        assert choice.depth is None
        stream.release()


@pytest.mark.parametrize("mask", ["none", "kill", "depth", "stencil"])
def test_a_new_mask_has_drawn_and_counted_nothing(device: Device, mask: str) -> None:
    machine = Multipass(device, COLLATZ.linked, PIXELS, mask=mask)
    assert (machine.mask.passes, machine.mask.counts) == (0, 0)
    machine.release()


def test_a_self_test_of_masks_whatever_was_drawn_before(device: Device) -> None:
    """Under blending and a depth test, which others leave behind."""
    with device.current():
        device.context.enable(moderngl.BLEND | moderngl.DEPTH_TEST)
        try:
            assert masks.stencil_mask(device).verdict == "pass"
        finally:
            device.context.disable(moderngl.BLEND | moderngl.DEPTH_TEST)


def brought(batches: SampleBatches, end: int, at: int, most: int, others: list[int] | None = None) -> tuple[int, int]:
    """Where a ray comes from ``at`` on a driver that lets it have up to ``most`` of the limit in a run, in how many
    runs; alone, by another machine, where not even one is let through: ``others`` then gets the limit."""
    runs = 0
    for to in batches.ends(end):
        runs += 1
        done = to - at <= most
        if done or batches.is_smallest:
            at = max(at, to)
        helped = not done and batches.is_smallest
        batches.record(done or helped, not helped)
        if helped and others is not None:
            others.append(to)
    return at, runs


def test_every_ray_comes_to_the_limit_on_a_driver_that_lets_none_through() -> None:
    batches, at = SampleBatches(), 0
    for end in (1, 2, 4, 8, 16, 64, 65, 66):
        at, runs = brought(batches, end, at, 0)
        assert at == end and runs <= 2 * end + 10
    assert batches.max_samples is not None and batches.max_samples <= 2


@pytest.mark.parametrize("most", [1, 3, 7])
def test_rays_that_are_not_where_they_were_thought(most: int) -> None:
    """Another picture's, which begin anew, and several tiles brought to the same limit."""
    batches = SampleBatches()
    others: list[int] = []
    for at, end in [(0, 16), (16, 32), (16, 32), (0, 48), (0, 8), (0, 8), (8, 64), (30, 64), (63, 64)]:
        found, runs = brought(batches, end, at, most, others)
        assert found == end and runs <= 2 * end / most + 10
    assert not others, "single-kernel passes are for what no portion lets through"


def test_portions_grow_again() -> None:
    """After a costly picture a cheap one is soon brought in few runs."""
    batches = SampleBatches()
    assert brought(batches, 64, 0, 1)[1] >= 64
    total = sum(brought(batches, 256, 0, 256)[1] for _ in range(4))
    assert total <= 100 and batches.max_samples is not None and batches.max_samples >= 128
    assert brought(batches, 256, 0, 256)[1] <= 2


@pytest.mark.parametrize("most", [1, 3, 7, 20])
def test_larger_portions_are_tried_ever_more_seldom(most: int) -> None:
    """On a driver that never lets more through: some ten of a thousand batches or two are in vain."""
    batches, runs = SampleBatches(), 0
    for _ in range(10):
        at, more = brought(batches, 100 * most, 0, most)
        assert at == 100 * most
        runs += more
    assert batches.max_samples is not None and most / 2 < batches.max_samples <= 2 * most
    assert runs <= 100 * most / (most // 2 + 1) * 10 + 40


NUMBERS = ("kernel_passes", "mask_passes", "count_passes", "copy_passes")


@pytest.mark.parametrize("kind", [Singlepass, Multipass])
def test_passes_of_both_runs_are_counted(device, kind: type[Machine]) -> None:
    options = {} if kind is Singlepass else {"fuse": "pair", "policy": Naive()}
    machine = kind(device, COLLATZ.linked, SIZE, counting=True, **options)
    COLLATZ.write(machine)
    machine.finish()
    first = asdict(machine.stats)
    for _ in machine._retry(Multipass, machine.rays):
        pass
    assert machine.retry_machine is not None
    second = asdict(machine.retry_machine.stats)
    assert all(getattr(machine.stats, name) == first[name] + second[name] for name in NUMBERS)
    assert first["kernel_passes"] > 0 and second["kernel_passes"] > 2 and second["mask_passes"] > 2
    assert len(machine.stats.passes) == len(first["passes"]) + len(second["passes"])
    # What rays did is told once: that of the run that came to its end.
    assert {name: total.calls for name, total in machine.stats.kernels.items()} == {
        name: int(calls.sum()) for name, calls in simulate(COLLATZ, COLLATZ.fill(machine.rays)).calls.items()
    }
    answer = simulate(COLLATZ, COLLATZ.fill(machine.rays)).streams["answer"]
    np.testing.assert_array_equal(machine.read("answer").reshape(-1), answer)


@pytest.mark.parametrize("kind", [Singlepass, Multipass])
def test_uniforms_that_are_set_hold_in_the_second_run(device, kind: type[Machine]) -> None:
    """Of a program that may begin with what another run has left."""
    linked = replace(NESTED, program=replace(NESTED.program, resumes=True)).linked
    results = []
    for scale, again in ((0.7, False), (1.4, False), (1.4, True)):
        machine = kind(device, linked, SIZE)
        NESTED.write(machine)
        machine.set({"cell_scale": scale})
        if again:
            for _ in machine._retry(Multipass, machine.rays):
                pass
        else:
            machine.finish()
        results.append(machine.read("path")["sum"])
    assert (results[0] != results[1]).any() and results[0].any()
    np.testing.assert_array_equal(results[1], results[2])
