"""Photon mapping in the window: time from key 5 to a recognisable caustic, and frame rates with a moving camera and
with a dragged light.

A caustic is recognisable when the window's picture of the floor around it correlates with the converged picture. The
region is the box in which photons at least double the light of Whitted's algorithm. CPU time is shown beside wall time:
it is less sensitive to other load.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.screen import screen
from raystream.base.errors import ViewerError

ABOUT = "photon mapping in the window: key 5 to a caustic, and pictures a second with a dragged light"

SIZE = (960, 540)
SCENES = ("glass_ball", "ring", "cornell_photons")
COARSE = 4  # pixels of the window per compared pixel
SAMPLES = 64  # of the converged picture
ALIKE = 0.7  # least correlation of a recognised caustic
LEAST_GAIN = 1.0  # least gain by photons, relative to the other light, in a caustic
SWING = 0.06  # of the window's height: radius of the light's circle
TURN = 2.0  # seconds per turn
WARM_UP = 1.5  # seconds before measurements
LONGEST = 120.0  # seconds, limit for a caustic


def run(options: Options) -> Result:
    """Every scene in a window of its own."""
    size, seconds, samples = ((320, 180), 1.0, 8) if options.quick else (SIZE, 6.0, SAMPLES)
    data: dict[str, Any] = {"size": size, "seconds": seconds, "scenes": {}}
    with screen((1280, 1024)) as where:
        data["display"] = where
        for name in SCENES[:1] if options.quick else SCENES:
            say(f"{name}: {samples} samples of the converged picture")
            data["scenes"][name] = _scene(name, size, seconds, samples, data)
    return Result(data, [_table(data)])


def luminance(linear: NDArray) -> NDArray[np.float64]:
    """(H, W) of (H, W, 3), clipped at 4, as on a screen."""
    return np.minimum(linear.astype(np.float64) @ (0.2126, 0.7152, 0.0722), 4.0)


def caustic(converged: NDArray, plain: NDArray) -> tuple[slice, slice]:
    """The box of the pixels (H, W) brightened most by photons, enlarged by a quarter on every side.

    Raises ViewerError without any.
    """
    gain = converged - plain
    lit = gain > np.maximum(LEAST_GAIN * plain, 0.25 * float(np.percentile(gain, 99.9)))
    rows, columns = np.nonzero(lit)
    if not len(rows):
        raise ViewerError("live", "photons brighten nothing in the converged picture")
    found = []
    for places, most in ((rows, lit.shape[0]), (columns, lit.shape[1])):
        low, high = np.percentile(places, (2, 98))
        margin = 2 + (high - low) / 4
        found.append(slice(max(0, int(low - margin)), min(most, int(high + margin) + 1)))
    return found[0], found[1]


def correlation(one: NDArray, other: NDArray) -> float:
    """Pearson's correlation of two pictures of one shape; 0 if one is constant."""
    a, b = one - one.mean(), other - other.mean()
    scale = math.sqrt(float((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / scale) if scale > 0 else 0.0


def shrunk(linear: NDArray, size: tuple[int, int]) -> NDArray[np.float64]:
    """Luminance of a picture of any size at ``size`` (width, height): nearest pixels, or means of whole ones."""
    height, width = linear.shape[:2]
    if width % size[0] == 0 and height % size[1] == 0:
        parts = luminance(linear).reshape(size[1], height // size[1], size[0], width // size[0])
        return np.asarray(parts.mean(axis=(1, 3)))
    rows = (np.arange(size[1]) + 0.5) * height / size[1]
    columns = (np.arange(size[0]) + 0.5) * width / size[0]
    return luminance(linear[rows.astype(int)[:, None], columns.astype(int)])


def _scene(name: str, size: tuple[int, int], seconds: float, samples: int, data: dict[str, Any]) -> dict[str, Any]:
    from raystream.renderer.renderer import Renderer
    from raystream.viewport.preferences import Preferences
    from raystream.window.app import App

    coarse = size[0] // COARSE, size[1] // COARSE
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        app = App(name, size, Preferences(path=Path(folder) / "settings.toml"), program="path")
        try:
            app.session.stop_at(1, None)
            while app.view.renderer is None or not app.session.idle:
                app.turn()
            data.setdefault("facts", facts(app.device))
            shown = app.view.renderer
            other = Renderer(shown.scene, camera=shown.camera, program="photon", machine="singlepass")
            converged = luminance(other.render(coarse, spp=samples).linear)
            other.update(program="whitted")
            plain = luminance(other.render(coarse, spp=samples).linear)
            other.release()
            made: dict[str, Any] = {"key": _key(app, caustic(converged, plain), converged, coarse)}
            while not app.session.complete:
                app.turn()
            made["stored"] = app.view.renderer.photon_map.stored
            app.view.input.drag = (0, 0)  # a button is down, without modifiers
            made["camera"] = _moving(app, seconds, _turn_camera)
            app.view.input.drag = None
            app.view.input.cursor = (size[0] / 2, size[1] / 2)
            app.context.editing.drag_light()
            while not app.context.editing.grabbing or app.view.compiling:
                app.turn()
            made["light"] = _moving(app, seconds, _swing_light)
            app.context.editing.end_drag()
            return made
        finally:
            app.release()


def _key(app: Any, box: tuple[slice, slice], converged: NDArray, coarse: tuple[int, int]) -> dict[str, Any]:
    """Pictures from the key to the recognised caustic and to the complete picture."""
    app.session.stop_at(4, None)
    began, used = time.perf_counter(), time.process_time()
    app.view.actions.perform("program.photon")
    pictures, found, alike, steps = app.session.pictures, None, 0.0, []
    while found is None or not app.session.complete:
        draws = app.draws
        app.turn()
        now = time.perf_counter() - began
        if now > LONGEST:
            break
        if found is None and app.draws > draws and app.session.pictures > pictures:
            alike = correlation(shrunk(app.canvas.linear(), coarse)[box], converged[box])
            steps.append((round(now, 3), round(alike, 3)))
            if alike >= ALIKE:
                found = {"seconds": now, "cpu": time.process_time() - used, "scale": app.session.scale, "alike": alike}
    whole = {"whole_seconds": time.perf_counter() - began, "whole_cpu": time.process_time() - used}
    return {**(found or {"seconds": math.inf, "cpu": math.inf, "scale": 0.0, "alike": alike}), **whole, "steps": steps}


def _turn_camera(app: Any, now: float, before: float) -> None:
    app.view.controller.orbit(40 * math.sin(2 * math.pi * now / TURN) * (now - before), 0)


def _swing_light(app: Any, now: float, before: float) -> None:
    width, height = app.view.area.size
    turn, radius = 2 * math.pi * now / TURN, SWING * height
    app.events.on_move(width / 2 + radius * math.sin(turn), height / 2 + radius * (1 - math.cos(turn)))


def _moving(app: Any, seconds: float, move: Any) -> dict[str, float]:
    """Frame rate, scale and photons traced, with a movement in every frame."""
    maps = app.view.renderer.photon_map
    began = counted = time.perf_counter()
    before, scales, used = 0.0, [], 0.0
    first = traced = ordered = 0
    while (now := time.perf_counter() - began) < WARM_UP + seconds:
        if now >= WARM_UP and not used:
            counted, used = time.perf_counter(), time.process_time()
            first, traced, ordered = app.session.pictures, maps.traced, maps.sorted
        pictures = app.session.pictures
        move(app, now, before)
        before = now
        app.turn()
        if used and app.session.pictures > pictures:
            scales.append(app.session.scale)
    took, pictures = time.perf_counter() - counted, max(1, app.session.pictures - first)
    while app.view.controller.moving:
        app.turn()
    return {
        "pictures_per_second": (app.session.pictures - first) / took,
        "cpu_ms_per_picture": 1e3 * (time.process_time() - used) / pictures,
        "scale": statistics.median(scales) if scales else 0.0,
        "maps_per_picture": (maps.traced - traced) / pictures,
        "sorts_per_picture": (maps.sorted - ordered) / pictures,
    }


def _table(data: dict[str, Any]) -> Table:
    rows = []
    for name, scene in data["scenes"].items():
        key, camera, light = scene["key"], scene["camera"], scene["light"]
        rows.append(
            (
                name,
                scene["stored"],
                key["seconds"],
                key["cpu"],
                key["scale"],
                key["whole_seconds"],
                *(camera[k] for k in ("pictures_per_second", "cpu_ms_per_picture", "scale", "maps_per_picture")),
                *(light[k] for k in ("pictures_per_second", "cpu_ms_per_picture", "scale", "maps_per_picture")),
            )
        )
    columns: tuple[str, ...] = ("scene", "photons stored", "caustic s", "CPU s", "scale", "whole s")
    columns += ("camera: pictures/s", "CPU ms each", "scale", "maps each")
    columns += ("light: pictures/s", "CPU ms each", "scale", "maps each")
    note = (
        f"A window of {data['size'][0]} x {data['size'][1]} on {data['display']}. Caustic: from key 5 to the first "
        f"picture whose caustic correlates with the converged one by {ALIKE:g}; scale: that picture's share of the "
        "window's width. Whole: until every pixel has a sample. Camera, light: while it moves without a pause."
    )
    return Table("photon mapping in the window", columns, rows, note)
