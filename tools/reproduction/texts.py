"""Tables that lie beside the sources: a row a line, tabs between cells, the head first."""

from pathlib import Path


def table(path: str) -> list[list[str]]:
    """The lines of a table, by its path in this package without the ending: ``published/claims``."""
    text = (Path(__file__).parent / f"{path}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]
