"""The doctor's items, in order, and the child process that runs them: each gives plain data."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from typing import Any

from raystream.base.errors import ViewerError, ViewerWarning
from raystream.cli.doctor import pictures
from raystream.cli.doctor.pictures import UnderTest
from raystream.cli.report import plain
from raystream.stream.selftest.check import FAIL, Check, Finding, examine, in_one_line
from raystream.stream.selftest.facts import TIMES, capabilities
from raystream.stream.selftest.fallbacks import GROUPS, apply_fallbacks, device_notes, fallbacks_for, keep, stack_note

# Parts of the report that hold no checks.
DEVICE, FALLBACKS, MICROSECONDS, COMPILE, SPEED = "device", "fallbacks", "microseconds", "compile", "speed"
MARK = "raystream-doctor "  # begins its lines: drivers print to standard output, too
BEGUN, FOUND, NO_DEVICE = "begun", "found", "no device"
CHECKED = (*GROUPS, "pictures")  # parts with checks


@dataclass(frozen=True)
class Item:
    """One thing to find out. cold : without the driver's caches of programs."""

    part: str
    name: str
    run: Callable[[UnderTest], dict[str, Any]]
    cold: bool = False

    @property
    def key(self) -> str:
        """Its name among all."""
        return f"{self.part}: {self.name}"


@cache
def items() -> dict[str, Item]:
    """All, by their keys."""
    return {item.key: item for item in _listed()}


def _listed() -> Iterator[Item]:
    yield Item(DEVICE, "capabilities", _capabilities)
    for group, checks in GROUPS.items():
        for check in checks:
            yield Item(group, check.name, partial(_checked, check))
    yield Item(FALLBACKS, "ways", _fallbacks)
    yield Item("pictures", "path, mean", _finding(pictures.mean_picture))
    for program, ways in pictures.WAYS.items():
        for way in ways:
            run = partial(pictures.same_bits, program=program, way=way)
            yield Item("pictures", f"{program}, {way}", _finding(run))
    for name, measure in TIMES.items():
        yield Item(MICROSECONDS, name, partial(_timed, measure), cold=measure is TIMES["small program"])
    for name in pictures.COMPILED:
        yield Item(COMPILE, name, partial(pictures.compile_seconds, name=name), cold=True)
    for name in pictures.SCENES:
        yield Item(SPEED, name, partial(pictures.speed, name=name))


def told(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    return {"verdict": finding.verdict, "text": finding.text, "figures": dict(finding.figures)}


def _finding(run: Callable[[UnderTest], Finding]) -> Callable[[UnderTest], dict[str, Any]]:
    return lambda subject: told(run(subject))


def _capabilities(subject: UnderTest) -> dict[str, Any]:
    with subject.device.current():
        return capabilities(subject.device)


def _checked(check: Check, subject: UnderTest) -> dict[str, Any]:
    finding = examine(subject.device, check)
    if check.decides:
        keep(subject.device, check.name, fails=finding.verdict == FAIL)
    return told(finding)


def _fallbacks(subject: UnderTest) -> dict[str, Any]:
    """The lines that pictures would come with, for every mask and both machines."""
    device = subject.device
    apply_fallbacks(device)
    lines = [*device_notes(device), *stack_note(device)]
    for mask in pictures.MASKS:
        lines += fallbacks_for(device, "multipass", mask, "query").notes
    lines += fallbacks_for(device, "singlepass", "depth", "query").notes
    return {"lines": list(dict.fromkeys(lines))}


def _timed(measure: Callable[[Any], float], subject: UnderTest) -> dict[str, Any]:
    with subject.device.current():
        return {"microseconds": measure(subject.device)}


def main(argument: str) -> None:
    """Run the items by their keys: ``{"device": number or null, "items": [keys]}``."""
    request = json.loads(argument)
    warnings.simplefilter("ignore", ViewerWarning)
    subject, available = UnderTest(request["device"]), items()
    try:
        _ = subject.device
    except ViewerError as error:
        _tell({NO_DEVICE: [error.where, error.what, error.hint]})
        return
    run(subject, [available[key] for key in request["items"]])


def run(subject: UnderTest, chosen: Sequence[Item]) -> None:
    """Run items on a device; an exception is the item's finding."""
    for item in chosen:
        _tell({BEGUN: item.key})
        _tell({FOUND: item.key, "data": found(subject, item)})


def found(subject: UnderTest, item: Item) -> dict[str, Any]:
    """An item's finding, with its seconds; of an exception verdict and text."""
    start_time = perf_counter()
    try:
        data = item.run(subject)
    except Exception as error:
        data = {"verdict": FAIL, "text": in_one_line(error)}
    return {**data, "seconds": round(perf_counter() - start_time, 4)}


def _tell(line: Mapping[str, Any]) -> None:
    # In one call: a thread of a driver may print between two.
    sys.stdout.write(f"\n{MARK}{json.dumps(plain(line), allow_nan=False)}\n")
    sys.stdout.flush()
