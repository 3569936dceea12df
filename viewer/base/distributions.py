"""Other distributions that add to this one by entry points of the groups ``raystream.formats``,
``raystream.programs`` and ``raystream.materials``. A broken one is one warning, and all else works."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from raystream.base.errors import warn
from raystream.base.start import installed_folders

PREFIX = b"[raystream."  # of a group's line in entry_points.txt

faults: list[str] = []  # that the command line has not told yet
_broken: set[tuple[str, str]] = set()  # groups and names of which a warning has told
_later: dict[tuple[str, str], list[Any]] = {}  # groups and names -> entry points behind the first of that name


@cache
def entry_points(group: str) -> dict[str, Any]:
    """The entry points of ``raystream.<group>`` by name, not loaded yet; of one name the first on the path."""
    if not _has_entry_points():
        return {}
    from importlib.metadata import distributions  # takes as long as the rest of a short command

    entry_points: dict[str, Any] = {}
    visited: set[str] = set()
    for distribution in distributions(path=installed_folders()):
        name = re.sub(r"[-_.]+", "_", distribution.metadata["Name"] or "").lower()
        if name in visited:  # of one distribution the first on the path
            continue
        visited.add(name)
        for entry_point in distribution.entry_points.select(group=f"raystream.{group}"):
            if entry_points.setdefault(entry_point.name, entry_point) is not entry_point:
                _later.setdefault((group, entry_point.name), []).append(entry_point)
    return entry_points


def plugin_names(group: str) -> list[str]:
    """The names of entry points, without those that have been found broken."""
    return [name for name in entry_points(group) if (group, name) not in _broken]


def load_plugins(group: str, register: Callable[[str, Any], None], *names: str) -> None:
    """Load the plug-ins of a group, or those of these names, and ``register`` each with its name. One that raises or
    exits is left out, and so are others of its name, with one warning each."""
    for name, entry_point in entry_points(group).items():
        if (names and name not in names) or (group, name) in _broken:
            continue
        try:
            register(name, entry_point.load())
        except (Exception, SystemExit) as error:  # whatever somebody else's code does
            _broken.add((group, name))
            _report_fault(group, entry_point, f"{type(error).__name__}: {error}")
        for other in _later.pop((group, name), ()):
            _report_fault(group, other, f"{_distribution(entry_point)} has a plug-in of that name")


def _distribution(entry_point: Any) -> str:
    return getattr(entry_point.dist, "name", "unknown")


def _report_fault(group: str, entry_point: Any, reason: str) -> None:
    """Tell that an entry point is left out, in one line."""
    reason_line = " ".join(reason.split())
    faults.append(
        f"plug-in {entry_point.name} of raystream.{group} ({_distribution(entry_point)}) is left out: {reason_line}"
    )
    warn(faults[-1:])


def _has_entry_points() -> bool:
    """Whether a distribution on the path has entry points of this package, by the files themselves: to ask
    importlib.metadata takes ten times as long."""
    for folder in installed_folders():
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            if not name.endswith((".dist-info", ".egg-info")):
                continue
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    if PREFIX in file.read():
                        return True
            except OSError:
                continue
    return False
