"""The options of ``raystream view`` that are no options of a picture: the view in a browser."""

from __future__ import annotations

from typing import Any

from viewer.options import values
from viewer.options.declare import Affects, Option, of_command, wrong

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
