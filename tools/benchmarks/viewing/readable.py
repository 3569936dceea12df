"""Time until a scene is readable in the window, and quality while the camera flies.

At rest: seconds from the application's start, with modules loaded, to the first picture within a FLIP of 0.1 of the
converged one, including loading, building and compiling. In flight, indoors ahead and back with a turn of the head,
elsewhere around the scene's centre: pictures per second, and the FLIP of some against converged pictures from the same
cameras. A row of pictures for each scene: opened, under the headlight and traced, flown through, and at rest. See
`eight` for scenes and FLIP.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.noise.denoise import contact_sheet
from benchmarks.noise.eight import Converged, Subject, converged, present
from benchmarks.screen import screen, window
from raystream.base.errors import ViewerError
from raystream.denoise import oidn
from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import LOOK, ORBIT

ABOUT = "the window: seconds until a scene can be read, and pictures a second while flying"

SIZE, LARGE = (480, 270), (960, 540)
AT_LARGE = ("hall",)  # measured in both sizes
READABLE = 0.1  # FLIP
LONGEST = 60.0  # seconds at rest
AT_REST = 16  # samples of a pixel
MOST_LOOKS = 12  # pictures at rest to judge
# Of converged pictures, which Open Image Denoise then cleans; one of flight: at most. The hall's of 6 samples differ
# from those of 64 by a FLIP of 0.06.
SAMPLES, OF_FLIGHT = 32, 24
SECONDS_OF_FLIGHT = 75.0  # seconds of one of flight
WARM_UP, LOOKS = 1.5, 4  # seconds before measurements; judged pictures
AHEAD, TURNED, AROUND = 1.0, 25.0, 45.0  # seconds of flight one way, degrees of the head a second, and of an orbit
OPENED = (2.0, 5.0)  # seconds of pictures in a scene's row, beside the first ones and the last


class Shot(NamedTuple):
    """A picture that was shown. linear : RGB of any size."""

    seconds: float
    linear: NDArray[np.float32]
    camera: Camera


def run(options: Options) -> Result:
    """Every scene in a window of its own."""
    size, seconds = ((96, 54), 1.0) if options.quick else (SIZE, 6.0)
    subjects, missing = present(("cornell",) if options.quick else ())
    cases = [(subject, size) for subject in subjects]
    cases += [(each, LARGE) for each in subjects if each.name in AT_LARGE and not options.quick]
    # The load of the last 1, 5 and 15 minutes: other processes make all slower.
    data: dict[str, Any] = {"missing": missing, "load": os.getloadavg(), "seconds_of_flight": seconds, "scenes": {}}
    rows: list[list[NDArray[np.float32]]] = []
    with screen((1280, 1024)) as where:
        data["display"] = where
        for subject, shape in cases:
            name = "{}, {} x {}".format(subject.name, *shape)
            say(name)
            data["scenes"][name], row = _case(subject, shape, seconds, data, options.quick)
            rows.append(row)
    return Result(data, [_table(data)], sheet=contact_sheet(rows))


def _case(
    subject: Subject, size: tuple[int, int], seconds: float, data: dict[str, Any], quick: bool
) -> tuple[dict[str, Any], list[NDArray[np.float32]]]:
    """A scene's figures, and its row of the sheet."""
    source, began = subject.source(), time.perf_counter()
    with window(source, size, subject.camera, samples=4 if quick else AT_REST) as app:
        data.setdefault("facts", facts(app.device))
        headlight, still = _opened(app, subject.name, began)
        flown, rates = _flown(app, seconds)
    cleaner = "oidn" if oidn.installed() else "none"
    truth = converged(subject, size, 8 if quick else SAMPLES, denoise=cleaner)
    readable, looks = None, []
    numbers = np.round(np.geomspace(1, len(still), min(MOST_LOOKS, len(still)))).astype(int) - 1
    for shot in (still[number] for number in np.unique(numbers)):  # with the first and the last
        looks.append((round(shot.seconds, 3), round(truth.flip(enlarged(shot.linear, size)), 4)))
        if looks[-1][1] <= READABLE:
            readable = looks[-1][0]
            break
    renderer = subject.renderer(denoise=cleaner)
    flips = []
    for shot in flown:
        renderer.update(camera=shot.camera)
        picture = renderer.render(size, 4 if quick else OF_FLIGHT, time=SECONDS_OF_FLIGHT)
        flips.append(Converged(picture.linear, 0, 0.0).flip(enlarged(shot.linear, size)))
    renderer.release()
    case = {"readable_seconds": readable, "looks": looks, "first_picture_seconds": still[0].seconds, "flips": flips}
    case |= {"headlight_seconds": headlight.seconds, "flip_of_flight": max(flips, default=None), **rates}
    opened = [([shot for shot in still if shot.seconds <= due] or still[:1])[-1] for due in OPENED]
    shots = [headlight, still[0], *opened, *flown[:-1], still[-1]]
    return case, [truth.shown(enlarged(picture, size)) for picture in (*(shot.linear for shot in shots), truth.linear)]


def _opened(app: Any, name: str, began: float) -> tuple[Shot, list[Shot]]:
    """The picture under the headlight, and those that were traced, until the last one at rest."""
    headlight: Shot | None = None
    still: list[Shot] = []
    while not still or not app.session.idle:
        pictures = app.session.pictures
        app.turn()
        now = time.perf_counter() - began
        if headlight is None and app.scene_loader.first_picture.shown and app.view.controller is not None:
            headlight = Shot(now, app.canvas.linear().copy(), app.view.controller.camera)
        if app.session.pictures > pictures and app.session.shown is not None:
            still.append(Shot(now, app.canvas.linear().copy(), app.session.shown[0]))
        if now > LONGEST:
            break
    if not still:
        raise ViewerError(name, app.view.message.text or "no picture", f"within {LONGEST:g} s")
    return headlight or still[0], still


def _flown(app: Any, seconds: float) -> tuple[list[Shot], dict[str, float]]:
    """Fly for ``seconds``: some pictures, the frame rate and their scale."""
    session = app.session
    shots: list[Shot] = []
    began, before = time.perf_counter(), 0.0
    start: tuple[float, float, int, int] | None = None  # seconds, CPU seconds, shown and traced pictures
    scales = []
    while (now := time.perf_counter() - began) < WARM_UP + seconds:
        if start is None and now >= WARM_UP:
            start = time.perf_counter(), time.process_time(), _shown(session), session.pictures
        _steer(app.view.controller, before, now)
        before, pictures = now, _shown(session)
        app.turn()
        if start is not None and _shown(session) > pictures:
            scales.append(session.scale)
            due = WARM_UP + seconds * (len(shots) + 0.7) / LOOKS
            if now >= due and len(shots) < LOOKS and session.shown is not None:
                shots.append(Shot(now, app.canvas.linear().copy(), session.shown[0]))
    assert start is not None
    took, used = time.perf_counter() - start[0], time.process_time() - start[1]
    shown, traced = _shown(session) - start[2], session.pictures - start[3]
    app.view.controller.release_all()
    rates = {"pictures_per_second": shown / took, "traced_per_second": traced / took}
    scale = statistics.median(scales) if scales else 0.0
    return shots, {**rates, "cpu_ms_per_picture": 1e3 * used / max(shown, 1), "scale": scale}


def _steer(controller: Any, before: float, now: float) -> None:
    """The inputs from one second to another: keys and the mouse. Ways back mirror those ahead."""
    if not controller.entered:
        controller.orbit(np.radians(AROUND) / ORBIT * (now - before), 0.0)
        return
    ways = ("forward", "back")
    way = int(now / AHEAD) % 2
    controller.release(ways[1 - way])
    controller.press(ways[way])
    pixel = LOOK * np.tan(np.radians(controller.camera.fov) / 2) / np.tan(np.radians(20.0))
    turned = [TURNED * AHEAD * (1 - abs(1 - at / AHEAD % 2)) for at in (before, now)]
    controller.look(np.radians(turned[1] - turned[0]) / pixel, 0.0)


def _shown(session: Any) -> int:
    """Pictures shown so far: traced, or warped to the camera."""
    return int(session.pictures + session.warped)


def enlarged(linear: NDArray, size: tuple[int, int]) -> NDArray[np.float32]:
    """(H, W, 3) at ``size`` (width, height), bilinear, as the window enlarges smaller pictures."""
    picture = np.asarray(linear, np.float32)
    for axis, wanted in ((0, size[1]), (1, size[0])):
        have = picture.shape[axis]
        if have == wanted:
            continue
        at = np.clip((np.arange(wanted) + 0.5) * have / wanted - 0.5, 0, have - 1)
        low = np.minimum(at.astype(int), max(have - 2, 0))
        share = (at - low).astype(np.float32).reshape(-1, *([1] * (2 - axis)))
        one, other = np.take(picture, low, axis), np.take(picture, np.minimum(low + 1, have - 1), axis)
        picture = one * (1 - share) + other * share
    return picture


def _table(data: dict[str, Any]) -> Table:
    keys = ("pictures_per_second", "traced_per_second", "cpu_ms_per_picture", "scale")
    rows = []
    for name, scene in data["scenes"].items():
        seconds = (scene["headlight_seconds"], scene["first_picture_seconds"], scene["looks"][0][1])
        flips = (statistics.median(scene["flips"]) if scene["flips"] else None, scene["flip_of_flight"])
        rows.append((name, *seconds, scene["readable_seconds"], *(scene[key] for key in keys), *flips))
    columns: tuple[str, ...] = ("scene", "headlight s", "traced s", "its FLIP", f"FLIP {READABLE:g} s")
    columns += ("in flight: pictures/s", "of them traced", "CPU ms each", "scale", "FLIP, median", "most")
    note = (
        f"Windows on {data['display']}. Seconds from the start of the application, loading, building and compiling "
        f"included, the driver's own cache of shaders filled by an earlier run; -: not within {LONGEST:g} s or "
        f"{AT_REST} samples. CPU: of all threads. Traced: the others are warped to the camera from those. Scale: "
        f"share of the window's width at which light is traced. Load when it began: {data['load'][0]:.1f}."
    )
    return Table("until it can be read", columns, rows, note)
