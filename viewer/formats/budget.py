"""A memory budget by a file's size: limits the size that a small file unfolds to, before memory is taken."""

from __future__ import annotations

from viewer.base.errors import ViewerError

_FREE = 1 << 30
_EMPTY = 1 << 20
_PER_BYTE = 16


class Budget:
    """Memory budget of a file: 1 GiB, and 16 times its data. Accessors of glTF without a buffer view have a budget of
    1 MiB and 16 times the data: in real files zeros accompany data."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.left, self.empty = _FREE, _EMPTY

    def grant(self, size: int) -> None:
        """Add bytes of the file to the budget."""
        self.left += _PER_BYTE * size
        self.empty += _PER_BYTE * size

    def charge(self, size: int, empty: bool = False) -> None:
        """Charge bytes before their allocation, ``empty`` for those without a buffer view; raises ViewerError beyond
        the budget."""
        self.left -= size
        self.empty -= size if empty else 0
        if self.left < 0 or self.empty < 0:
            raise ViewerError(
                self.where,
                "expands to far more data than it holds",
                "the same data are used too often, or are damaged",
            )
