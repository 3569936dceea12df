"""A driver that compiles in threads of its own is asked until a program is complete, and nothing waits for it: on a
screen every turn goes on meanwhile. Completion that comes late is the pretended part; the programs are real."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.renderer.session.session import Session
from tests.renderer.test_session import Paper

LATE = 6  # questions until a program is complete
SMALL = 6500  # characters of programs that are waited for: copies, fills and sorting, made where they are first used


@pytest.fixture
def waited(device: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Characters of the sources of each program that was waited for before it was complete."""
    asked: Counter[int] = Counter()
    lengths: dict[int, int] = {}
    found: list[int] = []
    compiler = device.compiler
    status, begin = compiler.status, compiler.begin

    def begun(stages: dict[str, str], varyings: tuple[str, ...]) -> Any:
        made = begin(stages, varyings)
        lengths[made[0]], asked[made[0]] = sum(map(len, stages.values())), 0
        return made

    def complete(program: int) -> bool:
        asked[program] += 1
        return asked[program] > LATE

    def waits(program: int) -> bool:
        if asked[program] <= LATE:
            found.append(lengths[program])
        return bool(status(program))

    monkeypatch.setattr(compiler, "begin", begun)
    monkeypatch.setattr(compiler, "complete", complete)
    monkeypatch.setattr(compiler, "status", waits)
    return found


@pytest.mark.parametrize(
    "chosen",
    [
        {"program": "path", "machine": "multipass"},
        {"program": "path", "machine": "singlepass"},
        {"program": "photon", "photons": 2000, "machine": "multipass"},
    ],
    ids=["multipass", "singlepass", "photon"],
)
def test_a_screen_s_turns_wait_for_no_program(device: Any, waited: list[int], chosen: dict[str, Any]) -> None:
    scene = raystream.load("cornell")
    expected = Renderer(scene, device=device, **chosen).render((8, 6), spp=1).linear
    waited.clear()
    renderer = Renderer(scene, device=device, seed=0, **chosen)
    session = Session(renderer, (8, 6), screen=Paper())
    turns, begun, compiled = 0, 0, device.compiled
    session.advance(1e-3)
    while session.compiling:
        turns += 1
        assert turns < 1000
        begun = max(begun, len(device.compiler.pending))
        session.advance(1e-3)
    assert turns > LATE and device.compiled > compiled + 3
    assert all(length <= SMALL for length in waited), waited
    assert begun > 2, "side by side"
    session.release()
    np.testing.assert_array_equal(renderer.render((8, 6), spp=1).linear, expected)
