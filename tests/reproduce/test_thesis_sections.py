"""Sections on the thesis and on Adinetz and Berezin: what they time, and what they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction import thesis_back_ends as ends
from reproduction.context import Context
from reproduction.plane_tests import CONDITION, FILE, conditional
from reproduction.report import OWN, Table
from reproduction.sections import adinetz
from reproduction.simulators import packets
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.whitted import probes as drawings
from reproduction.simulators.whitted.back_ends import NoOpenClError
from reproduction.simulators.whitted.back_ends import device as opencl_device
from reproduction.simulators.whitted.model import hierarchy

import raystream
from raystream.accel.structures import Structure, StructureOptions
from raystream.accel.two_level.structure import two_level_structure
from raystream.scene import builtin
from raystream.scene.scene import Scene


def test_the_camera_goes_on() -> None:
    """Each back end from where it was, about the scene's middle, at one distance."""
    scene = builtin.build("sphere")
    seen: dict[str, list] = {"one": [], "other": []}
    draws = {name: lambda camera, size, name=name: seen[name].append(camera.origin) for name in seen}
    cases = ends.going_around(draws, scene, scene.camera(), (8, 8), 1e-9)  # type: ignore[arg-type]
    for _ in range(5):
        for case in cases.values():
            assert (case() or {})[ends.FRAME] > 0
    assert len(seen["one"]) == len(seen["other"]) == 6 and seen["one"] == seen["other"]
    flat = np.array(seen["one"][1:])[:, [0, 2]] - scene.bounds().mean(axis=0)[[0, 2]]
    angle = np.unwrap(np.arctan2(flat[:, 0], flat[:, 1]))
    assert np.allclose(np.diff(angle), ends.TURN) and np.ptp(np.linalg.norm(flat, axis=1)) < 1e-6


def test_all_back_ends_of_the_protocol(device: object, tmp_path: Path) -> None:
    context, scene = Context(tmp_path), ends.prepared(builtin.build("sphere"))
    found = ends.compared(context, scene, scene.camera(), 4000)
    wanted = set(ends.OURS)
    try:
        opencl_device()
    except NoOpenClError:
        wanted -= {"OpenCL"}
        assert "install" in found["absent"]
    assert set(found["differs"]) == wanted
    assert max(found["differs"].values()) <= ends.SHARE and abs(sum(found["rays"]) / 4000 - 1) < 0.1
    with ends.back_ends(context, scene) as draws:
        cases = ends.going_around(draws, scene, scene.camera(), (8, 8), 1e-9)
        assert set(cases) == wanted and all((case() or {})[ends.FRAME] > 0 for case in cases.values())


# -- drawings ----------------------------------------------------------------------------------------------------------


def test_a_ray_leaves_out_what_is_below_a_missed_box() -> None:
    own = drawings.small()
    ray = np.float32([3.4, 0.3, -5.0, 0.0, 0.0, 1.0])
    top, below = drawings.visited(own, ray)
    assert top == sorted(top) and list(below) == [1]  # instance 1 stands at x = 3
    (seen,) = below.values()
    held = [int(own.numbers[own.links[node, 1]]) for node in seen if own.links[node, 2]]
    assert 0 in held and 3 not in held and len(seen) < len(own.links) == 7
    beside, none = drawings.visited(own, np.float32([30.0, 0.3, -5.0, 0.0, 0.0, 1.0]))
    assert beside == [0] and not none


def test_drawn_rays_are_those_of_the_formulas() -> None:
    (start, reflected), (_, refracted) = drawings.directions(50.0)
    assert np.allclose(reflected[:2], [np.sin(np.radians(50)), np.cos(np.radians(50))], atol=1e-6)
    assert np.isclose(drawings.INDEX * refracted[0], np.sin(np.radians(50)), atol=1e-6) and refracted[1] < 0
    assert np.abs(start).max() < 1e-3
    _, (behind, onward) = drawings.directions(50.0, thickness=0.5)
    assert np.allclose(behind, 0.5 * refracted, atol=1e-3) and np.allclose(onward[:2], [0.76604, -0.64279], atol=1e-4)
    assert len(drawings.directions(41.0, inside=True)) == 2 and len(drawings.directions(42.0, inside=True)) == 1


# -- Adinetz and Berezin -----------------------------------------------------------------------------------------------


def test_packets_hit_what_single_rays_hit() -> None:
    scene = builtin.build("chair")
    structure = hierarchy(scene, scene.flatten())
    eye = packets.blocks(eye_rays(scene.camera(), (32, 32)), 32, 32)
    rays = adinetz._rows(eye)
    rays[5, 6] = -1.0  # takes no part
    one, four = (packets.traffic(structure, rays, size) for size in (1, 4))
    assert np.array_equal(one.face, four.face) and np.array_equal(one.distance, four.distance)
    assert one.face[5] == -1 and (one.face >= 0).mean() > 0.3 and one.rays == four.rays == 1023
    # No packet fetches less than its ray that fetches most, nor more than all of its rays.
    assert one.boxes / 4 < four.boxes < one.boxes and one.triangles / 4 < four.triangles <= one.triangles
    same = packets.traffic(structure, np.repeat(rays[:1], 4, axis=0), 4)
    assert same.boxes == packets.traffic(structure, rays[:1], 1).boxes


def test_packets_that_fetch_too_little_or_too_much_are_told(tmp_path: Path, monkeypatch: Any) -> None:
    """A test of the simulation, no claim of the paper: rays one by one never fetch less than together."""
    for share, passed in ((0.2, False), (0.25, True), (1.0, True), (1.1, False)):
        found = {kind: [[100, 100, 10], [100 * share, 100, 10]] for kind in ("eye rays", "mirrored rays")}
        monkeypatch.setattr(adinetz, "packets", lambda scene, edge, found=found: found)
        context = Context(tmp_path / str(share), quick=True)
        monkeypatch.setattr(context, "keep", lambda key, function: function())
        (table,) = adinetz.four_rays(context)
        assert isinstance(table, Table) and [check.passed for check in table.checks] == [passed]
        assert table.checks[0].kind == OWN


def test_the_condition_changes_no_picture(device: object, tmp_path: Path) -> None:
    found = adinetz.differ_by_test(Context(tmp_path), "Knife", 32)
    assert found["planes"] == found[CONDITION] > found["planes, weights to 1"] and found["watertight"] == 0.0
    with adinetz.tested(Context(tmp_path), "Knife", 8) as cases:
        assert set(cases) == set(adinetz.TESTS)
    with conditional():
        held = [each.source for each in structure_of(builtin.build("knife")).modules()]
    assert str(FILE) in held and "accel/triangle_planes.glsl" not in held


def structure_of(scene: Scene) -> Structure:
    return two_level_structure(scene, StructureOptions("two-level-grid", intersection="planes"))


def test_what_moves_is_moved_in_every_frame(device: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[list[int]] = []
    move = raystream.Renderer.move
    monkeypatch.setattr(raystream.Renderer, "move", lambda self, each: moved.append(sorted(each)) or move(self, each))
    with adinetz.pictures(Context(tmp_path), 16, (adinetz.MOVING, adinetz.MOVES)) as cases:
        for _ in range(3):
            cases[adinetz.MOVES]()
            assert moved[-1] == [0, 1]
        cases[adinetz.MOVING]()
    assert len(moved) == 3
    assert adinetz.SETTINGS["intersection"] == "planes" and adinetz.SETTINGS["plane_slack"] == 1.004
