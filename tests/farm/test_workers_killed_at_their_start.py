"""A worker that was killed in its first seconds ended the render (``Nanny failed to start``), told as a fault of this
program: dask gives a process up that dies before it is connected. A signal meanwhile left dask's traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import raystream
from raystream.farm import cluster
from tests.signals import children, heeding

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


def test_it_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one at the same place, twice here."""
    deaths = f"""
import os, pathlib, signal
for k in range(2):
    try:
        os.close(os.open(pathlib.Path({str(tmp_path)!r}, str(k)), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        continue
    os.kill(os.getpid(), signal.SIGKILL)
"""
    monkeypatch.setattr(cluster, "PRELOAD", cluster.PRELOAD + deaths)
    with cluster.processes(1) as local, distributed.Client(local, set_as_default=False) as client:
        assert len(client.run(os.getpid)) == 1
    assert len(list(tmp_path.iterdir())) == 2


def test_where_all_of_them_die_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PRELOAD", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    with (
        pytest.raises(raystream.ViewerError, match="as soon as they start, 5 times in a row"),
        cluster.connected("local:1"),
    ):
        raise AssertionError


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_they_start(number: int, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "raystream", "render", "cornell", "-o", str(tmp_path / "a.png"), "--size", "16x16"]
    process = subprocess.Popen(
        [*command, "--cluster", "local:2"], stderr=subprocess.PIPE, text=True, preexec_fn=heeding, cwd=tmp_path
    )
    while not any("spawn_main" in text for text in children(process.pid).values()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    assert process.communicate(timeout=600)[1] == "raystream: stopped\n"
    assert process.returncode == code
