"""PLY, the Stanford polygon format (Turk 1994): ASCII and binary of both endians, any properties and elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import read_file, referenced_file, short
from raystream.formats.image.images import MODELLERS, read_image
from raystream.formats.image.memory import ImageMemory
from raystream.formats.ply_elements import DAMAGED, AsciiReader, BinaryReader, Element, Header, Lists, read_header
from raystream.formats.polygons import triangulate
from raystream.formats.text import SMALL, decoded, without_mark
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.geometry.quadrics import Quadrics, line_radius, point_radius
from raystream.scene.geometry.vertices import centred, finite_uvs, weld
from raystream.scene.material import Material
from raystream.scene.mesh import Float, Mesh, quiet_nans
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture, linear_from_srgb

# -- attributes of PLY files: colours and texture coordinates of vertices and of faces, and textures -------------------

_UVS = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texcoord_u", "texcoord_v"), ("s0", "t0"))
_COLORS = (
    ("red", "green", "blue", "alpha"),
    ("diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"),
    ("r", "g", "b", "a"),
)
_CORNER_UVS = ("texcoord", "texcoords", "tex_coord", "uv")
_TEXTURE_NUMBERS = ("texnumber", "texture_number")
# Floats of colours beyond this are of 0 to 255, and whole ones beyond 1.
_BRIGHTEST = 32.0


@dataclass
class Faces:
    """Faces: their corners' vertex numbers; colors (F, 4) linear; uvs, two for each corner; textures (F,), numbers."""

    corners: Lists
    colors: Float | None = None
    uvs: NDArray | None = None
    textures: NDArray | None = None

    @property
    def attributes(self) -> bool:
        """Whether there are any besides the corners."""
        return self.colors is not None or self.uvs is not None


def faces_of(reader: AsciiReader | BinaryReader, element: Element, indices: str, warnings: list[str]) -> Faces:
    """The faces of an element, whose list of vertex numbers is named; other properties are told."""
    kinds = {p.name: p.type for p in element.properties if not p.length_type}
    uvs = next((p.name for p in element.properties if p.name in _CORNER_UVS and p.length_type), None)
    textures = next((name for name in _TEXTURE_NUMBERS if name in kinds), None)
    colors = next((names for names in _COLORS if all(name in kinds for name in names[:3])), ())
    columns, lists = reader.several(
        element, (indices,) if uvs is None else (indices, uvs), bool(colors) or textures is not None
    )
    faces = Faces(lists[0], colors_of(columns, kinds, warnings))
    if uvs is not None and (lists[1].lengths == 2 * lists[0].lengths).all():
        faces.uvs = np.asarray(lists[1].values, np.float64).reshape(-1, 2)
    elif uvs is not None:
        other = lists[1].lengths != 2 * lists[0].lengths
        if lists[1].lengths.any():
            warnings.append(f"{int(other.sum()):,} faces lack texture coordinates for their corners; none are used")
    faces.textures = columns[textures] if textures is not None else None
    used = {indices, uvs, textures, *colors}
    unused = [p.name for p in element.properties if p.name not in used]
    if unused:
        warnings.append(f"properties of faces left out: {', '.join(short(name, 30) for name in unused[:5])}")
    return faces


def columns_of(columns: dict[str, NDArray], names: Sequence[str]) -> Float | None:
    """(N, len(names)) float32, or None if one is missing."""
    if not all(name in columns for name in names):
        return None
    out = np.empty((len(columns[names[0]]), len(names)), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # overflows become infinite, and are counted later
        for k, name in enumerate(names):
            out[:, k] = columns[name]
    return quiet_nans(out)


def vertex_uvs(vertex: dict[str, NDArray], warnings: list[str]) -> Float | None:
    """(V, 2), their origin at the upper left instead of the lower one."""
    for names in _UVS:
        uvs = columns_of(vertex, names)
        if uvs is not None:
            uvs = finite_uvs(uvs, warnings)
            uvs[:, 1] = np.float32(1) - uvs[:, 1]
            return uvs
    return None


def colors_of(columns: dict[str, NDArray], types: dict[str, str], warnings: list[str]) -> Float | None:
    """(N, 4) linear; None without.

    Integers are sRGB of 0 to their type's largest; those of more than 8 bits of 0 to 255 where none is larger. Floats
    are linear of 0 to 1, but sRGB of 0 to 255 where they are whole numbers of that range, or beyond any light of a
    picture.
    """
    for names in _COLORS:
        if not all(name in columns for name in names[:3]):
            continue
        present = [name for name in names if name in columns]
        if all(columns[name].dtype == np.uint8 for name in present):  # the usual case, by a table
            return _of_bytes([columns[name] for name in present])
        values = np.ones((len(columns[names[0]]), 4))
        for k, name in enumerate(present):
            column = columns[name]
            values[:, k] = quiet_nans(column) if column.dtype.kind == "f" else column
        values = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
        kind = np.dtype(types[names[0]])
        rgb = values[:, :3]
        most = float(rgb.max(initial=0.0))
        if kind.kind == "f":
            integral = bool((rgb == np.floor(rgb)).all())
            scale = 255.0 if most <= 255.0 and (most > _BRIGHTEST or (integral and most > 1.0)) else None
            if scale is not None:
                warnings.append(f"colours up to {most:g} are taken for sRGB of 0 to 255")
        else:
            limits = [255.0, 65535.0, float(np.iinfo(kind).max)] if kind.itemsize > 1 else [float(np.iinfo(kind).max)]
            scale = next((limit for limit in limits if most <= limit), limits[-1]) if most else limits[-1]
            scale = min(scale, float(np.iinfo(kind).max))
        if scale is not None:
            rgb[:] = linear_from_srgb(np.minimum(rgb / scale, 1.0))
            if len(present) > 3:
                values[:, 3] = np.minimum(values[:, 3] / scale, 1.0)
        return np.minimum(values, np.finfo(np.float32).max).astype(np.float32)
    return None


def _of_bytes(columns: list[NDArray]) -> Float:
    linear = np.arange(256) / 255.0
    tables = np.stack([linear_from_srgb(linear), linear]).astype(np.float32)
    colors = np.ones((len(columns[0]), 4), np.float32)
    for k, column in enumerate(columns):
        colors[:, k] = tables[int(k == 3)][column]
    return colors


def with_attributes(
    mesh: Mesh, normals: Float | None, faces: Faces, corners: NDArray, polygon: NDArray, warnings: list[str]
) -> tuple[Mesh, Float | None]:
    """The mesh, and its vertices' normals, with a vertex for each combination of attributes at corners.

    corners (T, 3): numbers of corners of triangles, the mesh's first ones; polygon (T,): their faces. Triangles behind
    these have the vertices' attributes. Of colours of faces and of vertices those are used that differ.
    """
    order = mesh.triangles.ravel()
    count = 3 * len(corners)
    rows = [order.astype(np.uint32)[:, None]]
    uvs = colors = None
    if faces.uvs is not None:
        flipped = np.array([0.0, 1.0]) + np.array([1.0, -1.0]) * finite_uvs(faces.uvs, warnings)
        uvs = np.zeros((len(order), 2), np.float32) if mesh.uvs is None else mesh.uvs[order]
        uvs[:count] = flipped[corners.ravel()]
        rows.append(uvs.view(np.uint32))
    if faces.colors is not None and (mesh.colors is None or not _one(faces.colors) or _one(mesh.colors)):
        colors = np.ones((len(order), 4), np.float32) if mesh.colors is None else mesh.colors[order]
        colors[:count] = np.repeat(faces.colors[polygon], 3, axis=0)
        rows.append(colors.view(np.uint32))
    number, first = weld(np.ascontiguousarray(np.concatenate(rows, axis=1)), small=len(order) < SMALL)
    source = order[first]
    mesh = Mesh(
        mesh.positions[source],
        number.reshape(-1, 3),
        mesh.materials,
        uvs=uvs[first] if uvs is not None else None if mesh.uvs is None else mesh.uvs[source],
        colors=colors[first] if colors is not None else None if mesh.colors is None else mesh.colors[source],
        name=mesh.name,
    )
    if faces.textures is not None:
        chosen = np.zeros(len(mesh.triangles), np.int32)
        chosen[: len(corners)] = np.clip(np.nan_to_num(faces.textures), 0, 1 << 20).astype(np.int32)[polygon]
        mesh.materials = chosen
    return mesh, None if normals is None else normals[source]


def _one(rows: NDArray) -> bool:
    """Whether all rows are alike."""
    return bool((rows == rows[:1]).all())


def textured(
    mesh: Mesh, names: list[str], folder: Path, warnings: list[str], lenient: bool, max_texture: int | None
) -> tuple[list[Material], list[Texture]]:
    """The materials of a mesh and their textures, one for each file named; the mesh's numbers of materials are numbers
    of textures, and its colours are left out where a texture has them."""
    if not names or mesh.uvs is None:
        mesh.materials = np.zeros_like(mesh.materials)
        if names:
            warnings.append(f"texture {short(names[0])} is left out: no vertex and no face has texture coordinates")
        if mesh.colors is not None:
            return [Material(base_color=(1.0, 1.0, 1.0, 1.0))], []
        return [Material()], []
    memory, textures, materials, readable = ImageMemory(max_texture), list[Texture](), list[Material](), True
    for name in names:
        try:
            image = read_image(memory, read_file(referenced_file(folder, name, name), name), name, name, MODELLERS)
        except ViewerError as error:
            readable = False
            image = Image.checkerboard(name) if lenient else Image.white(name)
            instead = "a checkerboard" if lenient else "white"
            warnings.append(f"texture {short(name)} not read, {instead} instead: {error.what}")
        materials.append(Material(name, (1.0, 1.0, 1.0, 1.0), texture=len(textures)))
        textures.append(Texture(image, name=name))
    mesh.materials = np.minimum(mesh.materials, len(names) - 1)
    if mesh.colors is not None and readable:
        mesh.colors = None
        warnings.append("colours of vertices and faces are left out: the texture has them")
    return materials, textures


def points_or_lines(positions: Float, edges: dict[str, NDArray], colors: Float | None, name: str) -> Quadrics:
    """Cylinders along the edges, which name two vertices each; spheres around the vertices without any."""
    if "vertex1" in edges and "vertex2" in edges:
        lines = np.stack([edges["vertex1"], edges["vertex2"]], axis=1).astype(np.int64)
        lines = lines[((lines >= 0) & (lines < len(positions))).all(axis=1)].astype(np.int32)
        mesh = Quadrics.cylinders(positions, lines, line_radius(positions), colors, name)
        if len(mesh.triangles):
            return mesh
    return Quadrics.spheres(positions, point_radius(positions), colors, name)


NAME = "PLY"

NO_TRIANGLES = np.zeros((0, 3), np.int32)
_INDICES = ("vertex_indices", "vertex_index")


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with the line 'ply'."""
    return head[:3] == b"ply" and head[3:4] in (b"\n", b"\r", b" ", b"\t", b"")


def read(path: Path, lenient: bool = False, max_texture: int | None = None) -> Scene:
    """The scene of one mesh.

    Vertices: x, y, z; nx, ny, nz; colours; s, t or u, v. Faces with any number of corners are triangulated in the
    file's order, with colours, and with texture coordinates of corners; tristrips too. The pictures of `comment
    TextureFile` are textures. A file without faces is of points, or of the lines between them that element 'edge'
    names. Raises ViewerError for malformed or truncated files.
    """
    data = without_mark(read_file(path))
    header = read_header(data, path)
    warnings: list[str] = []
    if header.unknown:
        first = short(header.unknown[0], 40)
        warnings.append(
            f"{len(header.unknown):,} lines of the header are no statements and left out, the first: {first}"
        )
    vertex, face, strips, edges = _read_elements(data, header, path, warnings)
    if vertex is None:
        raise ViewerError(str(path), "has no element 'vertex'", "it holds no geometry")
    if not all(name in vertex for name in "xyz"):
        raise ViewerError(f"{path}: element vertex", "lacks x, y or z", "it holds no geometry")
    # Of single floats alone nothing is lost by float32.
    single = all(vertex[name].dtype.itemsize == 4 and vertex[name].dtype.kind == "f" for name in "xyz")
    kind = np.float32 if single else np.float64
    positions, place = centred(np.stack([quiet_nans(vertex[name]).astype(kind) for name in "xyz"], axis=1))
    mesh = Mesh(positions, np.zeros((0, 3), np.int32), name=path.stem)
    mesh.colors, mesh.uvs = colors_of(vertex, header.types("vertex"), warnings), vertex_uvs(vertex, warnings)
    normals = columns_of(vertex, ("nx", "ny", "nz"))
    triangles = []
    cut = None
    if face is not None:
        cut = _cut_faces(face.corners, positions, path, warnings)
        # Where all are triangles their corners are the file's own.
        vertex_numbers = face.corners.values
        triangles.append((vertex_numbers.reshape(-1, 3) if cut is None else vertex_numbers[cut[0]]).astype(np.int32))
    if strips is not None:
        triangles.append(_cut_strips(strips, len(positions), path).astype(np.int32))
    faces = np.concatenate(triangles) if len(triangles) > 1 else triangles[0] if triangles else NO_TRIANGLES
    if not (face and len(face.corners.lengths)) and not (strips and len(strips.lengths)) and len(positions):
        mesh = points_or_lines(positions, edges, mesh.colors, path.stem)
        materials, _ = textured(mesh, [], path.parent, warnings, lenient, max_texture)
        return Scene([mesh], [Instance(0, place)], materials, name=path.stem, warnings=warnings)
    mesh.triangles, mesh.materials = faces, np.zeros(len(faces), np.int32)
    if face is not None and face.attributes:
        corners, polygon = _whole_triangles(face.corners) if cut is None else cut
        mesh, normals = with_attributes(mesh, normals, face, corners, polygon, warnings)
    if normals is not None:
        mesh.normals, mended = unit_normals(mesh.positions, mesh.triangles, normals)
        if mended:
            warnings.append(f"{mended:,} vertices have a normal without direction; recomputed from their faces")
    names = [decoded(name) for name in header.textures]
    materials, textures = textured(mesh, names, path.parent, warnings, lenient, max_texture)
    return Scene([mesh], [Instance(0, place)], materials, name=path.stem, warnings=warnings, textures=textures)


def _read_elements(
    data: bytes, header: Header, path: Path, warnings: list[str]
) -> tuple[dict[str, NDArray] | None, Faces | None, Lists | None, dict[str, NDArray]]:
    """The vertices' columns, the faces, the lists of vertices of strips, and the columns of edges; later elements are
    not read."""
    reader = AsciiReader(data, header, path) if header.encoding == "ascii" else BinaryReader(data, header, path)
    used = {"vertex", "face", "tristrips", "edge"}
    last = max((i for i, element in enumerate(header.elements) if element.name in used), default=-1)
    vertex: dict[str, NDArray] | None = None
    face: Faces | None = None
    strips: Lists | None = None
    edges: dict[str, NDArray] = {}
    for element in header.elements[: last + 1]:
        if element.name == "vertex":
            vertex = reader.columns(element)
            continue
        if element.name == "edge":
            edges = reader.columns(element)
            continue
        if element.name not in used:
            reader.skip(element)
            continue
        name = next((p.name for p in element.properties if p.name in _INDICES and p.length_type), None)
        if name is None and element.count:
            raise ViewerError(
                f"{path}: element {element.name}", "has no list 'vertex_indices'", "its corners are not known"
            )
        if name is None:
            empty = Lists(np.zeros(0, np.int64), np.zeros(0, np.int64))
            face, strips = (Faces(empty), strips) if element.name == "face" else (face, empty)
        elif element.name == "tristrips":
            strips = reader.lists(element, name)
        else:
            face = faces_of(reader, element, name, warnings)
    for name, lines in reader.longer.items():
        if lines:
            warnings.append(f"{lines:,} lines of element {name} have more values than it declares, which are left out")
    return vertex, face, strips, edges


_Cut = tuple[NDArray[np.int64], NDArray[np.int64]]


def _cut_faces(face: Lists, positions: NDArray, path: Path, warnings: list[str]) -> _Cut | None:
    """Triangles as numbers of corners (T, 3), and the face of each (T,); None where all faces are triangles, see
    `_whole_triangles`."""

    def name(at: int) -> str:
        return f"face {int(np.searchsorted(np.cumsum(face.lengths), at, 'right')):,}"

    _check(face.values, len(positions), name, path)
    if (face.lengths == 3).all():
        return None
    thin = int(np.count_nonzero(face.lengths < 3))
    if thin:
        warnings.append(f"{thin:,} faces with fewer than three corners were left out")
    triangles, polygon, tangled = triangulate(positions, face.values.astype(np.int64), face.lengths)
    if tangled:
        warnings.append(f"{tangled:,} polygons cross themselves too often to be cut well")
    return triangles, polygon


def _whole_triangles(face: Lists) -> _Cut:
    """`_cut_faces` where it cuts nothing."""
    return np.arange(len(face.values)).reshape(-1, 3), np.arange(len(face.lengths))


def _cut_strips(strips: Lists, count: int, path: Path) -> NDArray[np.int64]:
    """Triangle strips; -1 or a new list begins a new one; every second triangle is reversed."""
    values = np.asarray(strips.values).astype(np.int64)
    values[strips.values == -1] = -1
    values = np.insert(values, np.cumsum(strips.lengths)[:-1], -1)
    ends = values == -1
    _check(values[~ends], count, lambda at: f"tristrips: entry {at:,}", path)
    number = np.arange(len(values))
    nth = number - np.maximum.accumulate(np.where(ends, number, -1)) - 1  # position in its strip
    last = np.flatnonzero(~ends & (nth >= 2))
    odd = (nth[last] % 2).astype(bool)
    a, b, c = values[last - 2], values[last - 1], values[last]
    # Strips are joined by repeated vertices: their degenerate triangles are dropped.
    real = (a != b) & (b != c) & (c != a)
    return np.stack([a, np.where(odd, c, b), np.where(odd, b, c)], axis=1)[real]


def _check(values: NDArray, count: int, name: Callable[[int], str], path: Path) -> None:
    """Raises ViewerError for a number of no vertex; ``name`` describes its position."""
    first = -1
    if len(values) and (int(values.min()) < 0 or int(values.max()) >= count):
        first = int(np.argmax((values < 0) | (values >= count)))
    if first >= 0:
        raise ViewerError(f"{path}: {name(first)}", f"names vertex {values[first]} of {count:,}", DAMAGED)
