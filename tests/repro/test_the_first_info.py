"""The first ``raystream info`` of a home was silent for 11 s, while loops were compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NOTE = "raystream: note: compiling what reads scenes and builds their trees, once on this machine"


def test_compiling_is_told_once(tmp_path: Path) -> None:
    environment = {**os.environ, "RAYSTREAM_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-P", "-m", "raystream", "info", "teapotahedron"]
    for told in ([NOTE], []):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert [line for line in done.stderr.splitlines() if "compiling" in line] == told
