"""The options of commands that are no options of a picture: ``raystream dataset``, ``doctor``, ``thumbnail``, and the
view in a browser."""

from __future__ import annotations

from typing import Any

from raystream.options import values
from raystream.options.declare import Affects, Option, of_command, wrong

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
        read_port,
        None,
        "shows it in a browser in place of a window; the one line that is printed says where",
        Affects.NOTHING,
        "PORT",
        low=0,
        high=65535,
        values="a port from {low} to {high}, of which 0 is any that is free, or nothing: "
        f"{PORT}, or where that is taken any",
        default_text="a window",
        bare="auto",
    ),
    Option(
        "remote_host",
        read_host,
        "127.0.0.1",
        "address that --remote listens at; any but this machine's own lets others in who know the token",
        Affects.NOTHING,
        "ADDRESS",
        values="an address of this machine such as 0.0.0.0, which is all of them",
    ),
)
