"""The doctor's items, in order; each runs in a child process and gives plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from viewer.cli.doctor import pictures
from viewer.cli.doctor.pictures import UnderTest
from viewer.stream.selftest.capabilities import capabilities
from viewer.stream.selftest.check import FAIL, Check, Finding, examine
from viewer.stream.selftest.passed import keep
from viewer.stream.selftest.times import TIMES
from viewer.stream.selftest.ways import GROUPS, device_notes, settle, stack_note, working_ways

# Parts of the report that hold no checks.
DEVICE, FALLBACKS, MICROSECONDS, COMPILE, SPEED = "device", "fallbacks", "microseconds", "compile", "speed"
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
    settle(device)
    lines = [*device_notes(device), *stack_note(device)]
    for mask in pictures.MASKS:
        lines += working_ways(device, "multipass", mask, "query").notes
    lines += working_ways(device, "singlepass", "depth", "query").notes
    return {"lines": list(dict.fromkeys(lines))}


def _timed(measure: Callable[[Any], float], subject: UnderTest) -> dict[str, Any]:
    with subject.device.current():
        return {"microseconds": measure(subject.device)}
