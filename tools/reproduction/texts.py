"""Tables that lie beside the sources, a row a line, tabs between cells, the head first; and values within sentences."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any


def table(path: str) -> list[list[str]]:
    """The lines of a table, by its path in this package without the ending: ``published/claims``."""
    text = (Path(__file__).parent / f"{path}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def listed(values: Iterable[Any], shown: str = "") -> str:
    """Values with commas between, each in a format."""
    return ", ".join(format(each, shown) for each in values)
