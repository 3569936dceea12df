"""The command ``raystream doctor``."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING

from viewer.base import textfile
from viewer.base.errors import printable
from viewer.cli.commands import as_json
from viewer.cli.outputs import STANDARD_OUTPUT
from viewer.stream.selftest.check import FAIL

if TYPE_CHECKING:
    from argparse import Namespace


def doctor(arguments: Namespace) -> bool:
    """``raystream doctor``: examine a device and write the report; False where a check fails."""
    from viewer.cli.doctor.examination import examination
    from viewer.cli.doctor.report import lines, made_report, verdicts
    from viewer.cli.progress import TerminalProgress

    path, begin = arguments.output, perf_counter()
    if path != STANDARD_OUTPUT:
        textfile.check_path(path)
    with TerminalProgress(arguments.quiet) as progress:
        progress(0.0, "examining the device")
        found = examination(arguments.device, progress)
    report = made_report(found, perf_counter() - begin)
    if path == STANDARD_OUTPUT:
        print(as_json(report))
    else:
        textfile.write(path, as_json(report))
    if not arguments.quiet:
        # Where the report goes to standard output, nothing else does.
        where = sys.stderr if path == STANDARD_OUTPUT else sys.stdout
        for line in lines(report, path):
            print(printable(line), file=where)
    return not verdicts(report)[FAIL]
