"""``raystream render`` of several scenes: one picture each, by one renderer or by several processes.

A scene that fails is told at the end, and the others are rendered.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import glob
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from raystream.base.errors import ViewerError, printable
from raystream.cli import rendering
from raystream.cli.commands import FAULT
from raystream.cli.workers import Renderings, answers

if TYPE_CHECKING:
    from raystream.cli.progress import TerminalProgress

PLACEHOLDER = re.compile(r"\{(stem|name|index)\}")
EXAMPLE = "such as -o {stem}.png; there are {stem}, {name} and {index}"
SINGLE = ("frames", "resume", "stats")  # options of one picture, or of one scene


def render(arguments: Namespace) -> bool | int:
    """Render every scene of ``arguments.scenes`` to a file of its own; whether all is well, or the exit code that each
    failed picture would have by itself."""
    arguments.scenes = scenes = [name for word in arguments.scenes for name in _matches(word)]
    if len(scenes) == 1:
        arguments.scene = scenes[0]
        if arguments.output is not None and PLACEHOLDER.search(arguments.output):
            arguments.output = output_of(arguments.output, scenes[0], 0, 1)
            with _folders([arguments.output]):
                rendering.check_render(arguments)
        return rendering.render(arguments)
    from raystream.cli.progress import TerminalProgress

    tasks, start_time, failed = _tasks(arguments, scenes), perf_counter(), list[tuple[str, int]]()
    jobs = min(arguments.jobs, len(tasks))
    with TerminalProgress(arguments.quiet) as progress:
        try:
            for result, fault in _by_processes(tasks, jobs, progress) if jobs > 1 else _in_turn(tasks, progress):
                if fault:
                    failed.append((fault, result if isinstance(result, int) else FAULT))
                elif not arguments.quiet:
                    progress.say(str(result))
        except KeyboardInterrupt as stop:
            stop.args = ("stopped; the pictures that are written are whole",)
            raise
    for fault, _ in failed:
        print(f"raystream: error: {printable(fault)}", file=sys.stderr)
    if not arguments.quiet:
        done, seconds = len(tasks) - len(failed), perf_counter() - start_time
        print(f"{done} of {len(tasks)} pictures; {seconds:.2f} s, {seconds / len(tasks):.2f} s a picture")
    return min(code for _, code in failed) if failed else True


def _matches(word: str) -> list[str]:
    """The files of a pattern, where the shell has left one; any other word itself."""
    files = sorted(glob(word)) if "*" in word and not os.path.exists(word) else []
    return files or [word]


def output_of(pattern: str, scene: str, index: int, count: int) -> str:
    """The file of the scene of that index among ``count``: placeholders in the pattern are replaced."""
    path = Path(scene)
    values = {"stem": path.stem, "name": path.name, "index": str(index).zfill(len(str(count - 1)))}
    return PLACEHOLDER.sub(lambda match: values[match[1]], pattern)


def _tasks(arguments: Namespace, scenes: Sequence[str]) -> list[Namespace]:
    """The arguments of each picture. Raises ViewerError, before any work, for an unwritable file and for two pictures
    in one file."""
    if arguments.output is None or not PLACEHOLDER.search(arguments.output):
        where = "--output" if arguments.output is None else arguments.output
        named = f"'{scenes[0]}', '{scenes[1]}'{' ...' if len(scenes) > 2 else ''}"
        raise ViewerError(where, f"one file cannot hold the pictures of {len(scenes)} scenes, {named}", EXAMPLE)
    for name in SINGLE:
        if name in arguments.typed:
            raise ViewerError(f"--{name}", f"is for one scene, and there are {len(scenes)}", "render them one by one")
    owners: dict[str, int] = {}
    tasks = []
    for index, scene in enumerate(scenes):
        output = output_of(arguments.output, scene, index, len(scenes))
        first = owners.setdefault(os.path.realpath(output), index)
        if first != index:
            raise ViewerError(output, f"both {scenes[first]} and {scene} would go there", "add {index} to -o")
        tasks.append(Namespace(**{**vars(arguments), "scene": scene, "output": output}))
    with _folders([task.output for task in tasks]):
        for task in tasks:
            rendering.check_render(task)
    return tasks


@contextmanager
def _folders(outputs: Sequence[str]) -> Iterator[None]:
    """Makes the missing folders of these files, where those above are there; an error in the block takes them away."""
    created: list[Path] = []
    try:
        for folder in dict.fromkeys(Path(output).parent for output in outputs):
            with suppress(OSError, ValueError):  # the check tells why
                if not folder.exists():
                    folder.mkdir()
                    created.append(folder)
        yield
    except BaseException:
        for folder in created:
            with suppress(OSError):
                folder.rmdir()
        raise


def _in_turn(tasks: Sequence[Namespace], progress: TerminalProgress) -> Iterator[tuple[str | int, str]]:
    """Every picture by this process."""
    renderings = Renderings()
    for index, task in enumerate(tasks):
        progress.part(index, len(tasks), os.path.basename(task.scene))
        yield renderings.render(task, progress)


def _by_processes(tasks: Sequence[Namespace], jobs: int, progress: TerminalProgress) -> Iterator[tuple[str | int, str]]:
    """Every picture by one of ``jobs`` processes, in the order in which they are done."""
    for done, (notes, line, fault) in enumerate(answers(tasks, jobs), 1):
        for note in notes:
            progress.note(note)
        progress(done / len(tasks), f"{done} of {len(tasks)} pictures, {jobs} processes")
        yield line, fault
