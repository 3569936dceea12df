"""Another package called ``viewer``: harmless before ours, told in one line beside it or in its place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import viewer
from viewer.base import distributions

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "viewer" / "launch"


def distribution(folder: Path, name: str, files: str) -> None:
    """What pip leaves of a distribution."""
    (folder / f"{name}.dist-info").mkdir()
    (folder / f"{name}.dist-info" / "RECORD").write_text(files)


def test_others_of_the_same_name(tmp_path):
    distribution(tmp_path, "raystream-0.1.0", "viewer/__init__.py,sha256=x,1\n")
    distribution(tmp_path, "innocent-1.0", "innocent/viewer/__init__.py,,\npreviewer.py,,\n")
    assert distributions.remark([str(tmp_path)]) == ""
    distribution(tmp_path, "picture_viewer-2.1", "viewer/__init__.py,sha256=x,1\nviewer/show.py,,\n")
    distribution(tmp_path, "other-3", "other.py,,\r\nviewer.py,,\r\n")
    assert sorted(distributions.others([str(tmp_path)] * 2)) == ["other 3", "picture_viewer 2.1"]
    assert "install a package 'viewer', too: give raystream an environment of its own" in distributions.remark(
        [str(tmp_path)]
    )


def test_ours_is_known():
    assert viewer.__distribution__ == distributions.OURS and viewer.__name__ == distributions.NAME


def python(code: str, *path: Path, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Code in a process of its own, with these folders before the project's."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, LAUNCH, ROOT)))}
    return subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, cwd=cwd)


def command(*path: Path) -> subprocess.CompletedProcess:
    """``raystream --version``, as the installed script runs it."""
    code = "import sys; sys.argv = ['raystream', '--version']; from raystream.__main__ import entry; entry()"
    return python(code, *path)


@pytest.mark.parametrize("text", ["", "import viewer.nothing_of_that_name"])
def test_another_before_ours_does_no_harm(tmp_path, text):
    (tmp_path / "viewer").mkdir()
    (tmp_path / "viewer" / "__init__.py").write_text(text)
    done = command(tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("raystream ")


@pytest.mark.parametrize("text", ["", "import viewer.nothing_of_that_name"])
def test_another_in_place_of_ours(tmp_path, text):
    """As pip leaves it where two distributions contain a file of one name."""
    shutil.copytree(LAUNCH / "raystream", tmp_path / "raystream", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "viewer").mkdir()
    (tmp_path / "viewer" / "__init__.py").write_text(text)
    done = command(tmp_path)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("raystream: error: ") and "environment of its own" in done.stderr
    assert str(tmp_path / "viewer") in done.stderr
    done = python("import raystream; print('here'); raystream.render", tmp_path)
    assert done.stdout == "here\n" and "ImportError: " in done.stderr and "environment of its own" in done.stderr


def test_a_script_s_own_viewer(tmp_path):
    """``viewer.py`` beside a script, or the script itself: raystream does not take it for its own package."""
    text = "import sys, raystream; print(raystream.Camera.__module__, raystream.__version__, __name__)"
    (tmp_path / "viewer.py").write_text(text)
    (tmp_path / "script.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (LAUNCH, ROOT)))}
    for words in (["script.py"], ["viewer.py"], ["-m", "raystream", "--version"]):
        done = subprocess.run(
            [sys.executable, *words], env=environment, capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), words
        expected = "viewer.scene.camera " if words[0] != "-m" else "raystream "
        assert done.stdout.startswith(expected) and viewer.__version__ in done.stdout


def test_a_script_s_own_viewer_in_use(tmp_path):
    """Both cannot be had under one name: told in one line, with the file."""
    (tmp_path / "viewer.py").write_text("")
    done = python("import viewer, raystream; raystream.render", tmp_path)
    line = f"{tmp_path / 'viewer.py'}: is another module 'viewer', imported before raystream"
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith(f"ImportError: {line}")
    done = python("import raystream, viewer; viewer.mine", tmp_path)
    assert "no attribute 'mine' (the package of raystream" in done.stderr


def test_the_command_says_who(tmp_path):
    distribution(tmp_path, "other-3", "viewer.py,,\n")
    done = command(tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("raystream ")
    assert done.stderr.startswith("raystream: note: other 3 installs a package 'viewer', too")
    assert command().stderr == ""
