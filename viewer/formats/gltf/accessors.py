"""Buffers, buffer views and accessors of glTF 2.0 (sections 3.6 and 5.1): bytes to arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.formats.files import Budget, decode_data_uri, read_file, resolve_uri
from raystream.formats.gltf.decoders import MESHOPT, Packed, installed, packed_view
from raystream.formats.gltf.json import JsonObject
from raystream.scene.mesh import quiet_nans

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_TYPES = {width: name for name, width in _WIDTHS.items()}


class Accessors:
    """The arrays of a document, each read once.

    Raises ViewerError for references out of range, data beyond the end of a buffer, and unavailable buffers.
    """

    def __init__(self, document: JsonObject, path: Path, binary: bytes | None, budget: Budget) -> None:
        self.accessors = document.objects("accessors")
        self.views = document.objects("bufferViews")
        self.buffers = document.objects("buffers")
        self.path = path
        self.binary = binary
        self.budget = budget
        self._bytes: dict[int, bytes] = {}
        self._unpacked: dict[int, bytes] = {}
        self._arrays: dict[tuple[int, bool], NDArray] = {}

    def floats(
        self, key: str, owner: JsonObject, widths: tuple[int, ...], normalize: bool = False
    ) -> NDArray[np.float32]:
        """The accessor of ``owner[key]``, as (count, width) float32.

        Normalised integers become -1 .. 1 or 0 .. 1 (3.6.2.2); ``normalize``: for all integers.
        """
        index = owner.index(key, len(self.accessors), "accessor")
        cached = self._arrays.get((index, normalize))
        if cached is None:
            raw, normalized = self._read(index)
            self.budget.charge(raw.size * 4)
            cached = _as_floats(raw, normalized or normalize)
            self._arrays[index, normalize] = cached
        if cached.shape[1] not in widths:
            expected = " or ".join(_TYPES[width] for width in widths)
            raise owner.fail(key, f"accessor {index} is {self.accessors[index].text('type')}, expected {expected}")
        return cached

    def indices(self, key: str, owner: JsonObject) -> NDArray[np.int64]:
        """The accessor of ``owner[key]``, as (count,) int64 vertex numbers."""
        return self.integers(key, owner, 1)[:, 0]

    def largest_index(self, key: str, owner: JsonObject) -> int:
        """The largest integer in the type of the accessor of ``owner[key]``: in OpenGL it restarts a primitive."""
        index = owner.index(key, len(self.accessors), "accessor")
        return int(np.iinfo(self._dtype(self.accessors[index])).max)

    def integers(self, key: str, owner: JsonObject, width: int) -> NDArray[np.int64]:
        """The accessor of ``owner[key]``, unsigned integers, as (count, width) int64."""
        index = owner.index(key, len(self.accessors), "accessor")
        raw, _ = self._read(index)
        if raw.shape[1] != width or raw.dtype.kind != "u":
            raise owner.fail(key, f"accessor {index} is not a {_TYPES[width]} of unsigned integers")
        self.budget.charge(raw.size * 8)
        return raw.astype(np.int64)

    def view_bytes(self, index: int) -> bytes:
        """The bytes of a buffer view."""
        buffer, start, length = self._range(index)
        return bytes(buffer[start : start + length])

    def packed(
        self, values: NDArray, key: str, owner: JsonObject, widths: tuple[int, ...], normalize: bool = False
    ) -> NDArray:
        """Values (N, width) of a decompressed mesh, checked and normalised like `floats` for the accessor
        ``owner[key]``."""
        accessor = self.accessors[owner.index(key, len(self.accessors), "accessor")]
        kind, normalized = self._dtype(accessor), accessor.flag("normalized", False)
        if values.shape[1] not in widths:
            raise owner.fail(key, f"was decompressed to {values.shape[1]} numbers each")
        self.budget.charge(values.size * 4)
        if values.dtype.kind != "f" and kind.kind != "f":
            values = values.astype(kind)
        return _as_floats(values, (normalized or normalize) and kind.kind != "f")

    def _read(self, index: int) -> tuple[NDArray, bool]:
        """(count, width) in the stored type, and whether integers are normalised."""
        accessor = self.accessors[index]
        kind = self._dtype(accessor)
        width = _WIDTHS.get(accessor.text("type"))
        if width is None:
            raise accessor.fail("type", f"expected SCALAR, VEC2 to VEC4 or MAT4, got '{accessor.text('type')[:20]}'")
        count = accessor.integer("count", low=0, high=1 << 40)
        if "bufferView" in accessor:
            raw = self._view(accessor, count, width, kind)
        else:
            self.budget.charge(count * width * kind.itemsize, empty=True)
            raw = np.zeros((count, width), kind)
        if "sparse" in accessor:
            raw = self._with_sparse(accessor.child("sparse"), raw)
        return raw, accessor.flag("normalized", False)

    def _dtype(self, owner: JsonObject) -> np.dtype:
        code = owner.integer("componentType")
        if code not in _COMPONENTS:
            raise owner.fail("componentType", f"unknown type {code}")
        return np.dtype(_COMPONENTS[code])

    def _view(self, owner: JsonObject, count: int, width: int, kind: np.dtype) -> NDArray:
        """A strided view of a buffer for an owner with ``bufferView`` and ``byteOffset``."""
        index = owner.index("bufferView", len(self.views), "buffer view")
        view = self.views[index]
        buffer, start, length = self._range(index)
        element = width * kind.itemsize
        stride = view.integer("byteStride", element, high=1 << 31) or element  # exporters write 0 for packed data
        if stride < element:
            raise view.fail("byteStride", f"{stride} is less than an element's {element} bytes")
        offset = owner.integer("byteOffset", 0)
        needed = offset + (count - 1) * stride + element if count else 0
        if needed > length:
            raise owner.fail("count", f"{count:,} elements end at byte {needed:,} of a buffer view of {length:,}")
        if not count:
            return np.zeros((0, width), kind)
        return np.ndarray((count, width), kind, buffer, start + offset, (stride, kind.itemsize))

    def _range(self, index: int) -> tuple[bytes, int, int]:
        """A buffer view's bytes: their container, first byte, and length."""
        view = self.views[index]
        packed = packed_view(view)
        if packed is not None and (installed(MESHOPT) or not self._has_fallback(view)):
            return self._unpack(index, Packed(view, *packed), packed[0]), 0, view.integer("byteLength")
        return self._slice(view)

    def _slice(self, owner: JsonObject) -> tuple[bytes, int, int]:
        buffer = self._buffer(owner.index("buffer", len(self.buffers), "buffer"))
        start, length = owner.integer("byteOffset", 0), owner.integer("byteLength")
        if start + length > len(buffer):
            raise owner.fail("byteLength", f"bytes {start:,} .. {start + length:,} of a buffer of {len(buffer):,}")
        return buffer, start, length

    def _unpack(self, index: int, packed: Packed, extension: JsonObject) -> bytes:
        if index not in self._unpacked:
            buffer, start, length = self._slice(extension)
            self.budget.charge(packed.size)
            self._unpacked[index] = packed.decode(buffer[start : start + length])
        return self._unpacked[index]

    def _has_fallback(self, view: JsonObject) -> bool:
        """Whether a compressed buffer view has an uncompressed fallback."""
        return "uri" in self.buffers[view.index("buffer", len(self.buffers), "buffer")]

    def _with_sparse(self, sparse: JsonObject, raw: NDArray) -> NDArray:
        """A copy of ``raw`` (count, width) with the elements that a sparse accessor replaces."""
        count = sparse.integer("count", low=0, high=1 << 40)
        index_data, values = sparse.child("indices"), sparse.child("values")
        indices = self._view(index_data, count, 1, self._dtype(index_data))[:, 0]
        if indices.dtype.kind != "u":
            raise index_data.fail("componentType", "indices must be unsigned integers")
        if count and int(indices.max()) >= len(raw):
            raise index_data.fail("bufferView", f"names element {int(indices.max())} of {len(raw)}")
        replacements = self._view(values, count, raw.shape[1], raw.dtype)
        self.budget.charge(raw.nbytes)
        raw = np.array(raw)
        raw[indices.astype(np.int64)] = replacements
        return raw

    def _buffer(self, index: int) -> bytes:
        """The bytes of a buffer, read once: the GLB file's own, a data URI's, or another file's."""
        if index in self._bytes:
            return self._bytes[index]
        buffer = self.buffers[index]
        length = buffer.integer("byteLength")
        uri = buffer.text("uri", None)
        where = buffer.path("uri")
        if uri is None:
            if index != 0 or self.binary is None:
                raise buffer.fail(
                    "uri", "is missing, and the file holds no data for it", "export the model with its data"
                )
            data = self.binary
        elif uri[:5].lower() == "data:":
            data = decode_data_uri(uri, where)
        else:
            data = read_file(resolve_uri(self.path.parent, uri, where), where)
        if len(data) < length:
            raise buffer.fail("byteLength", f"says {length:,} bytes, but there are {len(data):,}")
        self.budget.grant(length)
        self._bytes[index] = data[:length] if len(data) > length else data
        return self._bytes[index]


def _as_floats(raw: NDArray, normalized: bool) -> NDArray[np.float32]:
    """Values as float32; ``normalized`` integers as -1 .. 1 or 0 .. 1."""
    values = np.ascontiguousarray(raw, np.float32)
    if raw.dtype.kind == "f":
        return quiet_nans(values)
    if not normalized:
        return values
    largest = np.float32(np.iinfo(raw.dtype).max)
    return np.maximum(values / largest, np.float32(-1.0))
