"""Channels of streams, by records and a program that are written down here; and one step at a time of a policy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from raystream.stream.declare.program import Call
from raystream.stream.declare.record import Field, Record
from raystream.viewport.debug_views.inspector import (
    COLOR_UNIT,
    Channel,
    SingleStep,
    channels,
    present,
    written,
)


def state(name: str, writes: set[str] = frozenset(), gathers: set[str] = frozenset(), **exits: Any) -> Any:  # type: ignore[assignment]
    return SimpleNamespace(name=name, exits=exits, writes=lambda: writes, gathers=lambda: gathers)


def linked(*states: Any, **records: Record) -> Any:
    program = SimpleNamespace(states=states, by_name={each.name: each for each in states}, inputs=("pixel",))
    return SimpleNamespace(program=program, records=records)


FIELDS = (
    Field("t", "float", "scene units", about="the distance"),
    Field("triangle", "int"),
    Field("count", "int", "photons"),
    Field("rgb", "vec3", COLOR_UNIT),
    Field("at", "vec2", COLOR_UNIT),
    Field("normal", "vec3", "unit length"),
    Field("voxel", "ivec3"),
)


def test_a_channel_for_every_field() -> None:
    program = linked(
        state("eye"), state("traverse"), state("shade"), hit=Record("hit", *FIELDS), other=Record("o", *FIELDS)
    )
    found = channels(program, ["hit"])
    assert list(found) == [
        *("state", "steps", "calls.eye", "calls.traverse", "calls.shade", "hit.t", "hit.triangle", "hit.count"),
        *("hit.rgb", "hit.rgb.x", "hit.rgb.y", "hit.rgb.z", "hit.at", "hit.at.x", "hit.at.y"),
        *("hit.normal", "hit.normal.x", "hit.normal.y", "hit.normal.z"),
        *("hit.voxel", "hit.voxel.x", "hit.voxel.y", "hit.voxel.z"),
    ]
    assert found["state"] == Channel("state", "state", "state", about="the ray's next state", field="at")
    about = "kernel calls in state traverse"
    assert found["steps"] == Channel("steps", "counts", "count", "steps", about, counted="traverse")
    assert found["calls.eye"] == Channel("calls.eye", "counts", "count", "calls", "kernel calls in it", counted="eye")
    assert found["hit.t"] == Channel("hit.t", "hit", "quantity", "scene units", "the distance", "hit", "t")
    kinds = {name.partition(".")[2]: found[name].kind for name in found if name.startswith("hit.")}
    assert {name: kind for name, kind in kinds.items() if "." not in name} == {
        **{"t": "quantity", "triangle": "identity", "count": "quantity", "rgb": "color"},
        **{"at": "vector", "normal": "vector", "voxel": "vector"},
    }
    assert {kind for name, kind in kinds.items() if "." in name} == {"quantity"}
    assert found["hit.normal.z"] == Channel(
        "hit.normal.z", "hit", "quantity", "unit length", "", "hit", "normal", component=2
    )
    assert "estimate.radiance" in channels(program, ["estimate"])
    calling = linked(state("eye", again="eye"), state("walk", hit=Call("shade", "eye")), state("shade"))
    assert list(channels(calling, [])) == ["state", "return", "calls.eye", "calls.walk", "calls.shade"]
    assert channels(calling, [])["return"].field == "back" and channels(calling, [])["return"].kind == "state"


def test_elements_of_gathered_streams_that_are_there() -> None:
    photons = np.array([[1, 0, 2]], [("stored", "i4")])
    assert present(photons, 5).tolist() == [[True, False, True]]
    listed = np.array([[4, 5, 6], [0, 9, 4]], [("cell", "i4")])
    assert present(listed, 5).tolist() == [[True, False, False], [True, False, True]]
    first = np.zeros((2, 3), [("first", "i4")])
    assert present(first, 4).tolist() == [[True] * 3, [True, False, False]]
    assert present(np.zeros((2, 3), [("other", "i4")]), 4).all()


def test_elements_of_rays_that_are_written() -> None:
    program = linked(state("eye", {"ray"}), state("walk", {"hit"}), state("test", {"hit", "ray"}))
    calls = {"eye": np.array([[1, 0, 0]]), "walk": np.array([[0, 0, 1]]), "test": np.array([[0, 0, 2]])}
    for stream, wanted in (("ray", [1, 0, 1]), ("hit", [0, 0, 1]), ("pixel", [1, 1, 1]), ("none", [0, 0, 0])):
        assert written(program, stream, calls, (1, 3)).tolist() == [[bool(each) for each in wanted]], stream


# -- single steps ------------------------------------------------------------------------------------------------------


class Rounds:
    """A policy whose rounds are written down; ``asked``: what it was told each time."""

    def __init__(self, *rounds: list[int]) -> None:
        self.rounds, self.asked = list(rounds), []

    def choose(self, waiting: Any, total: int) -> list[int]:
        self.asked.append((list(waiting), total))
        return self.rounds.pop(0)


def test_a_round_is_taken_one_step_at_a_time() -> None:
    inner: Any = Rounds([1, 0, 2, 1], [2], [0])
    single = SingleStep(inner)
    assert single.counts
    chosen = [single.choose([5, 6, 7], 18) for _ in range(4)]
    assert chosen == [[1], [0], [2], [1]] and inner.asked == [([5, 6, 7], 18)]
    assert single.choose([5, 6, 8], 19) == [2] and inner.asked[-1] == ([5, 6, 8], 19)


def test_steps_without_rays_are_passed_over() -> None:
    """And those that are not there: a round may outlast its loop."""
    inner: Any = Rounds([0, 1, 3, 2], [1], [2])
    single = SingleStep(inner)
    assert single.choose([0, 4, 5], 9) == [1] and single.choose([0, 4, 5], 9) == [2]
    assert single.choose([1, 0, 5], 6) == [2] and len(inner.asked) == 3, "a round of nothing is followed by another"
