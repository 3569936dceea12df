"""Under ``fuse="surface"`` photon mapping lost what glass refracts: streams that are pushed and popped in one fused
pass were taken for its local variables, even where a ray leaves the pass between the two."""

from __future__ import annotations

import raystream
from raystream.programs import PICTURES
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import IN, OUT, Kernel
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record

NUMBER = Record("Number", Field("n", "int"))
KERNELS = {
    "push": Kernel("push", (IN("given", NUMBER), OUT("kept", NUMBER)), exits=("next",)),
    "wander": Kernel("wander", (IN("given", NUMBER),), exits=("next",)),
    "pop": Kernel("pop", (IN("kept", NUMBER), OUT("found", NUMBER)), exits=("next",)),
}


def test_what_waits_while_a_ray_is_elsewhere_is_stored() -> None:
    """A pass that pushes and pops, between which the ray goes over another one, or not. (In pictures: the machines of a
    final gather agree over glass and mirrors.)"""
    for order, stored in (("push", "wander", "pop"), True), (("push", "pop", "wander"), False):
        states = [State(n, KERNELS[n], {"next": to}) for n, to in zip(order, (*order[1:], DONE), strict=True)]
        streams = dict.fromkeys(("given", "kept", "found"), NUMBER)
        program = Program(
            "waiting",
            streams,
            inputs=("given",),
            results=("found",),
            states=tuple(states),
            start="push",
            groups={"pair": (("push", "pop"),)},
            stacked=("kept",),
        )
        pair = LinkedProgram(program, []).steps("pair")[0]
        assert pair.states == ("push", "pop")
        assert ("kept" in pair.stores) is stored and ("kept" in pair.loads) is stored


def test_a_stack_that_is_emptied_in_its_pass_stays_local() -> None:
    modules = prepare(raystream.load("balls"), Settings()).modules(False, True, "sobol")
    linked = LinkedProgram(PICTURES["whitted"](), modules)
    for step in linked.inlined().steps("surface"):
        assert not any(name.startswith("pending_") for name in (*step.loads, *step.stores))
