"""The command as a process: help, exit codes, progress on a terminal, what is left when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from calls import PATIENCE, process, run
from signals import heeding

from raystream.cli import main as cli
from raystream.options.declare import PAPERS
from raystream.options.table import OPTIONS, by_topic


def helped(capsys, monkeypatch, *words, width=80):
    monkeypatch.setenv("COLUMNS", str(width))
    run(*words)
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_help_is_a_screen(command, capsys, monkeypatch):
    text = helped(capsys, monkeypatch, *([command] if command else []), "--help")
    lines = text.splitlines()
    assert text.startswith(f"usage: raystream {command or 'COMMAND'} ") and text.endswith("\n")
    assert len(lines) <= 40 and max(map(len, lines)) <= 80


def test_every_option_has_a_topic():
    topics = by_topic(OPTIONS.values())
    assert "" not in topics and "all" not in topics and list(topics)[-1] == PAPERS
    assert {"machine", "barrier", "memory", "tile", "count", "mask", "unroll", "policy", "fuse", "unit"} <= {
        option.name for option in topics[PAPERS]
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("render", "--help", "lihgt"), "--help lihgt: unknown topic (did you mean 'light'?)"),
        (("doctor", "-h", "qq"), "--help qq: unknown topic (topics: all, options, device, command)"),
    ],
)
def test_unknown_topics(words, said, capsys):
    run(*words, code=2)
    assert capsys.readouterr() == ("", f"raystream: error: {said}\n")


def test_help_loads_nothing_heavy():
    script = (
        "import sys; from raystream.cli.main import main; main(['--help']); main(['render', '--help'])\n"
        "print([m for m in ('numba', 'llvmlite', 'rich', 'moderngl', 'OpenEXR', 'PIL', 'pyrr') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.splitlines()[-1] == "[]"


def test_reader_gone_is_quiet():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-P", "-m", "raystream", "render", "--help"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=PATIENCE)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk_under_the_output_is_told():
    command = [sys.executable, "-P", "-m", "raystream", "--help"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (2, b"raystream: error: No space left on device\n")


def shell(line, folder, *arguments, **environment):
    """Exit code, output and error of a line of bash in which $0 is Python, and $1, $2 ... are the arguments."""
    command = ["bash", "-c", line, sys.executable, *map(str, arguments)]
    every = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=every, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_standard_files_that_are_closed_or_know_few_characters(tmp_path):
    """None is called a bug of raystream, and no file that is opened later takes a closed one's number."""
    model, info = tmp_path / "würfel.obj", '"$0" -m raystream info "$1"'
    model.write_text("o Würfel\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    line = "raystream: error: standard output: is closed (give it a file or a terminal)\n"
    assert shell(f"{info} >&-", tmp_path, model) == (2, "", line)
    assert shell(f"{info} 2>&-", tmp_path, "nope.obj") == (2, "", "")
    code, out, err = shell(info, tmp_path, model, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "") and out.startswith("w\\xfcrfel")
    script = "import sys; from raystream.cli import main; main._open_standard_files()\n"
    script += "print(open('made', 'w').fileno(), file=sys.stderr)"
    code, _, number = shell('"$0" -c "$1" <&- >&-', tmp_path, script)
    assert code == 0 and int(number) > 2


def test_compiling_of_loops_is_told_once(tmp_path):
    """The first ``raystream info`` of a home takes ten seconds more."""
    note = "raystream: note: compiling what reads scenes and builds their trees, once on this machine"
    for told in ([note], []):
        done = process("info", "teapotahedron", env={**os.environ, "RAYSTREAM_CACHE_DIR": str(tmp_path)}, check=True)
        assert [line for line in done.stderr.splitlines() if "compiling" in line] == told


@pytest.mark.parametrize("delay", [0.05, 0.4, 1.5])
def test_interrupted_process_leaves_nothing(tmp_path, delay):
    script = "from raystream.cli.main import entry; print('begins', flush=True); entry()"
    if delay > 0.3:  # modules are there by then, on a slow machine, too: some of what comes amid imports is dropped
        script = "import raystream.cli.rendering, raystream.renderer.renderer; " + script
    command = [sys.executable, "-P", "-c", script, "render", "cornell", "-o", "a.png", "--size", "8192x8192"]
    command += ["--stats", "s.json", "--program", "cast"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen(command, cwd=tmp_path, text=True, preexec_fn=heeding, **pipes)
    assert child.stdout is not None and child.stdout.readline() == "begins\n"
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    try:
        _, err = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    if delay > 0.3:  # before, it may not have come to where it heeds the signal
        assert (child.returncode, err) == (130, "raystream: stopped\n")
    assert child.returncode != 0
    assert os.listdir(tmp_path) == []
