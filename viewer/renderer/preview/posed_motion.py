"""Where the points of deforming objects were in the picture before: the vertices of its pose are kept."""

from __future__ import annotations

from viewer.denoise.named_streams import NamedStreams
from viewer.denoise.records import FLOW, LIT, POINT
from viewer.denoise.view import view_uniforms
from viewer.kernels.records import FEATURES, VERTEX
from viewer.renderer.device.gpu_scene import GpuScene
from viewer.renderer.inputs.prepared import Prepared
from viewer.scene.camera import Camera
from viewer.stream.declare.kernel import Module, Table
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.rows import TablePass
from viewer.stream.gl.stream import Stream

INPUTS = {"lit": LIT, "features": FEATURES, "now": POINT, "past": POINT}


class PosedMotion:
    """The vertices of two pictures' poses; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._keep: Pass | None = None  # made where objects deform
        self._flow: tuple[tuple[int, ...], TablePass] | None = None  # by the memories that it reads
        self._past, self._now = NamedStreams(device), NamedStreams(device)
        self._kept = False  # the vertices of the picture that is being made

    def turn(self) -> None:
        """What was kept last is the pose before the next one."""
        self._past, self._now = self._now, self._past
        self._kept = False

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
        if not self._kept or "points" not in self._past or self._past["points"].size != self._now["points"].size:
            return None
        made = self._now.get("flow", FLOW, lit.size)
        streams = {"lit": lit, "features": features, "now": self._now["points"], "past": self._past["points"]}
        deforming = scene.structure.deforming
        assert deforming is not None
        values = {"eye": tuple(map(float, camera.origin)), "points": len(deforming.poses.rest.data)}
        self._pass(scene.prepared, scene.resources).draw(streams, made, **view_uniforms(camera, lit.size), **values)
        return made

    def _pass(self, prepared: Prepared, resources: Resources) -> TablePass:
        tables = [
            memory
            for module in prepared.made()
            for memory in module.memories
            if isinstance(memory, Table) and memory.name in ("faces", "instances")
        ]
        key = tuple(map(id, tables))
        if self._flow is None or self._flow[0] != key:
            module = Module("flow", (), "film/denoise/flow.glsl", tuple(tables))
            made = TablePass(self.device, resources, (module,), INPUTS, FLOW, planar=True)
            self._flow = key, made
        return self._flow[1]

    def release(self) -> None:
        """Free the streams."""
        self._past.release()
        self._now.release()
        self._kept = False
