"""The doctor's child process: runs items, and tells of each before and after on standard output, so that a driver that
crashes or hangs takes one item with it and no report."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from viewer.base.errors import ViewerError, ViewerWarning
from viewer.cli.doctor.items import Item, items
from viewer.cli.doctor.pictures import UnderTest
from viewer.cli.report import plain
from viewer.stream.selftest.check import FAIL, in_one_line

MARK = "raystream-doctor "  # begins its lines: drivers print to standard output, too
BEGUN, FOUND, NO_DEVICE = "begun", "found", "no device"


def main(argument: str) -> None:
    """Run the items by their keys: ``{"device": number or null, "items": [keys]}``."""
    asked = json.loads(argument)
    warnings.simplefilter("ignore", ViewerWarning)
    subject, known = UnderTest(asked["device"]), items()
    try:
        _ = subject.device
    except ViewerError as error:
        _tell({NO_DEVICE: [error.where, error.what, error.hint]})
        return
    run(subject, [known[key] for key in asked["items"]])


def run(subject: UnderTest, chosen: Sequence[Item]) -> None:
    """Run items on a device; an exception is the item's finding."""
    for item in chosen:
        _tell({BEGUN: item.key})
        _tell({FOUND: item.key, "data": found(subject, item)})


def found(subject: UnderTest, item: Item) -> dict[str, Any]:
    """An item's finding, with its seconds; of an exception verdict and text."""
    begin = perf_counter()
    try:
        data = item.run(subject)
    except Exception as error:
        data = {"verdict": FAIL, "text": in_one_line(error)}
    return {**data, "seconds": round(perf_counter() - begin, 4)}


def _tell(line: Mapping[str, Any]) -> None:
    # In one call: a thread of a driver may print between two.
    sys.stdout.write(f"\n{MARK}{json.dumps(plain(line), allow_nan=False)}\n")
    sys.stdout.flush()
