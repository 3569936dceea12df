"""Self-tests of storage in textures and buffers: the bits of floats, every texel of a memory, arrays of a program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.memories import IN_BUFFER, layout
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl import device as gl_device
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import Memory
from raystream.stream.gl.stream import Stream
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
    source,
    stream,
    texels,
    worst,
)

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
        back, through = (buffer.read_texels()[:, :, 0].view(np.uint32) for buffer in (stored, copied))
        changed = [float((bits != expected).mean()) for bits in (back, through)]
        if any(changed):
            lost[kind] = f"{kind} ({changed[0]:.0%} read back, {changed[1]:.0%} copied)"
        stored.release()
        copied.release()
    verdict = FAIL if lost.keys() & set(NEEDED) else DIFFERS if lost else PASS
    return Finding(verdict, f"bits change: {', '.join(lost.values())}" if lost else "", {"kinds": len(KINDS)})


def buffer_textures(device: Device) -> Finding:
    """Every texel of a table in a buffer texture."""
    return _table(device, device.max_buffer) if device.max_buffer else Finding(ABSENT)


def table_textures(device: Device) -> Finding:
    """Every texel of a table in rows of a 2-D texture."""
    return _table(device, 0)


def _table(device: Device, max_buffer: int) -> Finding:
    rng = np.random.default_rng(37)
    data = np.zeros(ROWS, ROW.dtype)
    for name in ROW.dtype.names or ():
        data[name] = rng.uniform(-1.0, 1.0, (ROWS, 4))
    table = Table("rows", ROW, data)
    form = layout(device.max_texture, table, max_buffer)
    memory = Memory(device, table, form)
    fetch = (
        "texelFetch(memory_rows, k)"
        if form.per_row == IN_BUFFER
        else f"texelFetch(memory_rows, ivec2(k % {4 * form.per_row}, k / {4 * form.per_row}), 0)"
    )
    kind = "samplerBuffer" if form.per_row == IN_BUFFER else "sampler2D"
    body = f"""uniform {kind} memory_rows;
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
    more = Finding(PASS, f"the first is texel {int(wrong[0]):,}") if len(wrong) else Finding(PASS)
    return worst(exact(len(wrong), 4 * ROWS, "texels"), more)


def array_stores(device: Device) -> Finding:
    """A program's array, which each fragment stores into at its own index."""
    right = gl_device.array_stores(device.context)
    return Finding(PASS if right else FAIL, "" if right else "fragments store at another one's index")


CHECKS = (
    Check("float bits", float_bits),
    Check("buffer textures", buffer_textures, decides=True),
    Check("tables in textures", table_textures),
    Check("array stores", array_stores),
)
