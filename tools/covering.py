"""Which tests cover a file or a folder: ``python tools/covering.py PATH [PATH ...]`` prints their files.

Those of the folder of `tests` that mirrors a folder of `viewer`, and each that imports one of the modules, or names one
of the shaders or a module that does. ``bash tools/test --for PATH`` runs them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"


def tests_for(paths: Sequence[Path]) -> list[Path]:
    """The test files that cover files or folders of the project, sorted. Raises ValueError for a path that is not in
    it."""
    found: set[Path] = set()
    for path in paths:
        whole = path.resolve()
        if not whole.exists() or not whole.is_relative_to(ROOT):
            raise ValueError(f"{path}: neither a file nor a folder of the project")
        found.update(_of(whole))
    return sorted(found)


def _of(path: Path) -> Iterator[Path]:
    if path.is_relative_to(TESTS):
        yield from _test_files(path)
        return
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    shaders = _including({each.stem for each in files if each.suffix == ".glsl"})
    modules = {_module(each) for each in files if each.suffix == ".py"}
    for shader in (ROOT / "shaders").rglob("*.glsl") if shaders else ():  # names of some are put together
        folder = TESTS / shader.parent.relative_to(ROOT / "shaders")
        if shader.stem in shaders and folder.is_dir() and folder != TESTS:
            yield from _test_files(folder)
    if shaders:
        modules |= {_module(each) for each in (ROOT / "viewer").rglob("*.py") if shaders & _names(each)}
    if path.is_relative_to(ROOT / "viewer"):
        inner = path.relative_to(ROOT / "viewer")
        if path.is_dir() and inner.parts and (TESTS / inner).is_dir():
            yield from _test_files(TESTS / inner)
        elif path.is_file():
            yield from (TESTS / inner.parent).rglob(f"test_{path.stem}*.py")
    for test in _test_files(TESTS):
        if modules & _imports(test) or shaders & _names(test):
            yield test


def _including(shaders: set[str]) -> set[str]:
    """Shaders, and all that include them."""
    texts = {each.stem: _names(each) for each in (ROOT / "shaders").rglob("*.glsl")} if shaders else {}
    while more := {name for name, names in texts.items() if names & shaders} - shaders:
        shaders |= more
    return shaders


def _test_files(path: Path) -> Iterator[Path]:
    yield from [path] if path.is_file() else path.rglob("test_*.py")


def _module(path: Path) -> str:
    """The name that tests import a file by; those of `tools` are found there."""
    inner = path.relative_to(ROOT / "tools" if path.is_relative_to(ROOT / "tools") else ROOT).with_suffix("")
    return ".".join(inner.parts).removesuffix(".__init__")


@cache
def _imports(path: Path) -> frozenset[str]:
    """The modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


@cache
def _names(path: Path) -> frozenset[str]:
    """The quoted words of a file, without a shader's folder and ending."""
    words = re.findall(r"[\"']([\w./]+)[\"']", path.read_text(encoding="utf-8"))
    return frozenset(Path(word).name.removesuffix(".glsl") for word in words)


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    try:
        chosen = tests_for([Path(given) for given in sys.argv[1:]])
    except ValueError as error:
        sys.exit(str(error))
    print(*(each.relative_to(ROOT).as_posix() for each in chosen), sep="\n")
