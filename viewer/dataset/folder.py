"""The folder of a dataset: files written whole, and a manifest of the pictures that are done.

The manifest has a line for the recipe and one for each picture, written once all of its files are there: other files of
a killed process are made again. At the end its lines are put in the pictures' order. A file that does not begin with
such a line is somebody else's, and stays as it is. Each picture's line ends with a checksum of itself and the recipe: a
damaged one, or another recipe's, is no picture.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from raystream.base.errors import ViewerError
from raystream.base.version import __version__
from raystream.dataset.fields import echo
from raystream.dataset.picture import FinishedPicture
from raystream.dataset.stage import DatasetStage
from raystream.dataset.writers import WRITERS
from raystream.film.files.image import write_whole

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

MANIFEST = "manifest.jsonl"
OTHER_OR_DELETE = "give another folder with -o, or delete this one"
NEW_FOLDER = "give a new folder with -o"
CHECKSUM = "checksum"  # of a picture's line, its last key


class DatasetFolder:
    """A dataset's folder, held by this process alone. done : the records of finished pictures, by their numbers."""

    def __init__(self, path: Path, stage: DatasetStage, manifest: BinaryIO) -> None:
        self.path, self.stage, self._manifest = path, stage, manifest
        self.done: dict[int, Mapping[str, Any]] = {}
        self._head = {"recipe": stage.digest, "raystream": __version__}

    def resume_from_manifest(self) -> None:
        """Fill ``done`` with the finished pictures of the manifest, and cut off a line that was not finished; an empty
        manifest gets its first line. Raises ViewerError for another recipe's, and for a file that is no manifest."""
        data = (self.path / MANIFEST).read_bytes()
        first, _, _ = data.partition(b"\n")
        head = _manifest_head(first + b"\n") if len(first) < len(data) else None
        cut_head = _json_line(self._head).startswith(data)  # of a process killed at its start
        if head is None and (self._has_other_files or not cut_head):
            raise ViewerError(str(self.path), f"holds other files: its {MANIFEST} is no dataset's", NEW_FOLDER)
        if head is None or (head != self._head and not self._has_other_files):
            self._manifest.truncate(0)  # of another recipe there is no picture
            self._append(self._head)
            return
        self._check_head(head)
        self._manifest.truncate(data.rfind(b"\n") + 1)
        for line in data.splitlines(keepends=True)[1:]:
            record = self._record(line)
            if record is not None and self._has_files(record):
                self.done[record["number"]] = record

    @property
    def _has_other_files(self) -> bool:
        """Whether the folder holds more than the manifest."""
        return any(entry.name != MANIFEST for entry in self.path.iterdir())

    def _check_head(self, head: Mapping[str, Any]) -> None:
        """Raise ViewerError for a manifest of another version or recipe. head : its first line."""
        for key, what in (("raystream", "another version"), ("recipe", "another recipe, or other models")):
            if head.get(key) != self._head[key]:
                raise ViewerError(str(self.path), f"holds pictures of {what}", OTHER_OR_DELETE)

    def _record(self, line: bytes) -> dict[str, Any] | None:
        """The record of a picture in its line of the manifest; None if that is damaged, or of another recipe."""
        record = _json_object(line)
        if record is None or record.pop(CHECKSUM, None) != self._checksum(record):
            return None
        return record if record["number"] < self.stage.recipe.pictures else None

    def _checksum(self, record: Mapping[str, Any]) -> str:
        return hashlib.blake2b(_json_line(record), key=self.stage.digest.encode(), digest_size=8).hexdigest()

    def _has_files(self, record: Mapping[str, Any]) -> bool:
        """Whether all of a picture's files are there, in their sizes."""
        try:
            return all(os.path.getsize(self.path / name) == size for name, size in record["files"].items())
        except OSError:
            return False

    def add(self, picture: FinishedPicture) -> None:
        """Write a picture's files, and then its line. Raises ViewerError where they cannot be written."""
        for name, data in picture.files.items():
            self._write(name, data)
        record = {**picture.record, "files": {name: len(data) for name, data in picture.files.items()}}
        self._append(self._with_checksum(record))
        self.done[picture.index] = record

    def finish(self) -> None:
        """Write the formats' lists of all pictures, and the manifest again, in the order of its pictures."""
        records = [self.done[index] for index in sorted(self.done)]
        for name in self.stage.recipe.formats:
            for path, data in WRITERS[name].lists(self.stage, records).items():
                self._write(path, data)
        lines = [self._head, *map(self._with_checksum, records)]
        self._manifest.close()  # Windows renames onto no open file
        self._write(MANIFEST, b"".join(_json_line(record) for record in lines))

    def _with_checksum(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**record, CHECKSUM: self._checksum(record)}

    def _write(self, name: str, data: bytes) -> None:
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ViewerError(str(target.parent), f"cannot be made: {error.strerror}") from None
        write_whole(target, lambda path: path.write_bytes(data))

    def _append(self, record: Mapping[str, Any]) -> None:
        """Append a line to the manifest, on the disk when this returns; raises ViewerError with nothing appended."""
        end, line = self._manifest.seek(0, os.SEEK_END), _json_line(record)
        try:
            if self._manifest.write(line) < len(line):  # a full disk takes a part, without an error
                raise OSError(ENOSPC, os.strerror(ENOSPC))
            os.fsync(self._manifest.fileno())
        except OSError as error:
            with suppress(OSError):
                self._manifest.truncate(end)
            raise ViewerError(str(self.path / MANIFEST), f"cannot be written: {error.strerror}") from None


@contextmanager
def open_folder(path: str, stage: DatasetStage) -> Iterator[DatasetFolder]:
    """Create or reopen the folder of a dataset, locked for this process until the context ends. Raises ViewerError for
    a folder of other things or another recipe's, one that another process holds, and one that cannot be written."""
    folder = Path(path)
    try:
        occupied = folder.exists()
        if occupied and not folder.is_dir():
            raise ViewerError(echo(path), "is a file", "give a folder with -o")
        occupied = occupied and any(folder.iterdir())
        if occupied and (not (folder / MANIFEST).is_file() or (folder / MANIFEST).is_symlink()):
            raise ViewerError(path, "holds other files", NEW_FOLDER)
        folder.mkdir(exist_ok=True)
        manifest = os.fdopen(os.open(folder / MANIFEST, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ViewerError(echo(path), f"cannot be a dataset's folder: {reason}", "give another one with -o") from None
    with manifest:
        if fcntl is not None:
            try:
                fcntl.flock(manifest, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ViewerError(path, "another process is writing it", "wait for that one") from None
            except OSError:  # a file system without locks
                pass
        dataset = DatasetFolder(folder, stage, manifest)
        dataset.resume_from_manifest()
        yield dataset


def _json_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None for anything else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _manifest_head(line: bytes) -> dict[str, Any] | None:
    """The object {"recipe": digest, "raystream": version} of a manifest's first line; None for any other line."""
    head = _json_object(line)
    if head is None or [*head] != ["recipe", "raystream"]:
        return None
    return head if all(isinstance(value, str) for value in head.values()) else None


def _json_line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
