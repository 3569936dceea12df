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
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.noise.denoise import contact_sheet, oidn_there
from benchmarks.noise.eight import Converged, Subject, converged, present
from benchmarks.screen import screen
from raystream.base.errors import ViewerError
from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import LOOK, ORBIT

ABOUT = "the window: seconds until a scene can be read, and pictures a second while flying"

SIZE, LARGE = (480, 270), (960, 540)
AT_LARGE = ("hall",)  # measured in both sizes
READABLE, FLYING = 0.1, 0.2  # FLIP
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
Shot = tuple[float, NDArray[np.float32], Camera]  # seconds, linear RGB of any size, and the camera


def run(options: Options) -> Result:
    """Every scene in a window of its own."""
    size, seconds = ((96, 54), 1.0) if options.quick else (SIZE, 6.0)
    subjects, missing = present(("cornell",) if options.quick else ())
    cases = [(subject, size) for subject in subjects]
    if not options.quick:
        cases += [(subject, LARGE) for subject in subjects if subject.name in AT_LARGE]
    data: dict[str, Any] = {"missing": missing}
    data["load"] = os.getloadavg()  # of the last 1, 5 and 15 minutes: other processes make all slower
    data |= {"limits": {"rest": READABLE, "flight": FLYING}, "seconds_of_flight": seconds, "scenes": {}}
    rows: list[list[NDArray[np.float32]]] = []
    with screen((1280, 1024)) as where:
        data["display"] = where
        for subject, shape in cases:
            name = "{}, {} x {}".format(subject.name, *shape)
            say(name)
            case, row = _case(subject, shape, seconds, data, options.quick)
            data["scenes"][name] = case
            rows.append(row)
    return Result(data, [_table(data)], sheet=contact_sheet(rows))


def _case(
    subject: Subject, size: tuple[int, int], seconds: float, data: dict[str, Any], quick: bool
) -> tuple[dict[str, Any], list[NDArray[np.float32]]]:
    """A scene's figures, and its row of the sheet."""
    seen, still, flown, controller = _watched(subject, size, seconds, data, 4 if quick else AT_REST)
    truth = _cleaned(subject, size, 8 if quick else SAMPLES)
    found, looks = None, []
    for shot in _thinned(still):
        looks.append((round(shot[0], 3), round(truth.flip(enlarged(shot[1], size)), 4)))
        if looks[-1][1] <= READABLE:
            found = looks[-1][0]
            break
    renderer = subject.renderer(denoise=_by())
    flips = []
    for _, linear, camera in flown:
        renderer.update(camera=camera)
        picture = renderer.render(size, 4 if quick else OF_FLIGHT, time=SECONDS_OF_FLIGHT)
        flips.append(Converged(picture.linear, 0, 0.0).flip(enlarged(linear, size)))
    renderer.release()
    made = {"readable_seconds": found, "looks": looks, "first_picture_seconds": still[0][0], "flips": flips}
    made |= {"headlight_seconds": seen[0], "flip_of_flight": max(flips) if flips else None, **controller}
    opened = [max((shot for shot in still if shot[0] <= due), key=_seconds, default=still[0]) for due in OPENED]
    shots = [seen, still[0], *opened, *flown[:-1], still[-1]]
    return made, [truth.shown(enlarged(picture, size)) for picture in (*(shot[1] for shot in shots), truth.linear)]


def _seconds(shot: Shot) -> float:
    return shot[0]


def _watched(
    subject: Subject, size: tuple[int, int], seconds: float, data: dict[str, Any], samples: int
) -> tuple[Shot, list[Shot], list[Shot], dict[str, float]]:
    """(what is seen first, traced pictures after opening, some of a flight, its rates)."""
    from raystream.viewport.preferences import Preferences
    from raystream.window.app import App

    source = subject.source()
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        preferences = Preferences(path=Path(folder) / "settings.toml", samples=samples)
        app, began = None, time.perf_counter()
        try:
            app = App(source, size, preferences, subject.camera, program="path")
            seen: Shot | None = None
            still: list[Shot] = []
            while not still or not app.session.idle:
                pictures = app.session.pictures
                app.turn()
                now = time.perf_counter() - began
                if seen is None and app.scene_loader.first_picture.shown and app.view.controller is not None:
                    seen = now, app.canvas.linear().copy(), app.view.controller.camera
                if app.session.pictures > pictures and app.session.shown is not None:
                    still.append((now, app.canvas.linear().copy(), app.session.shown[0]))
                if now > LONGEST:
                    break
            data.setdefault("facts", facts(app.device))
            if not still:
                raise ViewerError(subject.name, app.view.message.text or "no picture", f"within {LONGEST:g} s")
            return seen or still[0], still, *_flown(app, seconds)
        finally:
            if app is not None:
                app.release()


def _flown(app: Any, seconds: float) -> tuple[list[Shot], dict[str, float]]:
    """Fly for ``seconds``: some pictures, the frame rate and their scale."""
    shots: list[Shot] = []
    began = counted = time.perf_counter()
    first, traced, scales, used, before = None, 0, [], 0.0, 0.0
    while (now := time.perf_counter() - began) < WARM_UP + seconds:
        if first is None and now >= WARM_UP:
            first, counted, used = _shown(app.session), time.perf_counter(), time.process_time()
            traced = app.session.pictures
        _steered(app.view.controller, before, now)
        before = now
        pictures = _shown(app.session)
        app.turn()
        if first is not None and _shown(app.session) > pictures:
            scales.append(app.session.scale)
            due = WARM_UP + seconds * (len(shots) + 0.7) / LOOKS
            if now >= due and len(shots) < LOOKS and app.session.shown is not None:
                shots.append((now, app.canvas.linear().copy(), app.session.shown[0]))
    took, made = time.perf_counter() - counted, _shown(app.session) - (first or 0)
    traced = app.session.pictures - traced
    used = time.process_time() - used
    app.view.controller.release_all()
    scale = statistics.median(scales) if scales else 0.0
    rates = {"pictures_per_second": made / took, "traced_per_second": traced / took}
    return shots, {**rates, "cpu_ms_per_picture": 1e3 * used / max(made, 1), "scale": scale}


def _steered(controller: Any, before: float, now: float) -> None:
    """The inputs from one second to another: keys and the mouse. DriverFallbacks back mirror those ahead."""
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


def _by() -> str:
    """The denoiser of converged pictures."""
    return "oidn" if oidn_there() else "none"


def _cleaned(subject: Subject, size: tuple[int, int], samples: int) -> Converged:
    return converged(subject, size, samples, denoise=_by())


def _thinned(shots: list[Shot]) -> list[Shot]:
    """At most `MOST_LOOKS` of them, with the first and the last."""
    numbers = np.unique(np.round(np.geomspace(1, len(shots), min(MOST_LOOKS, len(shots)))).astype(int)) - 1
    return [shots[number] for number in numbers]


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
    rows = [
        (
            name,
            scene["headlight_seconds"],
            scene["first_picture_seconds"],
            scene["looks"][0][1],
            scene["readable_seconds"],
            scene["pictures_per_second"],
            scene["traced_per_second"],
            scene["cpu_ms_per_picture"],
            scene["scale"],
            statistics.median(scene["flips"]) if scene["flips"] else None,
            scene["flip_of_flight"],
        )
        for name, scene in data["scenes"].items()
    ]
    columns: tuple[str, ...] = (
        "scene",
        "headlight s",
        "traced s",
        "its FLIP",
        f"FLIP {READABLE:g} s",
        "in flight: pictures/s",
    )
    columns = (*columns, "of them traced", "CPU ms each", "scale", "FLIP, median", "most")
    note = (
        f"Windows on {data['display']}. Seconds from the start of the application, loading, building and compiling "
        f"included, the driver's own cache of shaders filled by an earlier run; -: not within {LONGEST:g} s or "
        f"{AT_REST} samples. CPU: of all threads. Traced: the others are warped to the camera from those. Scale: "
        f"share of the window's width at which light is traced. Load when it began: {data['load'][0]:.1f}."
    )
    return Table("until it can be read", columns, rows, note)
