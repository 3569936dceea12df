"""Commands timed as new processes, with the caches of driver and compiled loops in folders of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT

# The end of `raystream render`'s line: seconds of its parts.
PARTS = re.compile(r"load ([\d.]+) s, build ([\d.]+) s, compile and render ([\d.]+) s$", re.MULTILINE)
CACHES = ("MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH", "RAYSTREAM_CACHE_DIR")


def caches(folder: Path) -> dict[str, str]:
    """An environment with the caches of driver and compiled loops in that folder, which is made."""
    for name in CACHES:
        (folder / name).mkdir(parents=True)
    return {**os.environ, **{name: str(folder / name) for name in CACHES}}


def process(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Wall and CPU time and peak memory of Python on a command, see `process.py`; of ``raystream render`` (but not with
    ``--quiet``) the parts ``load``, ``build`` and ``render`` in seconds, too. Raises RuntimeError when it fails."""
    helper = [sys.executable, "-I", "-S", str(ROOT / "tools/benchmarks/processes/process.py")]
    found, printed = output([*helper, sys.executable, *command], environment)
    if parts := PARTS.search(printed):
        found |= zip(("load", "build", "render"), map(float, parts.groups()), strict=True)
    return found


def phases(arguments: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Seconds of the parts of a first picture in a new process, see `phases.py`."""
    return output([sys.executable, str(ROOT / "tools/benchmarks/processes/phases.py"), *arguments], environment)[0]


def output(command: list[str], environment: dict[str, str]) -> tuple[dict[str, Any], str]:
    """What a command prints as data, and its standard error. Raises RuntimeError when it fails."""
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout) if done.returncode == 0 and done.stdout else {}
    if not found or found.pop("status", 0):
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
    return found, done.stderr
