"""Self-tests of the outputs of passes: in place behind a texture barrier, to many attachments, blended, by transform
feedback; and of the timer query."""

from __future__ import annotations

from time import perf_counter

import moderngl
import numpy as np

from raystream.stream.compile.link import MOST_ATTACHMENTS
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.selftest.check import (
    ABSENT,
    DIFFERS,
    PASS,
    Check,
    Finding,
    computed,
    draw,
    drawing,
    exact,
    render,
    source,
    stream,
    texels,
)

SIZE = (96, 80)
PASSES = 24  # in place
LARGEST = 1 << 20  # of whole numbers
NANOSECOND = 1e-9

_IN_PLACE = "void main() { vec4 v = value_0(ivec2(gl_FragCoord.xy)); out_0 = mod(3.0 * v + 1.0, float(LARGEST)); }"
_VERTEX = """
uniform int every;
out vec4 made;
out float keeps;
void main() {
    made = vec4(float(gl_VertexID), 0.25 * float(gl_VertexID), -float(gl_VertexID), 1.0 / float(1 + gl_VertexID));
    keeps = gl_VertexID % every == 1 ? 1.0 : 0.0;
}"""
_GEOMETRY = """
layout(points) in;
layout(points, max_vertices = 1) out;
in vec4 made[];
in float keeps[];
out vec4 kept;
void main() {
    if (keeps[0] < 0.5) return;
    kept = made[0];
    EmitVertex();
    EndPrimitive();
}"""


def _values(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, LARGEST, (SIZE[1], SIZE[0], 4)).astype(np.float32)


def texture_barrier(device: Device) -> Finding:
    """Passes that read the texel which they write, a barrier between any two."""
    barrier = device.texture_barrier
    if barrier is None:
        return Finding(ABSENT)
    values = _values(1)
    target, update = stream(device, values), drawing(device, source(_IN_PLACE, 1, LARGEST=LARGEST))
    for _ in range(PASSES):
        barrier()
        draw(update, target.framebuffer, [target])
    barrier()
    expected = values.astype(np.int64)
    for _ in range(PASSES):
        expected = (3 * expected + 1) % LARGEST
    wrong = int((target.read_texels()[:, :, 0] != expected).any(axis=-1).sum())
    target.release()
    return exact(wrong, SIZE[0] * SIZE[1], "texels")


def attachments(device: Device) -> Finding:
    """All attachments of one pass, each its own value."""
    body = "\n".join(f"    out_{k} = value_0(ivec2(gl_FragCoord.xy)) + {k}.0;" for k in range(MOST_ATTACHMENTS))
    values = _values(2)
    results = computed(device, f"void main() {{\n{body}\n}}", [values], MOST_ATTACHMENTS)
    expected = values[:, :, None] + np.arange(MOST_ATTACHMENTS, dtype=np.float32)[:, None]
    wrong = int((results != expected).any(axis=-1).sum())
    return exact(wrong, expected[..., 0].size, "texels")


def float_blending(device: Device) -> Finding:
    """Sums of floats by blending: rounded once an addition, in order, and not clamped."""
    rng = np.random.default_rng(3)
    total = rng.uniform(-2.0, 2.0, (SIZE[1], SIZE[0], 4)).astype(np.float32)
    target, context = stream(device, total), device.context
    addition = drawing(
        device, source("uniform float weight;\nvoid main() { out_0 = value_0(ivec2(gl_FragCoord.xy)) * weight; }", 1)
    )
    added = stream(device, rng.uniform(-4096.0, 4096.0, total.shape).astype(np.float32))
    terms = added.read_texels()[:, :, 0]
    target.framebuffer.use()
    context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    context.enable(moderngl.BLEND)
    context.blend_func = moderngl.ONE, moderngl.ONE
    context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
    for k in range(12):
        render(addition, [added], weight=0.25**k)
        total = total + terms * np.float32(0.25**k)
    context.disable(moderngl.BLEND)
    sums = target.read_texels()[:, :, 0]
    target.release()
    added.release()
    wrong = int((sums != total).any(axis=-1).sum())
    error = float(np.abs(sums - total).max())
    if wrong and error < 12 * 2.0**-23 * 4096:
        return Finding(DIFFERS, f"by {error:.2g} in sums of up to 4096", {"largest": error})
    return exact(wrong, total[..., 0].size, "texels", largest=error)


def transform_feedback(device: Device) -> Finding:
    """Points that a geometry program keeps, in their order, and their number by a query."""
    vertex, geometry = Source.begin(), Source.begin()
    vertex.add(_VERTEX, "self-test")
    geometry.add(_GEOMETRY, "self-test")
    program, count, every = device.feedback_program(vertex, geometry, ("kept",)), 3000, 3
    program["every"] = every
    buffer, query = device.context.buffer(reserve=16 * count), Query(device, primitives=True)
    target = Stream(device, texels(1), (1, 1))
    target.framebuffer.use()  # nothing is drawn to it, but one must be complete
    with query:
        device.context.vertex_array(program, []).transform(buffer, moderngl.POINTS, vertices=count)
    written = query.primitives
    numbers = np.arange(1, count, every, dtype=np.float32)
    expected = np.stack([numbers, 0.25 * numbers, -numbers, 1.0 / (1.0 + numbers)], axis=1)
    points = np.frombuffer(buffer.read(), np.float32).reshape(-1, 4)[: len(expected)]
    buffer.release()
    target.release()
    wrong = int((points[:, :3] != expected[:, :3]).any(axis=1).sum()) + abs(written - len(expected))
    return exact(wrong, len(expected), "points", written=written)


def timer_query(device: Device) -> Finding:
    """Nanoseconds of a pass beside the host's clock."""
    values = _values(4)
    source_stream, target = stream(device, values), Stream(device, texels(1), SIZE)
    body = "uniform int n;\nvoid main() { vec4 v = value_0(ivec2(gl_FragCoord.xy)); for (int k = 0; k < n; k++) "
    loop = drawing(device, source(body + "v = fract(v * 1.3 + sqrt(v + 0.01)); out_0 = v; }", 1))
    times: dict[int, tuple[float, float]] = {}
    for rounds in (10, 10, 1000):
        query = Query(device, time=True)
        device.wait()
        begin = perf_counter()
        with query:
            draw(loop, target.framebuffer, [source_stream], n=rounds)
        device.wait()
        times[rounds] = query.elapsed * NANOSECOND, perf_counter() - begin
    source_stream.release()
    target.release()
    short, (measured, clock) = times[10][0], times[1000]
    figures = {"query_ms": 1e3 * measured, "clock_ms": 1e3 * clock}
    if measured <= 0 or measured <= short or measured > 1.5 * clock + 1e-3 or measured < 0.2 * clock - 1e-3:
        return Finding(DIFFERS, f"a pass of {1e3 * clock:.2f} ms takes {1e3 * measured:.2f} ms by the query", figures)
    return Finding(PASS, "", figures)


CHECKS = (
    Check("texture barrier", texture_barrier, decides=True),
    Check("attachments", attachments),
    Check("float blending", float_blending),
    Check("transform feedback", transform_feedback),
    Check("timer query", timer_query),
)
