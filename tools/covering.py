"""Which tests cover a file or a folder: ``python tools/covering.py PATH [PATH ...]`` prints their files, nearest first.

Those in the folder of `tests` that mirrors the file's, and of its name; those that import one of the modules, or
name one of the shaders; those of modules that do. Where none does, those of the modules that import it, one step at a
time; else those that have its name, or its folder's, as a word. ``bash tools/test --for PATH`` runs them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence, Set
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
_FEW = 8  # tests of a shader
_MANY = 5  # times that a test names something
_COMMON = {"test", "of", "the", "a", "in", "on", "by", "init"}  # words of names that tell nothing


def tests_for(paths: Sequence[Path]) -> list[Path]:
    """The test files that cover files or folders of the project, the nearest first: in the mirrored folder, then by
    name. Raises ValueError for a path that is not in it."""
    ordered: dict[Path, None] = {}
    for path in paths:
        resolved = path.resolve()
        if not resolved.exists() or not resolved.is_relative_to(ROOT):
            raise ValueError(f"{path}: neither a file nor a folder of the project")
        mirror = mirror_of(resolved)
        near = [test for test in _of(resolved, mirror) if mirror is not None and test.is_relative_to(mirror)]
        reached = _reached(resolved, mirror)
        for tests in (reached & set(near), reached, set(near), _of(resolved, mirror)):
            ordered |= dict.fromkeys(sorted(tests - ordered.keys(), key=lambda test: _distance(test, resolved)))
    return list(ordered)


def _distance(test: Path, path: Path) -> tuple[bool, int, float, bool, int, Path]:
    """Those of a file's name come first, then of most of its words and its folders', then that name most of what it
    defines and few tests name, that name it, and that import least beside it."""
    alike = 2 * len((set(path.stem.split("_")) - _COMMON) & _words_of(test)) + len(_folders(path) & _words_of(test))
    named = path.stem in names_in(test) or module_name(path) in imports_of(test)
    counts, spread = counted_words(test), _spread()
    mentions = sum(min(counts[name], _MANY) / spread[name] for name in _defined(path) if counts[name])
    return not test.stem.startswith(f"test_{path.stem}"), -alike, -mentions, not named, len(imports_of(test)), test


def _folders(path: Path) -> set[str]:
    """The folders of a source below its room."""
    return set(path.parts[len(ROOT.parts) + 2 : -1])


def _words_of(test: Path) -> set[str]:
    """The words of a test's name, in the singular, too."""
    words = set(test.stem.split("_"))
    return words | {word.removesuffix("s") for word in words}


@cache
def counted_words(test: Path) -> Counter[str]:
    """How often a test has each word, with the modules of the tests' own that it imports."""
    texts = [file.read_text(encoding="utf-8") for file in (test, *_helpers(test))]
    return Counter(re.findall(r"[A-Za-z]\w+", "\n".join(texts)))


@cache
def _spread() -> Counter[str]:
    """The number of tests that have each word."""
    return Counter(word for test in test_files(TESTS) for word in counted_words(test))


@cache
def _helpers(test: Path) -> tuple[Path, ...]:
    """Modules of the tests' own that a test imports."""
    names = (name.rpartition(".")[2] for name in _imported(test))
    beside = ((test.parent / f"{name}.py", TESTS / f"{name}.py") for name in names if name.isidentifier())
    return tuple(dict.fromkeys(file for both in beside for file in both if file.is_file() and file != test))


@cache
def _defined(path: Path) -> frozenset[str]:
    """The public names that a source defines: of functions, classes, methods and constants."""
    if path.is_dir():
        return frozenset()
    text = path.read_text(encoding="utf-8")
    pattern = r"^[a-z]\w* (\w+)\(" if path.suffix == ".glsl" else r"^(?:class | *def |(?=[A-Z]\w+ = ))([A-Za-z]\w+)"
    return frozenset(re.findall(pattern, text, re.MULTILINE)) | {path.stem}


def mirror_of(path: Path) -> Path | None:
    """The folder of `tests` for a file's or a folder's tests: of the same name below `viewer` or `shaders`, or of one
    above; None without one."""
    base = next((ROOT / name for name in ("viewer", "shaders") if path.is_relative_to(ROOT / name)), None)
    if base is None:
        return None
    for folder in [path, *path.parents]:
        if folder == base:
            break
        if (TESTS / folder.relative_to(base)).is_dir():
            return TESTS / folder.relative_to(base)
    return None


@cache
def _of(path: Path, mirror: Path | None) -> frozenset[Path]:
    """All of them: those that are reached, and those of the mirrored folder where none of it is."""
    covering = set(_reached(path, mirror))
    if mirror is not None and not any(test.is_relative_to(mirror) for test in covering):
        covering |= set(test_files(mirror))
    stem, parts = path.stem, path.relative_to(ROOT).parts[:-1]
    words = [path.name, *("_".join(stem.split("_")[:k]) for k in range(stem.count("_") + 1, 0, -1)), *reversed(parts)]
    for word in [] if covering else words:  # names that are put together, and tools that are run
        covering = {test for test in test_files(TESTS) if word in _words(test)}
        if covering:
            break
    return frozenset(covering)


@cache
def _reached(path: Path, mirror: Path | None) -> frozenset[Path]:
    """Those that have its name, import its modules or name its shaders."""
    if path.is_relative_to(TESTS):
        return frozenset(test_files(path))
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    shaders = _including({file.stem for file in files if file.suffix == ".glsl"})
    modules = {module_name(file) for file in files if file.suffix == ".py"}
    reached: set[Path] = set()
    if mirror is not None:
        reached = {test for test in test_files(mirror) if path.is_dir() or test.stem.startswith(f"test_{path.stem}")}
    for shader in all_shaders() if shaders else ():  # names of some are put together
        folder = TESTS / shader.parent.relative_to(ROOT / "shaders")
        if shader.stem in shaders and folder.is_dir() and folder != TESTS:
            reached |= set(test_files(folder))
    if shaders:
        modules |= {module_name(source) for source in all_sources() if shaders & names_in(source)}
    reached |= _importers(modules, shaders, mirror, bool(reached))
    for test in test_files(mirror) if mirror is not None else ():
        # Folders, which a package's tests name, too.
        if module_name(path.parent) in imports_of(test) or _folders(path) & _words_of(test):
            reached.add(test)
    return frozenset(reached)


def _importers(modules: Set[str], shaders: Set[str], mirror: Path | None, other: bool) -> set[Path]:
    """The tests that import modules or name shaders; without any, and no other, those of the modules that import these,
    one step at a time; and of shaders, whose folder has no tests of its own, until there are some more."""
    importers = {test for name in modules for test in _importing()[0].get(name, ())}
    importers |= {test for test in test_files(TESTS) if shaders & names_in(test)} if shaders else set()
    least = _FEW if shaders and mirror is None else 0 if other else 1
    visited = set(modules)
    while len(importers) < least and modules:
        modules = {module_name(module) for name in modules for module in _importing()[1].get(name, ())} - visited
        visited |= modules
        importers |= {test for name in modules for test in _importing()[0].get(name, ())}
    return importers


@cache
def _words(path: Path) -> frozenset[str]:
    """The words of a file, and its quoted ones whole."""
    return frozenset(re.findall(r"[a-z]\w+", path.read_text(encoding="utf-8"))) | names_in(path)


@cache
def all_shaders() -> tuple[Path, ...]:
    return tuple((ROOT / "shaders").rglob("*.glsl"))


@cache
def _importing() -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
    """The tests, and the sources, that import each module."""
    importers: tuple[dict[str, list[Path]], dict[str, list[Path]]] = {}, {}
    for files, importing in zip((test_files(TESTS), all_sources()), importers, strict=True):
        for file in files:
            for name in imports_of(file):
                importing.setdefault(name, []).append(file)
    return importers


@cache
def all_sources() -> tuple[Path, ...]:
    """The modules of the package and of the tools."""
    return tuple(file for folder in ("viewer", "tools") for file in (ROOT / folder).rglob("*.py"))


def _including(shaders: set[str]) -> set[str]:
    """Shaders, and all that include them."""
    texts = {shader.stem: names_in(shader) for shader in all_shaders()} if shaders else {}
    while more := {name for name, names in texts.items() if names & shaders} - shaders:
        shaders |= more
    return shaders


@cache
def test_files(path: Path) -> tuple[Path, ...]:
    return (path,) if path.is_file() else tuple(path.rglob("test_*.py"))


def module_name(path: Path) -> str:
    """The name that tests import a file by; those of `tools` are found there."""
    base = ROOT / "tools" if path.is_relative_to(ROOT / "tools") else ROOT
    name = ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")
    return re.sub(r"^viewer\b", "raystream", name)


_IMPORT = re.compile(r"^[ \t>]*(?:from ([\w.]+) import (\([^)]*\)|[^\n;]+)|import ([\w., ]+))", re.MULTILINE)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The modules that a file imports; a test's with those of the modules of the tests' own."""
    helpers = _helpers(path) if path.is_relative_to(TESTS) else ()
    return frozenset().union(*(_imported(file) for file in (path, *helpers)))


@cache
def _imported(path: Path) -> frozenset[str]:
    """The modules that a file imports, also in the text of a script."""
    imported: set[str] = set()
    for module, names, modules in _IMPORT.findall(path.read_text(encoding="utf-8")):
        words = re.findall(r"[\w.]+", re.sub(r"#[^\n]*| as \w+", "", names or modules))
        imported.update((module, *(f"{module}.{word}" for word in words)) if module else words)
    return frozenset(imported)


@cache
def names_in(path: Path) -> frozenset[str]:
    """The quoted words of a file, without a shader's folder and ending."""
    words = re.findall(r"[\"']([\w./]+)[\"']", path.read_text(encoding="utf-8"))
    return frozenset(Path(word).name.removesuffix(".glsl") for word in words)


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    try:
        chosen = tests_for([Path(name) for name in sys.argv[1:]])
    except ValueError as error:
        sys.exit(str(error))
    print(*(test.relative_to(ROOT).as_posix() for test in chosen), sep="\n")
