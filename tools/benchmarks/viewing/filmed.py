"""Filmed sequences of a changing scene, then at rest, judged picture by picture: temporal lag.

While objects or lamps move, through a lens and in mirrors, pictures differ from converged ones by noise and by lag. The
lag left after the change shows as a difference that falls from picture to picture, relative to pictures without
history. Flicker is the root mean square change of a pixel from one picture of the scene at rest to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Table
from benchmarks.noise.eight import Converged, flip
from raystream import load
from raystream.film.device_film import FilmBuffer
from raystream.renderer.preview.frame import FrameClock, FrameJob
from raystream.renderer.preview.motion import of_motion
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import FrameKind, ScheduledFrame, Scheduler
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.frame_plan import FramePlan
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from raystream.stream.jobs import returned

MOVED, STILL = 8, 9  # pictures during the change, and after it
AFTER = (0, 1, 2, 4, 8)  # pictures after the last change to judge


@dataclass(frozen=True)
class Sequence:
    """A change, as options of `Renderer.update` by a picture's number, from the initial scene."""

    name: str
    scene: str
    change: Callable[[Scene, Camera, int], dict[str, Any]]
    options: dict[str, Any]


def _shifted(scene: Scene, name: str, by: tuple[float, float, float]) -> Scene:
    number = next(k for k, each in enumerate(scene.instances) if each.name == name)
    matrix = np.array(scene.instances[number].transform, np.float64)
    matrix[:3, 3] += by
    return scene.moved(np.array([number]), matrix[None])


def _dragged(scene: Scene, _: Camera, number: int) -> dict[str, Any]:
    return {"scene": _shifted(scene, "short_block", (20.0 * number, 0.0, 0.0))}


def _lamp(scene: Scene, _: Camera, number: int) -> dict[str, Any]:
    return {"scene": _shifted(scene, "light", (-12.0 * number, 0.0, 12.0 * number))}


def _around(_: Scene, camera: Camera, number: int) -> dict[str, Any]:
    angle, origin, target = np.radians(0.8 * number), np.array(camera.origin), np.array(camera.target)
    x, y, z = origin - target
    x, y, z = target + (np.cos(angle) * x + np.sin(angle) * z, y, np.cos(angle) * z - np.sin(angle) * x)
    return {"camera": replace(camera, origin=(float(x), float(y), float(z)))}


SEQUENCES = (
    Sequence("dragged object", "cornell", _dragged, {}),
    Sequence("moved lamp", "cornell", _lamp, {}),
    Sequence("depth of field", "cornell", _around, {"aperture": 60.0}),
    Sequence("mirror and glass", "cornell_photons", _around, {}),
)


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


def filmed(
    sequence: Sequence, size: tuple[int, int], part: int, device: Any, samples: int, clean: str
) -> tuple[dict[str, Any], NDArray[np.float32]]:
    """Measurements of a sequence, and its sheet (H, W, 3) as displayed: pictures with history on the left, without in
    the middle, and the converged ones."""
    start = load(sequence.scene)
    given = {"program": "path", "machine": "singlepass", "denoise": "auto", **sequence.options}
    renderer = Renderer(start, device=device, **given)
    camera = renderer.camera
    shots: dict[bool, list[NDArray[np.float32]]] = {}
    for past in (True, False):
        flown = Flown(renderer, size, part, past)
        shots[past] = []
        for number in range(MOVED + STILL):
            renderer.update(**sequence.change(start, camera, min(number, MOVED - 1)))
            shots[past].append(flown.picture())
        flown.release()
    last = MOVED - 1
    renderer.update(denoise=clean, seed=1000)
    truth = Converged(renderer.render(size, samples).linear, samples, 0.0)
    renderer.release()
    target = truth.shown(truth.linear)
    made: dict[str, Any] = {}
    for past, pictures in shots.items():
        shown = [truth.shown(each) for each in pictures]
        rest = range(last + 2, len(shown))  # the first with a predecessor of the same scene
        made["past" if past else "alone"] = {
            "flips": [flip(target, shown[last + n]) for n in AFTER],
            "flicker": float(np.mean([np.sqrt(np.mean((shown[k] - shown[k - 1]) ** 2)) for k in rest])),
        }
    looked = (0, MOVED // 2, *(last + n for n in AFTER))
    rows = [np.concatenate([truth.shown(shots[True][k]), truth.shown(shots[False][k]), target], axis=1) for k in looked]
    return made, np.concatenate(rows)


def filmed_table(data: dict[str, Any]) -> Table:
    """The difference by picture after the last change."""
    rows = []
    for name, case in data.items():
        for which, label in (("alone", "each picture alone"), ("past", "with those before")):
            rows.append((name, label, *case[which]["flips"], case[which]["flicker"]))
    columns = ("sequence", "", *(f"FLIP, {n} pictures after the change" for n in AFTER), "flicker at rest")
    return Table("filmed sequences", columns, rows, f"{MOVED} pictures of change, then the scene stands still.")
