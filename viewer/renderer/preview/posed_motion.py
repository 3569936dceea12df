"""Where the points of deforming objects were in the picture before: the vertices of its pose are kept."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.denoise.named_streams import NamedStreams
from viewer.denoise.records import FLOW, HISTORY, LIT, POINT
from viewer.denoise.reprojection import POSED_INPUTS
from viewer.denoise.view import view_uniforms
from viewer.kernels.records import FEATURES, VERTEX
from viewer.renderer.device.gpu_scene import GpuScene
from viewer.renderer.inputs.prepared import PreparedScene
from viewer.scene.camera import Camera
from viewer.stream.compile.memories import tables_of
from viewer.stream.compile.source import Source
from viewer.stream.declare.kernel import Module
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass, pass_source
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.rows import TablePass, table_pass_source
from viewer.stream.gl.stream import Stream

INPUTS = {"lit": LIT, "features": FEATURES, "now": POINT, "past": POINT}


def posed_motion_sources(prepared: PreparedScene, resources: Resources) -> Iterator[tuple[str, Source]]:
    """The fragment programs for a scene that deforms, by name."""
    yield "point_of", pass_source("film/denoise/point_of", {"posed": VERTEX}, POINT)
    yield "flow", table_pass_source(_modules(prepared), INPUTS, FLOW, resources, planar=True)
    yield "reproject", pass_source("film/denoise/reproject", POSED_INPUTS, HISTORY, True, ("POSED",))


def _modules(prepared: PreparedScene) -> tuple[Module, ...]:
    """Inputs of the motion vectors from a scene."""
    tables = tables_of(prepared.modules())
    return (Module("flow", (), "film/denoise/flow.glsl", (tables["faces"], tables["instances"])),)


class PosedMotion:
    """The vertices of two pictures' poses; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._keep: Pass | None = None  # made where objects deform
        self._flow: tuple[tuple[int, ...], TablePass] | None = None  # by the memories that it reads
        self._past, self._now = NamedStreams(device), NamedStreams(device)
        self._kept = self._known = False  # the vertices of the picture that is being made, and of the one before

    def turn(self) -> None:
        """The last pose kept is the one before the next."""
        self._past, self._now = self._now, self._past
        self._known, self._kept = self._kept, False

    def keep(self, scene: GpuScene) -> None:
        """Keep the vertices of the pose on show, where objects deform; rays of the picture have been traced."""
        posed = scene.posed
        if posed is not None and not self._kept:
            if self._keep is None:
                self._keep = Pass(self.device, "film/denoise/point_of", {"posed": VERTEX}, POINT)
            self._keep.draw({"posed": posed}, self._now.get("points", POINT, posed.size))
            self._kept = True

    def flow(self, scene: GpuScene, lit: Stream, features: Stream, camera: Camera) -> Stream | None:
        """A stream of `FLOW` of a picture's pixels, seen by ``camera``; None where the pose before is not known."""
        if not (self._kept and self._known) or self._past["points"].size != self._now["points"].size:
            return None
        made = self._now.get("flow", FLOW, lit.size)
        streams = {"lit": lit, "features": features, "now": self._now["points"], "past": self._past["points"]}
        deforming = scene.structure.deforming
        assert deforming is not None
        values = {"eye": tuple(map(float, camera.origin)), "points": len(deforming.poses.rest.data)}
        self._pass(scene.prepared, scene.resources).draw(streams, made, **view_uniforms(camera, lit.size), **values)
        return made

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
        self._kept = self._known = False
