"""Programs as a graphics chip's own compiler makes them: instructions, SIMD width, spilled registers, seconds.

Mesa's drivers for Intel's chips, made to believe that there is one, compile everything and run nothing; their debugging
output tells of each program. A SIMD8 program has 128 registers of eight lanes; what needs more is spilled to memory.
A program of SIMD16 or SIMD32 hides more of the memory's latency, and is made where twice or four times the registers
suffice.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, Options, Result, Table, facts, say
from benchmarks.scenes import shared
from raystream.renderer.renderer import Renderer
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.gl.device import shared_device
from raystream.stream.gl.draw import tiles_source
from raystream.stream.selftest.fallbacks import trust

ABOUT = "programs as the compilers of graphics chips make them: instructions, width, spills, seconds"
PLATFORMS = ("snb", "ivb", "hsw", "skl", "icl", "tgl")  # Sandy Bridge of 2011, OpenGL 3.3, to Tiger Lake of 2020
QUICK = ("skl",)
LIMIT = 600.0  # seconds of a platform
# Scene, program, machine, fusion.
CASES = (
    *(("cornell", "path", "multipass", fuse) for fuse in ("surface", "ray")),
    *((name, "path", "singlepass", "none") for name in ("cornell", "DamagedHelmet", "ToyCar")),
    *((name, "path", "multipass", "surface") for name in ("DamagedHelmet", "ToyCar")),
    *((name, "path", "multipass", "ray") for name in ("DamagedHelmet", "ToyCar")),
    *((name, "whitted", "singlepass", "none") for name in ("cornell", "DamagedHelmet")),
    ("cornell", "photon", "singlepass", "none"),
    ("bunny", "cast", "singlepass", "none"),
    ("cornell", "path", "multipass", "none"),
)
QUICK_CASES = (CASES[0], CASES[2])
_MARK, _SECONDS = "PROGRAM ", "SECONDS "  # of a line before and behind each program, among the driver's own
_COMPILED = re.compile(r"SIMD(\d+) shader: (\d+) inst\w*\. (\d+) loops\. \d+ cycles\. (\d+):(\d+) spills")


def run(options: Options) -> Result:
    """Every program on every platform, each in a process of its own."""
    start = shared() / "gpu_compiler" / "intel"
    data: dict[str, Any] = {"missing": [], "facts": facts(options.open()), "platforms": {}}
    if not start.is_file():
        data["missing"].append(f"{start.name} not found in {start.parent}: a chip's driver without the chip")
        return Result(data, [])
    cases = QUICK_CASES if options.quick else CASES
    for platform in QUICK if options.quick else PLATFORMS:
        say(f"{platform}: compiling")
        name, programs = compiled(start, platform, cases)
        data["platforms"][platform] = {"renderer": name, "programs": programs}
    return Result(data, _tables(data))


def compiled(start: Path, platform: str, cases: tuple[tuple[str, ...], ...]) -> tuple[str, list[dict[str, Any]]]:
    """The driver's name, and the programs of some cases."""
    paths = [str(ROOT / "tools"), str(ROOT / "tools" / "editable"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "INTEL_DEBUG": "fs", "PYTHONPATH": os.pathsep.join(paths)}
    command = [str(start), platform, sys.executable, "-m", "benchmarks.rays.gpu", json.dumps(cases)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{platform}: {done.stderr[-2000:]}")
    return done.stdout.strip(), list(_read(done.stderr.splitlines()))


def _read(lines: list[str]) -> Iterator[dict[str, Any]]:
    """The programs of a log: of the narrowest variant instructions, loops, spills and fills; the width of the widest
    that spills nothing (0: none); CPU seconds of compiling all variants."""
    name, variants = "", list[tuple[int, ...]]()
    for line in lines:
        if line.startswith(_MARK):
            name, variants = line.removeprefix(_MARK), []
        elif line.startswith(_SECONDS):
            _, *counts = min(variants, default=(0,) * 5)
            width = max((variant[0] for variant in variants if not variant[3]), default=0)
            program = {"name": name, **dict(zip(("instructions", "loops", "spills", "fills"), counts, strict=True))}
            yield {**program, "width": width, "seconds": float(line.removeprefix(_SECONDS))}
        elif variant := _COMPILED.search(line):
            variants.append(tuple(map(int, variant.groups())))


def _tables(data: dict[str, Any]) -> list[Table]:
    """The programs on all platforms beside each other."""
    platforms = data["platforms"]
    by_name = [{each["name"]: each for each in platform["programs"]} for platform in platforms.values()]
    names = dict.fromkeys(name for programs in by_name for name in programs)
    rows = [[name, *(_short(programs.get(name)) for programs in by_name)] for name in names]
    note = "Instructions of the narrowest variant; spills:fills; x width of the widest variant without spills."
    return [Table("programs by platform", ["program", *platforms], rows, note)]


def _short(made: dict[str, Any] | None) -> str:
    if made is None:
        return "-"
    spilled = f" {made['spills']}:{made['fills']}" if made["spills"] else ""
    return f"{made['instructions']:,}{spilled}{f' x{width}' if (width := made['width']) else ''}"


def main(cases: str) -> None:
    """Of the process that compiles."""
    device = shared_device(0)
    trust(device)
    print(device.name, flush=True)
    for scene, program, machine, fuse in json.loads(cases):
        file = shared() / "scenes" / {"bunny": "bunny.ply"}.get(scene, f"models/{scene}.glb")
        source = str(file) if file.is_file() else scene
        renderer = Renderer(source, program=program, machine=machine, fuse=fuse, device=device)
        for step, text in _sources(renderer):
            say(f"{_MARK}{scene}, {program}, {machine}{f' {fuse}' * (machine == 'multipass')}: {step}")
            began = time.process_time()
            with device.current():
                device.program(tiles_source(), text)
            say(f"{_SECONDS}{time.process_time() - began:.3f}")
    os._exit(0)  # what the driver waits for when it ends never comes


def _sources(renderer: Renderer) -> Iterator[tuple[str, Any]]:
    """The passes of a renderer's program."""
    scene, settings, form = renderer.gpu_scene, renderer.settings, Form(True, software=renderer.device.software_form)
    linked = scene.bind(scene.program(settings, scene.first_hits(settings, renderer.camera).mode), settings)
    if settings.machine == "singlepass":
        form = Form(False, software=form.software)
        yield "all", fragment(linked, linked.single(), form, renderer.gpu_scene.resources)
        return
    for step in linked.steps(settings.fuse, form.software):
        first, *_, last = (step.states[0], *step.states)
        name = first if first == last else f"{first} to {last}"
        yield name.replace("@", " of "), fragment(linked, step, form, renderer.gpu_scene.resources)


if __name__ == "__main__":
    main(sys.argv[1])
