"""Damaged parts of a document that are left out, with a note, in place of refusing the file."""

from __future__ import annotations

from types import TracebackType

from raystream.base.errors import ViewerError
from raystream.formats.gltf.decoders import MissingExtra

_MOST_NAMED = 3


class Omissions:
    """The parts that a ``lenient`` reader leaves out; others leave none out.

    A part is read in ``with omissions:``, which a ViewerError ends for a lenient reader, unless for want of a decoder.
    """

    def __init__(self, lenient: bool) -> None:
        self.lenient = lenient
        self._faults: dict[str, ViewerError] = {}

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not self.lenient or not isinstance(error, ViewerError) or isinstance(error, MissingExtra):
            return False
        self._faults.setdefault(fault_text(error), error)
        return True

    @property
    def first(self) -> ViewerError | None:
        """The fault of the first part left out."""
        return next(iter(self._faults.values()), None)

    def notes(self) -> list[str]:
        """One line for each of the first parts, one for all others."""
        faults = list(self._faults)
        lines = [f"a damaged part is left out: {fault}" for fault in faults[:_MOST_NAMED]]
        return [
            *lines,
            *([f"{len(faults) - _MOST_NAMED:,} more damaged parts are left out"] if faults[_MOST_NAMED:] else []),
        ]


def fault_text(error: ViewerError) -> str:
    """Place and fault, without the file's name."""
    return f"{error.where.split(': ')[-1]}: {error.what}"
