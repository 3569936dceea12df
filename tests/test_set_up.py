"""The two newcomer commands: set-up once, then quick; every fault one line that says what to do.

The commands run on a copy of the project whose Python is a script that only pretends to make an environment, so that
what is tested is what the commands decide, in a fraction of a second.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BASH = shutil.which("bash")
WORKERS = "-n|auto|--maxprocesses|4|--dist|loadfile|--no-loadscope-reorder"  # where no file of tests is named
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux") or BASH is None, reason="bash on Linux is needed")

# What tools/ calls; a PATH of these alone knows no apt-get and no sudo.
USED = ("bash", "uname", "dirname", "readlink", "cksum", "sed", "tail", "mktemp", "rm", "mkdir", "flock", "env")
USED += ("cat", "chmod", "grep", "cp", "id", "true")

# A Python that makes environments in which it is the Python, and whose pip only takes notes.
PYTHON = """#!/bin/sh
case "$*" in
    *"sys.version_info <"*) exit $(cat "{work}/old" 2>/dev/null || echo 0) ;;
    *ensurepip*) [ ! -e "{work}/no-ensurepip" ] ;;
    *"sys.version.split"*) echo "python 3.12.0 /usr" ;;
    *"python%d.%d-venv"*) echo python3.12-venv ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo venv >>"{work}/calls" ;;
    "-m pip --version") ;;
    "-m pip install"*)
        echo "pip $*" >>"{work}/calls"
        case "$*" in *"[denoise]") [ ! -e "{work}/no-denoiser" ] || exit 1 ;; esac
        if [ -e "{work}/no-network" ]; then echo "ERROR: no network"; exit 1; fi ;;
    "--version") echo "Python 3.10.12" ;;
    *) printf '%s|' "$PWD" "$@" ;;
esac
"""


class House:
    """A copy of the project's set-up with a PATH of its own."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.root = folder / "a house"
        self.bin = folder / "bin"
        for each in (self.work, self.root / "viewer" / "base", self.bin):
            each.mkdir(parents=True)
        shutil.copytree(ROOT / "tools", self.root / "tools")
        shutil.copy(ROOT / "pyproject.toml", self.root)
        shutil.copy(ROOT / "viewer" / "base" / "version.py", self.root / "viewer" / "base")
        for name in USED:
            (self.bin / name).symlink_to(str(shutil.which(name)))
        self.program("python3", PYTHON.format(work=self.work))
        self.program("ldconfig", "#!/bin/sh\necho libEGL.so.1 libGL.so.1 libEGL_nvidia.so.0\n")

    def program(self, name: str, text: str) -> None:
        """Put a program into the PATH."""
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def set(self, *marks: str) -> None:
        """Switch the fake Python's behaviours on."""
        for mark in marks:
            (self.work / mark).write_text("1")

    def run(self, command: str | Path, *arguments: str, cwd: Path | None = None, code: int = 0, **variables: str):
        """Run one of tools/, or a path, and hold it to the exit code; (output, lines of standard error)."""
        environment = {"PATH": str(self.bin), "HOME": str(self.work), **variables}
        path = command if os.sep in str(command) else self.root / "tools" / command
        done = subprocess.run(
            [str(BASH), str(path), *arguments],
            cwd=cwd or self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr.splitlines()

    def calls(self) -> list[str]:
        """What was made and installed since the last question."""
        notes = self.work / "calls"
        found = notes.read_text().splitlines() if notes.exists() else []
        notes.unlink(missing_ok=True)
        return found


@pytest.fixture
def house(tmp_path):
    """A fresh one."""
    return House(tmp_path)


def test_sets_up_once_and_then_only_runs(house):
    out, err = house.run("run", "render", "a scene", "--camera", "1,2,3 4,5,6")
    assert out == f"{house.work}|-P|-m|raystream|render|a scene|--camera|1,2,3 4,5,6|"
    steps = ["raystream: making .venv (once, about a minute)", "raystream: installing the Python packages"]
    inside = f"{house.root}/.venv/bin".replace(" ", "\\ ")
    ready = f"raystream: ready; go on with {inside}/raystream COMMAND, or once: source {inside}/activate,"
    assert err == [*steps, f"{ready} then: raystream COMMAND"]
    venv, pip = house.calls()
    assert venv == "venv" and pip.endswith("--editable .[denoise]")
    assert house.run("run", "--help") == (f"{house.work}|-P|-m|raystream|--help|", [])
    assert house.calls() == []


def test_where_open_image_denoise_cannot_be_had_the_rest_is_installed(house):
    house.set("no-denoiser")
    out, err = house.run("run")
    assert out == f"{house.work}|-P|-m|raystream|" and house.calls()[-1].endswith("--editable .")
    note = "raystream: note: Open Image Denoise could not be installed; pictures are denoised by fragment programs"
    assert note in err
    assert house.run("run")[1] == [] and house.calls() == []  # tried once


def test_tests_get_their_extra_and_keep_it(house):
    house.run("run")
    house.calls()
    out, err = house.run("test", "-k", "two words")
    assert out == f"{house.root}|-m|pytest|{WORKERS}|-k|two words|"
    assert err[:2] == ["raystream: updating .venv", "raystream: installing the Python packages"] and "ready" in err[2]
    assert house.calls()[0].endswith("--editable .[test]")
    house.run("run")
    house.run("test")
    assert house.calls() == []
    (house.root / "pyproject.toml").write_text("# other\n")
    house.run("run")
    assert house.calls()[0].endswith("--editable .[test]")


def test_an_unfinished_set_up_is_repeated(house):
    house.set("no-network")
    _, err = house.run("run", code=2)
    assert "ERROR: no network" in err
    assert err[-1].startswith("raystream: error: could not install the Python packages")
    (house.work / "no-network").unlink()
    _, err = house.run("run")
    assert err[0] == "raystream: making .venv (once, about a minute)"
    assert house.run("run")[1] == []


def test_somebody_s_own_environment_is_kept(house):
    (house.root / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(house.bin / "python3", house.root / ".venv" / "bin" / "python")
    (house.root / ".venv" / "mine").write_text("")
    assert house.run("run")[1][0] == "raystream: updating .venv"
    assert (house.root / ".venv" / "mine").exists()


APT = """#!/bin/sh
echo "apt-get $*" >>"{work}/apt"
[ ! -e "{work}/no-network" ] || {{ echo "E: no network"; exit 100; }}
"""


def without_libraries(house, user):
    """A Debian without OpenGL, as root or as a user."""
    house.program("ldconfig", "#!/bin/sh\necho libEGL_nvidia.so.0\n")
    house.program("apt-get", APT.format(work=house.work))
    house.program("id", f"#!/bin/sh\necho {user}\n")


def test_missing_libraries_are_installed_by_root(house):
    without_libraries(house, 0)
    _, err = house.run("run")
    assert err[0] == "raystream: installing libegl1 libgl1 (once)"
    update, install = (house.work / "apt").read_text().splitlines()
    assert update.startswith("apt-get update")
    assert install == "apt-get install -y --no-install-recommends libegl1 libgl1 -qq"


@pytest.mark.parametrize("sudo", [False, True])
def test_missing_libraries_without_rights_say_what_to_type(house, sudo):
    without_libraries(house, 1000)
    if sudo:
        house.program("sudo", "#!/bin/sh\nexit 1\n")
    _, (line,) = house.run("run", code=2)
    prefix = "sudo " if sudo else ""
    assert f"{prefix}apt-get install -y --no-install-recommends libegl1 libgl1" in line
    assert not (house.work / "apt").exists() and house.calls() == []


def test_too_old_a_python(house):
    house.set("old")
    _, (line,) = house.run("run", code=2)
    assert line.startswith("raystream: error: needs Python 3.11 or newer, found Python 3.10.12; install one")


def test_python_without_its_venv_package(house):
    house.set("no-ensurepip")
    _, (line,) = house.run("run", code=2)
    assert "cannot make virtual environments" in line and "sudo apt-get install -y python3-venv" in line
    house.program("apt-get", APT.format(work=house.work))
    house.program("id", "#!/bin/sh\necho 1000\n")
    _, (line,) = house.run("run", code=2)
    assert "as root type: apt-get update && apt-get install -y --no-install-recommends python3.12-venv" in line
