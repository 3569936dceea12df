"""The scenes of the report: which come from files, where these come from, their checksums, and what stands in for the
papers' own. ``python tools/reproduce.py --scenes FOLDER`` checks a folder of scene data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import raystream
from raystream.base.errors import ViewerError

STANFORD = "Stanford 3D Scanning Repository, https://graphics.stanford.edu/pub/3Dscanrep"
RIGHT, OTHER, MISSING, BUILT_IN = "right", "other triangles", "not there", "built in"


@dataclass(frozen=True)
class SceneFile:
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


@dataclass(frozen=True)
class ReportScene:
    """A scene of a paper, and what shows it here: a `SceneFile` by its name, or a scene that is built in."""

    published: str
    here: str
    why: str


FILES = (
    SceneFile(
        "bunny.ply",
        f"{STANFORD}/bunny.tar.gz: bunny/reconstruction/bun_zipper.ply",
        69_451,
        "064fed3f865b0ec9c8bc910ff63f17d740e658cf3617ad214f3f1e161c9d444b",
        "its rows are left out",
    ),
    SceneFile(
        "dragon.ply",
        f"{STANFORD}/dragon/dragon_recon.tar.gz: dragon_recon/dragon_vrip.ply",
        871_414,
        "4fb603bd155939112198213fdbec8007bd77034b5d55f40e4ed34107c6b6e00b",
        "its rows are left out",
    ),
    SceneFile(
        "forest.glb",
        "a forest of our own as glTF, by a script beside it; the built-in scene forest is not of this file",
        10_672,
        "f76c8ac731c5c516b78282d1131e301683b5b1fab2251c130647b3bb885d8843",
        "its row of the limits' textures is left out",
    ),
)
NOT_FREE = "not free; a stand-in of as many triangles, whose camera was sought until v, t and s agree"
OF_COUNTS = "not available; a stand-in of the same counts of triangles, instances and lights"
NO_GEOMETRY = "geometry not published; built after the description and the figure"
SCENES = (
    ReportScene("D, P2: Soda Hall", "building", NOT_FREE),
    ReportScene("D, P2: Forest", "forest", NOT_FREE),
    ReportScene("D, P2, T: Bunny", "bunny.ply", "the published model"),
    ReportScene("T: Dragon", "dragon.ply", "the published model"),
    ReportScene("D, P2: Cornell Box", "cornell", "the measured data of Cornell University"),
    ReportScene("D, P2: Teapotahedron", "teapotahedron", NO_GEOMETRY),
    ReportScene("D: Quake3", "chapel.bsp", "not free; a level of our own, part of this project"),
    ReportScene("D, P3: GLASS BALL", "glass_ball", NO_GEOMETRY),
    ReportScene("D, P3: RING", "ring", NO_GEOMETRY),
    ReportScene("D, P3: CORNELL BOX", "cornell_photons", NO_GEOMETRY),
    ReportScene("T: Sphere", "sphere", NO_GEOMETRY),
    *(
        ReportScene(f"A: {name}", scene, OF_COUNTS)
        for name, scene in {
            "Chair_wood": "chair",
            "PalmPC": "palm_pc",
            "Balls-1": "balls",
            "Knife": "knife",
            "SR71A": "jet",
            "Palace": "palace",
            "Hind24": "helicopter",
        }.items()
    ),
    ReportScene("Limits of the day: forest", "forest.glb", "a scene of our own"),
)


def digest(path: Path) -> tuple[int, str]:
    """The number of triangles of a file of one mesh, and the SHA-256 of `SceneFile`. Raises ViewerError."""
    scene = raystream.load(str(path))
    checksum = hashlib.sha256()
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
        triangles, checksum = digest(path)
    except ViewerError as error:
        return f"{OTHER}: {error.typed}"
    return RIGHT if (triangles, checksum) == (file.triangles, file.digest) else OTHER


def summary(folder: Path) -> tuple[list[str], bool]:
    """Lines on each scene of the report and each file in a folder of scene data; and whether no file that is there is
    another one. Raises ViewerError where the folder is none."""
    if not folder.is_dir():
        raise ViewerError(f"--scenes {folder}", "is no folder", "name the one that RAYSTREAM_SHARED is to name")
    lines = ["Scenes of the papers, and what shows them here:"]
    lines += [f"  {each.published}: {each.here}; {each.why}" for each in SCENES]
    states = {file.name: file_state(file, folder) for file in FILES}
    lines.append(f"Files in {folder / 'scenes'}:")
    for file in FILES:
        lines.append(f"  {file.name}: {states[file.name]}")
        lines.append(f"    from {file.source}")
        lines.append(f"    {file.triangles:,} triangles, SHA-256 of positions and triangles {file.digest}")
        if states[file.name] != RIGHT:
            lines.append(f"    without it: {file.otherwise}")
    return lines, not any(each.startswith(OTHER) for each in states.values())
