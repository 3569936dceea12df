"""Two layouts of read-only records: a 2-D texture under 1-D addresses, as in the machines, or a buffer texture.

A fragment program fetches many records per ray and sums them; both layouts must give the same bits. Addresses are
consecutive from ray to ray (``sequential``, the best case of coherent rays) or a hash of ray and iteration (``random``,
the worst case); ``no fetch`` is the same program with the address alone, the part of the time outside of memory.
Records are those of the ray caster: triangles of 3 RGBA texels, list entries of 1 texel of one channel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np

from benchmarks.common import Options, Result, Table, facts, interleave
from raystream.accel.grid.grid import ENTRY
from raystream.kernels.records import TRIANGLE
from raystream.stream.compile.memories import memory_glsl
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Table as Records
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.memory import Memory, layout
from raystream.stream.gl.stream import float_texture

ABOUT = "fetch rates: a 2-D texture under 1-D addresses against a buffer texture"

RUNS = 7

_KINDS = {"triangles": (TRIANGLE, "r.a + r.b + r.c"), "entries": (ENTRY, "vec3(float(r.entry))")}
_ORDERS = {
    "sequential": "(ray + turn) & (COUNT - 1)",
    # The output step of PCG (O'Neill 2014), as a hash: Jarzynski and Olano, JCGT 9, 3, 2020.
    "random": "int(hash(uint(ray) * uint(TURNS) + uint(turn))) & (COUNT - 1)",
}
_HASH = """uint hash(uint x) {
    uint state = x * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}"""


def _source(table: Records, fetch: str, value: str, order: str, turns: int) -> Source:
    """The program that fetches ``turns`` records per ray; an empty ``fetch`` keeps the address alone."""
    source = Source.begin()
    source.add(f"const int COUNT = {len(table.data)}, TURNS = {turns};\nuniform int width;", "benchmark")
    source.add_record(table.record)
    for part in (fetch, _HASH):
        source.add(part, "benchmark")
    got = f"{table.record.name} r = fetch_{table.name}(at); sum += {value};" if fetch else "sum += vec3(float(at));"
    source.add(
        f"""out vec4 result;
void main() {{
    int ray = int(gl_FragCoord.y) * width + int(gl_FragCoord.x);
    vec3 sum = vec3(0.0);
    for (int turn = 0; turn < TURNS; ++turn) {{
        int at = {_ORDERS[order]};
        {got}
    }}
    result = vec4(sum, 1.0);
}}""",
        "benchmark",
    )
    return source


@dataclass
class _Case:
    """A program with its target, ready to run."""

    device: Device
    drawing: Drawing
    texture: Any
    target: moderngl.Framebuffer
    output: moderngl.Texture

    def run(self) -> None:
        """One pass, with a wait for the device."""
        self.target.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        if self.texture is not None:
            self.texture.use(0)  # the program's only sampler; moderngl does not list buffer samplers
        self.drawing.render()
        self.device.context.finish()


def run(options: Options) -> Result:
    """Both layouts, both orders, both records, in a small and a large table."""
    device = options.open()
    edge, turns, runs = (64, 16, 2) if options.quick else (512, 64, RUNS)
    counts = {"triangles": (1 << 12, 1 << 20), "entries": (1 << 12, 1 << 22)}
    rows: list[dict[str, Any]] = []
    with device.current():
        most = device.max_buffer
        for kind, sizes in counts.items():
            for count in sizes[:1] if options.quick else sizes:
                for order in _ORDERS:
                    rows += _rows(device, kind, count, order, edge, turns, runs, most)
    data = {
        "facts": facts(device),
        "size": (edge, edge),
        "fetches_per_ray": turns,
        "runs": runs,
        "warm_up": 1,
        "missing": [] if most >= 3 << 20 else ["buffer textures of 3 Mi texels: beyond what this driver allows"],
        "largest_buffer_texture_texels": most,
        "rows": rows,
    }
    return Result(data, [_table(data)])


def _rows(
    device: Device, kind: str, count: int, order: str, edge: int, turns: int, runs: int, most: int
) -> list[dict[str, Any]]:
    """One table size and order: the layouts measured in turn."""
    record, value = _KINDS[kind]
    data = np.zeros(count, record.dtype)
    generator = np.random.default_rng(1)
    for name in record.dtype.names or ():
        field = data[name]
        field[...] = generator.integers(0, 1 << 20, field.shape)
    table = Records(kind, record, data)
    memory = Memory(device, table, layout(device.max_texture, table))
    held = {"2-D texture": memory}
    if count * record.texels <= most:
        held["buffer texture"] = Memory(device, table, layout(device.max_texture, table, most))
    ways: dict[str, tuple[str, Any]] = {
        way: (memory_glsl(table, one.layout, counting=False), one.texture) for way, one in held.items()
    }
    ways["no fetch"] = ("", None)
    tiles = Tiles(device, (edge, edge), edge)
    tiles.keep(None)
    cases: dict[str, _Case] = {}
    for way, (fetch, texture) in ways.items():
        shader = Shader(device, _source(table, fetch, value, order, turns))
        shader.set("width", edge)
        output = float_texture(device, (edge, edge))
        target = device.context.framebuffer([output])
        cases[way] = _Case(device, Drawing(device, shader, tiles), texture, target, output)
    timings = interleave({way: case.run for way, case in cases.items()}, runs)
    same = len({case.output.read() for way, case in cases.items() if way != "no fetch"}) == 1
    fetches = edge * edge * turns
    texel = 4 * memory.layout.channels * record.texels
    out = []
    for way, timing in timings.items():
        row = timing.to_json()
        rate = fetches / row["ms"] / 1e3  # million records per second
        out.append(
            {
                "records": kind,
                "texels": record.texels,
                "count": count,
                "bytes": count * texel,
                "order": order,
                "way": way,
                **row,
                "mfetches": rate,
                "gigabytes_per_second": None if way == "no fetch" else rate * texel / 1e3,
                "same_bits": same,
            }
        )
    for texture in (memory, ways.get("buffer texture", ("", None))[1], *(case.output for case in cases.values())):
        if texture is not None:
            texture.release()
    return out


def _table(data: dict[str, Any]) -> Table:
    rows = [
        (
            f"{row['records']}, {row['texels']} texel{'s' if row['texels'] > 1 else ''}",
            row["count"],
            row["bytes"] / 2**20,
            row["order"],
            row["way"],
            row["ms"],
            row["cpu_ms"],
            row["mfetches"],
            row["gigabytes_per_second"],
            row["same_bits"],
        )
        for row in data["rows"]
    ]
    columns = ("records", "count", "MiB", "order", "way", "ms", "CPU ms", "Mrecords/s", "GB/s", "same bits")
    width, height = data["size"]
    note = (
        f"{width} x {height} rays, {data['fetches_per_ray']} records each, median of {data['runs']} runs in turn after "
        f"{data['warm_up']}; no fetch: the same program with the address alone. Largest buffer texture: "
        f"{data['largest_buffer_texture_texels']:,} texels (OpenGL 3.3 grants 65,536)."
    )
    return Table("fetch rates", columns, rows, note)
