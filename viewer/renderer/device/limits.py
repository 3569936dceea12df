"""Whether a scene and its settings fit into the limits of the papers' day (`raystream.stream.declare.limits`)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from raystream.base.errors import ViewerError
from raystream.options.declare import listed
from raystream.programs import programs_with
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.stream.declare.kernel import Module, Table, Texels, Volume
from raystream.stream.declare.limits import LIMITS, Limits

# What the elements of a memory are, where its name does not say it.
WORDS = {"grid_pointers": "voxels", "grid_lists": "entries of the voxels' lists", "nodes": "nodes of the tree"}
WITHOUT_BITS = "table"  # the sampler that needs no operations on bits


def check_limits(prepared: PreparedScene, settings: Settings) -> None:
    """Raises ViewerError, which names the part that no longer fits and a remedy, where ``settings.limits`` are
    exceeded."""
    limits = LIMITS.get(settings.limits)
    if limits is None:
        return
    flag = f"--limits {limits.name}"
    if settings.picture_program.maps_photons:
        what = "photon mapping came on hardware after it, whose fragments had floats of 32 bits (2003)"
        raise ViewerError(
            flag, what, f"take another --program: {listed(programs_with(lambda program: not program.maps_photons))}"
        )
    remedies = list(_conflicts(settings))
    if remedies:
        what = "programs of the day have neither loops nor bits: a pass is one call of one kernel"
        raise ViewerError(flag, what, f"add {' '.join(remedies)}")
    over = [(number, word, most) for number, word, most in sizes(prepared, settings, limits) if number > most]
    if over:
        _, word, most = max(over, key=lambda size: size[0] / size[2])
        excess = ", ".join(f"{n:,} {w}" for n, w, _ in over)
        raise ViewerError(flag, f"{excess}; an address tells {most:,} apart", _hint(prepared, word, most))


def _conflicts(settings: Settings) -> Iterator[str]:
    """Options that would have to be others."""
    if settings.machine != "multipass":
        yield "--machine multipass"
    if settings.fuse != "none":
        yield "--fuse none"
    if settings.unroll.counts is None:
        yield "--unroll 1"
    if settings.picture_program.progressive and settings.sampler != WITHOUT_BITS:
        yield f"--sampler {WITHOUT_BITS}"


def sizes(prepared: PreparedScene, settings: Settings, limits: Limits) -> Iterator[tuple[int, str, int]]:
    """(number, name, most) of all that programs address: records of tables, voxels, texels of pictures."""
    for module in _modules(prepared, settings):
        for memory in module.memories:
            word = WORDS.get(memory.name, memory.name.replace("_", " "))
            if isinstance(memory, Volume):
                yield int(memory.data.size), word, limits.integers
            elif isinstance(memory, Table | Texels):
                yield len(memory.data), word, limits.integers


def _modules(prepared: PreparedScene, settings: Settings) -> list[Module]:
    lit, tree = settings.picture_program.progressive, prepared.light_tree(settings)
    return prepared.modules(True, lit, settings.sampler, tree, prepared.camera_moves(settings))


def _hint(prepared: PreparedScene, word: str, most: int) -> str:
    if prepared.structure_options.accel == "grid" and word in (WORDS["grid_pointers"], WORDS["grid_lists"]):
        resolution = [int(n) for n in prepared.structure.built.resolution]
        largest = _largest_grid(resolution, most)
        return f"take --grid {largest}" if largest < min(resolution) else f"take a --grid below {min(resolution)}"
    return "use a smaller scene"


def _largest_grid(resolution: list[int], most: int) -> int:
    """Voxels along the shortest side of a grid of about these proportions with at most that number in all."""
    least = min(resolution)
    for size in range(least, 1, -1):
        if math.prod(math.ceil(n * size / least) for n in resolution) <= most:
            return size
    return 1
