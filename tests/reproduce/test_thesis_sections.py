"""Sections on the thesis and on Adinetz and Berezin: what they time, and what they show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from reproduction import thesis_back_ends as ends
from reproduction.context import Context
from reproduction.published.thesis import RATES, SECONDS
from reproduction.sections import thesis
from reproduction.simulators.whitted.opencl import NoOpenClError
from reproduction.simulators.whitted.opencl import device as opencl_device

from viewer.scene import builtin


def test_the_camera_goes_on() -> None:
    """Each back end from where it was, about the scene's middle, at one distance."""
    scene = builtin.build("sphere")
    seen: dict[str, list] = {"one": [], "other": []}

    def case(name: str):  # type: ignore[no-untyped-def]
        return lambda camera: seen[name].append(camera.origin)

    seconds = ends.in_turns({name: case(name) for name in seen}, scene.camera(), scene, 1e-9)
    assert {len(each) for each in seconds.values()} == {ends.RUNS}
    assert len(seen["one"]) == len(seen["other"]) == ends.RUNS and seen["one"] == seen["other"]
    flat = np.array(seen["one"])[:, [0, 2]] - scene.bounds().mean(axis=0)[[0, 2]]
    angle = np.unwrap(np.arctan2(flat[:, 0], flat[:, 1]))
    assert np.allclose(np.diff(angle), ends.TURN) and np.ptp(np.linalg.norm(flat, axis=1)) < 1e-6


def test_all_back_ends_of_the_protocol(device: object, tmp_path: Path) -> None:
    scene = ends.prepared(builtin.build("sphere"))
    found = ends.protocol(Context(tmp_path), scene, scene.camera(), 4000, 0.05)
    wanted = set(ends.OURS)
    try:
        opencl_device()
    except NoOpenClError:
        wanted -= {"OpenCL"}
        assert "pip install" in found["absent"]
    assert set(found["seconds"]) == set(found["differs"]) == wanted
    assert all(len(each) == ends.RUNS and min(each) > 0 for each in found["seconds"].values())
    assert max(found["differs"].values()) < 0.01 and abs(sum(found["rays"]) / 4000 - 1) < 0.1


def test_no_cell_is_left_unexamined() -> None:
    cells = [thesis._printed(*each) for name in RATES for each in zip(RATES[name], SECONDS[name], strict=True)]
    assert all(cell.agrees for cell in cells) and len(cells) == 12
    off = thesis._printed(9.5, 0.2)
    assert off.agrees is False and "not examined" not in off.reason
    assert thesis._cell(0.33, None).agrees is None and "OpenCL" in thesis._cell(0.33, None).reason
