"""The doctor's parent process: has child processes run the items, and outlives their crashes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import Empty, Queue
from typing import IO, Any

from raystream.base.errors import DeviceError, printable
from raystream.base.interrupts import child_process
from raystream.base.isolation import SAFE_PATH, python
from raystream.cli.doctor.items import BEGUN, FOUND, MARK, NO_DEVICE, items
from raystream.stream.selftest.check import FAIL

START_SECONDS = 60.0  # after which a child is given up that has not yet opened its device
ITEM_SECONDS = 60.0  # after which an item is
MOST_DEATHS = 6  # of children one after another, each at its first item: nothing works then
TAIL = 200  # characters of a dead child's last words
CODE = "from raystream.cli.doctor.items import main; main(sys.argv[1])"
# Programs are compiled, not found: by Mesa, and by NVIDIA's driver.
COLD = {"MESA_SHADER_CACHE_DISABLE": "true", "MESA_GLSL_CACHE_DISABLE": "true", "__GL_SHADER_DISK_CACHE": "0"}

Data = dict[str, Any]
Report = Callable[[float, str], None]


def examination(device: int | None, progress: Report, keys: Sequence[str] | None = None) -> dict[str, Data]:
    """Every item's finding, by its key. A crash, or `ITEM_SECONDS` without an answer, are findings of an item: the
    others go on in another process.

    device : number of the EGL device. keys : of some items. Raises DeviceError without a device.
    """
    requested, findings = list(items() if keys is None else keys), dict[str, Data]()

    def gives(key: str, data: Data) -> None:
        findings[key] = data

    def begins(key: str) -> None:
        progress(len(findings) / len(requested), f"examining {key}")

    for cold in (False, True):
        pending = [key for key in requested if items()[key].cold == cold]
        deaths = 0
        while pending and deaths < MOST_DEATHS:
            before = len(findings)
            _child(device, pending, COLD if cold else {}, begins, gives)
            deaths = deaths + 1 if len(findings) <= before + 1 else 0
            pending = [key for key in pending if key not in findings]
        for key in pending:
            gives(key, {"verdict": FAIL, "text": "not run: no process lives that long here"})
    return {key: findings[key] for key in requested}


def _child(
    device: int | None,
    keys: list[str],
    variables: Mapping[str, str],
    begins: Callable[[str], None],
    gives: Callable[[str, Data], None],
) -> None:
    """Run items in a process of their own until it ends, or one of them kills it."""
    argument = json.dumps({"device": device, "items": keys})
    command = python(CODE, argument)
    begun = keys[0]  # the device is opened for the first
    with (
        tempfile.TemporaryFile() as words,
        child_process(
            command,
            env={**os.environ, **SAFE_PATH, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=words,
        ) as process,
    ):
        for line in _lines(process):
            if line is None:
                gives(begun, {"verdict": FAIL, "text": f"no answer in {ITEM_SECONDS:.0f} s"})
                return
            if NO_DEVICE in line:
                raise DeviceError(*line[NO_DEVICE])
            if BEGUN in line:
                begun = line[BEGUN]
                begins(begun)
            if FOUND in line:
                gives(line[FOUND], line["data"])
                begun = ""
        code = process.wait()
        if begun:
            gives(begun, {"verdict": FAIL, "text": f"the process died: {_cause(code)}{_last(words)}"})


def _lines(process: subprocess.Popen[bytes]) -> Iterator[Data | None]:
    """The child's own lines; None where the first takes longer than `START_SECONDS`, another than `ITEM_SECONDS`."""
    came: Queue[bytes | None] = Queue()

    def read() -> None:
        assert process.stdout is not None
        with suppress(OSError, ValueError):
            for line in process.stdout:
                came.put(line)
        came.put(None)

    threading.Thread(target=read, daemon=True).start()
    seconds = START_SECONDS
    while True:
        try:
            line = came.get(timeout=seconds)
        except Empty:
            yield None
            return
        if line is None:
            return
        text = line.decode(errors="replace")
        if text.startswith(MARK):
            seconds = ITEM_SECONDS
            with suppress(ValueError):  # cut by its death
                yield json.loads(text.removeprefix(MARK))


def _cause(code: int) -> str:
    """An exit code in words."""
    if code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _last(words: IO[bytes]) -> str:
    """The last line of standard error."""
    words.seek(0)
    lines = words.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f" ({printable(last)[-TAIL:]})" if last else ""
