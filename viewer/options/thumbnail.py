"""The options of ``raystream thumbnail``."""

from __future__ import annotations

from viewer.options import values
from viewer.options.declare import Affects, Option, of_command

THUMBNAIL = of_command(
    Option(
        "entry",
        values.read_switch,
        False,
        "print the entry that file managers look for, in place of a picture",
        Affects.NOTHING,
    ),
)
