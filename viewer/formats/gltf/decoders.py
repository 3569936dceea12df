"""Decoders of compressed meshes and images, each through its library, one of ``raystream[gltf]``."""

from __future__ import annotations

import platform
import struct
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.gltf.json import JsonObject, MissingExtra
from raystream.formats.image.images import ImageHeader
from raystream.scene.texture import Image

# Module names; the packages of DracoPy and meshopt bear the same ones.
DRACO, MESHOPT, BASISU = "DracoPy", "meshopt", "opengl_basisu"

# Extension -> its decoder.
DECODERS = {
    "EXT_meshopt_compression": MESHOPT,
    "KHR_draco_mesh_compression": DRACO,
    "KHR_meshopt_compression": MESHOPT,
    "KHR_texture_basisu": BASISU,
}

_INSTALL = 'install it: pip install "raystream[gltf]"'
_NO_WHEEL = "there is none for Linux on ARM; convert the images to PNG"


def installed(module: str) -> bool:
    """Whether a decoder can be imported."""
    return find_spec(module) is not None


def decoder(module: str, where: str) -> ModuleType:
    """The decoder's module. Raises MissingExtra with the installation command."""
    try:
        return import_module(module)
    except ImportError:
        hint = _NO_WHEEL if module == BASISU and platform.machine() == "aarch64" else _INSTALL
        raise MissingExtra(where, f"needs the decoder {module}, which is not installed", hint) from None


# -- primitives of KHR_draco_mesh_compression --------------------------------------------------------------------------

DRACO_EXTENSION = "KHR_draco_mesh_compression"

# Memory of the decoder: per face with its corners and their table, per vertex and attribute.
_FACE_BYTES = 64
_VERTEX_BYTES = 16
_METADATA = 0x8000  # of the header's flags
_MAX_METADATA_DEPTH = 16


@dataclass
class DecodedGeometry:
    """indices (3 T,) int64, and the arrays (N, width) of the attributes, in their stored types, by glTF's names."""

    indices: NDArray[np.int64]
    attributes: dict[str, NDArray]


def decode_draco(extension: JsonObject, data: bytes, attributes: list[str]) -> DecodedGeometry:
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
        attribute_id = named.integer(name)
        if attribute_id not in stored:
            raise named.fail(name, f"names attribute {attribute_id}, and there are {sorted(stored)}")
        rows = stored[attribute_id]
        arrays[name] = rows.reshape(len(rows), -1)
    return DecodedGeometry(faces.astype(np.int64).ravel(), arrays)


def draco_size(extension: JsonObject, data: bytes) -> int:
    """Approximate memory of `decode` in bytes, from the counts in the data's header (Draco bitstream 2.2).

    Raises ViewerError for other data.
    """
    try:
        faces, vertices = _DracoHeader(data).counts()
    except (IndexError, ValueError) as error:
        raise extension.fail("bufferView", f"holds no mesh of Draco: {error}") from None
    return _FACE_BYTES * faces + _VERTEX_BYTES * vertices * len(extension.child("attributes").data)


class _DracoHeader:
    """Reads the header of Draco data."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

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
        """Skip metadata: entries of key and value, and nested ones."""
        if depth > _MAX_METADATA_DEPTH:
            raise ValueError("metadata are nested too deeply")
        for _ in range(self._varint()):
            self._take(self._take(1)[0])
            self._take(self._varint())
        for _ in range(self._varint()):
            self._take(self._take(1)[0])
            self._metadata(depth + 1)

    def _take(self, count: int) -> bytes:
        if count > len(self.data) - self.position:
            raise IndexError("it is cut off")
        self.position += count
        return self.data[self.position - count : self.position]

    def _varint(self) -> int:
        """The next integer, of seven bits a byte, the lowest first."""
        value = 0
        for shift in range(0, 35, 7):
            (byte,) = self._take(1)
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number is too long")


# -- buffer views of EXT_meshopt_compression and KHR_meshopt_compression -----------------------------------------------

# The extensions' names, and the filters of each; the one ratified later goes first.
_FILTERS = ("NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL")
MESHOPT_FILTERS = {"KHR_meshopt_compression": (*_FILTERS, "COLOR"), "EXT_meshopt_compression": _FILTERS}
# Strides supported by each filter; any multiple of 4 for the others.
_STRIDES = {"OCTAHEDRAL": (4, 8), "QUATERNION": (8,), "COLOR": (4, 8)}
_MAX_ELEMENTS = 1 << 40


class Packed:
    """The description of a compressed buffer view, checked against the extensions' rules; raises ViewerError.

    count elements of ``stride`` bytes each; ``mode`` and ``filter`` as in the file.
    """

    def __init__(self, view: JsonObject, extension: JsonObject, filters: tuple[str, ...]) -> None:
        self.where = extension.where
        self.count = extension.integer("count", high=_MAX_ELEMENTS)
        self.stride = extension.integer("byteStride", low=1, high=256)
        self.mode, self.filter = extension.text("mode"), extension.text("filter", "NONE")
        if self.mode not in ("ATTRIBUTES", "TRIANGLES", "INDICES"):
            raise extension.fail("mode", f"unknown: {short(self.mode)}", "expected ATTRIBUTES, TRIANGLES or INDICES")
        if self.filter not in filters:
            raise extension.fail("filter", f"unknown: {short(self.filter)}", f"expected one of {', '.join(filters)}")
        if self.mode == "ATTRIBUTES":
            if self.stride % 4:
                raise extension.fail("byteStride", f"{self.stride}, which is not a multiple of 4")
        elif self.stride not in (2, 4) or self.filter != "NONE":
            raise extension.fail("byteStride", f"{self.stride} with filter {self.filter}", "indices have 2 or 4, NONE")
        if self.mode == "TRIANGLES" and self.count % 3:
            raise extension.fail("count", f"{self.count:,} indices, not a multiple of 3")
        if self.stride not in _STRIDES.get(self.filter, (self.stride,)):
            raise extension.fail("byteStride", f"{self.stride}, which filter {self.filter} does not support")
        if view.integer("byteLength") != self.size:
            raise extension.fail(
                "count", f"{self.size:,} bytes, but the buffer view has {view.integer('byteLength'):,}"
            )

    @property
    def size(self) -> int:
        """Bytes once decompressed."""
        return self.count * self.stride

    def decode(self, data: bytes) -> bytes:
        """The buffer view's bytes. Raises MissingExtra without the decoder, ViewerError for damaged data."""
        library = decoder(MESHOPT, self.where)
        if not self.count:
            return b""

        try:
            return library.decode_gltf_buffer(data, self.count, self.stride, self.mode, self.filter).tobytes()
        except (ValueError, RuntimeError, MemoryError) as error:
            raise ViewerError(self.where, f"cannot be decompressed: {error}", "the file is damaged") from None


def packed_view(view: JsonObject) -> tuple[JsonObject, tuple[str, ...]] | None:
    """The extension's object of a buffer view and its filters; None for an uncompressed view."""
    for name, filters in MESHOPT_FILTERS.items():
        extension = view.extension(name)
        if extension is not None:
            return extension, filters
    return None


# -- images of KHR_texture_basisu: KTX 2 with Basis Universal (ETC1S or UASTC), decoded to RGBA ------------------------

_KTX2 = b"\xabKTX 20\xbb\r\n\x1a\n"
_HEADER_BYTES = 80  # bytes, the index of the parts included
_DECODER_TEXEL_BYTES = 8  # bytes for each texel: the decoder's own picture, and its copy
_LEVEL_BYTES = 24  # bytes of a level's entry: offset, stored length, length once decompressed


def is_basis(data: bytes) -> bool:
    """Whether it is a KTX 2 file."""
    return data.startswith(_KTX2)


def decode_basis(data: bytes, where: str, name: str = "image", factor: int = 1) -> Image:
    """The largest level of a KTX 2 file, or of a power of two as ``factor`` a smaller one.

    Raises MissingExtra without the decoder, and ViewerError, before decoding, for damaged data and other than 2-D
    pictures.
    """
    library = decoder(BASISU, where)
    basis_header(data, where)
    try:
        texture = library.open(data)
        texels = texture.transcode("rgba8", level=factor.bit_length() - 1).data
    except (ValueError, IndexError, MemoryError, library.BasisuError) as error:
        raise ViewerError(where, f"unreadable KTX 2 image: {error}", "the image is damaged") from None
    return Image(np.ascontiguousarray(texels, np.uint8), name)


def basis_header(data: bytes, where: str) -> ImageHeader:
    """Size and memory by the header (KTX 2.0, section 3), checked before the decoder allocates memory. Raises
    ViewerError for sizes that do not fit the data."""
    if len(data) < _HEADER_BYTES:
        raise ViewerError(where, f"{len(data)} bytes, shorter than the header of KTX 2", "the image is damaged")
    width, height, depth, layers, faces, levels = struct.unpack_from("<6I", data, 20)
    if depth or layers or faces != 1 or not width or not height:
        what = f"{width:,} x {height:,} x {depth:,} texels in {layers:,} layers of {faces:,} faces"
        raise ViewerError(where, what, "a texture of glTF has two dimensions, one layer and one face")
    count = max(levels, 1)
    if count > 32 or len(data) < _HEADER_BYTES + count * _LEVEL_BYTES:
        raise ViewerError(where, f"{levels:,} levels, but no index of them", "the image is damaged")
    for level in range(count):
        offset, stored, length = struct.unpack_from("<3Q", data, _HEADER_BYTES + level * _LEVEL_BYTES)
        # Blocks of 4 x 4 texels take 16 bytes at most; ETC1S says 0.
        blocks = -(-max(width >> level, 1) // 4) * -(-max(height >> level, 1) // 4)
        if offset + stored > len(data) or length > 16 * blocks:
            what = f"level {level} takes bytes {offset:,} .. {offset + stored:,} of {len(data):,}, and {length:,} later"
            raise ViewerError(where, what, "the image is damaged")
    hint = f"use a smaller image: {count} levels are stored"
    return ImageHeader(width, height, _DECODER_TEXEL_BYTES, scales=True, least=1 << (count - 1), hint=hint)
