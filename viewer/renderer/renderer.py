"""The renderer: a scene, settings and a machine become whole pictures; the heart of the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Signature, cleandoc
from pathlib import Path
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike

from viewer.accel.structures import ON_DEVICE, Structure
from viewer.base.errors import ViewerError, warn
from viewer.base.textfile import is_stream
from viewer.film.files.checkpoint import Checkpoint
from viewer.film.film import Film
from viewer.film.layers import WORDS
from viewer.options import table as options
from viewer.options.declare import Affects
from viewer.options.table import docstring, signature
from viewer.renderer.device.first_hits import FirstHits
from viewer.renderer.device.gpu_scene import GpuScene
from viewer.renderer.device.limits import check_limits
from viewer.renderer.device.tuning import tuned_device
from viewer.renderer.inputs.camera import fitted, view, view_notes
from viewer.renderer.inputs.prepared import PreparedScene, agrees, prepare
from viewer.renderer.inputs.program_file import renewed
from viewer.renderer.inputs.scene_copies import SceneCopy
from viewer.renderer.inputs.settings import NAMES, PREPARED, Settings, registered, unknown_keyword
from viewer.renderer.inputs.validate import SCENE_KEYWORDS, deformed, placed, scene_given, settings_given
from viewer.renderer.layers import checked_layers
from viewer.renderer.motion_layer import PosedFrame
from viewer.renderer.photon_map.photon_map import PhotonMap
from viewer.renderer.render import picture_request, render_picture
from viewer.renderer.sampling.frame_plan import FramePlan
from viewer.renderer.sampling.picture import Picture, Report
from viewer.renderer.sampling.picture_metadata import picture_facts, sample_settings
from viewer.renderer.sampling.ray_queries import RayQueries
from viewer.renderer.sampling.rays import Hits, pack_rays
from viewer.renderer.sampling.sampler import Sampler
from viewer.renderer.scene_update import affects_view, chosen_settings, updated_scene
from viewer.scene.camera import Camera
from viewer.scene.edits.animated import AnimatedParts
from viewer.scene.geometry.triangles import Triangles
from viewer.scene.scene import Scene
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream
from viewer.stream.lock import FairLock, exclusive

RENDER_KEYWORDS = (*options.keywords("render"), "stats", "progress", "film", "state")
DEFAULT = {name: entry.default for name, entry in options.OPTIONS.items()}


class Renderer:
    """Renders pictures of one scene. Every option of ``raystream render`` is a keyword of the same name, here and of
    `update`, or of `render`.

    scene    : a file, a built-in name, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D, as of
               `viewer.load`, whose keywords ``variant``, ``lenient`` and ``up`` it takes, too; or a scene that is
               `viewer.renderer.inputs.prepared.prepare`d; the options by which it was prepared then hold. It is read
               once: `update` shows another one, and what has been edited in a `Scene` since.
    settings : a `Settings` in place of, or under, the keywords.
    device   : number of the EGL device, a `Device`, or None for the driver's choice.
    progress : called with the share of the structure that is built and a text.

    Threads may share it: while one renders, traces or updates, the others wait for their turn.

    settings, camera, scene, prepared : as they are now; the camera follows from settings and scene, and `update` alone
    changes them. last_frame : the reference of the layer ``motion``: the last picture with that layer, or one assigned.
    gpu_scene, sampler, ray_queries, photon_map : its parts, other ones where another library has ended the device's
    context (see `Device.ended`), which ``gpu_scene.version`` tells.

    Raises ViewerError for a value out of range, a bad scene, and a scene that does not fit; DeviceError without
    OpenGL 3.3.
    """

    def __init__(
        self,
        scene: Any,
        settings: Settings | None = None,
        *,
        device: int | Device | None = None,
        progress: Report | None = None,
        **options: Any,
    ) -> None:
        settings = settings_given(settings)
        if device is not None and not isinstance(device, Device):
            options["device"] = device
        asked = {name: value for name, value in options.items() if name not in SCENE_KEYWORDS}
        # A wrong one is told before a file is read.
        scene = scene_given(scene, options, (settings or Settings()).replace(**asked).max_texture)
        self._copy = SceneCopy(scene)
        scene = self._copy.copy
        chosen = chosen_settings(settings or Settings(), scene, settings, options)
        if not isinstance(scene, PreparedScene):
            prepared = prepare(scene, chosen, progress)
        elif scene.current and agrees(chosen, scene):
            prepared = scene
        else:
            prepared = prepare(scene.given, chosen, progress, scene if scene.current else None)
        check_limits(prepared, chosen)
        self.settings, self.camera = chosen, view(chosen, prepared.scene)
        found = device if isinstance(device, Device) else tuned_device(chosen)
        self.last_frame: Callable[[], PosedFrame] | None = None
        self._animated = AnimatedParts()
        self.lock = FairLock(found.check)  # the same for all devices that `revive` may open
        self._own(GpuScene(found, prepared))
        warn(chosen.unused(options))

    def __repr__(self) -> str:
        return f"<Renderer of {self.prepared.scene!r} by program {self.settings.program} on {self.device.name}>"

    def _own(self, gpu_scene: GpuScene) -> None:
        """Have the parts over a scene on a device."""
        self.gpu_scene = gpu_scene
        self.photon_map = PhotonMap(gpu_scene)
        self.sampler = Sampler(gpu_scene, self.photon_map)
        self.ray_queries = RayQueries(gpu_scene)

    def revive(self) -> None:
        """Have other parts, on another context, where another library has ended the device's (see `Device.ended`)."""
        if self.device.ended:
            self._own(GpuScene(tuned_device(self.settings), self.prepared))

    @property
    def device(self) -> Device:
        """The device."""
        return self.gpu_scene.device

    @property
    def resources(self) -> Resources:
        """Streams and memories on the device."""
        return self.gpu_scene.resources

    @property
    def prepared(self) -> PreparedScene:
        """The scene as it is shown, with its structure and tables."""
        return self.gpu_scene.prepared

    @property
    def scene(self) -> Scene:
        """The scene as it is shown, to be edited in place, and shown by `update`; the one passed last where it is that
        one."""
        return self._copy.lent(self.prepared.scene)

    @property
    def structure(self) -> Structure:
        """The acceleration structure."""
        return self.prepared.structure

    @property
    def triangles(self) -> Triangles:
        """The scene's triangles in world space, in scene order; of two levels flattened when first asked for."""
        return self.prepared.triangles

    @property
    def progressive(self) -> bool:
        """Whether the chosen program adds samples to a film; else one run makes the whole picture."""
        return "film" in self.gpu_scene.program(self.settings, "rays").inputs  # as of all first hits

    @property
    def first_hits(self) -> FirstHits:
        """How the chosen program finds its first hits."""
        return self.gpu_scene.first_hits(self.settings, self.camera)

    @property
    def notes(self) -> list[str]:
        """Remarks on the device, on first hits, on faults of the driver, on a structure that is not built as asked for,
        and on lights and environment, where the program has lighting."""
        found = [*filter(None, [self.device.remark]), *self.first_hits.notes, *self.fallbacks]
        if not self.progressive and (self.prepared.moving or self.camera.motion):
            found.append(f"program {self.settings.program} shows the moment at which the shutter opens")
        found += view_notes(self.settings, self.camera)
        if self.settings.rebuild == ON_DEVICE and self.structure.name != "grid":
            found.append(f"--rebuild {ON_DEVICE} serves --accel grid alone, and not {self.structure.name}")
        states = self.gpu_scene.program(self.settings, "rays").states
        lit = any("environment_radiance" in state.kernel.needs for state in states)
        return [*found, *(self.prepared.lighting.notes if lit else [])]

    @property
    def fallbacks(self) -> list[str]:
        """See `GpuScene.fallbacks`."""
        return self.gpu_scene.fallbacks(self.settings)

    # -- change ----------------------------------------------------------------------------------------------------

    @exclusive
    def update(
        self,
        scene: Any = None,
        settings: Settings | None = None,
        *,
        moment: float | None = None,
        animation: str | int | None = None,
        progress: Report | None = None,
        **changes: Any,
    ) -> Affects:
        """Show another scene, or the same by other settings; there is no other way to change anything.

        scene    : as of the renderer. The one on show, edited in place, is compared by content; an edit of it shares
                   the unchanged parts. Only the rest is redone: instances that move under a structure of two levels
                   change its top level and their rows; lights that keep number and kinds, materials that keep their
                   kinds, and a picture around the scene that turns change numbers in place, and nothing is compiled.
                   It may be `prepare`d, as by a worker thread.
        settings : in place of those there are. changes : options by name, over them.
        moment   : seconds of the scene's animation, whose pose is shown; other parts stay as they are.
        animation : another one by name or number, or ``all``; at its first moment without ``moment``, and with all that
                   it does not move at rest.

        Compares new values with old ones and redoes the affected parts; returns the deepest. Pictures in progress are
        to be abandoned. Raises ViewerError for an unknown option or animation, a value out of range and a scene that
        does not fit; then nothing has changed.
        """
        self.revive()
        settings = settings_given(settings)
        copied = self._copy
        if scene is not None:
            scene = scene_given(scene, changes, (settings or self.settings).max_texture)
            copied = SceneCopy(scene, copied, self.prepared)
            scene = copied.copy
        animated = self._animated
        if moment is not None or animation is not None:
            animated = animated.copy()
            if scene is None:  # which light, ground and glass have become part of
                changes = {"light": (), "classic": False, **changes}
            shown = self.prepared.scene if scene is None else scene.given if isinstance(scene, PreparedScene) else scene
            scene = animated.at(shown, options.check("moment", moment), animation)
        chosen = chosen_settings(self.settings, scene, settings, changes)
        differences = self.settings.differences(chosen)
        fixed = [name for name, affects in differences.items() if affects == Affects.DEVICE]
        if fixed:
            raise ViewerError(f"option '{fixed[0]}'", "is fixed when the renderer is made", "make another Renderer")
        deepest = max(differences.values(), default=Affects.NOTHING)
        if scene is None and differences.keys().isdisjoint(PREPARED):
            check_limits(self.prepared, chosen)
            camera = view(chosen, self.prepared.scene) if affects_view(differences) else self.camera
            self.settings, self.camera = chosen, camera
            return deepest
        done = updated_scene(self.gpu_scene, self.camera, scene, chosen, differences, progress)
        self.settings, self.camera, self._animated, self._copy = chosen, done.camera, animated, copied
        if not done.edit.same:
            animated.forget()
        return max(deepest, Affects.SCENE) if done.edit.differs else deepest

    @exclusive
    def move(self, transforms: ArrayLike | Mapping[int, ArrayLike]) -> None:
        """Put instances elsewhere: (I, 4, 4) for all, or a matrix (4, 4) for some by their numbers. The next picture
        shows it; the scene that was given stays as it is, `scene` is another one.

        Short for `update` with ``scene.moved(...)``, in which all else, lights and ``classic`` glass too, stays as it
        is. Under two levels this takes milliseconds for a thousand instances; a flat structure, and one of two levels
        where a transformation is flat or nearly, is rebuilt. Programs are recompiled for a grid of another resolution,
        and where objects under two levels change. Raises ViewerError for an unknown instance and a matrix that is no
        transformation, or leads too far away; then nothing has moved.
        """
        scene = self.prepared.scene
        numbers, matrices = placed(transforms, len(scene.instances), scene.origin)
        self.update(scene.moved(numbers, matrices), light=(), classic=False)

    @exclusive
    def deform(self, mesh: int, positions: ArrayLike, normals: ArrayLike | None = None) -> None:
        """Give a mesh, by its number in `scene`, other vertices: (V, 3) in its own space, as simulations have them for
        each frame. The next picture shows it; the scene that was given stays as it is, `scene` is another one.

        Short for `update` with `viewer.scene.deform.arrays.with_vertices`, which tells the default of ``normals`` (V,
        3). Under two-level-bvh vertices are uploaded and the tree is refitted; the first time, and under other
        structures every time, the structure is built. Raises ViewerError for an unknown mesh and for arrays that do not
        fit; then nothing has changed.
        """
        self.update(deformed(self.prepared.scene, mesh, positions, normals), light=(), classic=False)

    @exclusive
    def reload(self) -> None:
        """Read changed program files, and compile the shaders from their files. Running jobs end with the old ones:
        abandon them.

        Raises ViewerError where a file is faulty or a shader does not compile; the old ones then stay.
        """
        with renewed():
            self.gpu_scene.reload()
        self.photon_map.release()

    # -- programs and memory ---------------------------------------------------------------------------------------

    def program(self, settings: Settings | None = None) -> Program:
        """The chosen program over the scene's structure. settings : in place of the renderer's own."""
        chosen = settings or self.settings
        return self.gpu_scene.program(chosen, self.gpu_scene.first_hits(chosen, self.camera).mode)

    def bind(self, program: Program, stepwise: bool | None = None) -> LinkedProgram:
        """A program with the scene's modules: for passes of one kernel each where ``stepwise``; None: as set."""
        return self.gpu_scene.bind(program, self.settings, stepwise)

    def upload(self, prepared: PreparedScene | None = None) -> Iterator[float]:
        """Bring the memories of the scene, or of one that `update` will be given, to the device in pieces of a few
        milliseconds; yields the share that is done.

        Without it they are uploaded when the first picture needs them.
        """
        return self.gpu_scene.upload(self.settings, prepared)

    @exclusive
    def discard(self, prepared: PreparedScene) -> None:
        """Free the memories that `upload` has brought for a scene which will not be shown."""
        self.gpu_scene.discard(prepared)

    @exclusive
    def info(self) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        self.revive()
        return self.gpu_scene.info(self.settings, self.camera)

    @exclusive
    def release(self) -> None:
        """Free streams and memories; the renderer serves no more."""
        if not self.device.ended:  # else all of it is gone
            self.photon_map.release()
            self.gpu_scene.release()

    # -- rays ------------------------------------------------------------------------------------------------------

    @exclusive
    def trace(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        t_max: ArrayLike = np.inf,
        any_hit: ArrayLike = False,
        view: bool = False,
    ) -> Hits:
        """Hits of arbitrary rays.

        origins, directions : (N, 3), world space; directions of any length but zero. t_max : a number or (N,), in units
        of the direction; hits at t_max or beyond do not count. any_hit : a flag or (N,): the first hit found will do.
        view : as the camera sees, to whom back faces that are culled do not count.

        Raises ViewerError for shapes that disagree, and for a ray that is not finite or has no direction.
        """
        self.revive()
        rays, scale = pack_rays(origins, directions, t_max, any_hit, view, self.prepared.scene.origin)
        return self.ray_queries.trace(self.settings, rays, scale)

    def trace_ready(self) -> bool:
        """Whether `trace` of a few rays will run without compiling."""
        return self.ray_queries.trace_ready(self.settings)

    @exclusive
    def coarse_hits(self, camera: Camera, size: tuple[int, int]) -> Stream:
        """See `RayQueries.coarse_hits`."""
        return self.ray_queries.coarse_hits(self.settings, camera, size)

    def coarse_hits_ready(self) -> bool:
        """Whether `coarse_hits` will run without compiling."""
        return self.ray_queries.coarse_hits_ready(self.settings)

    # -- pictures --------------------------------------------------------------------------------------------------

    def plan(self, size: tuple[int, int], **choices: Any) -> FramePlan:
        """A frame of ``size`` (width, height) for the sampler, by the renderer's settings and camera. choices : fields
        of `FramePlan`."""
        return FramePlan(**{"settings": self.settings, "camera": self.camera, "size": size, **choices})

    def ready(self, tile: tuple[int, int], counting: bool = False, settings: Settings | None = None) -> bool:
        """Whether pictures in tiles of (width, height) will run without compiling. settings : in place of the
        renderer's own."""
        return self.sampler.ready(settings or self.settings, self.camera, tile, counting)

    def warm(self, tile: tuple[int, int], counting: bool = False, settings: Settings | None = None) -> Iterator[float]:
        """Compile the programs of pictures in tiles of (width, height), a shader at a time; yields the share done.
        settings : in place of the renderer's own. Raises ShaderError where a shader does not compile."""
        return self.sampler.warm(settings or self.settings, self.camera, tile, counting)

    @exclusive
    def render(
        self,
        size: tuple[int, int] | str = DEFAULT["size"],
        spp: int | None = DEFAULT["spp"],
        layers: Sequence[str] | str = (),
        stats: bool = False,
        progress: Report | None = None,
        time: float | None = DEFAULT["time"],
        error: float | None = DEFAULT["error"],
        quality: str | None = DEFAULT["quality"],
        resume: str | None = DEFAULT["resume"],
        sample_range: int | None = DEFAULT["sample_range"],
        film: Film | None = None,
        state: Checkpoint | None = None,
        denoise: str | bool | None = None,
        **unknown: Never,
    ) -> Picture:
        """A picture of ``size`` (width, height) with the layers asked for.

        spp, time, error : of progressive programs, which end with the first of these that is met.
        quality  : limits in their place, and a denoiser where ``denoise`` is auto. Without any of these the picture has
                   32 samples, and is denoised where it is looked at: `Picture.save` of .png, and notebooks.
        denoise  : of this picture, in place of the renderer's own; True: the best that is installed.
        stats    : count every pass (the host then waits for each), see `Stats`.
        progress : called with the share that is done and a text.
        film     : of the same picture, to go on from, in place of ``resume``.
        state    : where to save a long render's state as it goes, and on Ctrl-C.

        Raises ViewerError for an unknown keyword, a value out of range, and a file that cannot be resumed.
        """
        for name in unknown:
            other = ViewerError(f"keyword '{name}'", "belongs to Renderer and its update, not to render")
            raise other if name in NAMES else unknown_keyword(name, "render", RENDER_KEYWORDS)
        self.revive()
        names = checked_layers(self, options.check("layers", layers, WORDS))
        if not isinstance(stats, (bool, np.bool_)):
            raise ViewerError(f"stats={stats!r:.60}", "expected True or False")
        limits = {"spp": spp, "time": time, "error": error, "quality": quality}
        kept = {"resume": options.check("resume", resume), "film": film}
        kept["sample_range"] = options.check("sample_range", sample_range)
        wanted = picture_request(self, options.check("size", size), names, limits, kept, denoise, bool(stats), state)
        with self.framing(wanted.size):
            picture = render_picture(self, wanted, progress)
        warn([*self.notes, *picture.remarks()])
        return picture

    @contextmanager
    def framing(self, size: tuple[int, int]) -> Iterator[None]:
        """For pictures of ``size`` (width, height) within the block: the camera, where it is a framing of the scene,
        has all of it in view."""
        camera = self.camera
        self.camera = fitted(camera, self.settings, self.prepared.scene, size)
        try:
            yield
        finally:
            self.camera = camera

    def checkpoint(self, path: str | Path) -> Checkpoint | None:
        """Where a render of samples to that file keeps its state as it goes; None for other programs, and where a FIFO
        or device takes the picture."""
        if not self.progressive or is_stream(path):
            return None
        facts = {key: str(value) for key, value in picture_facts(self).items()}
        return Checkpoint(path, sample_settings(self), facts)


def _explain() -> None:
    """Docstrings and signature from the options' declaration."""
    for documented, names in ((Renderer, NAMES), (Renderer.render, options.keywords("render"))):
        told = docstring(names, registered())
        documented.__doc__ = f"{cleandoc(documented.__doc__ or '')}\n\nOptions:\n\n{told}\n"
    own = Signature.from_callable(Renderer.__init__)
    plain = own.replace(parameters=list(own.parameters.values())[1:], return_annotation=Signature.empty)
    Renderer.__signature__ = signature(plain, NAMES)  # type: ignore[attr-defined]
    Renderer.render.__signature__ = signature(Signature.from_callable(Renderer.render), ())  # type: ignore[attr-defined]


_explain()
