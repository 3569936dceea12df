"""The API reference of the site: every public name of the package, its signature and docstrings, by syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = "reference"

Definition = ast.FunctionDef | ast.ClassDef


def reference() -> Iterator[tuple[str, str]]:
    """Place and text (Markdown) of each page: one for each public name, and their list."""
    tree = ast.parse((ROOT / "viewer" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    homes = {node.names[0].name: node.module for node in imports if not node.names[0].name.startswith("_")}
    rows = []
    for name, home in sorted(homes.items()):
        definition = _definition(f"raystream.{home}", name)
        parts = [f"# {name}", *_entry(definition, f"raystream.{name}"), *_methods(definition)]
        yield f"{PLACE}/{name}.md", "\n\n".join(parts) + "\n"
        rows.append(f"- [`raystream.{name}`]({name}.md): {_purpose(definition)}")
    rows += ["- [`raystream.farm`](../viewer/farm/README.md)", "- [`raystream.pyrender`](../viewer/pyrender/README.md)"]
    yield f"{PLACE}/index.md", "# Reference\n\nThe names of `import raystream`.\n\n" + "\n".join(rows) + "\n"


def _definition(module: str, name: str) -> Definition:
    """A class or function, followed to where it is defined. Raises LookupError."""
    path = ROOT.joinpath("viewer", *module.split(".")[1:])
    path = package if (package := path / "__init__.py").is_file() else path.with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, Definition) and node.name == name:
            return node
        imported = [alias.asname or alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module and name in imported:
            return _definition(node.module, name)
    raise LookupError(f"{module}: no {name}")


def _entry(node: Definition, name: str) -> list[str]:
    """Signature and docstring."""
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    signature = name
    constructors = [member for member in node.body if isinstance(member, ast.FunctionDef) and member.name == "__init__"]
    if isinstance(node, ast.ClassDef) and constructors:
        signature += f"({ast.unparse(constructors[0].args).removeprefix('self').removeprefix(', ')})"
    if isinstance(node, ast.FunctionDef) and not decorators & {"property", "cached_property"}:
        arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self").removeprefix("cls, ")
        returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        signature = f"{name}({arguments}){returned}"
    return [f"```python\n{signature}\n```", _markdown(ast.get_docstring(node) or "")]


def _methods(node: Definition) -> Iterator[str]:
    """Of a class, its public methods and properties, in order."""
    for member in node.body if isinstance(node, ast.ClassDef) else ():
        setter = isinstance(member, ast.FunctionDef) and any(".setter" in ast.unparse(d) for d in member.decorator_list)
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and not setter:
            yield f"## {member.name}"
            yield from _entry(member, member.name)


def _purpose(node: Definition) -> str:
    """The first sentence of a docstring."""
    first = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    return _escaped(re.split(r"(?<=\.)\s", first)[0])


def _markdown(text: str) -> str:
    """A docstring: ``name : text`` at the start of a line or behind a sentence becomes an entry of a list."""
    blocks = []
    for paragraph in text.split("\n\n"):
        first, *fields = re.split(r"(?:^|(?<=[.;,])\s|\n)(\w+(?:, \w+)*)\s+:\s", re.sub(r"\n +", r"\n", paragraph))
        entries = [f"- **{name}**: {_escaped(of)}" for name, of in zip(fields[::2], fields[1::2], strict=True)]
        blocks += [_escaped(first).strip(), "\n".join(entries)]
    return "\n\n".join(part for part in blocks if part)


def _escaped(text: str) -> str:
    """Text with what Markdown would read as its own, outside of code."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    return "".join(part if k % 2 else re.sub(r"([*_<\[\]#$])", r"\\\1", part) for k, part in enumerate(parts))
