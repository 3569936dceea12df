"""The options of commands that are no options of a picture: ``raystream dataset``, ``doctor``, ``thumbnail``, and the
view in a browser."""

from __future__ import annotations

from typing import Any

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Value, of_command, wrong
from raystream.options.kinds import SWITCH, file, integer

DATASET = of_command(
    Option(
        "output",
        file("FOLDER", "a folder"),
        Help(
            "the dataset's folder; one that is begun is gone on with",
            "the recipe's name without its ending",
            short="-o",
        ),
        Affects.NOTHING,
    ),
    Option("jobs", integer(1, 256, 1), Help("processes among which the pictures are shared out"), Affects.NOTHING),
)

DOCTOR = of_command(
    Option(
        "output",
        file("REPORT.json", "a file name such as report.json; - is standard output", "raystream-doctor.json"),
        Help("the report, with all figures", short="-o"),
        Affects.NOTHING,
    ),
)

THUMBNAIL = of_command(
    Option(
        "entry", SWITCH, Help("print the entry that file managers look for, in place of a picture"), Affects.NOTHING
    ),
)


PORT = 8765


def read_port(option: Option, value: Any) -> int | str | None:
    """A number, or ``auto``."""
    return "auto" if value == "auto" else values.read_optional_integer(option, value)


def read_host(option: Option, value: Any) -> str:
    """A name or an address, without a port."""
    if not isinstance(value, str) or not value or set(value) & set("/ \t"):
        raise wrong(option, value)
    return value


REMOTE = of_command(
    Option(
        "remote",
        Value(
            read_port,
            None,
            "PORT",
            "a port from {low} to {high}, of which 0 is any that is free, or nothing: "
            f"{PORT}, or where that is taken any",
            0,
            65535,
            bare="auto",
        ),
        Help(
            "shows it in a browser in place of a window; the one line that is printed says where",
            "a window",
            shown="first",
        ),
        Affects.NOTHING,
    ),
    Option(
        "remote_host",
        Value(read_host, "127.0.0.1", "ADDRESS", "an address of this machine such as 0.0.0.0, which is all of them"),
        Help("address that --remote listens at; any but this machine's own lets others in who know the token"),
        Affects.NOTHING,
    ),
    part="browser",
)
