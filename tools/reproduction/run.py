"""Makes sections one after the other, and the report of them."""

from __future__ import annotations

import datetime
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
from .stored import made_now

Tell = Callable[[float, str], None]


def chosen(only: Iterable[str] = ()) -> list[Registered]:
    """The sections of those names, all without any, in the report's order. Raises ViewerError for an unknown one."""
    sections.load()
    wanted = list(only)
    for name in wanted:
        if name not in SECTIONS:
            close = suggestion(name, tuple(SECTIONS))
            raise ViewerError(f"--only {name}", "no such section", f"{close} --list names them all".strip())
    found = sorted(SECTIONS.values(), key=Registered.place)
    return [each for each in found if not wanted or each.identifier in wanted]


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
    return Section(registered.identifier, registered.title, registered.paper, parts, origins(context))


def report(
    context: Context, wanted: Sequence[Registered], command: str, tell: Tell, forced: bool = False
) -> tuple[Path, list[Section]]:
    """Make the sections and write the report; its path. Raises ViewerError."""
    made = []
    writable(context.folder, figures=context.stored is None)  # said now rather than after an hour
    for number, registered in enumerate(wanted):
        share = number / len(wanted)
        tell(share, registered.identifier)
        context.tell = lambda text, share=share: tell(share, text)
        made.append(make(context, registered, forced))
    tell(1.0, "report")
    if context.stored is None and not forced:
        context.measured.write(context.folder)
    facts = described(context)
    return page.write(context.folder, made, facts, command, figures=context.stored is None), made


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
    if context.stored is None:
        return {**made_now(context.device, context.commit), "quick": context.quick}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    return {"raystream": __version__, "date": now, "commit": context.commit, "quick": context.quick}
