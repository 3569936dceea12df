"""Masks: how a pass runs on just the rays in its state. Each is one class behind a small interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import moderngl

from viewer.stream.compile.generate import VERSION
from viewer.stream.compile.link import LinkedProgram, Step
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Drawing, Shader, Tiles
from viewer.stream.gl.stream import Stream

# Exact in float32, and rounded alike from the fragment program and from the quad; room for 255 steps.
DEPTH_OF_STEP = 1.0 / 256.0


def step_source(linked: LinkedProgram, steps: Sequence[Step], name: str, **constants: float | int) -> Source:
    """A program of ``shaders/stream`` that asks ``step_of(state)``: 0 is done, then the steps in order."""
    source = Source()
    source.add(VERSION, "version")
    for constant, value in constants.items():
        source.add(f"const {'int' if isinstance(value, int) else 'float'} {constant} = {value!r};", "constants")
    numbers = [0] * (linked.program.cut + 1)
    for number, step in enumerate(steps, 1):
        for state in step.states:
            numbers[linked.program.number(state)] = number
    if numbers[:-1] == list(range(linked.program.cut)):
        body = f"return state < {linked.program.cut} ? state : 0;"
    else:
        table = ", ".join(map(str, numbers))
        body = f"const int steps[{len(numbers)}] = int[{len(numbers)}]({table});\n    return steps[state];"
    source.add(f"int step_of(int state) {{\n    {body}\n}}", "steps of states")
    source.include(f"stream/{name}.glsl")
    return source


def census_sources(linked: LinkedProgram, steps: Sequence[Step], edge: int) -> list[Source]:
    """The census programs: each counts the rays of four steps."""
    return [step_source(linked, steps, "census", EDGE=edge, FIRST=first) for first in range(1, len(steps) + 1, 4)]


def stream_sources(linked: LinkedProgram, steps: Sequence[Step]) -> Iterator[tuple[str, Source]]:
    """Every program that multipass draws beside kernels, by name."""
    for mask in MASKS.values():
        if issubclass(mask, DepthMask):
            yield f"{mask.name} mask", mask.source(linked, steps)
    for number, source in enumerate(census_sources(linked, steps, 1)):
        yield f"census {number}", source


class Mask:
    """No mask: the kernel's program itself discards the other rays (what early-z buys is the difference)."""

    name = "none"
    discards = True  # the kernel's program looks at the state itself

    def __init__(
        self, device: Device, linked: LinkedProgram, steps: Sequence[Step], state: Stream, tiles: Tiles
    ) -> None:
        self.context, self.state = device.context, state
        self.depth: moderngl.Texture | None = None
        self.passes = 0

    def select(self, number: int) -> None:
        """Make ready for the pass of one step, by the rays' present states."""


class DepthMask(Mask):
    """A ray's step becomes its depth; a kernel's quad at the depth of its step, with GL_EQUAL, meets only its rays.

    Purcell 2004, section 3.3.3.
    """

    name = "depth"
    discards = False

    def __init__(
        self, device: Device, linked: LinkedProgram, steps: Sequence[Step], state: Stream, tiles: Tiles
    ) -> None:
        super().__init__(device, linked, steps, state, tiles)
        self.depth = device.context.depth_texture(state.size)
        self.target = device.context.framebuffer(depth_attachment=self.depth)
        self.drawing = Drawing(device, Shader(device, self.source(linked, steps)), tiles)
        self.drawing.shader.set("depth", 0.5)

    @classmethod
    def source(cls, linked: LinkedProgram, steps: Sequence[Step]) -> Source:
        """The mask's fragment program."""
        return step_source(linked, steps, f"mask_{cls.name}", DEPTH_OF_STEP=DEPTH_OF_STEP)

    def select(self, number: int) -> None:
        """Give every ray the depth of its step; the kernel's quad picks one."""
        self._draw()

    def _draw(self) -> None:
        self.target.use()
        self.target.depth_mask = True
        self.context.enable(moderngl.DEPTH_TEST)
        self.context.depth_func = "1"  # always
        self.drawing.shader.bind("in_state", self.state.textures[0])
        self.drawing.render()
        self.passes += 1


class KillMask(DepthMask):
    """A pass for each step that discards the other rays; the depth comes from the quad.

    On some GPUs a program that writes gl_FragDepth switches coarse depth culling off.
    """

    name = "kill"

    def select(self, number: int) -> None:
        """Clear, and give the step's depth to its rays."""
        self.target.clear(depth=1.0)
        self.drawing.shader.set("serves", number)
        self.drawing.shader.set("depth", number * DEPTH_OF_STEP)
        self._draw()


MASKS: dict[str, type[Mask]] = {mask.name: mask for mask in (DepthMask, KillMask, Mask)}
