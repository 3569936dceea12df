"""SIGTERM and Ctrl-C amid a key that works for long, such as Ctrl+S in a large scene, were lost: C code drops them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.signals import heeding
from tests.window.conftest import PATIENCE, place, screen, xdotool

__all__ = ["place", "screen"]  # fixtures

# `raystream view`, in which Ctrl+S tells that it has begun, and works for longer than the signal takes.
VIEW = """
import time
from pathlib import Path

from raystream.cli import main
from raystream.viewport import commands

def save(context, ending):
    Path("saving").touch()
    end = time.monotonic() + 600
    while time.monotonic() < end:
        time.sleep(0.01)

commands._save = save
main.entry()
"""
SHOWN = ("view", "teapotahedron", "--program", "cast", "--machine", "singlepass")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_window_ends_and_saves_its_settings(
    place: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.chdir(place)
    process = subprocess.Popen(
        [sys.executable, "-c", VIEW, *SHOWN], stderr=subprocess.PIPE, text=True, preexec_fn=heeding, cwd=place
    )
    end, saving = time.monotonic() + PATIENCE, place / "saving"
    while not saving.exists():
        assert process.poll() is None and time.monotonic() < end
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(process.pid)], capture_output=True, text=True
        ).stdout.split()
        if found:
            xdotool("windowfocus", found[0], "key", "t", "key", "ctrl+s")  # another tone map is kept
        time.sleep(0.1)
    time.sleep(0.3)  # the key works
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    assert "tonemap" in (place / "settings.toml").read_text()
