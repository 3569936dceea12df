"""OpenGL objects of tests: lent to the tests of a file, and counted on a device, whoever made them."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

KINDS = ("Texture", "Buffer", "Framebuffer", "Renderbuffer", "VertexArray", "Program", "Query")
MOST = 1 << 14  # names that are looked at, and those up to a texture's that is made now
T = TypeVar("T")


def lent(device: Any, make: Callable[[Any], T]) -> Iterator[T]:
    """What is made on a device for a fixture, with its context current; released behind it."""
    with device.current():
        made: Any = make(device)
        yield made
        made.release()


def living(device: Any) -> dict[str, int]:
    """How many of each kind there are, once what Python has dropped is freed. Queries that wait for others to use them
    do not count."""
    gc.collect()
    found = {}
    with device.current():
        newest = device.context.texture((1, 1), 1)
        last = max(MOST, newest.glo)
        newest.release()
        for kind in KINDS:
            is_one = device.require(f"glIs{kind}", ctypes.c_uint, result=ctypes.c_ubyte)
            found[kind] = sum(bool(is_one(name)) for name in range(1, last))
    found["Query"] -= sum(map(len, device.queries.values()))
    return found
