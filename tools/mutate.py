"""Puts small faults into the code, one at a time, and says which of them the tests catch.

``python tools/mutate.py [NAME ...] [--faults FILE] [--list] [--jobs N] [--timeout SECONDS] [--no-check]``: names, with
* and ?, choose among the faults of tools/mutate.toml, or of another file of its form; without names all are tried.
``--draw N [--seed S] [--within PATH ...] [--nearest K]`` tries N generated ones instead (mutants.py), named S-0, S-1
..., each against the K test files nearest to its line (nearest.py): a seed that nobody has seen measures the tests.
Each job has a copy of the project's files of its own, in a temporary folder; a fault is written into it, the tests that
should catch it run until the first fails, and the file is put back. Before that the tests run once without a fault:
those that fail anyway would catch everything.

Exit code: 0 all caught; 1 one survived; 2 a fault or a name does not fit the code, or tests fail without a fault.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutants import drawn

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")

CAUGHT, SURVIVED, LATE, WRONG = "caught", "SURVIVED", "caught, too slow", "NO RESULT"
PASSED, FAILED = 0, 1  # of pytest's exit codes; others are no answer


@dataclass(frozen=True)
class Fault:
    """One text of a file in another's place, which must not go unnoticed.

    old : occurs once in the file. tests : as pytest takes them, the likeliest first. about : what it does wrong.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    about: str

    def put(self, text: str) -> str:
        """The file's text with the fault. Raises ValueError where ``old`` does not occur just once, or is ``new``."""
        if text.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: its old text occurs {text.count(self.old)} times in {self.file}")
        return text.replace(self.old, self.new)

    def line(self, text: str) -> int:
        """The line, from 1, on which it begins."""
        return text.count("\n", 0, text.index(self.old)) + 1

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line((ROOT / self.file).read_text('utf-8'))}"


@dataclass(frozen=True)
class Outcome:
    """What became of a fault: a word, the test that caught it or what else there is to say, and the seconds taken."""

    fault: Fault
    what: str
    said: str
    seconds: float

    def __str__(self) -> str:
        """A line of the table."""
        fault = self.fault
        return f"{self.what:9} {self.seconds:5.1f} s  {fault.name:32} {fault.place:52} {self.said}"


def faults(path: Path = LIST) -> list[Fault]:
    """The list. Raises ValueError for an entry that is not one, or a name that is there twice."""
    parsed = [
        Fault(tests=tuple(entry.pop("tests")), **entry) for entry in tomllib.loads(path.read_text("utf-8"))["fault"]
    ]
    names = [fault.name for fault in parsed]
    if len(set(names)) < len(names):
        raise ValueError(f"{path.name}: two faults are named {next(n for n in names if names.count(n) > 1)}")
    return parsed


def chosen(candidates: Sequence[Fault], patterns: Sequence[str]) -> list[Fault]:
    """The faults whose names match a pattern; all without patterns. Raises ValueError for a pattern of none."""
    for pattern in patterns:
        if not any(fnmatchcase(fault.name, pattern) for fault in candidates):
            raise ValueError(f"no fault is named {pattern}; --list shows them all")
    return [f for f in candidates if not patterns or any(fnmatchcase(f.name, pattern) for pattern in patterns)]


def copy_of_project(tree: Path) -> Path:
    """The files that git knows or would take, as they are now, copied into a folder."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    return tree


def write(path: Path, text: str) -> None:
    """Write a source file; Python then compiles it anew, however soon after the last time."""
    path.write_text(text, "utf-8")
    for cached in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        cached.unlink()


def run_tests(tree: Path, tests: Sequence[str], timeout: float) -> tuple[int | None, str]:
    """pytest's exit code, None where it took too long, and what it printed."""
    paths = os.pathsep.join((str(tree), str(tree / "tools" / "editable")))
    environment = {"RAYSTREAM_SHARED": str(ROOT.parent / "shared"), **os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", *tests]
    captured: dict[str, Any] = {"capture_output": True, "text": True, "timeout": timeout, "check": False}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, **captured)
    except subprocess.TimeoutExpired as late:
        return None, str(late.stdout)
    return done.returncode, done.stdout + done.stderr


def tried(fault: Fault, tree: Path, timeout: float) -> Outcome:
    """Put the fault into the tree, run its tests, and take it out."""
    path, began = tree / fault.file, time.perf_counter()
    sound = path.read_text("utf-8")
    try:
        write(path, fault.put(sound))
        code, text = run_tests(tree, fault.tests, timeout)
    finally:
        write(path, sound)
    lines = text.strip().splitlines() or [""]
    if code == FAILED:
        what, said = CAUGHT, next((line for line in lines if line.startswith(("FAILED ", "ERROR "))), lines[-1])
        said = said.split(" - ")[0].split(" ", 1)[-1]
    elif code is None:
        what, said = LATE, f"over {timeout:g} s"
    elif code == PASSED:
        what, said = SURVIVED, lines[-1].strip("= ")
    else:
        what, said = WRONG, f"pytest ended with {code}: {lines[-1]}"
    return Outcome(fault, what, said, time.perf_counter() - began)


def tried_all(selected: Sequence[Fault], jobs: int, timeout: float) -> Iterator[Outcome]:
    """Try the faults, so many at a time, each in a tree of its own; as they come to an end."""
    trees: SimpleQueue[Path] = SimpleQueue()

    def job(fault: Fault) -> Outcome:
        tree = trees.get()
        try:
            return tried(fault, tree, timeout)
        finally:
            trees.put(tree)

    with tempfile.TemporaryDirectory(prefix="raystream-mutate-") as folder:
        for number in range(jobs):
            trees.put(copy_of_project(Path(folder) / str(number)))
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(job, selected)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mutate.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="faults, with * and ? (default: all)")
    parser.add_argument("--faults", type=Path, default=LIST, help="another list of faults (default: mutate.toml)")
    parser.add_argument("--draw", type=int, metavar="N", help="draw so many generated faults instead of the list's")
    parser.add_argument("--seed", type=int, default=0, help="what they are drawn by (default: 0)")
    parser.add_argument("--within", nargs="+", default=["viewer", "shaders"], metavar="PATH", help="where they are put")
    parser.add_argument("--nearest", type=int, default=4, help="test files that each is run against (default: 4)")
    parser.add_argument("--list", action="store_true", help="show the faults and their tests")
    parser.add_argument("--jobs", type=int, default=1, help="faults that are tried at a time (default: 1)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds that a fault's tests may take")
    parser.add_argument("--no-check", action="store_true", help="do not run the tests without a fault first")
    options = parser.parse_args(arguments)
    try:
        candidates = faults(options.faults) if options.draw is None else []
        if options.draw is not None:
            entries = drawn(options.draw, options.seed, options.within, options.nearest)
            candidates = [Fault(**entry) for entry in entries]
        selected = chosen(candidates, options.names)
        for fault in selected:
            fault.put((ROOT / fault.file).read_text("utf-8"))
    except ValueError as error:
        print(f"mutate.py: {error}", file=sys.stderr)
        return 2
    if options.list:
        for fault in selected:
            print(f"{fault.name:32} {fault.place}\n    {fault.about}\n    {' '.join(fault.tests)}")
        return 0
    if not options.no_check:
        every = dict.fromkeys(test for fault in selected for test in fault.tests)
        code, text = run_tests(ROOT, list(every), options.timeout * len(selected))
        if code != PASSED:
            print(f"{text}\nmutate.py: these tests fail without a fault", file=sys.stderr)
            return 2
    outcomes = []
    for outcome in tried_all(selected, max(1, options.jobs), options.timeout):
        outcomes.append(outcome)
        print(outcome, flush=True)
    counted = {what: sum(o.what == what for o in outcomes) for what in (CAUGHT, LATE, SURVIVED, WRONG)}
    print(f"{len(outcomes)} faults: " + ", ".join(f"{n} {what}" for what, n in counted.items() if n))
    for outcome in outcomes:
        if outcome.what == SURVIVED:
            print(f"  {outcome.fault.name}: {outcome.fault.about}")
    return 2 if counted[WRONG] else 1 if counted[SURVIVED] else 0


if __name__ == "__main__":
    sys.exit(main())
