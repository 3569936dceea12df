"""Frames of a scene in motion: its animation plays, or the camera goes around it, picture by picture."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.film.movie import frame_path, is_movie, write_movie
from viewer.film.tonemap import srgb8
from viewer.options import table as known
from viewer.renderer.renderer import Picture, Renderer
from viewer.scene.animation import turntable as turned
from viewer.scene.camera import Camera
from viewer.scene.light import with_light_at
from viewer.scene.scene import Scene

# Times at which a scene that moves is looked at for the bounds of all of its motion.
_GLANCES = 16

Report = Callable[[float, str], None]


class Frame(NamedTuple):
    """A frame's number, its time in seconds, and its picture."""

    number: int
    seconds: float
    picture: Picture


def render_frames(
    scene: Scene,
    frames: range,
    fps: float = 30.0,
    turntable: bool = False,
    camera: Camera | str | None = None,
    render: dict[str, Any] | None = None,
    progress: Report | None = None,
    **options: Any,
) -> Generator[Frame, None, None]:
    """Render the frames one by one; frame n shows the scene at n / fps seconds of its chosen animation.

    turntable : the camera also goes around the scene's middle once in these frames, about +Y.
    render    : keywords of `Renderer.render`; the others are those of `Renderer`.
    progress  : called with the share of all frames that is done and a text.

    Raises ViewerError where nothing would move, and what `Renderer` raises.
    """
    if not turntable and scene.duration == 0:
        raise ViewerError(scene.name, "nothing moves in it", "--turntable turns the camera around it")
    bounds = None
    if turntable or (camera is None and not scene.cameras):
        bounds = _bounds(scene, frames, fps)
        if camera is None and not scene.cameras:
            camera = Camera.framing(bounds)  # of all the motion, so that it stands still
    stage = _Stage(scene, camera, options)
    try:
        for k, number in enumerate(frames):
            text = f"frame {number}, {k + 1:,} of {len(frames):,}"

            def report(share: float, _: str, k: int = k, text: str = text) -> None:
                if progress is not None:
                    progress((k + share) / len(frames), text)

            report(0.0, "")
            seconds = number / fps
            renderer = stage.at(seconds)
            if bounds is not None and turntable:
                renderer.camera = turned(renderer.camera, bounds, k / len(frames))
            picture = renderer.render(**(render or {}), progress=report)
            picture.metadata |= {"frame": str(number), "time": f"{seconds:.9g}"}
            yield Frame(number, seconds, picture)
    finally:
        stage.release()


def save_frames(
    output: str,
    frames: Generator[Frame, None, None],
    fps: float,
    seen: Callable[[Frame], None] | None = None,
    exposure: float = 0.0,
    tone_map: str = "none",
) -> None:
    """Write the frames as they come: a file each where ``output`` is a pattern with %d, or one movie.

    seen : is shown every frame. exposure (stops), tone_map : for PNG and movies, as in `srgb8`.
    Interrupted, it leaves whole files: the pictures that are done, and of a movie none.
    """

    def watched() -> Iterator[Frame]:
        for frame in frames:
            if seen is not None:
                seen(frame)
            yield frame

    with closing(frames):  # what is broken off frees its renderer now, while OpenGL is there
        if is_movie(output):
            write_movie(output, (srgb8(frame.picture.linear, exposure, tone_map) for frame in watched()), fps)
            return
        for frame in watched():
            frame.picture.save(frame_path(output, frame.number), exposure, tone_map)


class _Stage:
    """The renderer of a scene in motion."""

    def __init__(self, scene: Scene, camera: Camera | str | None, options: dict[str, Any]) -> None:
        self.scene, self.camera = scene, camera
        self.options = {name: value for name, value in options.items() if name != "light"}
        self.moved_lights = known.check("light", options.get("light", known.option("light").default))
        self.renderer: Renderer | None = None
        self.transforms: NDArray[np.float64] | None = None

    def at(self, seconds: float) -> Renderer:
        """The renderer of the scene at a time, its camera and its lights where the animation has them."""
        posed = self.scene.posed(seconds)
        for name, position in self.moved_lights:
            posed = with_light_at(posed, name, position)
        transforms = np.array([instance.transform for instance in posed.instances])
        if self.renderer is None or self.transforms is None or not np.array_equal(transforms, self.transforms):
            self.renderer = self._move(posed, transforms)
            self.transforms = transforms
        if posed.lights != self.renderer.scene.lights:
            self.renderer.relight(posed)
        self.renderer.scene = posed
        self.renderer.camera = self.renderer._camera(self.camera)
        return self.renderer

    def _move(self, posed: Scene, transforms: NDArray[np.float64]) -> Renderer:
        """A renderer whose instances stand as those of ``posed``, by ``transforms`` (I, 4, 4)."""
        if self.renderer is None:
            return Renderer(posed, camera=self.camera, **self.options)
        self.renderer.move(transforms)
        return self.renderer

    def release(self) -> None:
        """Free what the renderer holds."""
        if self.renderer is not None:
            self.renderer.release()
            self.renderer = None


def _bounds(scene: Scene, frames: Sequence[int], fps: float) -> NDArray[np.float64]:
    """(2, 3): the box around the scene in (some of) the frames."""
    if scene.duration == 0:
        return scene.bounds()
    picked = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _GLANCES)).astype(int))
    boxes = np.array([scene.posed(frames[k] / fps).bounds() for k in picked.tolist()])
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
