"""Calls resolved: the same results, a copy of the called states for each way back, and counts under their own names."""

from __future__ import annotations

import pytest

from raystream import programs
from raystream.programs.path_trace import path_trace
from raystream.programs.traversal import FLAT, OBJECTS
from raystream.stream.compile.link import inlined, origin
from raystream.stream.declare.program import DONE, RETURN, Call


@pytest.mark.parametrize("traversal", [FLAT, OBJECTS])
def test_every_way_back_has_its_states(traversal):
    program = path_trace(traversal)
    flat = inlined(program)
    names = [state.name for state in flat.states]
    traversals = [state.name for state in traversal.states]
    assert {name for name in names if "@" in name} == {
        f"{name}@{back}" for name in traversals for back in ("arrive", "resolve")
    }
    for state in flat.states:
        assert RETURN not in state.exits.values() and not any(isinstance(t, Call) for t in state.exits.values())
        assert state.kernel == program.by_name[origin(state.name)].kernel
    assert set(flat.order) == set(names) and flat.order[0] == "setup@arrive"
    groups = [tuple(map(origin, group)) for group in flat.groups["ray"]]
    assert groups == [(*traversals, "arrive"), ("light", *traversals, "resolve", "scatter")]
    assert (flat.inputs, flat.results, flat.streams) == (program.inputs, program.results, program.streams)
    assert not flat.returns


def test_a_start_that_is_a_call_leads_to_its_end():
    flat = inlined(programs.trace())
    assert flat.start == "setup@DONE" and flat.by_name["traverse@DONE"].exits["end"] is DONE


def test_a_program_without_calls_is_as_it_was():
    once = inlined(path_trace())
    twice = inlined(once)
    assert [(s.name, dict(s.exits)) for s in once.states] == [(s.name, dict(s.exits)) for s in twice.states]
    assert once.order == twice.order and once.groups == twice.groups
