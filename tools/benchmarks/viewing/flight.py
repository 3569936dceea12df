"""Pictures of a moving camera, one light sample per sixteen pixels, with and without history: flicker and lag.

Flicker is the root mean square change of a scene point's displayed value from one picture to the next, reprojected
along the camera's motion. Lag and all other errors show in the FLIP of a picture against the converged one of the same
view. See `eight` for both.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.noise.eight import Converged, Subject, flip, present
from raystream.denoise import oidn
from raystream.film.device_film import FilmBuffer
from raystream.renderer.preview.frame import FrameClock, FrameJob
from raystream.renderer.preview.motion import of_motion
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import FrameKind, ScheduledFrame, Scheduler
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.sampler import FramePlan
from raystream.scene.camera import Camera
from raystream.stream.jobs import returned

ABOUT = "pictures of a moving camera: flicker and lag, with and without those before"

SIZE, LIGHT = (384, 216), 4  # of the window, and reduction of the light
SCENES = ("cornell", "hall", "DamagedHelmet")
PICTURES = 24
STEP = 0.4  # degrees around the target per picture: a quarter turn takes about a second
JUDGED = (1, 4, 12, 23)  # pictures against converged ones
SAMPLES, LONGEST = 32, 20.0  # of these, then cleaned by Open Image Denoise, and seconds
STILL = 6  # the last pictures, for flicker


def path(camera: Camera, number: int) -> Camera:
    """The camera of a picture: around its target, and slightly nearer."""
    angle, origin, target = np.radians(STEP * number), np.array(camera.origin), np.array(camera.target)
    x, y, z = (origin - target) * (1 - 0.005 * number)
    x, y, z = target + (np.cos(angle) * x + np.sin(angle) * z, y, np.cos(angle) * z - np.sin(angle) * x)
    return replace(camera, origin=(float(x), float(y), float(z)))


def run(options: Options) -> Result:
    """Every scene, with and without history."""
    size, pictures = ((96, 54), 6) if options.quick else (SIZE, PICTURES)
    subjects, missing = present(SCENES[:1] if options.quick else SCENES)
    device = options.open()
    data: dict[str, Any] = {"missing": missing, "facts": facts(device), "size": size, "light": LIGHT}
    data |= {"pictures": pictures, "degrees": STEP, "scenes": {}}
    for subject in subjects:
        say(f"{subject.name}: {pictures} pictures")
        data["scenes"][subject.name] = _case(subject, size, pictures, device, options.quick)
    return Result(data, [_table(data)])


def _case(subject: Subject, size: tuple[int, int], pictures: int, device: Any, quick: bool) -> dict[str, Any]:
    renderer = subject.renderer(device, denoise="auto")
    start = renderer.camera
    cameras = [path(start, number) for number in range(pictures)]
    flown = {past: fly(renderer, cameras, size, past) for past in (True, False)}
    judged = [number for number in JUDGED if number < pictures]
    renderer.update(denoise="oidn" if oidn.installed() else "none", seed=1000)
    truths = {}
    for number in judged:
        renderer.update(camera=cameras[number])
        linear = renderer.render(size, 4 if quick else SAMPLES, time=LONGEST).linear
        truths[number] = Converged(linear, SAMPLES, 0.0)
    exposure = truths[judged[-1]]
    case: dict[str, Any] = {"judged": judged}
    for past, shots in flown.items():
        shown = [exposure.shown(shot) for shot in shots]
        moves = range(max(1, pictures - STILL), pictures)
        flicker = [_change(renderer, cameras[k - 1 : k + 1], shown[k - 1], shown[k]) for k in moves]
        flips = [flip(exposure.shown(truths[k].linear), shown[k]) for k in judged]
        case["past" if past else "alone"] = {"flips": flips, "flicker": statistics.mean(flicker)}
    renderer.release()
    return case


def fly(renderer: Renderer, cameras: list[Camera], size: tuple[int, int], past: bool) -> list[NDArray[np.float32]]:
    """The pictures of a window of ``size`` (width, height), (H, W, 3) linear."""
    flown, shots = Flown(renderer, size, LIGHT, past), []
    for camera in cameras:
        renderer.update(camera=camera)
        shots.append(flown.picture())
    flown.release()
    return shots


def _change(renderer: Renderer, cameras: list[Camera], before: NDArray, now: NDArray) -> float:
    """Root mean square change of a picture's points since the picture before, where they were visible."""
    height, width = now.shape[:2]
    points, depths = [], []
    for camera in cameras:
        origins, directions = camera.rays(width, height)
        hits = renderer.trace(origins.reshape(-1, 3), directions.reshape(-1, 3))
        depths.append(np.asarray(hits.distance, np.float64).reshape(height, width))
        with np.errstate(invalid="ignore"):
            points.append(origins + directions * depths[-1][..., None])
    hit = np.isfinite(depths[1])
    places = cameras[0].project(np.where(hit[..., None], points[1], 0.0).reshape(-1, 3), (width, height)) - 0.5
    column, row = np.moveaxis(places.reshape(height, width, 2), -1, 0)
    there = hit & (column >= 0) & (row >= 0) & (column <= width - 1) & (row <= height - 1)
    at = np.where(there, np.rint(row), 0).astype(int), np.where(there, np.rint(column), 0).astype(int)
    with np.errstate(invalid="ignore"):
        distance = np.linalg.norm(points[1] - cameras[0].origin, axis=-1)
        there &= np.abs(depths[0][at] - distance) < 0.02 * depths[1]
    return float(np.sqrt(np.mean((now - before[at])[there] ** 2)))


def _table(data: dict[str, Any]) -> Table:
    labels = {"alone": "each picture alone", "past": "with those before"}
    rows = [
        (name, label, *scene[which]["flips"], scene[which]["flicker"])
        for name, scene in data["scenes"].items()
        for which, label in labels.items()
    ]
    judged = next(iter(data["scenes"].values()))["judged"] if data["scenes"] else []
    columns = ("scene", "", *(f"FLIP of picture {number + 1}" for number in judged), "flicker")
    width, height = data["size"]
    note = f"{width} x {height}, one sample of light in {LIGHT**2} pixels; {STEP:g} degrees a picture."
    return Table("a moving camera", columns, rows, note)


class Flown:
    """Pictures of a window of ``size`` (width, height) with light at 1 / ``part`` of its width."""

    def __init__(self, renderer: Renderer, size: tuple[int, int], part: int, past: bool) -> None:
        self.renderer, self.size, self.number = renderer, size, 0
        self.small = size[0] // part, size[1] // part
        self.preview = Preview(renderer, FrameClock(renderer.device, Scheduler()))
        self.preview.reprojects = past
        self.preview.scheduler.upsampled.note(1e12)  # features of every pixel
        self.scale = 1 / part
        self._film: FilmBuffer | None = None

    def picture(self) -> NDArray[np.float32]:
        """The next picture of the renderer's present scene and camera: (H, W, 3) linear."""
        renderer, number = self.renderer, self.number
        self.number += 1
        with renderer.device.current():
            before, film = self._film, FilmBuffer(renderer.device, self.small)
            self._film = film
            settings, pinhole = of_motion(renderer.settings), renderer.camera.with_lens(0.0)
            plan = FramePlan(settings, pinhole, self.small, samples=1, first_sample=number)
            frame = ScheduledFrame(FrameKind.FLIGHT, self.small, self.scale, 1, 1, budget=1.0)
            job = FrameJob(frame, renderer.camera, film, first=number)
            tiles = renderer.sampler.render_tiles(plan, film)
            picture = returned(self.preview.frame(job, tiles, self.size, 1))
            assert picture is not None
            shot = picture.fields()["rgb"].copy()
            if before is not None:
                before.release()
        return shot

    def release(self) -> None:
        """Free everything but the renderer."""
        self.preview.release()
        with self.renderer.device.current():
            if self._film is not None:
                self._film.release()
