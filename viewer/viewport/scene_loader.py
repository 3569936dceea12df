"""Scenes and settings on their way into the viewport, prepared by a worker thread and uploaded in pieces; and
the first picture of a scene.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.interrupts import UNWAITED
from raystream.formats.image.environment_maps import HIGH_RANGE, resolve_environment
from raystream.lighting.backdrop import backdrop_of
from raystream.options.declare import Affects
from raystream.options.table import OPTIONS
from raystream.renderer.empty_view import FILLED
from raystream.renderer.inputs import lighting
from raystream.renderer.inputs.camera import view as camera_of
from raystream.renderer.inputs.prepared import PreparedScene, arranged, prepare
from raystream.renderer.inputs.settings import NAMES, VIEW, Settings
from raystream.renderer.preview.gbuffer import raster_scene
from raystream.renderer.preview.headlight import DIRECTIONS, Headlight, HeadlightScene, headlight_scene
from raystream.renderer.preview.scheduler import HANDOVER, UPLOADING, rasterises
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.edits.framed import is_single_object
from raystream.scene.environment import DARKNESS, SUN, ConstantEnvironment, ImageEnvironment, sky
from raystream.scene.light import luminance
from raystream.scene.scene import Scene
from raystream.stream.gl.device import Device
from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.viewport import Viewport, default_view

# -- a scene's first picture in the viewport: it follows the camera until the session has one of its own ---------------

WORDS = OPTIONS["environment"].value.words
UNREAD = 0.5  # of an environment that is not read yet
MAX_RADIANCE = 4.0  # radiance of an environment behind the scene: of suns
MIN_RADIANCE = 1e-30  # radiance of white surfaces
HORIZON = -0.5, 0.15  # of a gradient: where it begins and ends; also shaders/shading/plain_background.glsl


class Glance:
    """The worker's first result on a scene, as soon as its file is read. scene : as the settings arrange it, in its
    textures' own size."""

    def __init__(self, scene: Scene, settings: Settings, before: PreparedScene | None = None, pixels: int = 0) -> None:
        self.scene = arranged(scene, settings.replace(max_texture=None))
        behind, white = background(self.scene, settings), white_under(self.scene, settings)
        self.headlight_scene: HeadlightScene = headlight_scene(self.scene, behind, white)
        self.scene.camera()  # which a framing takes a while to find

    def camera(self, settings: Settings, aspect: float) -> Camera:
        """Where a picture of that aspect is seen from, with these settings."""
        try:
            return camera_of(settings, self.scene, aspect)
        except ViewerError:  # told when the scene is there
            return camera_of(settings.replace(camera=None), self.scene, aspect)


def background(scene: Scene, settings: Settings) -> NDArray[np.float32]:
    """(*`DIRECTIONS`, 3) the background of a scene to come, at a glance, linear; grey in place of a file, which takes
    longer."""
    rows, columns = DIRECTIONS
    backdrop = backdrop_of(lighting.background_at_a_glance(scene, settings), None)
    if backdrop is not None and backdrop.tones is not None:
        low, high = np.array(backdrop.tones)
        up = np.cos((np.arange(rows) + 0.5) * np.pi / rows)
        fraction = np.clip((up - HORIZON[0]) / (HORIZON[1] - HORIZON[0]), 0.0, 1.0)
        tones = low + (fraction * fraction * (3.0 - 2.0 * fraction))[:, None] * (high - low)
        return np.repeat(tones.astype(np.float32)[:, None], columns, axis=1)
    value = settings.environment
    if isinstance(value, str) and value not in WORDS:
        return np.full((rows, columns, 3), UNREAD, np.float32)
    single, grounded = is_single_object(scene), scene.ground is not None
    environment, _ = resolve_environment(
        value, 0.0, lighting.has_lights_at_a_glance(scene), settings.sun, single, grounded
    )
    lights = [light for light in scene.lights if any(light.intensity)]
    shines = any(any(material.emission) for material in scene.materials)
    if (
        value is None
        and settings.sun is None
        and scene.fills
        and not single
        and not shines
        and lighting.are_all_suns(lights)
    ):
        environment = sky(
            sun=lighting.default_sky(lights).sun or SUN, disc=False
        )  # in the open, and through a room's windows
    if isinstance(environment, ConstantEnvironment):
        return np.tile(np.array(environment.radiance, np.float32), (rows, columns, 1))
    height, width = environment.pixels.shape[:2]
    row = (np.arange(rows) + 0.5) * height / rows
    column = ((np.arange(columns) + 0.5) / columns + settings.environment_rotation / 360.0) % 1.0 * width
    return np.minimum(environment.pixels[row.astype(int)[:, None], column.astype(int)], MAX_RADIANCE)


def white_under(scene: Scene, settings: Settings) -> float:
    """About the radiance of a white surface of a scene to come, at a glance."""
    value = settings.environment
    own_light = lighting.has_lights_at_a_glance(scene) and settings.sun is None
    if own_light and value in (None, "none"):
        return lighting.white_radiance(scene)
    constant = value is not None and not isinstance(value, str)
    if constant and isinstance(environment := resolve_environment(value, 0.0, own_light)[0], ConstantEnvironment):
        return lighting.white_radiance(scene, max(float(luminance(environment.radiance)), MIN_RADIANCE))
    return lighting.white_radiance(scene, 1.0)


class FirstPicture:
    """Shows scenes under a headlight on a session's screen. The context is current in every call.

    shown : the scene's picture has been drawn, and the session has none of it yet. drawn : the subject of the picture.
    """

    def __init__(self, view: Viewport, device: Device) -> None:
        self.view, self.device = view, device
        self.shown = False
        self._headlight: Headlight | None = None
        self._glance: Glance | None = None
        self._before = 0  # pictures of the session until then
        self.drawn: tuple[Any, ...] = ()  # what the picture on show is of

    def warm(self) -> None:
        """Compile its program, once."""
        if self._headlight is None:
            self._headlight = Headlight(self.device)
            self._headlight.warm()

    def begin(self, glance: Glance) -> None:
        """A scene comes, which the controller's camera sees."""
        self.warm()
        assert self._headlight is not None
        self._headlight.load(glance.headlight_scene)
        self._glance, self._before, self.drawn = glance, self.view.session.pictures, ()

    def draw(self) -> None:
        """Show the scene as the controller's camera sees it by now, where it has moved; or end."""
        view, session, controller = self.view, self.view.session, self.view.controller
        if self._glance is None or controller is None:
            return
        if session.pictures > self._before or (session.running and not session.previewing):
            self.end()
            return
        key = controller.camera, view.area.pixels
        pinhole = not controller.camera.kind  # as the headlight's picture is
        if key == self.drawn or session.screen is None or min(view.area.pixels) < 1 or not pinhole:
            return
        headlight = self._headlight
        assert headlight is not None
        session.screen.warp(view.area.pixels, lambda stream: headlight.draw(controller.camera, stream))
        self.drawn, self.shown = key, True
        view.wake()

    def end(self) -> None:
        """Free its memory."""
        self._glance, self.shown = None, False
        if self._headlight is not None:
            self._headlight.release()


# -- scenes are loaded and their structures built in a worker thread, so that the window goes on -----------------------


class Cancelled(Exception):
    """The user does not want the scene any more."""


class LoadThread:
    """One scene at a time. Poll it from the window's thread; OpenGL is not touched here.

    prepare : (scene, call back with the share that is done and a text, the options of `start`) -> the prepared scene.
    wake : called from the worker when there is something to poll.
    glance : (scene, the options of `start`) -> a first result on a scene that has been read, long before that; None
    where it raises ViewerError, which ``prepare`` will, too.
    """

    def __init__(
        self,
        load: Callable[[str], Scene],
        prepare: Callable[..., object],
        wake: Callable[[], None] = lambda: None,
        glance: Callable[..., object] | None = None,
    ) -> None:
        self._load, self._prepare, self._glance, self._wake = load, prepare, glance, wake
        self._thread: threading.Thread | None = None
        self._job = 0  # results of an earlier job are not wanted any more
        self._result: tuple[int, str, object] | None = None
        self._early: tuple[int, str, object] | None = None
        self._early_shown = threading.Event()  # what was found first
        self.path = ""
        self.step = ""
        self.share: float | None = None  # that is done, where it is known

    @property
    def busy(self) -> bool:
        """Whether a scene is being loaded."""
        return bool(self.path)

    def start(self, path: str, scene: Scene | None = None, **options: Any) -> None:
        """Load another scene, or take one that is loaded, and prepare it with ``options``; one in progress ends."""
        self._job += 1
        self.share = None
        self.path, self.step, self._result = path, "loading" if scene is None else "building", None
        arguments = path, scene, options, self._job
        self._thread = threading.Thread(target=self._work, name=UNWAITED, args=arguments, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Give up the scene in progress."""
        self._job += 1
        self.path, self._result = "", None

    def poll(self) -> tuple[str, object] | None:
        """(path, the result of `prepare`, or the exception) once it is there, and never twice."""
        result = self._result
        if result is None or result[0] != self._job:
            return None
        self._result = None
        self.path = ""
        return result[1], result[2]

    def poll_early(self) -> tuple[str, object] | None:
        """(path, the result of ``glance``) once it is there, and never twice."""
        early, self._early = self._early, None
        return None if early is None or early[0] != self._job else early[1:]

    def proceed(self) -> None:
        """The first result is shown: the worker need not wait any longer."""
        self._early_shown.set()

    def _work(self, path: str, scene: Scene | None, options: Mapping[str, Any], job: int) -> None:
        result: object

        def note_progress(fraction: float, _: str) -> None:
            self._check(job)  # which ends work that is not wanted any more
            self.share = fraction

        try:
            if scene is None:
                scene = self._load(path)
                self._check(job)
                if self._glance is not None:
                    with suppress(ViewerError):
                        early = job, path, self._glance(scene, **options)
                        self._early_shown.clear()
                        self._early = early
                        self._wake()
                        self._early_shown.wait(HANDOVER)
            self._check(job)
            self.step = "building"
            result = self._prepare(scene, note_progress, **options)
            self._check(job)
        except Cancelled:
            return
        except MemoryError:
            result = ViewerError(path, "not enough memory", "choose a smaller scene")
        except Exception as error:  # shown in the window as one line; the old scene stays
            result = error
        if job == self._job:
            self._result = (job, path, result)
            self._wake()

    def _check(self, job: int) -> None:
        if job != self._job:
            raise Cancelled


# -- scenes and settings on their way into the viewport ----------------------------------------------------------------

# What the worker does, since it takes a while; a ground plane is part of the structure.
WORKED = frozenset(
    name for name in NAMES if name == "ground" or OPTIONS[name].affects in (Affects.STRUCTURE, Affects.LIGHTING)
)

DEFAULT_VIEW: dict[str, Any] = dict.fromkeys(VIEW)  # the scene's own camera


def prepare_in_worker(
    scene: Scene,
    tell: Callable[[float, str], None],
    settings: Settings,
    before: PreparedScene | None = None,
    pixels: int = 0,
) -> tuple[PreparedScene, Any]:
    """The worker's job on a scene: prepares it, with the tables that the settings need, and finds its bounds (a
    glance at every vertex), None where the structure of ``before`` stays. A scene that is drawn in a window of
    ``pixels`` is made ready for that, too: the window's own thread has to answer."""
    prepared = prepare(scene, settings, tell, before)
    same = before is not None and prepared.structure is before.structure
    for with_lighting in (True,) if same else (False, True):
        prepared.modules(settings.stepwise, with_lighting, settings.sampler, prepared.light_tree(settings))
    if not same and rasterises(int(prepared.starts[-1]), pixels):
        _ = raster_scene(prepared).groups
    return prepared, None if same else scene.bounds(ground=False)


class SceneLoader:
    """Brings scenes and settings to a view.

    requested : the settings as last asked for; those on show are the renderer's. load : a scene by its name. wake :
    called by the worker when it is done.
    faults    : lines for the user, said when a scene is shown. shown_path : of the scene on show.
    """

    def __init__(
        self,
        view: Viewport,
        debug_views: DebugViews,
        device: Device,
        settings: Settings,
        load: Callable[[str], Scene],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.view, self.debug_views, self.device = view, debug_views, device
        self.requested = settings
        self.loader = LoadThread(load, prepare_in_worker, wake, Glance)
        self.first_picture = FirstPicture(view, device)
        self.faults: list[str] = []
        self.shown_path = ""
        self.camera_index = -1
        self.on_show: Callable[[bool], None] = lambda same: None  # told when a scene is shown, and whether it is reread
        self._upload_steps: Iterator[float] | None = None  # a scene that is uploaded
        self._rehearsal: Iterator[float] | None = None  # of what pictures of any scene run
        self.rehearsing = False  # it goes on, while the first scene is prepared
        self._upload_path, self._upload_share = "", 0.0
        self._opened: tuple[str, Any] | None = None  # whose camera is in the hand, and by which options
        self._worker_scene: Scene | None = None  # the scene that the worker was given, if it need not read the file
        self._default_sky = False  # the sky is there for a scene whose own lights show nothing
        self._hidden_environment: Any = "sky"  # the environment that J brings back; the sky where there was none
        self.dialog: Any = None  # a file dialog of the desktop, which will answer

    # -- scenes ----------------------------------------------------------------------------------------------------

    @property
    def loading(self) -> tuple[str, float | None] | None:
        """The file being loaded, and the share done; None without one."""
        if self._upload_steps is not None:
            return f"uploading {self._upload_path}", self._upload_share
        return (f"{self.loader.step} {self.loader.path}", self.loader.share) if self.loader.busy else None

    @property
    def uploading(self) -> bool:
        """Whether a scene is on its way to the device."""
        return self._upload_steps is not None

    @property
    def path(self) -> str:
        """The scene that is on its way, or else on show."""
        if self._upload_steps is not None:
            return self._upload_path
        return self.loader.path if self.loader.busy else self.shown_path

    def open(self, path: str) -> None:
        """Load a scene in the background; the old one stays until it is there."""
        if self._default_sky:  # the next one may have lights that show something
            self.requested, self._default_sky = self.requested.replace(environment=None), False
        self._start(path)

    def open_file(self, path: str) -> None:
        """Open a file that the user points at: a picture of high dynamic range becomes the environment."""
        (self.light_by if path.lower().endswith(HIGH_RANGE) else self.open)(path)

    def cancel(self) -> bool:
        """Give up the scene that is being loaded; whether there was one."""
        busy = self.loading is not None
        self.loader.cancel()
        self._drop_coming()
        self._drop_first()
        self._keep()
        return busy

    def _drop_first(self) -> None:
        """A scene that was seen already does not come."""
        self.first_picture.end()
        self.view.actions.expect_scene(False)
        if self._opened is not None and self.view.renderer is None:
            self.view.controller = None
        self._opened = None

    def _start(self, path: str, scene: Scene | None = None, before: PreparedScene | None = None) -> None:
        self._drop_coming()
        self.view.actions.expect_scene(self.view.renderer is None)
        self._worker_scene = scene
        settings = self.requested.replace(**DEFAULT_VIEW)
        if scene is not None and before is not None and settings.ground != before.settings.ground:
            scene = scene.without_ground()
        self.loader.start(path, scene, settings=settings, before=before, pixels=math.prod(self.view.area.pixels))
        self.view.wake()

    def _drop_coming(self) -> None:
        if self._upload_steps is not None:
            steps, self._upload_steps = self._upload_steps, None
            steps.close()  # type: ignore[attr-defined]  # a generator

    def _keep(self) -> None:
        """The requested scene does not come: the request is the scene on show again."""
        if self.view.renderer is not None:
            now = self.view.renderer.settings
            self.requested = self.requested.replace(**{name: now[name] for name in WORKED})

    def take(self) -> None:
        """Take the file dialog's answer and the worker's results, and go on with the upload."""
        if self.dialog is not None and self.dialog.ready(0):
            chosen, self.dialog = self.dialog.result(), None
            if chosen:
                self.open_file(chosen[0])
        early, result = self.loader.poll_early(), self.loader.poll()
        if early is not None and self.view.renderer is None:
            self._open_early(*early)
        if result is not None:
            path, prepared = result
            if not isinstance(prepared, tuple):
                self._drop_first()
                error = prepared
                text = str(error) if isinstance(error, ViewerError) else f"{path}: {type(error).__name__}: {error}"
                self.view.say(text, error=True)
                self._keep()
                return
            self._upload_steps, self._upload_path, self._upload_share = self._bring(path, *prepared), path, 0.0
        if self._upload_steps is not None:
            self.view.attempt(self._upload)
        self.first_picture.draw()
        if early is not None:
            self.loader.proceed()
        waits = self.view.renderer is None and self.first_picture.shown  # for the worker
        self.rehearsing = early is None and waits and self._rehearse()

    def _rehearse(self) -> bool:
        """Go on with the rehearsal of the first scene's pictures, a pass at a time; whether there is more of it."""
        settings = self.requested
        if self._rehearsal is None and settings.denoise != "none" and settings.picture_program.demodulates:
            self._rehearsal = self.view.session.rehearse(self.device)
        try:
            return self._rehearsal is not None and next(self._rehearsal, None) is not None
        except ViewerError:  # told when the renderer compiles them
            return False

    def _open_early(self, path: str, glance: Any) -> None:
        """The first scene has been read: its camera is in the hand, and it is seen, from now on."""
        opened = path, {name: self.requested[name] for name in VIEW}
        if self._opened != opened or self.view.controller is None:  # else it is read once more, by other settings
            camera = glance.camera(self.requested, self.view.area.aspect)
            self.view.hold_camera(camera, glance.headlight_scene.bounds, glance.scene)
        else:
            self.view.controller.set_bounds(glance.headlight_scene.bounds, default_view(glance.scene))
        self._opened = opened
        self.first_picture.begin(glance)
        self.view.wake()

    def _upload(self) -> None:
        """Go on with the scene that comes."""
        steps, self._upload_steps = self._upload_steps, None  # a fault ends it
        assert steps is not None
        began = time.perf_counter()
        try:
            for self._upload_share in steps:
                if time.perf_counter() - began > UPLOADING:
                    self._upload_steps = steps
                    return
        finally:
            if self._upload_steps is not steps:
                self._keep()
                if self.view.renderer is None:
                    self._drop_first()

    def _bring(self, path: str, prepared: PreparedScene, bounds: Any) -> Iterator[float]:
        """Upload a scene in pieces, then show it."""
        view, renderer = self.view, self.view.renderer
        if renderer is None:
            renderer = self._first(prepared, bounds)
        uploaded = False
        try:
            yield from renderer.gpu_scene.upload(renderer.settings, prepared)
            uploaded = True
        finally:
            if not uploaded:
                renderer.gpu_scene.discard(prepared) if renderer is view.renderer else renderer.release()
        if bounds is None:
            self._relight(renderer, prepared)
            return
        again = self._worker_scene is not None and renderer is view.renderer
        now = renderer.prepared.scene
        self.debug_views.drop(view.renderer)
        same = path == self.shown_path and view.controller is not None
        if renderer is view.renderer:
            view.session.update(
                prepared,
                camera=view.controller.camera if same and view.controller else _framed(prepared, view.area.aspect),
            )
            if again and now is not self._worker_scene:  # something has moved meanwhile
                view.session.update(now)
        else:
            view.session.use(renderer)
        self._show(path, renderer, bounds, same)

    def _first(self, prepared: PreparedScene, bounds: Any) -> Renderer:
        """The renderer of the first scene."""
        view_options = {name: self.requested[name] for name in VIEW}  # of the first scene alone
        self.requested = settings = self.requested.replace(**DEFAULT_VIEW)
        if self._opened is not None and self._opened[1] != view_options:
            self._opened = None  # another camera has been asked for since
        if view_options["camera"] is None:
            view_options["camera"] = _framed(prepared, self.view.area.aspect)
        try:
            return Renderer(prepared, settings.replace(**view_options), device=self.device)
        except ViewerError as error:
            self.faults.append(str(error))
            return Renderer(prepared, settings.replace(**view_options | {"camera": None}), device=self.device)

    def _show(self, path: str, renderer: Renderer, bounds: Any, same: bool) -> None:
        """A scene is on show; ``same``: the one that was there, rebuilt or reread."""
        view = self.view
        opened, self._opened = self._opened, None
        if (same or opened is not None) and view.controller is not None:  # the camera stays
            view.controller.set_bounds(bounds, None if same else default_view(renderer.prepared.scene))
        else:
            view.hold_camera(renderer.camera, bounds, renderer.prepared.scene)
        view.apply_camera()
        if path != self.shown_path and self.shown_path:  # an exposure set by hand was that scene's
            view.tone.choose(exposure=view.preferences.exposure)
        self.shown_path, self.camera_index = path, -1
        if Path(path).exists():
            view.preferences.remember(str(Path(path).resolve()))
        notes = [*renderer.gpu_scene.fallbacks(renderer.settings), *renderer.prepared.scene.warnings]
        faults, self.faults = self.faults, []
        if faults:
            view.say(faults[0], error=True)
        elif self._worker_scene is None:
            more = f" (and {len(notes) - 1} more notes)" if len(notes) > 1 else ""
            view.say(notes[0] + more if notes else "")
        elif view.message.is_error:  # else it tells why the scene was built anew
            view.say("")
        self.on_show(same)

    def show_camera(self, index: int) -> None:
        """Take one of the scene's own cameras."""
        camera = self.view.require_scene()[0].prepared.scene.cameras[index]
        self.camera_index = index
        self.view.take(camera)
        self.view.say(f"camera: {camera.name}")

    # -- settings --------------------------------------------------------------------------------------------------

    def set(self, **changes: Any) -> None:
        """Choose other options; those of structures and of the environment take the worker a while."""
        self.view.attempt(lambda: self.change(**changes))

    def change(self, **changes: Any) -> None:
        """As `set`, but raises ViewerError for a wrong one."""
        view, renderer = self.view, self.view.renderer
        requested = self.requested.replace(**changes)
        differences = self.requested.differences(requested)
        worked = WORKED & differences.keys()
        at_once = {name: requested[name] for name in differences if name not in worked}
        if renderer is not None and at_once:
            view.session.update(**at_once)
            view.wake()
        self.requested = requested
        if not worked:
            return
        if self.loading is not None:
            before = None if renderer is None else renderer.prepared
            self._start(self.loader.path or self._upload_path, self._worker_scene, before)
        elif renderer is not None:
            self._start(self.shown_path, renderer.prepared.scene, renderer.prepared)

    def toggle_ground(self) -> None:
        """The ground plane on and off."""
        self.view.require_scene()
        on = self.requested.ground is None
        self.change(ground="auto" if on else None)
        self.view.say_switched("ground", on)

    def toggle_denoiser(self) -> None:
        """The denoiser on and off."""
        self.view.require_scene()
        on = self.requested.denoise == "none"
        self.change(denoise="auto" if on else "none")
        self.view.say("denoiser on" if on else "denoiser off: the samples as they are")

    # -- environment -----------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Put a scene under the sky whose own lights show nothing; those to come stand in their own light."""
        self.light_by("sky")
        self._default_sky = True
        self.view.say(FILLED)

    def light_by(self, environment: Any) -> None:
        """Light the scene, and those to come, by another environment; the worker reads it."""
        self._hidden_environment, self._default_sky = "sky", False
        self.set(environment=environment)

    def toggle_environment(self) -> None:
        """Off, and on again; where there is none, the default sky."""
        renderer, _ = self.view.require_scene()
        requested, now = self.requested.environment, self.view.environment
        switched_on = requested is not renderer.settings.environment
        if requested in ("none", DARKNESS) or (now.flux == 0 and not switched_on):
            self.light_by(self._hidden_environment)
            self.view.say_switched("environment", True)
            return
        self.light_by(DARKNESS)
        read = requested is not None and requested not in lighting.UNLIT and not switched_on  # once alone
        self._hidden_environment = _unturned(now, self.requested.environment_rotation) if read else requested
        self.view.say_switched("environment", False)

    def _relight(self, renderer: Renderer, prepared: PreparedScene) -> None:
        """Show another environment, whose tables are there."""
        session = self.view.session
        if self._worker_scene is renderer.prepared.scene:
            session.update(prepared, environment_rotation=self.requested.environment_rotation)
        else:  # something has moved meanwhile
            environment = _unturned(prepared.lighting.environment, prepared.settings.environment_rotation)
            session.update(environment=environment, environment_rotation=self.requested.environment_rotation)
        if not renderer.progressive:
            self.view.say("programs with lighting see the environment: whitted, path")
        self.debug_views.scene_changed()
        self.view.wake()


def _framed(prepared: PreparedScene, aspect: float) -> Camera | None:
    """A camera for scenes that have none of their own, in pictures of that aspect."""
    return None if prepared.scene.own_camera is not None else prepared.scene.camera(aspect=aspect)


def _unturned(environment: Any, degrees: float) -> Any:
    """The environment before the option's rotation."""
    if isinstance(environment, ImageEnvironment):
        return environment.rotated(environment.rotation - degrees)
    return environment
