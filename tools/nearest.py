"""The test files nearest to a source, of all: ``python tools/nearest.py PATH[:LINE] [COUNT]`` prints them.

``bash tools/test --for PATH`` runs eight. Of a folder they are those of the folder of `tests` that mirrors it, and the
nearest four of each file.

Texts are alike by the words that they share and few tests have: the cosine between both texts' words, each weighted by
the logarithms of its count and of its rarity (G. Salton and C. Buckley, Term-weighting approaches in automatic text
retrieval, 1988). To the likeness of the source itself comes a part of that of its users, which are the modules that
import it, or name the shader, and the shaders that include it; and a little for a test of the mirrored folder, of its
name or of a module's that names the shader, that imports or names it, and that catches a fault of tools/mutate.toml in
it or beside it. Of a line in a module there counts as well how alike tests are to the function around it and to the
lines beside it; of one in a shader how often they name its function.

Of the faults of that list four files so chosen, by words and names alone, hold one that is named to catch it for 69 %
of those in shaders and 85 % of those in modules.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
LIST = Path(__file__).with_name("mutate.toml")
USERS, BESIDE, CAUGHT, AROUND = 0.4, 0.08, 0.2, 0.05  # weights beside the source's own cosine
LINES, NAMED = 0.6, 0.008
NEIGHBOURS = 4  # lines on either side of one
Scores = NDArray[np.float64]


_IMPORT = re.compile(r"^[ \t>]*(?:from ([\w.]+) import (\([^)]*\)|[^\n;]+)|import ([\w., ]+))", re.MULTILINE)


def tests_for(path: Path, count: int = 4) -> list[Path]:
    """The test files of a file or a folder, the nearest first. Raises ValueError for a path out of the project."""
    if not path.exists() or not path.is_relative_to(ROOT):
        raise ValueError(f"{path}: neither a file nor a folder of the project")
    if path.is_relative_to(TESTS):
        return list(test_files(path))
    if path.is_file():
        return nearest(path, count)
    files = [file for file in (*all_sources(), *all_shaders()) if file.is_relative_to(path)]
    mirror = mirror_of(path)
    mirrored = sorted(test_files(mirror)) if mirror is not None else []
    return list(dict.fromkeys([*mirrored, *(test for file in files for test in nearest(file, 4))]))


def nearest(path: Path, count: int, line: int = 0) -> list[Path]:
    """So many test files, the likeliest to notice a fault in a source first. line : of the fault, from 1; 0: any."""
    tests = _tests()
    scores = _cosines(path) + _beside(path)
    if users := _users(path):
        scores = scores + USERS * np.max([_cosines(user) for user in users], axis=0)
    if line:
        scores = scores + _near_line(path, line)
    order = np.argsort(-scores, kind="stable")[:count]
    return [tests[k] for k in order.tolist()]


@cache
def _tests() -> tuple[Path, ...]:
    return tuple(sorted(test_files(TESTS)))


@cache
def test_files(path: Path) -> tuple[Path, ...]:
    return (path,) if path.is_file() else tuple(path.rglob("test_*.py"))


@cache
def all_sources() -> tuple[Path, ...]:
    """The modules of the package and of the tools."""
    return tuple(file for folder in ("viewer", "tools") for file in (ROOT / folder).rglob("*.py"))


@cache
def all_shaders() -> tuple[Path, ...]:
    return tuple((ROOT / "shaders").rglob("*.glsl"))


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def mirror_of(path: Path) -> Path | None:
    """The folder of `tests` for a file's or a folder's tests: of the same name below `viewer` or `shaders`, or of one
    above; None without one."""
    base = next((ROOT / name for name in ("viewer", "shaders") if path.is_relative_to(ROOT / name)), path)
    folders = (each for each in (path, *path.parents) if each.is_relative_to(base) and each != base)
    return next((mirror for each in folders if (mirror := TESTS / each.relative_to(base)).is_dir()), None)


def module_name(path: Path) -> str:
    """The name that tests import a file by; those of `tools` are found there."""
    base = ROOT / "tools" if path.is_relative_to(ROOT / "tools") else ROOT
    name = ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")
    return re.sub(r"^viewer\b", "raystream", name)


@cache
def _imported(path: Path) -> frozenset[str]:
    """The modules that a file imports, also in the text of a script."""
    imported: set[str] = set()
    for module, names, modules in _IMPORT.findall(_text(path)):
        words = re.findall(r"[\w.]+", re.sub(r"#[^\n]*| as \w+", "", names or modules))
        imported.update((module, *(f"{module}.{word}" for word in words)) if module else words)
    return frozenset(imported)


@cache
def _helpers(test: Path) -> tuple[Path, ...]:
    """Modules of the tests' own that a test imports."""
    names = (name.rpartition(".")[2] for name in _imported(test))
    beside = ((test.parent / f"{name}.py", TESTS / f"{name}.py") for name in names if name.isidentifier())
    return tuple(dict.fromkeys(file for both in beside for file in both if file.is_file() and file != test))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The modules that a file imports; a test's with those of the modules of the tests' own."""
    helpers = _helpers(path) if path.is_relative_to(TESTS) else ()
    return frozenset().union(*map(_imported, (path, *helpers)))


@cache
def counted_words(test: Path) -> Counter[str]:
    """How often a test has each word, with the modules of the tests' own that it imports."""
    return Counter(re.findall(r"[A-Za-z]\w+", "\n".join(map(_text, (test, *_helpers(test))))))


@cache
def names_in(path: Path) -> frozenset[str]:
    """The quoted words of a file, without a shader's folder and ending."""
    words = re.findall(r"[\"']([\w./]+)[\"']", _text(path))
    return frozenset(Path(word).name.removesuffix(".glsl") for word in words)


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[A-Za-z]\w\w+", text))


@cache
def _weights() -> dict[str, Scores]:
    """For each word of any test its weight in every one, of vectors of length 1; times its rarity for a source's."""
    counts = [counted_words(test) for test in _tests()]
    spread = Counter(word for of_test in counts for word in of_test if len(word) > 2)
    rarity = {word: math.log(len(counts) / number) for word, number in spread.items()}
    weights = {word: np.zeros(len(counts)) for word in spread}
    for k, of_test in enumerate(counts):
        own = {word: (1.0 + math.log(n)) * rarity[word] for word, n in of_test.items() if len(word) > 2}
        length = math.sqrt(sum(value * value for value in own.values())) or 1.0
        for word, value in own.items():
            weights[word][k] = value / length
    _rarity.update(rarity)
    return weights


_rarity: dict[str, float] = {}


@cache
def _cosines(path: Path) -> Scores:
    """(tests,): how alike each test is to a source."""
    return _cosines_of_text(_text(path))


@cache
def _cosines_of_text(text: str) -> Scores:
    weights = _weights()
    of_source = {word: (1.0 + math.log(n)) * _rarity[word] for word, n in _words(text).items() if word in weights}
    length = math.sqrt(sum(value * value for value in of_source.values())) or 1.0
    total = np.zeros(len(_tests()))
    for word, value in of_source.items():
        total += value / length * weights[word]
    return total


def _beside(path: Path) -> Scores:
    """(tests,): what counts beside words."""
    mirror, module = mirror_of(path), module_name(path)
    naming = [each for each in _users(path) if each.suffix == ".py"] if path.suffix == ".glsl" else []
    stems = [path.stem.split("_"), *(each.stem.split("_") for each in naming)]
    caught, around = _catching().get(path, set()), _catching().get(path.parent, set())
    scores = np.zeros(len(_tests()))
    for k, test in enumerate(_tests()):
        names, folders = _name_words(test)
        refers = module in imports_of(test) or path.stem in names_in(test)
        mirrored = mirror in folders
        alike = [sum(word in names for word in stem) / len(stem) for stem in stems]
        scores[k] = BESIDE * (mirrored + refers + alike[0] + max(alike[1:], default=0.0))
        scores[k] += CAUGHT * (test in caught) + AROUND * (test in around)
    return scores


@cache
def _name_words(test: Path) -> tuple[frozenset[str], frozenset[Path]]:
    """The words of a test file's name, in the singular, too; and the folders around it."""
    words = test.stem.split("_")
    return frozenset(words) | {word.removesuffix("s") for word in words}, frozenset(test.parents)


def _near_line(path: Path, line: int) -> Scores:
    """(tests,): what counts for a line."""
    inside = (span for span in _functions(path) if span[1] <= line <= span[2])
    name, first, last = next(inside, ("", line - NEIGHBOURS, line + NEIGHBOURS))
    if path.suffix == ".glsl":
        return NAMED * _mentions(name)
    texts = (_lines(path, first, last), _lines(path, line - NEIGHBOURS, line + NEIGHBOURS))
    return LINES * sum(map(_cosines_of_text, texts), np.zeros(len(_tests())))


def _lines(path: Path, first: int, last: int) -> str:
    """Some lines of a file, from 1."""
    return "\n".join(_text(path).split("\n")[max(first - 1, 0) : last])


@cache
def _functions(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, first and last line, from 1, of those that a source defines, outer ones before nested ones."""
    text = _text(path)
    if path.suffix == ".glsl":
        pattern = r"^\w+ (\w+)\([^;{}]*\) \{(?:[^\n]*\}|.*?\n\})$"
        matches = re.finditer(pattern, text, re.MULTILINE | re.DOTALL)
        return tuple((m[1], *(text.count("\n", 0, at) + 1 for at in m.span())) for m in matches)
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return tuple((node.name, node.lineno, node.end_lineno or node.lineno) for node in nodes)


@cache
def _mentions(name: str) -> Scores:
    """(tests,): how often each has a name, more where few do."""
    _weights()
    counts = np.array([counted_words(test)[name] for test in _tests()], np.float64)
    return np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1.0)), 0.0) * _rarity.get(name, 0.0)


@cache
def _shader_paths(path: Path) -> frozenset[str]:
    """The quoted paths of shaders in a source."""
    return frozenset(re.findall(r"[\"']([\w/]+\.glsl)[\"']", _text(path)))


@cache
def _users(path: Path) -> tuple[Path, ...]:
    """The modules and shaders that use a source: a shader by its path, or where none does, by its name."""
    if path.suffix == ".glsl":
        others = [each for each in (*all_sources(), *all_shaders()) if each != path]
        location = path.relative_to(ROOT / "shaders").as_posix()
        using = [each for each in others if location in _shader_paths(each)]
        return tuple(using or (each for each in others if path.stem in names_in(each)))
    module = module_name(path)
    return tuple(each for each in all_sources() if module in imports_of(each) and each != path)


@cache
def _catching() -> dict[Path, set[Path]]:
    """Of each source, and of each folder, the tests that catch a fault of the list in it."""
    catching: dict[Path, set[Path]] = {}
    for entry in tomllib.loads(LIST.read_text("utf-8"))["fault"]:
        tests = {ROOT / test.split("::")[0] for test in entry["tests"]}
        for path in (ROOT / entry["file"], (ROOT / entry["file"]).parent):
            catching.setdefault(path, set()).update(tests)
    return catching


if __name__ == "__main__":
    name, _, number = sys.argv[1].partition(":") if len(sys.argv) in (2, 3) else ("", "", "")
    if not name or not (number or "0").isdecimal():
        sys.exit(__doc__)
    resolved, count = Path(name).resolve(), int(sys.argv[2]) if sys.argv[2:] else 4
    try:
        chosen = nearest(resolved, count, int(number)) if number else tests_for(resolved, count)
    except ValueError as error:
        sys.exit(str(error))
    print(*(test.relative_to(ROOT).as_posix() for test in chosen), sep="\n")
