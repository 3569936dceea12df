"""The thesis, Adinetz and Berezin: back ends that draw one picture, what T prints taken by its word, and sections."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction import drawings
from reproduction import thesis_back_ends as ends
from reproduction.context import Context
from reproduction.plane_tests import CONDITION, FILE, conditional
from reproduction.report import OWN, Table
from reproduction.sections import adinetz, thesis, thesis_text
from reproduction.simulators import packets
from reproduction.simulators.packets import traffic
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.whitted import formulas, loops, probes
from reproduction.simulators.whitted.back_ends import Emulation, Level, NoOpenClError, OpenCl, Processor, device
from reproduction.simulators.whitted.back_ends import device as opencl_device
from reproduction.simulators.whitted.model import SETTINGS, Traced, build, hierarchy
from reproduction.thesis_back_ends import prepared

import raystream
from raystream import Renderer
from raystream.accel.structures import Structure, StructureOptions
from raystream.accel.two_level.structure import two_level_structure
from raystream.base.errors import ViewerError
from raystream.scene import builtin
from raystream.scene.camera import Camera
from raystream.scene.hierarchy import compose
from raystream.scene.material import ClassicMaterial, Material
from raystream.scene.scene import Instance, Scene

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


SKY, SIZE, DEPTH = (0.5, 0.7, 1.0), (40, 40), 3
# float32, in another order of operations: where rounding decides which side of an edge or of the critical angle a ray
# meets, pictures differ by more, in a few pixels.
MEDIAN, ALIKE, SHARE = 1e-5, 1e-3, 0.98
KINDS = {
    "glass": {},
    "channels that part": {"indices": (1.35, 1.5, 1.65)},
    "a sheet": {"thickness": 0.3},
    "a slab whose channels part": {"thickness": 0.3, "thickness_model": "slab", "indices": (1.35, 1.5, 1.65)},
}


def sphere(**fields: object) -> Scene:
    """The thesis's, its glass with other fields, its texture without mip levels."""
    scene = builtin.build("sphere")
    glass = scene.materials[0]
    assert glass.classic is not None
    own = replace(glass, classic=replace(glass.classic, **fields))  # type: ignore[arg-type]
    textures = [replace(each, minification="linear") for each in scene.textures]
    return replace(scene, materials=[own, *scene.materials[1:]], textures=textures)


def machine(scene: Scene, camera: Camera) -> np.ndarray:
    """The picture by a single pass of fragment programs."""
    renderer = Renderer(
        scene,
        program="whitted",
        machine="singlepass",
        depth=DEPTH,
        environment=",".join(map(str, SKY)),
        pixel_filter="point",
        **SETTINGS,
    )
    renderer.update(camera=camera)
    picture = renderer.render(SIZE, spp=1).linear.copy()
    renderer.release()
    return picture


def assert_alike(one: np.ndarray, other: np.ndarray) -> None:
    apart = np.abs(one - other).max(axis=2)
    assert np.median(apart) < MEDIAN and (apart < ALIKE).mean() > SHARE, (np.median(apart), (apart < ALIKE).mean())


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_same_picture(device: object, kind: str) -> None:
    scene = sphere(**KINDS[kind])
    camera, traced = scene.camera(), Traced.of(scene, SKY, DEPTH)
    recursive = Processor(traced).render(camera, SIZE)
    assert_alike(recursive.pixels, machine(scene, camera))
    if kind == "glass":
        serial = Emulation(traced).render(camera, SIZE)
        assert_alike(recursive.pixels, serial.pixels)
        assert recursive.intersections == serial.intersections > 3 * SIZE[0] * SIZE[1]


@pytest.mark.parametrize("kind", list(KINDS))
def test_opencl_draws_it_too(kind: str) -> None:
    try:
        device()
    except NoOpenClError as error:
        pytest.skip(f"nothing to run OpenCL C on: {error}")
    traced = Traced.of(sphere(**KINDS[kind]), SKY, DEPTH)
    recursive, parallel = (end(traced).render(traced.scene.camera(), SIZE) for end in (Processor, OpenCl))
    assert_alike(recursive.pixels, parallel.pixels)
    assert abs(parallel.intersections / recursive.intersections - 1) < 0.01


def test_instances_that_are_turned_mirrored_and_moved(device: object) -> None:
    rng, count = np.random.default_rng(4), 12
    scale = rng.uniform(0.3, 0.8, (count, 3)) * np.where(np.arange(count) % 3 == 0, -1, 1)[:, None]
    maps = compose(rng.uniform(-2.5, 2.5, (count, 3)), rng.normal(size=(count, 4)), scale)
    glass = ClassicMaterial(bias=0.1, scale=0.9, reflectivity=0.6, transmittance=0.5)
    scene = builtin.build("sphere")
    materials = [Material(each.name, kind="classic", classic=glass) for each in scene.materials]
    scene = replace(scene, materials=materials, instances=[Instance(0, each) for each in maps])
    low, high = scene.bounds()
    middle = (low + high) / 2
    camera = Camera(tuple(map(float, middle + [0.0, 0.0, 1.2 * (high - low).max()])), tuple(map(float, middle)), fov=50)
    found = Processor(Traced.of(scene, SKY, DEPTH)).render(camera, SIZE)
    assert 1.3 * SIZE[0] * SIZE[1] < found.intersections
    # Uneven scales: normals of small triangles, and rays along edges, differ more often.
    apart = np.abs(found.pixels - machine(scene, camera)).max(axis=2)
    assert np.median(apart) < MEDIAN and (apart < 0.02).mean() > 0.95, (np.median(apart), (apart < 0.02).mean())


def test_one_primitive_in_a_leaf_and_escape_indices() -> None:
    model = build(builtin.build("sphere"))
    leaf = model.links[:, 2] > 0
    assert set(model.links[leaf, 2].tolist()) == {1} and len(model.numbers) == leaf.sum() == 10_000
    after = np.arange(1, len(leaf) + 1)
    assert (model.links[:, 0] >= after).all() and (model.links[leaf, 0] >= after[leaf]).all()
    assert model.top_links.tolist() == [[3, -1], [2, model.top_links[1, 1]], [3, model.top_links[2, 1]]]
    assert set(model.top_links[1:, 1].tolist()) == {0, 1}
    several = build(builtin.build("sphere"), {**SETTINGS, "build": "sah"})
    assert several.links[:, 2].max() > 1


def test_other_materials_are_refused() -> None:
    with pytest.raises(ViewerError, match="is not a classic one"):
        Traced.of(builtin.build("cornell"))


EMULATION_SKY = (0.5, 0.7, 1.0)


@pytest.fixture(scope="module")
def untextured():
    scene = builtin.build("sphere")
    materials = [replace(each, classic=replace(each.classic, textures=())) for each in scene.materials]
    return replace(scene, materials=materials)


@pytest.mark.parametrize("depth", [0, 4])
def test_the_machines_picture(untextured, depth: int) -> None:
    size = (40, 40)
    frame = Emulation(Traced.of(untextured, EMULATION_SKY, depth)).render(untextured.camera(), size)
    renderer = Renderer(
        untextured,
        program="whitted",
        machine="singlepass",
        accel="grid",
        depth=depth,
        environment="0.5,0.7,1",
        pixel_filter="point",
    )
    picture = renderer.render(size, spp=1).linear
    apart = np.abs(frame.pixels - picture).max(axis=2)
    # float64 against float32; where a ray meets an edge the two may take different sides of it.
    assert np.median(apart) < 1e-5 and (apart < 1e-3).mean() > 0.97
    assert len(frame.rays) == depth + 1 and frame.rays[0] == 1600 and frame.intersections == sum(frame.rays)


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
    own = probes.small()
    ray = np.float32([3.4, 0.3, -5.0, 0.0, 0.0, 1.0])
    top, below = probes.visited(own, ray)
    assert top == sorted(top) and list(below) == [1]  # instance 1 stands at x = 3
    (seen,) = below.values()
    held = [int(own.numbers[own.links[node, 1]]) for node in seen if own.links[node, 2]]
    assert 0 in held and 3 not in held and len(seen) < len(own.links) == 7
    beside, none = probes.visited(own, np.float32([30.0, 0.3, -5.0, 0.0, 0.0, 1.0]))
    assert beside == [0] and not none


def test_drawn_rays_are_those_of_the_formulas() -> None:
    (start, reflected), (_, refracted) = probes.directions(50.0)
    assert np.allclose(reflected[:2], [np.sin(np.radians(50)), np.cos(np.radians(50))], atol=1e-6)
    assert np.isclose(probes.INDEX * refracted[0], np.sin(np.radians(50)), atol=1e-6) and refracted[1] < 0
    assert np.abs(start).max() < 1e-3
    _, (behind, onward) = probes.directions(50.0, thickness=0.5)
    assert np.allclose(behind, 0.5 * refracted, atol=1e-3) and np.allclose(onward[:2], [0.76604, -0.64279], atol=1e-4)
    assert len(probes.directions(41.0, inside=True)) == 2 and len(probes.directions(42.0, inside=True)) == 1


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


SPHERE = {"Sphere": "sphere"}


def recursion(corners: np.ndarray, level: int = 0, stuck: int = 0) -> tuple[int, int, int]:
    """Nodes, one-sided splits and primitives without end of algorithm 6-1, node after node."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    if stuck == 3:
        return 0, 0, len(corners)
    own = int(stuck == 0)
    if len(corners) <= 2:
        return own + 2 * (len(corners) == 2), 0, 0
    axis = level % 3
    behind = (low + high)[:, axis] / 2 >= (low.min(axis=0) + high.max(axis=0))[axis] / 2
    if behind.all() or not behind.any():
        nodes, sides, endless = recursion(corners, level + 1, stuck + 1)
        return nodes + own, sides + 1, endless
    one, other = (recursion(each, level + 1) for each in (corners[behind], corners[~behind]))
    return own + one[0] + other[0], one[1] + other[1], one[2] + other[2]


@pytest.mark.parametrize("seed", range(4))
def test_boxes_halved_level_by_level_are_those_of_the_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(60, 3, 3)).astype(np.float32)
    corners[:20] = corners[0] + np.float32([0.01, 0.0, 0.0]) * np.arange(20)[:, None, None]  # along x
    corners[30:33] = corners[30]  # three of one place
    found = formulas.halved(corners)
    assert (found.nodes, found.one_sided, found.endless) == recursion(corners)
    assert found.one_sided > 0 and found.endless >= 3
    apart = formulas.halved(np.float32([[[x, y, z]] * 3 for x in (0, 9) for y in (0, 9) for z in (0, 9)]))
    assert (apart.nodes, apart.one_sided, apart.endless, apart.levels) == (15, 0, 0, 3)


def test_boxes_as_printed_lose_what_rays_of_negative_directions_hit() -> None:
    model = probes.small()
    rng = np.random.default_rng(3)
    targets, origins = rng.uniform(0, [8, 2, 1], (400, 3)), rng.uniform(-4, [12, 6, 6], (400, 3))
    rays = np.concatenate([origins, targets - origins], axis=1).astype(np.float32)
    whole = np.pad(rays, ((0, 0), (0, 1)), constant_values=loops.FAR)
    hit = traffic(model.structure, whole, 1)
    tested, who, faces = formulas.reached(model, rays, True, True)
    assert formulas.lost(hit.face, who, faces) == 0 and tested >= hit.boxes and (hit.face >= 0).sum() > 50
    # A leaf is reached if its own box is met, as boxes above it hold it.
    leaf = np.flatnonzero(model.links[:, 2] > 0)
    wanted = set()
    for instance, (_, first) in enumerate(model.roots):
        rows = model.instances[instance].reshape(3, 4).astype(np.float64)
        at, along = (rays[:, :3] - rows[:, 3]) @ rows[:, :3].T, rays[:, 3:] @ rows[:, :3].T
        for node in leaf:
            one, other = ((model.boxes[node, side : side + 3] - at) / along for side in (0, 3))
            near, far = np.minimum(one, other).max(axis=1), np.maximum(one, other).min(axis=1)
            number = int(first) + int(model.numbers[model.links[node, 1]])
            wanted |= {(int(ray), number) for ray in np.flatnonzero((near <= far) & (far >= 0))}
    found = set(zip(who.tolist(), faces.tolist(), strict=True))
    assert wanted and len(wanted ^ found) <= 0.01 * len(wanted)
    _, who, faces = formulas.reached(model, rays, False, False)
    assert formulas.lost(hit.face, who, faces) > 0.5
    forward = (rays[:, 3:] > 0).all(axis=1)
    kept = np.where(forward, hit.face, -1)
    assert (kept >= 0).any() and formulas.lost(kept, who, faces) == 0


def levels() -> list[Level]:
    """Two eye rays; of the first come two rays, of the second of these another."""
    made: dict[str, Any] = {"rays": np.zeros(2), "missed": np.zeros(2, bool), "refracted": np.zeros(2, bool)}
    one, two = np.full((2, 3), 0.5), np.full((1, 3), 0.25)
    eye = Level(pixel=np.arange(2), parent=np.arange(2), share=2 * one, weight=2 * one, light=one, **made)
    next_ = Level(pixel=np.zeros(2, int), parent=np.zeros(2, int), share=one, weight=one, light=2 * one, **made)
    last = Level(pixel=np.zeros(1, int), parent=np.ones(1, int), share=two, weight=two / 2, light=4 * one[:1], **made)
    return [eye, next_, last]


def test_recursion_and_weights_are_one_sum() -> None:
    recursive, weighted = formulas.nested(levels())
    assert recursive.tolist() == weighted.tolist() == [[1.75] * 3, [0.5] * 3]
    assert formulas.unfinished(levels(), 0.2) == [0.5, 0.5, 0.0] and formulas.unfinished(levels(), 0.3)[1] == 0.0
    scene = prepared(builtin.build("sphere"))
    emulation = Emulation(Traced.of(scene, SKY, 3))
    recursive, weighted = formulas.nested(list(emulation.levels(scene.camera(), (12, 12))))
    assert np.abs(recursive - weighted).max() < 1e-14
    assert np.allclose(recursive, emulation.render(scene.camera(), (12, 12)).pixels.reshape(-1, 3), atol=1e-6)


def test_fresnel_and_snell() -> None:
    brewster = np.cos(np.arctan(1.5))
    normal, polarised, grazing = formulas.reflectance(np.array([1.0, brewster, 0.0]), 1.5)
    assert np.isclose(normal, 0.04) and np.isclose(polarised, ((1.5**2 - 1) / (1.5**2 + 1)) ** 2 / 2) and grazing == 1
    assert formulas.bent(np.radians(42), 1.5, inside=True) is None
    sine, cosine = formulas.bent(np.radians(30), 1.5) or (0, 0)
    assert np.isclose(sine, 1 / 3) and np.isclose(cosine, -np.sqrt(8 / 9))
    found = thesis_text.angles()
    assert max(found[each] for each in ("reflected", "into", "out", "share")) < thesis_text.BOUND
    assert found["beyond"] == found["total"] == 48  # 42 to 89 degrees
    assert formulas.counted([4, 7, 9]) == [4, 3, 2]


def test_the_drawn_tree_is_that_of_a_pixel() -> None:
    found = thesis_text.tree(16, 9)
    assert found[0]["parent"] == [0] and found[0]["weight"] == [1.0] and sum(len(each["parent"]) for each in found) > 4
    for above, below in pairwise(found):
        assert below["parent"] == sorted(below["parent"])
        sums = np.bincount(below["parent"], below["weight"], minlength=len(above["weight"]))
        assert (sums <= 1.01 * np.array(above["weight"])).all() and not sums[above["missed"]].any()
    drawn = drawings.draw_tree(found)
    assert drawn.count("<ellipse") == sum(len(each["parent"]) for each in found) == drawn.count("<path") + 1
    assert drawn.count("dasharray") == sum(sum(each["refracted"]) for each in found[1:])


def test_a_motion_leaves_the_lower_level_alone() -> None:
    found = thesis_text.rigid()
    assert found["below"] == 0 < found["above"] <= found["top"] < found["tree"]


def test_turned_rays_change_more_pixels_the_further_they_are_turned() -> None:
    scene = prepared(builtin.build("sphere"))
    processor = Processor(Traced.of(scene, SKY, 4))
    differs = np.zeros((24, 24), bool)
    none, few, many = (
        thesis.turned(processor, scene.camera(), 24, roundings, differs) for roundings in (0, 1, 1 << 18)
    )
    assert none == (0.0, 0.0, None) and few[0] < 0.01 < 0.1 < many[0] < many[1]
    _, any_run, among = thesis.turned(processor, scene.camera(), 24, 1 << 18, ~differs)
    assert among == any_run == many[1]
