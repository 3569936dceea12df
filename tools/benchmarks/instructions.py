"""Instructions of generated programs, counted in the SPIR-V that glslangValidator makes of them, by a written rule.

Counted once each: arithmetic, comparisons, logic, selects, conversions, built-in functions, discards and texture
fetches, whether on a scalar or on a vector, as on the four-wide processors of the papers. Not counted: declarations,
loads and stores of variables, swizzles, structures put together or taken apart, jumps and labels. A function's
instructions count at every place that calls it; both arms of a branch count; a loop's body counts once, which is one
iteration. Addresses are the instructions, fetches apart, of functions that find texels and cells (``fetch_...``,
``photon_cell...``, ``photon_grid...``, ``photons_of_cell``, ``photon_at`` but for what they call beside these), and
packing those of ``pack_...`` and ``unpack_...``. Nothing is optimised, so that drivers need fewer.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from viewer.stream.compile.source import Source

VALIDATOR = "glslangValidator"
FREE = frozenset(
    [
        *("Label", "Variable", "Load", "Store", "AccessChain", "Phi", "Undef", "Name", "CopyObject"),
        *("Branch", "BranchConditional", "Switch", "SelectionMerge", "LoopMerge", "Unreachable"),
        *("Function", "FunctionEnd", "FunctionParameter", "FunctionCall", "Return", "ReturnValue"),
        *("CompositeConstruct", "CompositeExtract", "CompositeInsert", "VectorShuffle", "VectorExtractDynamic"),
        *("Image", "SampledImage"),
    ]
)
TEXTURE = ("ImageFetch", "ImageSample")
ADDRESSES = ("fetch_", "photon_cell", "photon_grid", "photons_of_cell", "photon_at", "arena_texel")
PACKING = ("pack_", "unpack_")

_HEAD = re.compile(r"^\s*(?:(\d+)(?:\((.*)\))?:\s+(?:\d+(?:\(.*?\))?\s+)?)?(\w+)")
_CALLED = re.compile(r"FunctionCall (\d+)")


@dataclass
class Count:
    """Of a program, one iteration: instructions in all, texture fetches, and those of addresses and of packing."""

    all: int = 0
    textures: int = 0
    addresses: int = 0
    packing: int = 0

    def add(self, other: Count) -> None:
        """Another's, too."""
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class _Function:
    name: str
    operations: Counter[str] = field(default_factory=Counter)
    calls: list[str] = field(default_factory=list)


class NoValidator(Exception):
    """It is not installed, or does not take a program."""


def assembly(source: Source, stage: str) -> str:
    """What glslangValidator says of a program's SPIR-V. stage : frag or vert. Raises NoValidator."""
    if shutil.which(VALIDATOR) is None:
        raise NoValidator(f"{VALIDATOR} is not installed (Debian: glslang-tools)")
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        file = Path(folder) / f"program.{stage}"
        file.write_text(source.text, encoding="utf-8")
        command = [VALIDATOR, "-G", "--aml", "--amb", "-H", "-o", str(file.with_suffix(".spv")), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise NoValidator(f"{VALIDATOR}: {done.stdout.strip().splitlines()[-1]}")
    return done.stdout


def count(text: str) -> Count:
    """The instructions of a program's ``main``, by the module's rule, in `assembly`."""
    functions: dict[str, _Function] = {}
    within: _Function | None = None
    entry = ""
    for line in text.splitlines():
        match = _HEAD.match(line)
        if match is None:
            continue
        number, name, operation = match.groups()
        if operation == "Function" and number:
            within = functions[number] = _Function(name or "")
            if within.name.startswith("main"):
                entry = number
        elif operation == "FunctionEnd":
            within = None
        elif within is not None:
            if operation == "FunctionCall":
                found = _CALLED.search(line)
                assert found is not None
                within.calls.append(found.group(1))
            elif operation not in FREE:
                within.operations[operation] += 1
    return _total(functions, entry)


def _total(functions: dict[str, _Function], number: str, group: str = "") -> Count:
    """Of a function and of all that it calls. group : what the caller's instructions count for."""
    function, total = functions[number], Count()
    if function.name.startswith(ADDRESSES):
        group = "addresses"
    elif function.name.startswith(PACKING):
        group = "packing"
    for operation, times in function.operations.items():
        total.all += times
        if operation.startswith(TEXTURE):
            total.textures += times
        elif group:
            setattr(total, group, getattr(total, group) + times)
    for called in function.calls:
        total.add(_total(functions, called, group))
    return total
