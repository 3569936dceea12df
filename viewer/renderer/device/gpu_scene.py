"""One prepared scene on one device: memory, machines, the raster pass and the executor of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.accel.structures import Structure
from viewer.film.device_film import Pixels
from viewer.programs import LEVELS, PICTURES
from viewer.renderer.device.first_hits import FirstHits, RasterPass, first_hits
from viewer.renderer.device.machine_pool import Key, MachinePool, ways
from viewer.renderer.device.scene_upload import replace_scene
from viewer.renderer.inputs.prepared import Prepared
from viewer.renderer.inputs.settings import Settings
from viewer.scene.camera import Camera
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.jobs import Executor
from viewer.stream.selftest.ways import device_notes, settle, stack_note

_VERSIONS = count(1)


class GpuScene:
    """A prepared scene on a device. Settings and cameras come with each call.

    Where a context ends (see `Device.ended`), another one is made.

    version : of what is on the device: a number that no other scene has, and none before a change of scene or shaders.
    """

    def __init__(self, device: Device, prepared: Prepared) -> None:
        settle(device)
        self.device, self.prepared, self.version = device, prepared, next(_VERSIONS)
        self.resources = Resources(device)
        self.machines = MachinePool(device, self.resources, self.bind)
        self.raster = RasterPass(device, self.resources)
        self.executor = Executor(device, self.resources, self.machines.machine_of)
        self._programs: dict[tuple[Any, ...], Program] = {}  # wired and checked once

    @property
    def structure(self) -> Structure:
        """The acceleration structure."""
        return self.prepared.structure

    @cached_property
    def pixels(self) -> Pixels:
        """The pass that fills a stream of pixels."""
        with self.device.current():
            return Pixels(self.device)

    def first_hits(self, settings: Settings, camera: Camera) -> FirstHits:
        """How a program finds its first hits."""
        return first_hits(settings, self.prepared, camera, self.device.software)

    def fallbacks(self, settings: Settings) -> list[str]:
        """A line for each self-test that the driver fails, and what is done in place of what the settings ask for."""
        stack = stack_note(self.device) if self.prepared.recipe.traversal == "stack" else []
        return [*device_notes(self.device), *ways(self.device, settings).notes, *stack]

    # -- change ----------------------------------------------------------------------------------------------------

    def show(self, goal: Prepared, moved: NDArray[np.intp], rebuilt: Callable[[], Prepared]) -> None:
        """Put ``goal`` in the place of the scene on show. Pictures under way are to be abandoned.

        moved : numbers of the instances that stand elsewhere. rebuilt : prepares the same scene with a structure of its
        own, where the objects under two levels must change, too. Raises ViewerError for a transformation that does not
        fit; then nothing has changed.
        """
        before, rows = self.prepared, None
        if goal.structure is before.structure and len(moved) and before.structure.levels == 2:
            transforms = np.array([goal.scene.instances[number].transform for number in moved.tolist()])
            rows = before.structure.built.move(moved, transforms)  # the last that may fail
            if rows is None:
                goal = rebuilt()
        with self.device.current():
            kept = replace_scene(before, goal, self.resources, self.machines)
            if not kept or goal.structure is not before.structure or len(moved):
                self.raster.release()  # it holds textures of the scene's
            for table, first, last in rows or ():
                self.resources.update(table, first, last)
            for machine in self.machines.values() if rows else ():
                machine.set(before.structure.built.top.uniforms)
        if goal is not before:
            self.prepared = goal
            self._changed()

    def reload(self) -> None:
        """Compile the shaders anew from their files. Raises ShaderError where one does not compile; the old ones then
        stay."""
        self.machines.reload()
        self.raster.release()
        self._changed()

    def _changed(self) -> None:
        self.version = next(_VERSIONS)
        self.executor.abandon()

    # -- programs --------------------------------------------------------------------------------------------------

    def program(self, settings: Settings, first_hits: str, surfaces: bool = False) -> Program:
        """The program of the settings over the scene's structure; with ``surfaces`` the ray caster that leaves them.

        first_hits : the mode, as of `FirstHits`.
        """
        make = PICTURES["cast" if surfaces else settings.program]
        form = {"layers": True} if surfaces else _form(self.prepared, settings)
        what = (make, self.structure.levels, first_hits, *form.items())
        if what not in self._programs:
            self._programs[what] = make(LEVELS[self.structure.levels], first_hits=first_hits, **form)
        return self._programs[what]

    def bind(self, program: Program, settings: Settings, stepwise: bool | None = None) -> LinkedProgram:
        """A program with the scene's modules: for passes of one kernel each where ``stepwise``, which the settings tell
        where it is None."""
        return self._linked(self.prepared, program, settings, stepwise)

    def _linked(
        self, prepared: Prepared, program: Program, settings: Settings, stepwise: bool | None = None
    ) -> LinkedProgram:
        stepwise = settings.stepwise if stepwise is None else stepwise
        if prepared.structure.whole == "stack" and not self.device.array_stores:
            prepared.structure.without_stack()
        sampled = not {"film", "features", "path"}.isdisjoint((*program.inputs, *program.results))
        camera = prepared.camera_moves(settings)
        modules = prepared.modules(stepwise, sampled, settings.sampler, prepared.light_tree(settings), camera)
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
        form = tuple(_form(self.prepared, settings).items())
        return self.key(("picture", settings.program, surfaces, form, first_hits), program, settings, shape, counting)

    def key(
        self,
        what: tuple[Any, ...],
        program: Program,
        settings: Settings,
        shape: tuple[int, int],
        counting: bool = False,
    ) -> Key:
        """The key of the machine for a program that ``what`` tells from others."""
        tree = self.prepared.light_tree(settings)
        sampler = settings.sampler if "film" in program.inputs else ""
        camera = self.prepared.camera_moves(settings)
        return Key(what, shape, counting, settings.passes, sampler, tree and bool(sampler), camera)

    # -- memory ----------------------------------------------------------------------------------------------------

    def upload(self, settings: Settings, prepared: Prepared | None = None) -> Iterator[float]:
        """Bring the memories of the scene, or of one that `show` will be given, to the device in pieces of a few
        milliseconds; yields the share that is done.

        Without it they are uploaded when the first picture needs them.
        """
        coming = prepared or self.prepared
        program = PICTURES[settings.program](LEVELS[coming.structure.levels], **_form(coming, settings))
        modules = self._linked(coming, program, settings).modules
        return self.resources.upload(memory for module in modules for memory in module.memories)

    def discard(self, prepared: Prepared) -> None:
        """Free the memories that `upload` has brought for a scene which will not be shown."""
        kept = {id(memory) for module in self.prepared.made() for memory in module.memories}
        with self.device.current():
            gone = [m for module in prepared.made() for m in module.memories if id(m) not in kept]
            self.resources.drop(gone)

    def release(self) -> None:
        """Free streams and memories."""
        with self.device.current():
            self.machines.release()
            self.raster.release()
            self.resources.release()

    def info(self, settings: Settings, camera: Camera) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        linked = self.bind(self.program(settings, self.first_hits(settings, camera).mode), settings)
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


def _form(prepared: Prepared, settings: Settings) -> dict[str, Any]:
    """What the chosen program takes beside traversal and first hits."""
    single = prepared.look.principled and settings.machine == "singlepass"
    return settings.form(
        dispersion=prepared.dispersive,
        volumes=prepared.absorbing,
        nested=prepared.nested,
        apart=prepared.wide,
        resampled=prepared.light_candidates(settings) > 1,
        together=single and settings.final_gather > 0,
        moving=prepared.moving or prepared.camera_moves(settings),
    )
