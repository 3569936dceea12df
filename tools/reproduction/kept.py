"""Results of units, kept in files so that an interrupted run goes on: JSON and arrays in one zip with checksums."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from raystream.base.errors import ViewerError
from raystream.base.part_file import begin


def digest(*values: Any) -> str:
    """A name for a key: of JSON values, tuples, paths and whatever has a text of its own."""
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def write_beside(path: Path, data: bytes) -> None:
    """Write a file beside its target, which it then replaces. Raises ViewerError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = begin(path)
        try:
            part.path.write_bytes(data)
            part.path.replace(path)
        finally:
            part.end()
    except OSError as error:
        raise ViewerError(str(path), f"cannot be written: {error.strerror or error}", "choose another -o") from None


def writable(folder: Path, figures: bool = True) -> None:
    """Make the folder of a report, and see that files can be written there. Raises ViewerError."""
    test = (folder / "figures" if figures else folder) / ".written"
    try:
        write_beside(test, b"")
        test.unlink(missing_ok=True)
    except ViewerError as error:
        raise ViewerError(f"-o {folder}", error.what, error.hint) from None


def save(path: Path, value: Any) -> None:
    """Write a value: None, bool, numbers, text, bytes, NumPy arrays and scalars, and lists, tuples and dicts
    (with text for keys) of them. Tuples come back as lists. Raises TypeError, ViewerError."""
    arrays: dict[str, Any] = {}
    text = json.dumps(encode(value, arrays))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, value=np.frombuffer(text.encode(), np.uint8), **arrays)
    write_beside(path, buffer.getvalue())


def read(path: Path) -> Any:
    """The value of `save`. Raises ViewerError for a damaged file, naming it."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        return decode(json.loads(found["value"].tobytes()), found)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
        hint = "remove it, and it is made again"
        raise ViewerError(str(path), f"kept result is damaged: {str(error) or type(error).__name__}", hint) from None
    except Exception as error:
        if type(error).__module__ == "zlib":
            hint = "remove it, and it is made again"
            raise ViewerError(str(path), f"kept result is damaged: {error}", hint) from None
        raise


def encode(value: Any, arrays: dict[str, Any]) -> Any:
    """A value as JSON; its arrays and bytes go into ``arrays``, by the names that stand for them. Raises TypeError."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [encode(each, arrays) for each in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"keys of a kept dict are texts, not {list(value)[:3]}")
        return {"dict": {key: encode(each, arrays) for key, each in value.items()}}
    if isinstance(value, bytes | np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else value
        if arrays[name].dtype.hasobject:
            raise TypeError("an array of objects cannot be kept")
        return {"bytes" if isinstance(value, bytes) else "array": name}
    raise TypeError(f"a {type(value).__name__} cannot be kept")


def decode(value: Any, arrays: dict[str, Any]) -> Any:
    """The value of `encode`."""
    if isinstance(value, list):
        return [decode(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {key: decode(each, arrays) for key, each in value["dict"].items()}
    if "bytes" in value:
        return arrays[value["bytes"]].tobytes()
    return arrays[value["array"]]
