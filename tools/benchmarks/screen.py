"""A display for the scripts that open windows, the user's or one of Xvfb's own, and the application in a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from raystream.base.errors import ViewerError
from raystream.scene.scene import Scene


@contextmanager
def screen(size: tuple[int, int], own: bool = False) -> Iterator[str]:
    """The display to draw on: the present one, or else (with ``own`` always) a temporary Xvfb of ``size``.

    Raises ViewerError without either.
    """
    there = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or not sys.platform.startswith("linux")
    if there and not own:
        yield "the display"
        return
    if shutil.which("Xvfb") is None:
        raise ViewerError("window", "there is no display, and no Xvfb", "on Debian and Ubuntu: apt-get install xvfb")
    reading, writing = os.pipe()
    shape = f"{size[0]}x{size[1]}x24"
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", shape, "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    before = {name: os.environ.pop(name, None) for name in ("DISPLAY", "WAYLAND_DISPLAY")}
    try:
        with os.fdopen(reading) as answer:
            number = answer.readline().strip()  # empty when the server ends
        if not number:
            raise ViewerError("Xvfb", f"ended with {server.wait()}", "try it by hand: Xvfb :99")
        os.environ["DISPLAY"] = f":{number}"
        yield "Xvfb"
    finally:
        os.environ.pop("DISPLAY", None)
        os.environ.update({name: value for name, value in before.items() if value is not None})
        server.terminate()
        server.wait()


@contextmanager
def window(
    source: str | Scene, size: tuple[int, int], camera: str | None = None, options: Any = None, **preferences: Any
) -> Iterator[Any]:
    """The application with a scene, by these options or path traced, and with preferences of its own."""
    from raystream.viewport.preferences import Preferences
    from raystream.window.app import App

    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        settings = Preferences(path=Path(folder) / "settings.toml", **preferences)
        app = App(source, size, settings, **{"camera": camera, "program": "path", **(options or {})})
        try:
            yield app
        finally:
            app.release()
