"""Methods of dataclasses: compiled once on a machine, and the same as those that are compiled in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Prints what a class's methods do, and how many of their texts were compiled.
SCRIPT = """
import sys
from dataclasses import dataclass, field, FrozenInstanceError
compiled = []
sys.addaudithook(lambda event, given: event == "compile" and "__create_fn__" in str(given[0]) and compiled.append(1))
from raystream.base import start
start.begin()
{classes}
start.finish_loading()
print(len(compiled), made)
"""
CLASSES = """
@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: list = field(default_factory=list, compare=False)

one = Point(1)
try:
    one.x = 2
except FrozenInstanceError as error:
    fault = str(error)
made = one, Point(2, [3]), hash(one) == hash(Point(1, [4])), one == Point(1, [4]), one < Point(2), fault
"""
TOLD = "(Point(x=1, y=[]), Point(x=2, y=[3]), True, True, True, \"cannot assign to field 'x'\")"


def told(cache: Path, classes: str = CLASSES, *options: str) -> tuple[int, str]:
    """The number of texts that were compiled, and what the script has made."""
    environment = {**os.environ, "RAYSTREAM_CACHE_DIR": str(cache)}
    command = [sys.executable, *options, "-c", SCRIPT.format(classes=classes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    number, _, made = done.stdout.strip().partition(" ")
    return int(number), made


def test_methods_are_compiled_once(tmp_path: Path) -> None:
    number, made = told(tmp_path)
    assert number >= 1 and made == TOLD
    assert told(tmp_path) == (0, TOLD)


def test_those_of_another_class_are_compiled(tmp_path: Path) -> None:
    """And those kept before stay."""
    told(tmp_path)
    other = CLASSES.replace("x: int\n", "x: int = 5\n")
    assert told(tmp_path, other)[0] >= 1
    assert told(tmp_path) == (0, TOLD)


def test_names_are_those_of_the_class_s_own_module(tmp_path: Path) -> None:
    """The same text, in two modules with other things behind a name."""
    classes = """
import types
made = []
for value in (1, 2):
    module = types.ModuleType(f"module_{value}")
    sys.modules[module.__name__] = module
    module.TYPE = value
    source = "from dataclasses import dataclass\\n@dataclass\\nclass A:\\n    x: int\\n    def f(self): return TYPE"
    exec(source, module.__dict__)
    made.append((module.A(3).f(), module.A.__init__.__globals__ is module.__dict__))
"""
    for _ in range(2):
        assert told(tmp_path, classes)[1] == "[(1, True), (2, True)]"


@pytest.mark.parametrize("content", [b"", b"\x00" * 64, b"damaged\nnothing"], ids=["empty", "zeros", "damaged"])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    told(tmp_path)
    (kept,) = tmp_path.glob("dataclasses*")
    kept.write_bytes(content)
    number, made = told(tmp_path)
    assert number >= 1 and made == TOLD
    assert told(tmp_path) == (0, TOLD)


def test_optimised_code_is_apart(tmp_path: Path) -> None:
    told(tmp_path)
    assert told(tmp_path, CLASSES, "-O")[0] >= 1
    assert len(list(tmp_path.glob("dataclasses*"))) == 2


def test_a_full_file_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from raystream.base import start

    monkeypatch.setattr(start, "MAX_TEXTS", 2)
    made = start.CachedMethods([tmp_path])
    for number in range(2):
        made(f"x = {number}", {}, {})
    made.keep()
    assert len(start.CachedMethods([tmp_path]).codes) == 2
    again = start.CachedMethods([tmp_path])
    again("x = 1", {}, {})
    again("x = 2", {}, {})
    again.keep()
    assert set(start.CachedMethods([tmp_path]).codes) == {"x = 1", "x = 2"}
