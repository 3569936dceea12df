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
from benchmarks.noise.denoise import oidn_there
from benchmarks.noise.eight import Converged, Subject, flip, present
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
    data: dict[str, Any] = {"missing": missing, "facts": facts(device)}
    data |= {"size": size, "light": LIGHT, "pictures": pictures, "degrees": STEP, "scenes": {}}
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
    renderer.update(denoise="oidn" if oidn_there() else "none", seed=1000)
    truths = {}
    for number in judged:
        renderer.update(camera=cameras[number])
        linear = renderer.render(size, 4 if quick else SAMPLES, time=LONGEST).linear
        truths[number] = Converged(linear, SAMPLES, 0.0)
    exposure = truths[judged[-1]]
    made: dict[str, Any] = {"judged": judged}
    for past, shots in flown.items():
        shown = [exposure.shown(shot) for shot in shots]
        moves = range(max(1, pictures - STILL), pictures)
        flicker = [_change(renderer, cameras[k - 1 : k + 1], shown[k - 1], shown[k]) for k in moves]
        flips = [flip(exposure.shown(truths[k].linear), shown[k]) for k in judged]
        made["past" if past else "alone"] = {"flips": flips, "flicker": statistics.mean(flicker)}
    truth = [exposure.shown(truths[k].linear) for k in judged]
    made["converged_flicker"] = _change(renderer, [cameras[k] for k in judged[-2:]], *truth[-2:])
    renderer.release()
    return made


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
    rays = []
    for camera in cameras:
        right, up, forward = camera.basis()
        slope = np.tan(np.radians(camera.fov) / 2)
        x = (2 * (np.arange(width) + 0.5) / width - 1) * slope * width / height
        y = (1 - 2 * (np.arange(height) + 0.5) / height) * slope
        towards = forward + x[None, :, None] * right + y[:, None, None] * up
        rays.append((np.array(camera.origin), towards / np.linalg.norm(towards, axis=-1, keepdims=True)))
    depths = []
    for origin, towards in rays:
        hits = renderer.trace(np.broadcast_to(origin, towards.shape).reshape(-1, 3), towards.reshape(-1, 3))
        depths.append(np.asarray(hits.distance).reshape(height, width))
    with np.errstate(invalid="ignore"):
        place = rays[1][0] + rays[1][1] * depths[1][..., None] - rays[0][0]
        right, up, forward = cameras[0].basis()
        slope, depth = np.tan(np.radians(cameras[0].fov) / 2), place @ forward
        column = ((place @ right) / (depth * slope * width / height) + 1) * width / 2 - 0.5
        row = (1 - (place @ up) / (depth * slope)) * height / 2 - 0.5
        there = np.isfinite(depths[1]) & (depth > 0) & (column >= 0) & (row >= 0)
        there &= (column <= width - 1) & (row <= height - 1)
        at = np.where(there, np.rint(row), 0).astype(int), np.where(there, np.rint(column), 0).astype(int)
        there &= np.abs(depths[0][at] - np.linalg.norm(place, axis=-1)) < 0.02 * depths[1]
    return float(np.sqrt(np.mean((now - before[at])[there] ** 2)))


def _table(data: dict[str, Any]) -> Table:
    rows = []
    for name, scene in data["scenes"].items():
        for which, label in (("alone", "each picture alone"), ("past", "with those before")):
            case = scene[which]
            rows.append((name, label, *case["flips"], case["flicker"]))
    judged = next(iter(data["scenes"].values()))["judged"] if data["scenes"] else []
    columns = ("scene", "", *(f"FLIP of picture {number + 1}" for number in judged), "flicker")
    note = "{} x {}, one sample of light in {} pixels; {:g} degrees a picture.".format(
        *data["size"], LIGHT * LIGHT, STEP
    )
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
        tiles = renderer.sampler.render_tiles(plan, film)
        frame = ScheduledFrame(FrameKind.FLIGHT, self.small, self.scale, 1, 1, budget=1.0)
        job = FrameJob(frame, renderer.camera, film, first=number)
        made = returned(self.preview.frame(job, tiles, self.size, 1))
        assert made is not None
        with renderer.device.current():
            shot = made.fields()["rgb"].copy()
            if before is not None:
                before.release()
        return shot

    def release(self) -> None:
        """Free everything but the renderer."""
        self.preview.release()
        with self.renderer.device.current():
            if self._film is not None:
                self._film.release()
