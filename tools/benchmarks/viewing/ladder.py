"""Every picture from flight to rest: whether one is worse than the best before it.

A camera flies along a path that ends where the scene's own camera stands; there the hand rests, and samples are added.
Each picture that the window shows is compared with the converged one by FLIP, specks and holes, from the last one in
motion on. See `eight` for scenes and FLIP, `raystream.film.files.compare` for the others.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.noise.denoise import contact_sheet
from benchmarks.noise.eight import Subject, converged, present
from benchmarks.screen import screen, window
from benchmarks.viewing.readable import enlarged
from raystream.base.errors import ViewerError
from raystream.denoise import oidn
from raystream.scene.camera import Camera

ABOUT = "the window from flight to rest: FLIP, specks and holes of each picture shown, which are never to rise"

SIZE, QUICK_SIZE = (960, 540), (96, 54)
FLIGHT, REST = 4.0, 60.0  # seconds
TURNED, AHEAD = 25.0, 0.02  # degrees of the head or around the target, and share of the scene's diagonal, at the start
RISE = 0.01  # of FLIP, over the best picture before
SPOILT = 0.0005  # of specks and of holes, as shares of the pixels
FIRST = 0.2  # seconds at rest from which on pictures count, beside the last one in motion
EACH = 1.08  # times as late as the last picture that was kept: the next one
STEPS = (0.3, 0.7, 2.0, 5.0, 15.0, 60.0)  # seconds at rest of the pictures on the sheet
SAMPLES = 32  # of converged pictures


@dataclass(frozen=True)
class Shot:
    """A picture that was shown. seconds : since the hand rested; below 0: in motion. samples : of each pixel."""

    seconds: float
    linear: NDArray[np.float32]
    scale: float
    samples: int


def run(options: Options) -> Result:
    """Every scene in a window of its own."""
    size, rest = (QUICK_SIZE, 3.0) if options.quick else (SIZE, REST)
    subjects, missing = present(("cornell",) if options.quick else ())
    data: dict[str, Any] = {"size": size, "rest": rest, "missing": missing, "load": os.getloadavg(), "limit": RISE}
    data["scenes"] = {}
    rows: list[list[NDArray[np.float32]]] = []
    with screen((1280, 1024)) as where:
        data["display"] = where
        for subject in subjects:
            say("{}, {} x {}".format(subject.name, *size))
            shots, machine = watched(subject, size, rest)
            data.setdefault("facts", machine)
            data["scenes"][subject.name], row = judged(subject, size, shots, 8 if options.quick else SAMPLES)
            rows.append(row)
    return Result(data, [_table(data)], sheet=contact_sheet(rows))


def watched(subject: Subject, size: tuple[int, int], rest: float) -> tuple[list[Shot], dict[str, Any]]:
    """Fly to the scene's camera and rest there for so many seconds: the pictures that were shown, and the machine."""
    with window(subject.source(), size, subject.camera) as app:
        while app.view.renderer is None or not app.session.complete or app.session.samples < 6:
            app.turn()  # what is compiled for the flight is compiled from four samples on
            if app.view.message.is_error:
                raise ViewerError(subject.name, app.view.message.text)
        return _flown(app, rest), facts(app.device)


def _flown(app: Any, rest: float) -> list[Shot]:
    view, session, home = app.view, app.session, app.view.controller.camera
    low, high = app.view.scene.bounds()
    diagonal = float(np.linalg.norm(np.subtract(high, low)))
    indoors, began, now = view.controller.indoors, time.perf_counter(), 0.0
    view.input.drag = (0, 0)  # a button is held
    while now < FLIGHT:
        view.take(aside(home, indoors, diagonal, now / FLIGHT))
        app.turn()
        now = time.perf_counter() - began
    view.take(home)
    pictures = session.pictures
    app.turn()
    while session.pictures == pictures or session.shown is None or session.shown[0] != home:
        app.turn()
    shots = [_shot(app, -0.01)]
    view.input.drag = None
    began, now, due, pictures = time.perf_counter(), 0.0, FIRST, -1
    while now < rest and not session.idle:
        app.turn()
        now = time.perf_counter() - began
        if now >= due and (session.pictures != pictures or session.appearing):
            shot, pictures = _shot(app, now), session.pictures  # to read one back takes time that the next one needs
            if not np.array_equal(shot.linear, shots[-1].linear):
                shots.append(shot)
                due = max(now + 0.05, EACH * now)
    return shots


def _shot(app: Any, seconds: float) -> Shot:
    session = app.session
    return Shot(seconds, app.canvas.linear(), session.scale, session.samples if session.complete else 0)


def aside(home: Camera, indoors: bool, diagonal: float, share: float) -> Camera:
    """The camera of a flight at a share of its time: it comes to rest at its end, ``home``."""
    left = (1 - share) ** 2
    angle = math.radians(TURNED) * left * math.cos(3 * share)
    origin, target = np.array(home.origin, np.float64), np.array(home.target, np.float64)
    right, up, forward = (np.asarray(axis, np.float64) for axis in home.basis())
    turn = np.cos(angle) * np.eye(3) + (1 - np.cos(angle)) * np.outer(up, up)
    turn += np.sin(angle) * np.cross(np.eye(3), -up)
    if indoors:
        shift = AHEAD * diagonal * left * (0.5 * right - forward)
        origin, target = origin + shift, origin + shift + turn @ (target - origin)
    else:
        origin = target + turn @ (origin - target)
    places: dict[str, Any] = {"origin": tuple(map(float, origin)), "target": tuple(map(float, target))}
    return replace(home, **places)


def judged(
    subject: Subject, size: tuple[int, int], shots: list[Shot], samples: int
) -> tuple[dict[str, Any], list[NDArray[np.float32]]]:
    """FLIP, specks and holes of every picture, and a row of the sheet: in motion, at `STEPS`, converged."""
    truth = converged(subject, size, samples, denoise="oidn" if oidn.installed() else "shader")
    looks, figures = [], []
    for shot in shots:
        figures.append(truth.figures(enlarged(shot.linear, size)))
        flip, specks, holes = (round(figure, 5) for figure in figures[-1])
        looks.append((round(shot.seconds, 3), flip, round(shot.scale, 3), shot.samples, specks, holes))
    rise, *spoilt = rises(figures).max(axis=0).tolist()
    chosen = [shots[0], *(max((s for s in shots if s.seconds <= t), key=lambda s: s.seconds) for t in STEPS)]
    row = [*(truth.shown(enlarged(shot.linear, size)) for shot in chosen), truth.shown(truth.linear)]
    worse = rise > RISE or max(spoilt) > SPOILT
    return {"looks": looks, "rise": rise, "spoilt": spoilt, "worse": worse, "pictures": len(shots)}, row


def rises(figures: Sequence[tuple[float, float, float]]) -> NDArray[np.float64]:
    """(N, 3): by how much FLIP, specks and holes of each picture are above those of the best one before it, the one of
    the least FLIP; 0 where they are not."""
    values = np.asarray(figures, np.float64)
    flips = np.append(np.inf, np.minimum.accumulate(values[:-1, 0]))  # of the best before each
    best = np.maximum.accumulate(np.where(values[:, 0] < flips, np.arange(len(values)), 0))
    before = np.append(0, best[:-1])
    return np.maximum(values - values[before], 0)


def flip_at(looks: list[Any], seconds: float) -> float:
    """The FLIP of what is shown so many seconds after the hand has come to rest."""
    return float([look[1] for look in looks if look[0] <= seconds][-1])


def _table(data: dict[str, Any]) -> Table:
    rows = []
    for name, scene in data["scenes"].items():
        looks = scene["looks"]
        at: list[float | None] = [flip_at(looks, seconds) for seconds in STEPS if seconds <= data["rest"]]
        at += [None] * (len(STEPS) - len(at))
        spots = [100 * value for value in (*looks[-1][4:], *scene["spoilt"])]
        rows.append((name, looks[0][1], *at, scene["rise"], *spots, scene["worse"]))
    columns = ("scene", "FLIP in motion", *(f"{step:g} s" for step in STEPS), "largest rise")
    columns += ("specks %, last", "holes %, last", "rise of specks %", "rise of holes %", "worse than before")
    note = (
        "A window of {} x {} on {}. ".format(*data["size"], data["display"])
        + f"Seconds since the hand rests. A rise: over the best picture before, from {FIRST:g} s on; more than "
        f"{RISE:g}, or {SPOILT:.2%} of specks or holes, counts as worse. Load when it began: {data['load'][0]:.1f}."
    )
    return Table("from flight to rest", columns, rows, note)
