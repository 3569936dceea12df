"""Methods that `dataclasses` writes as text, compiled once and kept in the user's cache folder.

A dataclass has five of them. Compiling those of the package's hundred and seventy classes takes a fifth of the time
in which a command's modules are loaded.
"""

from __future__ import annotations

import dataclasses
import marshal
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Any

from raystream.base import cache_folder

MOST = 1 << 13  # texts in the file: with more of them those of other commands and versions go
_FILE = f"dataclasses.{sys.implementation.cache_tag}-{sys.flags.optimize}.code"
_FORM = MAGIC_NUMBER.hex().encode() + b"\n"  # of bytecode


class Methods:
    """Takes the place of `exec` in `dataclasses`, which calls it with a function's text.

    codes : by text. Raises the exceptions of a text.
    """

    def __init__(self, places: list[Path]) -> None:
        self._places = places
        self.codes: dict[str, CodeType] = {}
        for _, content in cache_folder.find(places, _FILE):
            if content.startswith(_FORM):
                self.codes = marshal.loads(content[len(_FORM) :])
        self._used: dict[str, CodeType] = {}
        self._fresh = False

    def __call__(self, text: str, names: dict[str, Any], namespace: dict[str, Any]) -> None:
        """Run a text by these global names; ``namespace`` takes its definitions."""
        code = self.codes.get(text)
        if code is None:
            code = self.codes[text] = compile(text, "<string>", "exec", dont_inherit=True)
            self._fresh = True
        self._used[text] = code
        exec(code, names, namespace)

    def keep(self) -> None:
        """Write the file, where there are texts that it lacks."""
        if self._fresh:
            codes = self.codes if len(self.codes) <= MOST else self._used
            cache_folder.keep(self._places, _FILE, _FORM + marshal.dumps(dict(codes)))
            self._fresh = False


def begin() -> Methods:
    """Have methods of dataclasses taken from the file from now on."""
    methods = Methods(cache_folder.folders("bytecode"))
    dataclasses.exec = methods  # type: ignore[attr-defined]  # before the builtin one
    return methods
