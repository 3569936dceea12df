"""The window in flight: latency of an input's picture, pictures per second, and their resolution.

The camera flies to and fro all the while, and at random times an input is added: a drag that turns the view. Its
latency runs from its arrival, at any point of the loop, to the hand-over to the display of the first picture begun
after it. Frames are pictures with a camera each; the resolution is the window's choice to keep up.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.scenes import View, found
from benchmarks.screen import screen
from raystream.base.errors import ViewerError
from raystream.scene.camera import Camera

ABOUT = "latency from input to picture and frames per second, flying"

SIZE = (960, 540)
SCENES = ("bunny", "dragon", "forest inside")
PROGRAMS = ("path", "cast")
GAP = (0.05, 0.25)  # seconds between two inputs
TURNING = 0.5  # seconds of flight to one side
WARM_UP = 1.0  # seconds of flight before measurements
LIMIT_MS = 50.0  # limit of the window's latency


def run(options: Options) -> Result:
    """Fly through every scene in a window of its own."""
    size, seconds = ((320, 180), 1.0) if options.quick else (SIZE, 8.0)
    views, missing = found(("teapotahedron",) if options.quick else SCENES)
    data: dict[str, Any] = {
        "size": size,
        "seconds_of_flight": seconds,
        "warm_up_seconds": WARM_UP,
        "missing": missing,
        "scenes": {},
    }
    if not views:
        raise ViewerError("window", "none of its scenes is here", missing[0])
    with screen((1280, 1024)) as where:
        data["display"] = where
        for each in views:
            for program in PROGRAMS:
                say(f"{each.name}, {program}: flying for {seconds:g} s")
                name = each.name if program == PROGRAMS[0] else f"{each.name}, {program}"
                data["scenes"][name] = _scene(each, program, size, seconds, data)
    return Result(data, _tables(data))


class _Flight:
    """Drives an application and records the times of events."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.latencies: list[float] = []
        self.turns: list[float] = []
        self.work: list[float] = []  # CPU time of a frame, all threads: less sensitive to other load
        self.scales: list[float] = []
        self.shown: list[float] = []  # hand-over times of pictures to the display
        self._random = random.Random(1)
        self._due = 0.0  # time of the next input
        self._input: float | None = None  # time of an input without a picture yet
        self._begun = False  # a picture has been started since
        self._pictures = app.session.pictures
        events, begin, swap = app.window.events, app.session.scheduler.next, app.window.swap

        def took_events(wait: float) -> None:
            events(wait)
            if self._input is None and time.perf_counter() >= self._due:
                self._input, self._begun = self._due, False
                app.view.controller.orbit(self._random.choice((-3, 3)), 0)

        def began(*arguments: Any) -> Any:
            self._begun = True
            return begin(*arguments)

        def swapped() -> None:
            swap()
            now = time.perf_counter()
            if app.session.pictures == self._pictures:
                return
            self._pictures = app.session.pictures
            self.shown.append(now)
            self.scales.append(app.session.scale)
            if self._input is not None and self._begun:
                self.latencies.append(now - self._input)
                self._input, self._due = None, now + self._random.uniform(*GAP)

        app.window.events, app.session.scheduler.next, app.window.swap = took_events, began, swapped

    def fly(self, seconds: float) -> None:
        """Fly to and fro for ``seconds``."""
        self.latencies, self.turns, self.work, self.scales, self.shown = [], [], [], [], []
        self._input, self._due = None, time.perf_counter() + self._random.uniform(*GAP)
        began = time.perf_counter()
        sides = ("left", "right")
        while (now := time.perf_counter() - began) < seconds:
            side = int(now / TURNING) % 2
            self.app.view.controller.release(sides[1 - side])
            self.app.view.controller.press(sides[side])
            used = time.process_time()
            self.app.turn()
            self.turns.append(self.app.turn_seconds)
            self.work.append(time.process_time() - used)
        self.app.view.controller.release_all()
        self._input, self._due = None, float("inf")


def _scene(each: View, program: str, size: tuple[int, int], seconds: float, data: dict[str, Any]) -> dict[str, Any]:
    from raystream.viewport.preferences import Preferences
    from raystream.window.app import App

    camera = each.camera.text() if isinstance(each.camera, Camera) else each.camera
    fov = each.camera.fov if isinstance(each.camera, Camera) else None
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        preferences = Preferences(path=Path(folder) / "settings.toml")
        app = App(each.source, size, preferences, camera, fov, program=program, machine="singlepass")
        try:
            while app.draws == 0:
                app.turn()
            while app.view.renderer is None and app.scene_loader.loading is not None:
                app.turn()
            if app.view.renderer is None:
                raise ViewerError(each.source, app.view.message.text, "it could not be shown")
            while not app.session.complete:
                app.turn()
            data.setdefault("facts", facts(app.device))
            controller = _Flight(app)
            controller.fly(min(WARM_UP, seconds))
            controller.fly(seconds)
            frames, stopped = len(controller.shown), time.perf_counter()
            while not app.session.complete or (app.view.controller and app.view.controller.moving):
                app.turn()
            rest = time.perf_counter() - stopped
            return {
                "triangles": len(app.view.renderer.prepared.triangles),
                "inputs": len(controller.latencies),
                "latency_ms": _spread(controller.latencies),
                "turn_ms": _spread(controller.turns),
                "turn_cpu_ms": _spread(controller.work),
                "late_turns": sum(1e3 * t > LIMIT_MS for t in controller.turns) / len(controller.turns),
                "frames_per_second": frames / seconds,
                "scale": statistics.median(controller.scales[:frames]),
                "resolution": [round(n * statistics.median(controller.scales[:frames])) for n in size],
                "rest_ms": 1e3 * rest,
            }
        finally:
            app.release()


def _spread(seconds: list[float]) -> dict[str, float]:
    """Median, 95th percentile and the largest, milliseconds."""
    if not seconds:
        raise ViewerError("window", "no picture was shown in all the time", "let it fly on a quieter machine")
    median, high = np.percentile(seconds, (50, 95))
    return {"median": 1e3 * float(median), "p95": 1e3 * float(high), "most": 1e3 * max(seconds)}


def _tables(data: dict[str, Any]) -> list[Table]:
    width, height = data["size"]
    rows = [
        (
            name,
            scene["triangles"],
            scene["frames_per_second"],
            "{} x {}".format(*scene["resolution"]),
            scene["latency_ms"]["median"],
            scene["latency_ms"]["p95"],
            scene["turn_ms"]["p95"],
            scene["turn_ms"]["most"],
            scene["turn_cpu_ms"]["most"],
            scene["rest_ms"],
        )
        for name, scene in data["scenes"].items()
    ]
    columns: tuple[str, ...] = (
        "scene",
        "triangles",
        "frames/s",
        "resolution",
        "latency ms",
        "p95",
        "turn p95 ms",
        "most",
    )
    columns += ("most CPU ms", "at rest ms")
    note = (
        f"A window of {width} x {height} on {data['display']}, {data['seconds_of_flight']:g} s of flight. Latency: "
        "from an input to its picture. Turn: between two looks at the events; CPU: of all threads. At rest: from the "
        "last key to the whole picture, a sample a pixel."
    )
    return [Table("the window in flight", columns, rows, note)]
