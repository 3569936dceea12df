"""The options of ``raystream doctor`` that are no options of a picture."""

from __future__ import annotations

from viewer.options import values
from viewer.options.declare import Affects, Option, of_command

DOCTOR = of_command(
    Option(
        "output",
        values.read_file,
        "raystream-doctor.json",
        "the report, with all figures",
        Affects.NOTHING,
        "REPORT.json",
        values="a file name such as report.json; - is standard output",
        short="-o",
    ),
)
