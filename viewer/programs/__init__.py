"""Programs by name: wiring only, no OpenGL. A program becomes known by registering here."""

from __future__ import annotations

from collections.abc import Callable

from viewer.programs.ray_cast import ray_cast, trace
from viewer.stream.program import Program

# A picture program takes ``layers=True`` to leave the surfaces it sees beside its radiance and hits.
PICTURES: dict[str, Callable[..., Program]] = {"cast": ray_cast}

__all__ = ["PICTURES", "ray_cast", "trace"]
