"""A command's start: garbage, and modules that a first picture does without."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

from raystream.base import start

ROOT = Path(__file__).resolve().parents[2]


def test_what_modules_hold_is_no_garbage() -> None:
    script = "import gc\nfrom raystream.base.start import begin, finish_loading\nbegin()\nassert not gc.isenabled()\n"
    script += "finish_loading()\nassert gc.isenabled() and gc.get_freeze_count() > 1000"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
    assert gc.isenabled() and start.VARIABLES


def test_what_a_first_picture_does_without() -> None:
    """Each takes longer to load than a picture of few triangles takes."""
    script = "import sys\nfrom raystream.renderer.renderer import Renderer\n"
    script += "Renderer('cornell').render((8, 8), spp=1).png('auto', 'agx')\n"
    names = ("llvmlite", "numba", "numpy.ma", "numpy.random", "asyncio", "ssl", "multiprocessing")
    script += f"print(*(name for name in {names} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
