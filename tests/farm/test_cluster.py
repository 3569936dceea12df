"""Processes on this machine: one that dies is replaced, however often."""

from __future__ import annotations

import os
import signal
import time

import distributed
import pytest

from viewer.farm.cluster import processes


@pytest.mark.slow
def test_processes_that_die_again_and_again_are_all_replaced() -> None:
    """For longer than the 15 seconds after which dask looks whether one that died is back, and finds it dead again."""
    with processes(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        began = time.monotonic()
        while time.monotonic() - began < 25:
            client.wait_for_workers(2, timeout=60)
            time.sleep(0.5)
            pids = list(client.run(os.getpid, on_error="ignore").values())  # one may be gone already
            os.kill(pids[0], signal.SIGKILL)
            time.sleep(0.2)
        client.wait_for_workers(2, timeout=60)
