"""The window as a new process: prints, as JSON, when its parts are there, in seconds and CPU seconds of the process.

    python first_picture.py STARTED SCENE

It begins as the command ``raystream view SCENE`` does. STARTED: when, by the monotonic clock, the process was asked
for. The parts: ``python``; ``arguments`` read; ``window``, on the screen; ``application``, with its modules; ``scene``,
drawn under a headlight; ``program``, whose shaders are compiled; ``picture``, the first that was traced, on the screen;
``panels`` over it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

LONGEST = 60.0  # seconds for a picture


def main(started: str, scene: str) -> None:
    """Measure and print."""
    marks: dict[str, tuple[float, float]] = {}

    def mark(part: str) -> None:
        marks.setdefault(part, (time.monotonic() - float(started), time.process_time()))

    mark("python")
    from raystream.base import start

    start.begin()
    from raystream.cli import main as command
    from raystream.cli.commands import view_options

    arguments = command._parse("view", [scene])
    mark("arguments")
    from raystream.window import opening
    from raystream.window.window import Window

    make = Window.__init__

    def made(self: Window, *given: Any) -> None:
        make(self, *given)
        mark("window")

    Window.__init__ = made  # type: ignore[method-assign, assignment]
    app = opening.opened(scene, **view_options(arguments))
    mark("application")
    swap = app.window.swap

    def swapped() -> None:
        swap()
        if app.scene_loader.first_picture.shown:
            mark("scene")
        if app.session.pictures:
            mark("picture")
        if app.events.gui is not None:
            mark("panels")

    app.window.swap = swapped  # type: ignore[method-assign]
    while not {"picture", "panels"} <= marks.keys():
        app.turn()
        if app.session.running and not app.session.pictures:
            mark("program")
        if time.monotonic() - float(started) > LONGEST:
            raise RuntimeError(f"no picture: {app.view.message.text}")
    print(json.dumps({part: {"seconds": wall, "cpu_seconds": cpu} for part, (wall, cpu) in marks.items()}))
    app.release()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "editable"))
    main(*sys.argv[1:])
