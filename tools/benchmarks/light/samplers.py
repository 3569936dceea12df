"""Samplers: cost of a number, and errors of pictures at equal count relative to independent numbers.

The pictures are integrals estimated by a fragment program with the samplers' own GLSL: a smooth function and an edge in
two dimensions, as of a soft shadow, and one in eight, as of a path's three interactions. Errors are root mean square
over pixels and seeds, relative to the mean: of the pixels; of the picture from afar (a Gaussian of one pixel, in which
errors alternating between neighbours cancel); of the means of 16 x 16 blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from benchmarks import plots
from benchmarks.common import Options, Result, Table, facts, interleave
from raystream.lighting.sampler import SAMPLERS, sampler, sampler_uniforms
from raystream.stream.compile.memories import memory_glsl
from raystream.stream.compile.source import Source
from raystream.stream.declare import kernel
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.memory import Memory
from raystream.stream.gl.stream import float_texture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ABOUT = "random numbers: cost of each sampler, and errors at equal count"

EDGE, BLOCK = 128, 16  # pixels
COUNTS = (1, 4, 16, 64, 256)
SEEDS, RUNS = 16, 7
REFERENCE = 4096  # samples of each of 4 seeds, of the Sobol sampler: a hundredth of the errors shown
TURNS = 64  # calls per pixel in cost measurements

INTEGRANDS = {
    "smooth": "exp(-3.0 * dot(u0 - vec2(at.x, 0.5), u0 - vec2(at.x, 0.5)))",
    "edge": "dot(u0 - 0.5, vec2(cos(3.0 + 2.0 * at.x), sin(3.0 + 2.0 * at.x))) > 0.7 * (at.y - 0.5) ? 1.0 : 0.0",
    "path": "(u1.x > 0.8 * at.x + 0.1 && u3.x + 0.5 * u3.y > at.y ? 1.0 : 0.2)"
    " * (u2.x * u2.y + u0.x) * exp(u0.y * u1.y)",
}
_ESTIMATE = """
    for (int n = 0; n < count; ++n) {{
        vec2 u0 = sample_2d(pixel, n, 4), u1 = sample_2d(pixel, n, 6);
        vec2 u2 = sample_2d(pixel, n, 12), u3 = sample_2d(pixel, n, 20);
        sum.x += {};
    }}
    made = vec4(sum.x / float(count));"""
_CALLS = """
    for (int n = 0; n < count; ++n) sum += vec2({});
    made = vec4(sum, 0.0, 0.0);"""
_CALLED = {"nothing": "n ^ pixel.x", "1-D": "sample_1d(pixel, n, 4 + 2 * n)", "2-D": "sample_2d(pixel, n, 4 + 2 * n)"}


class _Picture:
    """A fragment program over EDGE x EDGE pixels that calls a sampler."""

    def __init__(self, device: Device, name: str, body: str) -> None:
        module = sampler(name)
        self.device, self.resources = device, {m.name: Memory(device, m) for m in module.memories}
        source = Source.begin(**module.constants)
        for memory in module.memories:
            assert isinstance(memory, kernel.Table)
            for part in (memory.record.glsl_struct(), memory.record.glsl_unpack()):
                source.add(part, "benchmark")
            source.add(memory_glsl(memory, self.resources[memory.name].layout, counting=False), "benchmark")
        source.add("uniform int sampler_seed, sampler_first, count;\nout vec4 made;\ninvariant made;", "benchmark")
        source.include(module.source)
        source.add(
            f"void main() {{\n    ivec2 pixel = ivec2(gl_FragCoord.xy);\n    vec2 at = gl_FragCoord.xy / {EDGE}.0, "
            f"sum = vec2(0.0);{body}\n}}",
            "benchmark",
        )
        self.shader = Shader(device, source)
        self.output = float_texture(device, (EDGE, EDGE))
        self.target = device.context.framebuffer([self.output])
        tiles = Tiles(device, (EDGE, EDGE), EDGE)
        tiles.keep(None)
        self.drawing = Drawing(device, self.shader, tiles)

    def draw(self, count: int, seed: int = 0) -> None:
        """One pass, with a wait for the device."""
        for name, memory in self.resources.items():
            self.shader.bind(f"memory_{name}", memory.texture)
        for name, value in (sampler_uniforms(seed) | {"count": count}).items():
            self.shader.set(name, value)
        self.target.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        self.drawing.render()
        self.device.context.finish()

    def read(self, count: int, seed: int) -> NDArray[np.float64]:
        """(EDGE, EDGE) estimates."""
        self.draw(count, seed)
        return np.frombuffer(self.output.read(), np.float32).reshape(EDGE, EDGE, 4)[..., 0].astype(np.float64)


def run(options: Options) -> Result:
    """Cost and errors of every sampler."""
    device = options.open()
    with device.current():
        costs = _costs(device, 2 if options.quick else RUNS)
        errors = _errors(device, *((COUNTS[:3], 4, REFERENCE // 8) if options.quick else (COUNTS, SEEDS, REFERENCE)))
    data = {
        "facts": facts(device),
        "missing": [],
        "costs": costs,
        "errors": errors,
    }
    return Result(data, [_cost_table(costs), _error_table(errors)], plots.drawn(_plot, errors))


def _costs(device: Device, runs: int) -> list[dict[str, Any]]:
    """CPU nanoseconds per call, without the loop."""
    pictures = {
        (name, what): _Picture(device, name, _CALLS.format(call)) for name in SAMPLERS for what, call in _CALLED.items()
    }
    timings = interleave({f"{name} {what}": lambda p=p: p.draw(TURNS) for (name, what), p in pictures.items()}, runs)
    spent = {key: timings[" ".join(key)].to_json() for key in pictures}
    calls = EDGE * EDGE * TURNS
    return [
        {
            "sampler": name,
            "numbers": what,
            "cpu_ns": max(0.0, spent[name, what]["cpu_ms"] - spent[name, "nothing"]["cpu_ms"]) * 1e6 / calls,
            "ns": max(0.0, spent[name, what]["ms"] - spent[name, "nothing"]["ms"]) * 1e6 / calls,
        }
        for name, what in pictures
        if what != "nothing"
    ]


def _errors(device: Device, counts: tuple[int, ...], seeds: int, reference_count: int) -> list[dict[str, Any]]:
    rows = []
    for integrand, text in INTEGRANDS.items():
        pictures = {name: _Picture(device, name, _ESTIMATE.format(text)) for name in SAMPLERS}
        reference = np.mean([pictures["sobol"].read(reference_count, 1000 + seed) for seed in range(4)], axis=0)
        for name, picture in pictures.items():
            for count in counts:
                found = [_measures(picture.read(count, seed) - reference) for seed in range(seeds)]
                pixel, afar, block = np.sqrt(np.mean(found, axis=0)) / reference.mean()
                rows.append(
                    {
                        "integrand": integrand,
                        "sampler": name,
                        "count": count,
                        "pixel": pixel,
                        "afar": afar,
                        "block": block,
                    }
                )
    return rows


def _measures(error: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean squares: of the pixels, of a blurred picture, of the means of blocks."""
    frequency = np.fft.fftfreq(EDGE)
    blur = np.exp(-2 * np.pi**2 * (frequency[:, None] ** 2 + frequency**2))  # of a Gaussian of one pixel
    afar = np.fft.ifft2(np.fft.fft2(error) * blur).real
    blocks = error.reshape(EDGE // BLOCK, BLOCK, EDGE // BLOCK, BLOCK).mean(axis=(1, 3))
    return float(np.mean(error**2)), float(np.mean(afar**2)), float(np.mean(blocks**2))


def _cost_table(costs: list[dict[str, Any]]) -> Table:
    rows = [(row["sampler"], row["numbers"], row["cpu_ns"], row["ns"]) for row in costs]
    note = f"{EDGE} x {EDGE} pixels, {TURNS} calls each; the loop alone is taken off. On a GPU only ns means anything."
    return Table("cost of a call", ("sampler", "numbers", "CPU ns", "ns"), rows, note)


def _error_table(errors: list[dict[str, Any]]) -> Table:
    by = {(row["integrand"], row["count"], row["sampler"]): row for row in errors}
    rows = []
    for integrand, count in dict.fromkeys((row["integrand"], row["count"]) for row in errors):
        base = by[integrand, count, "independent"]
        line: list[Any] = [integrand, count, base["pixel"]]
        for name in SAMPLERS:
            if name != "independent":
                line += [by[integrand, count, name][what] / base[what] for what in ("pixel", "afar", "block")]
        rows.append(line)
    others = [name for name in SAMPLERS if name != "independent"]
    columns = (
        "integrand",
        "samples",
        "independent: error",
        *(f"{n}: {w}" for n in others for w in ("pixel", "afar", "block")),
    )
    note = "The other samplers' errors as shares of the independent one's: of pixels, seen from afar, of blocks."
    return Table("errors at equal count", columns, rows, note)


def _plot(errors: list[dict[str, Any]]) -> Figure | None:
    """Error over samples, one graph for each integrand; dashed: from afar."""
    figure, graphs = plots.figure(4 * len(INTEGRANDS), 3.6, len(INTEGRANDS))
    for graph, integrand in zip(graphs, INTEGRANDS, strict=True):
        for number, name in enumerate(SAMPLERS):
            rows = [row for row in errors if (row["integrand"], row["sampler"]) == (integrand, name)]
            counts = [row["count"] for row in rows]
            look: dict[str, Any] = {"color": plots.COLORS[number], "marker": plots.MARKERS[number]}
            graph.loglog(counts, [row["pixel"] for row in rows], label=name, **look)
            graph.loglog(counts, [row["afar"] for row in rows], linestyle="--", **look)
        graph.set_title(f"{integrand}: pixels, and from afar (dashed)", fontsize=9)
        graph.set_xlabel("samples per pixel")
    graphs[0].set_ylabel("error, relative to the mean")
    graphs[0].legend(frameon=False)
    return figure
