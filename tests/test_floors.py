"""The floors of the house: a file of ``viewer/`` imports from its own floor or from below, and never in a circle."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The first that fits, of a module's name without ``viewer.``.
FLOORS = (
    *(("cli", 8), ("__main__", 8), ("window", 7), ("renderer", 5), ("programs", 4), ("film", 4)),
    *((name, 3) for name in ("kernels", "accel", "materials", "lighting", "cameras", "formats")),
    *(("scene", 2), ("stream", 1), ("base", 0), ("options", 0)),
)


@cache
def imports():
    """Of every module of viewer/ what it imports from there when it is loaded, as dotted names."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "viewer").rglob("*.py")
    }
    found = {}
    for name, path in names.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typed = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        used = set()
        for node in ast.walk(tree):
            if id(node) in typed:
                continue
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "viewer":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    used.add(inner if inner in names else node.module)
            elif isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names if alias.name in names}
        found[name] = used - {name}
    return found


def at_load(name):
    """Those imports alone that run when the module is loaded, not in its functions."""
    path = ROOT / Path(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.module for n in tree.body if isinstance(n, ast.ImportFrom) and n.module and n.module.startswith("viewer")}


def floor(name):
    """The floor of a module."""
    short = name.removeprefix("viewer").removeprefix(".")
    return next(number for part, number in FLOORS if short == part or short.startswith(f"{part}."))


@pytest.mark.parametrize("name", sorted(imports()))
def test_imports_go_down(name):
    if name == "viewer":  # hands out names of all floors when they are asked for
        return
    above = {other for other in imports()[name] - {"viewer"} if floor(other) > floor(name)}
    assert not above


def test_no_module_needs_itself():
    graph = {name: at_load(name) - {"viewer", name} for name in imports()}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
