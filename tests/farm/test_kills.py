"""Forty workers that are killed at any time: pictures have the bits of one process."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import raystream
from raystream.farm.nanny import MAX_DEATHS
from raystream.farm.pictures import render_on
from tests.signals import children

pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]

KILLS = 40
SIZE, SPP = (48, 40), 3
BURST = MAX_DEATHS - 1  # kills at any time, before all processes may start: fewer than may die in a row at their start


@pytest.fixture(scope="module")
def renderer() -> Iterator[raystream.Renderer]:
    found = raystream.Renderer("cornell", machine="singlepass", depth=2)
    yield found
    found.release()


def check(renderer: raystream.Renderer, alone: raystream.Picture) -> None:
    """A picture by two processes, bit by bit."""
    picture = render_on(renderer, "local:2", size=SIZE, spp=SPP)
    assert picture.film is not None and alone.film is not None
    for name, array in alone.film.arrays.items():
        np.testing.assert_array_equal(picture.film.arrays[name], array, err_msg=name)


def test_at_any_time(renderer: raystream.Renderer) -> None:
    alone = renderer.render(SIZE, SPP)
    began = time.monotonic()
    check(renderer, alone)
    with killing(random.Random(2), time.monotonic() - began) as killed:
        pictures = 0
        while len(killed) < KILLS:
            check(renderer, alone)
            pictures += 1
    assert pictures > 1


@contextmanager
def killing(draw: random.Random, usual: float) -> Iterator[list[int]]:
    """Meanwhile a worker is killed again and again; gives the numbers of those that were. usual : seconds of a picture
    with the start of its processes."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while len(killed) < KILLS and not over.wait(draw.uniform(0.0, usual) if len(killed) % BURST else 2 * usual):
            there = [pid for pid, command in children(os.getpid()).items() if "spawn_main" in command]
            if there:
                with suppress(ProcessLookupError):
                    os.kill(pid := draw.choice(sorted(there)), signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()
