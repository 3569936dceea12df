"""`tools/fuzz.py` did not start without pytest: a maker of test documents imported it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLIND = """
import runpy, sys
class Absent:
    def find_spec(self, name, *given):
        if name.partition(".")[0] in ("pytest", "_pytest", "hypothesis"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
sys.argv = ["fuzz.py", "--help"]
runpy.run_path({fuzz!r}, run_name="__main__")
"""


def test_fuzz_starts() -> None:
    code = BLIND.format(fuzz=str(ROOT / "tools" / "fuzz.py"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout
