"""Traces of references as files: a NumPy archive (.npz) with a head and pieces of references, read piece by piece.

head.npy : the head as JSON text in UTF-8 bytes: "format", "version", "references", and what the writer tells of the
           machine, scene and layout. codes_000000.npy ... : (N,) int64 as of `reproduction.simulators.references`,
           differences to the reference before, the first of a piece to 0: they pack to a fifth.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.part_file import begin
from reproduction.simulators.references import KINDS

FORMAT, VERSION = "raystream trace", 1
HINT = "write the trace again"


def save(path: str | Path, chunks: Iterable[NDArray[np.int64]], head: dict[str, Any] | None = None) -> int:
    """Write a trace beside its name, which it then takes; the number of references.

    head : JSON values by names of their own. Raises ViewerError where the file cannot be written.
    """
    path, total, number = Path(path), 0, 0
    try:
        part = begin(path)
        try:
            with zipfile.ZipFile(part.path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
                for codes in chunks:
                    _write(file, f"codes_{number:06}", np.diff(codes, prepend=np.int64(0)))
                    total, number = total + len(codes), number + 1
                known = {"format": FORMAT, "version": VERSION, "references": total, "pieces": number}
                text = json.dumps({**(head or {}), **known})
                _write(file, "head", np.frombuffer(text.encode(), np.uint8))
            part.path.replace(path)
        finally:
            part.end()
    except OSError as error:
        raise ViewerError(f"trace {path}", f"cannot be written: {error.strerror or error}") from None
    return total


def _write(file: zipfile.ZipFile, name: str, array: NDArray) -> None:
    with file.open(f"{name}.npy", "w", force_zip64=True) as stream:
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)


def read_head(path: str | Path) -> dict[str, Any]:
    """The head of a trace. Raises ViewerError for a file that is no trace, damaged, or of another version."""
    with _opened(path) as file:
        return _head(path, file)


def read(path: str | Path) -> Iterator[NDArray[np.int64]]:
    """The references of a trace, piece by piece. Raises ViewerError, as `read_head` does, and for pieces that are
    missing, do not add up, or hold what is no reference."""
    with _opened(path) as file:
        head = _head(path, file)
        total = 0
        for number in range(head["pieces"]):
            name = f"codes_{number:06}"
            codes = np.cumsum(_array(path, file, name, np.int64), dtype=np.int64)
            if len(codes) and (codes.min() < 0 or (codes & 7).max() >= len(KINDS)):
                raise ViewerError(f"trace {path}", f"{name} holds what is no reference", HINT)
            total += len(codes)
            yield codes
        if total != head["references"]:
            what = f"has {total:,} references where its head says {head['references']:,}"
            raise ViewerError(f"trace {path}", what, HINT)


def _opened(path: str | Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except OSError as error:
        raise ViewerError(f"trace {path}", f"cannot be read: {error.strerror or error}") from None
    except zipfile.BadZipFile:
        raise ViewerError(f"trace {path}", "is no trace, or is cut off", HINT) from None


def _head(path: str | Path, file: zipfile.ZipFile) -> dict[str, Any]:
    try:
        head = json.loads(_array(path, file, "head", np.uint8).tobytes())
        numbers = head["references"], head["pieces"]
        if head["format"] != FORMAT or not all(type(each) is int and each >= 0 for each in numbers):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise ViewerError(f"trace {path}", "has no head of a trace", HINT) from None
    if head["version"] != VERSION:
        raise ViewerError(f"trace {path}", f"is of version {head['version']}, not {VERSION}", HINT)
    return head


def _array(path: str | Path, file: zipfile.ZipFile, name: str, kind: type) -> NDArray:
    try:
        with file.open(f"{name}.npy") as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
            if stream.read(1) or array.ndim != 1 or array.dtype != kind:
                raise ValueError
            return array
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error, NotImplementedError):
        raise ViewerError(f"trace {path}", f"{name} is missing or damaged", HINT) from None
