"""Small scene files made by hand: a builder of glTF documents, and the bytes of one file of each format."""

from __future__ import annotations

import base64
import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

from raystream.formats import load
from raystream.scene.scene import Scene

# As in the conftest above, for tests that are made from lists of files.
SHARED = Path(os.environ.get("RAYSTREAM_SHARED", Path(__file__).resolve().parents[3] / "shared"))

COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

SQUARE = np.float32([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TWO = np.uint16([0, 1, 2, 0, 2, 3])


class Document:
    """A glTF document in the making: `json` is its dictionary, `data` its one buffer."""

    def __init__(self) -> None:
        self.data = b""
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [],
            "accessors": [],
            "bufferViews": [],
        }

    def view(self, data: bytes, stride: int | None = None) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        if stride:
            view["byteStride"] = stride
        self.json["bufferViews"].append(view)
        self.data += data
        return len(self.json["bufferViews"]) - 1

    def accessor(self, values: np.ndarray, stride: int | None = None, **more: Any) -> int:
        """An accessor of (N,) or (N, width) values in their own type."""
        values = np.asarray(values)
        rows = values.reshape(len(values), -1)
        packed = rows.astype(rows.dtype.newbyteorder("<"))
        size = rows.shape[1] * rows.dtype.itemsize
        data = b"".join(row.tobytes().ljust(stride or size, b"\xee") for row in packed)
        entry = {
            "bufferView": self.view(data, stride),
            "componentType": COMPONENTS[rows.dtype.str[1:]],
            "count": len(rows),
            "type": TYPES[rows.shape[1]],
            **more,
        }
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def mesh(self, attributes: dict[str, int], indices: int | None = None, **more: Any) -> int:
        primitive: dict[str, Any] = {"attributes": attributes, **more}
        if indices is not None:
            primitive["indices"] = indices
        self.json["meshes"].append({"primitives": [primitive]})
        return len(self.json["meshes"]) - 1

    def square(self, **more: Any) -> int:
        """A mesh of two triangles."""
        return self.mesh({"POSITION": self.accessor(SQUARE)}, self.accessor(TWO), **more)

    def gltf(self) -> bytes:
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        first = {"byteLength": len(self.data), "uri": uri}
        return json.dumps({**self.json, "buffers": [first, *self.json.get("buffers", [])[1:]]}).encode()

    def glb(self) -> bytes:
        first = {"byteLength": len(self.data)}
        text = json.dumps({**self.json, "buffers": [first, *self.json.get("buffers", [])[1:]]}).encode()
        text += b" " * (-len(text) % 4)
        data = self.data + b"\0" * (-len(self.data) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
        return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks

    def write(self, folder: Path, name: str = "scene.glb") -> Path:
        path = folder / name
        path.write_bytes(self.glb() if name.endswith(".glb") else self.gltf())
        return path


def load_bytes(name: str, folder: Path, data: bytes) -> Scene:
    """The scene of a file of this name and content."""
    path = folder / name
    path.write_bytes(data)
    return load(path)


# Codes of `struct` for PLY's types.
PLY_TYPES = {
    "char": "b",
    "uchar": "B",
    "short": "h",
    "ushort": "H",
    "int": "i",
    "uint": "I",
    "float": "f",
    "double": "d",
}


def ply(
    encoding: str, vertex: dict[str, tuple[str, list]], faces: list[list[int]], comment: str = "made here"
) -> bytes:
    """A PLY file: vertex properties as name -> (type, values); faces as lists of vertices."""
    count = len(next(iter(vertex.values()))[1])
    lines = ["ply", f"format {encoding} 1.0", f"comment {comment}", f"element vertex {count}"]
    lines += [f"property {kind} {name}" for name, (kind, _) in vertex.items()]
    lines += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header", ""]
    header = "\n".join(lines).encode()
    rows = list(zip(*(values for _, values in vertex.values()), strict=True))
    if encoding == "ascii":
        body = "".join(" ".join(repr(v) for v in row) + "\n" for row in rows)
        body += "".join(" ".join(map(str, [len(face), *face])) + "\n" for face in faces)
        return header + body.encode()
    order = "<" if "little" in encoding else ">"
    pattern = order + "".join(PLY_TYPES[kind] for kind, _ in vertex.values())
    data = b"".join(struct.pack(pattern, *row) for row in rows)
    return header + data + b"".join(struct.pack(f"{order}B{len(face)}i", len(face), *face) for face in faces)


def stl(corners: np.ndarray, header: bytes = b"made here") -> bytes:
    """Binary STL of (T, 3, 3) corners."""
    facets = b"".join(struct.pack("<12fH", 0, 0, 0, *triangle.ravel(), 7) for triangle in np.asarray(corners))
    return header.ljust(80, b"\0") + struct.pack("<I", len(corners)) + facets


def ascii_stl(corners: np.ndarray) -> bytes:
    lines = ["solid made here"]
    for triangle in np.asarray(corners, np.float64):
        lines += ["  facet normal 0 0 0", "    outer loop"]
        lines += [f"      vertex {x!r} {y!r} {z!r}" for x, y, z in triangle.tolist()]
        lines += ["    endloop", "  endfacet"]
    return "\n".join([*lines, "endsolid made here", ""]).encode()


OBJ = b"""# a square of a quad, and a triangle
mtllib colors.mtl
o thing
v 0 0 0
v 1 0 0 1 0.5 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0.25
vn 0 0 1
g first
usemtl red
f 1/1/1 2/2/1 3/1/1 4/2/1
g second
usemtl blue
s 1
f -4//1 \\
  -3//1 -1//1
l 1 2
"""
MTL = b"newmtl red\nKd 1 0 0\nNs 98\nmap_Kd red.png\nnewmtl blue\nKd 0 0 1\nKe 1 2 3\nd 0.5\n"

# Colours and texture coordinates of faces, of which one line has a value too many.
FACES = b"""ply
format ascii 1.0
comment TextureFile none.png
element vertex 3
property double x
property double y
property double z
element face 2
property list uchar int vertex_indices
property list uchar float texcoord
property int texnumber
property uchar red
property uchar green
property uchar blue
end_header
500000.3 4649777.1 0
500001 4649777 0 7
500000 4649778 0
3 0 1 2 6 0 0 1 0 0 1 0 255 0 0
3 2 1 0 6 0 0 1 0 0 1 0 0 0 255
"""


def samples() -> dict[str, bytes]:
    """A small valid file of every format and encoding, by name."""
    full = Document()
    full.mesh(
        {
            "POSITION": full.accessor(SQUARE, stride=16),
            "NORMAL": full.accessor(np.tile(np.int8([0, 0, 127, 0]), (4, 1))[:, :3], stride=4, normalized=True),
            "TEXCOORD_0": full.accessor(SQUARE[:, :2]),
            "COLOR_0": full.accessor(np.full((4, 4), 128, np.uint8), normalized=True),
        },
        full.accessor(TWO),
        material=0,
    )
    full.json["materials"] = [{"name": "m", "pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 1]}}]
    full.json["nodes"] = [
        {"mesh": 0, "rotation": [0, 0.6, 0, 0.8], "scale": [1, 2, -1], "children": [1]},
        {"camera": 0, "translation": [0, 0, 5]},
    ]
    full.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}]
    vertex = {
        "x": ("float", [0.0, 1.0, 1.0, 0.0]),
        "y": ("double", [0.0, 0.0, 1.0, 1.0]),
        "z": ("float", [0.0, 0.0, 0.0, 0.0]),
        **dict.fromkeys(("red", "green", "blue"), ("uchar", [255, 0, 7, 9])),
    }
    faces = [[0, 1, 2], [0, 1, 2, 3]]
    corners = SQUARE[TWO].reshape(-1, 3, 3)
    return {
        "square.gltf": full.gltf(),
        "square.glb": full.glb(),
        "ascii.ply": ply("ascii", vertex, faces),
        "little.ply": ply("binary_little_endian", vertex, faces),
        "big.ply": ply("binary_big_endian", vertex, faces),
        "faces.ply": FACES,
        "cloud.ply": ply("binary_little_endian", vertex, []),
        "square.obj": OBJ,
        "cloud.obj": b"v 500000.3 4649777.1 1\nv 500001 4649778 2 1 0 0\nv 500000 4649777 2\np 1 -1\nl 1 2 3\n",
        "binary.stl": stl(corners),
        "ascii.stl": ascii_stl(corners),
    }
