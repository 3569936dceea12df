"""The wished-for stream machine, call by call: what it sees, launches and moves, against the other machines."""

from __future__ import annotations

import numpy as np
import pytest
from reproduction.published.chapter5 import KernelRow as Row
from reproduction.simulators import references
from reproduction.simulators.machines import COLOR, INTERSECT, KERNELS, STEP, stream_buffer
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.references import KINDS, READS, WRITES, Traffic
from reproduction.simulators.walk import Space, State, walk

from raystream.accel.grid.build import build
from raystream.scene.builtin.cornell import build as cornell

ROWS = {**dict.fromkeys(KERNELS, Row(1, 14, 9, 0)), STEP: Row(1, 14, 9, 1), INTERSECT: Row(1, 14, 5, 10)}
ROWS[COLOR] = Row(1, 10, 3, 21)
RECORD = 4 * (14 + 9)  # bytes of a ray in the buffer


@pytest.fixture(scope="module")
def room():
    corners = cornell().flatten().corners()
    rays = eye_rays(cornell().cameras[0], (20, 20))
    return Space.of(build(corners, 8), corners), rays[np.random.default_rng(1).permutation(len(rays))]


def _words(chunks):
    """By kind."""
    codes = np.concatenate([each.copy() for each in chunks])
    return np.bincount(codes & 7, ((codes >> 3) & 3) + 1, len(KINDS))


@pytest.mark.parametrize("held", [1, 7, 5000])
def test_it_sees_launches_and_moves_what_the_others_do(room, held, monkeypatch):
    space, rays = room
    monkeypatch.setattr(references, "CHUNK", 200)  # launches that go on in the next piece
    state, launches, traffic = State.setup(space, rays), [], Traffic(ROWS)
    words = _words(references.buffer_references(space, rays, traffic, held, state=state, launches=launches))
    runs, walked = walk(space, rays)
    assert np.array_equal(state.triangle, walked.triangle) and np.array_equal(state.distance, walked.distance)
    shaded = float((walked.triangle >= 0).mean())
    assert launches == list(stream_buffer(runs, shaded, ROWS, size=held * RECORD).launches)
    alone = _words(references.mimd_references(space, rays, traffic))
    assert words[READS] == 0 and words[WRITES] == 3 * (walked.triangle >= 0).sum()
    others = [kind for kind in KINDS if kind not in (READS, WRITES)]
    assert np.array_equal(words[others], alone[others]) and words[others].all()


def test_the_other_machines_leave_their_hits_too(room):
    space, rays = room
    walked = walk(space, rays)[1]
    for machine in (references.simd_references, references.mimd_references):
        state = State.setup(space, rays)
        for _ in machine(space, rays, Traffic(ROWS), state=state):
            pass
        assert np.array_equal(state.triangle, walked.triangle) and np.array_equal(state.distance, walked.distance)
