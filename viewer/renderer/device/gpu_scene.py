"""A scene on a device: its structure, modules and machines, by settings; and the one `update` that changes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from viewer.accel.structures import Structure
from viewer.base.errors import ViewerError
from viewer.base.lock import FairLock, exclusive
from viewer.options.declare import Affects
from viewer.programs import LEVELS, PICTURES
from viewer.renderer.device.first_hits import FirstHits, RasterPass, first_hits
from viewer.renderer.device.limits import check_limits
from viewer.renderer.device.machine_pool import Key, MachinePool
from viewer.renderer.device.scene_upload import install
from viewer.renderer.inputs.camera import view
from viewer.renderer.inputs.lighting import scene_lighting
from viewer.renderer.inputs.prepared import Prepared, Report, adapted, agrees, arranged, keeps_structure, prepare
from viewer.renderer.inputs.scene_diff import SceneChanges, scene_changes
from viewer.renderer.inputs.settings import PREPARED, VIEW, Settings
from viewer.renderer.inputs.transforms import placed
from viewer.renderer.inputs.validate import Given, scene_given, settings_given
from viewer.scene.camera import Camera
from viewer.scene.geometry.triangles import Triangles
from viewer.scene.scene import Scene
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device, shared_device
from viewer.stream.gl.resources import Resources
from viewer.stream.jobs import Executor, Run
from viewer.stream.machines.common import Machine


class DeviceScene:
    """One scene on one device, by settings, with the machines that run programs over it. `update` alone changes it.

    Threads may share it: while one renders, traces or updates, the others wait for their turn.

    settings, scene, prepared, camera : as they are now; the camera follows from settings and scene.
    """

    def __init__(
        self,
        scene: Given,
        settings: Settings | None = None,
        *,
        device: int | Device | None = None,
        progress: Report | None = None,
        **options: Any,
    ) -> None:
        started = perf_counter()
        settings = settings_given(settings)
        if device is not None and not isinstance(device, Device):
            options["device"] = device
        Settings().replace(**options)  # a wrong one is told before a file is read
        scene = scene_given(scene)
        chosen = _chosen(settings or Settings(), scene, settings, options)
        if isinstance(scene, Prepared):
            self.prepared = scene if agrees(chosen, scene) else prepare(scene.given, chosen, progress, scene)
        else:
            self.prepared = prepare(scene, chosen, progress)
        check_limits(self.prepared, chosen)
        self.settings, self.camera = chosen, view(chosen, self.prepared.scene)
        self.device = device if isinstance(device, Device) else self._shared_device(chosen)
        self.resources = Resources(self.device)
        self._machines = MachinePool(self.device, self.resources, self.bind)
        self._raster = RasterPass(self.device, self.resources)
        self._executor = Executor(self.device, self.resources, self._machine_of)
        self.lock = FairLock(self.device.check)
        self._programs: dict[tuple[Any, ...], Program] = {}  # wired and checked once
        self.build_seconds = perf_counter() - started

    @staticmethod
    def _shared_device(settings: Settings) -> Device:
        return shared_device(settings.device, settings.barrier == "auto", settings.memory == "auto", settings.limits)

    def revive(self) -> None:
        """Begin anew on another context, where another library has ended the device's (see `Device.ended`)."""
        if self.device.ended:
            device, prepared, settings, lock = (
                self._shared_device(self.settings),
                self.prepared,
                self.settings,
                self.lock,
            )
            self.__dict__.clear()
            type(self).__init__(self, prepared, settings, device=device)
            self.lock = lock  # which is held

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
        """Remarks on first hits and traversal, and on lights and environment, where the program has lighting."""
        found = list(self.first_hits.notes)
        if self.prepared.recipe.traversal == "stack" and not self.device.array_stores:
            found.append(f"no stack on {self.device.name}, which stores into arrays at wrong places; octants instead")
        return [*found, *(self.prepared.lighting.notes if self.progressive else [])]

    # -- change ----------------------------------------------------------------------------------------------------

    @exclusive
    def update(
        self,
        scene: Given | None = None,
        settings: Settings | None = None,
        *,
        progress: Report | None = None,
        **changes: Any,
    ) -> Affects:
        """Show another scene, or the same by other settings; there is no other way to change anything.

        scene    : as of the renderer. An edit of the one on show shares what it leaves alone, and only the rest is done
                   anew: instances that move under a structure of two levels change its top level and their rows; lights
                   that keep number and kinds, materials that keep their kinds, and a picture around the scene that
                   turns change numbers in place, and nothing is compiled. It may be `prepare`d, as by a worker thread.
        settings : in place of those there are. changes : options by name, over them.

        Compares new values with old ones and redoes what they affect; returns the deepest. Pictures under way are to be
        abandoned. Raises ViewerError for an unknown option, a value out of range and a scene that does not fit; then
        nothing has changed.
        """
        self.revive()
        scene = None if scene is None else scene_given(scene)
        chosen = _chosen(self.settings, scene, settings_given(settings), changes)
        differences = self.settings.differences(chosen)
        fixed = [name for name, affects in differences.items() if affects == Affects.DEVICE]
        if fixed:
            raise ViewerError(f"option '{fixed[0]}'", "is fixed when the renderer is made", "make another Renderer")
        deepest = max(differences.values(), default=Affects.NOTHING)
        if scene is None and differences.keys().isdisjoint(PREPARED):
            check_limits(self.prepared, chosen)
            camera = view(chosen, self.scene) if not differences.keys().isdisjoint(VIEW) else self.camera
            self.settings, self.camera = chosen, camera
            return deepest
        goal = scene if isinstance(scene, Prepared) and agrees(chosen, scene) else None
        given = goal.given if goal is not None else self.prepared.given
        if isinstance(scene, Prepared):
            given = scene.given
        elif scene is not None:
            given = scene
        elif "ground" in differences:
            given = given.without_ground()  # where something has moved, it had become part of the scene
        if goal is not None:
            shown = goal.scene
        else:
            same = scene is None and differences.keys().isdisjoint(("light", "ground", "classic"))
            shown = self.scene if same else arranged(given, chosen)
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
        if goal is not None:
            check_limits(goal, settings)
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
            check_limits(goal, settings)
        with self.device.current():
            kept = install(before, goal, self.resources, self._machines)
            if not kept or goal.structure is not before.structure or len(edit.moved):
                self._raster.release()  # it holds textures of the scene's
            for table, first, last in rows or ():
                self.resources.update(table, first, last)
            for machine in self._machines.values() if rows else ():
                machine.set(before.structure.built.top.uniforms)
        self.prepared = goal
        if goal is not before:
            self._executor.abandon()

    @exclusive
    def move(self, transforms: ArrayLike | Mapping[int, ArrayLike]) -> None:
        """Put instances elsewhere: (I, 4, 4) for all, or a matrix (4, 4) for some by their numbers. The next picture
        shows it; the scene that was given stays as it is, `scene` is another one.

        A short word for `update` with ``scene.moved(...)``, in which everything else, lights and ``classic`` glass too,
        stays as it is now. Under a structure of two levels this takes a few milliseconds for a thousand instances; a
        flat structure, and one of two levels where a transformation is flat or nearly, is built anew. Programs are
        compiled anew for a grid of another resolution, and where objects under two levels change. Raises ViewerError
        for an unknown instance and for what is no transformation, or leads too far away; then nothing has moved.
        """
        numbers, matrices = placed(transforms, len(self.scene.instances))
        self.update(self.scene.moved(numbers, matrices), light=(), classic=False)

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
        form = tuple(_form(self.prepared, settings).items())
        return "picture", settings.program, surface, form, self._first_hits(settings, camera).mode

    def _machine_of(self, run: Run) -> Machine:
        key, settings = cast("tuple[Key, Settings]", run.key)
        return self._machines.take(run.program, key, settings, run.streams)

    def _key(
        self, what: tuple[Any, ...], shape: tuple[int, int], counting: bool, program: Program, settings: Settings
    ) -> Key:
        tree = self.prepared.light_tree(settings)
        sampler = settings.sampler if "film" in program.inputs else ""
        return Key(what, shape, counting, settings.passes, sampler, tree and bool(sampler))

    # -- programs --------------------------------------------------------------------------------------------------

    def program(self, layers: bool = False, settings: Settings | None = None, camera: Camera | None = None) -> Program:
        """The chosen program over the scene's structure; with ``layers`` the ray caster that leaves surfaces, too."""
        chosen = settings or self.settings
        make = PICTURES["cast" if layers else chosen.program]
        form = {"layers": True} if layers else _form(self.prepared, chosen)
        mode = self._first_hits(chosen, camera or self.camera).mode
        what = (make, self.structure.levels, mode, *form.items())
        if what not in self._programs:
            self._programs[what] = make(LEVELS[self.structure.levels], first_hits=mode, **form)
        return self._programs[what]

    def bind(self, program: Program, stepwise: bool | None = None, settings: Settings | None = None) -> LinkedProgram:
        """A program with the scene's modules: for passes of one kernel each where ``stepwise``, which the settings
        (without, the tracer's) tell where it is None."""
        return self._linked(self.prepared, program, stepwise, settings or self.settings)

    def _linked(self, prepared: Prepared, program: Program, stepwise: bool | None, settings: Settings) -> LinkedProgram:
        stepwise = settings.stepwise if stepwise is None else stepwise
        if prepared.structure.whole == "stack" and not self.device.array_stores:
            prepared.structure.without_stack()
        sampled = not {"film", "features", "path"}.isdisjoint((*program.inputs, *program.results))
        modules = prepared.modules(stepwise, sampled, settings.sampler, prepared.light_tree(settings))
        linked = LinkedProgram(program, modules)
        return linked if stepwise else linked.inlined()

    # -- memory ----------------------------------------------------------------------------------------------------

    def upload(self, prepared: Prepared | None = None) -> Iterator[float]:
        """Bring the memories of the scene, or of one that `update` will be given, to the device in pieces of a few
        milliseconds; yields the share that is done.

        Without it they are uploaded when the first picture needs them.
        """
        coming = prepared or self.prepared
        program = PICTURES[self.settings.program](LEVELS[coming.structure.levels], **_form(coming, self.settings))
        modules = self._linked(coming, program, None, self.settings).modules
        return self.resources.upload(memory for module in modules for memory in module.memories)

    @exclusive
    def discard(self, prepared: Prepared) -> None:
        """Free the memories that `upload` has brought for a scene which will not be shown."""
        kept = {id(memory) for module in self.prepared.made() for memory in module.memories}
        with self.device.current():
            gone = [m for module in prepared.made() for m in module.memories if id(m) not in kept]
            self.resources.drop(gone)

    @exclusive
    def reload(self) -> None:
        """Compile the shaders anew from their files. Runs under way end with the old ones: abandon them.

        Raises ShaderError where one does not compile; the old ones then stay.
        """
        self._machines.reload()
        self._raster.release()
        self._executor.abandon()

    @exclusive
    def release(self) -> None:
        """Free streams and memories; the tracer is of no use any more."""
        with self.device.current():
            self._machines.release()
            self._raster.release()
            self.resources.release()

    @exclusive
    def info(self) -> dict[str, Any]:
        """GPU memory by part in bytes, of the scene and of the streams per ray, and the structure's statistics."""
        self.revive()
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


def _form(prepared: Prepared, settings: Settings) -> dict[str, Any]:
    """What the chosen program takes beside traversal and first hits."""
    single = prepared.look.principled and settings.machine == "singlepass"
    return settings.form(
        dispersion=prepared.dispersive,
        volumes=prepared.absorbing,
        nested=prepared.nested,
        apart=prepared.wide,
        resampled=prepared.light_candidates(settings) > 1,
        light_tree=prepared.light_tree(settings),
        together=single and settings.final_gather > 0,
    )


def _chosen(
    now: Settings, scene: Scene | Prepared | None, settings: Settings | None, changes: Mapping[str, Any]
) -> Settings:
    """The settings asked for: by which a scene was prepared hold with it, unless others are given."""
    if settings is None and isinstance(scene, Prepared):
        now = now.replace(**{name: scene.settings[name] for name in PREPARED})
    return (settings or now).replace(**changes)
