"""Traces of references, caches that they are played through, and trace files."""

from __future__ import annotations

import numpy as np
import pytest
from reproduction.published.chapter5 import KernelRow as Row
from reproduction.simulators import references
from reproduction.simulators.machines import (
    COLOR,
    EYE,
    INTERSECT,
    KERNELS,
    OTHER_PASSES,
    SETUP,
    STEP,
    cost,
    simd,
    workload,
)
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.references import KINDS, WRITES, Cache, Layout, Traffic
from reproduction.simulators.walk import Space, walk

from raystream.accel.grid.build import build
from raystream.scene.builtin.cornell import build as cornell

ROWS = {EYE: Row(1, 0, 5, 0), SETUP: Row(1, 11, 12, 0), STEP: Row(1, 14, 9, 1), INTERSECT: Row(1, 14, 5, 10)}
ROWS[COLOR] = Row(1, 10, 3, 21)
MIMD = {**dict.fromkeys(KERNELS, Row(1, 0, 0, 0)), EYE: Row(1, 0, 4, 0), SETUP: Row(1, 7, 0, 0)}
MIMD |= {STEP: Row(1, 0, 0, 1), INTERSECT: Row(1, 0, 0, 10), COLOR: Row(1, 0, 3, 21)}


@pytest.fixture(scope="module")
def room():
    scene = cornell()
    corners = scene.flatten().corners()
    return Space.of(build(corners, 8), corners), eye_rays(scene.cameras[0], (24, 24))


def _all(chunks):
    return np.concatenate([codes.copy() for codes in chunks])


def _taken_apart(codes):
    """Kind, words and address of references."""
    return codes & 7, ((codes >> 3) & 3) + 1, codes >> 5


def test_both_machines_fetch_the_words_of_the_cost_model(room):
    space, rays = room
    runs, state = walk(space, rays)
    hits = float((state.triangle >= 0).mean())
    for machine, rows in ((references.simd_references, ROWS), (references.mimd_references, MIMD)):
        kind, words, _ = _taken_apart(_all(machine(space, rays, Traffic(rows))))
        model = cost(workload(runs, hits), rows).bytes_by_type
        stream = np.isin(kind, references.STREAM)
        color = rows[COLOR]
        # Rays that miss are not shaded, whatever their share.
        assert 4 * words[~stream].sum() == pytest.approx(model["structures"], rel=1e-12)
        assert 4 * words[stream].sum() == pytest.approx(model["stream"], rel=1e-12), color


def test_both_machines_fetch_the_same_structures(room):
    space, rays = room
    simd_codes = _all(references.simd_references(space, rays, Traffic(ROWS)))
    mimd_codes = _all(references.mimd_references(space, rays, Traffic(MIMD)))
    assert np.array_equal(*(np.sort(c[~np.isin(c & 7, references.STREAM)]) for c in (simd_codes, mimd_codes)))


def test_passes_are_the_scheduler_s(room):
    space, rays = room
    runs, _ = walk(space, rays)
    passes: list[int] = []
    for _ in references.simd_references(space, rays, Traffic(ROWS), passes=passes):
        pass
    expected = simd(runs, 1.0)
    assert (expected.traversal, expected.intersection) == tuple(passes)
    assert expected.total == sum(passes) + OTHER_PASSES


def test_order_is_a_pass_after_the_other(room):
    """The first pass of traversal: each ray's reads, its voxel, its writes, in the order of the rays."""
    space, rays = room
    codes = _all(references.simd_references(space, rays, Traffic(ROWS, eye=False, shade=False)))
    kind, words, at = _taken_apart(codes)
    voxels = np.flatnonzero(kind == references.VOXELS)[: len(rays) // 2]
    assert (np.diff(voxels) == 8).all()  # 4 texels read, 1 voxel, 3 written
    layout = Layout.of(space, len(rays)).at
    of = (at[voxels - 1] - layout[references.AT_STREAMS]) % layout[references.PER_STREAM] // 16
    assert (np.diff(of) > 0).all()
    assert words[voxels[0] - 4 : voxels[0] + 4].tolist() == [4, 4, 4, 2, 1, 4, 4, 1]


def test_small_chunks_are_the_same_trace(room, monkeypatch):
    space, rays = room
    for machine, rows in ((references.simd_references, ROWS), (references.mimd_references, MIMD)):
        whole = _all(machine(space, rays, Traffic(rows)))
        monkeypatch.setattr(references, "CHUNK", 97)
        assert np.array_equal(whole, _all(machine(space, rays, Traffic(rows))))
        monkeypatch.undo()


def test_tiles_to_completion_make_the_same_references(room):
    """The same structures, and as many words of streams, which all tiles have in the same place."""
    space, rays = room
    tiles = references.tiles_of((24, 24), 8)
    assert [len(tile) for tile in tiles] == [64] * 9
    whole = _all(references.simd_references(space, rays, Traffic(ROWS)))
    tiled = _all(references.simd_references(space, rays, Traffic(ROWS), tiles=tiles))
    stream, apart = np.isin(whole & 7, references.STREAM), np.isin(tiled & 7, references.STREAM)
    assert np.array_equal(np.sort(whole[~stream]), np.sort(tiled[~apart])) and len(whole) == len(tiled)
    assert np.array_equal(np.bincount(whole[stream] & 31), np.bincount(tiled[apart] & 31))
    layout = Layout.of(space, 64).at
    at = (tiled[apart] >> 5) - layout[references.AT_STREAMS]
    assert at.min() == 0 and at.max() < references.RECORD_TEXELS * layout[references.PER_STREAM]
    assert len(np.unique(at)) == references.RECORD_TEXELS * 64


# -- the cache -------------------------------------------------------------------------------------------------------


def _slow(codes, line, sets, ways, write_back):
    """Misses, lines fetched and lines written back, a list of lines for each set, the last used first."""
    lists: list[list[list[int]]] = [[] for _ in range(sets)]
    misses = lines = back = 0
    for code in codes.tolist():
        write = code & 7 == WRITES
        if write and not write_back:
            continue
        at, words = code >> 5, ((code >> 3) & 3) + 1
        missed = False
        for place in range(at // line, (at + 4 * words - 1) // line + 1):
            held = lists[place % sets]
            found = next((entry for entry in held if entry[0] == place), None)
            if found is None:
                missed, lines, found = True, lines + 1, [place, False]
                if len(held) == ways:
                    back += held.pop()[1]
            else:
                held.remove(found)
            found[1] = bool(found[1] or write)
            held.insert(0, found)
        misses += missed
    return misses, lines, back + sum(entry[1] for held in lists for entry in held)


@pytest.mark.parametrize(("line", "ways", "write_back"), [(48, 1, False), (32, 4, True), (20, 2, True), (4, 1, True)])
def test_cache_equals_lists_of_lines(line, ways, write_back):
    rng = np.random.default_rng(line)
    kinds, words = rng.integers(0, len(KINDS), 4000), rng.integers(1, 5, 4000)
    codes = ((rng.integers(0, 300, 4000) * 4) * 4 + words - 1) * 8 + kinds
    cache = Cache(line=line, ways=ways, sets=5, write_back=write_back).play([codes[:1000], codes[1000:]])
    misses, lines, back = _slow(codes, line, 5, ways, write_back)
    assert cache.references() == 4000 and cache.bytes_without() == 4 * words.sum()
    assert cache.hit_rate() == pytest.approx(1 - misses / 4000)
    written = back * line if write_back else 4 * words[kinds == WRITES].sum()
    assert cache.bytes_with() == lines * line + written
