"""`raystream.render`, and sequences of frames of an animation or a turntable."""

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
from raystream.options.table import OPTIONS, check, names_of_part
from raystream.renderer.inputs.camera import view
from raystream.renderer.inputs.hit_attributes import PosedFrame
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import NAMES, Settings, unknown_keyword
from raystream.renderer.render import RENDER_KEYWORDS
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.picture import EXPOSURE, TONEMAP, Picture
from raystream.renderer.scene_update import SCENE_KEYWORDS, load_scene
from raystream.scene.animation import rotated_about
from raystream.scene.animation import turntable as turntable_camera
from raystream.scene.camera import Camera
from raystream.scene.edits.animated import playing
from raystream.scene.edits.classic_plane import on_plane
from raystream.scene.exposure import enough_cameras, exposed, moving_camera
from raystream.scene.geometry.framing import LENS_FOV, filling, view_direction
from raystream.scene.scene import Scene

if TYPE_CHECKING:
    from typing import Unpack

    from raystream.options.typed import RendererKeywords, RenderKeywords

_BOUNDS_SAMPLES = 16  # times at which the bounds of a moving scene are sampled

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

    Raises ViewerError for a bad scene, and for an unknown option or a wrong value; DeviceError without OpenGL 3.3.
    """
    keywords: dict[str, Any] = {**options}
    for name in keywords.keys() - {*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS, "settings", "device", "progress"}:
        raise unknown_keyword(name, "render", (*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS))
    if moment is not None or animation is not None or shutter is not None:
        source = load_scene(scene, keywords)
        animated = playing(source.given if isinstance(source, PreparedScene) else source, animation)
        warn(moment_remarks(animated, check("moment", moment)))
        times = check("moment", moment) or 0.0, check("fps", fps)
        scene = scene_at(animated, *times, check("shutter", shutter), check("motion_keys", motion_keys))
    render_options = {name: keywords.pop(name) for name in RENDER_KEYWORDS if name in keywords}
    renderer = Renderer(scene, **keywords)
    with renderer.device.kept_current():
        try:
            return renderer.render(**render_options)
        finally:
            renderer.release()


class Frame(NamedTuple):
    """A frame's number, its time in seconds, and its picture."""

    number: int
    seconds: float
    picture: Picture


class FrameSequence:
    """Frames of a scene: frame n shows it at n / fps seconds of its chosen animation. It can be pickled for another
    process, where `show` has the scene as an argument."""

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
        """options : of the renderer; `staged` applies those of the scene. size : of the frames. shutter, motion_keys
        : of each frame, as the options of these names.

        Raises ViewerError where nothing would move.
        """
        if not turntable and scene.duration == 0:
            raise ViewerError(scene.name, "nothing moves in it", "--turntable turns the camera around it")
        self.frames, self.fps, self.camera = frames, fps, camera
        self.shutter, self.motion_keys = check("shutter", shutter), check("motion_keys", motion_keys)
        self.staging = {name: options[name] for name in names_of_part("scene") if name in options}
        self.turntable_box: NDArray[np.float64] | None = None  # bounds (2, 3) that the camera orbits
        if turntable:
            self.turntable_box = _bounds(self.staged(scene), frames, fps)
        if camera is None and scene.own_camera is None:
            width, height = check("size", size)
            self.camera = self._overview(self.staged(scene), width / height)

    def staged(self, scene: Scene) -> Scene:
        """The scene with its ground, to be passed to `show`: made once for all frames."""
        ground = check("ground", self.staging.get("ground"))
        if check("classic", self.staging.get("classic", False)):
            return on_plane(scene, ground)
        return scene if ground is None else scene.on_ground(ground)

    def _overview(self, scene: Scene, aspect: float) -> Camera:
        """The default view, in which the scene is framed at all times of its motion, or all around on a turntable."""
        times = [self.frames[k] / self.fps for k in _sampled_frames(scene, self.frames)]
        points = np.concatenate([scene.posed(seconds).silhouette() for seconds in times] or [scene.silhouette()])
        direction = view_direction(points)
        if self.turntable_box is not None:
            center, fractions = self.turntable_box.mean(axis=0), np.arange(_BOUNDS_SAMPLES) / _BOUNDS_SAMPLES
            points = np.concatenate([rotated_about(points, center, fraction) for fraction in fractions.tolist()])
        return filling(points, LENS_FOV, direction, aspect)

    def show(
        self, scene: Scene, k: int, renderer: Renderer | None, settings: Settings | None = None, **options: Any
    ) -> Renderer:
        """Show the k-th frame of a `staged` scene; returns the renderer, a new one with these options where it is
        None."""
        posed = scene_at(scene, self.frames[k] / self.fps, self.fps, self.shutter, self.motion_keys)
        if renderer is None:
            renderer = Renderer(posed, settings, camera=self.camera, **options)
        else:
            renderer.update(posed, camera=self.camera)
        renderer.last_frame = partial(self._frame_before, renderer.prepared.scene, k, renderer.settings)
        if self.turntable_box is not None:
            renderer.update(camera=self._turntable_camera(renderer.camera, k))
        return renderer

    def _frame_before(self, scene: Scene, k: int, settings: Settings) -> PosedFrame:
        """The scene and the camera one frame before the k-th, which need not be among these frames."""
        opens = 0.0 if self.shutter is None else self.shutter[0]
        posed = scene.posed((self.frames[k] - 1 + opens) / self.fps)
        camera = view(settings, posed)
        return PosedFrame(posed, camera if self.turntable_box is None else self._turntable_camera(camera, k - 1))

    def _turntable_camera(self, camera: Camera, k: int) -> Camera:
        """The camera rotated about the scene for the k-th frame, moving while the shutter is open."""
        assert self.turntable_box is not None
        bounds, count = self.turntable_box, len(self.frames)
        if self.shutter is None or self.shutter[0] == self.shutter[1]:
            return turntable_camera(camera, bounds, (k + (self.shutter or (0.0,))[0]) / count)
        opens, closes = self.shutter

        def cameras(keys: int) -> list[Camera]:
            shares = np.linspace(opens, closes, keys).tolist()
            keyed = zip(camera.at(keys), shares, strict=True)
            return [turntable_camera(key_camera, bounds, (k + share) / count) for key_camera, share in keyed]

        keys = self.motion_keys
        return moving_camera(enough_cameras(cameras) if keys == "auto" else cameras(int(keys)))

    def frame(self, k: int, picture: Picture) -> Frame:
        """The k-th frame, with number and time added to its picture's metadata."""
        number, seconds = self.frames[k], self.frames[k] / self.fps
        picture.metadata |= {"frame": str(number), "time": f"{seconds:.9g}"}
        return Frame(number, seconds, picture)

    def text(self, k: int) -> str:
        """A text for progress on the k-th frame."""
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
    renderer_options: dict[str, Any] = {**options}
    source = load_scene(scene, renderer_options)
    camera = renderer_options.pop("camera", None)
    scene = playing(source.given if isinstance(source, PreparedScene) else source, animation)
    size = {name: value for name, value in (render or {}).items() if name == "size"}
    exposure: dict[str, Any] = {"shutter": shutter, "motion_keys": motion_keys}
    motion = FrameSequence(scene, frames, fps, turntable, camera, renderer_options, **size, **exposure)
    scene = motion.staged(scene)
    renderer: Renderer | None = None
    try:
        for k in range(len(frames)):

            def report(fraction: float, _: str, k: int = k) -> None:
                if progress is not None:
                    progress((k + fraction) / len(frames), motion.text(k))

            report(0.0, "")
            renderer = motion.show(scene, k, renderer, **renderer_options)
            with warnings.catch_warnings():
                if k:  # the first frame has warned
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

    seen : called with every frame. exposure (stops), tonemap : for PNG, JPEG and movies, as in `srgb8`; auto is the
    exposure of the first frame, so that nothing flickers.
    Interrupted, it leaves whole files: the pictures that are done, and of a movie none.
    """

    stops: float | str = exposure

    def exposed_frames() -> Iterator[Frame]:
        nonlocal stops
        for frame in frames:
            stops = frame.picture.stops(stops)  # of the first frame, from then on a number
            if seen is not None:
                seen(frame)
            yield frame

    with closing(frames):  # after an error the renderer is released now, while OpenGL still exists
        if is_movie(output):
            write_movie(output, (frame.picture.srgb8(stops, tonemap) for frame in exposed_frames()), fps)
            return
        for frame in exposed_frames():
            frame.picture.save(frame_path(output, frame.number), stops, tonemap)


def scene_at(
    scene: Scene, seconds: float, fps: float, shutter: tuple[float, float] | None, keys: int | str = "auto"
) -> Scene:
    """The scene at ``seconds`` of its animation, or its motion while the shutter of the frame that begins then is open.
    shutter : when it opens and closes, shares of a frame; None: no motion. keys : see `exposed`."""
    if shutter is None:
        return scene.posed(seconds)
    return exposed(scene, seconds + shutter[0] / fps, seconds + shutter[1] / fps, keys)


def moment_remarks(scene: Scene, moment: float | None) -> list[str]:
    """A remark on a moment beyond the end of the animation. Raises ViewerError for a moment where nothing moves."""
    if moment is None:
        return []
    if not scene.animations:
        raise ViewerError(scene.name, "nothing moves in it", "render it without a moment")
    remark = f"the animation ends at {scene.duration:g} s, and is shown in its last pose"
    return [remark] if moment > scene.duration else []


def _bounds(scene: Scene, frames: Sequence[int], fps: float) -> NDArray[np.float64]:
    """(2, 3): the bounds of the scene over up to `_BOUNDS_SAMPLES` of the frames."""
    indices = _sampled_frames(scene, frames)
    if not indices:
        return scene.bounds(ground=False)
    boxes = np.array([scene.posed(frames[k] / fps).bounds(ground=False) for k in indices])
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


def _sampled_frames(scene: Scene, frames: Sequence[int]) -> list[int]:
    """Indices of up to `_BOUNDS_SAMPLES` of the frames, evenly spaced; empty where nothing moves."""
    if scene.duration == 0:
        return []
    indices: list[int] = np.unique(
        np.linspace(0, len(frames) - 1, min(len(frames), _BOUNDS_SAMPLES)).astype(int)
    ).tolist()
    return indices
