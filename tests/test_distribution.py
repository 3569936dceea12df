"""The distribution: its dependencies, its scripts, and what a wheel has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from raystream.base import paths
from raystream.base.version import __version__

ROOT = Path(__file__).resolve().parents[1]


def project():
    """pyproject.toml as data."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_dependency_has_its_reason():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for dependency in project()["project"]["dependencies"]:
        (line,) = [line for line in lines if f'"{dependency}",' in line]
        assert len(line.partition("#")[2]) > 3, line


def files_below(folder):
    """The files of a folder, as paths from there."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def test_what_a_wheel_has():
    """The package, and of shaders and assets what it reads: the pages' pictures would be three quarters of it."""
    wheel = project()["tool"]["hatch"]["build"]["targets"]["wheel"]
    put = {}
    for source, where in wheel["force-include"].items():
        found = ROOT / source
        assert found.exists(), source
        files = [found] if found.is_file() else [path for path in found.rglob("*") if path.is_file()]
        put |= {str(path.relative_to(ROOT)): where + str(path)[len(str(found)) :] for path in files}
    expected = {f"{name}/{path}" for name in ("shaders", "assets") for path in files_below(ROOT / name)}
    expected = {name: f"raystream/{name}" for name in expected if not name.startswith("assets/pictures/")}
    put = {source: where for source, where in put.items() if "__pycache__" not in source}
    assert put == expected
    assert (wheel["only-include"], wheel["sources"]) == (["viewer"], {"viewer": "raystream"})


@pytest.mark.slow
def test_wheel_in_an_empty_environment(tmp_path):
    """The wheel brings shaders and assets, and its command renders, without a display and where nothing but the picture
    can be written; takes the packages from where pip finds them."""

    def python(*arguments, **settings):
        done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, cwd=tmp_path, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    source = tmp_path / "source"
    kept = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "out")
    shutil.copytree(ROOT, source, ignore=kept)
    python(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, source)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"raystream-{__version__}-py3-none-any")
    shutil.rmtree(source)
    python(sys.executable, "-m", "venv", tmp_path / "empty")
    inside = tmp_path / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
    python(inside / "python", "-m", "pip", "install", "-q", wheel)
    assert python(inside / "raystream", "--version") == f"raystream {__version__}\n"
    assert "usage: raystream" in python(inside / "raystream", "--help")
    assert python(inside / "python", "-m", "raystream", "--version") == f"raystream {__version__}\n"
    (installed,) = (tmp_path / "empty").rglob("raystream-*.dist-info/RECORD")
    folders = {line.split(",")[0].split("/")[0] for line in installed.read_text().splitlines()}
    assert {name for name in folders if name not in ("..", installed.parent.name)} == {"raystream"}
    where = python(
        inside / "python", "-c", "from raystream.base import paths; print(paths.shaders()); print(paths.assets())"
    )
    kept = files_below(paths.shaders()), {name for name in files_below(paths.assets()) if name.parts[0] != "pictures"}
    for folder, original in zip(where.splitlines(), kept, strict=True):
        assert str(tmp_path / "empty") in folder
        assert files_below(Path(folder)) == original
    bare = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "none" / "none")}
    (tmp_path / "none").touch()  # so that no folder can be made there
    python(inside / "raystream", "render", "cornell", "-o", "a.png", "--size", "8x8", "--program", "cast", env=bare)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
