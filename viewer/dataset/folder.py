"""The folder of a dataset: files written whole, and a manifest of the pictures that are done.

The manifest has a line for the recipe and one for each picture, written once all of its files are there: other files of
a killed process are made again. At the end its lines are put in the pictures' order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from viewer.base.errors import ViewerError
from viewer.base.version import __version__
from viewer.dataset.fields import echo
from viewer.dataset.picture import WRITERS, FinishedPicture
from viewer.dataset.stage import DatasetStage
from viewer.film.files.image import write_whole

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

MANIFEST = "manifest.jsonl"
FRESH = "give another folder with -o, or delete this one"


class DatasetFolder:
    """A dataset's folder, held by this process alone. done : the records of finished pictures, by their numbers."""

    def __init__(self, path: Path, stage: DatasetStage, manifest: BinaryIO) -> None:
        self.path, self.stage, self._manifest = path, stage, manifest
        self.done: dict[int, Mapping[str, Any]] = {}
        self._head = {"recipe": stage.digest, "raystream": __version__}

    def read(self) -> None:
        """Read the finished pictures from the manifest, and cut off a line that was not finished. Raises ViewerError
        for another recipe's."""
        end = 0
        with open(self.path / MANIFEST, "rb") as file:
            for number, line in enumerate(file):
                record = _record(line)
                if record is None:
                    break
                if number == 0:
                    if record != self._head and not self._begun:
                        break  # another recipe, of which there is no picture
                    self._check(record)
                elif self._whole(record):
                    self.done[record["number"]] = record
                end += len(line)
        self._manifest.truncate(end)
        if end == 0:
            self._append(self._head)

    @property
    def _begun(self) -> bool:
        """Whether there is more than the manifest."""
        return any(each.name != MANIFEST for each in self.path.iterdir())

    def _check(self, head: Mapping[str, Any]) -> None:
        for key, what in (("raystream", "another version"), ("recipe", "another recipe, or other models")):
            if head.get(key) != self._head[key]:
                raise ViewerError(str(self.path), f"holds pictures of {what}", FRESH)

    def _whole(self, record: Mapping[str, Any]) -> bool:
        """Whether it is a picture's, all of whose files are there, in their sizes."""
        files = record.get("files")
        if not isinstance(record.get("number"), int) or not isinstance(files, dict):
            return False
        try:
            return all(os.path.getsize(self.path / name) == size for name, size in files.items())
        except OSError:
            return False

    def add(self, made: FinishedPicture) -> None:
        """Write a picture's files, and then its line. Raises ViewerError where they cannot be written."""
        for name, data in made.files.items():
            self._write(name, data)
        record = {**made.record, "files": {name: len(data) for name, data in made.files.items()}}
        self._append(record)
        self.done[made.number] = record

    def finish(self) -> None:
        """Write the lists of all pictures, and the manifest in their order."""
        records = [self.done[number] for number in sorted(self.done)]
        for name in self.stage.recipe.formats:
            for path, data in WRITERS[name].lists(self.stage, records).items():
                self._write(path, data)
        lines = [self._head, *records]
        self._manifest.close()  # Windows renames onto no open file
        self._write(MANIFEST, b"".join(_line(each) for each in lines))

    def _write(self, name: str, data: bytes) -> None:
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ViewerError(str(target.parent), f"cannot be made: {error.strerror}") from None
        write_whole(target, lambda part: _fill(part, data))

    def _append(self, record: Mapping[str, Any]) -> None:
        """A line at the end, or nothing."""
        end, line = self._manifest.seek(0, os.SEEK_END), _line(record)
        try:
            if self._manifest.write(line) < len(line):  # a full disk takes a part, without an error
                raise OSError(ENOSPC, os.strerror(ENOSPC))
            os.fsync(self._manifest.fileno())
        except OSError as error:
            with suppress(OSError):
                self._manifest.truncate(end)
            raise ViewerError(str(self.path / MANIFEST), f"cannot be written: {error.strerror}") from None


@contextmanager
def opened(path: str, stage: DatasetStage) -> Iterator[DatasetFolder]:
    """The folder of a dataset, made or gone on with, held by this process alone meanwhile.

    Raises ViewerError for a folder of other things or another recipe's, one that another process holds, and one that
    cannot be written.
    """
    folder = Path(path)
    try:
        there = folder.exists()
        if there and not folder.is_dir():
            raise ViewerError(echo(path), "is a file", "give a folder with -o")
        if there and not (folder / MANIFEST).exists() and any(folder.iterdir()):
            raise ViewerError(path, "holds other files", "give a new folder with -o")
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
        found = DatasetFolder(folder, stage, manifest)
        found.read()
        yield found


def _fill(part: Path, data: bytes) -> None:
    with open(part, "wb") as file:
        file.write(data)


def _record(line: bytes) -> dict[str, Any] | None:
    """Of a line; None for one that is not whole."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
