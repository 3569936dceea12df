"""Dear ImGui and ImPlot out of imgui-bundle, without the rest of its package.

Its ``__init__`` brings asyncio, an SSL library and a C parser along, which take as long to load as the two themselves.
The compiled module alone is loaded here; whoever imports the package afterwards gets the whole of it, with the same
module inside.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["FOLDER", "ImVec2", "ImVec4", "imgui", "implot"]

_PACKAGE = "imgui_bundle"


def _native() -> ModuleType:
    """The compiled module. Raises ImportError without it."""
    if _PACKAGE not in sys.modules and (spec := PathFinder.find_spec(_PACKAGE)) is not None:
        sys.modules[_PACKAGE] = module_from_spec(spec)  # not executed
        try:
            return import_module(f"{_PACKAGE}._{_PACKAGE}")
        finally:
            del sys.modules[_PACKAGE]
    return import_module(f"{_PACKAGE}._{_PACKAGE}")


if TYPE_CHECKING:
    from imgui_bundle import ImVec2, ImVec4, imgui, implot

    FOLDER = Path()
else:
    _module = _native()
    FOLDER = Path(_module.__file__).parent
    imgui, implot = _module.imgui, _module.implot
    ImVec2, ImVec4 = imgui.ImVec2, imgui.ImVec4
