"""Options of single commands, which no picture has: of ``raystream dataset``, ``doctor``, ``thumbnail``, ``devices``,
``check-shaders``, ``graph``, ``diff``, and of the view in a browser."""

from __future__ import annotations

from typing import Any

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Value, command_options, wrong
from raystream.options.values import SWITCH, choice, file, integer

DATASET = command_options(
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

DOCTOR = command_options(
    Option(
        "output",
        file("REPORT.json", "a file name such as report.json; - is standard output", "raystream-doctor.json"),
        Help("the report, with all figures", short="-o"),
        Affects.NOTHING,
    )
)

GRAPH = command_options(
    Option(
        "output",
        file("OUT", "a file name ending in .svg; - is standard output"),
        Help("the diagram", "the program's name, .svg", short="-o"),
        Affects.NOTHING,
    )
)

THUMBNAIL = command_options(
    Option("entry", SWITCH, Help("print the entry that file managers look for, in place of a picture"), Affects.NOTHING)
)


MEASURE = command_options(
    Option(
        "measure",
        file("SCENE"),
        Help(
            "measures on this scene what auto means for --fuse, --mask, --count, --tile and --memory, and keeps it for "
            "this build of the driver: half a second, beside compiling; the pictures stay the same"
        ),
        Affects.NOTHING,
    )
)

CHECK = command_options(
    Option(
        "program",
        Value(values.read_optional_word, None, "NAME"),
        Help("the forms of this program alone: a name, or a Python file of your own"),
        Affects.NOTHING,
    )
)

PORT = 8765  # of the view in a browser


def read_port(option: Option, value: Any) -> int | str | None:
    """A number, or ``auto``."""
    return "auto" if value == "auto" else values.read_optional_integer(option, value)


def read_host(option: Option, value: Any) -> str:
    """A name or an address, without a port."""
    if not isinstance(value, str) or not value or set(value) & set("/ \t"):
        raise wrong(option, value)
    return value


REMOTE = command_options(
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


def read_texts(option: Option, value: Any) -> tuple[str, ...]:
    """Texts that are not blank, in order."""
    texts = (value,) if isinstance(value, str) else tuple(value)
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise wrong(option, text)
    return texts


COMPARE = command_options(
    Option(
        "render",
        Value(
            read_texts,
            None,
            "'SCENE [options]'",
            "a scene with its options, in quotes, such as 'cornell --spp 16'",
            repeats=True,
        ),
        Help(
            "renders a picture in place of a file, with any option of raystream render but -o; files go first, and two"
            " of these compare two renders"
        ),
        Affects.NOTHING,
    ),
    Option(
        "limit",
        Value(values.read_optional_real, None, "NUMBER", "a number from {low:g}", 0, 1e30),
        Help("ends with exit code 1 where the figure is larger than this", "none"),
        Affects.NOTHING,
    ),
    Option(
        "figure",
        choice("flip", "error", "largest", "share", "specks", "holes", "fringes"),
        Help(
            "the figure that --limit holds: mean FLIP, relative error, largest difference, or the share of pixels that"
            " differ, or that are specks, holes or fringes where the first picture has none"
        ),
        Affects.NOTHING,
    ),
    Option(
        "tolerance",
        Value(values.read_real, 0.01, "NUMBER", "a number from {low:g}", 0, 1e30),
        Help(
            "a pixel differs where one of its components does by more than this: radiance, or sRGB values of 0 to 1"
            " where a picture is displayed"
        ),
        Affects.NOTHING,
    ),
    Option(
        "layer",
        Value(values.read_optional_name, None, "NAME"),
        Help("compares this layer of EXR or NPZ files, such as depth, in place of the picture", "the picture"),
        Affects.NOTHING,
    ),
    Option(
        "output",
        file("REPORT.html", "a file name such as report.html"),
        Help(
            "a page that stands alone: both pictures under a slider, their difference, and the figures",
            "none",
            short="-o",
        ),
        Affects.NOTHING,
    ),
)
