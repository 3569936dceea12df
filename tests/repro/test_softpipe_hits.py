"""Mesa's softpipe lost hits, or never came to an end: it stores four pixels' values at the array index of the first,
which a stack does not survive, and repeats buffer textures from their 32,769th texel on, of the 65,536 that it grants.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

SCRIPT = """
import json
import numpy as np
from raystream import Renderer, Scene, load

renderer = Renderer(load("cornell"), program="cast", machine="singlepass")
name = renderer.device.name
found = {"name": name}
if name.startswith("softpipe"):
    found["stores"] = renderer.device.array_stores
    found["traversal"] = renderer.render((16, 16)).metadata["traversal"]
    room = {}
    for machine in ("singlepass", "multipass"):
        for accel in ("bvh", "grid"):
            renderer.update(machine=machine, accel=accel)
            room[machine, accel] = renderer.render((16, 16), layers=("triangle",)).layers["triangle"]
    found["differ"] = [int((each != room["singlepass", "grid"]).sum()) for each in room.values()]
    renderer.update(accel="bvh", traversal="stack")
    found["notes"] = renderer.notes
    count = 20000  # triangles of 3 texels: fewer than 65,536
    places = np.stack([np.arange(count) % 100, np.arange(count) // 100, np.zeros(count)], axis=1)
    corners = places[:, None] + np.float32([[-0.2, -0.2, 0], [0.2, -0.2, 0], [0, 0.2, 0]])
    field = Scene.from_triangles(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    goals = np.arange(0, count, 57)
    rays = places[goals] + [0, 0, 1.0], np.broadcast_to([0, 0, -1.0], (len(goals), 3))
    hits = Renderer(field, program="cast", machine="singlepass").trace(*rays)
    found["lost"] = int((hits.triangle != goals).sum())
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def softpipe() -> dict[str, Any]:
    chosen = {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "softpipe"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **chosen},
        capture_output=True,
        text=True,
        timeout=600,  # it never came to an end
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if not found["name"].startswith("softpipe"):
        pytest.skip(f"no softpipe here, but {found['name']}")
    return found


def test_every_structure_finds_the_same_hits(softpipe: dict[str, Any]) -> None:
    assert softpipe["differ"] == [0, 0, 0, 0]


def test_the_driver_takes_one_index_for_four_stores(softpipe: dict[str, Any]) -> None:
    """A traversal with a stack is not to blame, and is done without; where it was asked for, that is said."""
    assert softpipe["stores"] is False
    assert softpipe["traversal"] == "octants"
    assert any("stack" in note and "octants" in note for note in softpipe["notes"])


def test_tables_beyond_what_its_buffers_hold(softpipe: dict[str, Any]) -> None:
    assert softpipe["lost"] == 0
