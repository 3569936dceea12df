"""The wait for a first picture, and the window's answers while models are opened.

The window as a new process, with filled caches, until its first traced picture is on the screen, part by part; and a
picture of 64 x 64 as a file. Then ten models and three larger scenes, one after the other, while the pointer moves a
hundred times a second: an answer is a draw after a move that was handled, and each move bears the time of its sending,
by the sender's clock. All that in two processes in turn, with a cache of Mesa's of their own, which is empty at first:
what the driver has compiled for one the other takes from there. The process is told apart from others' work by CPU
time: that of the window's thread between two answers, which threads of the driver and of whatever loads work beside.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.processes import launch
from benchmarks.scenes import Absent, shared, view
from benchmarks.screen import screen
from benchmarks.viewing import opening_process
from raystream.base.errors import ViewerError

ABOUT = "new processes to their first pictures, and the window's answers to input while models are opened"

SIZE = (960, 540)
FIRST = {"cornell": 0.4, "bunny": 0.5}  # seconds that the first picture is to take at most
SMALL = ("cornell", "--size", "64x64", "--spp", "1", "--quiet")
STARTS = 5
LONGEST_GAP = 60.0  # milliseconds between two answers
UNCOMPILED = ("gap_ms", "gap_cpu_ms", "over_60_ms", "over_60_cpu_ms")  # told of the first process
REST = 0.3  # seconds that a model stays
MODELS = ("DamagedHelmet", "ToyCar", "FlightHelmet_512", "GlassVaseFlowers", "BrainStem", "CesiumMilkTruck", "Avocado")
MORE_MODELS = ("IridescenceLamp", "MetalRoughSpheresNoTextures", "LightsPunctualLamp")
LARGER = ("bunny", "dragon", "forest")


def run(options: Options) -> Result:
    """Measure both."""
    if not sys.platform.startswith("linux"):
        raise ViewerError("opening", "sends its input to an X server", "run it on Linux")
    models, missing = (["cornell", "teapotahedron"], []) if options.quick else _models()
    size = (320, 180) if options.quick else SIZE
    data: dict[str, Any] = {"facts": facts(options.open()), "missing": missing, "size": size, "first": {}}
    with screen((1280, 1024), own=True) as where, tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        data["display"] = where
        settings = {"RAYSTREAM_SETTINGS": str(Path(folder) / "settings.toml")}
        for name in ("cornell",) if options.quick else FIRST:
            say(f"{name}: first pictures")
            data["first"][name] = _first(view(name).source, {**os.environ, **settings}, 1 if options.quick else STARTS)
        command = ["-m", "raystream", "render", *SMALL, "-o", str(Path(folder) / "small.png")]
        say("64 x 64 as a file")
        several = [launch.process(command, dict(os.environ)) for _ in range(1 if options.quick else STARTS)]
        data["small"] = {key: min(each[key] for each in several) for key in several[0]}
        say(f"{len(models)} models under steady input")
        cache = {"MESA_SHADER_CACHE_DIR": str(Path(folder) / "driver")}
        words = ("models", *map(str, size), str(REST), *models)
        first, data["answers"] = (_process({**os.environ, **cache}, *words) for _ in range(2))
        data["answers_uncompiled"] = {name: first[name] for name in UNCOMPILED}
    return Result(data, _tables(data))


def _models() -> tuple[list[str], list[str]]:
    """Files and names of what is opened, and a remark on what is missing."""
    folder, found, missing = shared() / "scenes" / "models", [], []
    for name in MODELS + MORE_MODELS:
        path = folder / f"{name}.glb"
        found.append(str(path)) if path.is_file() else missing.append(f"{path.name} not found in {folder}")
    for name in LARGER:
        try:
            found.append(view(name).source)
        except Absent as error:
            missing.append(str(error))
    return found, missing


def _first(source: str, environment: dict[str, str], starts: int) -> dict[str, dict[str, float]]:
    """The parts of a first picture, the least of several starts, after one that fills the caches."""
    _, *runs = [_process(environment, "first", str(time.monotonic()), source) for _ in range(starts + 1)]
    return {
        part: {key: min(each[part][key] for each in runs) for key in ("seconds", "cpu_seconds")}
        for part in runs[-1]  # in the order of a run that counts
    }


def _process(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    """The answer of a process of `opening_process`."""
    return launch.output([sys.executable, opening_process.__file__, *arguments], environment)[0]


def _tables(data: dict[str, Any]) -> list[Table]:
    width, height = data["size"]
    costs = [(name, part, cost) for name, parts in data["first"].items() for part, cost in parts.items()]
    costs.append(("cornell, 64 x 64", "file", data["small"]))
    rows = [(name, part, cost["seconds"], cost["cpu_seconds"]) for name, part, cost in costs]
    goals = ", ".join(f"{name} {seconds:g} s" for name, seconds in FIRST.items())
    note = f"Seconds from the command, the least of several; the window has {width} x {height}. Wanted: {goals}."
    tables = [Table("new processes to their first pictures", ("scene", "until", "s", "CPU s"), rows, note)]
    answers = data["answers"]
    names = {"handled_ms": "from a move to its handling", "answered_ms": "from a move to its answer"}
    names |= {"gap_ms": "between two answers", "gap_cpu_ms": "between two answers, CPU of the window's thread"}
    before = data["answers_uncompiled"]
    spreads = [(text, *answers[name].values()) for name, text in names.items()]
    spreads += [(f"{names[gap]}, nothing compiled before", *before[gap].values()) for gap in ("gap_ms", "gap_cpu_ms")]
    note = (
        f"{len(answers['opened'])} models, {answers['moves']} moves, {answers['moves_handled']} handled. Over "
        f"{LONGEST_GAP:g} ms: {answers['over_60_ms']} gaps, {answers['over_60_cpu_ms']} by CPU time; with "
        f"nothing compiled before {before['over_60_ms']} and {before['over_60_cpu_ms']}."
    )
    columns = ("milliseconds", "median", "p95", "p99", "most")
    tables.append(Table("the window's answers while models are opened", columns, spreads, note))
    return tables
