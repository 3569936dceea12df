"""A worker's build: all that the bits of its samples depend on, besides the scene."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from viewer.base.errors import ViewerError
from viewer.base.paths import shaders


class Build(NamedTuple):
    """raystream : its version. sources : digest of its code and shaders. driver : OpenGL renderer and version."""

    raystream: str
    sources: str
    driver: str

    def __str__(self) -> str:
        return f"raystream {self.raystream} ({self.sources}), {self.driver}"


@cache
def sources() -> str:
    """Eight hexadecimal digits, a digest of code and shaders."""
    from pathlib import Path

    import viewer

    digest = hashlib.blake2b(digest_size=4)
    for folder, ending in ((Path(viewer.__file__).parent, "*.py"), (shaders(), "*.glsl")):
        for path in sorted(folder.rglob(ending)):
            if "farm" not in path.parts:  # the farm moves work, and computes nothing
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def check_builds(builds: Mapping[str, Build], mixed: bool) -> None:
    """Raise ViewerError for workers (by address) of different builds, unless ``mixed`` is allowed."""
    kinds: dict[Build, list[str]] = {}
    for worker, build in builds.items():
        kinds.setdefault(build, []).append(worker)
    if len(kinds) < 2 or mixed:
        return
    listing = "; ".join(f"{build} on {_listed(workers)}" for build, workers in kinds.items())
    raise ViewerError("--cluster", f"its workers would give different bits: {listing}", "--mix-builds takes them all")


def _listed(workers: list[str]) -> str:
    more = f" and {len(workers) - 1} more" if len(workers) > 1 else ""
    return f"{workers[0]}{more}"
