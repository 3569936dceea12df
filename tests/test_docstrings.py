"""Docstrings: every public name has one, and documents no parameter that does not exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# "name : text" or "one, other : text", at the beginning of a line or a sentence.
_DOCUMENTED = re.compile(r"(?:^|[.;)] |\n)\s*(\w+(?:, \w+)*) : ")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(tree: ast.AST, public: bool = True) -> Iterator[tuple[Definition, bool]]:
    """Functions and classes of a module and its classes, and whether they are public. Those of protocols are not here:
    the class tells what they are for."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            shown = public and not node.name.startswith("_")
            yield node, shown
            if isinstance(node, ast.ClassDef) and "Protocol" not in {ast.unparse(base) for base in node.bases}:
                yield from definitions(node, shown)
        elif isinstance(node, ast.If | ast.Try):
            yield from definitions(node, public)


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """A function's."""
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {each.arg for each in every if each is not None}


def fields(node: ast.ClassDef) -> set[str]:
    """Fields, attributes and methods of a class, and what it is made from and called with."""
    found = {child.target.id for child in node.body if isinstance(child, ast.AnnAssign) if hasattr(child.target, "id")}
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(child.name)
            found |= parameters(child) if child.name in ("__init__", "__new__", "__call__") else set()
            owned = (each for each in ast.walk(child) if isinstance(each, ast.Attribute))
            found |= {each.attr for each in owned if isinstance(each.value, ast.Name) and each.value.id == "self"}
    return found


def takes_any(node: Definition) -> bool:
    """Whether it, or what makes the class, takes keywords of any name."""
    if isinstance(node, ast.ClassDef):
        made = [child for child in node.body if isinstance(child, ast.FunctionDef) and child.name == "__init__"]
        return any(each.args.kwarg for each in made)
    return node.args.kwarg is not None


def unknown(node: Definition) -> list[str]:
    """Names that a docstring documents and that do not exist."""
    text = ast.get_docstring(node)
    if not text or takes_any(node):
        return []
    names = fields(node) if isinstance(node, ast.ClassDef) else parameters(node)
    return [name for found in _DOCUMENTED.findall(text) for name in found.split(", ") if name not in names]


def bare(node: Definition) -> bool:
    """Whether a docstring is missing; a setter has its property's."""
    decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    return ast.get_docstring(node) is None and not decorators & {"overload", "setter", "deleter"}


def test_public_names_are_documented_as_they_are() -> None:
    wrong: list[str] = []
    for path in sorted((ROOT / "viewer").rglob("*.py")):
        for node, public in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
            wrong += [f"{where}: no docstring"] if public and bare(node) else []
            wrong += [f"{where}: documents {name}" for name in unknown(node)]
    assert wrong == []


def test_a_parameter_that_is_not_there_is_found() -> None:
    text = '''
def draw(size, color=None):
    """Draws. size : pixels. colour : linear."""

class Ray:
    """origin, direction : (3,). far : distance."""
    origin: object
    direction: object
    def __init__(self, near): self.length = near
'''
    wrong = {node.name: unknown(node) for node, _ in definitions(ast.parse(text))}
    assert wrong == {"draw": ["colour"], "Ray": ["far"], "__init__": []}
