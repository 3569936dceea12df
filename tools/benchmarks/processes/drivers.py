"""Pictures on this driver, beside those of another checkout: CPU time, in turn, by a process for each checkout.

``RAYSTREAM_BEFORE`` names the other checkout's folder, of ``git archive`` for one; without, this one is timed alone.
Each driver gets a folder of its own: ``python tools/bench.py drivers --out tools/results/mesa-25.0.7``. The software
driver has one thread, so that other load does least to CPU time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common import ROOT, Options, Result, Table, facts, say
from benchmarks.scenes import Absent, required, shared

ABOUT = "three pictures on a driver: CPU time, and beside another checkout's"

BUNNY, HELMET = Path("bunny.ply"), Path("models") / "DamagedHelmet.glb"
# By name: the scene, below the scene data if it is a file, the program, width and height.
PICTURES: dict[str, tuple[str | Path, str, tuple[int, int]]] = {
    "cornell": ("cornell", "path", (256, 256)),
    "bunny": (BUNNY, "cast", (512, 512)),
    "DamagedHelmet": (HELMET, "path", (256, 256)),
}
RUNS, QUICK, QUICK_SIZE = 25, 2, (32, 32)
# Of the package of the checkout that is its argument: answers each line of JSON (name, scene, program, size) by the CPU
# milliseconds of a whole call of `Renderer.render`, one sample, all threads; a name is compiled and rendered before.
SERVER = """
import json, os, sys, time
sys.path.insert(0, os.path.join(sys.argv[1], "tools", "editable"))
from raystream.renderer.renderer import Renderer
renderers = {}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["name"] not in renderers:
        renderers[asked["name"]] = Renderer(asked["scene"], program=asked["program"])
        renderers[asked["name"]].render(tuple(asked["size"]), spp=1)
    began = time.process_time()
    renderers[asked["name"]].render(tuple(asked["size"]), spp=1)
    print(1e3 * (time.process_time() - began), flush=True)
"""


def run(options: Options) -> Result:
    """Time each picture of both checkouts in turn."""
    runs = QUICK if options.quick else RUNS
    before = os.environ.get("RAYSTREAM_BEFORE")
    data: dict[str, Any] = {"facts": facts(options.open()), "runs": runs, "pictures": {}, "missing": []}
    processes = [_process(str(ROOT)), *([_process(before)] if before else [])]
    rows = []
    for name, (scene, program, whole) in PICTURES.items():
        try:
            source = str(required(shared() / "scenes" / scene)) if isinstance(scene, Path) else scene
        except Absent as error:
            data["missing"].append(f"{name}: {error}")
            continue
        say(f"drivers: {name}")
        size = QUICK_SIZE if options.quick else whole
        asked = json.dumps({"name": name, "scene": source, "program": program, "size": size})
        timed = [[_answer(process, asked) for process in processes] for _ in range(runs)]
        now, *then = map(median, zip(*timed, strict=True))
        ratio = median(pair[0] / max(pair[1], 1e-6) for pair in timed) if before else None
        data["pictures"][name] = {"program": program, "size": size, "cpu_ms": timed, "ratio": ratio}
        rows.append((name, program, f"{size[0]} x {size[1]}", then[0] if then else None, now, ratio))
    for process in processes:
        process.communicate()
    note = f"Whole calls of one sample, one thread; medians of {runs}, in turn; ratio: median over the pairs."
    columns = ("picture", "program", "size", "before, CPU ms", "CPU ms", "ratio")
    return Result(data, [Table(f"pictures on {data['facts']['driver']}", columns, rows, note)])


def _process(checkout: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-c", SERVER, checkout]
    environment = {**os.environ, "LP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def _answer(process: subprocess.Popen[str], asked: str) -> float:
    """CPU milliseconds."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(asked + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())
