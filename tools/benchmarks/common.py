"""Shared by all benchmarks: timing, machine facts, and results as JSON, tables and plots."""

from __future__ import annotations

import datetime
import functools
import json
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.version import __version__
from raystream.stream.gl.device import Device, shared_device

ROOT = Path(__file__).resolve().parents[2]  # the project's folder
RESULTS = ROOT / "tools" / "results"
NARROWEST = 150  # columns of a table, unless standard output is a terminal


@dataclass(frozen=True)
class Options:
    """Options of the command line. quick: small pictures in a few seconds, as a check, not for publication."""

    quick: bool = False
    device: int | None = None

    def open(self) -> Device:
        """The OpenGL device to measure."""
        return shared_device(self.device)


@dataclass
class Timing:
    """Repeated runs of one case. wall: seconds; cpu: seconds of all threads of the process, less sensitive to other
    load."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Medians and extremes, milliseconds."""
        wall = {"ms": statistics.median(self.wall), "ms_least": min(self.wall), "ms_most": max(self.wall)}
        milliseconds = {name: 1e3 * each for name, each in (wall | {"cpu_ms": statistics.median(self.cpu)}).items()}
        return {"runs": len(self.wall), **milliseconds}

    def ratio(self, other: Timing) -> float:
        """Median over rounds of this case's wall time over the other's in the same round: drift cancels."""
        return statistics.median(a / b for a, b in zip(self.wall, other.wall, strict=True))

    def cpu_ratio(self, other: Timing) -> float:
        """The same in CPU time."""
        return statistics.median(a / max(b, 1e-9) for a, b in zip(self.cpu, other.cpu, strict=True))


def interleave(cases: Mapping[str, Callable[..., Any]], runs: int, warm_up: int = 1) -> dict[str, Timing]:
    """Time every case ``runs`` times, in turn (A B C A B C ...), after ``warm_up`` untimed rounds.

    Cases are called without arguments. One may return CPU seconds spent in other processes, to be added.
    """
    timings = {name: Timing() for name in cases}
    for number in range(warm_up + runs):
        for name, case in cases.items():
            wall, cpu = time.perf_counter(), time.process_time()
            other = case()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            if number >= warm_up:
                timings[name].wall.append(wall)
                timings[name].cpu.append(cpu + (other if isinstance(other, float) else 0.0))
    return timings


def cpus() -> int:
    """CPUs available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_name() -> str:
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return match.group(1).strip() if match else platform.processor() or platform.machine()


def facts(device: Device) -> dict[str, Any]:
    """Machine, driver, versions, date, and the machine's load."""
    described = device.describe()
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return {
        **{"raystream": __version__, "date": date, "cpu": _cpu_name(), "cpus": cpus(), "os": system},
        **{"python": platform.python_version(), "renderer": described["renderer"], "driver": described["version"]},
        "texture_barrier": described["texture_barrier"],
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def machine_name(found: Mapping[str, Any]) -> str:
    """A name for files: the renderer, and for software renderers the CPU and its number of cores."""
    renderer = re.sub(r"\(.*?\)|/.*", "", str(found["renderer"]))
    if any(word in renderer.lower() for word in ("llvmpipe", "softpipe", "swrast")):
        renderer += f" {found['cpu']} {found['cpus']} cpus"
    return re.sub(r"[^a-z0-9]+", "-", renderer.lower()).strip("-")


@dataclass
class Table:
    """A table of the report. Numbers are shown with three digits, a note below."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    def show(self) -> None:
        """Print it."""
        from rich.console import Console
        from rich.table import Table as Rich

        console = Console(width=None if sys.stdout.isatty() else NARROWEST)
        table = Rich(title=self.title, title_justify="left", title_style="bold", caption=self.note or None)
        table.caption_justify = "left"
        for column in self.columns:
            table.add_column(column, justify="right" if table.columns else "left")
        for row in self.rows:
            table.add_row(*map(cell, row))
        console.print(table)


def cell(value: Any) -> str:
    """A table's cell."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


@dataclass
class Result:
    """A benchmark's result: its data as plain Python or arrays, its tables, and a contact sheet (H, W, 3)."""

    data: dict[str, Any]
    tables: list[Table]
    sheet: NDArray[np.uint8] | None = None

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write ``<name>.json`` and perhaps ``<name>_sheet.png`` to the folder; returns the files."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"{name}.json"]
        data = {**self.data, "tables": [asdict(table) for table in self.tables]}
        written[0].write_text(
            json.dumps(data, indent=1, allow_nan=False, default=lambda value: value.tolist()) + "\n", encoding="utf-8"
        )
        if self.sheet is not None:
            from PIL import Image

            written.append(folder / f"{name}_sheet.png")
            Image.fromarray(self.sheet).quantize(256).save(written[-1], optimize=True)  # a third of the bytes
        return written


def in_one_line(main: Callable[..., None]) -> Callable[..., int]:
    """A tool's ``main`` as one that gives its exit code: 0, or 2 with one line on standard error for `ViewerError`."""

    @functools.wraps(main)
    def wrapped(argv: Sequence[str] | None = None) -> int:
        try:
            main(argv)
        except ViewerError as error:
            say(f"{Path(main.__code__.co_filename).name}: error: {error}")
            return 2
        return 0

    return wrapped


def say(text: str) -> None:
    """One line of progress, on standard error."""
    print(text, file=sys.stderr, flush=True)
