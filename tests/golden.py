"""Golden values: what every picture, stream and scene that a test meets was when it was last looked at.

Most tests compare two ways to one result, or a result with an oracle, each at the place that it is about. A fault that
both ways share, or beside that place, would pass. So all that a test reads from the device, renders or loads is held,
besides, to a digest of what it was: of each array 16 averages, whole as they are in ``golden/``, a file for each file
of tests. Nothing is said of when or how often, so that any choice of tests may run alone.

``tools/test --golden record [FILE ...]`` writes them; with ``--golden again`` the same tests run once more, and those
whose values depend on the moment (by time, by random numbers) go into golden/varying.txt, and are left alone.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

FOLDER = Path(__file__).with_name("golden")
VARYING = FOLDER / "varying.txt"
DRIVER = FOLDER / "driver.txt"  # whose values they are: builds of drivers differ by rounding
# Folders of tests whose values do not depend on time. (Sessions and windows show what they have at the moment.)
FOLDERS = ("accel", "cameras", "denoise", "film", "formats", "lighting", "materials", "photons", "programs", "repro")
FOLDERS += ("renderer", "scene", "statistics", "stream")

PARTS = 16  # averages of an array
LARGE = 1 << 16  # numbers, beyond which an array is looked at here and there, or bit by bit
MANY = 64  # parts of a scene of one kind, beyond which they are looked at here and there
STEPS = 1024  # of a digest to 1: a change of all values by one in 1,000 is a step
NEAR = 4  # steps that rounding may take: processors differ in the last place of what they fuse
WAVES = np.stack([np.cos(np.arange(LARGE)), np.sin(np.arange(LARGE))])  # of the places of an array
ASTRAY = 2  # averages that may differ: where rounding turns a decision, a path goes another way
FILES = (1, 0)  # the same of scenes, where nothing but arithmetic on numbers from files comes between

mode = "check"
test = ""  # that runs
known: dict[str, NDArray[np.uint16]] = {}  # by file of tests: (n, 2 + PARTS) digests
seen: dict[str, dict[bytes, str]] = {}  # by file of tests: digests, and the first test that met each
varying: set[str] = set()
uncompared: set[str] = set()  # drivers on which nothing was compared


def digest(label: str, values: NDArray[Any]) -> NDArray[np.uint16]:
    """(2 + PARTS,) of an array of numbers: a sum of its name and size, and averages of as many parts of it, each of a
    logarithm that is linear below 0.001."""
    told, size = zlib.crc32(f"{label} {values.size}".encode()), values.size
    for axis, length in enumerate(values.shape):  # of many numbers every second, third ..., rows first
        if size > LARGE:
            every = min(length, -(-size // LARGE))
            values, size = values[(slice(None),) * axis + (slice(None, None, every),)], size // every
    averages = [_average(part) for part in np.array_split(values.ravel(), PARTS)]
    steps = np.rint(np.array(averages) * STEPS).astype(np.int64) & 0xFFFF
    return np.array([told & 0xFFFF, told >> 16, *steps], np.uint16)


def _average(part: NDArray[Any]) -> float:
    """Of the logarithms of numbers; 0 of none."""
    with np.errstate(invalid="ignore"):  # NaNs that signal
        wide = part.astype(np.float64)
    return float(np.arcsinh(1000 * np.where(np.isfinite(wide), wide, 1e9)).mean()) if part.size else 0.0


def near(rows: NDArray[np.uint16], row: NDArray[np.uint16], steps: int = NEAR, astray: int = ASTRAY) -> bool:
    """Whether one of the rows (n, 2 + PARTS) is that row, but for rounding: of some steps, and of some averages."""
    rows = rows[(rows[:, :2] == row[:2]).all(axis=1), 2:]
    off = np.abs((rows - row[2:]).view(np.int16)) > steps
    return bool((off.sum(axis=1) <= astray).any())


def met(label: str, values: Any, *rounding: int) -> None:
    """A test met an array: remembered, or compared."""
    if not test or test in varying:
        return
    file, found = test.partition("::")[0], np.asarray(values)
    if not found.size or found.dtype.kind not in "fiub":
        return
    row = digest(label, found)
    if mode == "record":
        seen.setdefault(file, {}).setdefault(row.tobytes(), test)
    elif file in known and not near(known[file], row, *rounding):
        if mode == "again":
            varying.add(test)
        else:
            pytest.fail(f"{label} is not what it was. If it is new, or meant: look at it, then --golden record {file}")


def numbers(value: Any, depth: int = 0) -> Iterator[NDArray[Any]]:
    """All numbers of an object that is made of dataclasses, lists, tuples, dictionaries and arrays, in their order."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiub":
            yield value.ravel()
    elif isinstance(value, bool | int | float):
        yield np.array([value], np.float64)
    elif isinstance(value, str):
        yield np.array([len(value)], np.float64)
    elif dataclasses.is_dataclass(value) and depth < 12:
        for field in dataclasses.fields(value):
            added = "added" in field.metadata and getattr(value, field.name, None) == field.default
            if field.name not in ("source", "warnings", "fills") and not field.name.startswith("_") and not added:
                yield from numbers(getattr(value, field.name, None), depth + 1)
    elif isinstance(value, dict | list | tuple):
        items = [*value.values()] if isinstance(value, dict) else value
        for each in items[:: -(-len(items) // MANY) or 1]:
            yield from numbers(each, depth + 1)


def of_scene(scene: Any) -> NDArray[np.float64]:
    """A few numbers of each array of a scene: its mean, and another that knows the order."""
    found: list[float] = []
    for leaf in filter(len, numbers(scene)):
        total = ordered = 0.0
        for first in range(0, len(leaf), LARGE):  # not all at once: tests measure memory, too
            wide = leaf[first : first + LARGE].astype(np.float64)
            if leaf.dtype.kind == "f":
                wide = np.where(np.isfinite(wide), wide, 1e9)
            total += float(wide.sum())
            even, odd = WAVES[:, : len(wide)] @ wide  # the sum of cos(number) value, by the theorem of addition
            ordered += float(np.cos(first) * even - np.sin(first) * odd)
        found += [total / len(leaf), ordered / len(leaf)]
    return np.array(found)


def watch(owner: Any, name: str, report: Callable[[Any, Any], None]) -> None:
    """What a function returns is reported, with its first argument."""
    whole = getattr(owner, name)

    @functools.wraps(whole)
    def watched(*given: Any, **named: Any) -> Any:
        result = whole(*given, **named)
        report(given[0] if given else None, result)
        return result

    setattr(owner, name, watched)


@functools.cache
def begin() -> bool:
    """Watch the three places through which values come: streams read back, pictures rendered, files of scenes. False
    where the driver is another build than the one whose values are kept."""
    from raystream.base.errors import DeviceError
    from raystream.formats import FORMATS
    from raystream.renderer.sampling.picture import Picture
    from raystream.stream.gl.device import shared_device
    from raystream.stream.gl.stream import Stream

    try:
        driver = shared_device().driver
    except DeviceError:
        return False
    if mode == "record":
        DRIVER.write_text(f"{driver}\n", encoding="utf-8")
    elif driver != DRIVER.read_text(encoding="utf-8").strip():
        uncompared.add(driver)
        return False

    def fields(_: Any, found: dict[str, NDArray[np.float32]]) -> None:
        for name, values in found.items():
            met(f"stream {name}", values)

    watch(Stream, "fields", fields)
    watch(Picture, "__init__", lambda picture, _: met("picture", picture.linear))
    for name in FORMATS:
        watch(import_module(name), "read", lambda _, scene: met("scene", of_scene(scene), *FILES))
    return True


def configure(chosen: str) -> None:
    """How this process takes values: check, record or again."""
    global mode
    mode = chosen
    if VARYING.exists():
        varying.update(VARYING.read_text(encoding="utf-8").split("\n"))
    if mode != "record":
        for file in FOLDER.rglob("*.npy"):
            known[f"tests/{file.relative_to(FOLDER).with_suffix('.py').as_posix()}"] = np.load(file)


def enter(name: str) -> None:
    """A test begins."""
    global test
    if mode != "off" and name.split("/")[1] in FOLDERS and begin():
        test = name


def leave() -> None:
    """A test ends."""
    global test
    test = ""


def finish(first: bool) -> None:
    """The process ends, and leaves what it recorded. first: it is the one that started the others."""
    if mode == "record":
        for file, rows in seen.items():
            target = (FOLDER / Path(file).relative_to("tests")).with_suffix(".npy")
            target.parent.mkdir(parents=True, exist_ok=True)
            np.save(target, np.frombuffer(b"".join(sorted(rows)), np.uint16).reshape(-1, 2 + PARTS))
    elif mode == "again" and first:
        VARYING.write_text("".join(f"{name}\n" for name in sorted(varying - {""})), encoding="utf-8")
