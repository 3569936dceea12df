"""Commands executed Python files of the current folder, where others' models lie: children that were started as
``python -c`` looked for modules there first, and metadata of a plug-in there were taken for an installed one."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from signals import heeding

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600.0  # seconds, against hanging alone
# Modules of Python, of libraries and of raystream, and a plug-in: each says that it was executed.
MODULES = ("signal", "random", "json", "typing", "logging", "pickle", "struct", "subprocess", "threading", "ctypes") + (
    "sitecustomize",
    "usercustomize",
    "numpy",
    "numba",
    "moderngl",
    "lazy_loader",
    "raystream",
)
POINTS = "".join(f"[raystream.{group}]\nx = x_plugin\n" for group in ("formats", "programs", "materials"))
MODEL = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
RECIPE = """
views = 2
size = [8, 8]
cameras = { distance = 2 }
environment = { choices = [[1, 1, 1]] }
render = { spp = 1, denoise = "none", machine = "singlepass" }
models = [{ file = "a.obj" }]
"""
SMALL = ("--size", "8x8", "--spp", "1", "--machine", "singlepass", "--depth", "1")
PLACE = ("-o", "{stem}.png", *SMALL)
farmed = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="dask.distributed is not installed")
CALLS = [
    ("render", "a.obj", *PLACE),
    ("render", "a.obj", "b.obj", "--jobs", "2", *PLACE),
    pytest.param(("render", "a.obj", "--cluster", "local:1", *PLACE), marks=farmed),
    ("info", "a.obj"),
    ("thumbnail", "a.obj", "t.png", "16"),
    ("thumbnail", "--entry"),
    ("dataset", "r.toml"),
    ("dataset", "r.toml", "--jobs", "2"),
    pytest.param(("dataset", "r.toml", "--cluster", "local:1"), marks=farmed),
    ("diff", "p.png", "q.png"),
    ("devices",),
    pytest.param(("doctor", "-o", "report.json"), marks=pytest.mark.slow),
    ("graph", "path", "-o", "g.svg"),
    pytest.param(("check-shaders", "--program", "cast"), marks=pytest.mark.slow),
]
CAST = ("--machine", "singlepass", "--program", "cast")
STARTED = ("view", "a.obj", "--remote", "0", *CAST)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of models, recipes, pictures and decoys."""
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("a.obj", "b.obj"):
        (folder / name).write_text(MODEL)
    (folder / "r.toml").write_text(RECIPE)
    for name in ("p.png", "q.png"):
        Image.new("RGB", (8, 8), "red").save(folder / name)
    said = f"open({os.fspath(tmp_path / 'executed')!r}, 'a').write(__name__ + '\\n')\n"
    for name in (*MODULES, "x_plugin"):
        (folder / f"{name}.py").write_text(said)
    (folder / "x-1.0.dist-info").mkdir()
    (folder / "x-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    (folder / "x-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    script = tmp_path / "bin" / "raystream"  # as pip writes it
    script.parent.mkdir()
    script.write_text(
        "import sys\nfrom raystream.__main__ import entry\nif __name__ == '__main__':\n    sys.exit(entry())\n"
    )
    return folder


def _unsafe() -> dict[str, str]:
    """An environment in which Python takes modules from the current folder; nannies of other tests set the variable."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}


def _environment() -> dict[str, str]:
    paths = [str(ROOT), str(ROOT / "tools" / "editable")]
    ours = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    return _unsafe() | ours


def _executed(place: Path) -> list[str]:
    said = place.parent / "executed"
    return sorted(set(said.read_text().split())) if said.exists() else []


def test_decoys_are_executed_where_python_looks_for_them(place: Path) -> None:
    """Each is a trap."""
    for name in MODULES:
        subprocess.run([sys.executable, "-S", "-c", f"import {name}"], cwd=place, env=_unsafe(), check=True)
    assert _executed(place) == sorted(MODULES)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_nothing_is_executed(place: Path, call: tuple[str, ...]) -> None:
    command = [sys.executable, str(place.parent / "bin" / "raystream"), *call]
    done = subprocess.run(
        command, cwd=place, env=_environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert not _executed(place)
    assert done.returncode in ((0, 1) if call[0] == "doctor" else (0,)), done.stderr


@pytest.mark.usefixtures("device")
def test_nothing_is_executed_by_a_view(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYSTREAM_SETTINGS", os.fspath(place.parent / "settings.toml"))
    command = [sys.executable, str(place.parent / "bin" / "raystream"), *STARTED]
    process = subprocess.Popen(
        command, cwd=place, env=_environment(), stdout=subprocess.PIPE, text=True, preexec_fn=heeding
    )
    try:
        assert process.stdout is not None and process.stdout.readline().startswith("Open ")
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert not _executed(place)
    assert process.returncode == 143


PLUGINS = "import raystream; from raystream.base import distributions; print([*distributions.entry_points('formats')])"


@pytest.mark.parametrize(
    "start", [lambda place: ["-c", PLUGINS], lambda place: [str(place / "script.py")]], ids=["typed", "a script"]
)
def test_plug_ins_are_those_installed(place: Path, start: Callable[[Path], list[str]]) -> None:
    """Python itself takes modules from a script's folder, or the current one; metadata there are no installation."""
    for name in MODULES:
        (place / f"{name}.py").unlink()
    (place / "script.py").write_text(PLUGINS)
    command = [sys.executable, *start(place)]
    done = subprocess.run(command, cwd=place, env=_environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n" and not _executed(place)
