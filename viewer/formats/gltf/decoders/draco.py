"""Primitives of KHR_draco_mesh_compression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.formats.gltf.decoders import DRACO, decoder
from raystream.formats.gltf.json import JsonObject

NAME = "KHR_draco_mesh_compression"

# Memory of the decoder: per face with its corners and their table, per vertex and attribute.
_FACE_BYTES = 64
_VERTEX_BYTES = 16
_METADATA = 0x8000  # of the header's flags
_DEEPEST = 16


@dataclass
class DecodedGeometry:
    """indices (3 T,) int64, and the arrays (N, width) of the attributes, in their stored types, by glTF's names."""

    indices: NDArray[np.int64]
    attributes: dict[str, NDArray]


def decode(extension: JsonObject, data: bytes, attributes: list[str]) -> DecodedGeometry:
    """The geometry of a primitive, with those of ``attributes`` in the extension.

    Raises MissingExtra without the decoder, ViewerError for damaged data and unknown attribute numbers.
    """
    library = decoder(DRACO, extension.where)
    try:
        mesh = library.decode(data)
        faces = np.asarray(getattr(mesh, "faces", None))
    except (ValueError, TypeError, RuntimeError, MemoryError, library.FileTypeException) as error:
        raise extension.fail("bufferView", f"cannot be decompressed: {str(error).lower()}") from None
    if faces.ndim != 2 or faces.dtype.kind not in "ui":
        raise extension.fail("bufferView", "holds points, not triangles")
    stored = {int(attribute["unique_id"]): np.asarray(attribute["data"]) for attribute in mesh.attributes}
    named = extension.child("attributes")
    arrays = {}
    for name in attributes:
        if name not in named:
            continue
        number = named.integer(name)
        if number not in stored:
            raise named.fail(name, f"names attribute {number}, and there are {sorted(stored)}")
        rows = stored[number]
        arrays[name] = rows.reshape(len(rows), -1)
    return DecodedGeometry(faces.astype(np.int64).ravel(), arrays)


def decoded_size(extension: JsonObject, data: bytes) -> int:
    """Approximate memory of `decode` in bytes, from the counts in the data's header (Draco bitstream 2.2).

    Raises ViewerError for other data.
    """
    try:
        faces, vertices = _Head(data).counts()
    except (IndexError, ValueError) as error:
        raise extension.fail("bufferView", f"holds no mesh of Draco: {error}") from None
    return _FACE_BYTES * faces + _VERTEX_BYTES * vertices * len(extension.child("attributes").data)


class _Head:
    """Reads the header of Draco data."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def counts(self) -> tuple[int, int]:
        """Faces and vertices that the decoder allocates."""
        if self._take(5) != b"DRACO":
            raise ValueError("it does not begin with 'DRACO'")
        major, minor, kind, method = self._take(4)
        if (major, minor) != (2, 2):
            raise ValueError(f"version {major}.{minor} of the bitstream, and 2.2 is known")
        if kind != 1 or method > 1:
            raise ValueError(f"geometry of kind {kind}, encoded by method {method}")
        if int.from_bytes(self._take(2), "little") & _METADATA:
            for _ in range(self._varint()):
                self._varint()
                self._metadata(0)
            self._metadata(0)
        if method == 0:  # sequential
            return self._varint(), self._varint()
        self._take(1)  # coding of Edgebreaker's symbols
        vertices, faces = self._varint(), self._varint()
        self._take(1)
        self._varint()
        return faces, vertices + self._varint()  # plus vertices added by splits

    def _metadata(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("metadata are nested too deeply")
        for _ in range(self._varint()):
            self._take(self._take(1)[0])
            self._take(self._varint())
        for _ in range(self._varint()):
            self._take(self._take(1)[0])
            self._metadata(depth + 1)

    def _take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise IndexError("it is cut off")
        self.at += count
        return self.data[self.at - count : self.at]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            (byte,) = self._take(1)
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number is too long")
