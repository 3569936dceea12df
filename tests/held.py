"""Tests run once more, in a process in which Mesa is held to OpenGL 3.3, without the texture barrier."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from raystream.stream.gl.device import Device

HELD = "RAYSTREAM_TEST_HELD_TO_33"  # set in that process
ENVIRONMENT = {
    "MESA_GL_VERSION_OVERRIDE": "3.3",
    "MESA_GLSL_VERSION_OVERRIDE": "330",
    # The version alone leaves the extensions on.
    "MESA_EXTENSION_OVERRIDE": "-GL_ARB_texture_barrier -GL_NV_texture_barrier -GL_ARB_shader_image_load_store",
}


def run_held(device: Device, files: list[str], chosen: str, *options: str) -> None:
    """Run the tests of these files that ``-k chosen`` takes, by other options of pytest, too; they must pass. Skips
    where the device's driver is not Mesa's, and in such a process."""
    if "Mesa" not in str(device.info["GL_VERSION"]):
        pytest.skip(f"{device.name} is not a driver of Mesa, and cannot be held to OpenGL 3.3")
    if os.environ.get(HELD):
        pytest.skip("this is the held run")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *files, "-k", chosen],
        cwd=Path(__file__).parents[1],
        env={**os.environ, **ENVIRONMENT, HELD: "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "failed" not in done.stdout and "passed" in done.stdout
