"""A self-test of a driver: its name, its run, and its finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import printable
from raystream.stream.compile.source import Source
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.stream import Stream

# -- draws that self-tests are made of: a fragment program over a whole target -----------------------------------------

_STATE = moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE


def texels(count: int) -> Record:
    """A record of ``count`` texels, for any floats."""
    return Record("Texels", *(Field(f"value_{k}", "vec4") for k in range(count)))


def source(body: str, inputs: int = 0, outputs: int = 1, include: str = "", **constants: float) -> Source:
    """A fragment program: functions, then ``main``. It finds the inputs' texels by ``value_K(at)``, writes ``out_K``;
    outputs are invariant, as those of all generated programs. include : a file that it needs."""
    program = Source.begin(**constants)
    if include:
        program.include(include)
    for k in range(inputs):
        program.add(
            f"uniform sampler2D in_{k};\nvec4 value_{k}(ivec2 at) {{ return texelFetch(in_{k}, at, 0); }}", "input"
        )
    for k in range(outputs):
        program.add(f"invariant layout(location = {k}) out vec4 out_{k};", "output")
    program.add(body, "self-test")
    return program


def drawing(device: Device, program: Source) -> Drawing:
    """The program, compiled, over the whole viewport."""
    return square(device, Shader(device, program))


def stream(device: Device, values: NDArray[np.float32]) -> Stream:
    """A stream of one texel an element; values : (H, W, 4) float32."""
    target = Stream(device, texels(1), (values.shape[1], values.shape[0]))
    target.write_texels([values])
    return target


def draw(drawing: Drawing, target: moderngl.Framebuffer, inputs: Sequence[Stream] = (), **uniforms: Any) -> None:
    """Draw over a target, without any test or blending."""
    target.use()
    target.viewport = (0, 0, *target.size)
    target.ctx.disable(_STATE)
    render(drawing, inputs, **uniforms)


def render(drawing: Drawing, inputs: Sequence[Stream] = (), **uniforms: Any) -> None:
    """Draw over the target in use, under its state."""
    for k, stream in enumerate(inputs):
        drawing.shader.bind(f"in_{k}", stream.textures[0])
    for name, value in uniforms.items():
        drawing.shader.set(name, value)
    drawing.render()


def computed(
    device: Device,
    body: str,
    inputs: Sequence[NDArray[np.float32]],
    outputs: int = 1,
    include: str = "",
    **uniforms: Any,
) -> NDArray[np.float32]:
    """(H, W, outputs, 4) float32: the outputs of a program, as of `source`, over inputs (H, W, 4) float32."""
    streams = [stream(device, values) for values in inputs]
    target = Stream(device, texels(outputs), streams[0].size)
    program = drawing(device, source(body, len(streams), outputs, include))
    draw(program, target.framebuffer, streams, **uniforms)
    results = target.read_texels()
    for buffer in (*streams, target):
        buffer.release()
    return results


# -- a self-test of a driver: its name, its run, and its finding -------------------------------------------------------

PASS, DIFFERS, FAIL, ABSENT = "pass", "differs", "fail", "absent"
MOST_TEXT = 300  # characters of an error


@dataclass(frozen=True)
class Finding:
    """The result of a check.

    verdict : `PASS`; `DIFFERS`: not exact, within OpenGL's limits; `FAIL`; `ABSENT`: the driver has no such feature.
    text    : the difference, in one line; may be empty. figures : numbers and words for the report.
    """

    verdict: str
    text: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A check by name. run : called with the device's context current. decides : it is one of those by which
    `raystream.stream.selftest.fallbacks` chooses how programs run."""

    name: str
    run: Callable[[Device], Finding]
    decides: bool = False


def exact(wrong: int, total: int, what: str, **figures: Any) -> Finding:
    """`PASS` where nothing is wrong, else `FAIL` with the share: ``3 of 64 texels``."""
    return Finding(FAIL if wrong else PASS, f"{wrong} of {total} {what} are wrong" if wrong else "", figures)


def worst(*findings: Finding) -> Finding:
    """Several findings as one: the worst verdict, all texts and figures."""
    order = (PASS, ABSENT, DIFFERS, FAIL)
    text = "; ".join(finding.text for finding in findings if finding.text)
    figures: dict[str, Any] = {}
    for finding in findings:
        figures |= finding.figures
    return Finding(max((finding.verdict for finding in findings), key=order.index), text, figures)


def examine(device: Device, check: Check) -> Finding:
    """Run a check. An exception, such as that of a program that does not compile, is a failure."""
    if check.name in device.distrusted:
        return Finding(FAIL, "counted as failed")
    try:
        with device.current():
            _ = device.context.error  # of whoever came before
            finding = check.run(device)
            gl_error = device.context.error
    except Exception as error:
        return Finding(FAIL, in_one_line(error))
    if gl_error == "GL_NO_ERROR":
        return finding
    return Finding(finding.verdict, finding.text, {**finding.figures, "error": gl_error})


def in_one_line(error: Exception) -> str:
    """An exception with its kind."""
    return printable(" ".join(f"{type(error).__name__}: {error}".split()))[:MOST_TEXT]
