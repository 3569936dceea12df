"""Makes sections one after the other, and the report of them.

Most of a quick report is work of a single thread: simulations, counts, compilation. So two processes share the sections
that time nothing; what a clock decides is made when the other has ended.
"""

from __future__ import annotations

import datetime
import multiprocessing
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.scenes import Absent as SceneAbsent
from benchmarks.scenes import shared

from raystream.base.errors import ViewerError
from raystream.base.version import __version__
from raystream.options.declare import suggestion

from . import page, sections, shown
from .context import Context
from .kept import writable
from .report import SECTIONS, Absent, AbsentError, Part, Registered, Section
from .stored import Measurements, made_now
from .timed import said

Tell = Callable[[float, str], None]


def chosen(only: Iterable[str] = (), timed: bool = False) -> list[Registered]:
    """The sections of those names, all without any, in the report's order. timed : of them those that time.

    Raises ViewerError for an unknown name.
    """
    sections.load()
    wanted = list(only)
    for name in wanted:
        if name not in SECTIONS:
            close = suggestion(name, tuple(SECTIONS))
            raise ViewerError(f"--only {name}", "no such section", f"{close} --list names them all".strip())
    found = sorted(SECTIONS.values(), key=Registered.place)
    return [each for each in found if (not wanted or each.identifier in wanted) and (each.timed or not timed)]


def make(context: Context, registered: Registered, forced: bool = False) -> Section:
    """A section with its parts. Where a scene or tool is not there, what is left out stands in it.

    forced: made under ``quick`` too, though it takes long. Raises ViewerError for a damaged file.
    """
    parts: list[Part] = []
    if context.quick and not registered.quick and not forced and context.stored is None:
        parts.append(Absent(registered.title, f"takes long: without --quick, or with --only {registered.identifier}"))
        return Section(registered.identifier, registered.title, registered.paper, parts)
    context.enter(registered.identifier, registered.make)
    try:
        for part in registered.make(context):
            parts.append(part)
    except AbsentError as error:
        parts.append(error.part)
    except SceneAbsent as error:
        why = str(error).replace(str(shared()), "the scene data")  # a reader's machine is another one
        parts.append(Absent("the rest of this section", why))
    finally:
        shown.release(context)
    timing = said(context.leave())
    return Section(registered.identifier, registered.title, registered.paper, parts, origins(context), timing)


def report(
    context: Context, wanted: Sequence[Registered], command: str, tell: Tell, forced: bool = False
) -> tuple[Path, list[Section]]:
    """Make the sections and write the report; its path. Raises ViewerError."""
    writable(context.folder, figures=context.stored is None)  # said now rather than after an hour
    made = _all(context, wanted, tell, forced)
    tell(1.0, "report")
    if context.stored is None and not forced:
        context.measured.write(context.folder)
    facts = described(context)
    return page.write(context.folder, made, facts, command, figures=context.stored is None), made


def _all(context: Context, wanted: Sequence[Registered], tell: Tell, forced: bool) -> list[Section]:
    made: dict[str, Section] = {}

    def one(registered: Registered) -> None:
        share = len(made) / len(wanted)
        tell(share, registered.identifier)
        context.tell = lambda text: tell(share, text)
        made[registered.identifier] = make(context, registered, forced)

    untimed = [each for each in wanted if not each.timed]
    if context.quick and context.stored is None and not forced and len(untimed) > 1:
        with other_process(context, untimed) as turns:
            for at in turns:
                one(untimed[at])
    for registered in wanted:
        if registered.identifier not in made:
            one(registered)
    return [made[registered.identifier] for registered in wanted]


@contextmanager
def other_process(context: Context, wanted: Sequence[Registered]) -> Iterator[Iterator[int]]:
    """Another process that makes sections, too, and keeps their results: places of those that fall to this one, until
    none is left. It has ended behind the block; a section that it leaves half made is made here."""
    spawn = multiprocessing.get_context("spawn")
    taken = spawn.Value("i", 0)
    names = [each.identifier for each in wanted]
    other = spawn.Process(target=fill, args=(context.folder, context.device_number, names, taken), daemon=True)
    other.start()
    try:
        yield _turns(taken, len(names))
        other.join()
    finally:
        other.terminate()  # where this process was interrupted


def fill(folder: Path, device: int | None, names: Sequence[str], taken: Any) -> None:
    """Make quick sections by their names, each that is not ``taken``, and keep their results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends this one
    context = Context(folder, True, device)
    with suppress(ViewerError):  # which the first process meets and tells
        wanted = {each.identifier: each for each in chosen(names)}
        for at in _turns(taken, len(names)):
            make(context, wanted[names[at]])


def _turns(taken: Any, count: int) -> Iterator[int]:
    """Places from 0 to ``count``, of which each falls to one process; taken : how many have fallen to any."""
    while True:
        with taken.get_lock():
            at = taken.value
            taken.value += 1
        if at >= count:
            return
        yield at


def update(context: Context, wanted: Sequence[Registered], found: Measurements, tell: Tell) -> None:
    """Measure the sections again, and write ``found``, the measurements of the context's folder, with theirs.

    Units that a section has no more go, unless something was not there to measure. Raises ViewerError.
    """
    writable(context.folder, figures=False)
    for section in _all(context, wanted, tell, True):
        whole = not any(isinstance(part, Absent) for part in section.parts)
        found.replace(section.identifier, context.measured, whole)
    found.write(context.folder)
    shutil.rmtree(context.kept, ignore_errors=True)  # the next update measures again


def origins(context: Context) -> list[str]:
    """Of the units of the section, when, where and from which sources they were made."""
    found = []
    for each in context.origins:
        commit = f"commit {each['commit']}" if each["commit"] else "commit not recorded"
        load = "load not recorded" if each["load_average"] is None else f"load to {each['load_average']}"
        found.append(
            f"{str(each['date'])[:10]}, {each['renderer']}, {each['cpu']}, {each['cpus']} CPUs, {load}, {commit}"
        )
    return found


def described(context: Context) -> dict[str, Any]:
    """The facts at the report's head: of this run, which measures or takes what is stored."""
    facts = {"quick": context.quick, "timing": said(context.all_quiet), "software": list(context.software)}
    if context.stored is None:
        return {**made_now(context.device, context.commit), **facts}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    return {"raystream": __version__, "date": now, "commit": context.commit, **facts}
