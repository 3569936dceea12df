"""Self-tests that a driver has passed, kept in the user's cache folder by its build: each runs once, and one that fails
runs again in every process."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from raystream.base import part_file
from raystream.base.cache_folder import folders
from raystream.stream.gl.device import Device

FORMAT = 1  # of the self-tests that decide; a change runs them again


def folder() -> Path:
    """Of drivers, in the cache: see `raystream.base.cache_folder.folders`."""
    place = folders("drivers")[-1]
    return place if place.name == "drivers" else place / "drivers"


def build(device: Device) -> str:
    """A name for the driver's build: maker, renderer, version, and all that it can."""
    parts = [str(device.info[name]) for name in ("GL_VENDOR", "GL_RENDERER", "GL_VERSION")]
    text = "\n".join([*parts, *sorted(device.extensions)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def passed(device: Device) -> frozenset[str]:
    """The self-tests that the driver's build has passed; none where nothing is kept, or the file is damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        record = json.loads(_file(device).read_text(encoding="utf-8"))
        if record["format"] == FORMAT:
            return frozenset(str(name) for name in record["passed"])
    return frozenset()


def keep(device: Device, name: str, fails: bool = False) -> None:
    """Add a self-test to those passed, or take one that ``fails`` from them, where the folder can be written."""
    before = passed(device)
    after = before - {name} if fails else before | {name}
    if after == before:
        return
    path = _file(device)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"format": FORMAT, "driver": device.driver, "passed": sorted(after)}
        part = part_file.begin(path)
        try:
            part.path.write_text(json.dumps(record, indent=1), encoding="utf-8")
            os.replace(part.path, path)
        finally:
            part.end()


def _file(device: Device) -> Path:
    return folder() / f"{build(device)}-selftests.json"
