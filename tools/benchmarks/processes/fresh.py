"""New processes: the wait from a command to its picture, with caches empty and filled.

The caches are the driver's of compiled shaders and the project's of compiled loops, here in a folder of their own. They
are measured empty once, then filled in the median of a few processes. Commands are Python's ``-m raystream``, as
started by ``raystream``.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import raystream
from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.processes import launch
from benchmarks.scenes import View, found

ABOUT = "new processes: seconds from a command to its picture, and their parts"

STARTS = 3
# Scene and arguments of ``render``.
COMMANDS: dict[str, tuple[str, list[str]]] = {
    "cornell, 32 samples, 512 x 512": ("cornell", []),
    "cornell, 1 sample, 256 x 256": ("cornell", ["--spp", "1", "--size", "256x256"]),
    "cornell, singlepass": ("cornell", ["--spp", "1", "--size", "256x256", "--machine", "singlepass"]),
    "bunny, cast, 512 x 512": ("bunny", ["--program", "cast"]),
}
QUICK = {"cornell, 1 sample, 32 x 32": ("cornell", ["--spp", "1", "--size", "32x32", "--machine", "singlepass"])}
PROGRAMS = {"cornell": "path", "bunny": "cast"}  # for a breakdown into parts
Costs = dict[str, dict[str, float]]  # by the caches' state: cold, warm


def run(options: Options) -> Result:
    """Measure everything."""
    commands = QUICK if options.quick else COMMANDS
    views, missing = found(tuple(dict.fromkeys(scene for scene, _ in commands.values())))
    by_name = {view.name: view for view in views}
    data: dict[str, Any] = {"facts": facts(options.open()), "starts": 1 if options.quick else STARTS}
    data |= {"missing": missing, "commands": {}, "phases": {}}
    for name, (scene, arguments) in commands.items():
        if scene in by_name:
            say(name)
            data["commands"][name] = _command(by_name[scene], arguments, options)
    for view in views:
        say(f"{view.name}: parts")
        data["phases"][view.name] = _phases(view, options)
    return Result(data, _tables(data))


def _command(view: View, arguments: list[str], options: Options) -> Costs:
    """``raystream render``, cold and warm."""
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        command = ["-m", "raystream", "render", view.source, "-o", str(Path(folder) / "out.png"), *arguments]
        if options.device is not None:
            command += ["--device", str(options.device)]
        return _cold_and_warm(lambda environment: launch.process(command, environment), options)


def _phases(view: View, options: Options) -> Costs:
    """The parts of a first picture of one sample, see `launch`."""
    camera = view.camera
    if isinstance(camera, str):
        camera = raystream.load(view.source).camera(camera)
    size = "32" if options.quick else "512"
    arguments = [view.source, camera.text(), str(camera.fov), size, size, PROGRAMS[view.name]]
    return _cold_and_warm(lambda environment: launch.phases(arguments, environment), options)


def _cold_and_warm(measure: Callable[[dict[str, str]], dict[str, float]], options: Options) -> Costs:
    """With empty caches and with filled ones, the median; quick: once, with the user's caches as they are."""
    if options.quick:
        return {"warm": measure(dict(os.environ))}
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        environment = launch.caches(Path(folder) / "caches")
        cold, *warm = (measure(environment) for _ in range(1 + STARTS))
    return {"cold": cold, "warm": {key: statistics.median(each[key] for each in warm) for key in cold}}


def _tables(data: dict[str, Any]) -> list[Table]:
    rows = [
        (name, caches, *map(row.get, ("seconds", "cpu_seconds", "load", "build", "render")), row["peak_bytes"] / 2**20)
        for name, costs in data["commands"].items()
        for caches, row in costs.items()
    ]
    note = (
        "raystream render in a new process, from the command to the file; caches of driver and loops empty (cold), or "
        f"filled (warm, the median of {data['starts']}); load, build, and compile and render: as the command tells."
    )
    columns = ("command", "caches", "s", "CPU s", "load", "build", "render", "peak MiB")
    tables = [Table("new processes", columns, rows, note)]
    parts = [
        (f"{name}, {PROGRAMS[name]}", caches, row)
        for name, costs in data["phases"].items()
        for caches, row in costs.items()
    ]
    if parts:
        heads = ("scene, program", "caches", *parts[0][2])
        cells = [(name, caches, *row.values()) for name, caches, row in parts]
        tables.append(Table("a first picture of one sample: parts, seconds", heads, cells))
    return tables
