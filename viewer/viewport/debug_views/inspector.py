"""The inspector: the stream processor pass by pass, each of its streams as a picture."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.cameras.lens import lens_uniforms
from raystream.options import table as options
from raystream.options.declare import suggestion
from raystream.options.tracing import PHOTONS
from raystream.options.values import PolicyChoice, Unroll
from raystream.renderer.inputs.camera import sampled_lens
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.picture import COUNTER_LAYERS
from raystream.scene.camera import Camera
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.program import Call
from raystream.stream.declare.record import COMPONENTS, Field
from raystream.stream.machines.common import RunProgress
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Policy
from raystream.stream.machines.policy import policy as make_policy
from raystream.viewport.debug_views import false_color
from raystream.viewport.debug_views.false_color import Color, FalseColorPicture, Label, state_colors

# -- the dissertation's machine, counting, one kernel pass at a time ---------------------------------------------------


class SingleStep:
    """Another policy's choices, one step at a time, so that the machine stops after every pass."""

    counts: ClassVar[bool] = True

    def __init__(self, inner: Policy) -> None:
        self.inner = inner
        self._ahead: list[int] = []

    def choose(self, waiting: Sequence[int], total: int) -> list[int]:
        """The next step of the round with a waiting ray."""
        while True:
            while self._ahead:
                step = self._ahead.pop(0)
                if step < len(waiting) and waiting[step]:  # a round may outlast its loop
                    return [step]
            self._ahead = list(self.inner.choose(waiting, total))


def program_form(renderer: Renderer) -> tuple[Any, ...]:
    """The key of machines for the renderer's program, besides size and schedule."""
    settings = renderer.settings
    return settings.picture_program, settings.sampler, *settings.form().items()


def single_step(renderer: Renderer, size: tuple[int, int], policy: PolicyChoice, unroll: Unroll) -> Multipass:
    """The machine for the renderer's program over streams of ``size`` (width, height), independent of the window's own.

    Every pass is compiled in advance, so that no step is slow.
    """
    # First hits by rays, whose passes are visible.
    by_rays = renderer.program(settings=renderer.settings.replace(first_hits="rays", eye_rays="each"))
    machine = Multipass(
        renderer.device,
        renderer.gpu_scene.bind(by_rays, renderer.settings, stepwise=True),
        size,
        renderer.gpu_scene.resources,
        counting=True,
        fuse="none",
        policy=SingleStep(make_policy(policy.name, policy.share, policy.of)),
        unroll="auto" if unroll.counts is None else unroll.counts,
    )
    for _ in machine.warm():
        pass
    return machine


def load_camera_rays(
    machine: Multipass,
    renderer: Renderer,
    camera: Camera,
    size: tuple[int, int],
    corner: tuple[int, int] = (0, 0),
    centred: bool = False,
) -> None:
    """Set the machine's rays to the pixels of the renderer's picture of ``size``, from ``corner`` (column, row) on, at
    the first sample of a progressive program. ``centred``: through the centres of pixel and lens, regardless of
    filter and aperture, like all layers of a picture.

    Raises ViewerError for a program that does not start from pixels.
    """
    inputs = machine.linked.program.inputs
    if "pixel" not in inputs:
        name = machine.linked.program.name
        raise ViewerError(f"program {name}", "does not start from pixels", "choose a program that makes pictures")
    lens, pixel_filter = sampled_lens(renderer.settings, camera)
    machine.set(lens_uniforms(camera.with_lens(0.0) if centred else lens, size, "point" if centred else pixel_filter))
    shared, program = renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared, machine.linked.program
    machine.set(renderer.prepared.sample_uniforms(program, renderer.settings, shared))
    width, height = machine.size
    photons = renderer.photon_map.streams
    if "photons" in inputs:
        if not photons:
            raise ViewerError("program photon", "its photon map is missing", "render a picture first")
        machine.borrow(photons)
        machine.set(renderer.photon_map.uniforms(renderer.settings, camera, size[1]))
    for name in inputs:
        if name in photons:
            continue
        elements = np.zeros((height, width), machine.linked.records[name].dtype)
        if name == "pixel":
            y, x = np.mgrid[:height, :width]
            elements["at"] = np.stack([x, y], axis=-1) + corner
        machine.write(name, elements)


# -- viewable channels of a machine's streams, derived from the program and its records alone --------------------------

Calls = Mapping[str, NDArray[np.int32]]

COLOR_UNIT = "linear sRGB"
UNIT_VECTOR = "unit length"


@dataclass(frozen=True)
class Channel:
    """One viewable picture.

    name  : ``state``, ``steps``, ``traversal.voxel``, ``traversal.voxel.x``. group : its stream or other heading. kind
    : ``state``, ``count``, ``identity``, ``quantity``, ``vector`` or ``color``. The rest locates the values: a field of
    a stream, possibly one component, or a state whose calls are counted.
    """

    name: str
    group: str
    kind: str
    unit: str = ""
    about: str = ""
    stream: str = ""
    field: str = ""
    component: int | None = None
    counted: str = ""


# Derived from several fields.
RUNNING = Channel(
    "estimate.radiance",
    "estimate",
    "color",
    COLOR_UNIT,
    "running estimate: powers so far over the disc that holds them",
    stream="estimate",
)


def channels(linked: LinkedProgram, stored: Iterable[str]) -> dict[str, Channel]:
    """Channels by name: the state, the counts, and every field of the ``stored`` streams, wide ones also by
    component."""
    listed = [Channel("state", "state", "state", about="the ray's next state", field="at")]
    if any(isinstance(t, Call) for s in linked.program.states for t in s.exits.values()):
        listed.append(Channel("return", "state", "state", about="state after a RETURN", field="back"))
    for layer, state in COUNTER_LAYERS.items():
        if state in linked.program.by_name:
            listed.append(Channel(layer, "counts", "count", layer, f"kernel calls in state {state}", counted=state))
    for state in linked.program.by_name:
        listed.append(Channel(f"calls.{state}", "counts", "count", "calls", "kernel calls in it", counted=state))
    for stream, record in linked.records.items():
        if stream in stored:
            for field in record.fields:
                listed += _field_channels(stream, field)
    listed += [RUNNING] if RUNNING.stream in stored else []
    return {channel.name: channel for channel in listed}


def gathered_streams(linked: LinkedProgram) -> frozenset[str]:
    """Streams of any size gathered by kernels: their elements are not rays."""
    return frozenset(name for state in linked.program.states for name in state.gathers())


def running_radiance(elements: NDArray) -> NDArray:
    """The values of `RUNNING` from its stream's ``elements`` (H, W), structured."""
    square = elements["square"][..., None]
    area = np.where(square > 0, np.pi * square, 1.0)
    return np.where(square > 0, elements["sum"] / area, 0.0)


def present(elements: NDArray, cells: int) -> NDArray[np.bool_]:
    """(H, W): the valid elements of a gathered stream: stored photons, entries of a grid of ``cells`` cells, and one
    place for each cell."""
    names = elements.dtype.names or ()
    if "stored" in names:
        return np.asarray(elements["stored"] > 0)
    if "cell" in names:
        return np.asarray(elements["cell"] < cells)
    return np.arange(elements.size).reshape(elements.shape) < (cells if "first" in names else elements.size)


def _field_channels(stream: str, field: Field) -> list[Channel]:
    def channel(kind: str, component: int | None = None) -> Channel:
        suffix = "" if component is None else f".{COMPONENTS[component]}"
        name = f"{stream}.{field.name}{suffix}"
        return Channel(name, stream, kind, field.unit, field.about, stream, field.name, component)

    if field.width == 1:
        return [channel("identity" if field.integer and not field.unit else "quantity")]
    whole = "color" if field.unit == COLOR_UNIT and field.width == 3 else "vector"
    return [channel(whole), *(channel("quantity", k) for k in range(field.width))]


def written(linked: LinkedProgram, stream: str, calls: Calls, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """(H, W): whether a ray's element of a stream has been written, by the host or by one of the ray's kernel calls."""
    mask = np.full(shape, stream in linked.program.inputs)
    for state in linked.program.states:
        if stream in state.writes():
            mask |= calls[state.name] > 0
    return mask


def show(linked: LinkedProgram, channel: Channel, values: NDArray, valid: NDArray[np.bool_]) -> FalseColorPicture:
    """A channel in false colours by its values, (H, W) or (H, W, width), where they are ``valid`` (H, W)."""
    extent = (-1.0, 1.0) if channel.unit == UNIT_VECTOR else None
    if channel.kind == "state":
        colors = false_color.state_colors(tuple(linked.program.by_name))
        nowhere = "done" if channel.field == "at" else "done, or no call"
        labels = [Label(nowhere, false_color.DONE), *(Label(state, color) for state, color in colors.items())]
        return false_color.names(channel.name, values, labels, valid)
    if channel.kind == "count":
        return false_color.count(channel.name, values, valid, channel.unit)
    if channel.kind == "color":
        return false_color.color(channel.name, values, valid)
    if channel.kind == "identity":
        return false_color.identities(channel.name, values, valid)
    if channel.kind == "vector":
        return false_color.vector(channel.name, values, valid, channel.unit, extent)
    return false_color.quantity(channel.name, values, valid, channel.unit, extent)


# -- the kernels of the papers -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelCost:
    """A kernel's call: four-wide instructions, 32-bit words read and written between passes, and words fetched from
    memories."""

    kernel: str
    instructions: int
    read: int
    written: int
    fetched: int


# T. J. Purcell, Ray Tracing on a Stream Processor (2004), table 5.1, SIMD; kernels by the states that do their work.
PAPERS_PROGRAMS = "cast", "shadow", "whitted", "path"
PUBLISHED_COSTS = {
    **dict.fromkeys(("eye", "begin"), KernelCost("Generate Eye Ray", 28, 0, 5, 0)),
    "setup": KernelCost("Traverse: Setup", 38, 11, 12, 0),
    "traverse": KernelCost("Traverse: Step", 20, 14, 9, 1),
    "intersect": KernelCost("Intersect", 41, 14, 5, 10),
    **dict.fromkeys(("shade", "arrive"), KernelCost("Shade: Color", 36, 10, 3, 21)),
    "light": KernelCost("Shade: Shadow", 16, 11, 8, 0),
    "reflect": KernelCost("Shade: Reflected", 26, 11, 9, 9),
    "scatter": KernelCost("Shade: Path", 17, 14, 9, 9),
}


def stream_words(linked: LinkedProgram, state: str) -> tuple[int, int]:
    """32-bit words of streams that a call of a state's kernel reads and writes between passes."""
    called = linked.program.by_name[state]
    read, written = (
        sum(linked.records[stream].scalars for stream in streams) for streams in (called.reads(), called.writes())
    )
    return read, written


# -- the inspector -----------------------------------------------------------------------------------------------------

SIZE = (192, 108)


@dataclass(frozen=True)
class PassRecord:
    """One kernel pass: its number from 1, its state and that state's kernel, its rays (occlusion query), the rays
    waiting for each state before it, kernel calls (more than rays under unroll), and seconds."""

    number: int
    state: str
    kernel: str
    active: int
    waiting: dict[str, int]
    calls: int
    seconds: float


class Inspector:
    """Runs the renderer's program on ``multipass --fuse none`` at a small size, on any machine of the window.

    size   : (width, height) of the streams. policy, unroll : as the options of ``raystream render``; by default the
    plain machine of the dissertation. `begin` starts a run for a camera, `step` draws one pass.

    Raises ViewerError for a value out of range.
    """

    def __init__(
        self, renderer: Renderer, size: tuple[int, int] = SIZE, policy: Any = "threshold", unroll: Any = 1
    ) -> None:
        self.renderer = renderer
        self.size: tuple[int, int] = options.check("size", size)
        self.policy: PolicyChoice = options.check("policy", policy)
        self.unroll: Unroll = options.check("unroll", unroll)
        self.passes: list[PassRecord] = []
        self.channels: dict[str, Channel] = {}  # by name, the state first
        self._machine: Multipass | None = None
        self._machine_key: tuple[Any, ...] = ()
        self._run: Iterator[RunProgress] | None = None
        self._camera, self._photons = renderer.camera, self._photon_options()  # of the run
        self._start = (0, 0)
        self._waiting = {"done": 0}
        self._pictures: dict[str, FalseColorPicture] = {}
        self._read: dict[str, tuple[NDArray, NDArray[np.bool_]]] = {}

    # -- a run -----------------------------------------------------------------------------------------------------

    def begin(self, camera: Camera) -> None:
        """Start a run: every ray waits for the first state. Compiles the kernels if the program has changed."""
        with self.renderer.device.current():
            key, machine = program_form(self.renderer), self._machine
            if machine is None or self._machine_key != key:
                self.release()
                machine = self._machine = single_step(self.renderer, self.size, self.policy, self.unroll)
                self._machine_key, self.channels = key, channels(machine.linked, machine.streams)
            load_camera_rays(machine, self.renderer, camera, self.size)
        self._run = machine.run()
        self._camera, self._photons = camera, self._photon_options()
        self.passes = []
        self._start = machine.linked.start_indices()
        self._waiting = self._count(np.full(machine.rays, self._start[0]))
        self._pictures, self._read = {}, {}

    def _photon_options(self) -> tuple[Any, ...]:
        return tuple(self.renderer.settings[option.name] for option in PHOTONS)

    def step(self) -> bool:
        """Draw one kernel pass; False, without a draw, once no ray is left. Raises ViewerError before `begin`."""
        machine = self.machine
        if self._run is not None and self._photons != self._photon_options():
            self.begin(self._camera)  # the photon map that it borrowed may be gone
            machine = self.machine
        if self._run is None:
            return False
        with self.renderer.device.current():
            for _ in self._run:
                if machine.stats.kernel_passes > len(self.passes):
                    self._note()
                    return True
        self._run = None
        return False

    def _note(self) -> None:
        machine, done = self.machine, self.machine.stats.passes[-1]
        kernel = machine.linked.program.by_name[done.step].kernel.name
        waiting = {state: n for state, n in self._waiting.items() if state != "done"}
        number = len(self.passes) + 1
        self.passes.append(PassRecord(number, done.step, kernel, done.fragments, waiting, done.calls, done.seconds))
        self._waiting = self._count(machine.state.read()["at"].ravel())
        self._pictures, self._read = {}, {}

    def _count(self, state_indices: NDArray[np.integer]) -> dict[str, int]:
        counts = np.bincount(state_indices, minlength=1 + len(self.machine.linked.program.states))
        return dict(zip(("done", *self.machine.linked.program.by_name), map(int, counts), strict=True))

    def run_to_end(self, budget_seconds: float = float("inf")) -> bool:
        """Draw passes for ``budget_seconds``; returns whether the run is complete."""
        began = time.perf_counter()
        while self.step():
            if time.perf_counter() - began >= budget_seconds:
                break
        return self.complete

    def release(self) -> None:
        """Free the streams; the next `begin` makes new ones."""
        if self._machine is not None:
            with self.renderer.device.current():
                self._machine.release()
        self._machine, self._run = None, None

    # -- channels -------------------------------------------------------------------------------------------------

    @property
    def machine(self) -> Multipass:
        """The machine of the run."""
        if self._machine is None:
            raise ViewerError("inspector", "there is no run", "begin one")
        return self._machine

    @property
    def waiting(self) -> dict[str, int]:
        """Rays waiting for each state now, and finished ones."""
        return dict(self._waiting)

    @property
    def active(self) -> int:
        """Unfinished rays."""
        return self.machine.rays - self._waiting["done"]

    @property
    def complete(self) -> bool:
        """Whether every ray is done."""
        return self._machine is not None and self.active == 0

    @property
    def colors(self) -> dict[str, Color]:
        """Colour of each state: of its passes in a plot, and of its rays in the picture of states."""
        return state_colors(tuple(self.machine.linked.program.by_name))

    @property
    def active_share(self) -> float:
        """Average share of the rays in a pass of the run so far."""
        return self.machine.stats.active_share if self.passes else 0.0

    def per_state(self) -> dict[str, dict[str, float]]:
        """Passes, calls and seconds of each state, as `raystream.stream.machines.counters.Stats.per_step` has them."""
        return self.machine.stats.per_step() if self.passes else {}

    def published_cost(self, state: str) -> KernelCost | None:
        """The dissertation's cost of the kernel of a state, in a program of its own over a grid; else None."""
        of_papers = self.machine.linked.program.name in PAPERS_PROGRAMS and self.renderer.settings.accel == "grid"
        return PUBLISHED_COSTS.get(state) if of_papers else None

    def show(self, name: str) -> FalseColorPicture:
        """A channel in false colours after the last pass. Raises ViewerError for an unknown one."""
        if name not in self._pictures:
            self._pictures[name] = show(self.machine.linked, self._channel(name), *self.values(name))
        return self._pictures[name]

    def values(self, channel: str) -> tuple[NDArray, NDArray[np.bool_]]:
        """A channel's values (H, W) or (H, W, width), and the mask (H, W) of written ones."""
        if channel not in self._read:
            self._read[channel] = self._values(self._channel(channel))
        return self._read[channel]

    def _values(self, channel: Channel) -> tuple[NDArray, NDArray[np.bool_]]:
        machine = self.machine
        width, height = machine.size
        with self.renderer.device.current():
            if channel.kind == "state":
                valid = np.ones((height, width), bool)
                if not self.passes:
                    return np.full((height, width), self._start[channel.field == "back"]), valid
                return machine.state.read()[channel.field], valid
            nothing = np.zeros((height, width), np.int32)
            calls = machine.calls() if self.passes else dict.fromkeys(machine.linked.program.by_name, nothing)
            if channel.counted:
                return calls[channel.counted], np.ones((height, width), bool)
            elements = machine.streams[channel.stream].read()
        values = elements[channel.field] if channel.field else running_radiance(elements)
        values = values if channel.component is None else values[..., channel.component]
        if channel.stream in gathered_streams(machine.linked):
            return values, present(elements, self.renderer.photon_map.grid.cells)
        return values, written(machine.linked, channel.stream, calls, (height, width))

    def by_ray(self, channel: str) -> bool:
        """Whether a channel has a value per ray; else per element of a gathered stream."""
        return self._channel(channel).stream not in gathered_streams(self.machine.linked)

    def _channel(self, name: str) -> Channel:
        if name not in self.channels:
            raise ViewerError(f"channel '{name}'", "unknown", suggestion(name, self.channels))
        return self.channels[name]
