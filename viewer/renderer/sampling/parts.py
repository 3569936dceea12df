"""The parts of a renderer, as sessions, previews and layers know them: `viewer.Renderer` itself drives a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from viewer.options.declare import Affects
from viewer.renderer.device.gpu_scene import GpuScene
from viewer.renderer.inputs.prepared import PreparedScene
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.motion_layer import PosedFrame
from viewer.renderer.photon_map.photon_map import PhotonMap
from viewer.renderer.sampling.sampler import Sampler
from viewer.scene.camera import Camera
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device
from viewer.stream.lock import FairLock


class RendererParts(Protocol):
    """See `viewer.Renderer`, which documents them."""

    settings: Settings
    camera: Camera
    gpu_scene: GpuScene
    photon_map: PhotonMap
    sampler: Sampler
    lock: FairLock
    last_frame: Callable[[], PosedFrame] | None

    @property
    def prepared(self) -> PreparedScene: ...
    @property
    def device(self) -> Device: ...
    @property
    def progressive(self) -> bool: ...
    def program(self, settings: Settings | None = None) -> Program: ...
    def update(self, scene: Any = None, settings: Settings | None = None, **changes: Any) -> Affects: ...
