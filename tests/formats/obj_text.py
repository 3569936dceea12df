"""OBJ and MTL files of texts, read."""

from __future__ import annotations

from pathlib import Path

from raystream.formats import load
from raystream.scene.scene import Scene

POINTS = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def read(folder: Path, text: str, library: str | None = None, lenient: bool = False) -> Scene:
    if library is not None:
        (folder / "m.mtl").write_text(library, encoding="utf-8")
    path = folder / "thing.obj"
    path.write_text(text, encoding="utf-8")
    return load(path, lenient)
