"""Reads mutated files of every format, and reports what is neither read nor refused by one clear line.

``python tools/fuzz.py [--count N] [--first N] [--seed N] [--only WORD] [--keep FOLDER]`` runs the cases ``first`` to
``first + count`` in a worker process; ``--case N`` runs one in this process, says what it is and keeps its file.

A case is a function of seed and number: a small valid file (`fuzzing.seeds`) with a few faults (`fuzzing.mutate`),
which is read by plain or by compiled loops. Faults of the reader are: an exception other than `ViewerError`, or one
whose message is not one line; more than `SECONDS` of processor time; more than `MEMORY` bytes beyond those that the
worker took before; a word on standard output or error; the worker's death.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the checkout goes before an installed package

import numpy as np
from fuzzing.mutate import mutated
from fuzzing.seeds import Seed, seeds

from viewer.base.errors import ViewerError
from viewer.formats import polygons
from viewer.formats.obj import reader as obj
from viewer.formats.ply import elements as ply
from viewer.formats.stl import reader as stl
from viewer.scene.geometry import normals

SECONDS = 5  # of processor time for a file of about a kilobyte
MEMORY = 1 << 30  # bytes: what a small file may unfold to
ADDRESSES = 4 << 30  # bytes of memory that the worker may map
LOOPS = (polygons, obj, ply, stl, normals)  # modules whose loops are compiled for work that is not ``SMALL``
SMALL = [module.SMALL for module in LOOPS]


@cache
def _seeds(only: str) -> list[Seed]:
    return [seed for seed in seeds() if only in seed.name]


def write_case(number: int, seed: int, folder: Path, only: str = "") -> tuple[Seed, Path]:
    """The case's files, written into a folder: what was mutated, and the path of the file to read."""
    rng = random.Random(f"{seed} {number}")
    chosen = rng.choice(_seeds(only))
    compiled = rng.random() < 0.5
    for module in LOOPS:
        module.SMALL = 0 if compiled else 1 << 60
    for name, data in chosen.beside.items():
        (folder / name).write_bytes(mutated(data, rng) if name == chosen.aside else data)
    path = folder / chosen.name
    path.write_bytes(chosen.data if chosen.aside else mutated(chosen.data, rng))
    return chosen, path


def run_case(number: int, seed: int, folder: Path, only: str = "") -> str:
    """What is wrong with the way that a case is read; "" where nothing is. A fault's text ends with its traceback."""
    chosen, path = write_case(number, seed, folder, only)
    try:
        with np.errstate(invalid="raise", divide="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            chosen.read(path)
    except ViewerError as error:
        text = str(error)
        if "\n" in text or not text.isprintable() or len(text) > 600:
            return f"the message is not one clear line: {text[:1000]!r}"
        if "not enough memory" in text:
            return text
    except Exception as error:
        return f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-6)}"
    finally:
        for module, small in zip(LOOPS, SMALL, strict=True):
            module.SMALL = small
    return ""


def worker(first: int, count: int, seed: int, only: str, marks: str) -> None:
    """Run cases, tell faults as lines of JSON; ``marks`` is a file that always holds the number of the case."""
    import resource

    with open(marks, "r+b") as file, tempfile.TemporaryDirectory(dir=_memory_folder()) as folder:
        mark = mmap.mmap(file.fileno(), 8)
        for warm in range(200):  # so that libraries are loaded, and loops compiled
            run_case(-1 - warm, seed, Path(folder), only)
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + ADDRESSES,) * 2)
        peak, said = _peak(), os.fstat(2).st_size
        for number in range(first, first + count):
            mark[:8] = number.to_bytes(8, "little")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            fault = run_case(number, seed, Path(folder), only)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if _peak() > peak + MEMORY and not fault:
                fault = f"{(_peak() - peak) >> 20} MiB more memory"
            peak = max(peak, _peak())
            if os.fstat(2).st_size > said and not fault:
                fault = "words on standard error"
            said = os.fstat(2).st_size
            if fault or number % 1000 == 999:
                print(json.dumps([number, fault]), flush=True)
        mark[:8] = (first + count).to_bytes(8, "little")


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _memory_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def fuzz(first: int, count: int, seed: int, only: str = "", keep: str | None = None) -> int:
    """Run the cases, print the faults and how far it is; the number of faults."""
    at, end, faults, kinds = first, first + count, 0, dict[str, int]()
    began = time.monotonic()

    def tell(number: int, fault: str) -> None:
        nonlocal faults
        faults += 1
        kind = fault.strip().splitlines()[-1] if "Traceback" in fault else fault[:60]
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] <= 2:
            print(f"case {number} (seed {seed}): {fault}", flush=True)
        if keep is not None:
            folder = Path(keep) / str(number)
            folder.mkdir(parents=True, exist_ok=True)
            write_case(number, seed, folder, only)

    with tempfile.NamedTemporaryFile() as marks, tempfile.TemporaryFile() as said:
        marks.write(bytes(8))
        marks.flush()
        while at < end:
            given = [str(at), str(end - at), str(seed), only, marks.name]
            command = [sys.executable, "-B", __file__, "--worker", *given]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True)
            assert process.stdout is not None
            for line in process.stdout:
                try:
                    number, fault = json.loads(line)
                except ValueError:
                    number, fault = -1, f"words on standard output: {line!r}"
                if fault:
                    tell(number, fault)
                elif number % 10000 == 9999:
                    rate = (number + 1 - first) / (time.monotonic() - began)
                    print(f"{number + 1 - first:,} cases, {faults} faults, {rate:.0f} a second", flush=True)
            code = process.wait()
            marks.seek(0)
            at = int.from_bytes(marks.read(8), "little")
            if code == 1:  # a fault of the worker's own
                said.seek(0)
                raise SystemExit(said.read().decode(errors="replace"))
            if code:
                name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                tell(at, f"takes more than {SECONDS} s" if name == "SIGPROF" else f"the worker died of {name}")
                at += 1
    print(f"{count:,} cases, {faults} faults")
    return faults


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    if arguments is None and sys.argv[1:2] == ["--worker"]:
        first, count, seed, only, marks = sys.argv[2:]
        worker(int(first), int(count), int(seed), only, marks)
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default, what in (
        ("first", 0, "number of the first case"),
        ("count", 10_000, "cases"),
        ("seed", 0, "another seed makes other cases"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} ({default})")
    parser.add_argument("--only", default="", help="files whose name holds this word")
    parser.add_argument("--keep", help="folder for the files with faults")
    parser.add_argument("--case", type=int, help="run this case alone, here, and keep its file")
    found: Any = parser.parse_args(arguments)
    if found.case is None:
        return int(fuzz(found.first, found.count, found.seed, found.only, found.keep) > 0)
    folder = Path(found.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    seed, path = write_case(found.case, found.seed, folder, found.only)
    print(f"{path}: from {seed.name}, {path.stat().st_size} bytes", flush=True)
    fault = run_case(found.case, found.seed, folder, found.only)
    print(fault or "read, or refused by one clear line")
    return int(bool(fault))


if __name__ == "__main__":
    sys.exit(main())
