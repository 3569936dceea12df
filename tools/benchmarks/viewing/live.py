"""Photon mapping in the window: time from key 5 to a recognisable caustic.

A caustic is recognisable when the window's picture of the floor around it correlates with the converged picture. The
region is the box in which photons at least double the light of Whitted's algorithm. CPU time is shown beside wall time:
it is less sensitive to other load.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.errors import LUMINANCE
from benchmarks.screen import screen, window
from raystream.base.errors import ViewerError
from raystream.renderer.renderer import Renderer

ABOUT = "photon mapping in the window: seconds from key 5 to a caustic"

SIZE = (960, 540)
SCENES = ("glass_ball", "ring", "cornell_photons")
COARSE = 4  # pixels of the window per compared pixel
SAMPLES = 64  # of the converged picture
ALIKE = 0.7  # least correlation of a recognised caustic
LEAST_GAIN = 1.0  # least gain by photons, relative to the other light, in a caustic
LONGEST = 120.0  # seconds, limit for a caustic


def run(options: Options) -> Result:
    """Every scene in a window of its own."""
    size, samples = ((320, 180), 8) if options.quick else (SIZE, SAMPLES)
    data: dict[str, Any] = {"size": size, "missing": [], "scenes": {}}
    with screen((1280, 1024)) as where:
        data["display"] = where
        for name in SCENES[:1] if options.quick else SCENES:
            say(f"{name}: {samples} samples of the converged picture")
            data["scenes"][name] = _scene(name, size, samples, data)
    return Result(data, [_table(data)])


def luminance(linear: NDArray) -> NDArray[np.float64]:
    """(H, W) of (H, W, 3), clipped at 4, as on a screen."""
    return np.minimum(linear.astype(np.float64) @ LUMINANCE, 4.0)


def caustic(converged: NDArray, plain: NDArray) -> tuple[slice, slice]:
    """The box of the pixels (H, W) that gain most by photons, enlarged by a quarter on every side.

    Raises ViewerError without any.
    """
    gain = converged - plain
    lit = gain > np.maximum(LEAST_GAIN * plain, 0.25 * float(np.percentile(gain, 99.9)))
    rows, columns = np.nonzero(lit)
    if not len(rows):
        raise ViewerError("live", "photons brighten nothing in the converged picture")

    def span(places: NDArray, most: int) -> slice:
        low, high = np.percentile(places, (2, 98))
        margin = 2 + (high - low) / 4
        return slice(max(0, int(low - margin)), min(most, int(high + margin) + 1))

    return span(rows, lit.shape[0]), span(columns, lit.shape[1])


def correlation(one: NDArray, other: NDArray) -> float:
    """Pearson's correlation of two pictures of one shape; 0 if one is constant."""
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1]) if np.ptp(one) and np.ptp(other) else 0.0


def shrunk(linear: NDArray, size: tuple[int, int]) -> NDArray[np.float64]:
    """Luminance of a picture of any size at ``size`` (width, height): nearest pixels, or means of whole ones."""
    height, width = linear.shape[:2]
    if width % size[0] == 0 and height % size[1] == 0:
        parts = luminance(linear).reshape(size[1], height // size[1], size[0], width // size[0])
        return np.asarray(parts.mean(axis=(1, 3)))
    rows = (np.arange(size[1]) + 0.5) * height / size[1]
    columns = (np.arange(size[0]) + 0.5) * width / size[0]
    return luminance(linear[rows.astype(int)[:, None], columns.astype(int)])


def _scene(name: str, size: tuple[int, int], samples: int, data: dict[str, Any]) -> dict[str, Any]:
    coarse = size[0] // COARSE, size[1] // COARSE
    with window(name, size) as app:
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
        key = _key(app, caustic(converged, plain), converged, coarse)
        while not app.session.complete:
            app.turn()
        return {"key": key, "stored": app.view.renderer.photon_map.stored}


def _key(app: Any, box: tuple[slice, slice], converged: NDArray, coarse: tuple[int, int]) -> dict[str, Any]:
    """Pictures from the key to the recognised caustic and to the complete picture."""
    app.session.stop_at(4, None)
    began, used = time.perf_counter(), time.process_time()
    app.view.actions.perform("program.photon")
    pictures, alike, steps = app.session.pictures, 0.0, []
    caustic: dict[str, float] | None = None
    while caustic is None or not app.session.complete:
        draws = app.draws
        app.turn()
        now = time.perf_counter() - began
        if now > LONGEST:
            break
        if caustic is None and app.draws > draws and app.session.pictures > pictures:
            alike = correlation(shrunk(app.canvas.linear(), coarse)[box], converged[box])
            steps.append((round(now, 3), round(alike, 3)))
            if alike >= ALIKE:
                cpu = time.process_time() - used
                caustic = {"seconds": now, "cpu": cpu, "scale": app.session.scale, "alike": alike}
    whole = {"whole_seconds": time.perf_counter() - began, "whole_cpu": time.process_time() - used}
    none = {"seconds": math.inf, "cpu": math.inf, "scale": 0.0, "alike": alike}
    return {**(caustic or none), **whole, "steps": steps}


def _table(data: dict[str, Any]) -> Table:
    keys = ("seconds", "cpu", "scale", "whole_seconds")
    rows = [(name, each["stored"], *(each["key"][key] for key in keys)) for name, each in data["scenes"].items()]
    columns = ("scene", "photons stored", "caustic s", "CPU s", "scale", "whole s")
    note = (
        f"A window of {data['size'][0]} x {data['size'][1]} on {data['display']}. Caustic: from key 5 to the first "
        f"picture whose caustic correlates with the converged one by {ALIKE:g}; scale: that picture's share of the "
        "window's width. Whole: until every pixel has a sample."
    )
    return Table("photon mapping in the window", columns, rows, note)
