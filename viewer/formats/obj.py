"""Wavefront OBJ with MTL materials: polygons, relative indices, continued lines, vertex colours."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import helper, run
from raystream.formats.files import read_file, referenced_file, short, unquoted
from raystream.formats.mtl import MAX_BYTES, read_mtl, read_textures
from raystream.formats.polygons import triangulate
from raystream.formats.text import (
    SMALL,
    at_word_end,
    decoded,
    doubled,
    integer,
    number,
    skip_blanks,
    skip_word,
    with_newlines,
    without_mark,
)
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.geometry.quadrics import Quadrics, line_radius, point_radius
from raystream.scene.geometry.vertices import centred, finite_uvs, weld
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import linear_from_srgb

# -- the compiled scanner ----------------------------------------------------------------------------------------------


def _words(text: bytes) -> np.ndarray:
    """Words as rows of 16 bytes, padded with zeros."""
    return np.array([list(word.ljust(16, b"\0")) for word in text.split()], np.uint8)


_SILENT_WORDS = _words(
    b"g o s mg lod shadow_obj trace_obj bevel c_interp d_interp usemap maplib vp cstype deg bmat step "
    b"parm trim hole scrv sp end con ctech stech"
)
_OMITTED_WORDS = _words(b"curv curv2 surf call csh bsp bzp cdc cdp res")
_MATERIAL_WORDS = _words(b"usemtl mtllib")


@helper
def _match_word(data, at, after, words):
    """The row of the matching word, or -1."""
    if after - at > 16:
        return -1
    for row in range(len(words)):
        k = 0
        while k < 16 and words[row, k] == (data[at + k] if at + k < after else 0):
            k += 1
        if k == 16:
            return row
    return -1


FACE, LINE, POINT = range(3)
ARRAY_FULL = 7  # no fault: an array is full
MISSING_INDEX = 1 << 40  # in place of a relative index of a texture vertex or normal, of which there is none before it


@helper
def _numbers(data, at, end, values):
    """Numbers to the end of the line or a comment: (their count, the end); count -1 for anything else.

    Only the first len(values) are stored.
    """
    count = 0
    while True:
        at = skip_blanks(data, at, end)
        if at >= end or data[at] == 10 or data[at] == 35:
            return count, at
        value, after = number(data, at, end)
        if after < 0 or not at_word_end(data, after, end):
            return -1, at
        if count < len(values):
            values[count] = value
        count += 1
        at = after


@helper
def _face(data, at, end, counts, corners, filled):
    """Corners to the end of the line: (filled, end, fault)."""
    while True:
        at = skip_blanks(data, at, end)
        if at >= end or data[at] == 10 or data[at] == 35:
            return filled, at, 0
        if filled == len(corners):
            return filled, at, ARRAY_FULL
        for column in range(3):
            corners[filled, column] = -1
        for column in range(3):
            if column == 1 and at < end and data[at] == 47:  # v//vn
                at += 1
                continue
            if column > 0 and at_word_end(data, at, end):  # 'v/' and 'v/vt/' occur in some programs' files
                break
            value, after = integer(data, at, end)
            if after < 0:
                return filled, at, 3
            if value == 0:
                return filled, at, 4
            if value < 0:
                value += counts[column] + 1
                if value <= 0 and column > 0 and counts[column] == 0:
                    value = MISSING_INDEX
                elif value <= 0:
                    return filled, at, 5
            corners[filled, column] = value - 1
            at = after
            if at_word_end(data, at, end):
                break
            if data[at] != 47 or column == 2:
                return filled, at, 3
            at += 1
        if not at_word_end(data, at, end):
            return filled, at, 3
        filled += 1


CORNERS = 3  # index of that array among these


def arrays():
    """The output arrays of `scan`, sized for a small file."""
    numbers = np.empty((1024, 6)), np.empty((1024, 2)), np.empty((1024, 3))
    return *numbers, np.empty((4096, 3), np.int64), np.empty((1024, 3), np.int64), np.empty((16, 4), np.int64)


def scan(data, at, vertices, texcoords, normals, corners, faces, events, counts, values):
    """Scan an OBJ file with continued lines joined, from its beginning or from where an array was full.

    data (N,) uint8. Output arrays, filled from the first row: vertices (., 6) float64: position and colour (NaN without
    one); texcoords (., 2); normals (., 3); corners (., 3) int64: numbers from 0 of vertex, texture vertex, normal (-1:
    none); faces (., 3) int64: corners of each, its byte in the file, and FACE, LINE or POINT; events (., 4) int64:
    mtllib or usemtl, its text's first byte and end, and the number of faces before it. counts (8,) int64, incremented:
    rows of each of these, ignored statements, unknown ones. values (8,) float64: scratch. Returns the number of a fault
    or 0 or FULL, and its byte.
    """
    end = len(data)
    fault = 0
    while at < end:
        start = at
        if (
            counts[0] == len(vertices)
            or counts[1] == len(texcoords)
            or counts[2] == len(normals)
            or counts[4] == len(faces)
            or counts[5] == len(events)
        ):
            return ARRAY_FULL, start
        at = skip_blanks(data, at, end)
        if at >= end:
            break
        if data[at] == 10:
            at += 1
            continue
        after = skip_word(data, at, end)
        length = after - at
        first = data[at]
        if first == 35:
            pass
        elif first == 118 and length == 1:  # v
            count, after = _numbers(data, after, end, values)
            if count < 3:
                fault, at = (1 if count < 0 else 2), after
                break
            shift = 1 if count == 7 else 0  # x y z w r g b
            for k in range(3):
                vertices[counts[0], k] = values[k]
                vertices[counts[0], 3 + k] = values[3 + shift + k] if count == 6 or count == 7 else np.nan
            counts[0] += 1
        elif first == 118 and length == 2 and data[at + 1] == 116:  # vt
            values[1] = 0.0
            count, after = _numbers(data, after, end, values)
            if count < 1:
                fault, at = (1 if count < 0 else 2), after
                break
            texcoords[counts[1], 0], texcoords[counts[1], 1] = values[0], values[1]
            counts[1] += 1
        elif first == 118 and length == 2 and data[at + 1] == 110:  # vn
            count, after = _numbers(data, after, end, values)
            if count < 3:
                fault, at = (1 if count < 0 else 2), after
                break
            for k in range(3):
                normals[counts[2], k] = values[k]
            counts[2] += 1
        elif (  # f, and the old fo; l; p
            (first == 102 and (length == 1 or (length == 2 and data[at + 1] == 111)))
            or (first == 108 and length == 1)
            or (first == 112 and length == 1)
        ):
            faces[counts[4], 1] = at
            faces[counts[4], 2] = FACE if first == 102 else (LINE if first == 108 else POINT)
            filled, after, fault = _face(data, after, end, counts, corners, counts[3])
            if fault:
                at = start if fault == ARRAY_FULL else after
                break
            faces[counts[4], 0] = filled - counts[3]
            counts[3] = filled
            counts[4] += 1
        elif _match_word(data, at, after, _MATERIAL_WORDS) >= 0:
            event = events[counts[5]]
            event[0] = 1 if first == 109 else 0
            event[1] = after
            while after < end and data[after] != 10:
                after += 1
            event[2] = after
            event[3] = counts[4]
            counts[5] += 1
        elif _match_word(data, at, after, _OMITTED_WORDS) >= 0:
            counts[6] += 1
        elif _match_word(data, at, after, _SILENT_WORDS) < 0:
            for k in range(at, after):
                if data[k] < 32 or data[k] == 127:
                    fault = 6
            if fault:
                break
            counts[7] += 1
        at = after
        while at < end and data[at] != 10:
            at += 1
    return fault, at


# -- the reader --------------------------------------------------------------------------------------------------------

NAME = "OBJ"

_FIRST_WORDS = set(b"v vt vn vp f l p g o s mtllib usemtl".split())

_FAULTS = {
    1: "a coordinate is not a number",
    2: "'v' needs three numbers, 'vn' three and 'vt' one",
    3: "a corner of a face is not 'v', 'v/vt', 'v//vn' or 'v/vt/vn'",
    4: "index 0: numbers begin at 1",
    5: "a relative index goes back before the first",
    6: "holds bytes that are not text",
}


def sniff(head: bytes, path: Path) -> bool:
    """Whether the first statement, with its numbers, is a possible OBJ beginning."""
    if b"\0" in head:
        return False
    for line in head.splitlines()[:200]:
        words = line.split()
        if words and not words[0].startswith(b"#"):
            if words[0] in (b"v", b"vt", b"vn", b"f"):
                return len(words) > 1 and words[1][:1] in b"-+.0123456789"
            return words[0] in _FIRST_WORDS
    return False


def read(path: Path, lenient: bool = False, max_texture: int | None = None) -> Scene:
    """The scene as one mesh, regardless of the file's objects and groups: triangles in the file's order. Points and
    lines are meshes of their own, as are all vertices of a file that has nothing else.

    Materials come from MTL files in the file's own folder; others are skipped with a warning. The origin of texture
    coordinates moves from lower to upper left. Vertex colours ('v x y z r g b') are sRGB and become linear. Smoothing
    groups are ignored: missing normals are computed by crease angle. Raises ViewerError with the line.
    """
    data = _join_continued_lines(_text(path))
    if b"\0" in data:
        raise ViewerError(str(path), "holds bytes that are not text", "the file is damaged or not OBJ")
    (vertices, texcoords, normals, corners, faces, events), counts, fault, offset = _scan(data)
    lengths, face_offsets, kinds = faces.T
    omitted, unknown = int(counts[6]), int(counts[7])
    if fault:
        raise ViewerError(f"{path}: {_line_name(path, offset)}", _FAULTS[fault], "the file is damaged or not OBJ")
    if unknown and not len(vertices):
        raise ViewerError(str(path), "holds no vertices", "it is damaged or not OBJ")
    warnings: list[str] = []
    if omitted:
        warnings.append(f"{omitted:,} curves or surfaces were left out")
    if unknown:
        warnings.append(f"{unknown:,} lines with unknown statements were left out")
    _drop_missing_attributes(corners, texcoords, normals, warnings)
    _check_range(corners, lengths, face_offsets, (len(vertices), len(texcoords), len(normals)), path)
    materials, of_face = _materials(data, events, len(lengths), path, warnings)
    textures = read_textures(materials, path.parent, warnings, lenient, max_texture)
    positions, transform = centred(vertices[:, :3])
    vertices[:, :3] = positions
    scene = Scene([], [], materials, name=path.stem, warnings=warnings, textures=textures)
    points_only = not len(kinds) and not omitted and len(vertices) > 0
    for points in _points_and_lines(vertices, corners, lengths, kinds, of_face, points_only):
        scene.instances.append(Instance(len(scene.meshes), transform))
        scene.meshes.append(points)
    if scene.meshes:
        corners, polygons = corners[np.repeat(kinds == FACE, lengths)], kinds == FACE
        lengths, of_face = lengths[polygons], of_face[polygons]
        if not len(lengths):
            return scene
    degenerate = int(np.count_nonzero(lengths < 3))
    if degenerate:
        warnings.append(f"{degenerate:,} faces with fewer than three corners were left out")

    triangles, polygon, tangled = triangulate(positions, corners[:, 0], lengths)
    if tangled:
        warnings.append(f"{tangled:,} polygons cross themselves too often to be cut well")
    mesh = _mesh(vertices, texcoords, normals, corners, triangles, warnings)
    mesh.name = path.stem
    mesh.materials = np.ascontiguousarray(of_face[polygon], np.int32)
    scene.meshes.insert(0, mesh)
    scene.instances = [Instance(index, transform) for index in range(len(scene.meshes))]
    return scene


def _scan(data: bytes) -> tuple[list[NDArray], NDArray[np.int64], int, int]:
    """The results of `scan`: its arrays, counts, the number of a fault or 0, and its byte."""
    buffers, counts, values, at = list(arrays()), np.zeros(8, np.int64), np.empty(8), 0
    text = np.frombuffer(data, np.uint8)
    while True:
        fault, at = run(scan, text, at, *buffers, counts, values, small=len(data) < SMALL)
        rows = zip(buffers, counts.tolist(), strict=False)
        if fault != ARRAY_FULL:
            return [array[:count] for array, count in rows], counts, fault, at
        full = [count == len(array) for array, count in rows]
        full[CORNERS] |= not any(full)  # a face has more corners than there is room
        buffers = [doubled(array) if fills else array for array, fills in zip(buffers, full, strict=True)]


def _text(path: Path) -> bytes:
    """The file's lines, each ended by a newline."""
    return with_newlines(without_mark(read_file(path)))


def _join_continued_lines(data: bytes) -> bytes:
    """The text with continued lines joined; byte offsets are unchanged.

    A comment does not continue, nor does a character of two bytes (Shift JIS), the second of which is a backslash.
    """
    if b"\\" not in data:
        return data
    out: bytearray | None = None
    for match in _CONTINUED.finditer(data):
        at = match.start()
        start = data.rfind(b"\n", 0, at) + 1
        if data[at - 1 : at] < b"\x80" and not _COMMENT.search(data, start, at):
            out = bytearray(data) if out is None else out
            out[at : match.end()] = b" " * len(match[0])
    return data if out is None else bytes(out)


_CONTINUED, _COMMENT = re.compile(rb"\\[ \t]*\n"), re.compile(rb"(?:^|\s)#", re.MULTILINE)


def _line_name(path: Path, at: int) -> str:
    """The line number of a byte of the text."""
    return f"line {_text(path).count(10, 0, at) + 1}"


def _floats(values: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # overflows become infinite, and are counted later
        return values.astype(np.float32)


def _drop_missing_attributes(corners: NDArray, texcoords: NDArray, normals: NDArray, warnings: list[str]) -> None:
    """Take texture vertices and normals out of corners that name some where the file has none at all."""
    for column, rows, word in ((1, texcoords, "texture vertices"), (2, normals, "normals")):
        if not len(rows) and len(corners) and int(corners[:, column].max()) >= 0:
            corners[:, column] = -1
            warnings.append(f"faces name {word}, of which the file has none; they are left out")


def _check_range(
    corners: NDArray, lengths: NDArray, face_at: NDArray, counts: tuple[int, int, int], path: Path
) -> None:
    for column, (label, count) in enumerate(zip(("vertex", "texture vertex", "normal"), counts, strict=True)):
        if len(corners) and int(corners[:, column].max()) >= count:
            first_bad = int(np.argmax(corners[:, column] >= count))
            face = int(np.searchsorted(np.cumsum(lengths), first_bad, "right"))
            what = f"names {label} {corners[first_bad, column] + 1} of {count:,}"
            if corners[first_bad, column] + 1 == MISSING_INDEX:
                what = f"{_FAULTS[5]} {label}"
            raise ViewerError(f"{path}: {_line_name(path, int(face_at[face]))}", what, "the file is damaged")


def _mesh(
    vertices: NDArray, texcoords: NDArray, normals: NDArray, corners: NDArray, triangles: NDArray, warnings: list[str]
) -> Mesh:
    """Vertices are the file's; with texture coordinates or normals at corners, one per combination."""
    source = corners[:0]
    with_uv = bool((corners[:, 1] >= 0).any())
    with_normal = bool((corners[:, 2] >= 0).any())
    if with_normal and (corners[:, 2] < 0).any():
        with_normal = False
        warnings.append("only some faces have normals; all are recomputed")
    if with_uv or with_normal:
        corner_rows = corners[triangles.ravel()].astype(np.int32)
        if not with_normal:
            corner_rows[:, 2] = -1
        indices, first = weld(corner_rows.view(np.uint32), small=len(corner_rows) < SMALL)
        faces, source = indices.reshape(-1, 3), corner_rows[first]
        vertices = vertices[source[:, 0]]
    else:
        faces = corners[:, 0].astype(np.int32)[triangles]
    mesh = Mesh(_floats(vertices[:, :3]), faces)
    if with_uv:
        uvs = np.zeros((len(source), 2))
        has_uv = source[:, 1] >= 0
        uvs[has_uv] = texcoords[source[has_uv, 1]]
        uvs = finite_uvs(uvs, warnings)
        uvs[:, 1] = 1.0 - uvs[:, 1]
        mesh.uvs = _floats(uvs)
    if with_normal:
        mesh.normals, mended = unit_normals(mesh.positions, mesh.triangles, normals[source[:, 2]])
        if mended:
            warnings.append(f"{mended:,} vertices have a normal without direction; recomputed from their faces")
    mesh.colors = _colors(vertices)
    return mesh


def _colors(vertices: NDArray) -> NDArray[np.float32] | None:
    """(V, 4) linear of vertices (V, 6), white where they have no colour; None where none has."""
    colored = np.isfinite(vertices[:, 3:]).all(axis=1)
    if not colored.any():
        return None
    rgb = np.where(colored[:, None], np.maximum(vertices[:, 3:], 0.0), 1.0)
    scale = 255.0 if rgb.max() > 1.0 else 1.0
    rgba = np.ones((len(rgb), 4), np.float32)
    rgba[colored, :3] = linear_from_srgb(np.minimum(rgb[colored] / scale, 1.0))
    return rgba


def _points_and_lines(
    vertices: NDArray, corners: NDArray, lengths: NDArray, kinds: NDArray, of_face: NDArray[np.int32], points_only: bool
) -> list[Quadrics]:
    """Meshes of the points ('p') and of the lines ('l') that there are; of all vertices with ``points_only``."""
    positions, colors = _floats(vertices[:, :3]), _colors(vertices)
    if points_only:
        return [Quadrics.spheres(positions, point_radius(positions), colors)]
    meshes = []
    kind, material = np.repeat(kinds, lengths), np.repeat(of_face, lengths)
    indices = corners[kind > LINE, 0]
    if len(indices):
        points = positions[indices]
        mesh = Quadrics.spheres(points, point_radius(points), None if colors is None else colors[indices])
        mesh.materials = material[kind > LINE][mesh.triangles[:, 0]]
        meshes.append(mesh)
    row = np.repeat(np.arange(len(lengths)), lengths)
    first = np.flatnonzero((kind[:-1] == LINE) & (row[1:] == row[:-1]))
    if len(first):
        lines = np.stack([corners[first, 0], corners[first + 1, 0]], axis=1).astype(np.int32)
        for index in np.unique(material[first]).tolist():
            mesh = Quadrics.cylinders(
                positions, lines[material[first] == index], line_radius(positions[lines.ravel()]), colors
            )
            mesh.materials = np.full(len(mesh.triangles), index, np.int32)
            meshes.append(mesh)
    return [mesh for mesh in meshes if len(mesh.triangles)]


def _materials(
    data: bytes, events: NDArray, faces: int, path: Path, warnings: list[str]
) -> tuple[list[Material], NDArray[np.int32]]:
    """The scene's materials, and the index of each face's. The first is for faces before any 'usemtl'."""
    library: dict[str, Material] = {}
    opened: set[str] = set()
    names: list[str] = []
    starts: list[int] = []
    for is_library, begin, end, face in events:
        text = decoded(data[begin:end].strip())
        if is_library:
            if text and text not in opened:
                opened.add(text)
                _read_library(text, path, library, warnings)
        else:
            names.append(text)
            starts.append(int(face))
    indices = {name: k + 1 for k, name in enumerate(dict.fromkeys(names))}
    materials = [Material()]
    missing = [name for name in indices if name not in library]
    for name in indices:
        materials.append(library.get(name) or Material(name=name))
    if missing and opened:
        warnings.append(f"materials not found, grey instead: {', '.join(short(name, 30) for name in missing[:5])}")
    of_face = np.zeros(faces, np.int32)
    ends = [*starts[1:], faces] if starts else []
    for name, start, end in zip(names, starts, ends, strict=True):
        of_face[start:end] = indices[name]
    if indices and not (of_face == 0).any():  # the placeholder is unused
        materials, of_face = materials[1:], of_face - np.int32(1)
    return materials, of_face


def _read_library(text: str, path: Path, library: dict[str, Material], warnings: list[str]) -> None:
    """Read MTL files by the whole text as a name, by its quoted parts, or by its words; only from the scene's own
    folder."""
    faults: list[str] = []
    words = tuple(map(unquoted, re.findall(r'"[^"]+"|\S+', text)))
    for names in dict.fromkeys(((text,), words)):
        faults = []
        for name in names:
            try:
                file = referenced_file(path.parent, name, str(path))
                content = read_file(file, max_bytes=MAX_BYTES + 1)
            except ViewerError as error:
                faults.append(f"mtllib not read: {error.what}")
                continue
            for material in read_mtl(content, file.name, warnings):
                library[material.name] = material
        if len(faults) < len(names):
            break
    warnings.extend(faults)
