"""Counts what the house holds itself to: ``python tools/house.py [--json] [--words] [--names]``.

Of ``viewer/``: lines a file, chains of inheritance, class names in several modules, functions of many parameters, words
of docstrings that stand for a noun, and identifiers that tell what happened to a thing in place of what it is; these of
``shaders/``, too, and its lines that ask for a feature. Of the pages: the mean length of sentences. ``--words`` lists
each place of such a word, ``--names`` each of such an identifier.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MOST_PARAMETERS, SHORT, LONG = 7, 60, 900
WORDS = {
    "what ...": r"\bwhat\b",
    "so many": r"\bso (?:many|much)\b",
    "walk": r"\bwalk(?:s|ed|ing)?\b",
    "under way": r"\bunder way\b",
    "anew": r"\banew\b",
    "of no use": r"\bof no (?:use|meaning)\b",
}
NAMES = {"found", "each", "made", "own", "given", "held", "share", "known", "wanted", "seen", "told"}
GLSL_NAMES = {"way", "along", "across", "turn", "looks", "met", "alone", "found", "own", "told"}
GLANCE = 3  # lines within which a name is seen with what it stands for
_FOREIGN = "viewer/pyrender/"  # an interface of another library gives its names and parameters
_HAVE = re.compile(r"^[ \t]*#[ \t]*(?:ifdef|ifndef|if|elif)\b.*\bHAVE_", re.MULTILINE)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Places = dict[str, list[str]]  # "file:line" by the word that stands there


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of viewer/, parsed, by its path from the repository's folder."""
    paths = sorted((ROOT / "viewer").rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def _nodes(kind: Any, foreign: bool = True) -> Iterator[tuple[str, Any]]:
    """The nodes of a kind, with the module's path. foreign : those of viewer/pyrender, too."""
    for name, tree in trees().items():
        if foreign or not name.startswith(_FOREIGN):
            yield from ((name, node) for node in ast.walk(tree) if isinstance(node, kind))


def _shaders() -> Iterator[tuple[str, str]]:
    """Path and text of every shader."""
    for path in sorted((ROOT / "shaders").rglob("*.glsl")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def lines() -> dict[str, int]:
    """Lines of every module with code, by its path."""
    names = (name for name in trees() if not name.endswith("__init__.py"))
    return {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in names}


def classes() -> dict[str, list[str]]:
    """The modules that have a public class of a name, by the name."""
    modules: dict[str, list[str]] = defaultdict(list)
    for name, node in _nodes(ast.Module, foreign=False):
        for each in node.body:
            if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                modules[each.name].append(name)
    return dict(modules)


def chains() -> list[str]:
    """Lines of ancestors of more than two classes of viewer/, the youngest first."""
    parents: dict[tuple[str, str], list[tuple[str, str]]] = {}  # by module and name
    for name, tree in trees().items():
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".").replace("viewer", "raystream", 1)
        own = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        resolved = {node.name: (module, node.name) for node in own}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                resolved |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        for node in own:
            bases = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
            names = (getattr(base, "id", "") for base in bases)
            parents[module, node.name] = [resolved[base] for base in names if base in resolved]

    def up(key: tuple[str, str]) -> list[str]:
        lines = [up(base) for base in parents[key] if base in parents]
        return [key[1], *max(lines, key=len, default=[])]

    return sorted(" < ".join(line) for key in parents if len(line := up(key)) > 2)


def parameters() -> dict[str, int]:
    """Functions with more than `MOST_PARAMETERS` parameters, self apart. Not counted are loops that numba compiles, and
    helpers of these, which take arrays and numbers alone, most without hints."""
    counts = {}
    for name, node in _nodes(ast.FunctionDef, foreign=False):
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        arguments = tuple(argument for argument in arguments if argument.arg not in ("self", "cls"))
        typed = any(argument.annotation for argument in arguments)
        if len(arguments) > MOST_PARAMETERS and typed and "helper" not in map(ast.unparse, node.decorator_list):
            counts[f"{name}:{node.lineno} {node.name}"] = len(arguments)
    return counts


def words() -> Places:
    """Places of each of `WORDS` in docstrings."""
    places: Places = {word: [] for word in WORDS}
    for name, node in _nodes(ast.Module | ast.ClassDef | Function):
        text = ast.get_docstring(node, clean=False) or ""
        for word, pattern in WORDS.items():
            for match in re.finditer(pattern, text, re.IGNORECASE):
                places[word].append(f"{name}:{node.body[0].lineno + text.count(chr(10), 0, match.start())}")
    return places


def names() -> Places:
    """The places of functions that store `NAMES` for more than `GLANCE` lines, by the name."""
    places: Places = {name: [] for name in sorted(NAMES)}
    for path, function in _nodes(Function):
        for name in sorted(_lasting(function) & NAMES):
            places[name].append(f"{path}:{function.lineno} {function.name}")
    return places


def _lasting(function: ast.AST) -> set[str]:
    """Parameters and stored names of a function that are used more than `GLANCE` lines apart."""
    stored, used = set(), defaultdict(list)
    for node in ast.walk(function):
        if isinstance(node, ast.arg | ast.Name):
            name = node.arg if isinstance(node, ast.arg) else node.id
            used[name].append(node.lineno)
            if isinstance(node, ast.arg) or isinstance(node.ctx, ast.Store):
                stored.add(name)
    return {name for name in stored if max(used[name]) - min(used[name]) >= GLANCE}


def glsl_names() -> Places:
    """The places of `GLSL_NAMES` in shaders, comments apart, by the name."""
    places: Places = {name: [] for name in sorted(GLSL_NAMES)}
    for path, text in _shaders():
        for number, line in enumerate(text.splitlines(), 1):
            for name in GLSL_NAMES & set(re.findall(r"\w+", line.partition("//")[0])):
                places[name].append(f"{path}:{number}")
    return places


def sentences(text: str) -> list[int]:
    """Words of each sentence of a page; code, tables and headings are left out."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*(\||#|<|!\[).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "\n\n", text, flags=re.MULTILINE)
    parts = (part for block in re.split(r"\n\s*\n", text) for part in re.split(r"(?<=[.!?:])\s+", block))
    return [count for part in parts if (count := len(part.split())) > 1]


def pages() -> dict[str, float]:
    """The mean length of a page's sentences, words, by its path."""
    folders = [ROOT / folder for folder in ("viewer", "shaders", "tests", "tools")]
    paths = sorted([*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.md"))])
    lengths = {path.relative_to(ROOT).as_posix(): sentences(path.read_text(encoding="utf-8")) for path in paths}
    return {path: mean(counts) for path, counts in lengths.items() if counts}


def figures() -> dict[str, Any]:
    """All counts, by name."""
    long, means, counted = lines(), pages(), {word: len(places) for word, places in words().items()}
    return {
        "modules": len(long),
        "lines": sum(long.values()),
        "median lines of a module": median(long.values()),
        f"modules under {SHORT} lines": sum(count < SHORT for count in long.values()),
        f"modules of {LONG} lines and more": sorted(name for name, count in long.items() if count >= LONG),
        "chains of more than two classes": chains(),
        "class names in several modules": sorted(name for name, modules in classes().items() if len(modules) > 1),
        f"functions of more than {MOST_PARAMETERS} parameters": len(parameters()),
        "words in docstrings": counted,
        "words in docstrings, together": sum(counted.values()),
        "functions that store home words": len({place for places in names().values() for place in places}),
        "functions": sum(1 for _ in _nodes(Function)),
        "lines of shaders with home words": sum(map(len, glsl_names().values())),
        "lines of shaders that ask HAVE_": sum(len(_HAVE.findall(text)) for _, text in _shaders()),
        "mean sentence of pages, words": round(mean(means.values()), 1),
        "longest mean of a page, words": round(max(means.values()), 1),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the counts, or the places of words."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="as data")
    parser.add_argument("--words", action="store_true", help="every place of a counted word")
    parser.add_argument("--names", action="store_true", help="every function and line of shaders with a home word")
    options = parser.parse_args(argv)
    if options.words or options.names:
        for listed in [words()] if options.words else [names(), glsl_names()]:
            for word, places in listed.items():
                print("".join(f"{place}: {word}\n" for place in places), end="")
        return 0
    counts = figures()
    if options.json:
        print(json.dumps(counts, indent=2))
        return 0
    for name, value in counts.items():
        if isinstance(value, list):
            value = f"{len(value)}{': ' if value else ''}{'; '.join(value)}"
        elif isinstance(value, dict):
            value = ", ".join(f"{word} {count}" for word, count in value.items())
        print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
