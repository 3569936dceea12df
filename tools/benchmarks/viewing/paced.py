"""Every picture of a session without a window, on a device that pretends to be slower: from opening, through a short
drag, to rest with 64 samples.

The clock that the session reads runs by the processor time of this process, times the slowness: neither other processes
nor what is done between two turns count. The strip has a row for each scene and slowness.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.noise.eight import SUBJECTS, Converged, Subject, built_in, converged, present, shared_file
from benchmarks.viewing import ladder
from benchmarks.viewing.ladder import RISE, SPOILT, aside
from benchmarks.viewing.readable import enlarged
from raystream.film.error import Stop
from raystream.renderer.preview.scheduler import HELD, TURN
from raystream.renderer.renderer import Renderer
from raystream.renderer.session.session import Session
from raystream.viewport.picture_texture import PictureTexture

ABOUT = "sessions on devices of pretended slowness: FLIP, specks and holes of each picture, from opening to rest"

SIZE, QUICK_SIZE = (240, 135), (96, 54)
SLOWNESS = (1.0, 10.0, 100.0)  # times this machine's
OPENED = 2  # samples before the drag
DRAG = 0.5  # pretended seconds
SAMPLES = 64
INDOORS = ("hall", "many_lights")  # there the camera turns its head, elsewhere it orbits
COLUMNS = 12  # pictures in a row of the strip, the last of them the converged one
CONVERGED = 512  # samples
OPENING, AWAY, MOVING, REST = "opening", "away", "moving", "rest"
Figures = tuple[float, float, float]  # FLIP, specks, holes

_NAMES = ("hall", "bunny", "ToyCar", "glass_ball", "ring", "many_lights")
_MORE = (Subject("ToyCar", shared_file("models", "ToyCar.glb")), Subject("glass_ball", built_in("glass_ball")))
SCENES = tuple(subject for subject in (*SUBJECTS, *_MORE) if subject.name in _NAMES)  # hard to reconstruct


class Clock:
    """Seconds of the process's processor time, times the slowness; what is ``paused`` does not count."""

    def __init__(self, slowness: float) -> None:
        self.slowness, self._uncounted = slowness, 0.0

    def __call__(self) -> float:
        return (time.process_time() - self._uncounted) * self.slowness

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Work within takes no time."""
        began = time.process_time()
        try:
            yield
        finally:
            self._uncounted += time.process_time() - began

    @contextmanager
    def running(self) -> Iterator[None]:
        """Sessions read this clock within."""
        before, time.perf_counter = time.perf_counter, self
        try:
            yield
        finally:
            time.perf_counter = before


@dataclass(frozen=True, eq=False)
class ShownFrame:
    """A picture as it was shown. phase : `OPENING`, `MOVING` or `REST`. seconds : by the clock, since the opening or
    the drag. samples : of each pixel, 0 of a preview. linear : (H, W, 3) at the whole size, by that ``denoiser``."""

    phase: str
    seconds: float
    samples: int
    scale: float
    linear: NDArray[np.float32]
    denoiser: str = "shader"


def played(
    renderer: Renderer,
    size: tuple[int, int],
    slowness: float,
    indoors: bool,
    samples: int = SAMPLES,
    exposure: float = 0.0,
) -> list[ShownFrame]:
    """Open a renderer's picture, drag the camera aside and back, and rest until so many ``samples``: all pictures of
    its camera that were shown. Those that the drag shows of other cameras are left out, and the one of before it,
    warped back to where it was, which a drag that ends elsewhere does not have. exposure : of the display, stops."""
    with renderer.device.current():  # the screen's, too
        home = renderer.camera.with_picture_size(size)
        low, high = renderer.prepared.scene.bounds()
        diagonal = float(np.linalg.norm(np.subtract(high, low)))
        canvas = PictureTexture(renderer.device)
        session = Session(renderer, size, Stop(samples), screen=canvas)
        on_screen = session.on_screen
        assert on_screen is not None
        on_screen.white = 2.0**-exposure
        clock, frames, changes, opened = Clock(slowness), list[ShownFrame](), 0, 0
        began, phase = clock(), OPENING

        def turn(moving: bool = False) -> None:
            nonlocal changes
            session.advance(TURN, moving)
            with clock.paused():
                if canvas.changes == changes or canvas.blank:
                    return
                changes = canvas.changes
                if phase == AWAY or session.shown is None or session.shown[0] != home or session.pictures == opened:
                    return
                linear, of_film = enlarged(canvas.linear(), size), on_screen.samples if session.complete else 0
                frames.append(ShownFrame(phase, clock() - began, of_film, session.scale, linear, on_screen.denoiser))

        with clock.running():
            while not (session.complete and session.samples >= OPENED):
                turn()
            began, phase, opened = clock(), AWAY, session.pictures
            while (share := (clock() - began) / DRAG) < 1:
                session.update(camera=aside(home, indoors, diagonal, share))
                turn(moving=True)
            session.update(camera=home)
            stopped, phase = clock(), MOVING
            while clock() - stopped < HELD and not session.waiting(moving=True):
                turn(moving=True)
            phase = REST
            while not session.idle:
                turn()
        session.release()
        return frames


def rises(frames: list[ShownFrame], figures: list[Figures]) -> list[Figures]:
    """By how much each picture's figures are above those of the best before it; the drag begins anew."""
    found: list[Figures] = []
    for opening in (True, False):
        part = [values for frame, values in zip(frames, figures, strict=True) if (frame.phase == OPENING) == opening]
        found += map(tuple, ladder.rises(part).tolist()) if part else ()
    return found


def run(options: Options) -> Result:
    """Every scene, at every slowness."""
    size = QUICK_SIZE if options.quick else SIZE
    subjects, missing = present(("ring",) if options.quick else (), SCENES)
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "size": size, "missing": missing, "rows": []}
    strips: list[NDArray[np.uint8]] = []
    for subject in subjects:
        truth = converged(subject, size, 16 if options.quick else CONVERGED, device)
        renderer = subject.renderer(device, denoise="auto")
        for slowness in SLOWNESS[:1] if options.quick else SLOWNESS:
            say(f"{subject.name}, {slowness:g} times as slow")
            indoors = subject.name in INDOORS
            frames = played(renderer, size, slowness, indoors, exposure=truth.exposure)
            data["rows"].append({"scene": subject.name, "slowness": slowness, "pictures": _pictures(truth, frames)})
            strips.append(strip([truth.shown(frame.linear) for frame in frames], truth.shown(truth.linear)))
        renderer.release()
    return Result(data, [_table(data)], sheet=np.concatenate(strips))


def strip(pictures: list[NDArray[np.float32]], last: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(H, W, 3): a row of `COLUMNS` displayed pictures of 0 to 1 at their full size, evenly chosen, and the last."""
    chosen = np.linspace(0, len(pictures) - 1, COLUMNS - 1).round().astype(int)
    row = np.concatenate([*(pictures[number] for number in chosen), last], axis=1)
    return np.round(row * 255).astype(np.uint8)


def _pictures(truth: Converged, frames: list[ShownFrame]) -> list[dict[str, Any]]:
    """Facts and figures of each picture."""
    figures = [truth.figures(frame.linear) for frame in frames]
    return [
        {name: getattr(frame, name) for name in ("phase", "seconds", "samples", "scale")}
        | dict(zip(("flip", "specks", "holes"), values, strict=True), rises=rise)
        for frame, values, rise in zip(frames, figures, rises(frames, figures), strict=True)
    ]


def _table(data: dict[str, Any]) -> Table:
    rows = []
    for row in data["rows"]:
        pictures = row["pictures"]
        flip, specks, holes = (max(each["rises"][k] for each in pictures) for k in range(3))
        full = [each for each in pictures if each["samples"] >= 2]
        most = [100 * max(each[kind] for each in full) for kind in ("specks", "holes")]
        name, worse = f"{row['scene']}, {row['slowness']:g}", flip > RISE or max(specks, holes) > SPOILT
        rows.append((name, len(pictures), flip, 100 * specks, 100 * holes, *most, worse))
    rises = "scene, slowness", "pictures", "rise of FLIP", "of specks %", "of holes %"
    columns = *rises, "specks %, from 2 samples", "holes %", "worse than before"
    return Table("every picture from opening to rest", columns, rows, "Rises: over the best picture before.")
