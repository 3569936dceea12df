"""Small Quake III levels took all memory, or minutes: faces that share vertices or corners were copied face by face,
models entity by entity, and names and lightmaps were searched for in lists. Now vertices are numbered, patches
tessellated together, and a budget is charged before memory is taken."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from levels import level_lumps

from raystream.formats import bsp, load
from tests.refusals import refusal

MOST_BYTES, MOST_SECONDS = 1400 << 20, 20.0


def crafted(path: Path, **tables: np.ndarray | bytes) -> Path:
    """The small level with other lumps."""
    lumps = level_lumps() | {name: each if isinstance(each, bytes) else each.tobytes() for name, each in tables.items()}
    path.write_bytes(bsp.join_lumps(lumps))
    return path


def repeated(face: int, count: int) -> np.ndarray:
    return np.repeat(np.frombuffer(level_lumps()["faces"], bsp.FACE)[face], count)


def vertices(count: int) -> np.ndarray:
    return np.resize(np.frombuffer(level_lumps()["vertices"], bsp.VERTEX), count)


def models(*ranges: tuple[int, int]) -> np.ndarray:
    table = np.zeros(len(ranges), bsp.MODEL)
    table["face"], table["faces"] = np.array(ranges).T
    return table


def shared_vertices(path: Path) -> Path:
    """5,000 faces over the same 10,000 vertices, with a triangle each."""
    faces = repeated(0, 5000)
    faces["vertices"], faces["corners"] = 10_000, 3
    faces["lightmap"] = -1
    return crafted(path, faces=faces, models=models((0, len(faces))), vertices=vertices(10_000))


def shared_corners(path: Path) -> Path:
    """5,000 faces that each have all 90,000 corners."""
    faces = repeated(0, 5000)
    faces["corners"] = 90_000
    return crafted(path, faces=faces, models=models((0, len(faces))), corners=np.resize(np.int32([0, 2, 1]), 90_000))


def placed_models(path: Path) -> Path:
    """10,000 entities that place a model of 500 faces with a texture each."""
    faces = repeated(0, 500)
    faces["texture"] = np.arange(500)
    textures = np.zeros(500, bsp.TEXTURE)
    textures["name"] = [f"t{k}".encode() for k in range(500)]
    entities = b'{"model""*1"}' * 10_000
    return crafted(path, faces=faces, models=models((0, 0), (0, 500)), textures=textures, entities=entities)


def overlapping_models(path: Path) -> Path:
    """5,000 models, placed once each, all with the same 5,000 faces."""
    entities = b"".join(b'{"model""*%d"}' % k for k in range(1, 5000))
    faces = repeated(0, 5000)
    return crafted(path, faces=faces, models=models(*[(0, 5000)] * 5000), entities=entities)


def long_net(path: Path) -> Path:
    """A patch of 3 x 20,001 control points."""
    faces = repeated(1, 1)
    faces["vertex"], faces["vertices"], faces["net"] = 0, 60_003, (20_001, 3)
    return crafted(path, faces=faces, models=models((0, 1)), vertices=vertices(60_003))


def many_lights_and_starts(path: Path) -> Path:
    """20,000 starts of one name, and 2,000 faces with a lightmap and texture of their own."""
    entities = b'{"classname""info_player_start""name""a"}' * 20_000
    textures = np.zeros(2000, bsp.TEXTURE)
    textures["name"] = [f"t{k}".encode() for k in range(2000)]
    faces = repeated(0, 4000)
    faces["texture"], faces["lightmap"] = np.arange(4000) % 2000, np.arange(4000) // 2000
    pages = np.zeros((2, bsp.PAGE, bsp.PAGE, 3), np.uint8)
    return crafted(path, faces=faces, models=models((0, 4000)), textures=textures, entities=entities, lightmaps=pages)


def many_patches(path: Path) -> Path:
    """20,000 patches of their own vertices."""
    faces = repeated(1, 20_000)
    faces["vertex"] = 9 * np.arange(20_000)
    own = np.frombuffer(level_lumps()["vertices"], bsp.VERTEX)[4:13]
    return crafted(path, faces=faces, models=models((0, 20_000)), vertices=np.tile(own, 20_000))


@pytest.mark.parametrize(
    ("make", "triangles"),
    [
        (shared_vertices, 5000),
        (shared_corners, None),
        (placed_models, None),
        (overlapping_models, None),
        (long_net, 10_000 * 8 * 8 * 2),
        (many_lights_and_starts, 8000),
        (many_patches, 20_000 * 128),
    ],
)
def test_levels(make, triangles, tmp_path: Path) -> None:
    path = make(tmp_path / "crafted.bsp")
    tracemalloc.start()
    began = time.process_time()
    try:
        with refusal("expands to far more data than it holds" if triangles is None else ""):
            assert load(path).triangle_count == triangles
        taken, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    print(f"{make.__name__}: {path.stat().st_size:,} bytes, {taken:.2f} s, {peak >> 20} MiB")
    assert taken < MOST_SECONDS and peak < MOST_BYTES
