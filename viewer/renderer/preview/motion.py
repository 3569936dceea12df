"""Pictures in motion: their settings, the parts of an earlier picture that still hold after changes of the scene, and
vertices of the pose before, for motion vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from raystream.denoise.records import FLOW, HISTORY, LIT, POINT, view_uniforms
from raystream.denoise.reprojection import INPUTS as HISTORY_INPUTS
from raystream.denoise.reprojection import MOST_MOVED, Changes
from raystream.kernels.records import FEATURES, VERTEX
from raystream.options.declare import Affects
from raystream.options.table import names_of_part
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.scene_diff import scene_changes
from raystream.renderer.inputs.settings import VIEW, Settings
from raystream.renderer.preview.scheduler import SHORT_PATHS
from raystream.scene.camera import Camera
from raystream.stream.compile.memories import tables_of
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import Pass, TablePass, pass_source, table_pass_source
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import NamedStreams, Stream

LIGHT = frozenset(names_of_part("light"))  # options by which light falls otherwise


def of_motion(settings: Settings) -> Settings:
    """The settings of pictures of a moving camera: through the pixels' centres, so that their surfaces stand still, and
    with paths that end soon, where chance may end them: short ones give more pixels in the same time."""
    if settings.roulette_from is None or settings.roulette != "auto":
        return settings.replace(pixel_filter="point")
    return settings.replace(pixel_filter="point", roulette=SHORT_PATHS)


def changes(before: PreparedScene, settings_before: Settings, now: PreparedScene, settings: Settings) -> Changes | None:
    """From one picture to the next; None where they have nothing to do with each other, as in another environment."""
    differences = settings_before.differences(settings)
    other = {name for name, affects in differences.items() if affects > Affects.MACHINE}.difference(VIEW)
    if not other <= LIGHT - {"environment"} or before.structure.levels != now.structure.levels:
        return None
    edit = scene_changes(before.scene, now.scene)
    if not edit.same_scene or edit.geometry or edit.attributes or len(edit.moved) > MOST_MOVED:
        return None
    flat, moved = now.structure.levels == 1, []
    for index in edit.moved.tolist():
        was, is_ = before.scene.instances[index].transform, now.scene.instances[index].transform
        try:
            matrix = np.asarray(was, np.float64) @ np.linalg.inv(np.asarray(is_, np.float64))
        except np.linalg.LinAlgError:  # flattened: a point of it has been in many places
            return None
        first, end = (int(now.starts[index]), int(now.starts[index + 1])) if flat else (index, index + 1)
        moved.append((first, end, matrix))
    relit = bool(other) or edit.lights or edit.materials or edit.textures
    return Changes(moved, flat, bool(edit.posed), relit)


INPUTS = {"lit": LIT, "features": FEATURES, "now": POINT, "past": POINT}


def posed_motion_sources(prepared: PreparedScene, resources: Resources) -> Iterator[tuple[str, Source]]:
    """The fragment programs for a scene that deforms, by name."""
    yield "point_of", pass_source("film/denoise/point_of", {"posed": VERTEX}, POINT)
    yield "flow", table_pass_source(_modules(prepared), INPUTS, FLOW, resources, planar=True)
    yield "reproject", pass_source("film/denoise/reproject", HISTORY_INPUTS, HISTORY, True, ("POSED",))


def _modules(prepared: PreparedScene) -> tuple[Module, ...]:
    """Inputs of the motion vectors from a scene."""
    tables = tables_of(prepared.modules())
    return (Module("flow", (), "film/denoise/flow.glsl", (tables["faces"], tables["instances"])),)


class PosedMotion:
    """The vertices of two pictures' poses; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._save_pass: Pass | None = None  # made where objects deform
        self._flow: tuple[tuple[int, ...], TablePass] | None = None  # by the memories that it reads
        self._past, self._now = NamedStreams(device), NamedStreams(device)
        self._saved = self._past_saved = False  # the vertices of the picture that is being made, and of the one before

    def advance(self) -> None:
        """Another picture: the last pose saved is the one before its own."""
        self._past, self._now = self._now, self._past
        self._past_saved, self._saved = self._saved, False

    def save_vertices(self, scene: GpuScene) -> None:
        """Save the vertices of the pose on show, where objects deform; rays of the picture have been traced."""
        posed = scene.posed
        if posed is not None and not self._saved:
            if self._save_pass is None:
                self._save_pass = Pass(self.device, "film/denoise/point_of", {"posed": VERTEX}, POINT)
            self._save_pass.draw({"posed": posed}, self._now.get("points", POINT, posed.size))
            self._saved = True

    def flow(self, scene: GpuScene, light: Stream, features: Stream, camera: Camera) -> Stream | None:
        """A stream of `FLOW` of a picture's pixels, seen by ``camera``; None where the pose before is not known."""
        if not (self._saved and self._past_saved) or self._past["points"].size != self._now["points"].size:
            return None
        flow_stream = self._now.get("flow", FLOW, light.size)
        streams = {"lit": light, "features": features, "now": self._now["points"], "past": self._past["points"]}
        deforming = scene.structure.deforming
        assert deforming is not None
        values: dict[str, Any] = {"eye": tuple(map(float, camera.origin)), "points": len(deforming.poses.rest.data)}
        values |= view_uniforms(camera, light.size)
        self._pass(scene.prepared, scene.resources).draw(streams, flow_stream, **values)
        return flow_stream

    def _pass(self, prepared: PreparedScene, resources: Resources) -> TablePass:
        modules = _modules(prepared)
        key = tuple(map(id, modules[0].memories))
        if self._flow is None or self._flow[0] != key:
            self._flow = key, TablePass(self.device, resources, modules, INPUTS, FLOW, planar=True)
        return self._flow[1]

    def release(self) -> None:
        """Free the streams."""
        self._past.release()
        self._now.release()
        self._saved = self._past_saved = False
