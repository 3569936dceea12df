"""The options as text: their page's table, and the keywords of a Python docstring."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from inspect import Parameter, Signature
from typing import Any

from viewer.base.errors import keywords
from viewer.options.declare import Option
from viewer.options.table import OPTIONS

WIDTH, INDENT = 96, " " * 4  # of a docstring's lines, which `help` indents once more

Known = Mapping[str, Option]


def markdown_table(known: Known = OPTIONS) -> str:
    """The table of options in Markdown, for viewer/options/README.md. known : the options, as they are registered."""
    rows = ["| option | values | default | what it does |", "|---|---|---|---|"]
    for found in known.values():
        typed = f"`{found.short}`, " if found.short else ""
        typed += f"`{found.typed}`"
        cells = [typed, found.expected(), found.default_words(), found.about]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def docstring(names: Iterable[str], known: Known = OPTIONS) -> str:
    """A paragraph for each of these options, as a docstring lists keywords."""
    lines = []
    for found in (known[name] for name in names):
        default = found.default_words()
        told = [found.expected()] if found.expected() else []
        told += [f"default: {default}"] if default else []
        for text, indent in ((f"{found.name} : {found.about}.", ""), (f"{'; '.join(told)}.", INDENT)):
            if text != ".":
                lines += textwrap.wrap(keywords(text), WIDTH, initial_indent=indent, subsequent_indent=INDENT)
    return "\n".join(lines)


def signature(own: Signature, names: Iterable[str]) -> Signature:
    """A signature whose ``**`` stands for these options: with each of them by name, and its default."""
    fixed = [each for each in own.parameters.values() if each.kind != Parameter.VAR_KEYWORD]
    taken = {each.name for each in fixed}
    added = [Parameter(name, Parameter.KEYWORD_ONLY, default=_plain(name)) for name in names if name not in taken]
    return own.replace(parameters=[*fixed, *added])


def _plain(name: str) -> Any:
    """An option's default as one would write it."""
    default = OPTIONS[name].default
    return default if default is None or isinstance(default, (bool, int, float, str, tuple)) else str(default)
