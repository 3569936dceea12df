"""A short run of the fuzzer over every format: read, or refused by one clear line; nothing else."""

from __future__ import annotations

from pathlib import Path

import fuzz
import pytest

CASES, STEP = 450, 75  # about a millisecond each


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
