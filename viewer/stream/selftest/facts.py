"""A driver's own facts: limits, features, extensions that matter here."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np

from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing
from raystream.stream.gl.memory import BufferTexture
from raystream.stream.gl.objects import Query
from raystream.stream.gl.stream import Stream
from raystream.stream.selftest.check import draw, drawing, source, texels

# -- times of the parts of frames: copies, passes, queries, compiling; in microseconds ---------------------------------

LARGE, SMALL = (1024, 1024), (64, 64)  # texels
SECONDS = 0.05  # of a measurement, but for a first one
_numbers = count()


def microseconds(device: Device, once: Callable[[], object]) -> float:
    """The microseconds of one call, to the end of its work on the device: the mean of as many as take `SECONDS`, after
    a first one."""
    once()
    device.wait()
    start_time, calls, batch = perf_counter(), 0, 1
    while True:
        for _ in range(batch):
            once()
        device.wait()
        calls += batch
        passed = perf_counter() - start_time
        if passed > SECONDS:
            return 1e6 * passed / calls
        batch *= 2


def _copy(device: Device, size: tuple[int, int]) -> tuple[Drawing, Stream, Stream]:
    drawn = drawing(device, source("void main() { out_0 = value_0(ivec2(gl_FragCoord.xy)); }", 1))
    return drawn, Stream(device, texels(1), size), Stream(device, texels(1), size)


def _passes(device: Device, size: tuple[int, int]) -> float:
    copy, source, target = _copy(device, size)
    time = microseconds(device, lambda: draw(copy, target.framebuffer, [source]))
    source.release()
    target.release()
    return time


def large_pass(device: Device) -> float:
    """A pass that copies 1 Mi texels of 16 bytes."""
    return _passes(device, LARGE)


def small_pass(device: Device) -> float:
    """One that copies 4,096 of them."""
    return _passes(device, SMALL)


def pass_in_place(device: Device) -> float:
    """A small pass over its own texels, behind a barrier; without one a pass and its copy back."""
    copy, source, target = _copy(device, SMALL)
    barrier = device.texture_barrier

    def once() -> None:
        if barrier is not None:
            barrier()
            draw(copy, source.framebuffer, [source])
        else:
            draw(copy, target.framebuffer, [source])
            draw(copy, source.framebuffer, [target])

    time = microseconds(device, once)
    source.release()
    target.release()
    return time


def query_and_wait(device: Device) -> float:
    """A small pass in an occlusion query, read at once."""
    copy, source, target = _copy(device, SMALL)
    queries = [Query(device, samples=True) for _ in range(4)]
    counter = count()

    def once() -> None:
        query = queries[next(counter) % len(queries)]
        with query:
            draw(copy, target.framebuffer, [source])
        _ = query.samples

    time = microseconds(device, once)
    source.release()
    target.release()
    return time


def wait(device: Device) -> float:
    """A wait for nothing."""
    return microseconds(device, device.wait)


def clear(device: Device) -> float:
    """1 Mi texels cleared."""
    target = Stream(device, texels(1), LARGE)
    time = microseconds(device, target.clear)
    target.release()
    return time


def upload(device: Device) -> float:
    """16 MiB to a texture."""
    target, values = Stream(device, texels(1), LARGE), np.zeros((*LARGE, 4), np.float32)
    time = microseconds(device, lambda: target.write_texels([values]))
    target.release()
    return time


def read_back(device: Device) -> float:
    """16 MiB from a texture."""
    source = Stream(device, texels(1), LARGE)
    time = microseconds(device, source.read_texels)
    source.release()
    return time


def buffer_upload(device: Device) -> float:
    """1 MiB to a buffer texture."""
    buffer, values = BufferTexture(device, 1 << 16, 4), np.zeros((1 << 16, 4), np.float32)
    time = microseconds(device, lambda: buffer.write(values))
    buffer.release()
    return time


def small_program(device: Device) -> float:
    """A program of one line, compiled and drawn; no two are the same."""
    target = Stream(device, texels(1), SMALL)

    def once() -> None:
        program = drawing(
            device, source(f"void main() {{ out_0 = vec4({next(_numbers)}.25 + {perf_counter():.9f}); }}")
        )
        draw(program, target.framebuffer)

    time = microseconds(device, once)
    target.release()
    return time


TIMES: dict[str, Callable[[Device], float]] = {
    "pass over 1 Mi texels": large_pass,
    "pass over 4,096 texels": small_pass,
    "pass in place": pass_in_place,
    "query and wait": query_and_wait,
    "wait": wait,
    "clear of 1 Mi texels": clear,
    "upload of 16 MiB": upload,
    "read back of 16 MiB": read_back,
    "buffer upload of 1 MiB": buffer_upload,
    "small program": small_program,
}


# -- limits, features, extensions --------------------------------------------------------------------------------------

# By feature: the first OpenGL that has it (0: none), and the extensions that bring it to others.
FEATURES: dict[str, tuple[int, tuple[str, ...]]] = {
    "program binaries": (410, ("GL_ARB_get_program_binary",)),
    "parallel compile": (0, ("GL_KHR_parallel_shader_compile", "GL_ARB_parallel_shader_compile")),
    "timer query": (330, ("GL_ARB_timer_query",)),
    "texture barrier": (450, ("GL_ARB_texture_barrier", "GL_NV_texture_barrier")),
    "stencil export": (0, ("GL_ARB_shader_stencil_export",)),
    "inverted conditional rendering": (450, ("GL_ARB_conditional_render_inverted",)),
    "transform feedback overflow query": (460, ("GL_ARB_transform_feedback_overflow_query",)),
    "query buffers": (440, ("GL_ARB_query_buffer_object",)),
    "persistent buffers": (440, ("GL_ARB_buffer_storage",)),
    "early fragment tests": (420, ("GL_ARB_shader_image_load_store",)),
    "conservative depth": (420, ("GL_ARB_conservative_depth",)),
    "compute": (430, ("GL_ARB_compute_shader",)),
    "indirect draws": (400, ("GL_ARB_draw_indirect",)),
    "texture gather": (400, ("GL_ARB_texture_gather",)),
    "precise": (400, ("GL_ARB_gpu_shader5",)),
    "bindless textures": (0, ("GL_ARB_bindless_texture",)),
    "robust contexts": (450, ("GL_ARB_robustness", "GL_KHR_robustness")),
    "debug output": (430, ("GL_KHR_debug", "GL_ARB_debug_output")),
    "SPIR-V": (460, ("GL_ARB_gl_spirv",)),
    "memory figures": (0, ("GL_NVX_gpu_memory_info", "GL_ATI_meminfo")),
}
LIMITS = {
    "program binary formats": 0x87FE,
    "color attachments": 0x8CDF,
    "vertex texture units": 0x8B4C,
    "combined texture units": 0x8B4D,
    "array texture layers": 0x88FF,
    "fragment uniform components": 0x8B49,
    "geometry output components": 0x8DE1,
    "transform feedback components": 0x8C8A,
}
_COUNTER_BITS = 0x8864
_QUERIES = {"samples": 0x8914, "nanoseconds": 0x88BF, "primitives": 0x8C88}


def capabilities(device: Device) -> dict[str, Any]:
    """`Device.describe`, with features by name, further limits, and bits of query counters. The context must be
    current."""
    version = device.context.version_code
    got = ctypes.c_int(0)
    integer = device.require("glGetIntegerv", ctypes.c_uint, ctypes.POINTER(ctypes.c_int))
    query = device.require("glGetQueryiv", ctypes.c_uint, ctypes.c_uint, ctypes.POINTER(ctypes.c_int))
    limits, bits = {}, {}
    for name, enum in LIMITS.items():
        got.value = 0
        integer(enum, ctypes.byref(got))
        limits[name] = got.value
    for name, enum in _QUERIES.items():
        got.value = 0
        query(enum, _COUNTER_BITS, ctypes.byref(got))
        bits[name] = got.value
    _ = device.context.error  # of a limit that a driver does not know
    features = {
        name: bool(first and version >= first) or not device.extensions.isdisjoint(extensions)
        for name, (first, extensions) in FEATURES.items()
    }
    return {**device.describe(), "limits": limits, "query_bits": bits, "features": features}
