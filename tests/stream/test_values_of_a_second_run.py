"""Uniforms in a run that begins anew, on another machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toys import NESTED

from raystream.stream.machines.common import Machine
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.singlepass import Singlepass

SIZE = (9, 5)


@pytest.mark.parametrize("kind", [Singlepass, Multipass])
def test_uniforms_that_are_set_hold_in_the_second_run(device, kind: type[Machine]) -> None:
    """Of a program that may begin with what another run has left."""
    linked = replace(NESTED, program=replace(NESTED.program, resumes=True)).linked
    results = []
    for scale, again in ((0.7, False), (1.4, False), (1.4, True)):
        machine = kind(device, linked, SIZE)
        for name, array in NESTED.fill(machine.rays).items():
            machine.write(name, array.reshape(SIZE[::-1]))
        machine.set({"cell_scale": scale})
        if again:
            for _ in machine._retry(Multipass, machine.rays):
                pass
        else:
            machine.finish()
        results.append(machine.read("path")["sum"])
    assert (results[0] != results[1]).any() and results[0].any()
    np.testing.assert_array_equal(results[1], results[2])
