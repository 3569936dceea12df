"""The papers, reproduced: ``python tools/reproduce.py [--quick] [-o FOLDER] [--only SECTION ...] [--list]``.

Renders, counts and simulates what the papers publish, and writes FOLDER/report.html, one file that needs no network,
with every figure beside it in FOLDER/figures and the numbers in FOLDER/report.json. Results are kept in FOLDER/kept
while they are made: an interrupted run goes on where it was. Wants ``pip install raystream[reproduce]``; instructions
are counted where ``glslangValidator`` and ``spirv-dis`` are installed, scenes are read from the folder that
RAYSTREAM_SHARED names.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the checkout goes before an installed package

from viewer.base.errors import ViewerError
from viewer.cli.progress import Progress, duration

FOLDER = "raystream-report"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reproduce.py", description=__doc__.splitlines()[0].split(":")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes: all in two minutes")
    parser.add_argument("-o", "--output", type=Path, default=Path(FOLDER), metavar="FOLDER", help=f"else {FOLDER}")
    parser.add_argument("--only", nargs="+", default=[], metavar="SECTION", help="these sections alone; see --list")
    parser.add_argument("--list", action="store_true", help="the sections, and the places in the papers")
    parser.add_argument("--device", type=int, help="the GPU by its number in 'raystream devices'")
    parser.add_argument("--debug", action="store_true", help="tracebacks")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """0; 2 with one line on standard error; 130 where it was interrupted."""
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = _parser().parse_args(given)
    try:
        return _run(arguments, given)
    except ViewerError as error:
        if arguments.debug:
            raise
        print(f"reproduce.py: error: {error.typed}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        if arguments.debug:
            raise
        print("reproduce.py: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def _run(arguments: argparse.Namespace, given: list[str]) -> int:
    from reproduction import run
    from reproduction.context import Context

    wanted = run.chosen(arguments.only)
    if arguments.list:
        width = max(len(each.identifier) for each in wanted)
        for each in wanted:
            print(f"{each.identifier:{width}}  {each.paper}: {each.title}{'' if each.quick else ' (not with --quick)'}")
        return 0
    for module in ("jinja2", "matplotlib"):
        if find_spec(module) is None:
            raise ViewerError(module, "is not installed", "pip install raystream[reproduce]")
    if arguments.output.exists() and not arguments.output.is_dir():
        raise ViewerError(f"-o {arguments.output}", "is a file", "name a folder")
    began = time.perf_counter()
    command = " ".join(["python tools/reproduce.py", *_without_output(given)])
    with Progress() as progress:
        lines = _Lines(progress)
        context = Context(arguments.output, arguments.quick, arguments.device)
        path, made = run.report(context, wanted, command, lines, bool(arguments.only))
    checks = [check.passed for section in made for check in section.checks()]
    agree, decided = checks.count(True), len(checks) - checks.count(None)
    print(
        f"{agree} of {decided} checks agree, {checks.count(None)} shown beside; {context.made} results made, "
        f"{context.found} kept from before, in {duration(time.perf_counter() - began)}; "
        f"wrote {path} ({os.path.getsize(path) / 1e6:.1f} MB)"
    )
    return 0


def _without_output(given: list[str]) -> list[str]:
    """The arguments less the folder, which says nothing to a reader."""
    kept = []
    skip = False
    for argument in given:
        if skip or argument.startswith(("--output=", "-o=")):
            skip = False
        elif argument in ("-o", "--output"):
            skip = True
        elif argument != "--debug":
            kept.append(argument)
    return kept


class _Lines:
    """Progress as a bar on a terminal, elsewhere as lines on standard error."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._last = progress, ""

    def __call__(self, share: float, text: str) -> None:
        self._progress(share, text)
        if not self._progress.enabled and text != self._last:
            print(f"{share:4.0%} {text}", file=sys.stderr, flush=True)
        self._last = text


if __name__ == "__main__":
    sys.exit(main())
