"""Raystream: ray tracing as stream programs in OpenGL fragment shaders.

>>> import raystream
>>> raystream.render("bunny.ply", size=(512, 512), spp=64).save("bunny.png")
>>> raystream.show("bunny.ply")

Both take a file, a built-in scene, arrays, and objects of trimesh, PyVista and Open3D; ``help(raystream.Renderer)``
explains every option. Names are those of the package ``viewer``, looked up when asked for.
"""

from __future__ import annotations

from raystream import _stopping  # noqa: F401  # before all that takes time

# isort: split
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_NAME = "viewer"
# The folder of the package: of this one's in a wheel, of the project's in a checkout.
_BESIDE = next(parent for parent in Path(__file__).resolve().parents if (parent / _NAME / "__init__.py").is_file())
_REMEDY = "give raystream an environment of its own: python -m venv"


def inner() -> ModuleType:
    """The package ``viewer`` that this one was made with, whatever else of that name ``sys.path`` finds first: a
    script's ``viewer.py``, or another distribution's package.

    Raises ImportError, in one line, where another module of that name is in use, or lies in its place.
    """
    module = sys.modules.get(_NAME) or _loaded()
    if getattr(module, "__distribution__", "") == __name__:
        return module
    where = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), _NAME)
    overwritten = _BESIDE in Path(where).resolve().parents
    raise _fault(
        f"{where}: is another package '{_NAME}', installed over raystream's own ({_REMEDY})"
        if overwritten
        else f"{where}: is another module '{_NAME}', imported before raystream (import raystream first, or rename it)"
    )


def _loaded() -> ModuleType:
    """Load it from its folder."""
    spec = PathFinder.find_spec(_NAME, [str(_BESIDE)])
    if spec is None or spec.loader is None:
        raise _fault(f"{_BESIDE / _NAME}: not found (the installation is incomplete; install again)")
    module = sys.modules[_NAME] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[_NAME]
        if isinstance(error, ImportError) and (error.name or "").split(".")[0] == _NAME:
            raise _fault(f"{spec.origin}: is another package '{_NAME}', or broken: {error} ({_REMEDY})") from error
        raise
    return module


def _fault(line: str) -> ImportError:
    """Its folders' names with control characters escaped: they go to terminals."""
    return ImportError("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line), name=_NAME)


def __getattr__(name: str) -> Any:
    if name == "__all__" or name in inner().__all__:
        return getattr(inner(), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(inner().__all__)


# Before a script imports a module of that name of its own. What is wrong is told when a name is asked for: the command
# tells it in its own words.
with suppress(ImportError):
    inner()
