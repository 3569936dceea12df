"""The start of a process: without code of the current folder, where models of others may lie, and with hundreds of
modules loaded in two thirds of the time.

CPU time of a first picture of 16 x 16 pixels, two cores: 0.41 s as it is, 0.48 s where `dataclasses` compiles its
methods, 0.51 s where garbage is looked for among what is loaded.
"""

from __future__ import annotations

import dataclasses
import gc
import marshal
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Any

from raystream.base import cache_folder
from raystream.base.interrupts import UNWAITED

# -- no code of the current folder: Python looks for modules there first under ``-c`` and ``-m``, also in children -----

SAFE_PATH = {"PYTHONSAFEPATH": "1"}  # in the environment of child processes, and of theirs
_PACKAGE = Path(__file__).resolve().parents[1]
# The folder where this package is found by its name, installed or in a checkout.
_PROJECT = str(_PACKAGE.parent if _PACKAGE.name == "raystream" else _PACKAGE.parent / "tools" / "editable")


def python_command(code: str, *arguments: str) -> list[str]:
    """The command of a child process that runs ``code`` with this package importable, wherever it lies."""
    return [sys.executable, "-P", "-c", f"import sys\nsys.path.insert(0, {_PROJECT!r})\n{code}", *arguments]


def isolate() -> None:
    """Import no module from the current folder from now on, in this process and in all that it starts."""
    os.environ.update(SAFE_PATH)
    if not sys.flags.safe_path and sys.path[:1] in ([""], [_current_folder()]) and sys.path[0] != _PROJECT:
        del sys.path[0]


def installed_folders() -> list[str]:
    """The folders of ``sys.path`` without that of the script and the current one, which Python adds by itself; where
    ``PYTHONPATH`` names them, they stay."""
    main = sys.modules.get("__main__")
    script = os.path.dirname(os.path.abspath(getattr(main, "__file__", None) or "."))
    added_by_python = {"", _current_folder(), script} - {*os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    return [folder for folder in sys.path if folder and folder not in added_by_python]


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # deleted
        return ""


# -- methods that `dataclasses` writes as text, compiled once and kept in the user's cache folder ----------------------
# A dataclass has five of them. Compiling those of the package's hundred and seventy classes takes a fifth of the
# time in which a command's modules are loaded.

MAX_TEXTS = 1 << 13  # in the file: beyond, those of other commands and versions are dropped
_FILE = f"dataclasses.{sys.implementation.cache_tag}-{sys.flags.optimize}.code"
_FORM = MAGIC_NUMBER.hex().encode() + b"\n"  # of bytecode


class CachedMethods:
    """Replaces `exec` in the module `dataclasses`, which calls it with the source texts of methods.

    codes : source text -> compiled code. Raises the exceptions of the code.
    """

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders
        self.codes: dict[str, CodeType] = {}
        for _, content in cache_folder.find(folders, _FILE):
            if content.startswith(_FORM):
                self.codes = marshal.loads(content[len(_FORM) :])
        self._used: dict[str, CodeType] = {}
        self._has_new_code = False

    def __call__(self, text: str, names: dict[str, Any], namespace: dict[str, Any]) -> None:
        """Run a source text with these globals; ``namespace`` receives its definitions."""
        code = self.codes.get(text)
        if code is None:
            code = self.codes[text] = compile(text, "<string>", "exec", dont_inherit=True)
            self._has_new_code = True
        self._used[text] = code
        exec(code, names, namespace)

    def keep(self) -> None:
        """Write the cache file where it lacks code that was used."""
        if self._has_new_code:
            codes = self.codes if len(self.codes) <= MAX_TEXTS else self._used
            cache_folder.keep(self._folders, _FILE, _FORM + marshal.dumps(dict(codes)))
            self._has_new_code = False


def methods_from_cache() -> CachedMethods:
    """Take methods of dataclasses from the cache file from now on; returns the cache."""
    methods = CachedMethods(cache_folder.folders("bytecode"))
    dataclasses.exec = methods  # type: ignore[attr-defined]  # before the builtin one
    return methods


# -- the start ---------------------------------------------------------------------------------------------------------

# What libraries read as they load, where the user has not set it.
VARIABLES = {
    # Threads of NumPy's linear algebra, which is of three by three here: each is started with NumPy and spins for as
    # long as that takes to load, and after every product.
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Open Image Denoise's hwloc writes to stderr where a container has no /sys; 2: no message at all.
    "HWLOC_HIDE_ERRORS": "2",
}


class _Start:
    """The start of this process."""

    methods: CachedMethods | None = None


def begin() -> None:
    """To be called before the modules of a command are loaded: isolates the process, and turns garbage collection off
    until `finish_loading`, since loading leaves no garbage."""
    gc.disable()
    isolate()
    _Start.methods = methods_from_cache()
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)


def finish_loading() -> None:
    """Save newly compiled methods, freeze the loaded modules' objects, and turn garbage collection on."""
    if _Start.methods is not None:
        _Start.methods.keep()
    gc.freeze()
    gc.enable()


def load_beside(module: str, then: Callable[[], None] | None = None) -> threading.Thread:
    """Load a module in a thread, which is returned, and then call ``then``. Errors are raised again on import."""

    def load() -> None:
        with suppress(Exception):
            import_module(module)
        if then is not None:
            then()

    loading = threading.Thread(target=load, name=UNWAITED, daemon=True)
    loading.start()
    return loading
