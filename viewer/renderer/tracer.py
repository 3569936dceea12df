"""The tracer: one scene on one device, of which it makes pieces of pictures and finds hits; and its one `update`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from viewer.accel.structures import Structure
from viewer.base.errors import ViewerError
from viewer.cameras.lens import lens_uniforms
from viewer.film.buffers import Buffer, FilmBuffer, Pixels
from viewer.kernels.records import HIT
from viewer.lighting.sampler import sampler_uniforms
from viewer.options.declare import Affects
from viewer.programs import DEPTHS, LEVELS, PICTURES, feature_buffers, trace
from viewer.renderer.camera import view
from viewer.renderer.changes import SceneChanges, scene_changes
from viewer.renderer.first_hits import FirstHits, RasterPass, first_hits
from viewer.renderer.install import install
from viewer.renderer.lighting import scene_lighting
from viewer.renderer.machine_pool import Key, MachinePool, warm
from viewer.renderer.picture import COUNTED_LAYERS, SURFACE_LAYERS
from viewer.renderer.pieces import FirstHitPass, Piece, Rectangle, Slice, piece_job
from viewer.renderer.prepared import Prepared, Report, adapted, agrees, keeps_structure, prepare, with_lights_at
from viewer.renderer.rays import Hits, pack_rays, run_rays, unpack_hits
from viewer.renderer.settings import PREPARED, VIEW, Settings
from viewer.renderer.tiles import rectangles as cut
from viewer.renderer.tiles import tiles
from viewer.renderer.transforms import placed
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene, Triangles
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device, shared_device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import LARGEST_STREAM
from viewer.stream.jobs import Executor, Run
from viewer.stream.machines.common import Machine
from viewer.stream.machines.counters import Stats


class Tracer:
    """Traces one scene. What it shows is changed by `update` alone.

    settings, scene, prepared, camera : as they are now; the camera follows from settings and scene.
    """

    def __init__(
        self,
        scene: Scene | Prepared,
        settings: Settings | None = None,
        *,
        device: int | Device | None = None,
        progress: Report | None = None,
        **options: Any,
    ) -> None:
        started = perf_counter()
        if device is not None and not isinstance(device, Device):
            options["device"] = device
        chosen = _chosen(settings or Settings(), scene, settings, options)
        if isinstance(scene, Prepared):
            self.prepared = scene if agrees(chosen, scene) else prepare(scene.given, chosen, progress, scene)
        else:
            self.prepared = prepare(scene, chosen, progress)
        self.settings, self.camera = chosen, view(chosen, self.prepared.scene)
        if isinstance(device, Device):
            self.device = device
        else:
            self.device = shared_device(chosen.device, chosen.barrier == "auto", chosen.memory == "auto")
        self.resources = Resources(self.device)
        self._machines = MachinePool(self.device, self.resources, self.bind)
        self._raster = RasterPass(self.device, self.resources)
        self._executor = Executor(self.device, self.resources, self._machine_of)
        self._pixel_pass: Pixels | None = None
        self.build_seconds = perf_counter() - started

    @property
    def scene(self) -> Scene:
        """The scene as it is shown."""
        return self.prepared.scene

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
        return "film" in self.program().inputs

    @property
    def first_hits(self) -> FirstHits:
        """How the chosen program finds its first hits."""
        return self._first_hits(self.settings, self.camera)

    @property
    def notes(self) -> list[str]:
        """Remarks on the first hits, and on lights and environment, where the program has lighting."""
        return [*self.first_hits.notes, *(self.prepared.lighting.notes if self.progressive else [])]

    # -- change ----------------------------------------------------------------------------------------------------

    def update(
        self,
        scene: Scene | Prepared | None = None,
        settings: Settings | None = None,
        *,
        progress: Report | None = None,
        **changes: Any,
    ) -> Affects:
        """Show another scene, or the same by other settings; there is no other way to change anything.

        scene    : an edit of the one on show shares what it leaves alone, and only the rest is done anew: instances
                   that move under a structure of two levels change its top level and their rows; lights that keep
                   number and kinds, materials that keep their kinds, and a picture around the scene that turns change
                   numbers in place, and nothing is compiled. It may be `prepare`d, as by a worker thread.
        settings : in place of those there are. changes : options by name, over them.

        Compares new values with old ones and redoes what they affect; returns the deepest. Pictures under way are to be
        abandoned. Raises ViewerError for an unknown option, a value out of range and a scene that does not fit; then
        nothing has changed.
        """
        chosen = _chosen(self.settings, scene, settings, changes)
        differences = self.settings.differences(chosen)
        fixed = [name for name, affects in differences.items() if affects == Affects.DEVICE]
        if fixed:
            raise ViewerError(f"option '{fixed[0]}'", "is fixed when the renderer is made", "make another Renderer")
        deepest = max(differences.values(), default=Affects.NOTHING)
        if scene is None and differences.keys().isdisjoint(PREPARED):
            camera = view(chosen, self.scene) if not differences.keys().isdisjoint(VIEW) else self.camera
            self.settings, self.camera = chosen, camera
            return deepest
        goal = scene if isinstance(scene, Prepared) and agrees(chosen, scene) else None
        given = goal.given if goal is not None else self.prepared.given
        if isinstance(scene, Prepared):
            given = scene.given
        elif scene is not None:
            given = scene
        if goal is not None:
            shown = goal.scene
        else:
            shown = self.scene if scene is None and "light" not in differences else with_lights_at(given, chosen)
        edit = scene_changes(self.scene, shown)
        camera = self.camera
        if edit.cameras or not edit.same or not differences.keys().isdisjoint(VIEW):
            camera = view(chosen, shown)
        self._show(goal, given, shown, chosen, edit, progress, scene if isinstance(scene, Prepared) else self.prepared)
        self.settings, self.camera = chosen, camera
        return max(deepest, Affects.SCENE) if edit.differs else deepest

    def _show(
        self,
        goal: Prepared | None,
        given: Scene,
        shown: Scene,
        settings: Settings,
        edit: SceneChanges,
        progress: Report | None,
        near: Prepared,
    ) -> None:
        """Bring a scene to the device: ``goal``, or where that is None one that is prepared from ``near``."""
        before, rows = self.prepared, None
        same = goal.structure is before.structure if goal else keeps_structure(before, settings, edit)
        if same and len(edit.moved) and before.structure.levels == 2:
            if goal is None:
                lighting = scene_lighting(shown, settings, before.lighting, edit)
                goal = adapted(before, given, shown, settings, lighting, edit)
            transforms = np.array([shown.instances[number].transform for number in edit.moved.tolist()])
            rows = before.structure.built.move(edit.moved, transforms)  # the last that may fail
            if rows is None:  # objects must change too
                goal = prepare(given, settings, progress, before)
        elif goal is None:
            goal = prepare(given, settings, progress, near)
        with self.device.current():
            installed = install(before, goal, self.resources, self._machines)
            if installed is goal or len(edit.moved):
                self._raster.release()  # it holds textures of the scene's
            for table, first, last in rows or ():
                self.resources.update(table, first, last)
            for machine in self._machines.values() if rows else ():
                machine.set(before.structure.built.top.uniforms)
        self.prepared = installed

    def move(self, transforms: ArrayLike | Mapping[int, ArrayLike]) -> None:
        """Put instances elsewhere: (I, 4, 4) for all, or a matrix (4, 4) for some by their numbers. The next picture
        shows it; the scene that was given stays as it is, `scene` is another one.

        A short word for `update` with ``scene.moved(...)``, in which everything else, lights too, stays where it is
        now. Under a structure of two levels this takes a few milliseconds for a thousand instances; a flat structure,
        and one of two levels where a transformation is flat or nearly, is built anew. Raises ViewerError for an
        unknown instance and for what is no transformation, or leads too far away; then nothing has moved.
        """
        numbers, matrices = placed(transforms, len(self.scene.instances))
        self.update(self.scene.moved(numbers, matrices), light=())

    # -- pieces of pictures ----------------------------------------------------------------------------------------

    def slices(
        self,
        size: tuple[int, int],
        layers: Sequence[str] = (),
        stats: bool = False,
        tile: tuple[int, int] | None = None,
        rows: Callable[[], int] | None = None,
        film: FilmBuffer | None = None,
        samples: int = 1,
        *,
        settings: Settings | None = None,
        camera: Camera | None = None,
        bounce: int | None = None,
    ) -> Generator[tuple[float, Slice | None], None, None]:
        """Render piece by piece: yields the share that is done, and a `Slice` whenever one is complete.

        It may be abandoned at any yield. A picture larger than a stream may be is cut into rectangles; ``tile`` (width,
        height) cuts it into smaller ones, whose streams then serve pictures of every size. ``rows`` is asked for the
        height of each, 1 to the tile's, or more where it is narrower: the same streams serve pieces of every cost.
        A progressive program brings every pixel of ``film``, of the picture's size, to so many ``samples``.

        settings, camera : in place of the tracer's own, over the same scene. bounce : of a progressive program, only
        light of paths of this length counts.
        """
        chosen, eye = settings or self.settings, camera or self.camera
        surface, counting = any(name in SURFACE_LAYERS for name in layers), stats or self._counts(layers)
        rectangles: Iterable[Rectangle]
        if tile is None:
            rectangles = list(cut(size, self.device.max_texture, LARGEST_STREAM))
            shape = (max(c.stop - c.start for _, c in rectangles), max(r.stop - r.start for r, _ in rectangles))
        else:
            rectangles, shape = tiles(size, tile, rows), tile
        hits, program = self._first_hits(chosen, eye), self.program(surface, chosen, eye)
        uniforms = chosen.path_uniforms(hits.shared, samples, bounce)
        key = self._key(self._picture(surface, chosen, eye), shape, counting, program, chosen)
        lens = lens_uniforms(eye, size, chosen.pixel_filter)
        every = {**lens, **uniforms, **sampler_uniforms(chosen.seed)}
        progressive, raster = "film" in program.inputs, None
        with self.device.current():
            if progressive and film is None:
                film = FilmBuffer(self.device, size)
            if "first_hit" in program.inputs:
                raster = self._raster.over(self.prepared, chosen, eye, size, shape, not progressive, uniforms)
        buffers = {"film": film} if progressive and film is not None else {}
        piece = Piece(program, (key, chosen), shape, every, buffers, counting)
        yield from self._pieces(piece, rectangles, size, raster, samples)

    def _pieces(
        self,
        piece: Piece,
        rectangles: Iterable[Rectangle],
        size: tuple[int, int],
        raster: FirstHitPass | None,
        samples: int,
    ) -> Iterator[tuple[float, Slice | None]]:
        done, total = 0, size[0] * size[1]
        film = piece.buffers.get("film")
        for rectangle in rectangles:
            count = (rectangle[0].stop - rectangle[0].start) * (rectangle[1].stop - rectangle[1].start)
            stats = Stats()
            # Rasterised first hits are those of one sample: each is a run of its own.
            ends: Sequence[int] = (samples,)
            if raster is not None and isinstance(film, FilmBuffer):
                ends = range(film.samples + 1, samples + 1)
            for number, end in enumerate(ends):
                step = replace(piece, uniforms={**piece.uniforms, "path_samples": end})
                job = piece_job(step, rectangle, self.resources, self._pixels, raster)
                for share in self._executor.run(job):
                    yield (done + count * (number + share) / max(1, len(ends))) / total, None
                stats.add(self._executor.stats)
            machine = self._executor.machine
            assert machine is not None
            machine.stats = stats
            done += count
            yield done / total, Slice(*rectangle, machine)
        if isinstance(film, FilmBuffer):
            film.samples = max(film.samples, samples)

    @staticmethod
    def _counts(layers: Sequence[str]) -> bool:
        """Whether a layer shows how often kernels were called."""
        return any(name in COUNTED_LAYERS for name in layers)

    def _machine_of(self, run: Run) -> Machine:
        key, settings = cast("tuple[Key, Settings]", run.key)
        return self._machines.take(run.program, key, settings, run.streams)

    @property
    def _pixels(self) -> Pixels:
        if self._pixel_pass is None:
            with self.device.current():
                self._pixel_pass = Pixels(self.device)
        return self._pixel_pass

    def features(self, buffer: Buffer, samples: int) -> Iterator[float]:
        """Bring a picture's buffer of `FEATURES` to what the camera rays of the first ``samples`` samples of every pixel
        hit; yields the share that is done. Lens, pixel filter and random numbers are the picture's own."""
        chosen, size = self.settings, buffer.size
        rectangles = list(cut(size, self.device.max_texture, LARGEST_STREAM))
        shape = (max(c.stop - c.start for _, c in rectangles), max(r.stop - r.start for r, _ in rectangles))
        program = feature_buffers(LEVELS[self.structure.levels])
        key = Key(("features",), shape, False, chosen.passes, chosen.sampler)
        every = {**lens_uniforms(self.camera, size, chosen.pixel_filter), **self.uniforms(samples)}
        piece = Piece(program, (key, chosen), shape, every, {"features": buffer})
        for share, _ in self._pieces(piece, rectangles, size, None, samples):
            yield share

    def uniforms(self, samples: int = 1) -> dict[str, Any]:
        """The uniforms of paths and random numbers in a run that brings every pixel to so many samples."""
        uniforms = self.settings.path_uniforms(self.first_hits.shared, samples)
        return {**uniforms, **sampler_uniforms(self.settings.seed)}

    def ready(self, tile: tuple[int, int], counting: bool = False) -> bool:
        """Whether `slices` of that tile will run without compiling."""
        program = self.program()
        key = self._key(self._picture(False, self.settings, self.camera), tile, counting, program, self.settings)
        machine = self._machines.get(key)
        return machine is not None and machine.warmed

    def warm(self, tile: tuple[int, int], counting: bool = False) -> Iterator[float]:
        """Compile what `slices` of that tile will run, in pieces: GLSL first, then the driver's part of each pass.

        Yields the share that is done. Raises ShaderError where a shader does not compile.
        """
        with self.device.current():
            machine = self._machine(tile, False, counting, self.settings, self.camera)
        yield from warm(self.device, machine)

    def _first_hits(self, settings: Settings, camera: Camera) -> FirstHits:
        return first_hits(settings, self.prepared, camera, self.device.software)

    def _machine(
        self, shape: tuple[int, int], surface: bool, counting: bool, settings: Settings, camera: Camera
    ) -> Machine:
        program = self.program(surface, settings, camera)
        key = self._key(self._picture(surface, settings, camera), shape, counting, program, settings)
        return self._machines.take(program, key, settings)

    def _picture(self, surface: bool, settings: Settings, camera: Camera) -> tuple[Any, ...]:
        """What tells the programs of pictures apart."""
        depth = settings.max_depth if settings.program in DEPTHS else None
        return "picture", settings.program, surface, depth, self._first_hits(settings, camera).mode

    @staticmethod
    def _key(
        what: tuple[Any, ...], shape: tuple[int, int], counting: bool, program: Program, settings: Settings
    ) -> Key:
        return Key(what, shape, counting, settings.passes, settings.sampler if "film" in program.inputs else "")

    # -- rays ------------------------------------------------------------------------------------------------------

    def trace(
        self, origins: ArrayLike, directions: ArrayLike, t_max: ArrayLike = np.inf, any_hit: ArrayLike = False
    ) -> Hits:
        """Hits of arbitrary rays.

        origins, directions : (N, 3), world space; directions of any length but zero. t_max : a number or (N,), in units
        of the direction; hits at t_max or beyond do not count. any_hit : a flag or (N,): the first hit found will do.

        Raises ViewerError for shapes that disagree, and for a ray that is not finite or has no direction.
        """
        records, scale = pack_rays(origins, directions, t_max, any_hit)
        out = np.zeros(len(records), HIT.dtype)
        columns, program = min(1024, self.device.max_texture), trace(LEVELS[self.structure.levels])
        for first in range(0, len(records), LARGEST_STREAM):
            piece = records[first : first + LARGEST_STREAM]
            rows = 1 << (-(-len(piece) // columns) - 1).bit_length()  # few shapes, so that machines are used again
            with self.device.current():
                key = self._key(("trace",), (columns, rows), False, program, self.settings)
                machine = self._machines.take(program, key, self.settings)
                out[first : first + LARGEST_STREAM] = run_rays(machine, piece)
        return unpack_hits(out, scale, self.prepared)

    def trace_ready(self) -> bool:
        """Whether `trace` of a few rays will run without compiling."""
        return any(key.what == ("trace",) and key.passes == self.settings.passes for key in self._machines)

    # -- programs --------------------------------------------------------------------------------------------------

    def program(self, layers: bool = False, settings: Settings | None = None, camera: Camera | None = None) -> Program:
        """The chosen program over the scene's structure; with ``layers`` the ray caster that leaves surfaces, too."""
        chosen = settings or self.settings
        make = PICTURES["cast" if layers else chosen.program]
        form: dict[str, Any] = {"layers": True} if layers else {}
        if not layers and chosen.program in DEPTHS:
            form["depth"] = chosen.max_depth
        mode = self._first_hits(chosen, camera or self.camera).mode
        return make(LEVELS[self.structure.levels], first_hits=mode, **form)

    def bind(self, program: Program, stepwise: bool | None = None, settings: Settings | None = None) -> LinkedProgram:
        """A program with the scene's modules: for passes of one kernel each where ``stepwise``, which the settings
        (without, the tracer's) tell where it is None."""
        return self._linked(self.prepared, program, stepwise, settings or self.settings)

    def _linked(self, prepared: Prepared, program: Program, stepwise: bool | None, settings: Settings) -> LinkedProgram:
        stepwise = settings.stepwise if stepwise is None else stepwise
        sampled = "film" in program.inputs or "features" in program.inputs
        modules = prepared.modules(stepwise, sampled, settings.sampler)
        linked = LinkedProgram(program, modules)
        return linked if stepwise else linked.inlined()

    # -- memory ----------------------------------------------------------------------------------------------------

    def upload(self, prepared: Prepared | None = None) -> Iterator[float]:
        """Bring the memories of the scene, or of one that `update` will be given, to the device in pieces of a few
        milliseconds; yields the share that is done.

        Without it they are uploaded when the first picture needs them.
        """
        coming = prepared or self.prepared
        form = {"depth": self.settings.max_depth} if self.settings.program in DEPTHS else {}
        program = PICTURES[self.settings.program](LEVELS[coming.structure.levels], **form)
        modules = self._linked(coming, program, None, self.settings).modules
        return self.resources.upload(memory for module in modules for memory in module.memories)

    def discard(self, prepared: Prepared) -> None:
        """Free the memories that `upload` has brought for a scene which will not be shown."""
        kept = {id(memory) for module in self.prepared.made() for memory in module.memories}
        with self.device.current():
            gone = [m for module in prepared.made() for m in module.memories if id(m) not in kept]
            self.resources.drop(gone)

    def reload(self) -> None:
        """Compile the shaders anew from their files. Runs under way end with the old ones: abandon them.

        Raises ShaderError where one does not compile; the old ones then stay.
        """
        self._machines.reload()
        self._raster.release()

    def release(self) -> None:
        """Free streams and memories; the tracer is of no use any more."""
        with self.device.current():
            self._machines.release()
            self._raster.release()
            self.resources.release()

    def info(self) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        linked = self.bind(self.program())
        with self.device.current():
            for _ in self.resources.upload(memory for module in linked.modules for memory in module.memories):
                pass
        parts = self.resources.bytes()
        stored = {name: 16 * record.texels for name, record in linked.records.items()}
        return {
            "gpu memory": {**parts, "total": sum(parts.values())},
            "stream bytes per ray": {**stored, "total": sum(stored.values())},
            self.structure.name: {**self.structure.facts, **self.structure.statistics},
        }


def _chosen(
    now: Settings, scene: Scene | Prepared | None, settings: Settings | None, changes: Mapping[str, Any]
) -> Settings:
    """The settings asked for: by which a scene was prepared hold with it, unless others are given."""
    if settings is None and isinstance(scene, Prepared):
        now = now.replace(**{name: scene.settings[name] for name in PREPARED})
    return (settings or now).replace(**changes)
