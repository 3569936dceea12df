"""Scene files. The format is recognised by content; each format's module has ``sniff`` and ``read``. Entry points of
``raystream.formats`` bring more: a file extension without its dot -> such a module."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from raystream.base import distributions
from raystream.base.errors import ViewerError
from raystream.base.memory import uncollected
from raystream.formats.files import read_file
from raystream.formats.text import without_mark
from raystream.scene.edits.framed import INVISIBLE, invisible
from raystream.scene.scene import Scene

# Modules by file extension, imported on demand, that of the file's own extension first. Each has NAME, sniff(head,
# path) -> bool and read(path, ...) -> Scene, with the keywords of `KEYWORDS`.
FORMATS: dict[str, tuple[str, ...]] = {
    "raystream.formats.gltf.reader": (".gltf", ".glb"),
    "raystream.formats.ply": (".ply",),
    "raystream.formats.stl": (".stl",),
    "raystream.formats.obj": (".obj",),
    "raystream.formats.bsp": (".bsp",),
}

# Known signatures of other files.
_OTHERS = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x76\x2f\x31\x01", "an OpenEXR picture"),
    (b"#?RADIANCE", "a Radiance picture"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BLENDER", "a Blender file"),
    (b"Kaydara FBX", "an FBX file"),
    (b"<?xml", "an XML file"),
    (b"<!DOCTYPE", "a web page"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself"),
)

_HEAD_BYTES = 4096
KEYWORDS = {
    "raystream.formats.gltf.reader": ("lenient", "max_texture"),
    "raystream.formats.obj": ("lenient", "max_texture"),
    "raystream.formats.ply": ("lenient", "max_texture"),
    "raystream.formats.bsp": ("max_texture",),
}


def load(path: str | Path, lenient: bool = False, max_texture: int | None = None) -> Scene:
    """The scene in a file: glTF 2.0 (.gltf, .glb), PLY, OBJ, STL or a Quake III level (.bsp), recognised by content.

    lenient : checkerboards replace unreadable images. By default such glTF files are refused, and such images of OBJ
    files are white.
    max_texture : longest side at which images are read that would not fit whole.

    Omissions and repairs are in the scene's ``warnings``. Raises ViewerError for a file that is unreadable, of unknown
    format, damaged, or of another format than its extension.
    """
    path = Path(path)
    module = recognise(path)
    try:
        options = {"lenient": lenient, "max_texture": max_texture}
        with uncollected():
            scene = module.read(path, **{name: options[name] for name in KEYWORDS.get(_name(module), ())})
    except MemoryError:
        raise ViewerError(str(path), "not enough memory to load it") from None
    except ViewerError:
        raise
    except (Exception, SystemExit) as error:
        if _name(module) in FORMATS:
            raise
        raise _plugin_fault(module, path, error) from error
    if not isinstance(scene, Scene):
        raise ViewerError(str(path), f"the plug-in for {module.NAME} gives no Scene", "tell its authors")
    if _name(module) not in FORMATS:
        scene.check()
    _warn_of_faults(scene)
    return scene


def recognise(path: str | Path) -> Any:
    """The module of a file's format, by its first bytes alone. Raises ViewerError as `load` does for an unreadable file
    or an unknown format."""
    path = Path(path)
    return _choose_reader(without_mark(read_file(path, max_bytes=_HEAD_BYTES)), path)


def suffixes() -> tuple[str, ...]:
    """The file extensions of all formats, with dots."""
    builtin = [suffix for extensions in FORMATS.values() for suffix in extensions]
    return tuple(dict.fromkeys([*builtin, *map(_suffix, distributions.plugin_names("formats"))]))


def _plugin_fault(module: Any, path: Path, error: BaseException) -> ViewerError:
    what = f"the plug-in for {module.NAME} fails: {type(error).__name__}: {error}"
    return ViewerError(str(path), what, "tell its authors; --debug shows where")


def _sniffs(module: Any, head: bytes, path: Path) -> bool:
    """Whether a reader's ``sniff`` knows the file. Raises ViewerError for a plug-in that fails at that."""
    try:
        return bool(module.sniff(head, path))
    except (Exception, SystemExit) as error:
        if _name(module) in FORMATS:
            raise
        raise _plugin_fault(module, path, error) from error


def _name(module: Any) -> str:
    return str(getattr(module, "__name__", ""))


def _suffix(name: str) -> str:
    """The file extension, with its dot, of an entry point."""
    return f".{name.lower().removeprefix('.')}"


def _plugin_readers(accepts: Callable[[str], bool]) -> list[Any]:
    """The modules of plug-ins whose file extension, with its dot, ``accepts`` takes."""
    builtin = {suffix for extensions in FORMATS.values() for suffix in extensions}
    names = [
        name
        for name in distributions.entry_points("formats")
        if _suffix(name) not in builtin and accepts(_suffix(name))
    ]
    readers: list[Any] = []

    def add_reader(_: str, module: Any) -> None:
        module.NAME, module.sniff, module.read  # noqa: B018 - what a reader has
        readers.append(module)

    if names:
        distributions.load_plugins("formats", add_reader, *names)
    return readers


def _choose_reader(head: bytes, path: Path) -> Any:
    """The module whose ``sniff`` takes the file's first bytes; first asked is that of its extension."""
    if not head:
        raise ViewerError(str(path), "the file is empty")
    suffix = path.suffix.lower()
    names = sorted(FORMATS, key=lambda name: suffix not in FORMATS[name])
    named = [import_module(names[0])] if suffix in FORMATS[names[0]] else _plugin_readers(lambda other: other == suffix)
    by_suffix = next(iter(named), None)
    readers = chain(named, map(import_module, names))
    by_content = next((module for module in readers if _sniffs(module, head, path)), None)
    if by_content is None and by_suffix is None:
        by_content = next(
            (reader for reader in _plugin_readers(lambda extension: True) if _sniffs(reader, head, path)), None
        )
    expected = ", ".join(suffixes())
    if by_content is None:
        other = next((what for magic, what in _OTHERS if head.startswith(magic)), None)
        if other:
            raise ViewerError(str(path), f"holds {other}", f"scenes are {expected}")
        if by_suffix is None:
            raise ViewerError(str(path), "is of no known scene format", f"known are {expected}")
        return by_suffix  # whose reader raises the error
    if by_suffix is not None and by_suffix is not by_content:
        raise ViewerError(
            str(path),
            f"is named {suffix} but holds {by_content.NAME}",
            f"name it {FORMATS[_name(by_content)][0]} if that is meant",
        )
    return by_content


def _warn_of_faults(scene: Scene) -> None:
    """Warn of non-finite vertices and of scenes without triangles."""
    non_finite = 0
    for mesh in scene.meshes:
        finite = np.isfinite(mesh.positions)
        if not finite.all():
            used = np.zeros(len(mesh.positions), bool)
            used[mesh.triangles] = True
            non_finite += int(np.count_nonzero(used & ~finite.all(axis=1)))
    if non_finite:
        vertices = "vertex is" if non_finite == 1 else "vertices are"
        scene.warnings.append(f"{non_finite:,} {vertices} not finite; the triangles there cannot be hit")
    if scene.triangle_count == 0:
        scene.warnings.append("the scene has no triangles")
    elif invisible(scene):
        scene.warnings.append(INVISIBLE)
