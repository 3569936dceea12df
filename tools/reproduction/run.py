"""Makes sections one after the other, and the report of them."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.scenes import Absent as SceneAbsent
from benchmarks.scenes import shared

from viewer.base.errors import ViewerError
from viewer.base.version import __version__
from viewer.options.declare import suggestion

from . import page, sections, shown
from .context import Context
from .kept import writable
from .model import Absent, AbsentError, Part, Section
from .registry import SECTIONS, Registered
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
    made = []
    for number, registered in enumerate(wanted):
        share = number / len(wanted)
        tell(share, registered.identifier)
        context.tell = lambda text, share=share: tell(share, text)
        made.append(make(context, registered, forced))
    return made


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
    facts = {"quick": context.quick, "timing": said(context.all_quiet)}
    if context.stored is None:
        return {**made_now(context.device, context.commit), **facts}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    return {"raystream": __version__, "date": now, "commit": context.commit, **facts}
