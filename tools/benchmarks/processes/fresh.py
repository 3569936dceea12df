"""New processes: the wait from a command to its picture, with caches empty and filled.

The caches are the driver's of compiled shaders and the project's of compiled loops, here in a folder of their own. They
are measured empty once, then filled in the median of a few processes. Commands are Python's ``-m raystream``, as
started by ``raystream``.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.processes import launch
from benchmarks.scenes import View, found

ABOUT = "new processes: seconds from a command to its picture, and their parts"

STARTS = 3
FIRST, SAMPLE, BUNNY = "cornell, 32 samples, 512 x 512", "cornell, 1 sample, 256 x 256", "bunny, cast, 512 x 512"
SINGLE = f"{SAMPLE}, singlepass"
# Arguments of ``render``, after the scene.
COMMANDS = {
    FIRST: ("cornell", []),
    SAMPLE: ("cornell", ["--spp", "1", "--size", "256x256"]),
    SINGLE: ("cornell", ["--spp", "1", "--size", "256x256", "--machine", "singlepass"]),
    BUNNY: ("bunny", ["--program", "cast"]),
}
QUICK = {
    "cornell, 1 sample, 32 x 32, singlepass": (
        "cornell",
        ["--spp", "1", "--size", "32x32", "--machine", "singlepass"],
    )
}
PROGRAMS = {"cornell": "path", "bunny": "cast"}  # for a breakdown into parts


def run(options: Options) -> Result:
    """Measure everything."""
    commands = QUICK if options.quick else COMMANDS
    views, missing = found(tuple(dict.fromkeys(scene for scene, _ in commands.values())))
    by_name = {view.name: view for view in views}
    data: dict[str, Any] = {
        "facts": facts(options.open()),
        "starts": 1 if options.quick else STARTS,
        "missing": missing,
        "commands": {},
        "phases": {},
    }
    for name, (scene, arguments) in commands.items():
        if scene in by_name:
            say(name)
            data["commands"][name] = _command(by_name[scene], arguments, options)
    for view in views:
        say(f"{view.name}: parts")
        data["phases"][view.name] = _phases(view, options)
    return Result(data, _tables(data))


# -- measurements --------------------------------------------------------------------------------------------------


def _command(view: View, arguments: list[str], options: Options) -> dict[str, Any]:
    """``raystream render``, cold and warm; quick: once, with the user's caches as they are."""
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        command = ["-m", "raystream", "render", view.source, "-o", str(Path(folder) / "out.png"), *arguments]
        if options.device is not None:
            command += ["--device", str(options.device)]
        if options.quick:
            return {"command": arguments, "warm": launch.process(command, dict(os.environ))}
        environment = launch.caches(Path(folder) / "caches")
        cold = launch.process(command, environment)
        several = [launch.process(command, environment) for _ in range(STARTS)]
        return {"command": arguments, "cold": cold, "warm": _medians(several)}


def _phases(view: View, options: Options) -> dict[str, dict[str, float]]:
    """The parts of a first picture of one sample, see `phases`."""
    camera = view.camera
    if isinstance(camera, str):
        import raystream

        camera = raystream.load(view.source).camera(camera)
    size = "32" if options.quick else "512"
    arguments = [view.source, camera.text(), str(camera.fov), size, size, PROGRAMS[view.name]]
    if options.quick:
        return {"warm": launch.phases(arguments, dict(os.environ))}
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        environment = launch.caches(Path(folder) / "caches")
        cold = launch.phases(arguments, environment)
        return {"cold": cold, "warm": _medians([launch.phases(arguments, environment) for _ in range(STARTS)])}


def _medians(several: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(each[key] for each in several) for key in several[0]}


# -- output --------------------------------------------------------------------------------------------------------


def _tables(data: dict[str, Any]) -> list[Table]:
    rows = []
    for name, kinds in data["commands"].items():
        for caches in ("cold", "warm"):
            if row := kinds.get(caches):
                parts = tuple(row.get(key) for key in ("seconds", "cpu_seconds", "load", "build", "render"))
                rows.append((name, caches, *parts, row["peak_bytes"] / 2**20))
    note = (
        "raystream render in a new process, from the command to the file; caches of driver and loops empty (cold), or "
        f"filled (warm, the median of {data['starts']}); load, build, and compile and render: as the command tells."
    )
    columns = ("command", "caches", "s", "CPU s", "load", "build", "render", "peak MiB")
    tables = [Table("new processes", columns, rows, note)]
    phases = [
        (f"{name}, {PROGRAMS[name]}", caches, *kinds[caches].values())
        for name, kinds in data["phases"].items()
        for caches in kinds
    ]
    if phases:
        names = next(iter(next(iter(data["phases"].values())).values()))
        heads = ("scene, program", "caches", *names)
        tables.append(Table("a first picture of one sample: parts, seconds", heads, phases))
    return tables
