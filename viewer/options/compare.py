"""The options of ``raystream diff``, which are no options of a picture."""

from __future__ import annotations

from typing import Any

from raystream.options import values
from raystream.options.declare import Affects, Option, of_command, wrong


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
        read_texts,
        None,
        "renders a picture in place of a file, with any option of raystream render but -o; files go first, and two"
        " of these compare two renders",
        Affects.NOTHING,
        "'SCENE [options]'",
        values="a scene with its options, in quotes, such as 'cornell --spp 16'",
        repeats=True,
    ),
    Option(
        "limit",
        values.read_optional_closed_real,
        None,
        "ends with exit code 1 where the figure is larger than this",
        Affects.NOTHING,
        "NUMBER",
        low=0,
        high=1e30,
        values="a number from {low:g}",
        default_text="none",
    ),
    Option(
        "figure",
        values.read_word,
        "flip",
        "the figure that --limit holds: mean FLIP, relative error, largest difference, or the share of pixels that"
        " differ, or that are specks, holes or fringes where the first picture has none",
        Affects.NOTHING,
        "NAME",
        choices=("flip", "error", "largest", "share", "specks", "holes", "fringes"),
    ),
    Option(
        "tolerance",
        values.read_real,
        0.01,
        "a pixel differs where one of its components does by more than this: radiance, or sRGB values of 0 to 1"
        " where a picture is displayed",
        Affects.NOTHING,
        "NUMBER",
        low=0,
        high=1e30,
        values="a number from {low:g}",
    ),
    Option(
        "layer",
        values.read_optional_name,
        None,
        "compares this layer of EXR or NPZ files, such as depth, in place of the picture",
        Affects.NOTHING,
        "NAME",
        default_text="the picture",
    ),
    Option(
        "output",
        values.read_file,
        None,
        "a page that stands alone: both pictures under a slider, their difference, and the figures",
        Affects.NOTHING,
        "REPORT.html",
        values="a file name such as report.html",
        short="-o",
        default_text="none",
    ),
)
