"""The renderer: a scene, settings and a machine become whole pictures; the heart of the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

from numpy.typing import ArrayLike

from raystream.base.errors import warn
from raystream.film.files.checkpoint import Checkpoint
from raystream.film.film import Film
from raystream.options.declare import Affects
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.device.tuning import tuned_device
from raystream.renderer.inputs.hit_attributes import PosedFrame
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings, documented
from raystream.renderer.photon_map import PhotonMap
from raystream.renderer.render import (
    DEFAULT,
    check_keywords,
    checkpoint_of,
    framed,
    picture_request,
    remarks_on,
    render_picture,
)
from raystream.renderer.sampling.picture import Picture, Report
from raystream.renderer.sampling.ray_queries import Hits, RayQueries, pack_rays
from raystream.renderer.sampling.sampler import Sampler
from raystream.renderer.scene_update import (
    ShownScene,
    checked_transforms,
    first_scene,
    scene_request,
    show_scene,
    with_deformed_mesh,
)
from raystream.scene.scene import Scene
from raystream.stream.declare.program import Program
from raystream.stream.gl.device import Device, in_one_switch
from raystream.stream.lock import FairLock, exclusive

if TYPE_CHECKING:
    from typing import Unpack

    from raystream.options.typed import RendererKeywords


@documented
class Renderer:
    """Renders pictures of one scene. Every option of ``raystream render`` is a keyword of the same name, here and of
    `update`, or of `render`.

    scene    : a file, a built-in name, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D, as of
               `raystream.load`, whose keywords ``variant``, ``lenient`` and ``up`` it takes, too; or a scene that is
               `raystream.renderer.inputs.prepared.prepare`d; the options by which it was prepared then hold. It is read
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
        **options: Unpack[RendererKeywords],
    ) -> None:
        requested: dict[str, Any] = {**options}
        if device is not None and not isinstance(device, Device):
            requested["device"] = device
        first = first_scene(scene, settings, requested, progress)
        self.settings, self.camera, self._source = first.settings, first.camera, first.source
        opened = device if isinstance(device, Device) else tuned_device(self.settings)
        self.last_frame: Callable[[], PosedFrame] | None = None
        self.lock = FairLock(opened.check)  # the same for all devices that `revive` may open
        self._set_parts(GpuScene(opened, first.prepared))
        warn(self.settings.unused(requested))

    def __repr__(self) -> str:
        return f"<Renderer of {self.prepared.scene!r} by program {self.settings.program} on {self.device.name}>"

    def _set_parts(self, gpu_scene: GpuScene) -> None:
        """Make photon map, sampler and ray queries for a scene on a device."""
        self.gpu_scene = gpu_scene
        self.photon_map = PhotonMap(gpu_scene)
        self.sampler = Sampler(gpu_scene, self.photon_map)
        self.ray_queries = RayQueries(gpu_scene)

    def revive(self) -> None:
        """Make the parts again on a new context where another library has ended the device's (see `Device.ended`)."""
        if self.device.ended:
            with self.device.lent_context():  # others may be opening one, too
                opened = tuned_device(self.settings)
            self._set_parts(GpuScene(opened, self.prepared))

    @property
    def device(self) -> Device:
        """The device."""
        return self.gpu_scene.device

    @property
    def prepared(self) -> PreparedScene:
        """The scene as it is shown, with its structure and tables."""
        return self.gpu_scene.prepared

    @property
    def scene(self) -> Scene:
        """The scene as it is shown, to be edited in place, and shown by `update`; the one passed last where it is that
        one."""
        return self._source.copy.lend_scene(self.prepared.scene)

    @property
    def progressive(self) -> bool:
        """Whether the chosen program adds samples to a film; else one run makes the whole picture."""
        return "film" in self.gpu_scene.program(self.settings, "rays").inputs  # as of all first hits

    @property
    def notes(self) -> list[str]:
        """Remarks on the device, on first hits, on faults of the driver, on a structure that is not built as asked for,
        and on lights and environment, where the program has lighting."""
        return remarks_on(self)

    # -- change ----------------------------------------------------------------------------------------------------

    @exclusive
    @in_one_switch
    def update(
        self,
        scene: Any = None,
        settings: Settings | None = None,
        *,
        moment: float | None = None,
        animation: str | int | None = None,
        progress: Report | None = None,
        **changes: Unpack[RendererKeywords],
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
        shown = ShownScene(self._source, self.settings, self.prepared, self.camera)
        request = scene_request(shown, scene, settings, {**changes}, moment, animation)
        camera, deepest = show_scene(self.gpu_scene, self.camera, request, progress)
        self.settings, self.camera, self._source = request.settings, camera, request.source
        return deepest

    @exclusive
    @in_one_switch
    def move(self, transforms: ArrayLike | Mapping[int, ArrayLike]) -> None:
        """Put instances elsewhere: (I, 4, 4) for all, or a matrix (4, 4) for some by their indices. The next picture
        shows it; the scene that was given stays as it is, `scene` is another one.

        Short for `update` with ``scene.moved(...)``, in which all else, lights and ``classic`` glass too, stays as it
        is. Under two levels this takes milliseconds for a thousand instances; a flat structure, and one of two levels
        where a transformation is flat or nearly, is rebuilt. Programs are recompiled for a grid of another resolution,
        and where objects under two levels change. Raises ViewerError for an unknown instance and a matrix that is no
        transformation, or leads too far away; then nothing has moved.
        """
        scene = self.prepared.scene
        indices, matrices = checked_transforms(transforms, len(scene.instances), scene.origin)
        self.update(scene.moved(indices, matrices), light=(), classic=False)

    @exclusive
    @in_one_switch
    def deform(self, mesh: int, positions: ArrayLike, normals: ArrayLike | None = None) -> None:
        """Give a mesh, by its index in `scene`, other vertices: (V, 3) in its own space, as simulations have them for
        each frame. The next picture shows it; the scene that was given stays as it is, `scene` is another one.

        Short for `update` with `raystream.scene.deform.with_vertices`, which tells the default of ``normals``
        (V, 3). Under two-level-bvh vertices are uploaded and the tree is refitted; the first time, and under other
        structures every time, the structure is built. Raises ViewerError for an unknown mesh and for arrays that do not
        fit; then nothing has changed.
        """
        self.update(with_deformed_mesh(self.prepared.scene, mesh, positions, normals), light=(), classic=False)

    @exclusive
    @in_one_switch
    def reload(self) -> None:
        """Read changed program files, and compile the shaders from their files. Running jobs end with the old ones:
        abandon them. Raises ViewerError where a file is faulty or a shader does not compile; the old ones then stay."""
        self.gpu_scene.reload()
        self.photon_map.release()

    # -- programs and memory ---------------------------------------------------------------------------------------

    def program(self, settings: Settings | None = None) -> Program:
        """The chosen program over the scene's structure. settings : in place of the renderer's own."""
        chosen = settings or self.settings
        return self.gpu_scene.program(chosen, self.gpu_scene.first_hits(chosen, self.camera).mode)

    @exclusive
    @in_one_switch
    def info(self) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        self.revive()
        return self.gpu_scene.info(self.settings, self.camera)

    @exclusive
    @in_one_switch
    def release(self) -> None:
        """Free streams and memories; the renderer serves no more."""
        if not self.device.ended:  # else the driver has freed all of it
            self.photon_map.release()
            self.gpu_scene.release()

    # -- rays ------------------------------------------------------------------------------------------------------

    @exclusive
    @in_one_switch
    def trace(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        t_max: ArrayLike = float("inf"),
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

    # -- pictures --------------------------------------------------------------------------------------------------

    @exclusive
    @in_one_switch
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
        check_keywords(unknown)
        self.revive()
        limits = {"spp": spp, "time": time, "error": error, "quality": quality}
        continuation = {"resume": resume, "film": film, "sample_range": sample_range}
        request = picture_request(self, size, layers, limits, continuation, denoise, stats, state)
        report = None if progress is None else self.device.lending_context(progress)
        with framed(self, request.size):
            picture = render_picture(self, request, report)
        warn([*self.notes, *picture.remarks()])
        return picture

    def checkpoint(self, path: str | Path) -> Checkpoint | None:
        """Where a render of samples to that file keeps its state as it goes; None for other programs, and where a FIFO
        or device takes the picture."""
        return checkpoint_of(self, path)
