"""A short run of the fuzzer over every format and message: read, or refused by one clear line; nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
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


def ran(*options: str) -> tuple[int, list[str]]:
    """The status of a run, and its lines."""
    command = [sys.executable, fuzz.__file__, "--only", "small.png", *options]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=600, check=False)
    return process.returncode, process.stdout.splitlines()


def test_all_cases_are_shared_out() -> None:
    status, lines = ran("--count", "31", "--first", "5", "--jobs", "2")
    assert status == 0 and lines[0] == "31 cases, 0 faults"
    found = re.fullmatch(r"at most (.*) s of processor time \(case (\d+)\), \d+ MiB \(case \d+\)", lines[1])
    assert found is not None and 0 <= float(found[1]) < fuzz.SECONDS and 5 <= int(found[2]) < 36


Measured = Callable[[Callable[[Path], None]], tuple[str, float, int]]


@pytest.fixture
def measured(tmp_path, monkeypatch) -> Measured:
    """The fault, seconds and bytes of a reader."""

    def run(read: Callable[[Path], None]) -> tuple[str, float, int]:
        monkeypatch.setattr(fuzz, "_seeds", lambda only: [fuzz.Seed("a.bin", b"bytes", read)])
        return fuzz.measured(0, 0, tmp_path)

    return run


def test_memory_is_measured(measured, monkeypatch) -> None:
    kept: list[np.ndarray] = []  # so that texels which were swapped are found so

    def read(path: Path) -> None:
        kept.append(np.ones(100 << 20, np.uint8))

    fault, _, taken = measured(read)
    assert fault == "" and taken >= 90 << 20
    kept.clear()
    assert measured(lambda path: None)[2] < 8 << 20  # the peak before is not its own


@pytest.mark.parametrize(
    ("peak", "files", "swapped", "taken"),
    [
        (400, 100, 5, 100),
        (320, 20, 5, 100),  # pages of files made room
        (300, 100, 105, 100),  # others were swapped
        (330, 60, 35, 100),
        (400, 150, 0, 100),  # files were mapped, and pages came back
        (300, 100, 5, 0),
    ],
)
def test_memory_that_a_system_takes_away_counts(measured, monkeypatch, peak, files, swapped, taken) -> None:
    """In MiB."""
    before = Counter(VmRSS=300 << 20, VmHWM=300 << 20, RssFile=100 << 20, VmSwap=5 << 20)
    after = Counter(VmRSS=310 << 20, VmHWM=peak << 20, RssFile=files << 20, VmSwap=swapped << 20)
    monkeypatch.setattr(fuzz, "_status", iter((before, after) * 2).__next__)
    assert measured(lambda path: None)[::2] == ("", taken << 20)
    monkeypatch.setattr(fuzz, "MEMORY", 99 << 20)
    assert measured(lambda path: None)[0] == (f"{taken} MiB more memory" if taken else "")
