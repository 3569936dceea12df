"""One picture by every mask: cast, whitted, path and photon, over fusions, unrolls and both counts."""

from __future__ import annotations

from itertools import cycle

import pytest

import raystream
from raystream.renderer.renderer import Renderer

SIZE, SPP = (21, 18), 2  # more than a tile, and parts of tiles
PROGRAMS = {"cast": {}, "whitted": {"depth": 2}, "path": {"depth": 2}, "photon": {"photons": 300, "depth": 2}}
MASKS = ("depth", "stencil", "kill", "tiles", "none")
WAYS = (
    {"fuse": "none", "count": "query", "unroll": "auto"},
    {"fuse": "ray", "count": "census", "unroll": 7},
    {"fuse": "surface", "count": "query", "unroll": 3},
    {"fuse": "none", "count": "census", "unroll": "auto", "policy": "most-work"},
    {"fuse": "surface", "count": "census", "unroll": "auto"},
    {"fuse": "ray", "count": "query", "unroll": "9,4", "policy": "threshold"},
)


@pytest.fixture(scope="module")
def scene():
    return raystream.load("glass_ball")


@pytest.mark.slow  # half a minute of compiling; the programs' own tests have a few of the ways each
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_mask_gives_the_same_bits(scene, program):
    """Each mask with two of the ways; other programs begin with others."""
    renderer = Renderer(scene, program=program, machine="singlepass", **PROGRAMS[program])
    spp = {} if program == "cast" else {"spp": SPP}
    first = renderer.render(SIZE, **spp).linear.tobytes()
    ways = cycle(WAYS[len(program) % len(WAYS) :] + WAYS[: len(program) % len(WAYS)])
    for mask in (*MASKS, *MASKS[1::2]):
        way = {"policy": "sweep", **next(ways)}
        renderer.update(machine="multipass", mask=mask, **way)
        picture = renderer.render(SIZE, **spp)
        assert picture.linear.tobytes() == first, (mask, way)
        assert bool(picture.stats.tiles) == (mask == "tiles" and way["count"] == "query"), (mask, way)
    renderer.release()
