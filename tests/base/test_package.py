"""The package's name: ``raystream`` from anywhere, whatever is called ``viewer``; in a checkout ``-m viewer``, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from raystream.base.version import __version__

ROOT = Path(__file__).resolve().parents[2]


def python(*words: str, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.parametrize("words", [["-m", "viewer"], ["-m", "raystream"], ["viewer"]], ids=" ".join)
def test_the_command_in_a_checkout(words):
    """By its folder's name and path, too."""
    done = python(*words, "--version", cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"raystream {__version__}\n", "")


def test_a_checkout_that_is_not_installed(tmp_path):
    """``-m viewer`` needs no installation: its modules are those of the folder, once."""
    (tmp_path / "viewer").symlink_to(ROOT / "viewer")
    code = "import runpy, sys\nsys.argv = ['-m', '--version']\nsys.path.insert(0, '')\ntry:\n"
    code += "    runpy.run_module('viewer', run_name='__main__')\nexcept SystemExit:\n    pass\n"
    code += "print(*sorted({name.split('.')[0] for name in sys.modules} & {'viewer', 'raystream'}))\n"
    code += "print(sys.modules['raystream'].__file__, 'viewer.cli' in sys.modules)\n"
    done = python("-c", code, cwd=tmp_path)
    assert done.stdout.splitlines()[1:] == ["raystream viewer", f"{tmp_path}/viewer/__init__.py False"], done.stderr


def test_others_of_these_names(tmp_path):
    """A script's own ``viewer``, and a folder of a clone's name beside it, are none of ours, and do no harm."""
    (tmp_path / "raystream").mkdir()
    (tmp_path / "viewer.py").write_text("mine = 7\n")
    text = "import viewer, raystream\nprint(raystream.Camera.__module__, raystream.__version__, viewer.mine)\n"
    (tmp_path / "script.py").write_text(text)
    for words in (["script.py"], ["-c", text]):
        done = python(*words, cwd=tmp_path)
        assert (done.stdout, done.stderr) == (f"raystream.scene.camera {__version__} 7\n", "")


def test_children_find_it_where_nothing_is_installed(tmp_path):
    """By the folder that holds the package under its name."""
    code = "from raystream.base.start import python_command\nprint(*python_command('pass')[3:])"
    done = python("-c", code, cwd=tmp_path)
    assert f"sys.path.insert(0, '{ROOT / 'tools' / 'editable'}')" in done.stdout
    assert os.listdir(ROOT / "tools" / "editable") == ["raystream"]
