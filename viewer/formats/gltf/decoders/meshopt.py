"""Buffer views of EXT_meshopt_compression and KHR_meshopt_compression."""

from __future__ import annotations

from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.gltf.decoders import MESHOPT, decoder
from raystream.formats.gltf.json import JsonObject

# The extensions' names, and the filters of each; the one ratified later goes first.
_FILTERS = ("NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL")
NAMES = {"KHR_meshopt_compression": (*_FILTERS, "COLOR"), "EXT_meshopt_compression": _FILTERS}
# Strides supported by each filter; any multiple of 4 for the others.
_STRIDES = {"OCTAHEDRAL": (4, 8), "QUATERNION": (8,), "COLOR": (4, 8)}
_MOST = 1 << 40


class Packed:
    """The description of a compressed buffer view, checked against the extensions' rules; raises ViewerError.

    count elements of ``stride`` bytes each; ``mode`` and ``filter`` as in the file.
    """

    def __init__(self, view: JsonObject, extension: JsonObject, filters: tuple[str, ...]) -> None:
        self.where = extension.where
        self.count = extension.integer("count", high=_MOST)
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
    for name, filters in NAMES.items():
        extension = view.extension(name)
        if extension is not None:
            return extension, filters
    return None
