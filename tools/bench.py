"""Benchmarks: ``python tools/bench.py [NAME ...] [--quick] [--out DIR] [--device N]``.

Each prints tables and writes ``<NAME>.json``, and pictures that pages show, into a folder named by the machine, below
``tools/results`` or the folder that ``--out`` names. Without a name: ``cast``. They want a quiet machine, and
``pip install raystream[bench]`` for Embree.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":  # the checkout goes before an installed package
    sys.path.insert(0, str(Path(__file__).resolve().parent / "editable"))

from benchmarks.common import RESULTS, Options, in_one_line, machine_name, say

# Rooms of the folder benchmarks, each with its benchmarks.
ROOMS = {
    "rays": ("cast", "accel", "deform", "policies", "gpu"),
    "processes": ("fresh", "farm", "drivers"),
    "noise": ("converge", "denoise", "adaptive", "lights", "bias"),
    "viewing": ("live", "readable", "ladder", "paced", "flight", "opening"),
}
NAMES = tuple(name for names in ROOMS.values() for name in names)


def benchmark(name: str) -> ModuleType:
    """The module of a benchmark: ``ABOUT``, and ``run(options)`` that gives a `benchmarks.common.Result`."""
    (room,) = (room for room, names in ROOMS.items() if name in names)
    return import_module(f"benchmarks.{room}.{name.replace('-', '_')}")


@in_one_line
def main(argv: Sequence[str] | None = None) -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}, or all; cast without")
    parser.add_argument("--quick", action="store_true", help="a few seconds on small pictures, to see that it works")
    parser.add_argument("--out", type=Path, help="folder of the results; with --quick none are written without it")
    parser.add_argument("--device", type=int, help="the GPU by its number in 'raystream devices'")
    arguments = parser.parse_args(argv)
    names = list(NAMES) if arguments.names == ["all"] else arguments.names or ["cast"]
    for name in names:
        if name not in NAMES:
            parser.error(f"unknown benchmark '{name}'; there are {', '.join(NAMES)}")
    folder = arguments.out or (None if arguments.quick else RESULTS)
    for name in names:
        started = time.perf_counter()
        module = benchmark(name)
        result = module.run(Options(arguments.quick, arguments.device))
        result.data = {"benchmark": name, "about": module.ABOUT, **result.data}
        for table in result.tables:
            table.show()
        for missing in result.data.get("missing", ()):
            say(f"left out: {missing}")
        if folder is not None:
            result.data["seconds"] = time.perf_counter() - started
            for path in result.write(folder / machine_name(result.data["facts"]), name):
                say(f"wrote {path}")


if __name__ == "__main__":
    sys.exit(main())
