"""Counters, exact against the NumPy model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from toys import COLLATZ, NESTED, Toy, simulate

from raystream.stream.machines.common import Machine
from raystream.stream.machines.counters import KernelPass, KernelTotal, Stats
from raystream.stream.machines.mask import MASKS
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import MostWork, Naive, Policy, Threshold
from raystream.stream.machines.singlepass import Singlepass

SIZE = (33, 7)
RAYS = SIZE[0] * SIZE[1]
STATE_WORDS = 2


def counted(machine: Machine, toy: Toy, count: int | None = None) -> Stats:
    toy.write(machine)
    machine.finish(count)
    return machine.stats


def check_totals(stats: Stats, toy: Toy, count: int = RAYS) -> None:
    """Calls per ray and state, and the totals that follow from them and from the declarations."""
    model = simulate(toy, {name: array[:count] for name, array in toy.fill(RAYS).items()})
    linked = toy.linked
    for state in toy.program.states:
        wanted = np.zeros(RAYS, int)
        wanted[:count] = model.calls[state.name]
        np.testing.assert_array_equal(stats.calls[state.name].reshape(-1), wanted)
        words = {stream: 4 * linked.records[stream].texels for stream in linked.records}
        reads, writes = state.reads(), state.writes()
        assert stats.kernels[state.name] == KernelTotal(
            state.kernel.name,
            calls=int(wanted.sum()),
            words_random=int(wanted.sum()) * toy.words_random.get(state.name, 0),
            words_read_per_call=sum(words[s] for s in reads) + STATE_WORDS,
            words_written_per_call=sum(words[s] for s in writes) + STATE_WORDS,
            state_bytes=4 * (sum(words[s] for s in {*reads, *writes}) + STATE_WORDS),
        )
    assert stats.rays == count
    assert sum(p.calls for p in stats.passes) == sum(int(calls.sum()) for calls in model.calls.values())


@pytest.mark.parametrize("toy", [COLLATZ, NESTED], ids=lambda toy: toy.program.name)
def test_totals_of_every_way_to_run(device, toy):
    for options in (
        {"policy": Naive(), "unroll": 1},
        {"unroll": (4, 2)},
        {"unroll": "auto", "mask": "kill"},
        {"fuse": next(iter(toy.program.groups)), "mask": "none"},
    ):
        machine = Multipass(device, toy.linked, SIZE, counting=True, **options)
        check_totals(counted(machine, toy), toy)
        check_totals(counted(machine, toy, 100), toy, 100)  # and nothing of the run before
    machine = Singlepass(device, toy.linked, SIZE, counting=True, bands=2)
    check_totals(counted(machine, toy), toy)
    check_totals(counted(machine, toy, 100), toy, 100)
    assert sum(p.fragments for p in machine.stats.passes) == 100


# -- pass by pass ----------------------------------------------------------------------------------------------------


Rule = Callable[[list[int], int], int]  # rays that wait for each state of a loop, rays in all -> the one to serve


def fullest(waiting: list[int], total: int) -> int:
    return waiting.index(max(waiting))


def latest(waiting: list[int], total: int) -> int:
    return max(k for k, rays in enumerate(waiting) if rays)


def once(percent: int, of_all: bool) -> Rule:
    """Of two states: the second once so many percent wait for it, or nobody for the first."""

    def rule(waiting: list[int], total: int) -> int:
        first, second = waiting
        enough = 100 * second >= percent * (total if of_all else first + second)
        return int((second > 0 and enough) or first == 0)

    return rule


# The machine's policies, each with its rule written out: whoever shares the policy's own code shares its faults.
RULES: list[tuple[Policy, Rule]] = [
    (Naive(), latest),
    (Threshold(0.2, "active"), once(20, of_all=False)),
    (Threshold(0.3, "all"), once(30, of_all=True)),
    (Threshold(0.6, "active"), once(60, of_all=False)),
    (MostWork(), fullest),
]


def scheduled(toy: Toy, rule: Rule, stages: list[list[str]]) -> list[tuple[str, int]]:
    """(state, rays) of each pass that a rule leads to with one call a pass: the model moves whole passes."""
    calls = simulate(toy, toy.fill(RAYS)).calls
    streams = {name: np.zeros(RAYS, record.dtype) for name, record in toy.linked.records.items()}
    streams |= {name: array.copy() for name, array in toy.fill(RAYS).items()}
    at = np.full(RAYS, toy.program.start, object)
    passes: list[tuple[str, int]] = []
    for stage in stages:
        while True:
            waiting = [int((at == name).sum()) for name in stage]
            if not any(waiting):
                break
            name = stage[rule(waiting, RAYS)] if len(stage) > 1 else stage[0]
            state, rays = toy.program.by_name[name], np.flatnonzero(at == name)
            passes.append((name, len(rays)))
            arguments = {a.name: streams[state.stream_of(a.name)][rays] for a in state.kernel.arguments}
            leaves = toy.serve[state.kernel.name](**arguments)
            for argument, array in arguments.items():
                streams[state.stream_of(argument)][rays] = array
            at[rays] = [state.exits[leave] for leave in leaves]
    total = Counter()
    for name, rays in passes:
        total[name] += rays
    assert total == Counter({name: int(array.sum()) for name, array in calls.items()})
    return passes


@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize(("policy", "rule"), [pytest.param(*pair, id=str(pair[0])) for pair in RULES])
def test_every_pass_of_a_policy(device, policy, rule, mask):
    machine = Multipass(device, COLLATZ.linked, SIZE, counting=True, policy=policy, unroll=1, mask=mask)
    stats = counted(machine, COLLATZ)
    wanted = scheduled(COLLATZ, rule, [["begin"], ["even", "odd"], ["tell"]])
    assert [(p.step, p.fragments) for p in stats.passes] == wanted
    assert all(p.calls == p.fragments for p in stats.passes)
    assert stats.kernel_passes == len(wanted) and stats.copy_passes == (0 if device.texture_barrier else len(wanted))
    # Before each pass of the loop, and once more at its end, a pass for each of its two steps tells who waits.
    looped = len(wanted) - 2 + 1
    assert stats.count_passes == 2 * looped
    bits = 1 if device.stencil_export else 3  # of four steps
    every = {"depth": 2 + looped, "stencil": bits * (2 + looped), "kill": len(wanted) + 2 * looped}
    assert stats.mask_passes == every.get(mask, 0)
    assert stats.active_share == pytest.approx(sum(rays for _, rays in wanted) / (len(wanted) * RAYS))
    # Loads and stores of a pass: the streams it attaches, and the state.
    words = {"begin": (4 + 2, 4 + 2), "even": (4 + 2, 4 + 2), "odd": (4 + 2, 4 + 2), "tell": (8 + 2, 4 + 2)}
    for p in stats.passes:
        assert (p.words_read, p.words_written) == tuple(n * p.fragments for n in words[p.step])
        assert p.seconds >= 0


# -- as data ---------------------------------------------------------------------------------------------------------


def test_stats_of_pieces_add_up():
    def made(rays: int, fragments: list[int]) -> Stats:
        passes = [KernelPass("walk", n, n, 0.5, 2 * n, 3 * n) for n in fragments]
        kernels = {"walk": KernelTotal("walk", sum(fragments), 10 * sum(fragments), 22, 10, 88)}
        return Stats(rays, len(passes), passes, kernels, mask_passes=1, count_passes=7, waits=3, copy_passes=2, draws=5)

    total = Stats()
    total.add(made(100, [100, 50]))
    total.add(made(40, [40, 20, 10]))
    assert (total.kernel_passes, total.mask_passes, total.copy_passes, total.draws) == (5, 2, 4, 10)
    assert (total.rays, total.count_passes, total.waits) == (100, 14, 6)  # rays of the stream: the largest piece's
    assert total.kernels["walk"] == KernelTotal("walk", 220, 2200, 22, 10, 88)
    assert total.per_step()["walk"] == {
        "passes": 5, "fragments": 220, "calls": 220, "seconds": 2.5, "words_read": 440, "words_written": 660,
    }  # fmt: skip
    assert total.active_share == pytest.approx(220 / (2 * 100 + 3 * 40))  # each pass against the rays of its own run
