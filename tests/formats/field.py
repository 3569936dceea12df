"""Small files made after public reports of users (`shared/field`), and others of the same kinds made here."""

from __future__ import annotations

from pathlib import Path

from fields import field

from raystream.formats import load
from raystream.scene.scene import Scene


def field_scene(name: str) -> Scene:
    """The scene of a case; the test is skipped where the folder of cases is not there."""
    return load(field(name))


def write(folder: Path, **files: str | bytes) -> None:
    """Files by name, with _ for the dot before the ending."""
    for name, content in files.items():
        path = folder / ".".join(name.rsplit("_", 1))
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
