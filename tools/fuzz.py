"""Reads mutated files of every format, and messages of a page, and reports what is neither taken nor refused clearly.

``python tools/fuzz.py [--seconds S] [--count N] [--first N] [--seed N] [--jobs N] [--only WORD] [--keep FOLDER]`` runs
the cases from ``first`` on in worker processes, until ``count`` of them or ``seconds`` are over; at its end it tells
how many there were, and the most processor time and memory that one took. ``--case N`` runs one in this process, says
what it is and keeps its file.

A case is a function of seed and number: a small valid file (`fuzzing.seeds`) with a few faults (`fuzzing.mutate`),
which is read by plain or by compiled loops; or such a message, which is sent to a view. Faults of the reader are: an
exception other than `ViewerError`, or one whose message is not one line; more than `SECONDS` of processor time; more
than `MEMORY` bytes beyond those that the worker had before; a word on standard output or error; the worker's death.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
if __name__ == "__main__":  # the checkout goes before an installed package
    sys.path.insert(0, str(Path(__file__).resolve().parent / "editable"))

import numpy as np
from fuzzing.mutate import mutated
from fuzzing.seeds import Seed, seeds

from raystream.base.errors import ViewerError
from raystream.formats import obj, ply, polygons, stl
from raystream.scene.geometry import normals

SECONDS = 5  # of processor time for a file of about a kilobyte
MEMORY = 1 << 30  # bytes: what a small file may unfold to
ADDRESSES = 4 << 30  # bytes of memory that the worker may map
LOOPS = (polygons, obj, ply, stl, normals)  # modules whose loops are compiled for work that is not ``SMALL``
CASES = 10_000
ENDLESS = 1 << 62  # cases
# What a worker has done: the case that it is at, how many it has run, the most seconds and bytes that one took, and
# which ones those were.
MARK = np.dtype(
    [("number", "i8"), ("cases", "i8"), ("seconds", "f8"), ("slowest", "i8"), ("taken", "i8"), ("largest", "i8")]
)
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


def measured(number: int, seed: int, folder: Path, only: str = "") -> tuple[str, float, int]:
    """`run_case` with its seconds of processor time, and the bytes that it had at most beyond those before."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, began = _status(), time.process_time()
    fault = run_case(number, seed, folder, only)
    seconds, growth = time.process_time() - began, _taken(before, _status())
    if growth > MEMORY and not fault:
        fault = f"{growth >> 20} MiB more memory"
    return fault, seconds, growth


def worker(first: int, stop: int, step: int, seed: int, only: str, end: float, marks: str) -> None:
    """Run the cases ``range(first, stop, step)`` until the monotonic clock's time ``end``; faults are told as
    lines of JSON, and ``marks`` is a file of `MARK` that is always up to date."""
    import resource

    mark = np.memmap(marks, MARK, "r+", shape=(1,))[0]
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        for warm in range(200):  # so that libraries are loaded, and loops compiled
            run_case(-1 - warm, seed, Path(folder), only)
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + ADDRESSES,) * 2)
        said = os.fstat(2).st_size
        for ran, number in enumerate(range(first, stop, step), 1):
            if time.monotonic() > end:
                break
            mark["number"] = number
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            fault, seconds, growth = measured(number, seed, Path(folder), only)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if os.fstat(2).st_size > said and not fault:
                fault = "words on standard error"
            said = os.fstat(2).st_size
            if seconds >= mark["seconds"]:  # of clocks that tick seldom, too, a case that was run
                mark["seconds"], mark["slowest"] = seconds, number
            if growth >= mark["taken"]:
                mark["taken"], mark["largest"] = growth, number
            mark["cases"] += 1
            if fault or ran % 1000 == 0:
                print(json.dumps([number, fault]), flush=True)


def _status() -> Counter[str]:
    """Bytes of this process's memory: VmRSS now, VmHWM at most, RssFile of mapped files, VmSwap that are swapped."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return Counter({line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines if line.endswith(" kB")})


def _taken(before: Counter[str], after: Counter[str]) -> int:
    """Bytes at most beyond those before. Resident memory alone would hide those for which a system that is short of
    memory made room: it drops pages of mapped files, and swaps."""
    lost = max(0, before["RssFile"] - after["RssFile"]) + max(0, after["VmSwap"] - before["VmSwap"])
    return max(0, after["VmHWM"] - before["VmRSS"] + lost)


class Fuzzing:
    """A run of cases, by several worker processes at once.

    seed, only, keep : as of the command line. faults : so many so far. marks : what each worker has done, (N,) of
    `MARK`.
    """

    def __init__(self, seed: int, only: str = "", keep: str | None = None) -> None:
        self.seed, self.only, self.keep = seed, only, keep
        self.faults = 0
        self.marks = np.zeros(0, MARK)
        self._kinds: dict[str, int] = {}
        self._began, self._said = time.monotonic(), 0
        self._turn = threading.Lock()

    def run(self, first: int, count: int, jobs: int = 1, seconds: float = math.inf) -> None:
        """Run the cases, each worker its share of the numbers; print faults, how far it is, and what it took."""
        end = self._began + seconds
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / str(job) for job in range(jobs)]
            for path in paths:
                path.write_bytes(bytes(MARK.itemsize))
            marks = [np.memmap(path, MARK, "r+", shape=(1,)) for path in paths]

            def share(job: int) -> None:
                self._share(range(first + job, first + count, jobs), end, paths[job], marks[job][0], marks)

            with ThreadPoolExecutor(jobs) as pool:
                list(pool.map(share, range(jobs)))
            self.marks = np.concatenate(marks)
        slow, large = self.marks[self.marks["seconds"].argmax()], self.marks[self.marks["taken"].argmax()]
        print(f"{self.marks['cases'].sum():,} cases, {self.faults} faults")
        print(
            f"at most {slow['seconds']:.2f} s of processor time (case {slow['slowest']}), "
            f"{large['taken'] / 2**20:.0f} MiB (case {large['largest']})"
        )

    def _share(self, numbers: range, end: float, path: Path, mark: Any, marks: list[Any]) -> None:
        """Run a worker on the numbers, and after its death another one on the rest."""
        environment = {**os.environ, "LP_NUM_THREADS": "0"}  # llvmpipe's would be waited for with every small picture
        while numbers and time.monotonic() < end:
            arguments = map(str, (numbers.start, numbers.stop, numbers.step, self.seed, self.only, end, path))
            command = [sys.executable, "-B", __file__, "--worker", *arguments]
            mark["number"] = numbers.start
            with tempfile.TemporaryFile() as said:
                pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": said, "text": True}
                with subprocess.Popen(command, env=environment, **pipes) as process:
                    for line in process.stdout or ():
                        self._hear(line, marks)
                code = process.returncode
                said.seek(0)
                if code == 1:  # a fault of the worker's own
                    raise SystemExit(said.read().decode(errors="replace"))
            if code == 0:
                return
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            number = int(mark["number"])
            mark["cases"] += 1
            if name == "SIGPROF":
                mark["seconds"], mark["slowest"] = SECONDS, number
            self._tell(number, f"takes more than {SECONDS} s" if name == "SIGPROF" else f"the worker died of {name}")
            numbers = range(number + numbers.step, numbers.stop, numbers.step)

    def _hear(self, line: str, marks: list[Any]) -> None:
        """A worker's line."""
        try:
            number, fault = json.loads(line)
        except ValueError:
            number, fault = -1, f"words on standard output: {line!r}"
        if fault:
            self._tell(number, fault)
            return
        with self._turn:
            cases = sum(int(mark["cases"][0]) for mark in marks)
            if cases // 10000 > self._said:
                self._said = cases // 10000
                rate = cases / (time.monotonic() - self._began)
                print(f"{cases:,} cases, {self.faults} faults, {rate:.0f} a second", flush=True)

    def _tell(self, number: int, fault: str) -> None:
        """Print a fault, of each kind the first two."""
        with self._turn:
            self.faults += 1
            kind = fault.strip().splitlines()[-1] if "Traceback" in fault else fault[:60]
            self._kinds[kind] = self._kinds.get(kind, 0) + 1
            if self._kinds[kind] <= 2:
                print(f"case {number} (seed {self.seed}): {fault}", flush=True)
            if self.keep is not None:
                folder = Path(self.keep) / str(number)
                folder.mkdir(parents=True, exist_ok=True)
                write_case(number, self.seed, folder, self.only)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    if arguments is None and sys.argv[1:2] == ["--worker"]:
        first, stop, step, seed, only, end, marks = sys.argv[2:]
        worker(int(first), int(stop), int(step), int(seed), only, float(end), marks)
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other cases (0)")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes (1)")
    parser.add_argument("--count", type=int, help=f"cases ({CASES:,}, with --seconds any number)")
    parser.add_argument("--seconds", type=float, help="time after which no case is begun (any)")
    parser.add_argument("--only", default="", help="files whose name holds this word")
    parser.add_argument("--keep", help="folder for the files with faults")
    parser.add_argument("--case", type=int, help="run this case alone, here, and keep its file")
    options: Any = parser.parse_args(arguments)
    if not _seeds(options.only):
        parser.error(f"no file's name holds {options.only!r}")
    if options.case is None:
        fuzzing = Fuzzing(options.seed, options.only, options.keep)
        seconds = math.inf if options.seconds is None else options.seconds
        count = options.count if options.count is not None else CASES if math.isinf(seconds) else ENDLESS
        fuzzing.run(options.first, count, max(1, options.jobs), seconds)
        return int(fuzzing.faults > 0)
    folder = Path(options.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    seed, path = write_case(options.case, options.seed, folder, options.only)
    print(f"{path}: from {seed.name}, {path.stat().st_size} bytes", flush=True)
    fault, seconds, growth = measured(options.case, options.seed, folder, options.only)
    print(fault or "read, or refused by one clear line")
    print(f"{seconds:.2f} s of processor time, {growth / 2**20:.0f} MiB")
    return int(bool(fault))


if __name__ == "__main__":
    sys.exit(main())
