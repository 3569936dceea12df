"""Another package called ``viewer``: told in one line, whether it stands beside ours or in its place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import viewer
from viewer.base import clash

ROOT = Path(__file__).resolve().parents[2]


def distribution(folder: Path, name: str, files: str) -> None:
    """What pip leaves of a distribution."""
    (folder / f"{name}.dist-info").mkdir()
    (folder / f"{name}.dist-info" / "RECORD").write_text(files)


def test_others_of_the_same_name(tmp_path):
    distribution(tmp_path, "raystream-0.1.0", "viewer/__init__.py,sha256=x,1\n")
    distribution(tmp_path, "innocent-1.0", "innocent/viewer/__init__.py,,\npreviewer.py,,\n")
    assert clash.remark([str(tmp_path)]) == ""
    distribution(tmp_path, "picture_viewer-2.1", "viewer/__init__.py,sha256=x,1\nviewer/show.py,,\n")
    distribution(tmp_path, "other-3", "other.py,,\r\nviewer.py,,\r\n")
    assert sorted(clash.others([str(tmp_path)] * 2)) == ["other 3", "picture_viewer 2.1"]
    assert "install a package 'viewer', too: give raystream an environment of its own" in clash.remark([str(tmp_path)])


def test_ours_is_known():
    assert viewer.__distribution__ == clash.OURS and viewer.__name__ == clash.NAME


def command(*path: Path) -> subprocess.CompletedProcess:
    """``raystream --version`` with these folders before the project's own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT, ROOT / "viewer" / "launch")))}
    code = "import sys; sys.argv = ['raystream', '--version']; import raystream; raystream.entry()"
    return subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("text", ["", "import viewer.nothing_of_that_name"])
def test_another_before_ours(tmp_path, text):
    (tmp_path / "viewer").mkdir()
    (tmp_path / "viewer" / "__init__.py").write_text(text)
    done = command(tmp_path)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("raystream: error: ") and "environment of its own" in done.stderr
    assert text or str(tmp_path / "viewer") in done.stderr


def test_the_command_says_who(tmp_path):
    distribution(tmp_path, "other-3", "viewer.py,,\n")
    done = command(tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("raystream ")
    assert done.stderr.startswith("raystream: note: other 3 installs a package 'viewer', too")
    assert command().stderr == ""
