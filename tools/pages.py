"""Writes what is generated in the pages: ``python tools/pages.py [--check]``.

A page's generated part stands between ``<!-- made: NAME -->`` and ``<!-- /made -->``: the table of options, the list of
keys, the figures of ``tools/figures.toml`` with their numbers out of the results' JSON, the list of these files, and
the index of mended bugs. The types of options for editors (`stubs`) are a file of their own.
``--check`` writes nothing; exit code 1 where a page would change.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from stubs import options_stub

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "tools" / "results"
FIGURES = ROOT / "tools" / "figures.toml"
REPRO = ROOT / "tests" / "repro"
_PART = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- /made -->)", re.DOTALL)


def options() -> str:
    """The table of options."""
    from raystream.cli.main import options_table

    return options_table()


def keys() -> str:
    """The list of keys."""
    from raystream.viewport.keymap import Keymap

    return Keymap().markdown_table()


def figures() -> str:
    """The figures that have a results file, by topic, in the order of the first of each; a topic's row is an anchor."""
    topics: dict[str, list[str]] = {}
    for entry in _entries("figure"):
        topics.setdefault(entry["topic"], []).append(f"| {_filled(entry)} | {_where(entry['file'])} |")
    rows = ["| figure | machine, date |", "|---|---|"]
    for topic, entries in topics.items():
        anchor = re.sub(r"[^a-z ]", "", topic.lower()).replace(" ", "-")
        rows += [f'| <a id="{anchor}"></a>**{topic}** | |', *entries]
    return "\n".join(rows)


def speed() -> str:
    """The few figures of the README, each a link to its file."""
    return "\n".join(f"- [{_filled(entry)}](tools/results/{entry['file']})" for entry in _entries("speed"))


def files() -> str:
    """The results files by benchmark, with subject, machine and date."""
    paths_of: dict[str, list[str]] = {}
    for path in sorted(RESULTS.rglob("*.json")):
        if path.parent.name == "reproduction":  # which has a page of its own
            continue
        paths_of.setdefault(path.stem, []).append(path.relative_to(RESULTS).as_posix())
    rows = ["| `python tools/bench.py` | subject | machine, date |", "|---|---|---|"]
    for name, paths in sorted(paths_of.items()):
        (module,) = (ROOT / "tools" / "benchmarks").glob(f"*/{name.replace('-', '_')}.py")
        (about,) = re.findall(r'^ABOUT = "(.+)"$', module.read_text(encoding="utf-8"), re.MULTILINE)
        rows.append(f"| `{name}` | {about} | {'; '.join(map(_where, paths))} |")
    return "\n".join(rows)


def bugs() -> str:
    """The mended bugs, a file of ``tests/repro`` each, by the first paragraph of its docstring. Raises LookupError for
    a file without one."""
    rows = ["| file | symptom, cause |", "|---|---|"]
    for path in sorted(REPRO.glob("test_*.py")):
        head = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        if not head:
            raise LookupError(f"{path.name}: no docstring tells the symptom and its cause")
        text = " ".join(head.split("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")
        rows.append(f"| [{path.stem.removeprefix('test_').replace('_', ' ')}]({path.name}) | {text} |")
    return "\n".join(rows)


PARTS: dict[str, Callable[[], str]] = {
    **{"options": options, "keys": keys, "figures": figures, "speed": speed, "files": files, "bugs": bugs}
}
PAGES = ("README.md", "viewer/options/README.md", "viewer/window/README.md", "tools/results/README.md")
PAGES += ("tests/repro/README.md",)
STUB = "viewer/options/typed.pyi"


def _entries(kind: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = tomllib.loads(FIGURES.read_text(encoding="utf-8"))[kind]
    return entries


def _filled(entry: dict[str, Any]) -> str:
    """The text of an entry with its numbers."""
    text: str = entry["text"]
    return text.format(*(_shown(entry["file"], cell) for cell in entry["cells"]))


@cache
def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return data


def _where(name: str) -> str:
    """Machine and date of a results file, as a link to it."""
    facts = _read(name)["facts"]
    cpu = " ".join(re.sub(r"\((R|TM)\)|Processor", "", facts["cpu"]).split()).replace(" @", ",")
    return f"[{cpu}, {facts['date'][:10]}]({name})"


def _rows(table: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """A table's rows by name: the first cell, or the first two where several rows share it, or leave it empty."""
    names, first = [str(row[0]) for row in table["rows"]], ""
    for row in table["rows"]:
        first = str(row[0]) or first
        yield f"{first} | {row[1]}" if "" in names or names.count(first) > 1 else first, row


def _values(name: str, title: str, matches: Callable[[str], bool], column: str) -> list[Any]:
    """The cells of a column, of the rows whose name ``matches``; of tables whose title begins so.

    Raises LookupError where there is none.
    """
    cells = [
        values[table["columns"].index(column)]
        for table in _read(name)["tables"]
        if table["title"].startswith(title) and column in table["columns"]
        for row, values in _rows(table)
        if matches(row)
    ]
    if not cells:
        raise LookupError(f"{name}: no cell of column '{column}' in table '{title}'")
    return cells


def _shown(name: str, cell: list[Any]) -> str:
    """A number of a results file, see the head of figures.toml."""
    if cell[0] == "ratio":
        _, title, row, other, column, form = cell
        top, below = (_values(name, title, label.__eq__, column)[0] for label in (row, other))
        return format(top / below, form)
    if cell[0] in ("median", "most"):
        of, title, end, column, form = cell
        values = _values(name, title, lambda row: row.endswith(end), column)
        return format(median(values) if of == "median" else max(values), form)
    title, row, column, form, factor = [*cell, 1][:5]
    value = _values(name, title, row.__eq__, column)[0]
    return value.split(" (")[0] if isinstance(value, str) else format(value * factor, form).replace("%", " %")


def made(text: str) -> str:
    """A page with its generated parts as they should be."""
    return _PART.sub(lambda match: f"{match[1]}{PARTS[match[2]]()}\n{match[3]}", text)


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check every page; 1 where one differs and is only checked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check, changed = parser.parse_args(argv).check, False
    for name in (*PAGES, STUB):
        path = ROOT / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = options_stub() if name == STUB else made(before)
        if after != before:
            changed = True
            print(name)
            if not check:
                path.write_text(after, encoding="utf-8")
    return int(check and changed)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tools" / "editable"))
    sys.exit(main())
