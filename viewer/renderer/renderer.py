"""The renderer: a scene, a program and a machine become pictures; the heart of the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from viewer.accel.structures import Structure
from viewer.base.errors import ViewerError
from viewer.cameras.lens import lens_uniforms
from viewer.film.checkpoint import Checkpoint
from viewer.film.checkpoint import resume as resumed
from viewer.film.film import Film
from viewer.film.layers import LAYERS, SERIES
from viewer.film.stop import Stop
from viewer.kernels import HIT
from viewer.lighting.path import DEPTH, PathSettings
from viewer.lighting.sampler import sampler_uniforms
from viewer.options import table as options
from viewer.programs import DEPTHS, LEVELS, PICTURES, trace
from viewer.renderer.first_hits import FirstHits
from viewer.renderer.machine_pool import DEFAULT, Choices, Key, MachinePool, warm
from viewer.renderer.picture import COUNTED_LAYERS, SURFACE_LAYERS, Picture, Report, Slice
from viewer.renderer.prepared import Prepared, prepare
from viewer.renderer.rays import Hits, pack_rays, run_rays, unpack_hits
from viewer.renderer.relight import adopted, turned, with_lighting
from viewer.renderer.sampling import make_picture, picture_facts, sample_settings
from viewer.renderer.tiles import rectangles as cut
from viewer.renderer.tiles import tiles
from viewer.renderer.transforms import placed
from viewer.scene.camera import Camera
from viewer.scene.environment import Environment
from viewer.scene.light import with_light_at
from viewer.scene.scene import Scene, Triangles
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device, shared_device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import LARGEST_STREAM
from viewer.stream.machines.common import Machine


class Renderer:
    """Renders one scene. Every option of ``raystream render`` is a keyword of the same name here or of `render`.

    device : number of the EGL device, a `Device`, or None for the driver's choice. camera : a `Camera`, the name of
    one of the scene's, or text. The scene is read once: build a new Renderer when it changes. Where it is `prepare`d
    already, ``light``, ``environment`` and what structures are built from (``accel``, ``grid`` ...) have been used.
    progress : called with the share of the structure that is built and a text.

    Raises ViewerError for a value out of range and a scene that does not fit, DeviceError without OpenGL 3.3.
    """

    def __init__(
        self,
        scene: Scene | Prepared,
        *,
        program: str = DEFAULT["program"],
        machine: str = DEFAULT["machine"],
        policy: Any = DEFAULT["policy"],
        unroll: Any = DEFAULT["unroll"],
        fuse: str = DEFAULT["fuse"],
        mask: str = DEFAULT["mask"],
        sampler: str = DEFAULT["sampler"],
        first_hits: str = DEFAULT["first_hits"],
        offsets: str = DEFAULT["offsets"],
        seed: int = DEFAULT["seed"],
        depth: int | None = DEFAULT["depth"],
        strategy: str = DEFAULT["strategy"],
        roulette: int | None = DEFAULT["roulette"],
        clamp: float = DEFAULT["clamp"],
        shadows: Any = DEFAULT["shadows"],
        reflections: Any = DEFAULT["reflections"],
        refractions: Any = DEFAULT["refractions"],
        accel: str = DEFAULT["accel"],
        top: str = DEFAULT["top"],
        build: str = DEFAULT["build"],
        grid: int | str = DEFAULT["grid"],
        traversal: str = DEFAULT["traversal"],
        intersection: str = DEFAULT["intersection"],
        plane_slack: float = DEFAULT["plane_slack"],
        camera: Camera | str | None = None,
        fov: float | None = None,
        aperture: float | None = None,
        focus: float | None = None,
        pixel_filter: str = DEFAULT["pixel_filter"],
        environment: Any = DEFAULT["environment"],
        environment_rotation: float = DEFAULT["environment_rotation"],
        light: Any = DEFAULT["light"],
        device: int | Device | None = None,
        barrier: str = DEFAULT["barrier"],
        memory: str = DEFAULT["memory"],
        progress: Report | None = None,
    ) -> None:
        started = perf_counter()
        if not isinstance(scene, Prepared):
            for name, position in options.check("light", light):
                scene = with_light_at(scene, name, position)
            recipe: dict[str, Any] = {"accel": accel, "top": top, "build": build, "grid": grid, "traversal": traversal}
            recipe |= {"intersection": intersection, "plane_slack": plane_slack}
            scene = prepare(scene, progress, environment, environment_rotation, **recipe)
        self.prepared, self.scene, self.choices = scene, scene.scene, Choices()
        self.configure(program=program, machine=machine, policy=policy, unroll=unroll, fuse=fuse, mask=mask)
        self.configure(sampler=sampler, first_hits=first_hits)
        self.settings, self.seed = PathSettings(), 0
        self.follow(depth=depth, strategy=strategy, roulette=roulette, clamp=clamp, seed=seed, offsets=offsets)
        self.follow(shadows=shadows, reflections=reflections, refractions=refractions)
        self.fov = options.check("fov", fov)
        self.lens = options.check("aperture", aperture), options.check("focus", focus)
        self.pixel_filter = options.check("pixel_filter", pixel_filter)
        self.camera = self._camera(options.check("camera", camera))
        allowed = (options.check("barrier", barrier) == "auto", options.check("memory", memory) == "auto")
        if isinstance(device, Device):
            self.device = device
        else:
            self.device = shared_device(options.check("device", device), *allowed)
        self.resources = Resources(self.device)
        self._machines = MachinePool(self.device, self.resources, self.bind)
        self.first_hits = FirstHits(self)
        self.build_seconds = perf_counter() - started

    @property
    def notes(self) -> list[str]:
        """Remarks on the scene's lights and surroundings, where the program follows light."""
        return [*self.first_hits.notes, *(self.prepared.lighting.notes if self.samples else [])]

    @property
    def resolved(self) -> PathSettings:
        """The settings with what the program decides where they leave it open: depth and offsets."""
        depth = self.settings.depth
        if depth is None:
            depth = DEPTHS.get(self.choices.program, DEPTH)
        return replace(self.settings, depth=depth, offsets="sample" if self.first_hits.shared else "pixel")

    def checkpoint(self, path: str | Path) -> Checkpoint | None:
        """Where a render of samples to that file keeps its state as it goes; None for other programs."""
        if not self.samples:
            return None
        facts = {key: str(value) for key, value in picture_facts(self).items()}
        return Checkpoint(path, sample_settings(self), facts)

    @property
    def structure(self) -> Structure:
        """The acceleration structure."""
        return self.prepared.structure

    @property
    def triangles(self) -> Triangles:
        """The scene's triangles in world space, in scene order; of two levels flattened when first asked for."""
        return self.prepared.triangles

    def configure(self, **choices: Any) -> None:
        """Choose another program, machine, policy, unroll, fuse, mask or sampler; the scene's structures stay.

        Raises ViewerError for a value out of range or another option, and then changes nothing.
        """
        for name in choices:
            if name not in Choices.__annotations__:
                raise ViewerError(f"option '{name}'", "is fixed when the renderer is made", "make another Renderer")
        checked = {
            name: options.check(name, value, PICTURES if name == "program" else ()) for name, value in choices.items()
        }
        self.choices = replace(self.choices, **checked)

    def follow(self, **settings: Any) -> None:
        """Choose another depth, strategy, roulette, clamp, seed, offsets, shadows, reflections or refractions, which
        compiles nothing, but Whitted's tracer for another depth.

        Raises ViewerError for a value out of range and an unknown setting, and then changes nothing.
        """
        checked = {name: options.check(name, value) for name, value in settings.items()}
        self.seed = checked.pop("seed", self.seed)
        self.settings = replace(self.settings, **checked)

    def _camera(self, camera: Camera | str | None) -> Camera:
        if isinstance(camera, str) and not any(c.name == camera for c in self.scene.cameras) and "," in camera:
            camera = Camera.parse(camera)
        found = camera if isinstance(camera, Camera) else self.scene.camera(camera)
        return (found if self.fov is None else found.with_fov(self.fov)).with_lens(*self.lens)

    # -- pictures --------------------------------------------------------------------------------------------------

    def render(
        self,
        size: tuple[int, int] | str = DEFAULT["size"],
        spp: int | None = DEFAULT["spp"],
        layers: Sequence[str] | str = (),
        stats: bool = False,
        progress: Report | None = None,
        time: float | None = DEFAULT["time"],
        error: float | None = DEFAULT["error"],
        resume: str | None = DEFAULT["resume"],
        state: Checkpoint | None = None,
    ) -> Picture:
        """A picture of ``size`` (width, height) with the layers asked for.

        spp, time, error : of programs of samples, which end with the first of these that is met: samples per pixel,
        seconds, estimated relative error; of ``spp`` None see `options.most_samples`. The ray caster samples pixel
        centres, so that all its samples are one.
        stats    : count every pass (the host then waits for each), see `Stats`.
        progress : called with the share that is done and a text.
        resume   : an EXR of the same picture, to go on from.
        state    : where to save a long render's state as it goes, and on Ctrl-C.
        """
        width, height = options.check("size", size)
        names = options.check("layers", layers, (*LAYERS, *SERIES))
        time, error = options.check("time", time), options.check("error", error)
        stop = Stop(options.most_samples(options.check("spp", spp), time, error), time, error)
        if not self.samples and (resume is not None or "bounce" in names):
            what = "--resume" if resume is not None else "--layers bounce"
            raise ViewerError(what, f"program {self.choices.program} adds no samples", "take --program path")
        film = Film(width, height)
        if resume is not None:
            film = resumed(resume, (width, height), sample_settings(self))
        return make_picture(self, film, stop, names, stats, progress, state)

    def slices(
        self,
        size: tuple[int, int],
        layers: Sequence[str] = (),
        stats: bool = False,
        tile: tuple[int, int] | None = None,
        rows: Callable[[], int] | None = None,
        film: Film | None = None,
        samples: int = 1,
    ) -> Iterator[tuple[float, Slice | None]]:
        """Render piece by piece: yields the share that is done, and a `Slice` whenever one is complete.

        It may be abandoned at any yield. A picture larger than a stream may be is cut into rectangles; ``tile`` (width,
        height) cuts it into smaller ones, whose streams then serve pictures of every size. ``rows`` is asked for the
        height of each, 1 to the tile's, or more where it is narrower: the same streams serve pieces of every cost.
        A program of samples (see `samples`) brings every pixel of ``film``, of the picture's size, to so many samples.
        """
        counting = stats or any(name in COUNTED_LAYERS for name in layers)
        rectangles: Iterable[tuple[slice, slice]]
        if tile is None:
            rectangles = list(cut(size, self.device.max_texture, LARGEST_STREAM))
            shape = (max(c.stop - c.start for _, c in rectangles), max(r.stop - r.start for r, _ in rectangles))
        else:
            rectangles, shape = tiles(size, tile, rows), tile
        with self.device.current():
            machine = self._machine(shape, any(name in SURFACE_LAYERS for name in layers), counting)
            machine.set(lens_uniforms(self.camera, size, self.pixel_filter))
            machine.set({**self.resolved.uniforms(samples), **sampler_uniforms(self.seed)})
        if self.samples and film is None:
            film = Film(*size)
        done, total = 0, size[0] * size[1]
        for down, across in rectangles:
            count = (down.stop - down.start) * (across.stop - across.start)
            for share in self.first_hits.run(machine, down, across, size, film, samples):
                yield (done + count * share) / total, None
            done += count
            yield done / total, Slice(down, across, machine)

    @property
    def samples(self) -> bool:
        """Whether the chosen program adds samples to a film; else one run makes the whole picture."""
        return "film" in self.program().inputs

    def _machine(self, shape: tuple[int, int], surface: bool, counting: bool) -> Machine:
        return self._machines.take(self.program(layers=surface), self._key(self._picture(surface), shape, counting))

    def _picture(self, surface: bool) -> tuple[Any, ...]:
        """What tells the machines of pictures apart, beside their choices."""
        return "picture", surface, self.resolved.depth if self.choices.program in DEPTHS else None, self.first_hits.mode

    def _key(self, what: Any, shape: tuple[int, int], counting: bool) -> Key:
        return what, shape, counting, self.choices

    def ready(self, tile: tuple[int, int], counting: bool = False) -> bool:
        """Whether `slices` of that tile will run without compiling."""
        machine = self._machines.get(self._key(self._picture(False), tile, counting))
        return machine is not None and machine.warmed

    def warm(self, tile: tuple[int, int], counting: bool = False) -> Iterator[float]:
        """Compile what `slices` of that tile will run, in pieces: GLSL first, then the driver's part of each pass.

        Yields the share that is done. Raises ShaderError where a shader does not compile.
        """
        with self.device.current():
            machine = self._machine(tile, False, counting)
        yield from warm(self.device, machine)

    def trace_ready(self) -> bool:
        """Whether `trace` of a few rays will run without compiling."""
        return any(key[0] == "trace" and key[-1] == self.choices for key in self._machines)

    def upload(self) -> Iterator[float]:
        """Bring the scene's memories to the device in pieces of a few milliseconds; yields the share that is done.

        Without it they are uploaded when the first picture needs them.
        """
        modules = self.bind(self.program()).modules
        return self.resources.upload(memory for module in modules for memory in module.memories)

    def reload(self) -> None:
        """Compile the shaders anew from their files. Runs under way end with the old ones: abandon them.

        Raises ShaderError where one does not compile; the old ones then stay.
        """
        self._machines.reload()
        self.first_hits.release()

    def release(self) -> None:
        """Free streams and memories; the renderer is of no use any more."""
        with self.device.current():
            self._drop()

    def _drop(self) -> None:
        self._machines.release()
        self.first_hits.release()
        self.resources.release()

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
                machine = self._machines.take(program, self._key("trace", (columns, rows), False))
                out[first : first + LARGEST_STREAM] = run_rays(machine, piece)
        return unpack_hits(out, scale, self.prepared)

    # -- motion ----------------------------------------------------------------------------------------------------

    def move(self, transforms: ArrayLike | Mapping[int, ArrayLike]) -> None:
        """Put instances elsewhere: (I, 4, 4) for all, or a matrix (4, 4) for some by their numbers. The next picture
        shows it; the scene that was given stays as it is, `scene` is another one.

        Under a structure of two levels this makes the top structure anew and uploads what changed, a few milliseconds
        for a thousand instances; lights that move are listed anew. A flat structure, and one of two levels where a
        transformation is flat or nearly, is built anew. Pictures under way are to be abandoned. Raises ViewerError for
        an unknown instance and for what is no transformation, or leads too far away; then nothing has moved.
        """
        numbers, matrices = placed(transforms, len(self.scene.instances))
        built = self.structure.built
        changes = built.move(numbers, matrices) if self.structure.levels == 2 else None
        scene = self.scene.moved(numbers, matrices)
        made = self.prepared.rebuilt(scene) if changes is None else self.prepared.moved(scene, numbers)
        with self.device.current():
            if made.structure is not self.structure:
                self._drop()  # machines hold the textures of what has been built anew
            elif made.lighting is not self.prepared.lighting:
                made = adopted(self.prepared, made, self.resources, self._machines)
            for table, first, last in changes or ():
                self.resources.update(table, first, last)
            for machine in self._machines.values() if changes else ():
                machine.set(built.top.uniforms)
        self.prepared, self.scene = made, scene

    def relight(self, scene: Scene, environment: Environment | None = None) -> None:
        """Show the same scene with its lights moved, as `viewer.scene.light.with_light_at` leaves it, or in another
        environment. Compiles nothing where lights keep their number and kinds and the environment its size. Pictures
        under way are to be abandoned."""
        self.adopt(with_lighting(self.prepared, scene, environment))

    def adopt(self, prepared: Prepared) -> None:
        """What `relight` does, with what `viewer.renderer.relight.lit_by` has made of `prepared` already."""
        with self.device.current():
            self.prepared = adopted(self.prepared, prepared, self.resources, self._machines)
        self.scene = self.prepared.scene

    def turn_environment(self, degrees: float) -> None:
        """Another rotation about +Y of an environment that is a picture. Pictures under way are to be abandoned."""
        with self.device.current():
            self.prepared = turned(self.prepared, degrees, self._machines)

    # -- programs --------------------------------------------------------------------------------------------------

    def program(self, layers: bool = False) -> Program:
        """The chosen program over the scene's structure; with ``layers`` it leaves the surfaces seen, too."""
        make = PICTURES["cast" if layers else self.choices.program]
        form: dict[str, Any] = {"layers": True} if layers else {}
        if not layers and self.choices.program in DEPTHS:
            form["depth"] = self.resolved.depth
        return make(LEVELS[self.structure.levels], first_hits=self.first_hits.mode, **form)

    def bind(self, program: Program, stepwise: bool | None = None, choices: Choices | None = None) -> LinkedProgram:
        """A program with the scene's modules: for passes of one kernel each where ``stepwise``, which the choices
        (without, the renderer's) tell where it is None."""
        chosen = choices or self.choices
        stepwise = chosen.stepwise if stepwise is None else stepwise
        modules = self.prepared.modules(stepwise, "film" in program.inputs, chosen.sampler)
        linked = LinkedProgram(program, modules)
        return linked if stepwise else linked.inlined()

    # -- facts -----------------------------------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        linked = self.bind(self.program())
        with self.device.current():
            for module in linked.modules:
                for memory in module.memories:
                    self.resources.get(memory)
        parts = self.resources.bytes()
        stored = {name: 16 * record.texels for name, record in linked.records.items()}
        return {
            "gpu memory": {**parts, "total": sum(parts.values())},
            "stream bytes per ray": {**stored, "total": sum(stored.values())},
            self.structure.name: {**self.structure.facts, **self.structure.statistics},
        }
