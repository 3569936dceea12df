"""The floors of the house: a file of ``viewer/`` imports from its own floor or from below, and never in a circle."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The first that fits, of a module's name without ``raystream.``.
FLOORS = (
    *((name, 9) for name in ("cli", "__main__")),
    *((name, 8) for name in ("window", "notebook", "remote", "farm", "pyrender")),
    *((name, 7) for name in ("viewport", "dataset")),
    ("renderer", 6),
    *((name, 5) for name in ("denoise", "film", "photons")),
    ("programs", 4),
    *((name, 3) for name in ("kernels", "accel", "materials", "lighting", "cameras", "formats")),
    *(("scene", 2), ("stream", 1), ("base", 0), ("options", 0)),
)


@pytest.fixture(scope="module", autouse=True)
def _forgotten():
    """Parsed modules take 150 MiB."""
    yield
    for each in (files, tree, imports, outside, classes, own_names):
        each.cache_clear()


@cache
def files():
    """Every module of viewer/, as a dotted name, with its file."""
    package = ROOT / "viewer"
    return {
        ".".join(("raystream", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in package.rglob("*.py")
    }


@cache
def tree(name):
    """A module, parsed."""
    return ast.parse(files()[name].read_text(encoding="utf-8"))


def statements(name):
    """All of a module, those within functions and classes too: imports are such, and most nodes are expressions."""
    left = [tree(name)]
    while left:
        node = left.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += getattr(node, part, [])


@cache
def imports():
    """Of every module of viewer/ all that it imports from there, as dotted names: in functions and for types, too."""
    names, found = files(), {}
    for name in names:
        used = set()
        for node in statements(name):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "raystream":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    used.add(inner if inner in names else node.module)
            elif isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names if alias.name in names}
        found[name] = used - {name, "raystream"}  # which hands out names of all floors when they are asked for
    return found


@cache
def outside(name):
    """The packages beside viewer/ that a module imports."""
    nodes = list(statements(name))
    found = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    found |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {each.split(".")[0] for each in found}


def without_circles(graph):
    """Fail with the circle that a graph of names has."""
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def floor(name):
    """The floor of a module."""
    short = name.removeprefix("raystream").removeprefix(".")
    return next(number for part, number in FLOORS if short == part or short.startswith(f"{part}."))


@pytest.mark.parametrize("name", sorted(files()))
def test_imports_go_down(name):
    if name == "raystream":  # hands out names of all floors when they are asked for
        return
    above = {other for other in imports()[name] - {"raystream"} if floor(other) > floor(name)}
    assert not above


def test_no_module_needs_itself():
    without_circles({name: used for name, used in imports().items() if name != "raystream"})


@pytest.mark.parametrize("folder", sorted({path.parent for path in files().values()}), ids=lambda p: p.name)
def test_no_folder_needs_itself(folder):
    """What lies in a folder, files and folders alike, forms no circle; its ``__init__`` speaks for the folder."""
    here = ".".join(("raystream", *folder.relative_to(ROOT / "viewer").parts))

    def child(name):
        return name.removeprefix(f"{here}.").split(".")[0] if name.startswith(f"{here}.") else None

    graph = {}
    for name, used in imports().items():
        if child(name) is not None:
            graph.setdefault(child(name), set()).update({child(other) for other in used} - {None, child(name)})
    without_circles(graph)


def test_folders_are_no_piles():
    assert {path.name for path in (ROOT / "viewer").glob("*.py")} == {"__init__.py", "__main__.py"}
    for folder in {path.parent for path in files().values()}:
        assert len(list(folder.glob("*.py"))) <= 20, folder  # more are two rooms


def test_who_knows_the_window():
    """OpenGL's window and panels are known to their rooms alone: a session is driven by anybody."""
    rooms = tuple(f"raystream.window.{name}" for name in ("app", "gui", "window", "bundle", "panels."))
    rooms += ("raystream.viewport.keymap",)
    for name in files():
        if name != "raystream.window" and not name.startswith(rooms):  # the package itself loads glfw
            assert not outside(name) & {"glfw", "imgui_bundle"}, name


@pytest.mark.parametrize("name", ["raystream.viewport.canvas"])
def test_who_needs_no_window(name):
    """What a server without a display shows is imported without OpenGL's window and panels."""
    reached, left = set(), [name]
    while left:
        module = left.pop()
        reached.add(module)
        for node in tree(module).body:  # those of functions wait for their call
            if isinstance(node, ast.ImportFrom) and node.module in files():
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & files().keys()
                left += (inner or {node.module}) - reached
            elif isinstance(node, ast.Import | ast.ImportFrom):
                named = getattr(node, "module", None) or node.names[0].name
                assert named.split(".")[0] not in ("glfw", "imgui_bundle"), module
    assert len(reached) > 100


# -- classes -----------------------------------------------------------------------------------------------------------

MACHINES = "raystream.stream.machines"  # whose classes share their passes over two generations
# Private parts of libraries that have no other door: argparse, moderngl, jupyter_rfb and the C library.
DOORS = {
    "raystream.cli.main": {"_actions"},
    "raystream.notebook.widget": {"_esm"},
    "raystream.stream.gl.device": {"_context", "_exit"},
}
PUBLIC = {"_replace", "_asdict", "_fields"}  # of a NamedTuple


@cache
def classes():
    """The classes of viewer/ as (module, name) -> (node, their bases among them)."""
    nodes = {(name, node.name): node for name in files() for node in tree(name).body if isinstance(node, ast.ClassDef)}
    found = {}
    for (module, name), node in nodes.items():
        known = {each: (module, each) for where, each in nodes if where == module}
        for statement in statements(module):
            if isinstance(statement, ast.ImportFrom):
                known |= {alias.asname or alias.name: (statement.module, alias.name) for alias in statement.names}
        bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        named = [known.get(base.id) for base in bases if isinstance(base, ast.Name)]
        found[module, name] = node, [base for base in named if base in nodes and base != (module, name)]
    return found


def ancestors(name):
    """All classes of viewer/ that one comes from."""
    for base in classes()[name][1]:
        yield base
        yield from ancestors(base)


def generations(name):
    """1 for a class without a parent in viewer/."""
    return 1 + max(map(generations, classes()[name][1]), default=0)


def written(name):
    """The attributes that a class's methods assign to; a dataclass fills its fields in ``__post_init__``."""
    node, _ = classes()[name]
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name != "__post_init__"]
    found = {each for method in methods for each in ast.walk(method) if isinstance(each, ast.Attribute)}
    stored = {each for each in found if isinstance(each.ctx, ast.Store) and isinstance(each.value, ast.Name)}
    return {each.attr for each in stored if each.value.id == "self"}


def test_no_chains_of_classes():
    """An object is not cut into files by inheritance: a class has one parent, whose parents are of libraries."""
    deep = {name[0] for name in classes() if generations(name) > (3 if name[0].startswith(MACHINES) else 2)}
    assert not deep


def test_an_attribute_has_one_writer():
    both = set()
    for name in classes():
        for other in ancestors(name):
            if not name[0].startswith(MACHINES) and written(name) & written(other):
                both.add(name[0])
    assert not both


@cache
def own_names(module):
    """All that a module names itself: functions, classes, methods, fields and attributes of ``self``."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            found.add(node.attr)
    return found


def test_private_parts_stay_private():
    """``one._part`` is used in the module that names it alone; nobody reaches into an object's ``__dict__``."""
    reached = set()
    for module in files():
        for node in ast.walk(tree(module)):
            if not isinstance(node, ast.Attribute):
                continue
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            own |= isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super"
            private = node.attr.startswith("_") and not node.attr.startswith("__") and not own
            private &= node.attr not in own_names(module) | PUBLIC | DOORS.get(module, set())
            if (private and not module.startswith(MACHINES)) or node.attr == "__dict__":
                reached.add(module)
    assert not reached


def test_no_two_files_of_tests_share_a_name():
    """Folders of tests are no packages: a process that has read one takes the other for it, and stops."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
