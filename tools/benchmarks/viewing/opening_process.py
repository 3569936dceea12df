"""Processes of `opening`, with light imports at their beginning; the first two print JSON.

    python opening_process.py first STARTED SCENE
    python opening_process.py models WIDTH HEIGHT REST MODEL [MODEL ...]
    python opening_process.py move STAMPS LEFT TOP

``first`` begins as the command ``raystream view SCENE`` does, and tells when its parts are there, in seconds and CPU
seconds of the process. STARTED: when, by the monotonic clock, it was asked for. The parts: ``python``; ``arguments``
read; ``window``, on the screen; ``application``, with its modules; ``scene``, drawn under a headlight; ``program``,
whose shaders are compiled; ``picture``, the first that was traced, on the screen; ``panels`` over it.

``models`` opens models one after the other in a window whose pointer moves all the while. For each move: when it was
sent, when the window handled it, and when the next draw was on the screen, its answer. REST: seconds from a model's
first whole picture to the next model.

``move`` moves the pointer of an X server at a steady rate, each move to a place of its own, until its input ends. The
time of each move is written to the file STAMPS as float64, seconds of the monotonic clock, before it is sent. It is a
process of its own as the sender must not wait for the window that it measures.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

LONGEST, LONGEST_MODEL = 60.0, 240.0  # seconds for a first picture, for a model
PERIOD = 0.01  # seconds between two moves
COLUMNS, ROWS = 256, 128  # places of moves in turn, from the upper left one
PLACE = (40, 40)  # of the first move, pixels from the window's corner
MOST_LOST = 4096  # moves, one after the other


def place(number: int) -> tuple[int, int]:
    """Where a move goes, pixels from the first place."""
    return number % COLUMNS, number // COLUMNS % ROWS


def number(x: float, y: float, least: int) -> int:
    """The move to that place: of those with it, the first from ``least`` on."""
    first, cycle = round(y) * COLUMNS + round(x), COLUMNS * ROWS
    return first + max(0, -(-(least - first) // cycle)) * cycle


def move(stamps: str, left: str, top: str) -> None:
    """Move the pointer until standard input ends."""
    import ctypes
    import select
    import struct

    x11, xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    if not display:
        sys.exit("no display")
    sent, due = 0, time.monotonic()
    with open(stamps, "wb", buffering=0) as written:
        while not select.select([0], [], [], max(0.0, due - time.monotonic()))[0]:
            x, y = place(sent)
            written.write(struct.pack("=d", time.monotonic()))
            xtst.XTestFakeMotionEvent(display, -1, int(left) + x, int(top) + y, ctypes.c_ulong(0))
            x11.XFlush(display)
            sent, due = sent + 1, due + PERIOD


def first(started: str, scene: str) -> None:
    """Print when the parts of a first picture were there."""
    marks: dict[str, dict[str, float]] = {}

    def mark(part: str) -> None:
        seconds = time.monotonic() - float(started)
        marks.setdefault(part, {"seconds": seconds, "cpu_seconds": time.process_time()})

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

    def made(self: Window, *arguments: Any) -> None:
        make(self, *arguments)
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
    print(json.dumps(marks))
    app.release()


class Answers:
    """Records what a window does with the moves of its pointer. stamps : the sender's file."""

    def __init__(self, app: Any, stamps: Path) -> None:
        self.stamps = stamps
        self.handled: list[tuple[int, float]] = []  # number of each move, and when
        # Moves so far, when the draw after the last one was shown, and the CPU time of the window's thread until then.
        self.answered: list[tuple[int, float, float]] = []
        app.events.on_move, self._move = self._moved, app.events.on_move
        app.window.listen(app.events)
        app.window.swap, self._swap = self._swapped, app.window.swap

    def _moved(self, x: float, y: float) -> None:
        least = self.handled[-1][0] + 1 if self.handled else 0
        moves = number(x - PLACE[0], y - PLACE[1], least)
        sent = self.stamps.stat().st_size // 8 if self.stamps.exists() else 0  # each before its move
        if moves < sent and moves - least < MOST_LOST:  # else the pointer was there before
            self.handled.append((moves, time.monotonic()))
        self._move(x, y)

    def _swapped(self) -> None:
        self._swap()
        if not self.answered or len(self.handled) > self.answered[-1][0]:
            self.answered.append((len(self.handled), time.monotonic(), time.thread_time()))

    def report(self) -> dict[str, Any]:
        """Milliseconds from sending to handling and to the answer, and between answers."""
        import numpy as np

        def spread(seconds: Any) -> dict[str, float]:
            values = (*np.percentile(seconds, (50, 95, 99)), np.max(seconds))
            return {name: 1e3 * float(v) for name, v in zip(("median", "p95", "p99", "most"), values, strict=True)}

        sent = np.fromfile(self.stamps, np.float64)
        numbers = np.array([each for each, _ in self.handled])
        stamps, handled = sent[numbers], np.array([when for _, when in self.handled])
        counts, shown, used = (np.array(each) for each in zip(*self.answered, strict=True))
        inside = np.searchsorted(counts, np.arange(len(numbers)), side="right")
        answered = inside < len(shown)
        gaps, work = np.diff(shown), np.diff(used)
        late = {"handled_ms": handled - stamps, "answered_ms": shown[inside[answered]] - stamps[answered]}
        spreads = {name: spread(each) for name, each in {**late, "gap_ms": gaps, "gap_cpu_ms": work}.items()}
        over = {"over_60_ms": int((gaps > 0.06).sum()), "over_60_cpu_ms": int((work > 0.06).sum())}
        return {"moves": len(sent), "moves_handled": len(numbers), **spreads, **over}


def models(width: str, height: str, rest: str, *paths: str) -> None:
    """Open models under steady input, and print the answers."""
    import subprocess
    import tempfile

    import glfw

    from raystream.base import start
    from raystream.viewport.preferences import VARIABLE
    from raystream.window.opening import opened as opened_window

    start.begin()
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        settings = Path(folder) / "settings.toml"
        settings.write_text(f"size = [{width}, {height}]\n", encoding="utf-8")
        os.environ[VARIABLE] = str(settings)
        app = opened_window(paths[0])
        answers = Answers(app, Path(folder) / "stamps")
        left, top = (a + b for a, b in zip(glfw.get_window_pos(app.window.handle), PLACE, strict=True))
        command = [sys.executable, "-I", "-S", __file__, "move", str(answers.stamps), str(left), str(top)]
        sender = subprocess.Popen(command, stdin=subprocess.PIPE)
        opened: list[dict[str, Any]] = []
        try:
            for path in paths:
                began = time.monotonic()
                if opened:
                    app.events.on_drop([path])
                # Until its whole picture is on show.
                while app.scene_loader.shown_path != path or app.scene_loader.loading or not app.session.complete:
                    app.turn()
                    if time.monotonic() - began > LONGEST_MODEL:
                        raise RuntimeError(f"{path}: not there after {LONGEST_MODEL:g} s: {app.view.message.text}")
                opened.append({"model": Path(path).stem, "at": began, "seconds": time.monotonic() - began})
                while time.monotonic() - began < opened[-1]["seconds"] + float(rest):
                    app.turn()
        finally:
            sender.communicate()
        print(json.dumps({"opened": opened, "device": app.device.describe(), **answers.report()}))
        app.release()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "editable"))
    commands: dict[str, Any] = {"first": first, "models": models, "move": move}
    commands[sys.argv[1]](*sys.argv[2:])
