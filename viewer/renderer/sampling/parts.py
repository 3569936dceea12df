"""The parts of a renderer, as sessions, previews and layers know them: `raystream.Renderer` itself drives a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from raystream.options.declare import Affects
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.inputs.hit_attributes import PosedFrame
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.photon_map import PhotonMap
from raystream.renderer.sampling.sampler import Sampler
from raystream.scene.camera import Camera
from raystream.stream.declare.program import Program
from raystream.stream.gl.device import Device
from raystream.stream.lock import FairLock

if TYPE_CHECKING:
    from typing import Unpack

    from raystream.options.typed import RendererKeywords


class RendererParts(Protocol):
    """See `raystream.Renderer`, which documents them."""

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
    def update(
        self, scene: Any = None, settings: Settings | None = None, **changes: Unpack[RendererKeywords]
    ) -> Affects: ...
