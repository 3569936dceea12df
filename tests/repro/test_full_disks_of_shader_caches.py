"""A cache folder on a full disk ended the process by SIGBUS, without a word: Mesa maps a file of its shader cache into
memory, whose blocks are not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# In a file system of its own: a disk of a MiB, on which all but some KiB are taken; $0 is its folder.
FULL = """
mount -t tmpfs -o size=1m none "$0" || exit 99
mkdir "$0/mesa_shader_cache"
[ "$INDEX" = none ] || truncate -s 1310728 "$0/mesa_shader_cache/index"
head -c 16M /dev/zero > "$0/taken" 2> /dev/null
exec "$@"
"""


def _on_a_full_disk(folder: Path, index: str, **variables: str) -> subprocess.CompletedProcess[str]:
    disk = folder / "disk"
    disk.mkdir()
    unset = ("MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE", "MESA_GLSL_CACHE_DIR", "MESA_SHADER_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {name: str(disk) if value == "DISK" else value for name, value in variables.items()}
    environment |= {"RAYSTREAM_CACHE_DIR": str(folder / "own"), "INDEX": index}
    command = ["raystream", "render", "cornell", "--size", "8x8", "--spp", "1", "--depth", "1", "-o"]
    inner = ["unshare", "--mount", "--map-root-user", "sh", "-c", FULL, str(disk)]
    inner += [sys.executable, "-P", "-m", *command, str(folder / "a.png")]
    done = subprocess.run(inner, env=environment, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or done.returncode == 99:
        pytest.skip("a file system of its own is not to be had here")
    return done


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts a file system")
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("index", ["none", "sparse"])
@pytest.mark.parametrize("variable", ["MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"])
def test_a_full_disk(tmp_path: Path, index: str, variable: str) -> None:
    done = _on_a_full_disk(tmp_path, index, **{variable: "DISK"})
    assert done.returncode == 0, (done.returncode, done.stderr)
    notes = [line for line in done.stderr.splitlines() if "no space left" in line]
    place = tmp_path / "disk" / "mesa_shader_cache"
    what = "no space left, so that shaders are compiled anew every time (make room on that disk)"
    assert notes == [f"raystream: note: {place}: {what}"]
    assert (tmp_path / "a.png").exists()
