"""Opens models one after the other in a window under steady input; prints what it took as JSON.

    python opening_process.py WIDTH HEIGHT REST MODEL [MODEL ...]

The pointer moves all the while (`opening_input`). For each move: when it was sent, when the window handled it, and when
the next draw was on the screen, its answer. REST: seconds from a model's first whole picture to the next model.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "editable"))
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.viewing import opening_input

LONGEST = 240.0  # seconds for a model
PLACE = (40, 40)  # of the first move, pixels from the window's corner
MOST_LOST = 4096  # moves, one after the other


class Answers:
    """Records what a window does with the moves of its pointer. stamps : the sender's file."""

    def __init__(self, app: Any, stamps: Path) -> None:
        self.app, self.stamps = app, stamps
        self.handled: list[tuple[int, float]] = []  # number of each move, and when
        # Moves so far, when the draw after the last one was shown, and the CPU time of the window's thread until then.
        self.answered: list[tuple[int, float, float]] = []
        app.events.on_move, move = self._moved, app.events.on_move
        self._move = move
        app.window.listen(app.events)
        app.window.swap, self._swap = self._swapped, app.window.swap

    def _moved(self, x: float, y: float) -> None:
        least = self.handled[-1][0] + 1 if self.handled else 0
        number = opening_input.number(x - PLACE[0], y - PLACE[1], least)
        sent = self.stamps.stat().st_size // 8 if self.stamps.exists() else 0  # each before its move
        if number < sent and number - least < MOST_LOST:  # else the pointer was there before
            self.handled.append((number, time.monotonic()))
        self._move(x, y)

    def _swapped(self) -> None:
        self._swap()
        if not self.answered or len(self.handled) > self.answered[-1][0]:
            self.answered.append((len(self.handled), time.monotonic(), time.thread_time()))

    def report(self) -> dict[str, Any]:
        """Milliseconds from sending to handling and to the answer, and between answers."""
        sent = np.fromfile(self.stamps, np.float64)
        numbers = np.array([number for number, _ in self.handled])
        stamps, handled = sent[numbers], np.array([when for _, when in self.handled])
        counts, shown, used = (np.array(each) for each in zip(*self.answered, strict=True))
        inside = np.searchsorted(counts, np.arange(len(numbers)), side="right")
        known = inside < len(shown)
        answers = shown[inside[known]]
        waits, late = answers - stamps[known], handled - stamps
        gaps, work = np.diff(shown), np.diff(used)
        return {
            "moves": len(sent),
            "moves_handled": len(numbers),
            "handled_ms": _spread(late),
            "answered_ms": _spread(waits),
            "gap_ms": _spread(gaps),
            "gap_cpu_ms": _spread(work),
            "over_60_ms": int((gaps > 0.06).sum()),
            "over_60_cpu_ms": int((work > 0.06).sum()),
        }


def _spread(seconds: Any) -> dict[str, float]:
    median, high, higher = np.percentile(seconds, (50, 95, 99))
    return {name: 1e3 * float(v) for name, v in zip(("median", "p95", "p99"), (median, high, higher), strict=True)} | {
        "most": 1e3 * float(np.max(seconds))
    }


def main(width: str, height: str, rest: str, *models: str) -> None:
    """Open them and print."""
    import glfw

    from raystream.base import start
    from raystream.viewport.preferences import VARIABLE
    from raystream.window.opening import opened as opened_window

    start.begin()
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        settings = Path(folder) / "settings.toml"
        settings.write_text(f"size = [{width}, {height}]\n", encoding="utf-8")
        os.environ[VARIABLE] = str(settings)
        app = opened_window(models[0])
        answers = Answers(app, Path(folder) / "stamps")
        left, top = (a + b for a, b in zip(glfw.get_window_pos(app.window.handle), PLACE, strict=True))
        script = Path(opening_input.__file__)
        command = [sys.executable, "-I", "-S", str(script), str(answers.stamps), str(left), str(top)]
        sender = subprocess.Popen(command, stdin=subprocess.PIPE)
        opened: list[dict[str, Any]] = []
        try:
            for number, model in enumerate(models):
                began = time.monotonic()
                if number:
                    app.events.on_drop([model])
                while not _whole(app, model):
                    app.turn()
                    if time.monotonic() - began > LONGEST:
                        raise RuntimeError(f"{model}: not there after {LONGEST:g} s: {app.view.message.text}")
                opened.append({"model": Path(model).stem, "at": began, "seconds": time.monotonic() - began})
                while time.monotonic() - began < opened[-1]["seconds"] + float(rest):
                    app.turn()
        finally:
            sender.communicate()
        print(json.dumps({"opened": opened, "device": app.device.describe(), **answers.report()}))
        app.release()


def _whole(app: Any, model: str) -> bool:
    """Whether the model's whole picture is on show."""
    return app.scene_loader.shown_path == model and not app.scene_loader.loading and app.session.complete


if __name__ == "__main__":
    main(*sys.argv[1:])
