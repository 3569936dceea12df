"""A part of the suite once more, with Mesa held to OpenGL 3.3 and without the texture barrier."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HELD = "RAYSTREAM_TEST_HELD_TO_33"
ENVIRONMENT = {
    "MESA_GL_VERSION_OVERRIDE": "3.3",
    "MESA_GLSL_VERSION_OVERRIDE": "330",
    # The version alone leaves the extensions on.
    "MESA_EXTENSION_OVERRIDE": "-GL_ARB_texture_barrier -GL_NV_texture_barrier -GL_ARB_shader_image_load_store",
}


def test_machines_on_opengl_33(device):
    if "Mesa" not in str(device.info["GL_VERSION"]):
        pytest.skip(f"{device.name} is not a driver of Mesa, and cannot be held to OpenGL 3.3")
    if os.environ.get(HELD):
        pytest.skip("this is the held run")
    here = Path(__file__).parent
    chosen = "held or (everywhere and not sizes) or every_type or (every_pass and (kill or depth)) or "
    chosen += "(part_of_the_rays and 100)"
    files = [str(here / f"test_{name}.py") for name in ("opengl33", "machines", "record", "counters")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", chosen],
        cwd=here.parents[1],
        env={**os.environ, **ENVIRONMENT, HELD: "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "failed" not in done.stdout and "passed" in done.stdout


@pytest.mark.skipif(not os.environ.get(HELD), reason="run by test_machines_on_opengl_33, in a process of its own")
def test_the_driver_is_held(device):
    assert device.context.version_code == 330
    assert device.texture_barrier is None
    facts = device.describe()
    assert facts["opengl"] == "3.3" and not facts["early_fragment_tests"]
