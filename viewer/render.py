"""The renderer: a scene, a program and a machine become pictures; the heart of the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer import options
from viewer.accel.structures import Structure
from viewer.errors import ViewerError
from viewer.film import image
from viewer.film.checkpoint import Checkpoint, film_layers, film_metadata, fingerprint
from viewer.film.checkpoint import resume as resumed
from viewer.film.film import Film
from viewer.film.layers import LAYERS, SERIES, series
from viewer.film.stop import Stop
from viewer.kernels import HIT, PIXEL, RAY
from viewer.pieces import rectangles as cut
from viewer.pieces import tiles
from viewer.prepare import Prepared, prepare
from viewer.programs import LEVELS, PICTURES, trace
from viewer.rays import Hits, pack_rays
from viewer.scene.camera import Camera
from viewer.scene.light import with_light_at
from viewer.scene.scene import Scene, Triangles
from viewer.shading.camera import lens_uniforms
from viewer.shading.path import PathSettings
from viewer.shading.sampler import sampler_uniforms
from viewer.stream.bound import Bound
from viewer.stream.counters import Stats
from viewer.stream.device import Device, shared_device
from viewer.stream.machines import MACHINES, Machine, Progress
from viewer.stream.machines.common import Memories
from viewer.stream.policy import policy as make_policy
from viewer.stream.program import Program
from viewer.stream.stream import LARGEST_STREAM
from viewer.values import PolicyChoice, Unroll

COUNTED_LAYERS = {"steps": "traverse", "tests": "intersect"}  # layer -> the state whose kernel calls it shows
SURFACE_LAYERS = ("normal", "albedo")
NUMBER_LAYERS = ("triangle", "instance")

DEFAULT = {name: entry.default for name, entry in options.OPTIONS.items()}

MOST_MACHINES = 4  # kept with their streams and shaders
MOST_IN_RUN, RUN_SECONDS = 16, 0.5  # samples of a pixel, and time of one run

Report = Callable[[float, str], None]


@dataclass
class Picture:
    """A rendered picture: ``linear`` (H, W, 3) float32 linear sRGB, row 0 at the top; layers by name; counters."""

    linear: NDArray[np.float32]
    layers: dict[str, NDArray]
    stats: Stats
    metadata: dict[str, str] = field(default_factory=dict)
    film: Film | None = None  # of a program of samples, which an EXR keeps, so that it can be resumed
    depends: dict[str, str] = field(default_factory=dict)  # what its samples depend on

    def save(self, path: str | Path, exposure: float = 0.0, tone_map: str = "none") -> None:
        """Write PNG (8 bit sRGB), EXR or NPZ (float32 linear and layers), by the ending; whole or not at all.

        exposure (stops), tone_map : for PNG alone, as in `viewer.film.tonemap.srgb8`.
        """
        layers, metadata = self.layers, self.metadata
        if self.film is not None and str(path).lower().endswith(".exr"):
            layers = {**layers, **film_layers(self.film)}
            metadata = {**metadata, **film_metadata(self.film, self.depends)}
        image.save(path, self.linear, layers, metadata, exposure, tone_map)


@dataclass(frozen=True)
class Slice:
    """A rectangle of the picture that was rendered in one run; ``columns`` and ``rows`` index the picture."""

    rows: slice
    columns: slice
    machine: Machine


@dataclass(frozen=True)
class Choices:
    """How the program runs: what may change from picture to picture."""

    program: str = DEFAULT["program"]
    machine: str = DEFAULT["machine"]
    policy: PolicyChoice = DEFAULT["policy"]
    unroll: Unroll = DEFAULT["unroll"]
    fuse: str = DEFAULT["fuse"]
    mask: str = DEFAULT["mask"]
    sampler: str = DEFAULT["sampler"]

    @property
    def stepwise(self) -> bool:
        """Whether every pass is one kernel: what a walk keeps must then fit its record."""
        return self.machine == "multipass" and self.fuse == "none"


class Renderer:
    """Renders one scene. Every option of ``raystream render`` is a keyword of the same name here or of `render`.

    device : number of the EGL device, a `Device`, or None for the driver's choice. camera : a `Camera`, the name of
    one of the scene's, or text. The scene is read once: build a new Renderer when it changes. Where it is `prepare`d
    already, ``light``, ``environment`` and what structures are built from (``accel``, ``grid`` ...) have been used.

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
        seed: int = DEFAULT["seed"],
        depth: int = DEFAULT["depth"],
        strategy: str = DEFAULT["strategy"],
        roulette: int | None = DEFAULT["roulette"],
        clamp: float = DEFAULT["clamp"],
        accel: str = DEFAULT["accel"],
        top: str = DEFAULT["top"],
        build: str = DEFAULT["build"],
        grid: int | str = DEFAULT["grid"],
        walk: str = DEFAULT["walk"],
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
    ) -> None:
        started = perf_counter()
        if not isinstance(scene, Prepared):
            for name, position in options.check("light", light):
                scene = with_light_at(scene, name, position)
            recipe: dict[str, Any] = {"accel": accel, "top": top, "build": build, "grid": grid, "walk": walk}
            recipe |= {"intersection": intersection, "plane_slack": plane_slack}
            scene = prepare(scene, None, environment, environment_rotation, **recipe)
        self.prepared, self.scene, self.choices = scene, scene.scene, Choices()
        self.configure(
            program=program, machine=machine, policy=policy, unroll=unroll, fuse=fuse, mask=mask, sampler=sampler
        )
        self.settings, self.seed = PathSettings(), 0
        self.follow(depth=depth, strategy=strategy, roulette=roulette, clamp=clamp, seed=seed)
        self.fov = options.check("fov", fov)
        self.lens = options.check("aperture", aperture), options.check("focus", focus)
        self.pixel_filter = options.check("pixel_filter", pixel_filter)
        self.camera = self._camera(options.check("camera", camera))
        allowed = (options.check("barrier", barrier) == "auto", options.check("memory", memory) == "auto")
        if isinstance(device, Device):
            self.device = device
        else:
            self.device = shared_device(options.check("device", device), *allowed)
        self.memories = Memories(self.device)
        self._machines: dict[tuple[Any, ...], Machine] = {}
        self.build_seconds = perf_counter() - started

    @property
    def notes(self) -> list[str]:
        """Remarks on the scene's lights and surroundings, where the program follows light."""
        return self.prepared.around.notes if self.samples else []

    def checkpoint(self, path: str | Path) -> Checkpoint | None:
        """Where a render of samples to that file keeps its state as it goes; None for other programs."""
        return Checkpoint(path, self.sample_settings()) if self.samples else None

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
        """Choose another depth, strategy, roulette, clamp or seed, which compiles nothing.

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
        spp: int = DEFAULT["spp"],
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
        seconds, estimated relative error. The ray caster samples pixel centres, so that all its samples are one.
        stats    : count every pass (the host then waits for each), see `Stats`.
        progress : called with the share that is done and a text.
        resume   : an EXR of the same picture, to go on from. state : where to save a long render's state as it goes.
        """
        began = perf_counter()
        width, height = options.check("size", size)
        names = options.check("layers", layers, (*LAYERS, *SERIES))
        stop = Stop(options.check("spp", spp), options.check("time", time), options.check("error", error))
        total, made = Stats(), {}
        film, reason = Film(width, height), ""
        if self.samples:
            if resume is not None:
                film = resumed(resume, (width, height), self.sample_settings())
            reason = self._sample(film, stop, total, progress, stats, state)
            if "bounce" in names:
                made |= self._bounces(film, progress)
        elif resume is not None or "bounce" in names:
            what = "--resume" if resume is not None else "--layers bounce"
            raise ViewerError(what, f"program {self.choices.program} adds no samples", "take --program path")
        plain = {name: LAYERS[name].empty(height, width) for name in names if name in LAYERS}
        if "triangle" in plain and self.prepared.starts[-1] > np.iinfo(np.int32).max:
            plain["triangle"] = plain["triangle"].astype(np.int64)
        if plain or not self.samples:
            self._cast(film, plain, total, progress, stats)
        total.facts = self._facts((width, height), perf_counter() - began)
        if self.samples:
            total.facts |= {"samples": int(film.count.min()), "stopped by": reason, **self._sampling_facts()}
        metadata = {key: str(value) for key, value in total.facts.items() if key != "seconds"}
        return Picture(film.linear, {**plain, **made}, total, metadata, *self._kept_film(film))

    def _kept_film(self, film: Film) -> tuple[Film | None, dict[str, str]]:
        return (film, self.sample_settings()) if self.samples else (None, {})

    def sample_settings(self) -> dict[str, str]:
        """Everything that a sample depends on, beside pixel and number: what a picture to be resumed must agree in."""
        return {
            "scene": self.scene.name,
            "content": fingerprint(self.scene.meshes, self.scene.instances, self.scene.materials, self.scene.lights),
            "program": self.choices.program,
            "camera": self.camera.text(),
            "fov": str(self.camera.fov),
            "lens": f"{self.camera.aperture:g} {self.camera.focus_distance:g}",
            **self._sampling_facts(),
        }

    def _sampling_facts(self) -> dict[str, str]:
        chosen = {name: str(value) for name, value in vars(self.settings).items() if name != "bounce"}
        return {
            **chosen,
            "sampler": self.choices.sampler,
            "seed": str(self.seed),
            "pixel_filter": self.pixel_filter,
            "environment": self.prepared.around.environment.name,
        }

    def _cast(
        self, film: Film, layers: dict[str, NDArray], total: Stats, progress: Report | None, counting: bool
    ) -> None:
        """The ray caster's picture, or beside a program of samples its layers alone."""
        beside, chosen = self.samples, self.choices
        if beside:
            self.configure(program="cast")
        try:
            for done, part in self.slices(film.size, tuple(layers), counting):
                if part is not None:
                    self._collect(part, None if beside else film, layers)
                    if not beside:
                        total.add(part.machine.stats)
                if progress is not None:
                    progress(done, "layers" if beside else f"rendering {film.size[0]} x {film.size[1]}")
        finally:
            self.choices = chosen

    def _bounces(self, film: Film, progress: Report | None) -> dict[str, NDArray]:
        """A layer for each number of surfaces that light has come over, with the samples that ``film`` has."""
        made, settings = {}, self.settings
        try:
            for bounce, name in enumerate(series("bounce", settings.depth + 1)):
                self.settings = replace(settings, bounce=bounce)
                part = Film(*film.size)
                self._sample(part, Stop(int(film.count.min())), Stats(), progress, False)
                made[name] = part.linear
        finally:
            self.settings = settings
        return made

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
            rectangles = list(cut(size, min(self.device.max_texture, LARGEST_STREAM)))
            shape = (max(c.stop - c.start for _, c in rectangles), max(r.stop - r.start for r, _ in rectangles))
        else:
            rectangles, shape = tiles(size, tile, rows), tile
        with self.device.current():
            machine = self._machine(shape, any(name in SURFACE_LAYERS for name in layers), counting)
            machine.set(lens_uniforms(self.camera, size, self.pixel_filter))
            machine.set({**self.settings.uniforms(samples), **sampler_uniforms(self.seed)})
            pixels = np.zeros((shape[1], shape[0]), PIXEL.dtype)
        if self.samples and film is None:
            film = Film(*size)
        done, total = 0, size[0] * size[1]
        for down, across in rectangles:
            y, x = np.mgrid[down, across]
            count = y.size
            flat = pixels.reshape(-1)
            flat["at"][:count, 0], flat["at"][:count, 1] = x.ravel(), y.ravel()
            with self.device.current():
                machine.write("pixel", pixels)
                if film is not None:
                    machine.write("film", _in_rows(film.records(*_box(down, across)), shape))
            steps = machine.run(None if count == machine.rays else count)
            while True:
                with self.device.current():
                    state: Progress | None = next(steps, None)
                if state is None:
                    break
                yield (done + count * (1 - state.active / max(1, state.rays))) / total, None
            if film is not None:
                with self.device.current():
                    held = machine.read("film").reshape(-1)[:count].reshape(y.shape)
                film.store(held, across.start, down.start)
            done += count
            yield done / total, Slice(down, across, machine)

    @property
    def samples(self) -> bool:
        """Whether the chosen program adds samples to a film; else one run makes the whole picture."""
        return "film" in self.program().inputs

    def _sample(
        self,
        film: Film,
        stop: Stop,
        stats: Stats,
        progress: Report | None,
        counting: bool,
        state: Checkpoint | None = None,
    ) -> str:
        """Add samples until a rule says stop, and return its name."""
        started, number = perf_counter(), int(film.count.min())
        batch = 1
        while not (reason := stop.reason(number, perf_counter() - started, film if stop.looks(number) else None)):
            target, began = min(stop.spp, number + batch), perf_counter()
            for done, part in self.slices(film.size, stats=counting, film=film, samples=target):
                if part is not None:
                    stats.add(part.machine.stats)
                if progress is not None:
                    shown = number + done * (target - number)
                    progress(stop.share(shown, perf_counter() - started), f"sample {int(shown)} of {stop.spp}")
            per_sample = (perf_counter() - began) / (target - number)
            number = target
            if state is not None and state.due():
                state.save(film)
            # Many samples in a run keep its passes full; few let rules, progress and Ctrl-C come in between.
            batch = max(1, min(MOST_IN_RUN, int(RUN_SECONDS / max(per_sample, 1e-6))))
        return reason

    def _collect(self, part: Slice, film: Film | None, layers: Mapping[str, NDArray]) -> None:
        """Take a slice's results into the picture; without ``film`` into its layers alone."""
        machine, at = part.machine, (part.rows, part.columns)
        shape = (part.rows.stop - part.rows.start, part.columns.stop - part.columns.start)
        count = shape[0] * shape[1]

        def picture(values: NDArray) -> NDArray:
            rest = values.shape[2:]
            return values.reshape(-1, *rest)[:count].reshape(*shape, *rest)

        with self.device.current():
            if film is not None:
                film.add(picture(machine.read("radiance")["rgb"]), part.columns.start, part.rows.start)
            hit = picture(machine.read("hit")) if layers else None
            surface = picture(machine.read("surface")) if any(n in SURFACE_LAYERS for n in layers) else None
        if hit is not None and not layers.keys().isdisjoint(NUMBER_LAYERS):
            numbers = dict(zip(NUMBER_LAYERS, self.prepared.numbered(hit), strict=True))
        for name, layer in layers.items():
            assert hit is not None
            if name in COUNTED_LAYERS:
                layer[at] = picture(machine.stats.calls[COUNTED_LAYERS[name]])
            elif name in SURFACE_LAYERS:
                assert surface is not None
                layer[at] = surface[name]
            elif name == "depth":
                layer[at] = np.where(hit["triangle"] >= 0, hit["t"], np.inf)
            else:
                layer[at] = numbers[name]

    def _machine(self, shape: tuple[int, int], surface: bool, counting: bool) -> Machine:
        return self._kept(self.program(layers=surface), ("picture", surface), shape, counting)

    def _kept(self, program: Program, what: Any, shape: tuple[int, int], counting: bool) -> Machine:
        """The machine for a program and shape; those used last stay ready, another gives its streams back."""
        key = (what, shape, counting, self.choices)
        machine = self._machines.pop(key, None)
        if machine is None:
            while len(self._machines) >= MOST_MACHINES:
                self._machines.pop(next(iter(self._machines))).release()
            machine = make_machine(self, program, shape, counting)
        self._machines[key] = machine
        return machine

    def ready(self, tile: tuple[int, int], counting: bool = False) -> bool:
        """Whether `slices` of that tile will run without compiling."""
        machine = self._machines.get((("picture", False), tile, counting, self.choices))
        return machine is not None and machine.warmed

    def warm(self, tile: tuple[int, int], counting: bool = False) -> Iterator[float]:
        """Compile what `slices` of that tile will run, in pieces: GLSL first, then the driver's part of each pass.

        Yields the share that is done. Raises ShaderError where a shader does not compile.
        """
        with self.device.current():
            machine = self._machine(tile, False, counting)
        yield 0.0
        steps = machine.warm()
        while True:
            with self.device.current():
                share = next(steps, None)
            if share is None:
                return
            yield share

    def trace_ready(self) -> bool:
        """Whether `trace` of a few rays will run without compiling."""
        return any(key[0] == "trace" and key[-1] == self.choices for key in self._machines)

    def upload(self) -> Iterator[float]:
        """Bring the scene's memories to the device in pieces of a few milliseconds; yields the share that is done.

        Without it they are uploaded when the first picture needs them.
        """
        modules = self.bind(self.program()).modules
        return self.memories.upload(memory for module in modules for memory in module.memories)

    def reload(self) -> None:
        """Compile the shaders anew from their files. Runs under way end with the old ones: abandon them.

        Raises ShaderError where one does not compile; the old ones then stay.
        """
        made: dict[tuple[Any, ...], Machine] = {}
        with self.device.current():
            try:
                for key, old in self._machines.items():
                    made[key] = make_machine(self, old.bound.program, old.size, old.counting, key[-1])
            except ViewerError:
                for machine in made.values():
                    machine.release()
                raise
            for old in self._machines.values():
                old.release()
        self._machines = made

    def release(self) -> None:
        """Free streams and memories; the renderer is of no use any more."""
        with self.device.current():
            self._drop()

    def _drop(self) -> None:
        for machine in self._machines.values():
            machine.release()
        self._machines.clear()
        self.memories.release()

    def _facts(self, size: tuple[int, int], seconds: float) -> dict[str, Any]:
        from viewer.version import __version__

        return {
            "raystream": __version__,
            "scene": self.scene.name,
            "triangles": int(self.prepared.starts[-1]),
            "size": f"{size[0]}x{size[1]}",
            "program": self.choices.program,
            "machine": self.choices.machine,
            **({} if self.choices.machine == "singlepass" else self._multipass_facts()),
            "accel": self.structure.name,
            **self.structure.facts,
            "intersection": self.prepared.recipe.intersection,
            "camera": self.camera.text(),
            "fov": self.camera.fov,
            "renderer": self.device.name,
            "seconds": seconds,
        }

    def _multipass_facts(self) -> dict[str, str]:
        return {name: str(getattr(self.choices, name)) for name in ("policy", "unroll", "fuse", "mask")}

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
        columns = min(1024, self.device.max_texture)
        for first in range(0, len(records), LARGEST_STREAM):
            piece = records[first : first + LARGEST_STREAM]
            rows = 1 << (-(-len(piece) // columns) - 1).bit_length()  # few shapes, so that machines are used again
            with self.device.current():
                machine = self._kept(trace(LEVELS[self.structure.levels]), "trace", (columns, rows), False)
                stream = np.zeros(columns * rows, RAY.dtype)
                stream[: len(piece)] = piece
                machine.write("ray", stream.reshape(rows, columns))
                machine.finish(len(piece))
                out[first : first + LARGEST_STREAM] = machine.read("hit").reshape(-1)[: len(piece)]
        hit = out["triangle"] >= 0
        distance = np.full(len(out), np.inf, np.float32)
        # Beyond float32, of a direction that is nearly zero, a hit stays a hit.
        distance[hit] = np.minimum(out["t"][hit] * scale[hit], np.finfo(np.float32).max)
        return Hits(distance, self.prepared.barycentrics(out), *self.prepared.numbered(out))

    # -- motion ----------------------------------------------------------------------------------------------------

    def move(self, transforms: ArrayLike | Mapping[int, ArrayLike]) -> None:
        """Put instances elsewhere: (I, 4, 4) for all, or a matrix (4, 4) for some by their numbers. The next picture
        shows it; the scene that was given stays as it is, `scene` is another one.

        Under a structure of two levels this makes the top structure anew and uploads what changed, a few milliseconds
        for a thousand instances. A flat structure, and one of two levels where a transformation is flat or nearly, is
        built anew. Pictures under way are to be abandoned. Raises ViewerError for an unknown instance and for what is
        no transformation, or leads too far away; then nothing has moved.
        """
        numbers, matrices = _placed(transforms, len(self.scene.instances))
        built = self.structure.built
        changes = built.move(numbers, matrices) if self.structure.levels == 2 else None
        scene = self.scene.moved(numbers, matrices)
        if changes is None:
            made = prepare(scene, **vars(self.prepared.recipe))
            with self.device.current():
                self._drop()
            self.prepared, self.scene = made, scene
            return
        self.prepared, self.scene = self.prepared.moved(scene), scene
        with self.device.current():
            for table, first, last in changes:
                self.memories.update(table, first, last)
            for machine in self._machines.values():
                machine.set(built.top.uniforms)

    # -- programs --------------------------------------------------------------------------------------------------

    def program(self, layers: bool = False) -> Program:
        """The chosen program over the scene's structure; with ``layers`` it leaves the surfaces seen, too."""
        make = PICTURES["cast" if layers else self.choices.program]
        return make(LEVELS[self.structure.levels], **({"layers": True} if layers else {}))

    def bind(self, program: Program, stepwise: bool | None = None) -> Bound:
        """A program with the scene's modules: for passes of one kernel each where ``stepwise``, which the choices tell
        where it is None."""
        stepwise = self.choices.stepwise if stepwise is None else stepwise
        return Bound(program, self.prepared.modules(stepwise, "film" in program.inputs, self.choices.sampler))

    # -- facts -----------------------------------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        bound = self.bind(self.program())
        with self.device.current():
            for module in bound.modules:
                for memory in module.memories:
                    self.memories.get(memory)
        parts = self.memories.bytes()
        stored = {name: 16 * record.texels for name, record in bound.records.items()}
        return {
            "gpu memory": {**parts, "total": sum(parts.values())},
            "stream bytes per ray": {**stored, "total": sum(stored.values())},
            self.structure.name: {**self.structure.facts, **self.structure.statistics},
        }


def make_machine(
    renderer: Renderer, program: Program, shape: tuple[int, int], counting: bool, choices: Choices | None = None
) -> Machine:
    """The renderer's machine for a program over streams of ``shape`` (width, height)."""
    chosen = choices or renderer.choices
    common: dict[str, Any] = {"memories": renderer.memories, "counting": counting}
    if not chosen.stepwise:
        common["fallback"] = lambda: renderer.bind(program, stepwise=True)
    if chosen.machine == "multipass":
        common |= {
            "fuse": chosen.fuse,
            "policy": make_policy(chosen.policy.name, chosen.policy.share, chosen.policy.of),
            "unroll": "auto" if chosen.unroll.counts is None else chosen.unroll.counts,
            "mask": chosen.mask,
        }
    bound = renderer.bind(program, chosen.stepwise)
    return MACHINES[chosen.machine](renderer.device, bound, shape, **common)


def _box(down: slice, across: slice) -> tuple[int, int, int, int]:
    """Left, top, width and height of a rectangle."""
    return across.start, down.start, across.stop - across.start, down.stop - down.start


def _in_rows(values: NDArray, shape: tuple[int, int]) -> NDArray:
    """The values of a rectangle in row order, as a stream of ``shape`` (width, height) holds them."""
    out = np.zeros(shape[0] * shape[1], values.dtype)
    out[: values.size] = values.ravel()
    return out.reshape(shape[1], shape[0])


def _placed(transforms: Any, count: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ascending numbers (N,) of instances among ``count``, and where they go (N, 4, 4)."""
    hint = "give (I, 4, 4), or a dictionary of (4, 4) by the instance's number"
    try:
        if isinstance(transforms, Mapping):
            numbers = np.array(sorted(transforms), np.intp)
            matrices = np.array([transforms[number] for number in numbers.tolist()], np.float64).reshape(-1, 4, 4)
        else:
            matrices = np.array(transforms, np.float64)
            numbers = np.arange(count)
    except (TypeError, ValueError) as error:
        raise ViewerError("move", f"these are no transformations ({error})", hint) from None
    if matrices.shape != (len(numbers), 4, 4):
        raise ViewerError("move", f"transformations have shape {matrices.shape} for {len(numbers)} instances", hint)
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < count:
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ViewerError("move", f"there is no instance {wrong}", f"they are numbered from 0 to {count - 1}")
    if (matrices[:, 3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise ViewerError("move", "a matrix's last row is not 0 0 0 1", "transformations are affine")
    return numbers, matrices
