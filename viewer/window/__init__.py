"""The window: fly through a scene, toggle everything by hotkey, watch the stream processor at work."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_LIBRARIES = ("libglfw.so.3", "libglfw.3.dylib", "glfw3.dll")


def _load_glfw() -> None:
    """Load glfw as quickly as it can be: with the library of imgui-bundle, as that has it, where it would look for
    others and ask each for its version in a process of its own; and without cffi, whose parser of C takes as long as
    all the rest and serves pointers of Vulkan alone."""
    spec = PathFinder.find_spec("imgui_bundle")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for library in filter(Path.is_file, (Path(folder) / name for name in _LIBRARIES)):
            os.environ.setdefault("PYGLFW_LIBRARY", str(library))
    absent = "cffi" not in sys.modules
    if absent:
        sys.modules["cffi"] = None  # type: ignore[assignment]  # importing it raises ImportError
    try:
        import glfw  # noqa: F401
    finally:
        if absent:
            del sys.modules["cffi"]


if "glfw" not in sys.modules:
    _load_glfw()
