"""The options as text: the README's table, and the keywords of a Python docstring."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from viewer.options.declare import Option
from viewer.options.table import OPTIONS, with_choices

Choices = Mapping[str, Collection[str]]


def markdown_table(choices: Choices | None = None) -> str:
    """The README's table of options, in Markdown; ``choices`` as in `viewer.options.table.check`, by option."""
    rows = ["| option | values | default | what it does |", "|---|---|---|---|"]
    for found in _known(OPTIONS, choices):
        typed = f"`{found.short}`, " if found.short else ""
        typed += f"`{found.typed}`"
        cells = [typed, found.expected(), found.default_words(), found.help]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def docstring(names: Iterable[str], choices: Choices | None = None) -> str:
    """A line for each of these options, as a docstring lists keywords."""
    lines = []
    for found in _known(names, choices):
        expected, default = found.expected(), found.default_words()
        text = found.help + (f": {expected}" if expected else "") + (f" (default: {default})" if default else "")
        lines.append(f"{found.name} : {text}.")
    return "\n".join(lines)


def _known(names: Iterable[str], choices: Choices | None) -> Iterable[Option]:
    for name in names:
        found = OPTIONS[name]
        yield with_choices(found, tuple(choices[name])) if choices and name in choices else found
