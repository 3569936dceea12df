"""Measurements of a report in one JSON file, from which the page is made again without measuring: every unit that a
section keeps, with when, where and from which sources it was made; pictures lie beside it as files."""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.common import facts

from raystream.base.errors import ViewerError
from raystream.stream.gl.device import Device

from .kept import decode, digest, encode, write_beside
from .report import AbsentError

FILE, PICTURES = "measurements.json", "pictures"
LARGEST = 4096  # numbers of an array that stands in the file
PICTURE = (b"RIFF", b"\x89PNG", b"\xff\xd8\xff")  # how files of pictures begin
MADE = (
    *("date", "commit", "renderer", "driver", "cpu", "cpus", "os", "python", "numpy", "moderngl", "raystream"),
    "load_average",
)


def made_now(device: Device, commit: str) -> dict[str, Any]:
    """When, where and from which sources something is measured."""
    found = {**facts(device), "commit": commit, "numpy": version("numpy"), "moderngl": version("moderngl")}
    found["date"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    if hasattr(os, "getloadavg"):
        found["load_average"] = round(os.getloadavg()[0], 1)
    return {name: found.get(name) for name in MADE}


def software(made: Mapping[str, Any]) -> str:
    """The driver, Python, its packages and the operating system of an origin, as far as it tells of them."""
    driver = re.search(r"Mesa [\d.]+", str(made.get("driver")))
    words = [driver[0] if driver else str(made.get("driver"))]
    names = {"python": "Python", "numpy": "NumPy", "moderngl": "moderngl"}
    words += [f"{name} {made[key]}" for key, name in names.items() if made.get(key)]
    system, release, *rest = (*str(made.get("os")).split(), "")
    return ", ".join([*words, " ".join([system, release.partition("-")[0], *rest]).strip()])


def commit_of(folder: Path) -> str:
    """The commit of a checkout, with a plus where files differ from it; empty for an installed package."""
    try:
        run = ["git", "-C", str(folder)]
        found = subprocess.run([*run, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*run, "status", "--porcelain"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip() + ("+" if changed.stdout.strip() else "")


class Measurements:
    """Values by section and key. head : of the whole, ``quick`` and the command."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        self.head = dict(head)
        self._units: dict[str, dict[str, Any]] = {}
        self._made: dict[str, dict[str, Any]] = {}
        self._pictures: dict[str, bytes] = {}

    def put(self, section: str, key: Any, value: Any, made: Mapping[str, Any]) -> None:
        """Store a value that `kept.save` can write. Raises TypeError for large arrays: no numbers of a report."""
        arrays: dict[str, Any] = {}
        text = _text(key)
        coded = {"value": encode(value, arrays)}
        for name, array in arrays.items():
            data = array.tobytes()
            if array.dtype == np.uint8 and data.startswith(PICTURE):
                file = f"{section}_{digest(text, name)[:10]}.{'webp' if data[:4] == b'RIFF' else 'png'}"
                self._pictures[file] = data
                coded[name] = {"file": file}
            elif array.size <= LARGEST:
                coded[name] = {"type": array.dtype.str, "shape": list(array.shape), "values": array.ravel().tolist()}
            else:
                raise TypeError(f"{section} {text}: an array of {array.size} is no measurement")
        self._units.setdefault(section, {})[text] = {**coded, "made": self._origin(made)}

    def _origin(self, made: Mapping[str, Any]) -> str:
        """The name of an origin; units of one commit, machine and day share one."""
        same = {name: value for name, value in made.items() if name not in ("date", "load_average")}
        name = digest(same, str(made.get("date"))[:10])[:8]
        known = self._made.setdefault(name, dict(made))
        loads = [each["load_average"] for each in (known, made) if each.get("load_average") is not None]
        if len(loads) == 2:
            known["load_average"] = max(loads)  # the busiest moment of them
        return name

    def get(self, section: str, key: Any) -> tuple[Any, dict[str, Any]]:
        """The value of a key, and where it was made. Raises AbsentError where it is not stored."""
        unit = self._units.get(section, {}).get(_text(key))
        if unit is None:
            raise AbsentError(f"{section}: {_text(key)}", "not among the stored measurements")
        arrays = {}
        for name, coded in unit.items():
            if name in ("value", "made"):
                continue
            if "file" in coded:
                arrays[name] = np.frombuffer(self._pictures[coded["file"]], np.uint8)
            else:
                arrays[name] = np.array(coded["values"], np.dtype(coded["type"])).reshape(coded["shape"])
        return decode(unit["value"], arrays), self._made[unit["made"]]

    def replace(self, section: str, newer: Measurements, whole: bool) -> None:
        """The units of a section become those of another measurement. whole : those that it does not have go."""
        if whole:
            self._units[section] = {}
        units = self._units.setdefault(section, {})
        for text, unit in newer._units.get(section, {}).items():
            files = [coded["file"] for coded in unit.values() if isinstance(coded, dict) and "file" in coded]
            self._pictures.update({file: newer._pictures[file] for file in files})
            units[text] = {**unit, "made": self._origin(newer._made[unit["made"]])}

    def write(self, folder: Path) -> None:
        """The file and its pictures. Raises ViewerError."""
        used = {unit["made"] for units in self._units.values() for unit in units.values()}
        made = {name: each for name, each in sorted(self._made.items()) if name in used}
        units = {name: dict(sorted(self._units[name].items())) for name in sorted(self._units)}
        # Values keep the order of their keys, by which sections lay out tables.
        data = {**self.head, "made": made, "units": units}
        write_beside(folder / FILE, (json.dumps(data, indent=0) + "\n").encode())
        for name, picture in self._pictures.items():
            write_beside(folder / PICTURES / name, picture)

    @classmethod
    def read(cls, folder: Path, option: str = "--from") -> Measurements:
        """Of a folder, which ``option`` names. Raises ViewerError where the file or a picture of it is not there, or
        damaged."""
        path = folder / FILE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            made = cls({name: value for name, value in data.items() if name not in ("made", "units")})
            made._made, made._units = data["made"], data["units"]
            for units in made._units.values():
                for unit in units.values():
                    for coded in unit.values():
                        if isinstance(coded, dict) and "file" in coded:
                            made._pictures[coded["file"]] = (folder / PICTURES / coded["file"]).read_bytes()
        except FileNotFoundError as error:
            raise ViewerError(f"{option} {folder}", f"holds no {Path(error.filename).name}", _HINT) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ViewerError(str(path), f"is damaged: {str(error) or type(error).__name__}", _HINT) from None
        return made


_HINT = "name a folder that reproduce.py has written to"


def _text(key: Any) -> str:
    return json.dumps(key, sort_keys=True, default=str)
