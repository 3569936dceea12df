"""A driver's own facts: limits, features, extensions that matter here."""

from __future__ import annotations

import ctypes
from typing import Any

from raystream.stream.gl.device import Device

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
    for name, number in LIMITS.items():
        got.value = 0
        integer(number, ctypes.byref(got))
        limits[name] = got.value
    for name, number in _QUERIES.items():
        got.value = 0
        query(number, _COUNTER_BITS, ctypes.byref(got))
        bits[name] = got.value
    _ = device.context.error  # of a limit that a driver does not know
    features = {
        name: bool(first and version >= first) or not device.extensions.isdisjoint(extensions)
        for name, (first, extensions) in FEATURES.items()
    }
    return {**device.describe(), "limits": limits, "query_bits": bits, "features": features}
