"""Calls a kernel of ``shaders/kernels`` on arrays, with stand-ins for what its interfaces ask for: the exits are
numbers in the order of their names, as generated programs have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import glsl_call
from numpy.typing import ArrayLike, NDArray

from raystream.stream.declare.kernel import Module
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device

# Of a surface: what kernels read, and numbers for the stand-ins of its BSDF.
INTERACTION = Record(
    "Interaction",
    Field("position", "vec3"),
    Field("error", "float"),
    Field("normal", "vec3"),
    Field("first", "float"),
    Field("shading", "vec3"),
    Field("second", "float"),
    Field("wo", "vec3"),
    Field("third", "float"),
)
MEDIA = Record("Media", Field("inside", "int"))


class Kernel:
    """A kernel by its signature, callable on arrays: gives the names of the exits (N,), then the out and inout
    arguments.

    uniforms : (type, value) by name. constants : GLSL constants by name. text : the stand-ins, GLSL functions.
    includes : files below ``shaders/`` before the kernel's own.
    """

    def __init__(
        self,
        device: Device,
        signature: str,
        exits: Sequence[str],
        records: Sequence[Record],
        uniforms: Mapping[str, tuple[str, Any]] | None = None,
        constants: Mapping[str, int] | None = None,
        text: str = "",
        includes: Sequence[str] = (),
        features: Sequence[str] = (),
    ) -> None:
        match = re.match(r"int (\w+)\(", signature)
        assert match is not None, signature
        self.exits = sorted(exits)
        settings = self.settings(exits, uniforms, constants, features)
        files = [*includes, f"kernels/{match[1]}.glsl"]
        self.function = glsl_call.Function(device, signature, files, [settings], records, text)

    @staticmethod
    def settings(
        exits: Sequence[str],
        uniforms: Mapping[str, tuple[str, Any]] | None = None,
        constants: Mapping[str, int] | None = None,
        features: Sequence[str] = (),
    ) -> Module:
        """The module of exits, uniforms and constants."""
        numbers = {f"EXIT_{name.upper()}": k for k, name in enumerate(sorted(exits))}
        given = {"uniforms": dict(uniforms or {}), "constants": {**numbers, **(constants or {})}}
        return Module("settings", (), "lib/far.glsl", **given, features=frozenset(features))  # type: ignore[arg-type]

    def set(self, **uniforms: Any) -> None:
        """Set uniforms."""
        self.function.set(uniforms)

    def __call__(self, *arrays: ArrayLike) -> tuple[list[str], list[NDArray]]:
        numbers, *rest = self.function(*arrays)
        return [self.exits[k] for k in numbers.tolist()], rest
