"""Frames of a scene in motion: its animation plays, or the camera goes around it, picture by picture."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.film.movie import frame_path, is_movie, write_movie
from viewer.options.table import check
from viewer.renderer.given import scene_given
from viewer.renderer.picture import EXPOSURE, TONEMAP, Picture
from viewer.renderer.prepared import Prepared
from viewer.renderer.renderer import Renderer
from viewer.scene.animation import turntable as turned
from viewer.scene.camera import Camera
from viewer.scene.classic_plane import on_plane
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
    scene: Scene | str | os.PathLike[str],
    frames: range,
    fps: float = 30.0,
    turntable: bool = False,
    camera: Camera | str | None = None,
    render: dict[str, Any] | None = None,
    progress: Report | None = None,
    **options: Any,
) -> Generator[Frame, None, None]:
    """Render the frames one by one; frame n shows the scene at n / fps seconds of its chosen animation.

    scene     : a `Scene`, or the name of one as of `viewer.load`.
    turntable : the camera also goes around the scene's middle once in these frames, about +Y.
    render    : keywords of `Renderer.render`; the others are those of `Renderer`.
    progress  : called with the share of all frames that is done and a text.

    Raises ViewerError where nothing would move, and what `Renderer` raises.
    """
    shown = scene_given(scene)
    scene = shown.given if isinstance(shown, Prepared) else shown
    if not turntable and scene.duration == 0:
        raise ViewerError(scene.name, "nothing moves in it", "--turntable turns the camera around it")
    ground = check("ground", options.get("ground"))
    if check("classic", options.get("classic", False)):  # once, not in every frame
        scene = on_plane(scene, ground)
    elif ground is not None:
        scene = scene.on_ground(ground)
    bounds = None
    if turntable or (camera is None and not scene.cameras):
        bounds = _bounds(scene, frames, fps)
        if camera is None and not scene.cameras:
            camera = Camera.framing(bounds)  # of all the motion, so that it stands still
    renderer: Renderer | None = None
    try:
        for k, number in enumerate(frames):
            text = f"frame {number}, {k + 1:,} of {len(frames):,}"

            def report(share: float, _: str, k: int = k, text: str = text) -> None:
                if progress is not None:
                    progress((k + share) / len(frames), text)

            report(0.0, "")
            seconds = number / fps
            posed = scene.posed(seconds)
            if renderer is None:
                renderer = Renderer(posed, camera=camera, **options)
            else:
                renderer.update(posed, camera=camera)
            if bounds is not None and turntable:
                renderer.update(camera=turned(renderer.camera, bounds, k / len(frames)))
            picture = renderer.render(**(render or {}), progress=report)
            picture.metadata |= {"frame": str(number), "time": f"{seconds:.9g}"}
            yield Frame(number, seconds, picture)
    finally:
        if renderer is not None:
            renderer.release()


def save_frames(
    output: str,
    frames: Generator[Frame, None, None],
    fps: float,
    seen: Callable[[Frame], None] | None = None,
    exposure: float | str = EXPOSURE,
    tonemap: str = TONEMAP,
) -> None:
    """Write the frames as they come: a file each where ``output`` is a pattern with %d, or one movie.

    seen : is shown every frame. exposure (stops), tonemap : for PNG, JPEG and movies, as in `srgb8`; auto is
    what suits the first frame, so that nothing flickers.
    Interrupted, it leaves whole files: the pictures that are done, and of a movie none.
    """

    at: float | str = exposure

    def watched() -> Iterator[Frame]:
        nonlocal at
        for frame in frames:
            at = frame.picture.stops(at)
            if seen is not None:
                seen(frame)
            yield frame

    with closing(frames):  # what is broken off frees its renderer now, while OpenGL is there
        if is_movie(output):
            write_movie(output, (frame.picture.srgb8(at, tonemap) for frame in watched()), fps)
            return
        for frame in watched():
            frame.picture.save(frame_path(output, frame.number), at, tonemap)


def _bounds(scene: Scene, frames: Sequence[int], fps: float) -> NDArray[np.float64]:
    """(2, 3): the box around the scene in (some of) the frames."""
    if scene.duration == 0:
        return scene.bounds(ground=False)
    picked = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _GLANCES)).astype(int))
    boxes = np.array([scene.posed(frames[k] / fps).bounds(ground=False) for k in picked.tolist()])
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
