"""A short run of the fuzzer over every format and message: read, or refused by one clear line; nothing else."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fuzz
import numpy as np
import pytest
from fuzzing import messages

CASES, STEP = 450, 75  # about a millisecond each


@pytest.fixture(scope="module", autouse=True)
def views() -> Iterator[None]:
    """The view that messages go to ends."""
    yield
    messages.close()


@pytest.mark.parametrize("first", range(0, CASES, STEP))
def test_mutated_files(first, tmp_path, capfd) -> None:
    faults = {number: fault for number in range(first, first + STEP) if (fault := fuzz.run_case(number, 0, tmp_path))}
    assert faults == {}, f"python tools/fuzz.py --case {min(faults)}"
    assert capfd.readouterr() == ("", "")


def test_every_seed_is_read(tmp_path) -> None:
    """Mutations of what is refused as it is would find nothing."""
    for seed in fuzz.seeds():
        for name, data in {**seed.beside, seed.name: seed.data}.items():
            (tmp_path / name).write_bytes(data)
        seed.read(tmp_path / seed.name)


def test_faults_are_seen(tmp_path, monkeypatch) -> None:
    def read(path: Path) -> None:
        {}[path.name]

    monkeypatch.setattr(fuzz, "_seeds", lambda only: [fuzz.Seed("a.bin", b"bytes", read)])
    assert "KeyError: 'a.bin'" in fuzz.run_case(0, 0, tmp_path)
    monkeypatch.setattr(fuzz, "_seeds", lambda only: [fuzz.Seed("a.bin", b"bytes", lambda path: path.read_bytes())])
    assert fuzz.run_case(0, 0, tmp_path) == ""


def ran(*options: str) -> tuple[int, list[str]]:
    """The status of a run, and its lines."""
    command = [sys.executable, fuzz.__file__, "--only", "small.png", *options]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return process.returncode, process.stdout.splitlines()


def test_all_cases_are_shared_out() -> None:
    status, lines = ran("--count", "31", "--first", "5", "--jobs", "2")
    assert status == 0 and lines[0] == "31 cases, 0 faults"
    found = re.fullmatch(r"at most (.*) s of processor time \(case (\d+)\), \d+ MiB \(case \d+\)", lines[1])
    assert found is not None and 0 <= float(found[1]) < fuzz.SECONDS and 5 <= int(found[2]) < 36


def test_time_ends_a_run() -> None:
    began = time.monotonic()
    status, lines = ran("--seconds", "0")
    assert status == 0 and lines[0] == "0 cases, 0 faults" and time.monotonic() - began < 60


def test_work_and_memory_are_measured(tmp_path, monkeypatch) -> None:
    def read(path: Path) -> None:
        end, texels = time.process_time() + 0.3, np.ones(100 << 20, np.uint8)
        while time.process_time() < end:
            texels[::4096] += 1  # a system that takes unused pages away leaves these
        del texels

    def run(do) -> tuple[str, float, int]:
        monkeypatch.setattr(fuzz, "_seeds", lambda only: [fuzz.Seed("a.bin", b"bytes", do)])
        return fuzz.measured(0, 0, tmp_path)

    fault, seconds, taken = run(read)
    assert fault == "" and 0.3 <= seconds < 0.9 and 96 << 20 <= taken < 120 << 20
    fault, seconds, taken = run(lambda path: None)  # the peak before is not its own
    assert fault == "" and seconds < 0.1 and taken < 8 << 20
    monkeypatch.setattr(fuzz, "MEMORY", 50 << 20)
    # A system that swaps may take as much away meanwhile.
    assert any(re.fullmatch(r"\d+ MiB more memory", run(read)[0]) for _ in range(3))


def test_a_worker_that_dies_is_followed_by_another(tmp_path, monkeypatch, capsys) -> None:
    """Its case is a fault, and counted."""
    script = tmp_path / "dies.py"
    script.write_text(
        "import os, signal, sys\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "import fuzz\n"
        "run = fuzz.run_case\n"
        "def dying(number, *rest):\n"
        "    if number == 7: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    if number == 8: os.kill(os.getpid(), signal.SIGPROF)\n"
        "    return run(number, *rest)\n"
        "fuzz.run_case = dying\n"
        "sys.exit(fuzz.main())\n"
    )
    monkeypatch.setattr(fuzz, "__file__", str(script))
    fuzzing = fuzz.Fuzzing(0, "small.png")
    fuzzing.run(0, 12, 1, math.inf)
    said = capsys.readouterr().out
    assert fuzzing.faults == 2 and "12 cases, 2 faults" in said
    assert "case 7 (seed 0): the worker died of SIGKILL" in said and "case 8 (seed 0): takes more than 5 s" in said
    assert "at most 5.00 s of processor time (case 8)" in said


def test_faults_of_messages_are_seen(tmp_path, monkeypatch) -> None:
    """rendercanvas and the event loop catch them, and only log them."""
    pytest.importorskip("rendercanvas.http", reason="rendercanvas is not installed")
    from viewer.remote.canvas import RemoteCanvas

    path = tmp_path / "a.message"
    path.write_text(json.dumps({"type": "action", "name": "exposure.up"}))
    messages.read_message(path)
    with monkeypatch.context() as patch:
        patch.setattr(RemoteCanvas, "perform", lambda self, name: {}[name])
        with pytest.raises(RuntimeError, match=r"exposure\.up"):
            messages.read_message(path)
    messages.read_message(path)
