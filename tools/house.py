"""Counts what the house holds itself to: ``python tools/house.py [--json] [--words] [--names]``.

Of ``viewer/``: files a folder, lines a file, chains of inheritance, class names in several modules, functions of many
parameters, words of docstrings that stand for a noun, and identifiers that tell what happened to a thing in place of
what it is; these of ``shaders/``, too, and its lines that ask for a feature. Of the pages: the mean length of
sentences. ``--words`` lists each place of such a word, ``--names`` each of such an identifier.
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
from itertools import chain
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

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Place = tuple[str, int]  # of the repository: a file and its line


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of viewer/, parsed, by its path from the repository's folder."""
    paths = sorted((ROOT / "viewer").rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def lines() -> dict[str, int]:
    """Lines of every module with code, by its path."""
    counts = {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in trees()}
    return {name: count for name, count in counts.items() if not name.endswith("__init__.py")}


def classes() -> dict[str, list[str]]:
    """The modules that have a class of a name, by the name; private ones are left out, and those of viewer/pyrender: an
    interface of another library gives their names."""
    modules: dict[str, list[str]] = defaultdict(list)
    for name, tree in trees().items():
        if name.startswith("viewer/pyrender/"):
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(name)
    return dict(modules)


def chains() -> list[str]:
    """Lines of ancestors of more than two classes of viewer/, the youngest first."""
    parents: dict[tuple[str, str], list[tuple[str, str]]] = {}  # by module and name
    for name, tree in trees().items():
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".").replace("viewer", "raystream", 1)
        resolved = {node.name: (module, node.name) for node in tree.body if isinstance(node, ast.ClassDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                resolved |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                bases = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
                parents[module, node.name] = [
                    resolved[base.id] for base in bases if getattr(base, "id", "") in resolved
                ]

    def up(key: tuple[str, str]) -> list[str]:
        lines = [up(base) for base in parents[key] if base in parents]
        return [key[1], *max(lines, key=len, default=[])]

    return sorted(" < ".join(line) for key in parents if len(line := up(key)) > 2)


def parameters() -> dict[str, int]:
    """Functions with more than `MOST_PARAMETERS` parameters, self apart. Not counted are loops that numba compiles, and
    helpers of these, which take arrays and numbers alone, most without hints; and functions of viewer/pyrender, whose
    parameters are those of another library's interface."""
    counts = {}
    for name, tree in trees().items():
        if name.startswith("viewer/pyrender/"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and "helper" not in map(ast.unparse, node.decorator_list):
                arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                arguments = [argument for argument in arguments if argument.arg not in ("self", "cls")]
                if len(arguments) > MOST_PARAMETERS and any(argument.annotation for argument in arguments):
                    counts[f"{name}:{node.lineno} {node.name}"] = len(arguments)
    return counts


def docstrings() -> Iterator[tuple[Place, str]]:
    """Every docstring with the place where it begins."""
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | Definition) and (text := ast.get_docstring(node, clean=False)):
                yield (name, node.body[0].lineno), text


def words() -> dict[str, list[str]]:
    """Places of each of `WORDS` in docstrings."""
    places: dict[str, list[str]] = {word: [] for word in WORDS}
    for (name, line), text in docstrings():
        for word, pattern in WORDS.items():
            for match in re.finditer(pattern, text, re.IGNORECASE):
                places[word].append(f"{name}:{line + text.count(chr(10), 0, match.start())}")
    return places


def names() -> dict[str, list[str]]:
    """The places of functions that store `NAMES` for more than `GLANCE` lines, by the name."""
    places: dict[str, list[str]] = {name: [] for name in sorted(NAMES)}
    for path, tree in trees().items():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for name in sorted(_lasting(function) & NAMES):
                    places[name].append(f"{path}:{function.lineno} {function.name}")
    return places


def _lasting(function: ast.AST) -> set[str]:
    """Parameters and stored names of a function that are used more than `GLANCE` lines apart."""
    stored, used = set(), defaultdict(list)
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            stored.add(node.arg)
            used[node.arg].append(node.lineno)
        elif isinstance(node, ast.Name):
            used[node.id].append(node.lineno)
            if isinstance(node.ctx, ast.Store):
                stored.add(node.id)
    return {name for name in stored if max(used[name]) - min(used[name]) >= GLANCE}


def functions() -> int:
    """The number of all functions of viewer/."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return sum(isinstance(node, kinds) for tree in trees().values() for node in ast.walk(tree))


def glsl_names() -> dict[str, list[str]]:
    """The places of `GLSL_NAMES` in shaders, comments apart, by the name."""
    places: dict[str, list[str]] = {name: [] for name in sorted(GLSL_NAMES)}
    for path in sorted((ROOT / "shaders").rglob("*.glsl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in GLSL_NAMES & set(re.findall(r"\w+", line.partition("//")[0])):
                places[name].append(f"{path.relative_to(ROOT).as_posix()}:{number}")
    return places


def conditions() -> dict[str, list[int]]:
    """The lines of shaders that ask for a feature, by the path of the file."""
    pattern = re.compile(r"^[ \t]*#[ \t]*(?:ifdef|ifndef|if|elif)\b.*\bHAVE_", re.MULTILINE)
    places = {}
    for path in sorted((ROOT / "shaders").rglob("*.glsl")):
        text = path.read_text(encoding="utf-8")
        numbers = [text.count("\n", 0, match.start()) + 1 for match in pattern.finditer(text)]
        places |= {path.relative_to(ROOT).as_posix(): numbers} if numbers else {}
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
    means = {}
    for path in sorted(path for folder in (".", "viewer", "shaders", "tests", "tools") for path in _markdown(folder)):
        lengths = sentences(path.read_text(encoding="utf-8"))
        if lengths:
            means[path.relative_to(ROOT).as_posix()] = mean(lengths)
    return means


def _markdown(folder: str) -> Iterator[Path]:
    return (ROOT / folder).glob("*.md") if folder == "." else (ROOT / folder).rglob("*.md")


def figures() -> dict[str, Any]:
    """All counts, by name."""
    long, several = lines(), {k: v for k, v in classes().items() if len(v) > 1}
    means, counted = pages(), {word: len(places) for word, places in words().items()}
    return {
        "modules": len(long),
        "lines": sum(long.values()),
        "median lines of a module": median(long.values()),
        f"modules under {SHORT} lines": sum(count < SHORT for count in long.values()),
        f"modules of {LONG} lines and more": sorted(name for name, count in long.items() if count >= LONG),
        "chains of more than two classes": chains(),
        "class names in several modules": sorted(several),
        f"functions of more than {MOST_PARAMETERS} parameters": len(parameters()),
        "words in docstrings": counted,
        "words in docstrings, together": sum(counted.values()),
        "functions that store home words": len({place for places in names().values() for place in places}),
        "functions": functions(),
        "lines of shaders with home words": sum(map(len, glsl_names().values())),
        "lines of shaders that ask HAVE_": sum(map(len, conditions().values())),
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
        listed = [words()] if options.words else [names(), glsl_names()]
        for word, places in chain.from_iterable(lists.items() for lists in listed):
            for place in places:
                print(f"{place}: {word}")
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
