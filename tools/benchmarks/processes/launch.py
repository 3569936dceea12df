"""Commands timed as new processes, with the caches of driver and compiled loops in folders of their own.

    python launch.py run COMMAND [ARGUMENT ...]
    python launch.py phases SCENE CAMERA FOV WIDTH HEIGHT [PROGRAM]

As a script, of light imports: ``run`` prints a command's cost as JSON (on Linux a child's peak memory starts at that of
its forking process, so that a large parent would hide it), ``phases`` the seconds of a first picture's parts:
``import`` of the renderer; ``load`` of the scene; ``device``, opening OpenGL; ``build`` of the structure and the
tables; ``first run``, of one sample, with upload and the driver's compilation; ``next run``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
# The end of `raystream render`'s line: seconds of its parts.
PARTS = re.compile(r"load ([\d.]+) s, build ([\d.]+) s, compile and render ([\d.]+) s$", re.MULTILINE)
CACHES = ("MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH", "RAYSTREAM_CACHE_DIR")
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes, of ru_maxrss


def caches(folder: Path) -> dict[str, str]:
    """An environment with the caches of driver and compiled loops in that folder, which is made."""
    for name in CACHES:
        (folder / name).mkdir(parents=True)
    return {**os.environ, **{name: str(folder / name) for name in CACHES}}


def process(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Wall and CPU time and peak memory of Python on a command, see `run`; of ``raystream render`` (but not with
    ``--quiet``) the parts ``load``, ``build`` and ``render`` in seconds, too. Raises RuntimeError when it fails."""
    cost, printed = output([sys.executable, "-I", "-S", __file__, "run", sys.executable, *command], environment)
    if parts := PARTS.search(printed):
        cost |= zip(("load", "build", "render"), map(float, parts.groups()), strict=True)
    return cost


def phases(arguments: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Seconds of the parts of a first picture in a new process."""
    return output([sys.executable, __file__, "phases", *arguments], environment)[0]


def output(command: list[str], environment: dict[str, str]) -> tuple[dict[str, Any], str]:
    """The data that a command prints, and its standard error. Raises RuntimeError when it fails."""
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    data = json.loads(done.stdout) if done.returncode == 0 and done.stdout else {}
    if not data or data.pop("status", 0):
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
    return data, done.stderr


def run(*command: str) -> dict[str, float | int]:
    """Cost of a command: wall and CPU seconds, peak memory in bytes, exit status. Its standard output goes to standard
    error."""
    started = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
    _, status, usage = os.wait4(child, 0)
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT
    seconds, code = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
    return {"seconds": seconds, "cpu_seconds": cpu, "peak_bytes": peak, "status": code}


def measure_phases(
    scene: str, camera: str, fov: str, width: str, height: str, program: str = "cast"
) -> dict[str, float]:
    """Seconds by part."""
    sys.path.insert(0, str(ROOT / "tools" / "editable"))
    seconds: dict[str, float] = {}
    at = time.perf_counter()

    def done(part: str) -> None:
        nonlocal at
        now = time.perf_counter()
        seconds[part], at = now - at, now

    import raystream
    from raystream.renderer.renderer import Renderer
    from raystream.stream.gl.device import shared_device

    done("import")
    loaded = raystream.load(scene)
    done("load")
    device = shared_device()
    done("device")
    renderer = Renderer(loaded, camera=camera, fov=float(fov), device=device, program=program)
    done("build")
    for part in ("first run", "next run"):
        renderer.render((int(width), int(height)), spp=1)
        done(part)
    return seconds


if __name__ == "__main__":
    print(json.dumps((run if sys.argv[1] == "run" else measure_phases)(*sys.argv[2:])))
