"""``import raystream``: the public name of all that ``viewer/__init__.py`` lists, and the command by ``-m``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import raystream
import viewer
from viewer.base.version import __version__

ROOT = Path(__file__).resolve().parents[1]


def python(*arguments: str) -> str:
    """Standard output of Python from the checkout."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_names_are_the_package_s():
    assert raystream.__all__ == viewer.__all__ and dir(raystream) == dir(viewer) == sorted(viewer.__all__)
    for name in viewer.__all__:
        assert getattr(raystream, name) is getattr(viewer, name)
    assert raystream.farm.render.__module__ == "viewer.farm.pictures"
    with pytest.raises(AttributeError, match=r"^module 'raystream' has no attribute 'rendr'"):
        raystream.rendr  # noqa: B018


def test_it_is_quick():
    """NumPy, OpenGL and all else are imported when a name needs them."""
    code = "import sys, raystream; dir(raystream); print([n for n in ('numpy', 'moderngl', 'PIL') if n in sys.modules])"
    assert python("-c", code) == "[]\n"
    assert python("-c", "from raystream import *; print(Camera.__name__, render.__name__)") == "Camera render\n"


def test_the_command_by_its_module():
    assert python("-m", "raystream", "--version") == f"raystream {__version__}\n"
    assert python("-m", "raystream", "--help").startswith("usage: raystream COMMAND")


@pytest.mark.slow
def test_editors_know_the_names(tmp_path):
    """As a checker of types reads them: without running anything."""
    api = pytest.importorskip("mypy.api")
    code = (
        "import raystream\nreveal_type(raystream.Camera.framing)\nraystream.render('cornell').save(1)\nraystream.rendr"
    )
    (tmp_path / "script.py").write_text(code)
    shared = ["--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={tmp_path / 'cache'}"]
    out, errors, _ = api.run([*shared, f"--config-file={ROOT / 'pyproject.toml'}", str(tmp_path / "script.py")])
    assert not errors
    assert "-> viewer.scene.camera.Camera" in out and 'incompatible type "int"' in out
    assert 'Module has no attribute "rendr"' in out


def test_the_readme_speaks_of_it():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "import viewer" not in text and "import raystream" in text
    for script in (ROOT / "tools" / "examples").glob("[0-9]*.py"):
        assert "import raystream\n" in script.read_text() and "import viewer" not in script.read_text()
