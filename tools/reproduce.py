"""The papers, reproduced: ``python tools/reproduce.py [--quick] [-o FOLDER] [--from | --update FOLDER] [--only ...]``.

Renders, counts and simulates what the papers publish, and writes FOLDER/report.html, one file that needs no network,
with every figure beside it in FOLDER/figures, the numbers in FOLDER/report.json, and all that was measured in
FOLDER/measurements.json and FOLDER/pictures. From these ``--from FOLDER`` makes the page again, texts and grades of
today, and measures nothing; ``--update FOLDER --only SECTION ...`` measures these sections again and makes the page of
all, ``--update FOLDER --timed`` does so with what is of a clock, and nothing else. ``--prove FOLDER`` changes what they
are made of until each check says the opposite, and lists that in FOLDER/proof.json. ``--scenes FOLDER`` says where each
scene comes from, and checks the files of a folder of scene data. Results are kept in the folder
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
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from reproduction.report import Registered

if __name__ == "__main__":  # the checkout goes before an installed package
    sys.path.insert(0, str(Path(__file__).resolve().parent / "editable"))

from raystream.base.errors import ViewerError
from raystream.cli.progress import TerminalProgress, duration

FOLDER = "raystream-report"
RESULTS = "{0.made} results made, {0.found} kept from before"  # of a context


class _Parser(argparse.ArgumentParser):
    """Bad arguments are one line, as all that is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="reproduce.py", description=__doc__.splitlines()[0].split(":")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes: all in two minutes")
    parser.add_argument("-o", "--output", type=Path, default=Path(FOLDER), metavar="FOLDER", help=f"else {FOLDER}")
    parser.add_argument("--from", dest="stored", type=Path, metavar="FOLDER", help="its measurements: none are made")
    parser.add_argument("--update", type=Path, metavar="FOLDER", help="its sections measured again, the page of all")
    parser.add_argument("--prove", type=Path, metavar="FOLDER", help="its checks made to fail, the list of it")
    parser.add_argument("--scenes", type=Path, metavar="FOLDER", help="where scenes come from; its files checked")
    parser.add_argument("--timed", action="store_true", help="what is of a clock; with --update nothing else")
    parser.add_argument("--only", nargs="+", default=[], metavar="SECTION", help="these sections alone; see --list")
    parser.add_argument("--list", action="store_true", help="the sections, and the places in the papers")
    parser.add_argument("--device", type=int, help="the GPU by its number in 'raystream devices'")
    parser.add_argument("--debug", action="store_true", help="tracebacks")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """0; 2 with one line on standard error; 130 where it was interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = _parser().parse_args(words)
    try:
        return _run(arguments, words)
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


def _run(arguments: argparse.Namespace, words: list[str]) -> int:
    from reproduction import run, scene_files
    from reproduction.context import Context
    from reproduction.page import TALLIES, tallies
    from reproduction.stored import Measurements

    sections = run.chosen(arguments.only, arguments.timed)
    if arguments.list:
        width = max((len(section.identifier) for section in sections), default=0)
        for section in sections:
            remark = "" if section.quick else " (not with --quick)"
            print(f"{section.identifier:{width}}  {section.paper}: {section.title}{remark}")
        return 0
    if arguments.scenes is not None:  # where they come from; 1 where a file of the folder is another one
        lines_of_scenes, right = scene_files.summary(arguments.scenes)
        print("\n".join(lines_of_scenes))
        return 0 if right else 1
    if not sections:
        raise ViewerError("--timed", "none of these sections times", "--list --timed names those that do")
    if arguments.update is not None and arguments.stored is not None:
        raise ViewerError("--update", "goes not with --from", "one measures, the other does not")
    for module in ("jinja2", "matplotlib"):
        if find_spec(module) is None:
            raise ViewerError(module, "is not installed", "pip install raystream[reproduce]")
    if "" in (words[k + 1] for k, word in enumerate(words[:-1]) if word in ("-o", "--output")):
        raise ViewerError("-o", "names nothing", "name a folder")
    if arguments.output.exists() and not arguments.output.is_dir():
        raise ViewerError(f"-o {arguments.output}", "is a file", "name a folder")
    if arguments.prove is not None:
        return _prove(arguments.prove, sections)
    began = time.perf_counter()
    command = " ".join(["python tools/reproduce.py", *_without_output(words)])
    with TerminalProgress() as progress:
        lines = _Lines(progress)
        source = arguments.stored or arguments.update
        option = "--from" if arguments.update is None else "--update"
        stored = Measurements.read(source, option) if source is not None else None
        quick = arguments.quick if stored is None else bool(stored.head.get("quick"))
        folder, units = arguments.output, "none measured"
        if arguments.update is not None:
            folder = arguments.update
            before = stored if arguments.timed else None
            again = Context(folder, quick, arguments.device, before=before, kept="updating")
            run.update(again, sections, stored, lines)
            sections, units = run.chosen(), RESULTS.format(again)
        context = Context(folder, quick, arguments.device, stored=stored)
        forced = arguments.update is None and bool(arguments.only or arguments.timed)
        path, checks = run.report(context, sections, command, lines, forced)
    for kind, count in tallies(checks).items():
        print(f"{TALLIES[kind]}: {count.passed} agree, {count.failed} differ, {count.beside} beside")
    if stored is None:
        units = RESULTS.format(context)
    took = duration(time.perf_counter() - began)
    print(f"{units}, in {took}; wrote {path} ({os.path.getsize(path) / 1e6:.1f} MB)")
    return 0


def _prove(folder: Path, sections: Sequence[Registered]) -> int:
    """Write the list of what turns checks over; 1 where nothing does so with one."""
    from reproduction import proof
    from reproduction.stored import Measurements

    with TerminalProgress() as progress:
        unproven = proof.prove(folder, sections, Measurements.read(folder, "--prove"), _Lines(progress))
    for section, grades in unproven.items():
        for check in grades:
            print(f"{section}: nothing turns over the {check.kind} '{check.name}': {check.said}")
    print(f"wrote {folder / proof.FILE}")
    return 1 if unproven else 0


def _without_output(words: list[str]) -> list[str]:
    """The arguments less the folder, which says nothing to a reader."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-o", "--output")
    parser.add_argument("--debug", action="store_true")
    return parser.parse_known_args(words)[1]


class _Lines:
    """Progress as a bar on a terminal, elsewhere as lines on standard error."""

    def __init__(self, progress: TerminalProgress) -> None:
        self._progress, self._last = progress, ""

    def __call__(self, fraction: float, text: str) -> None:
        self._progress(fraction, text)
        if not self._progress.enabled and text != self._last:
            print(f"{fraction:4.0%} {text}", file=sys.stderr, flush=True)
        self._last = text


if __name__ == "__main__":
    sys.exit(main())
