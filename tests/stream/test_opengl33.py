"""A part of the suite once more, with Mesa held to OpenGL 3.3 and without the texture barrier."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.held import HELD, run_held


def test_machines_on_opengl_33(device):
    here = Path(__file__).parent
    chosen = "held or (everywhere and not sizes) or every_type or (every_pass and (kill or depth)) or "
    chosen += "(part_of_the_rays and 100)"
    files = [str(here / f"test_{name}.py") for name in ("opengl33", "machines", "record", "counters")]
    run_held(device, files, chosen)


@pytest.mark.skipif(not os.environ.get(HELD), reason="run by test_machines_on_opengl_33, in a process of its own")
def test_the_driver_is_held(device):
    assert device.context.version_code == 330
    assert device.texture_barrier is None
    facts = device.describe()
    assert facts["opengl"] == "3.3" and not facts["early_fragment_tests"]
