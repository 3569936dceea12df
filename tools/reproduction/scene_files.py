"""The scenes of the report (``scenes.tsv``: what shows those of the papers), which of them come from files, where these
come from, and their checksums (``scene_files.tsv``). ``python tools/reproduce.py --scenes FOLDER`` checks a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

import raystream
from raystream.base.errors import ViewerError

from .report import table

RIGHT, OTHER, MISSING = "right", "other triangles", "not there"


class SceneFile(NamedTuple):
    """A file of the folder ``scenes`` in the scene data.

    source : archive and file in it, or how it is made. triangles : their number, of each mesh once. digest : SHA-256 of
    all positions (float32, little endian) and then all triangles (int32) in the file's order, as `raystream.load` has
    them, of whatever format. otherwise : what the report does without it.
    """

    name: str
    source: str
    triangles: int
    digest: str
    otherwise: str


FILES = tuple(SceneFile(name, of, int(triangles), *rest) for name, of, triangles, *rest in table("scene_files"))
SCENES = table("scenes")  # a scene of a paper, what shows it here, and why


def digest(path: Path) -> tuple[int, str]:
    """The number of triangles of a file of one mesh, and the SHA-256 of `SceneFile`. Raises ViewerError."""
    scene, checksum = raystream.load(str(path)), hashlib.sha256()
    for mesh in scene.meshes:
        checksum.update(np.ascontiguousarray(mesh.positions, "<f4").tobytes())
    for mesh in scene.meshes:
        checksum.update(np.ascontiguousarray(mesh.triangles, "<i4").tobytes())
    return sum(len(mesh.triangles) for mesh in scene.meshes), checksum.hexdigest()


def file_state(file: SceneFile, folder: Path) -> str:
    """`RIGHT`, `OTHER` or `MISSING`: of a file in the scene data's folder, or in its ``scenes``."""
    path = next((each for each in (folder / "scenes" / file.name, folder / file.name) if each.is_file()), None)
    if path is None:
        return MISSING
    try:
        return RIGHT if digest(path) == (file.triangles, file.digest) else OTHER
    except ViewerError as error:
        return f"{OTHER}: {error.typed}"


def summary(folder: Path) -> tuple[list[str], bool]:
    """Lines on each scene of the report and each file in a folder of scene data; and whether no file that is there is
    another one. Raises ViewerError where the folder is none."""
    if not folder.is_dir():
        raise ViewerError(f"--scenes {folder}", "is no folder", "name the one that RAYSTREAM_SHARED is to name")
    lines = ["Scenes of the papers, and what shows them here:", *("  {}: {}; {}".format(*each) for each in SCENES)]
    states = {file.name: file_state(file, folder) for file in FILES}
    lines.append(f"Files in {folder / 'scenes'}:")
    for file in FILES:
        lines += [f"  {file.name}: {states[file.name]}", f"    from {file.source}"]
        lines.append(f"    {file.triangles:,} triangles, SHA-256 of positions and triangles {file.digest}")
        lines += [f"    without it: {file.otherwise}"] if states[file.name] != RIGHT else []
    return lines, not any(each.startswith(OTHER) for each in states.values())
