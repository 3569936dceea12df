"""The options of ``raystream dataset``, ``doctor`` and ``thumbnail`` that are no options of a picture."""

from __future__ import annotations

from viewer.options import values
from viewer.options.declare import Affects, Option, of_command

DATASET = of_command(
    Option(
        "output",
        values.read_file,
        None,
        "the dataset's folder; one that is begun is gone on with",
        Affects.NOTHING,
        "FOLDER",
        values="a folder",
        short="-o",
        default_text="the recipe's name without its ending",
    ),
    Option(
        "jobs",
        values.read_integer,
        1,
        "processes among which the pictures are shared out",
        Affects.NOTHING,
        "N",
        "processes",
        1,
        256,
    ),
)

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

THUMBNAIL = of_command(
    Option(
        "entry",
        values.read_switch,
        False,
        "print the entry that file managers look for, in place of a picture",
        Affects.NOTHING,
    ),
)
