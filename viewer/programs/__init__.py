"""Programs by name: wiring only, no OpenGL. A program becomes known by registering here."""

from __future__ import annotations

from collections.abc import Callable

from viewer.programs.path_trace import path_trace
from viewer.programs.ray_cast import ray_cast, trace
from viewer.programs.walking import LEVELS, Walking
from viewer.stream.program import Program

# A picture program takes how its rays walk, and ``layers=True`` to leave the surfaces it sees beside radiance and hits.
PICTURES: dict[str, Callable[..., Program]] = {"cast": ray_cast, "path": path_trace}

__all__ = ["LEVELS", "PICTURES", "Walking", "ray_cast", "trace"]
