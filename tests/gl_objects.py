"""Counts the OpenGL objects that a device holds, whoever made them."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

KINDS = ("Texture", "Buffer", "Framebuffer", "Renderbuffer", "VertexArray", "Program", "Query")
MOST = 1 << 14  # names that are looked at: Mesa gives the lowest that are free


def living(device: Any) -> dict[str, int]:
    """How many of each kind there are, once what Python has dropped is freed. Queries that wait for others to use them
    do not count."""
    gc.collect()
    found = {}
    with device.current():
        for kind in KINDS:
            is_one = device.require(f"glIs{kind}", ctypes.c_uint, result=ctypes.c_ubyte)
            found[kind] = sum(bool(is_one(name)) for name in range(1, MOST))
    found["Query"] -= sum(map(len, device.queries.values()))
    return found
