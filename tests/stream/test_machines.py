"""Every machine, policy, unroll, fusion and mask gives the same bits, and those of the NumPy model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import toys
from numpy.typing import NDArray
from toys import COLLATZ, NESTED, STRAIGHT, Outcome, Toy, simulate

from raystream.base.errors import DeviceError
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.declare.kernel import Table
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import Machine
from raystream.stream.machines.mask import COUNT_MODES, MASKS
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold
from raystream.stream.machines.singlepass import Singlepass

SIZE = (33, 7)  # odd, and a little more than a tile
TOYS = {toy.program.name: toy for toy in (COLLATZ, NESTED, STRAIGHT)}
MODELLED = ("collatz", "nested")
POLICIES: dict[str, Policy] = {
    "sweep": Sweep(),
    "naive": Naive(),
    "a fifth of the active": Threshold(0.2, "active"),
    "half of all": Threshold(0.5, "all"),
    "all of the active": Threshold(1.0, "active"),
    "most work": MostWork(),
}
UNROLLS: dict[str, Any] = {"1": 1, "4": 4, "4,2": (4, 2), "auto": "auto"}


@pytest.fixture(params=["barrier", "copying", "GPU form"])
def either(request, device, copying, gpu_form) -> Device:
    """A device with, where the driver has it, and one without the barrier; and one whose programs are as for a GPU."""
    if request.param == "barrier" and device.texture_barrier is None:
        pytest.skip("this driver has no texture barrier")
    return {"barrier": device, "copying": copying, "GPU form": gpu_form}[request.param]


_outcomes: dict[tuple[str, int], Outcome] = {}


def expected(toy: Toy, size: tuple[int, int] = SIZE) -> Outcome:
    """The model's outcome, computed once."""
    key = (toy.program.name, size[0] * size[1])
    if key not in _outcomes:
        _outcomes[key] = simulate(toy, toy.fill(key[1]))
    return _outcomes[key]


def run(machine: Machine, toy: Toy, count: int | None = None) -> dict[str, NDArray]:
    """Results (N,) structured."""
    toy.write(machine)
    machine.finish(count)
    return {name: machine.read(name).reshape(-1) for name in toy.program.results}


def same_bits(found: NDArray, wanted: NDArray) -> None:
    """Says which records differ."""
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    bits = [np.frombuffer(array.tobytes(), np.uint8) for array in (found, wanted)]
    rays = np.unique(np.flatnonzero(bits[0] != bits[1]) // found.itemsize)
    assert not len(rays), f"rays {rays[:8]} differ: {found[rays[:3]]}, should be {wanted[rays[:3]]}"


def check(machine: Machine, toy: Toy) -> None:
    """The machine's results are the model's."""
    wanted = expected(toy, machine.size).streams
    for name, array in run(machine, toy).items():
        same_bits(array, wanted[name])


# -- against the model -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELLED)
@pytest.mark.parametrize("mask", list(MASKS))
def test_masks_and_fusions_everywhere(either, name, mask):
    toy = TOYS[name]
    for fuse in ("none", *toy.program.groups):
        check(Multipass(either, toy.linked, SIZE, fuse=fuse, mask=mask), toy)


@pytest.mark.parametrize("name", MODELLED)
@pytest.mark.parametrize("policy", POLICIES)
def test_policies_and_unrolls(device, name, policy):
    """Under both counts; what only the host uses is set between two runs, and compiles nothing."""
    toy = TOYS[name]
    machine = Multipass(device, toy.linked, SIZE)
    check(machine, toy)
    machine.count = "census"
    check(machine, toy)
    compiled = device.compiled
    for unroll in UNROLLS.values():
        for count in COUNT_MODES:
            machine.policy, machine.unroll, machine.count = POLICIES[policy], unroll, count
            check(machine, toy)
    assert device.compiled == compiled


@pytest.mark.parametrize("mask", list(MASKS))
def test_counts_of_every_mask(either, mask):
    """By queries around count passes under each mask, which the dissertation's two loops are, and by the census."""
    for count in COUNT_MODES:
        for policy in (Sweep(), Naive()):
            check(Multipass(either, NESTED.linked, SIZE, fuse="odd", policy=policy, mask=mask, count=count), NESTED)


def test_a_sweep_by_queries_waits_for_the_device_once_a_round(gpu_form):
    """A GPU, which works meanwhile."""
    machine = Multipass(gpu_form, COLLATZ.linked, SIZE, unroll=1)
    check(machine, COLLATZ)
    calls = expected(COLLATZ).calls
    rounds = int((calls["even"] + calls["odd"]).max())  # at least the longest way, one of two steps at a time
    assert machine.stats.waits <= rounds + 2 and machine.stats.kernel_passes <= 2 + 2 * (rounds + 2)
    assert machine.stats.count_passes > 0  # the last rounds were drawn under conditional rendering


# -- streams that are gathered, and borrowed ---------------------------------------------------------------------------


def test_any_element_of_a_gathered_stream_is_found(either):
    values = np.zeros((5, 11), toys.NUMBER.dtype)
    values["n"] = np.random.default_rng(3).integers(-1000, 1000, values.shape)
    field = Stream(either, toys.NUMBER, (11, 5))
    field.write(values)
    seeds = toys._seeds(SIZE[0] * SIZE[1])["seed"]
    flat = values["n"].reshape(-1)
    wanted = np.stack([flat[(seeds["n"] + k) % 55] for k in (0, 7, 54)]).sum(axis=0)
    for machine in (
        Singlepass(either, toys.GATHERING, SIZE, streams={"field": field}),
        *(Multipass(either, toys.GATHERING, SIZE, streams={"field": field}, mask=mask) for mask in MASKS),
    ):
        machine.write("seed", seeds.reshape(SIZE[::-1]))
        machine.finish()
        np.testing.assert_array_equal(machine.read("answer")["steps"].reshape(-1), wanted)


def test_a_machine_works_on_the_streams_that_it_is_lent(either):
    """What a run leaves stays on the device, and is another run's input; nothing passes the host."""
    resources = Resources(either)
    wanted = simulate(NESTED, {"path": expected(NESTED).streams["path"]}).streams["path"]
    for make in (Singlepass, Multipass):
        path = resources.stream("path", toys.PATH, SIZE)
        path.write(NESTED.fill(SIZE[0] * SIZE[1])["path"].reshape(SIZE[::-1]))
        make(either, NESTED.linked, SIZE, resources, streams={"path": path}).finish()
        second = make(either, NESTED.linked, SIZE, resources)
        second.borrow({"path": path})
        second.finish()
        same_bits(path.read().reshape(-1), wanted)
        with pytest.raises(DeviceError, match="stream path"):
            second.borrow({"path": Stream(either, toys.PATH, (8, 8))})
    resources.release()


@pytest.mark.parametrize("name", MODELLED)
def test_single_pass_everywhere(either, name):
    toy = TOYS[name]
    for bands in (1, 3, 50):
        check(Singlepass(either, toy.linked, SIZE, bands=bands), toy)


@pytest.mark.parametrize("size", [(1, 1), (512, 1), (1, 65), (64, 32), (31, 33)])
@pytest.mark.parametrize("name", MODELLED)
def test_odd_sizes_everywhere(device, name, size):
    toy = TOYS[name]
    check(Singlepass(device, toy.linked, size), toy)
    check(Multipass(device, toy.linked, size), toy)
    check(Multipass(device, toy.linked, size, fuse=next(iter(toy.program.groups)), mask="none"), toy)


# -- kernels in a row ------------------------------------------------------------------------------------------------


def test_straight_lines_give_the_same_bits_everywhere(either):
    first = run(Singlepass(either, STRAIGHT.linked, SIZE), STRAIGHT)["total"]
    assert np.count_nonzero(first["error"]) > 0.9 * len(first)  # compensation has survived the compiler
    for fuse in ("none", "half", "line"):
        for mask in MASKS:
            same_bits(run(Multipass(either, STRAIGHT.linked, SIZE, fuse=fuse, mask=mask), STRAIGHT)["total"], first)


def test_counting_changes_no_bits(device):
    first = run(Singlepass(device, STRAIGHT.linked, SIZE), STRAIGHT)["total"]
    same_bits(run(Singlepass(device, STRAIGHT.linked, SIZE, counting=True), STRAIGHT)["total"], first)
    same_bits(run(Multipass(device, STRAIGHT.linked, SIZE, counting=True), STRAIGHT)["total"], first)


# -- runs ------------------------------------------------------------------------------------------------------------


def machines(device: Device, toy: Toy, size: tuple[int, int] = SIZE) -> Iterator[Machine]:
    """One of each kind that takes its own way through a run."""
    yield Singlepass(device, toy.linked, size, bands=2)
    for mask in MASKS:
        yield Multipass(device, toy.linked, size, mask=mask)
    yield Multipass(device, toy.linked, size, fuse=next(iter(toy.program.groups)), policy=Naive(), unroll=3)


@pytest.mark.parametrize("name", MODELLED)
@pytest.mark.parametrize("count", [0, 1, 33, 100, 230])
def test_a_part_of_the_rays_leaves_the_others_alone(either, name, count):
    toy = TOYS[name]
    (result,) = toy.program.results
    for machine in machines(either, toy):
        toy.write(machine)
        before = np.zeros(SIZE[::-1], machine.streams[result].record.dtype)
        if result in toy.program.inputs:
            before = machine.read(result)
        else:
            for field in before.dtype.names:
                before[field] = 77
            machine.write(result, before)
        machine.finish(count)
        after = machine.read(result).reshape(-1)
        same_bits(after[:count], expected(toy).streams[result][:count])
        same_bits(after[count:], before.reshape(-1)[count:])


def test_an_abandoned_machine_can_be_run_again(either):
    for toy in (COLLATZ, NESTED):
        for machine in machines(either, toy):
            for passes in (0, 1, 2, 7):
                toy.write(machine)
                steps = machine.run()
                for _ in range(passes):
                    next(steps, None)
                steps.close()
            check(machine, toy)


def test_machines_may_take_turns(device):
    """A window draws between two passes of a machine; nothing that a machine needs may be left to chance."""
    pairs = [(machine, toy) for toy in (COLLATZ, NESTED) for machine in machines(device, toy)]
    for machine, toy in pairs:
        toy.write(machine)
    running = [machine.run() for machine, _ in pairs]
    while running:
        running = [steps for steps in running if next(steps, None) is not None]
        device.context.enable(device.context.DEPTH_TEST | device.context.BLEND | device.context.CULL_FACE)
        device.context.depth_func = "<"
    device.context.disable(device.context.DEPTH_TEST | device.context.BLEND | device.context.CULL_FACE)
    for machine, toy in pairs:
        (result,) = toy.program.results
        same_bits(machine.read(result).reshape(-1), expected(toy).streams[result])


def test_progress_counts_passes_and_ends_with_nobody(device):
    for toy in (COLLATZ, NESTED):
        for machine in machines(device, toy):
            toy.write(machine)
            seen = list(machine.run(200))
            passes = [p.passes for p in seen]
            assert passes == sorted(passes) and passes[0] >= 1 and passes[-1] == machine.stats.kernel_passes
            assert all(p.rays == 200 and 0 <= p.active <= 200 for p in seen)
            assert seen[-1].active == 0


def test_uniforms_reach_every_pass(device):
    wanted = None
    for machine in machines(device, NESTED):
        machine.set({"cell_scale": 1.25, "no such uniform": 3})
        found = run(machine, NESTED)["path"]
        assert not np.array_equal(found["sum"], expected(NESTED).streams["path"]["sum"])
        wanted = found if wanted is None else wanted
        same_bits(found, wanted)


def test_a_program_does_not_know_where_its_tables_lie(device):
    """Behind another one in the arena: the same source, which the driver has compiled, and the right table's values."""
    alone, behind = Resources(device), Resources(device)
    other = Table("other", toys.NUMBER, np.zeros(5, toys.NUMBER.dtype))
    assert behind.base(other) == 0
    step = NESTED.linked.single()
    one, two = (fragment(NESTED.linked, step, Form(scheduled=False), found).text for found in (alone, behind))
    assert one == two
    for machine in (Singlepass(device, NESTED.linked, SIZE, behind), Multipass(device, NESTED.linked, SIZE, behind)):
        check(machine, NESTED)
        machine.release()
    assert behind.arena.tables()[0] is other and len(behind.arena.tables()) == 2
    alone.release()
    behind.release()


@pytest.mark.parametrize("unroll", [0, -1, (), (4, 0)])
def test_an_unroll_that_would_never_end_is_refused(device, unroll):
    from raystream.base.errors import ViewerError

    with pytest.raises(ViewerError, match="unroll"):
        Multipass(device, COLLATZ.linked, SIZE, unroll=unroll)
