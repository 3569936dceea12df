"""A self-test of a driver: its name, its run, and its finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from raystream.base.errors import printable
from raystream.stream.gl.device import Device

PASS, DIFFERS, FAIL, ABSENT = "pass", "differs", "fail", "absent"
MOST_TEXT = 300  # characters of an error


@dataclass(frozen=True)
class Finding:
    """The result of a check.

    verdict : `PASS`; `DIFFERS`: not exact, within OpenGL's limits; `FAIL`; `ABSENT`: the driver has no such feature.
    text    : the difference, in one line; may be empty. figures : numbers and words for the report.
    """

    verdict: str
    text: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A check by name. run : called with the device's context current. decides : it is one of those by which
    `raystream.stream.selftest.ways` chooses how programs run."""

    name: str
    run: Callable[[Device], Finding]
    decides: bool = False


def exact(wrong: int, of: int, what: str, **figures: Any) -> Finding:
    """`PASS` where nothing is wrong, else `FAIL` with the share: ``3 of 64 texels``."""
    return Finding(FAIL if wrong else PASS, f"{wrong} of {of} {what} are wrong" if wrong else "", figures)


def worst(*findings: Finding) -> Finding:
    """Several findings as one: the worst verdict, all texts and figures."""
    order = (PASS, ABSENT, DIFFERS, FAIL)
    text = "; ".join(finding.text for finding in findings if finding.text)
    figures: dict[str, Any] = {}
    for finding in findings:
        figures |= finding.figures
    return Finding(max((finding.verdict for finding in findings), key=order.index), text, figures)


def examine(device: Device, check: Check) -> Finding:
    """Run a check. An exception, such as that of a program that does not compile, is a failure."""
    if check.name in device.distrusted:
        return Finding(FAIL, "counted as failed")
    try:
        with device.current():
            _ = device.context.error  # of whoever came before
            finding = check.run(device)
            gl_error = device.context.error
    except Exception as error:
        return Finding(FAIL, in_one_line(error))
    if gl_error == "GL_NO_ERROR":
        return finding
    return Finding(finding.verdict, finding.text, {**finding.figures, "error": gl_error})


def in_one_line(error: Exception) -> str:
    """An exception with its kind."""
    return printable(" ".join(f"{type(error).__name__}: {error}".split()))[:MOST_TEXT]
