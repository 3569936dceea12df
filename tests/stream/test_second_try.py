"""A run that begins anew, for a driver that cut the first one short: the statistics count both."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from toys import COLLATZ, simulate

from raystream.stream.machines.common import Machine
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Naive
from raystream.stream.machines.singlepass import Singlepass

SIZE = (9, 5)
NUMBERS = ("kernel_passes", "mask_passes", "count_passes", "copy_passes")


@pytest.mark.parametrize("kind", [Singlepass, Multipass])
def test_passes_of_both_runs_are_counted(device, kind: type[Machine]) -> None:
    options = {} if kind is Singlepass else {"fuse": "pair", "policy": Naive()}
    machine = kind(device, COLLATZ.linked, SIZE, counting=True, **options)
    for name, array in COLLATZ.fill(SIZE[0] * SIZE[1]).items():
        machine.write(name, array.reshape(SIZE[::-1]))
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
