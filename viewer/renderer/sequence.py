"""Pictures in one line, of whatever is at hand: one, or frames of a scene in motion, whose animation plays or whose
camera goes around it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError, ViewerWarning, warn
from raystream.film.files.movie import frame_path, is_movie, write_movie
from raystream.options.table import OPTIONS, check, part
from raystream.renderer.inputs.camera import view
from raystream.renderer.inputs.hit_attributes import PosedFrame
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import NAMES, Settings, unknown_keyword
from raystream.renderer.render import RENDER_KEYWORDS
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.picture import EXPOSURE, TONEMAP, Picture
from raystream.renderer.scene_update import SCENE_KEYWORDS, scene_given
from raystream.scene.animation import rotated_about
from raystream.scene.animation import turntable as turned
from raystream.scene.camera import Camera
from raystream.scene.edits.animated import playing
from raystream.scene.edits.classic_plane import on_plane
from raystream.scene.exposure import enough_cameras, exposed, moving_camera
from raystream.scene.geometry.framing import LENS_FOV, filling, view_direction
from raystream.scene.scene import Scene

if TYPE_CHECKING:
    from typing import Unpack

    from raystream.options.typed import RendererKeywords, RenderKeywords

# Times at which a scene that moves is looked at for the bounds of all of its motion.
_GLANCES = 16

Report = Callable[[float, str], None]


def render(
    scene: Any,
    *,
    moment: float | None = None,
    animation: str | int | None = None,
    shutter: tuple[float, float] | str | None = None,
    motion_keys: int | str = "auto",
    fps: float = 30.0,
    **options: Unpack[RenderKeywords],
) -> Picture:
    """A picture of a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D.

    scene   : as of `raystream.formats.objects.scene_of`.
    moment  : seconds of a scene's animation; None: the rest pose. animation : which one, by name or number, or ``all``
    (at 0 seconds without a moment); None: the one that is chosen in the scene.
    shutter : when it opens and closes, as shares of a frame of 1 / ``fps`` seconds that begins there (at 0 without a
    moment): motion is blurred. motion_keys : times of it at which moving parts are placed.
    options : those of `Renderer` and of `Renderer.render`, such as ``size=(640, 480), spp=64, environment="sky"``;
    ``variant`` and ``lenient`` of files, ``up`` ("y" or "z") of others. A camera is in the object's own coordinates.

    >>> raystream.render("bunny.ply", spp=64).save("bunny.png")
    >>> raystream.render((vertices, faces), camera="3,2,4 0,0,0")

    Raises ViewerError for a bad scene, and for an unknown option or a wrong value; DeviceError without
    OpenGL 3.3.
    """
    chosen: dict[str, Any] = {**options}
    for name in chosen.keys() - {*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS, "settings", "device", "progress"}:
        raise unknown_keyword(name, "render", (*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS))
    if moment is not None or animation is not None or shutter is not None:
        source = scene_given(scene, chosen)
        animated = playing(source.given if isinstance(source, PreparedScene) else source, animation)
        warn(moment_remarks(animated, check("moment", moment)))
        times = check("moment", moment) or 0.0, check("fps", fps)
        scene = shown_at(animated, *times, check("shutter", shutter), check("motion_keys", motion_keys))
    drawn = {name: chosen.pop(name) for name in RENDER_KEYWORDS if name in chosen}
    renderer = Renderer(scene, **chosen)
    with renderer.device.kept_current():
        try:
            return renderer.render(**drawn)
        finally:
            renderer.release()


class Frame(NamedTuple):
    """A frame's number, its time in seconds, and its picture."""

    number: int
    seconds: float
    picture: Picture


class FrameSequence:
    """Frames of a scene: frame n shows it at n / fps seconds of its chosen animation.

    It can be sent to another process, where `show` is given the scene.
    """

    def __init__(
        self,
        scene: Scene,
        frames: range,
        fps: float,
        turntable: bool,
        camera: Camera | str | None,
        options: Mapping[str, Any],
        size: tuple[int, int] | str = OPTIONS["size"].value.default,
        shutter: tuple[float, float] | str | None = None,
        motion_keys: int | str = "auto",
    ) -> None:
        """options : of the renderer, of which those of the scene shape it, see `staged`. size : of the frames.
        shutter, motion_keys : of each frame, as options.

        Raises ViewerError where nothing would move.
        """
        if not turntable and scene.duration == 0:
            raise ViewerError(scene.name, "nothing moves in it", "--turntable turns the camera around it")
        self.frames, self.fps, self.camera = frames, fps, camera
        self.shutter, self.motion_keys = check("shutter", shutter), check("motion_keys", motion_keys)
        self.staging = {name: options[name] for name in part("scene") if name in options}
        self.turned: NDArray[np.float64] | None = None  # the box that the camera goes around
        if turntable:
            self.turned = _bounds(self.staged(scene), frames, fps)
        if camera is None and scene.own_camera is None:
            width, height = check("size", size)
            self.camera = self._overview(self.staged(scene), width / height)

    def staged(self, scene: Scene) -> Scene:
        """The scene on its ground: once, not in every frame."""
        ground = check("ground", self.staging.get("ground"))
        if check("classic", self.staging.get("classic", False)):
            return on_plane(scene, ground)
        return scene if ground is None else scene.on_ground(ground)

    def _overview(self, scene: Scene, aspect: float) -> Camera:
        """The default view of all the motion, in which the camera stands still or goes around the scene."""
        times = [self.frames[k] / self.fps for k in _glances(scene, self.frames)]
        points = np.concatenate([scene.posed(seconds).silhouette() for seconds in times] or [scene.silhouette()])
        direction = view_direction(points)
        if self.turned is not None:
            middle, shares = self.turned.mean(axis=0), np.arange(_GLANCES) / _GLANCES
            points = np.concatenate([rotated_about(points, middle, fraction) for fraction in shares.tolist()])
        return filling(points, LENS_FOV, direction, aspect)

    def show(
        self, scene: Scene, k: int, renderer: Renderer | None, settings: Settings | None = None, **options: Any
    ) -> Renderer:
        """Show the k-th frame of a scene that is `staged`, by a renderer, or by a new one of these options."""
        posed = shown_at(scene, self.frames[k] / self.fps, self.fps, self.shutter, self.motion_keys)
        if renderer is None:
            renderer = Renderer(posed, settings, camera=self.camera, **options)
        else:
            renderer.update(posed, camera=self.camera)
        renderer.last_frame = partial(self._moment_before, renderer.prepared.scene, k, renderer.settings)
        if self.turned is not None:
            renderer.update(camera=self._turned(renderer.camera, k))
        return renderer

    def _moment_before(self, scene: Scene, k: int, settings: Settings) -> PosedFrame:
        """The frame before the k-th, where it is not one of these, too, by the settings without a turn."""
        opens = 0.0 if self.shutter is None else self.shutter[0]
        posed = scene.posed((self.frames[k] - 1 + opens) / self.fps)
        camera = view(settings, posed)
        return PosedFrame(posed, camera if self.turned is None else self._turned(camera, k - 1))

    def _turned(self, camera: Camera, k: int) -> Camera:
        """The camera on its way around the scene, in the k-th frame."""
        assert self.turned is not None
        bounds, count = self.turned, len(self.frames)
        if self.shutter is None or self.shutter[0] == self.shutter[1]:
            return turned(camera, bounds, (k + (self.shutter or (0.0,))[0]) / count)
        opens, closes = self.shutter

        def cameras(keys: int) -> list[Camera]:
            shares = np.linspace(opens, closes, keys).tolist()
            at = zip(camera.at(keys), shares, strict=True)
            return [turned(keyed, bounds, (k + time) / count) for keyed, time in at]

        keys = self.motion_keys
        return moving_camera(enough_cameras(cameras) if keys == "auto" else cameras(int(keys)))

    def frame(self, k: int, picture: Picture) -> Frame:
        """The k-th frame, with its picture."""
        number, seconds = self.frames[k], self.frames[k] / self.fps
        picture.metadata |= {"frame": str(number), "time": f"{seconds:.9g}"}
        return Frame(number, seconds, picture)

    def text(self, k: int) -> str:
        """Which frame the k-th is."""
        return f"frame {self.frames[k]}, {k + 1:,} of {len(self.frames):,}"


def render_frames(
    scene: Any,
    frames: range,
    fps: float = 30.0,
    turntable: bool = False,
    render: dict[str, Any] | None = None,
    progress: Report | None = None,
    shutter: tuple[float, float] | str | None = None,
    motion_keys: int | str = "auto",
    animation: str | int | None = None,
    **options: Unpack[RendererKeywords],
) -> Generator[Frame, None, None]:
    """Render the frames one by one; frame n shows the scene at n / fps seconds of its chosen animation.

    scene     : as of `raystream.render`.
    turntable : the camera also goes around the scene's middle once in these frames, about +Y.
    render    : keywords of `Renderer.render`; the others are those of `Renderer`.
    progress  : called with the share of all frames that is done and a text.
    shutter   : when it opens and closes, as shares of a frame; motion is blurred in between. motion_keys : times at
    which moving parts are placed, in between on straight lines.
    animation : which of the scene's plays, by name or number, or ``all``; None: the one that is chosen in the scene.

    Raises ViewerError where nothing would move, and the errors of `Renderer`.
    """
    taking: dict[str, Any] = {**options}
    shown = scene_given(scene, taking)
    camera = taking.pop("camera", None)
    scene = playing(shown.given if isinstance(shown, PreparedScene) else shown, animation)
    size = {name: value for name, value in (render or {}).items() if name == "size"}
    exposure: dict[str, Any] = {"shutter": shutter, "motion_keys": motion_keys}
    motion = FrameSequence(scene, frames, fps, turntable, camera, taking, **size, **exposure)
    scene = motion.staged(scene)
    renderer: Renderer | None = None
    try:
        for k in range(len(frames)):

            def report(fraction: float, _: str, k: int = k) -> None:
                if progress is not None:
                    progress((k + fraction) / len(frames), motion.text(k))

            report(0.0, "")
            renderer = motion.show(scene, k, renderer, **taking)
            with warnings.catch_warnings():
                if k:  # the first frame has told
                    warnings.simplefilter("ignore", ViewerWarning)
                picture = renderer.render(**(render or {}), progress=report)
            yield motion.frame(k, picture)
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

    seen : is shown every frame. exposure (stops), tonemap : for PNG, JPEG and movies, as in `srgb8`; auto is the
    exposure of the first frame, so that nothing flickers.
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


def shown_at(
    scene: Scene, seconds: float, fps: float, shutter: tuple[float, float] | None, keys: int | str = "auto"
) -> Scene:
    """A scene at a time of its animation, or while the shutter of the frame that begins there is open. shutter :
    shares of a frame; None: it is open for no time. keys : see `exposed`."""
    if shutter is None:
        return scene.posed(seconds)
    return exposed(scene, seconds + shutter[0] / fps, seconds + shutter[1] / fps, keys)


def moment_remarks(scene: Scene, moment: float | None) -> list[str]:
    """A remark on a moment beyond the end of the animation. Raises ViewerError for a moment where nothing moves."""
    if moment is None:
        return []
    if not scene.animations:
        raise ViewerError(scene.name, "nothing moves in it", "render it without a moment")
    ends = f"the animation ends at {scene.duration:g} s, and is shown in its last pose"
    return [ends] if moment > scene.duration else []


def _bounds(scene: Scene, frames: Sequence[int], fps: float) -> NDArray[np.float64]:
    """(2, 3): the box around the scene in (some of) the frames."""
    picked = _glances(scene, frames)
    if not picked:
        return scene.bounds(ground=False)
    boxes = np.array([scene.posed(frames[k] / fps).bounds(ground=False) for k in picked])
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


def _glances(scene: Scene, frames: Sequence[int]) -> list[int]:
    """The places of some of the frames; none where nothing moves."""
    if scene.duration == 0:
        return []
    picked: list[int] = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _GLANCES)).astype(int)).tolist()
    return picked
