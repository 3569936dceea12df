"""Runs the tutorials as a reader would, in an empty folder: ``python tools/tutorials/run.py [NUMBER ...]``.

Files, commands and Python of a page are taken from its fenced code, in order; what the page shows is copied to
``assets/pictures/tutorials``. ``--small`` renders a few pixels, and copies nothing.

A block below a line ``**name**`` is a file of that name. Other Python blocks are one script. Of shell blocks, lines
that begin with ``raystream`` and ``python`` are run; ``raystream view`` is only read.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PICTURES = ROOT / "assets" / "pictures" / "tutorials"
TUTORIALS = tuple(sorted(HERE.glob("[0-9]_*.md")))
# Folders with modules that some pages use, as PYTHONPATH has them there.
MODULES = tuple(str(ROOT / name) for name in (".", "tests", "tests/materials", "tools"))

_BLOCK = re.compile(
    r"(?:^\*\*(?P<name>[\w.]+)\*\*\n\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```", re.DOTALL | re.MULTILINE
)
_SMALL = {
    **{r"--size \S+": "--size 16x12", r"--spp \d+": "--spp 2", r"--frames 0-\d+": "--frames 0-1"},
    **{r"--quality \w+": "--spp 2", r"\bsize=\(\d+, \d+\)": "size=(16, 12)", r"\bspp=\d+": "spp=2"},
}


@dataclass(frozen=True)
class Block:
    """Fenced code. name : of the file that it is; empty for what is run. line : its first, counted from 1."""

    name: str
    language: str
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The code of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["name"] or "", found["language"], found["code"], text.count("\n", 0, found.start("code")) + 1)
        for found in _BLOCK.finditer(text)
    ]


def pictures(page: Path) -> list[str]:
    """The names of the pictures that a page shows."""
    return re.findall(r"!\[[^\]]*\]\([^)]*pictures/tutorials/([\w.]+)\)", page.read_text(encoding="utf-8"))


def run(page: Path, small: bool = False) -> dict[str, Any]:
    """Run a page's code in the current folder; the names of its script. small : with a few pixels and samples.

    Raises RuntimeError for a command that fails, and whatever the script raises, with the page's line.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    with _as_before():
        for block in blocks(page):
            code = block.code
            if small:
                for long, short in _SMALL.items():
                    code = re.sub(long, short, code)
            if block.name:
                Path(block.name).write_text(code, encoding="utf-8")
            elif block.language == "python":
                exec(compile("\n" * (block.line - 1) + code, str(page), "exec", dont_inherit=True), names)
            elif block.language == "sh":
                for line in code.replace("\\\n", " ").splitlines():
                    _command(shlex.split(line, comments=True))
    return names


def _command(words: list[str]) -> None:
    """Run a line of a shell block."""
    from raystream.cli import main as cli

    if words[:2] == ["raystream", "view"]:
        cli._parse("view", words[2:])
    elif words[:1] == ["raystream"]:
        if code := cli.main(words[1:]):
            raise RuntimeError(f"{shlex.join(words)}: exit code {code}")
    elif words:
        raise RuntimeError(f"{shlex.join(words)}: not raystream")


@contextmanager
def _as_before() -> Iterator[None]:
    """Programs and kinds of materials that the body makes known are unknown behind it; its modules are found."""
    from raystream.programs import PICTURES as PROGRAMS
    from raystream.renderer.inputs import program_file
    from raystream.scene.material import FOREIGN, KINDS

    known = PROGRAMS, KINDS, FOREIGN, program_file._FILES
    before = [dict(each) for each in known]
    path = list(sys.path)
    sys.path[:0] = MODULES
    try:
        yield
    finally:
        sys.path[:] = path
        for each, held in zip(known, before, strict=True):
            each.clear()
            each.update(held)  # type: ignore[arg-type]


def main(argv: Sequence[str] | None = None) -> int:
    """Run those that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help="1 and so on; all without")
    parser.add_argument("--small", action="store_true", help="a few pixels, no pictures kept")
    options = parser.parse_args(argv)
    home = os.getcwd()
    for page in TUTORIALS:
        if options.numbers and page.name[0] not in options.numbers:
            continue
        print(page.name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                run(page, options.small)
                for name in () if options.small else pictures(page):
                    PICTURES.mkdir(parents=True, exist_ok=True)
                    shutil.copy(name, PICTURES)
            finally:
                os.chdir(home)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tools" / "editable"))
    sys.exit(main())
