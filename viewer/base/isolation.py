"""No code of the current folder, where models of others may lie: Python looks for modules there first under ``-c`` and
``-m``, also in child processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SAFE_PATH = {"PYTHONSAFEPATH": "1"}  # in the environment of child processes, and of theirs
_PACKAGE = Path(__file__).resolve().parents[1]
# The folder where this package is found by its name, installed or in a checkout.
_PROJECT = str(_PACKAGE.parent if _PACKAGE.name == "raystream" else _PACKAGE.parent / "tools" / "editable")


def python(code: str, *arguments: str) -> list[str]:
    """The command of a child process that runs ``code`` with this package importable, wherever it lies."""
    return [sys.executable, "-P", "-c", f"import sys\nsys.path.insert(0, {_PROJECT!r})\n{code}", *arguments]


def isolate() -> None:
    """Import no module from the current folder from now on, in this process and in all that it starts."""
    os.environ.update(SAFE_PATH)
    if not sys.flags.safe_path and sys.path[:1] in ([""], [_current_folder()]) and sys.path[0] != _PROJECT:
        del sys.path[0]


def installed() -> list[str]:
    """The folders of ``sys.path`` without that of the script and the current one, which Python adds by itself; where
    ``PYTHONPATH`` names them, they stay."""
    main = sys.modules.get("__main__")
    script = os.path.dirname(os.path.abspath(getattr(main, "__file__", None) or "."))
    unasked = {"", _current_folder(), script} - {*os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    return [folder for folder in sys.path if folder and folder not in unasked]


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # deleted
        return ""
