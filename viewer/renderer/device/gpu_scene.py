"""A prepared scene on a device: memory, machines, rasterised first hits and the executor of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import Any, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from raystream.accel.deform import Rebuilder, Trees
from raystream.accel.grid.grid import DeviceGrid
from raystream.accel.structures import Structure
from raystream.accel.two_level.structure import TwoLevel
from raystream.base.errors import ViewerError
from raystream.film.device_film import Pixels
from raystream.programs import PICTURES, PictureProgram, TraversalStates, light_layers, traversal_states
from raystream.renderer.device.deformer import GpuDeformer, input_tables
from raystream.renderer.device.first_hits import FirstHitRaster, FirstHits, first_hits
from raystream.renderer.device.grid_build import GridBuild
from raystream.renderer.device.machine_pool import Key, MachinePool, driver_fallbacks
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.program_file import reread_programs
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import tables_of
from raystream.stream.declare.kernel import Module
from raystream.stream.declare.program import Program
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Executor, Job
from raystream.stream.machines.counters import Stats
from raystream.stream.selftest.fallbacks import apply_fallbacks, device_notes, stack_note

# -- another scene, or other lighting, in the place of the one on the device -------------------------------------------
# Table contents and uniforms alone are replaced where the shaders and the form of the tables stay.


def replace_scene(before: PreparedScene, after: PreparedScene, resources: Resources, machines: MachinePool) -> bool:
    """Replace the scene ``before`` on the device by ``after``; returns whether the machines stay.

    Where the modules' programs are the same, tables of ``after`` take the addresses of those of ``before``, and nothing
    is compiled: so with other lights, materials and transformations, under a rebuilt structure as well. Else all
    machines are released, and the memories that ``after`` does not use. Neither scene is changed. The context must be
    current; pictures in progress are to be abandoned.
    """
    old, new = _modules(before, after)
    if not _programs_serve(old, new, resources):
        _replace_all(before, after, resources, machines)
        return False
    after.lighting.share(before.lighting)
    values: dict[str, Any] = {}
    exchanged: set[int] = set()  # two modules may have one table
    for old_module, new_module in zip(old, new, strict=True):
        if old_module is new_module:
            continue
        for old_memory, new_memory in zip(old_module.memories, new_module.memories, strict=True):
            if id(old_memory) not in exchanged:
                resources.exchange(old_memory, new_memory)
                exchanged.add(id(old_memory))
        for name in new_module.capacities:  # the programs stay, which have room for more
            new_module.constants[name] = old_module.constants[name]
        values |= {name: value for name, (_, value) in new_module.uniforms.items()}
    if values:
        for machine in machines.values():
            machine.set(values)
    return True


def _modules(before: PreparedScene, after: PreparedScene) -> tuple[list[Module], list[Module]]:
    """The modules of ``before`` whose tables programs may read, and their counterparts in ``after``, in the same
    order."""
    old, new = before.scene_modules(), after.shading[1:]
    if before.lighting.made:
        new = [*new, *after.lighting.scene_modules(before.lighting.trees)]
    if before.structure is after.structure:
        return old, new
    return [*old, *before.structure.made()], [*new, *after.structure.made_like(before.structure)]


def _replace_all(before: PreparedScene, after: PreparedScene, resources: Resources, machines: MachinePool) -> None:
    """Release all machines, and the memories of ``before`` that ``after`` does not use."""
    machines.release()
    shared = {id(memory) for module in after.made() for memory in module.memories}
    resources.drop(memory for module in before.made() for memory in module.memories if id(memory) not in shared)
    resources.arena.compact()  # no machine is left that has addresses of tables


def _programs_serve(old: Sequence[Module], new: Sequence[Module], resources: Resources) -> bool:
    """Whether programs compiled for the ``old`` modules run with the ``new`` ones, from tables at the same
    addresses."""
    if len(old) != len(new):
        return False
    pairs = [(before, after) for before, after in zip(old, new, strict=True) if before is not after]
    if not all(
        _module_form(before) == _module_form(after) and _fits_capacities(before, after) for before, after in pairs
    ):
        return False
    tables = (zip(before.memories, after.memories, strict=True) for before, after in pairs)
    return all(resources.exchangeable(*table_pair) for table_pairs in tables for table_pair in table_pairs)


def _module_form(module: Module) -> tuple[Any, ...]:
    """The key of a module's compiled programs: all of it but the contents of its memories and its capacities."""
    constants = {name: value for name, value in module.constants.items() if name not in module.capacities}
    uniforms = [(name, kind) for name, (kind, _) in module.uniforms.items()]
    shape = module.name, module.source, module.text, module.features, module.module_state
    return *shape, constants, uniforms, len(module.memories)


def _fits_capacities(old: Module, new: Module) -> bool:
    """Whether programs with the capacities of ``old`` have room for ``new``."""
    return all(new.constants[name] <= old.constants[name] for name in new.capacities)


# -- one prepared scene on one device ----------------------------------------------------------------------------------

_VERSIONS = count(1)


class GpuScene:
    """A prepared scene on a device. Settings and cameras are arguments of each call.

    Where its OpenGL context ends (see `Device.ended`), the owner makes another `GpuScene`.

    version : of the tables on the device: a number that no other scene has, and none before a change of scene or
    shaders.
    deformer : of the structure's deforming objects, where it has some. reloads : of the shaders' files, so far.
    """

    def __init__(self, device: Device, prepared: PreparedScene) -> None:
        apply_fallbacks(device)
        self.device, self.prepared, self.version = device, prepared, next(_VERSIONS)
        self.resources = Resources(device)
        self.machines = MachinePool(device, self.resources, self.bind)
        self.raster = FirstHitRaster(device, self.resources)
        self.executor = Executor(device, self.resources, self.machines.machine_of)
        self.deformer: GpuDeformer | None = None
        self.reloads = 0
        self._rebuilder: tuple[Structure, Rebuilder[Structure]] | None = None
        self._instances: TwoLevel | None = None
        self._update_deformer()
        self._programs: dict[tuple[Any, ...], Program] = {}  # wired and checked once
        self._grid_build: GridBuild | None = None
        self._pixels: Pixels | None = None
        self._build()

    def fork(self, buffers: bool = True) -> GpuScene:
        """The same scene in the same memory, with separate machines, jobs and streams, which `release_fork` frees.
        buffers : see `Resources.fork`."""
        fork = copy(self)
        fork.resources = self.resources.fork(buffers)
        fork.machines = MachinePool(self.device, fork.resources, fork.bind)
        fork.raster = FirstHitRaster(self.device, fork.resources)
        fork.executor = Executor(self.device, fork.resources, fork.machines.machine_of)
        return fork

    def release_fork(self) -> None:
        """Free the resources of a `fork`, but those that it shares with its original."""
        with self.device.current():
            self.machines.release()
            self.raster.release()
            self.resources.release_fork()

    @property
    def computed(self) -> bool:
        """Whether passes on the device compute some of its tables, which the host then does not have."""
        return self.deformer is not None or isinstance(self.structure.built, DeviceGrid)

    @property
    def stream_bytes(self) -> int:
        """Texture bytes of all streams, with those of the machines."""
        return self.resources.stream_bytes() + sum(machine.bytes for machine in self.machines.values())

    @property
    def structure(self) -> Structure:
        """The acceleration structure."""
        return self.prepared.structure

    @property
    def pixels(self) -> Pixels:
        """The pass that fills a stream of pixels."""
        # No `functools.cached_property`: it has a lock in Python 3.11, which would be held in the wait for the context.
        with self.device.current():
            self._pixels = self._pixels or Pixels(self.device)
            return self._pixels

    def first_hits(self, settings: Settings, camera: Camera) -> FirstHits:
        """How a program finds its first hits."""
        return first_hits(settings, self.prepared, camera, self.device.software)

    def fallbacks(self, settings: Settings) -> list[str]:
        """A line for each self-test that the driver fails, and the substitute for the requested setting."""
        stack = stack_note(self.device) if self.prepared.structure_options.traversal == "stack" else []
        return [*device_notes(self.device), *driver_fallbacks(self.device, settings).notes, *stack]

    # -- change ----------------------------------------------------------------------------------------------------

    def show(
        self,
        goal: PreparedScene,
        moved: NDArray[np.intp],
        rebuilt: Callable[[], PreparedScene],
        posed: Sequence[int] = (),
    ) -> None:
        """Show the scene ``goal`` from now on. Pictures in progress are to be abandoned.

        moved : indices of the instances with another transformation. posed : indices of meshes in other poses.
        rebuilt : prepares the same scene with a new structure; called where the one on show cannot follow in place.
        Raises ViewerError for a transformation that does not fit; then nothing has changed.
        """
        before, rows = self.prepared, None
        if goal.structure is not before.structure and goal.structure.built is before.structure.built:
            goal = replace(goal, structure=before.structure, shared={})  # prepared before the trees were built anew
        in_place = goal.structure is before.structure and before.structure.levels == 2
        posed_on_host = posed and self.device.limits is not None  # formats of limited range are rounded there
        if in_place and (posed_on_host or ((posed or len(moved)) and len(before.structure.built.users) > 1)):
            goal, in_place = rebuilt(), False  # another renderer shows these instances, too
        if in_place and len(moved):
            transforms = np.array([goal.scene.instances[index].transform for index in moved.tolist()])
            rows = before.structure.built.move(moved, transforms)  # the last step that may raise
            if rows is None:
                goal, in_place = rebuilt(), False
        if in_place and posed:
            new_structure = self._rebuilt_structure(goal, before.structure)
            if new_structure is not None:
                goal = replace(goal, structure=new_structure, shared={})
            deforming = (new_structure or before.structure).deforming
            assert deforming is not None
            rows = [*(rows or ()), *before.structure.built.set_bounds(deforming.boxes(goal.scene.meshes, posed))]
            rows += deforming.pose(goal.scene.meshes, posed)
            if new_structure is None and self._rebuilder is not None:
                self._rebuilder[1].check(deforming.poses.meshes)
        with self.device.current():
            machines_stay = replace_scene(before, goal, self.resources, self.machines)
            if not machines_stay or goal.structure is not before.structure or len(moved):
                self.raster.release()  # it holds textures of the scene's
            for table, first, last in rows or ():
                self.resources.update(table, first, last)
            for machine in self.machines.values() if rows else ():
                machine.set(before.structure.built.top.uniforms)
            if goal.structure.levels == 2 and (rows or goal.structure.built.current_scene is not None):
                goal.structure.built.current_scene = goal.scene
            if goal is not before:
                self.prepared = goal
                self._update_deformer()
                self._changed()
        if goal.structure is not before.structure:
            self._build_or_return(before)

    def _build_or_return(self, before: PreparedScene) -> None:
        """Build a grid that is built on the device; where it does not fit, show ``before`` again and raise
        ViewerError."""
        try:
            self._build()
        except ViewerError:
            with self.device.current():
                replace_scene(self.prepared, before, self.resources, self.machines)
                self.raster.release()
                self.prepared = before
                self._update_deformer()
            self._changed()
            self._build()
            raise

    def _build(self, timed: bool = False) -> None:
        """Build the structure where it is a grid built on the device. timed : wait, and add its seconds to the
        statistics."""
        built = self.structure.built
        if not isinstance(built, DeviceGrid):
            return
        triangles = tables_of(self.structure.modules())["triangles"]
        with self.device.current():
            if self._grid_build is None or not self._grid_build.serves(triangles, self.resources):
                self._release_build()
                self._grid_build = GridBuild(self.device, triangles, self.resources)
            memories = [self.resources.get(memory) for memory in (triangles, built.pointers, built.lists)]
        textures, began = [memory.texture for memory in memories], perf_counter()
        self._run_job(self._grid_build.job(built, *memories))
        if timed:
            with self.device.current():
                self.device.wait()
            built.statistics["seconds"] = perf_counter() - began
        if any(memory.texture is not old for memory, old in zip(memories, textures, strict=True)):
            with self.device.current():  # the machines have bound the textures that were too small
                self.machines.release()
                self.raster.release()

    def _release_build(self) -> None:
        if self._grid_build is not None:
            self._grid_build.release()
            self._grid_build = None

    def _rebuilt_structure(self, goal: PreparedScene, structure: Structure) -> Structure | None:
        """The structure of trees that were built in the background, once they are ready; None before. Refitted trees
        get slower to traverse with each pose; where they are too slow, `Rebuilder` builds new ones."""
        deforming, again, rebuilder = structure.deforming, structure.again, self._rebuilder
        if deforming is None or again is None or goal.structure_options.rebuild != "auto":
            self._rebuilder = None
            return None
        if rebuilder is None or rebuilder[0] is not structure:

            def make(trees: Trees) -> Structure:
                new_structure = again(trees)
                new_structure.made_like(structure)  # tables, too
                return new_structure

            scales = structure.built.objects.scales[: len(deforming.indices)]
            rebuilder = structure, Rebuilder(deforming.bvhs, scales, goal.structure_options.build, make)
            self._rebuilder = rebuilder
        rebuilt = rebuilder[1].take_finished()
        if rebuilt is not None and rebuilt.deforming is not None:
            rebuilt.deforming.version = deforming.version
        return rebuilt

    def _update_deformer(self) -> None:
        """Make, update or release the deformer, by the deforming meshes of the structure on show."""
        structure, deforming = self.prepared.structure, self.prepared.structure.deforming
        if self._instances is not structure.built:
            self._register_instances(structure.built if structure.levels == 2 else None)
        deformer = self.deformer
        if deformer is not None and deforming is not None and deformer.deforming.poses is deforming.poses:
            if deformer.deforming is not deforming:
                deformer.use_trees(deforming)
        elif deformer is not None:
            deformer.release()
            self.deformer = None
            self.resources.computed_tables.clear()
        if deforming is not None and self.deformer is None and self.device.limits is None:
            self.deformer = GpuDeformer(self.device, self.resources, deforming)
            owner = ref(self)  # a cycle would keep scenes until Python looks for garbage
            self.resources.computed_tables.append(lambda: owner()._pose())  # type: ignore[union-attr]

    def _pose(self) -> None:
        """Run the job that brings deforming objects to their poses; its passes count among those of the picture."""
        assert self.deformer is not None
        self.executor.count(self._run_job(self.deformer.job(self.prepared)).draws)

    def _run_job(self, job: Job) -> Stats:
        """Run a job by a separate executor, so that no picture in progress is abandoned."""
        executor = Executor(self.device, self.resources, self.machines.machine_of)
        for _ in executor.run(job):
            pass
        return executor.stats

    def _register_instances(self, instances: TwoLevel | None) -> None:
        """Enter this scene among the users of these instances, and leave those of the former ones."""
        if self._instances is not None:
            self._instances.users.discard(self)
        if instances is not None:
            instances.users.add(self)
        self._instances = instances

    @property
    def posed(self) -> Stream | None:
        """`VERTEX` of the vertices of deforming objects, which lie before all others; None where nothing deforms, and
        before they are posed."""
        return None if self.deformer is None else self.deformer.posed

    def reload(self) -> None:
        """Read changed program files, and recompile the shaders from their files. Raises ViewerError where a file is
        faulty, or a shader does not compile; the old ones then stay."""
        with reread_programs():
            self._reload_shaders()

    def _reload_shaders(self) -> None:
        with self.device.current():
            passes = {} if self.deformer is None else self.deformer.recompiled_passes()
        self.machines.reload(self._current_program)  # the last step that may raise
        if self.deformer is not None:
            self.deformer.use_passes(passes)
        with self.device.current():
            self.raster.release()
            self._release_build()
        self.reloads += 1
        self._changed()

    def _current_program(self, key: Key, program: Program, settings: Settings) -> tuple[Key, Program]:
        """A machine's key and program after files were read again: other ones where the picture program's file
        changed."""
        if key.identity[0] != "picture":
            return key, program
        _, before, surfaces, first_hits, form = cast("tuple[str, PictureProgram, bool, str, Any]", key.identity)
        make = PICTURES[before.name]
        if make is before:
            return key, program
        arguments = make.arguments(**dict(form))
        program = make(self.traversal(settings), first_hits=first_hits, **arguments)
        return replace(key, identity=("picture", make, surfaces, first_hits, tuple(arguments.items()))), program

    def _changed(self) -> None:
        self.version = next(_VERSIONS)
        self.executor.abandon()

    # -- programs --------------------------------------------------------------------------------------------------

    def traversal(self, settings: Settings, structure: Structure | None = None) -> TraversalStates:
        """The states by which rays find their hits in the scene's structure, or another one, by the settings."""
        structure = structure or self.structure
        return traversal_states(structure.levels, settings.stepwise and structure.tests_box)

    def program(self, settings: Settings, first_hits: str, surfaces: bool = False) -> Program:
        """The program of the settings over the scene's structure; with ``surfaces`` the ray caster that writes layers.
        first_hits : the mode, as of `FirstHits`."""
        make, form = self._program_form(settings, surfaces)
        traversal = self.traversal(settings)
        key = (make, traversal, first_hits, *form.items())
        if key not in self._programs:
            self._programs[key] = make(traversal, first_hits=first_hits, **form)
        return self._programs[key]

    def _program_form(self, settings: Settings, surfaces: bool) -> tuple[PictureProgram, dict[str, Any]]:
        """The picture program, or with ``surfaces`` the ray caster, and the keywords that it is made with."""
        program = PICTURES[settings.program]
        return (PICTURES["cast"], {"layers": True}) if surfaces else (program, _program_form(self.prepared, settings))

    def light_layers(self, settings: Settings, traced: bool = False) -> tuple[Program, tuple[Any, ...]]:
        """The program that sorts the light of the settings' paths, and its key. traced : it traces the film, too."""
        form = {name: value for name, value in _program_form(self.prepared, settings).items() if name != "layered"}
        form["traced"] = traced
        traversal = self.traversal(settings)
        key = (light_layers, traversal, *form.items())
        if key not in self._programs:
            self._programs[key] = light_layers(traversal, **form)
        return self._programs[key], tuple(form.items())

    def bind(self, program: Program, settings: Settings, stepwise: bool | None = None) -> LinkedProgram:
        """A program with the scene's modules. stepwise : each pass is one kernel; None: by the settings."""
        return self._linked(self.prepared, program, settings, stepwise)

    def _linked(
        self, prepared: PreparedScene, program: Program, settings: Settings, stepwise: bool | None = None
    ) -> LinkedProgram:
        stepwise = settings.stepwise if stepwise is None else stepwise
        if prepared.structure.whole == "stack" and not self.device.array_stores:
            prepared.structure.without_stack()
        traces_paths = not {"film", "features", "path"}.isdisjoint((*program.inputs, *program.results))
        camera = prepared.camera_moves(settings)
        tree, projection = prepared.light_tree(settings), prepared.projection(settings)
        modules = prepared.modules(stepwise, traces_paths, settings.sampler, tree, camera, projection)
        linked = LinkedProgram(program, modules)
        return linked if stepwise else linked.inlined()

    def picture_key(
        self,
        program: Program,
        settings: Settings,
        first_hits: str,
        shape: tuple[int, int],
        surfaces: bool = False,
        counting: bool = False,
    ) -> Key:
        """The key of the machine for a `program` of pictures, in streams of a ``shape`` (width, height)."""
        make, form = self._program_form(settings, surfaces)
        identity = ("picture", make, surfaces, first_hits, tuple(form.items()))
        return self.key(identity, program, settings, shape, counting)

    def key(
        self,
        identity: tuple[Any, ...],
        program: Program,
        settings: Settings,
        shape: tuple[int, int],
        counting: bool = False,
    ) -> Key:
        """The key of the machine for a program of this ``identity``."""
        tree = self.prepared.light_tree(settings)
        sampler = settings.sampler if "film" in program.inputs else ""
        camera = self.prepared.camera_moves(settings)
        projection = self.prepared.projection(settings)
        return Key(identity, shape, counting, settings.passes, sampler, tree and bool(sampler), camera, projection)

    # -- memory ----------------------------------------------------------------------------------------------------

    def upload(self, settings: Settings, prepared: PreparedScene | None = None) -> Iterator[float]:
        """Bring the memories of the scene, or of one that `show` will be given, to the device in pieces of a few
        milliseconds; yields the share that is done. Without it they are uploaded when the first picture needs them."""
        goal = prepared or self.prepared
        program = PICTURES[settings.program](self.traversal(settings, goal.structure), **_program_form(goal, settings))
        modules = self._linked(goal, program, settings).modules
        memories = [memory for module in modules for memory in module.memories]
        if (deforming := goal.structure.deforming) is not None:
            memories += input_tables(deforming, tables_of(modules))
        return self.device.steps(self.resources.upload(memories))

    def discard(self, prepared: PreparedScene) -> None:
        """Free the memories of a scene that `upload` has brought to the device, and that will not be shown."""
        in_use = {id(memory) for module in self.prepared.made() for memory in module.memories}
        with self.device.current():
            unused = [m for module in prepared.made() for m in module.memories if id(m) not in in_use]
            deforming = prepared.structure.deforming
            if deforming is not None and deforming is not self.structure.deforming:
                unused += [*deforming.poses.tables, *deforming.trees.tables]
            self.resources.drop(unused)

    def release(self) -> None:
        """Free streams and memories."""
        self._register_instances(None)
        with self.device.current():
            self.machines.release()
            self.raster.release()
            self._release_build()
            if self.deformer is not None:
                self.deformer.release()
            self.resources.release()

    def info(self, settings: Settings, camera: Camera) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        linked = self.bind(self.program(settings, self.first_hits(settings, camera).mode), settings)
        self._build(timed=True)  # once more, as in each frame: without compiling
        with self.device.current():
            for _ in self.resources.upload(memory for module in linked.modules for memory in module.memories):
                pass
        bytes_by_kind = self.resources.bytes()
        stream_bytes = {name: 16 * record.texels for name, record in linked.records.items()}
        return {
            "gpu memory": {**bytes_by_kind, "total": sum(bytes_by_kind.values())},
            "stream bytes per ray": {**stream_bytes, "total": sum(stream_bytes.values())},
            self.structure.name: {**self.structure.facts, **self.structure.statistics},
        }


def _program_form(prepared: PreparedScene, settings: Settings) -> dict[str, Any]:
    """The keywords that the chosen program is made with, but traversal and first hits: see `Settings.form`."""
    return settings.form(
        dispersion=prepared.dispersive,
        volumes=prepared.absorbing,
        nested=prepared.nested,
        apart=prepared.wide,
        layered=prepared.surfaces.principled,
        resampled=prepared.light_candidates(settings) > 1,
        together=prepared.surfaces.principled and settings.machine == "singlepass" and settings.final_gather > 0,
        moving=prepared.moving or prepared.camera_moves(settings),
        backdrop=prepared.backdrop,
    )
