"""Self-tests of masks and of the multipass machine's loop: depth and stencil tests, occlusion queries, conditional
rendering."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from time import perf_counter

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing
from raystream.stream.gl.objects import ALL_BITS, ALWAYS, EQUAL, INCREASE_AND_WRAP, KEEP, REPLACE, Query, Stencil
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.mask import DEPTH_OF_STEP
from raystream.stream.selftest.check import (
    ABSENT,
    DIFFERS,
    FAIL,
    PASS,
    Check,
    Finding,
    draw,
    drawing,
    exact,
    render,
    source,
    stream,
    texels,
    worst,
)

SIZE = (48, 40)  # of masks: odd blocks of every hierarchical depth buffer
STEPS = (*range(0, 14), *range(248, 256))  # of the 256 that a mask may tell apart
ALWAYS_PASSES = "1"  # depth function
HEAVY = (256, 256)  # fragments of a program that costs something
ITERATION_COUNTS, MIN_TIMED_SECONDS = (16, 128, 1024, 8192), 5e-3  # its loop: the first count that takes so long
MAX_CULLED_COST = 0.25  # fraction of its cost below which fragments are culled before their program
REPETITIONS = 6

_MARK = "uniform float number;\nvoid main() { out_0 = vec4(number); }"
_HEAVY = """
uniform int rounds;
void main() {
    float x = fract(gl_FragCoord.x * 0.37 + gl_FragCoord.y * 0.73);
    for (int k = 0; k < rounds; k++) x = fract(x * 1.3 + sqrt(x + 0.01));
    out_0 = vec4(1.0 + x);
}"""


def step_numbers(size: tuple[int, int] = SIZE, steps: tuple[int, ...] = STEPS) -> NDArray[np.int64]:
    """(H, W) a step for every texel, scattered."""
    width, height = size
    return np.array(steps)[np.random.default_rng(5).integers(0, len(steps), (height, width))]


def states(device: Device, steps: NDArray[np.int64]) -> Stream:
    """The steps as a stream."""
    return stream(device, np.repeat(steps[..., None], 4, axis=2).astype(np.float32))


def mask_source(name: str) -> Source:
    """A mask's program where a state is its own step."""
    program = Source.begin()
    if name == "mask_stencil":
        program.add("#extension GL_ARB_shader_stencil_export : require", "extension")
    program.add_constants({"DEPTH_OF_STEP": DEPTH_OF_STEP})
    program.add("int step_of(int state) { return state; }", "self-test")
    program.include(f"stream/{name}.glsl")
    return program


class MarkedSteps:
    """A target with a depth buffer, on which passes write their step where a mask lets them."""

    def __init__(self, device: Device, steps: NDArray[np.int64]) -> None:
        self.device, self.steps, self.context = device, steps, device.context
        self.state = states(device, steps)
        self.marks = Stream(device, texels(1), self.state.size)
        self.depth = self.context.depth_texture(self.state.size)
        self.masked = self.context.framebuffer(depth_attachment=self.depth)
        self.target = self.context.framebuffer(self.marks.textures, self.depth)
        self.target.depth_mask = False
        self.mark = drawing(device, source(_MARK))
        self.masks: dict[str, Drawing] = {}
        self.marks.clear([(-1.0, -1.0, -1.0, -1.0)])

    def draw_mask(self, name: str, step: int, query: Query | None = None) -> None:
        """Draw a mask's program to the depth buffer, in a query."""
        if name not in self.masks:
            self.masks[name] = drawing(self.device, mask_source(name))
        mask = self.masks[name]
        self.masked.depth_mask = True
        self.masked.use()
        if name == "mask_kill":
            self.masked.clear(depth=1.0)
        self.context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        self.context.enable(moderngl.DEPTH_TEST)
        self.context.depth_func = ALWAYS_PASSES
        mask.shader.bind("in_state", self.state.textures[0])
        with query or nullcontext():
            render(mask, serves=step, depth=step * DEPTH_OF_STEP)
        self.context.disable(moderngl.DEPTH_TEST)

    def write(self, step: int, query: Query | None = None) -> None:
        """Write the step's number where the depth buffer has its depth."""
        self.target.use()
        self.context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        self.context.enable(moderngl.DEPTH_TEST)
        self.context.depth_func = "=="
        with query or nullcontext():
            render(self.mark, number=float(step), depth=step * DEPTH_OF_STEP)
        self.context.disable(moderngl.DEPTH_TEST)

    def count_wrong(self) -> int:
        """Texels without their own step's number."""
        return int((self.marks.read_texels()[:, :, 0, 0] != self.steps).sum())

    def release(self) -> None:
        """Free the textures."""
        for target in (self.state, self.marks, self.depth):
            target.release()


def depth_mask(device: Device) -> Finding:
    """Depths that a program writes select their texels, and no others (`raystream.stream.machines.mask.DepthMask`)."""
    marked = MarkedSteps(device, step_numbers())
    marked.draw_mask("mask_depth", 0)
    for step in STEPS:
        marked.write(step)
    wrong = marked.count_wrong()
    marked.release()
    return exact(wrong, marked.steps.size, "texels")


def kill_mask(device: Device) -> Finding:
    """Depths of a square that a program discards parts of (`raystream.stream.machines.mask.KillMask`)."""
    marked = MarkedSteps(device, step_numbers())
    for step in STEPS:
        marked.draw_mask("mask_kill", step)
        marked.write(step)
    wrong = marked.count_wrong()
    marked.release()
    return exact(wrong, marked.steps.size, "texels")


def stencil_mask(device: Device) -> Finding:
    """Stencil values set bit by bit, and at once where the driver can
    (`raystream.stream.machines.mask.StencilMask`)."""
    findings = [_stencil_mask(device, "mask_stencil_bit", [1 << bit for bit in range(8)])]
    if device.stencil_export:
        findings.append(_stencil_mask(device, "mask_stencil", [ALL_BITS]))
    return worst(*findings)


def _stencil_mask(device: Device, name: str, parts: Sequence[int]) -> Finding:
    marked = MarkedSteps(device, step_numbers())
    target = device.context.framebuffer(marked.marks.textures)
    stencil, mask = Stencil(device, target), drawing(device, mask_source(name))
    device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
    target.use()
    stencil.clear(0)
    target.color_mask = False, False, False, False
    mask.shader.bind("in_state", marked.state.textures[0])
    for bits in parts:
        target.use()
        with stencil.test(ALWAYS, ALL_BITS, REPLACE, bits=bits):
            render(mask, bit=bits)
    stencil_values = np.frombuffer(stencil.read(), np.uint8).reshape(marked.steps.shape)
    target.color_mask = True, True, True, True
    target.use()
    for step in STEPS:
        with stencil.test(EQUAL, step, KEEP):
            render(marked.mark, number=float(step))
    wrong = int((stencil_values != marked.steps).sum()), marked.count_wrong()
    stencil.release()
    marked.release()
    return worst(exact(wrong[0], marked.steps.size, "stencil values"), exact(wrong[1], marked.steps.size, "texels"))


def stencil_counts(device: Device) -> Finding:
    """Stencil values that draws increase, as the photons' routing has it, up to where they wrap around."""
    marked, rounds = MarkedSteps(device, step_numbers(steps=tuple(range(8)))), 40
    target = device.context.framebuffer(marked.marks.textures)
    stencil, kill = Stencil(device, target), drawing(device, mask_source("mask_kill"))
    target.use()
    device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
    stencil.clear(0)
    target.color_mask = False, False, False, False
    kill.shader.bind("in_state", marked.state.textures[0])
    target.use()
    for step in range(8):
        for _ in range(step * rounds):
            with stencil.test(ALWAYS, 0, INCREASE_AND_WRAP):
                render(kill, serves=step)
    stencil_values = np.frombuffer(stencil.read(), np.uint8).reshape(marked.steps.shape)
    wrong = int((stencil_values != marked.steps * rounds % (ALL_BITS + 1)).sum())
    target.color_mask = True, True, True, True
    stencil.release()
    marked.release()
    return exact(wrong, stencil_values.size, "stencil values")


def queries(device: Device) -> Finding:
    """Samples that pass a discarding program and a depth test, counted by queries that are read later; of a large
    target, too."""
    marked = MarkedSteps(device, step_numbers())
    query_pairs = [(Query(device, samples=True), Query(device, samples=True)) for _ in STEPS]
    for step, (mask_query, written) in zip(STEPS, query_pairs, strict=True):
        marked.draw_mask("mask_kill", step, mask_query)
        marked.write(step, written)
    counts = [int((marked.steps == step).sum()) for step in STEPS]
    sample_pairs = [(mask_query.samples, written.samples) for mask_query, written in query_pairs]
    wrong = sum(pair != (count, count) for pair, count in zip(sample_pairs, counts, strict=True))
    marked.release()
    large, full_query = (512, 512), Query(device, samples=True)
    target = Stream(device, texels(1), large)
    target.framebuffer.use()
    with full_query:
        draw(marked.mark, target.framebuffer, number=1.0)
    wrong += full_query.samples != large[0] * large[1]
    target.release()
    return exact(wrong, len(STEPS) + 1, "counts")


def conditional_rendering(device: Device) -> Finding:
    """Draws that depend on a query's samples, done and left out: one that is done without samples only takes time."""
    if Query(device, samples=True).crender is None:
        return Finding(ABSENT)
    marked = MarkedSteps(device, np.zeros(SIZE[::-1], np.int64))
    wrong = []
    for step, expected in ((1, False), (0, True)):  # no texel is of step 1
        query = Query(device, samples=True)
        marked.draw_mask("mask_kill", step, query)
        _ = query.samples  # without its answer a draw is done
        with query.crender:
            draw(marked.mark, marked.marks.framebuffer, number=7.0 + step)
        wrong.append(bool((marked.marks.read_texels()[:, :, 0, 0] == 7.0 + step).all()) != expected)
    marked.release()
    if wrong[1]:
        return Finding(FAIL, "left out despite samples")
    return Finding(DIFFERS, "drawn without samples") if wrong[0] else Finding(PASS)


def early_depth_test(device: Device) -> Finding:
    """Fragments that the depth test excludes have no effect and cost less than a program that runs: of none, of all,
    and of a sixteenth in blocks of 16 x 16 texels."""
    context, size = device.context, HEAVY
    steps = np.ones(size[::-1], np.int64)
    steps.reshape(size[1] // 16, 16, -1, 16)[::4, :, ::4] = 2
    marked, heavy = MarkedSteps(device, steps), drawing(device, source(_HEAVY))

    def seconds(step: int, rounds: int) -> float:
        times = []
        for _ in range(REPETITIONS + 1):  # the first compiles
            marked.target.use()
            context.enable(moderngl.DEPTH_TEST)
            context.depth_func = "=="
            device.wait()
            start_time = perf_counter()
            render(heavy, rounds=rounds, depth=step * DEPTH_OF_STEP)
            device.wait()
            times.append(perf_counter() - start_time)
            context.disable(moderngl.DEPTH_TEST)
        return min(times[1:])

    blocks = marked.state.read_texels()[:, :, 0]
    marked.state.write_texels([np.ones_like(blocks)])
    marked.draw_mask("mask_depth", 0)
    rounds, full = 0, 0.0
    for rounds in ITERATION_COUNTS:
        full = seconds(1, rounds)
        if full > MIN_TIMED_SECONDS:
            break
    marked.marks.clear([(-1.0, -1.0, -1.0, -1.0)])
    marked.state.write_texels([blocks])
    marked.draw_mask("mask_depth", 0)
    none = seconds(3, rounds)
    touched = int((marked.marks.read_texels()[..., 0, 0] != -1.0).sum())
    few = seconds(2, rounds)
    touched += int(((marked.marks.read_texels()[..., 0, 0] > 0) != (steps == 2)).sum())
    marked.release()
    figures = {
        "none_of_all": none / full,
        "a_sixteenth_of_all": few / full,
        "milliseconds_of_all": 1e3 * full,
    }
    if touched:
        return exact(touched, steps.size, "excluded texels", **figures)
    if none > MAX_CULLED_COST * full:
        return Finding(DIFFERS, f"excluded fragments cost {none / full:.0%} of those that run", figures)
    return Finding(PASS, f"excluded fragments cost {none / full:.1%} of those that run", figures)


CHECKS = (
    Check("depth mask", depth_mask, decides=True),
    Check("kill mask", kill_mask, decides=True),
    Check("stencil mask", stencil_mask, decides=True),
    Check("stencil counts", stencil_counts),
    Check("occlusion queries", queries, decides=True),
    Check("conditional rendering", conditional_rendering, decides=True),
    Check("early depth test", early_depth_test),
)
