"""Self-tests of textures and buffers: their bits, and the outputs of passes to them; and of the timer query."""

from __future__ import annotations

from time import perf_counter

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.link import MAX_ATTACHMENTS
from raystream.stream.compile.memories import IN_BUFFER, layout
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl import device as gl_device
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import Memory
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.selftest.check import (
    ABSENT,
    DIFFERS,
    FAIL,
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
    worst,
)

# -- storage -----------------------------------------------------------------------------------------------------------
# The bits of floats, every texel of a memory, arrays of a program.

WIDTH = 256  # of the streams of bits
ROWS = 20_000  # of a table: more texels than the 65,536 that OpenGL 3.3 guarantees of a buffer texture
ROW = Record("Row", *(Field(f"value_{k}", "vec4") for k in range(4)))

# Bits of floats by kind: the first, and the last.
KINDS = {
    "normal numbers": (0x00800000, 0x7F7FFFFF),
    "negative numbers": (0x80800000, 0xFF7FFFFF),
    "zeros": (0x80000000, 0x80000000),
    "infinities": (0x7F800000, 0x7F800000),
    "denormals": (0x00000001, 0x007FFFFF),
    "quiet NaNs": (0x7FC00000, 0x7FFFFFFF),
    "signalling NaNs": (0x7F800001, 0x7FBFFFFF),
}
NEEDED = ("normal numbers", "negative numbers", "zeros", "infinities")  # others are never stored


def patterns() -> dict[str, NDArray[np.float32]]:
    """(H, W, 4) float32 of every kind."""
    rng = np.random.default_rng(31)
    return {
        kind: rng.integers(first, last, (8, WIDTH, 4), np.uint32, endpoint=True).view(np.float32)
        for kind, (first, last) in KINDS.items()
    }


def float_bits(device: Device) -> Finding:
    """Bits of floats that are uploaded and read back, and that a program fetches and writes to a float target."""
    copy = drawing(device, source("void main() { out_0 = value_0(ivec2(gl_FragCoord.xy)); }", 1))
    lost: dict[str, str] = {}
    for kind, values in patterns().items():
        stored, copied = stream(device, values), Stream(device, texels(1), (WIDTH, len(values)))
        draw(copy, copied.framebuffer, [stored])
        expected = values.view(np.uint32)
        read_back, copied_bits = (buffer.read_texels()[:, :, 0].view(np.uint32) for buffer in (stored, copied))
        changed = [float((bits != expected).mean()) for bits in (read_back, copied_bits)]
        if any(changed):
            lost[kind] = f"{kind} ({changed[0]:.0%} read back, {changed[1]:.0%} copied)"
        stored.release()
        copied.release()
    verdict = FAIL if lost.keys() & set(NEEDED) else DIFFERS if lost else PASS
    return Finding(verdict, f"bits change: {', '.join(lost.values())}" if lost else "", {"kinds": len(KINDS)})


def buffer_textures(device: Device) -> Finding:
    """Every texel of a table in a buffer texture."""
    return _fetch_every_texel(device, device.max_buffer) if device.max_buffer else Finding(ABSENT)


def table_textures(device: Device) -> Finding:
    """Every texel of a table in rows of a 2-D texture."""
    return _fetch_every_texel(device, 0)


def _fetch_every_texel(device: Device, max_buffer: int) -> Finding:
    rng = np.random.default_rng(37)
    data = np.zeros(ROWS, ROW.dtype)
    for name in ROW.dtype.names or ():
        data[name] = rng.uniform(-1.0, 1.0, (ROWS, 4))
    table = Table("rows", ROW, data)
    addressing = layout(device.max_texture, table, max_buffer)
    memory = Memory(device, table, addressing)
    fetch = (
        "texelFetch(memory_rows, k)"
        if addressing.per_row == IN_BUFFER
        else f"texelFetch(memory_rows, ivec2(k % {4 * addressing.per_row}, k / {4 * addressing.per_row}), 0)"
    )
    sampler_type = "samplerBuffer" if addressing.per_row == IN_BUFFER else "sampler2D"
    body = f"""uniform {sampler_type} memory_rows;
void main() {{
    ivec2 at = ivec2(gl_FragCoord.xy);
    int k = min(at.y * {WIDTH} + at.x, {4 * ROWS - 1});
    out_0 = {fetch};
}}"""
    fetches, target = drawing(device, source(body)), Stream(device, texels(1), (WIDTH, -(-4 * ROWS // WIDTH)))
    fetches.shader.bind("memory_rows", memory.texture)
    draw(fetches, target.framebuffer)
    rows = target.read_texels().reshape(-1, 4)[: 4 * ROWS]
    expected = np.stack([data[name] for name in ROW.dtype.names or ()], axis=1).reshape(-1, 4)
    wrong = np.flatnonzero((rows != device.stored(expected)).any(axis=1))
    memory.release()
    target.release()
    first_wrong = Finding(PASS, f"the first is texel {int(wrong[0]):,}") if len(wrong) else Finding(PASS)
    return worst(exact(len(wrong), 4 * ROWS, "texels"), first_wrong)


def array_stores(device: Device) -> Finding:
    """A program's array, which each fragment stores into at its own index."""
    right = gl_device.array_stores(device.context)
    return Finding(PASS if right else FAIL, "" if right else "fragments store at another one's index")


STORAGE_CHECKS = (
    Check("float bits", float_bits),
    Check("buffer textures", buffer_textures, decides=True),
    Check("tables in textures", table_textures),
    Check("array stores", array_stores),
)


# -- outputs of passes -------------------------------------------------------------------------------------------------

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
    body = "\n".join(f"    out_{k} = value_0(ivec2(gl_FragCoord.xy)) + {k}.0;" for k in range(MAX_ATTACHMENTS))
    values = _values(2)
    results = computed(device, f"void main() {{\n{body}\n}}", [values], MAX_ATTACHMENTS)
    expected = values[:, :, None] + np.arange(MAX_ATTACHMENTS, dtype=np.float32)[:, None]
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
    values = np.arange(1, count, every, dtype=np.float32)
    expected = np.stack([values, 0.25 * values, -values, 1.0 / (1.0 + values)], axis=1)
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
        start_time = perf_counter()
        with query:
            draw(loop, target.framebuffer, [source_stream], n=rounds)
        device.wait()
        times[rounds] = query.elapsed * NANOSECOND, perf_counter() - start_time
    source_stream.release()
    target.release()
    short, (measured, clock) = times[10][0], times[1000]
    figures = {"query_ms": 1e3 * measured, "clock_ms": 1e3 * clock}
    if measured <= 0 or measured <= short or measured > 1.5 * clock + 1e-3 or measured < 0.2 * clock - 1e-3:
        return Finding(DIFFERS, f"a pass of {1e3 * clock:.2f} ms takes {1e3 * measured:.2f} ms by the query", figures)
    return Finding(PASS, "", figures)


OUTPUT_CHECKS = (
    Check("texture barrier", texture_barrier, decides=True),
    Check("attachments", attachments),
    Check("float blending", float_blending),
    Check("transform feedback", transform_feedback),
    Check("timer query", timer_query),
)
