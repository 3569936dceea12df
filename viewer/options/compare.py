"""The options of ``raystream diff``, which are no options of a picture."""

from __future__ import annotations

from typing import Any

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Value, of_command, wrong
from raystream.options.kinds import choice, file


def read_texts(option: Option, value: Any) -> tuple[str, ...]:
    """Texts that are not blank, in order."""
    texts = (value,) if isinstance(value, str) else tuple(value)
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise wrong(option, text)
    return texts


COMPARE = of_command(
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
        Value(values.read_optional_closed_real, None, "NUMBER", "a number from {low:g}", 0, 1e30),
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
