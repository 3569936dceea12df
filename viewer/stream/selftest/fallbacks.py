"""All self-tests, and the ways around failed ones: the next mask, count, memory or machine that the driver passes.

The self-tests that decide are short and run when they are first needed; those passed are kept by the driver's build.
To run them in the command ``doctor`` alone would leave wrong pictures to whoever has not heard of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from raystream.base import part_file
from raystream.base.cache_folder import folders
from raystream.stream.gl.device import Device
from raystream.stream.selftest import machines, masks, numbers, textures
from raystream.stream.selftest.check import FAIL, Check, examine

# -- self-tests that a driver has passed, kept in the user's cache folder by its build ---------------------------------
# Each runs once, and one that fails runs again in every process.

FORMAT = 1  # of the self-tests that decide; a change runs them again


def cache_folder_of_drivers() -> Path:
    """The folder of drivers in the cache: see `raystream.base.cache_folder.folders`."""
    folder = folders("drivers")[-1]
    return folder if folder.name == "drivers" else folder / "drivers"


def driver_build(device: Device) -> str:
    """A name for the driver's build: maker, renderer, version, and all that it can."""
    parts = [str(device.info[name]) for name in ("GL_VENDOR", "GL_RENDERER", "GL_VERSION")]
    text = "\n".join([*parts, *sorted(device.extensions)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load_passed(device: Device) -> frozenset[str]:
    """The self-tests that the driver's build has passed; none where nothing is kept, or the file is damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        record = json.loads(_file(device).read_text(encoding="utf-8"))
        if record["format"] == FORMAT:
            return frozenset(str(name) for name in record["passed"])
    return frozenset()


def record_result(device: Device, name: str, fails: bool = False) -> None:
    """Store a self-test as passed by the driver, or remove it if it ``fails``; where files can be written."""
    previous = load_passed(device)
    current = previous - {name} if fails else previous | {name}
    if current == previous:
        return
    path = _file(device)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"format": FORMAT, "driver": device.driver, "passed": sorted(current)}
        part = part_file.begin(path)
        try:
            part.path.write_text(json.dumps(record, indent=1), encoding="utf-8")
            os.replace(part.path, path)
        finally:
            part.end()


def _file(device: Device) -> Path:
    return cache_folder_of_drivers() / f"{driver_build(device)}-selftests.json"


# -- all self-tests, and the ways around failed ones -------------------------------------------------------------------

MORE = "`raystream doctor` tells more"
BARRIER, BUFFERS = "texture barrier", "buffer textures"
PRECISE, PRODUCTS = "sums by precise", "sums by products"
QUERIES = ("occlusion queries", "conditional rendering")
# The self-tests of each mask, and what comes after it.
MASK_TESTS: dict[str, tuple[str, ...]] = {
    "depth": ("depth mask",),
    "stencil": ("stencil mask",),
    "kill": ("kill mask",),
    "tiles": QUERIES,
    "none": (),
}
NEXT_MASKS: dict[str, tuple[str, ...]] = {
    "depth": ("kill", "none"),
    "stencil": ("depth", "kill", "none"),
    "kill": ("none",),
    "tiles": ("none",),
    "none": (),
}
OTHER_MACHINE = {"multipass": "singlepass", "singlepass": "multipass"}


@dataclass(frozen=True)
class DriverFallbacks:
    """How a program runs, and a line for everything that was asked for and does not work."""

    machine: str
    mask: str
    count: str
    notes: tuple[str, ...] = ()


def failure(device: Device, name: str) -> str:
    """How the driver fails a self-test; empty where it passes, or has no such feature."""
    if name not in device.selftests:
        _run_selftest(device, name)
    return device.selftests[name]


def _run_selftest(device: Device, name: str) -> None:
    """Set `Device.selftests` of a self-test: from the stored results, else by running it."""
    check = CHECKS[name]
    assert check.decides
    if not device.selftests:
        device.selftests |= dict.fromkeys(load_passed(device) - device.distrusted, "")
        if name in device.selftests:
            return
    with device.current():
        twin = replace(device)  # the same context: a device's counters are those of pictures
        twin.queries = device.queries
        finding = examine(twin, check)
    device.selftests[name] = (finding.text or "wrong results") if finding.verdict == FAIL else ""
    if not device.selftests[name]:
        record_result(device, name)


def apply_fallbacks(device: Device) -> None:
    """Have a device do without texture barrier, buffer textures and ``precise`` variables where it fails their
    self-tests; to be called before machines and memories are made on it."""
    if device.texture_barrier is not None and failure(device, BARRIER):
        device.texture_barrier = None
    if device.max_buffer and failure(device, BUFFERS):
        device.max_buffer = 0
    if not device.has_precise or failure(device, PRECISE):
        device.precise = False
        failure(device, PRODUCTS)


def trust(device: Device) -> None:
    """Count the self-tests that decide as passed: for programs that are compiled alone, perhaps where nothing runs."""
    device.selftests |= {check.name: "" for check in CHECKS.values() if check.decides}


def device_notes(device: Device) -> list[str]:
    """The abilities that a device lacks, see `apply_fallbacks`."""
    replacements = {
        BARRIER: "passes copy their output back",
        BUFFERS: "scene data lies in 2-D and 3-D textures",
        PRECISE: "sums are rounded by products with a uniform",
        PRODUCTS: "the sums of long renders drift",
    }
    return [_note(device, name, text) for name, text in replacements.items() if device.selftests.get(name)]


def stack_note(device: Device) -> list[str]:
    """The note on traversals of a driver whose programs cannot keep a stack."""
    if device.array_stores:
        return []
    return [f"no stack on {device.name}, which stores into arrays at wrong places; octants instead"]


def fallbacks_for(device: Device, machine: str, mask: str, count: str) -> DriverFallbacks:
    """Machine, mask and count, each replaced by the next one that passes its self-tests, with notes on that."""
    notes = []
    if failure(device, machine):
        other = OTHER_MACHINE[machine]
        if not failure(device, other):
            notes.append(_note(device, machine, f"--machine {other} in place of {machine}"))
            machine = other
        else:
            notes.append(_note(device, machine, f"as does {other}: pictures may be wrong"))
    if machine == "singlepass":
        return DriverFallbacks(machine, mask, count, tuple(notes))
    failed = _first_failed(device, MASK_TESTS[mask])
    if failed:
        fallback = next(other for other in NEXT_MASKS[mask] if not _first_failed(device, MASK_TESTS[other]))
        notes.append(_note(device, failed, f"--mask {fallback} in place of {mask}"))
        mask = fallback
    failed = _first_failed(device, QUERIES) if count == "query" else ""
    if failed:
        notes.append(_note(device, failed, "--count census in place of query"))
        count = "census"
    return DriverFallbacks(machine, mask, count, tuple(notes))


def _first_failed(device: Device, names: tuple[str, ...]) -> str:
    return next((name for name in names if failure(device, name)), "")


def _note(device: Device, name: str, replacement: str) -> str:
    return f"{device.name} fails the self-test of '{name}' ({device.selftests[name]}): {replacement}; {MORE}"


GROUPS: dict[str, tuple[Check, ...]] = {
    "masks": masks.CHECKS,
    "outputs": textures.OUTPUT_CHECKS,
    "storage": textures.STORAGE_CHECKS,
    "numbers": numbers.CHECKS,
    "machines": machines.CHECKS,
}
CHECKS: dict[str, Check] = {check.name: check for checks in GROUPS.values() for check in checks}
