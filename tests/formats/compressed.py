"""glTF documents that are compressed by Draco and meshopt, and KTX 2 images; tests without the packages skip."""

from __future__ import annotations

import base64
import struct
import zlib
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from documents import SQUARE, TWO, Document

COLORS = np.uint8([[255, 0, 0, 255], [0, 255, 0, 128], [0, 0, 255, 64], [9, 8, 7, 6]])


def extra(module: str) -> Any:
    if find_spec(module) is None:
        import pytest  # tools/fuzz.py makes documents without it

        pytest.skip(f'{module} is not installed: pip install "raystream[gltf]"')
    return import_module(module)


def draco(order: bool = True, **more: Any) -> Document:
    """The square, compressed in its own order: exactly representable positions, and attributes of all kinds."""
    data = extra("DracoPy").encode(
        SQUARE,
        TWO.reshape(-1, 3).astype(np.uint32),
        preserve_order=order,
        normals=np.tile([0.0, 0.0, 1.0], (4, 1)),
        tex_coord=SQUARE[:, :2].astype(float),
        colors=COLORS,
        generic_attributes={7: np.tile(np.float32([1, 0, 0, -1]), (4, 1))},
        **more,
    )
    stored = {each["attribute_type"]: each["unique_id"] for each in extra("DracoPy").decode(data).attributes}
    doc = Document()
    names = {"POSITION": (0, SQUARE), "NORMAL": (1, SQUARE), "COLOR_0": (2, COLORS), "TEXCOORD_0": (3, SQUARE[:, :2])}
    names["TANGENT"] = (4, np.zeros((4, 4), np.float32))
    attributes = {name: doc.accessor(like, normalized=like.dtype.kind == "u") for name, (_, like) in names.items()}
    indices = doc.accessor(TWO)
    for accessor in doc.json["accessors"]:
        del accessor["bufferView"]
    packed = {"bufferView": doc.view(data), "attributes": {name: stored[kind] for name, (kind, _) in names.items()}}
    doc.mesh(attributes, indices, extensions={"KHR_draco_mesh_compression": packed})
    doc.json["extensionsUsed"] = doc.json["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    return doc


def packed_view(doc: Document, rows: np.ndarray, mode: str, name: str = "EXT_meshopt_compression", **more: Any) -> int:
    """A compressed buffer view over a second buffer that has no data."""
    library = extra("meshopt")
    raw = rows if mode == "ATTRIBUTES" else rows.reshape(-1)
    data = more.pop("data", None) or library.encode_gltf_buffer(raw, mode)
    source = doc.view(data)
    stored = doc.json["bufferViews"][source]
    count, stride = len(raw), raw.nbytes // len(raw)
    packed = {"buffer": 0, "byteOffset": stored["byteOffset"], "byteLength": len(data), "count": count}
    packed |= {"byteStride": stride, "mode": mode, **more}
    doc.json["bufferViews"][source] = {"buffer": 1, "byteLength": raw.nbytes, "extensions": {name: packed}}
    return source


def meshopt(name: str = "EXT_meshopt_compression") -> Document:
    doc = Document()
    normals = extra("meshopt").encode_filter_oct(np.tile(np.float32([0, 0, 1, 1]), (4, 1)), 4, 8)
    views = [
        packed_view(doc, SQUARE, "ATTRIBUTES", name),
        packed_view(doc, normals, "ATTRIBUTES", name, filter="OCTAHEDRAL"),
        packed_view(doc, TWO, "TRIANGLES", name),
    ]
    kinds = ((5126, "VEC3", 4, {}), (5120, "VEC3", 4, {"normalized": True}), (5123, "SCALAR", 6, {}))
    doc.json["bufferViews"][views[1]]["byteStride"] = 4
    doc.json["accessors"] = [
        {"bufferView": view, "componentType": kind, "type": shape, "count": count, **more}
        for view, (kind, shape, count, more) in zip(views, kinds, strict=True)
    ]
    doc.mesh({"POSITION": 0, "NORMAL": 1}, 2)
    doc.json["extensionsUsed"] = doc.json["extensionsRequired"] = [name]
    doc.json["buffers"] = [{}, {"byteLength": 1 << 20, "extensions": {name: {"fallback": True}}}]
    return doc


def ktx2(blocks: np.ndarray, *smaller: np.ndarray, size: tuple[int, int] | None = None) -> bytes:
    """A KTX 2 file of UASTC blocks (H, W, 4) uint8 of one colour each: mode 8, whose code is 10111; and of smaller
    levels. size : (width, height) in texels, where the last blocks are not whole."""
    levels = []
    for each in (blocks, *smaller):
        bits = [0x17 | int.from_bytes(bytes(color), "little") << 5 for color in each.reshape(-1, 4).tolist()]
        levels.append(b"".join(word.to_bytes(16, "little") for word in bits))
    sample = struct.pack("<HBB4xII", 0, 127, 3, 0, (1 << 32) - 1)
    block = struct.pack("<IHH4B4B8B", 0, 2, 40, 166, 1, 2, 0, 3, 3, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0)
    description = struct.pack("<I", 4 + len(block) + len(sample)) + block + sample
    index = 80 + 24 * len(levels)
    start = -(-(index + len(description)) // 16) * 16
    width, height = size or (4 * blocks.shape[1], 4 * blocks.shape[0])
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 0, 1, width, height, 0, 0, 1, len(levels), 0)
    head += struct.pack("<4I2Q", index, len(description), 0, 0, 0, 0)
    places = [start + sum(map(len, levels[k + 1 :])) for k in range(len(levels))]  # the smallest one comes first
    head += b"".join(struct.pack("<3Q", at, len(each), len(each)) for at, each in zip(places, levels, strict=True))
    return (head + description).ljust(start, b"\0") + b"".join(reversed(levels))


def supercompressed(file: bytes, level: bytes) -> bytes:
    """A KTX 2 file of one level, with that level compressed by Zstandard in place of its own."""
    start, length, _ = struct.unpack_from("<3Q", file, 80)
    return (
        file[:44]
        + struct.pack("<I", 2)
        + file[48:80]
        + struct.pack("<3Q", start, len(level), length)
        + file[104:start]
        + level
    )


BLOCKS = np.random.default_rng(0).integers(0, 256, (2, 3, 4), np.uint8)
TEXELS = BLOCKS.repeat(4, axis=0).repeat(4, axis=1)

# The level of `ktx2(BLOCKS)`, by Zstandard 1.5.
ZSTANDARD = bytes.fromhex(
    "28b52ffd20606501004402f74b50381b00f779fd61140037e43a5b100017bf17a208001717bdd9090037b5a74f0100065406000701"
)

# Four blocks of one colour each, as ETC1S, by the encoder of Basis Universal 1.16 (`basisu -ktx2 -q 255`); deflated.
ETC1S_COLORS = np.uint8([[[200, 40, 40], [40, 180, 60]], [[30, 60, 220], [230, 200, 40]]])
ETC1S = zlib.decompress(
    base64.b85decode(
        b"c-mX-9TK5nWU!l;ONxsD2pEBw1BzjQ5ea7iu?`SV0b&&(-T_rJ6-xUuLTDxiRG`BE6W3r^%*e#R%#18+4`=-c0(l?}bXIv$W=U!h"
        b"gHvL0X0bwOUS?TpQE_69f}x(FDFXuw12cmOP#rIl*$fPrcFQ|lX#hIOVFLe*8yyi0fk2H63<}o+rg0>2HGmXw>~eHxNdWtuf#p<F"
        b"OpQG2npLY-{Q|lpJTx?vmEoWZ#H3I0y$mxTzH?yW6i{>kv4oa!FsMP~1soU>1Oe3OFcb"
    )
)
