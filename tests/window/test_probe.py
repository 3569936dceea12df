"""The pixel probe: a ray's history is the one that the picture's machines count, and its way is the grid's."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Camera, Renderer
from raystream.base.errors import ViewerError
from raystream.kernels import HIT, RADIANCE
from raystream.renderer.sampling.sampler import FramePlan, TileDone
from raystream.scene.material import Material
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance
from raystream.viewport.debug_views.probe import Probe, forget, probe, probing

SIZE = (64, 48)
CAMERA = Camera((0, 14, 26), (0, 2, 0), fov=45)


def framed(device: Any, **choices: Any) -> Renderer:
    """A picture with hits, rays through the scene's box that hit nothing, and rays beside it."""
    return Renderer(
        raystream.load("teapotahedron"), device=device, camera=CAMERA, **{"accel": "grid", "program": "cast", **choices}
    )


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    return framed(device, accel="grid")


def streams(renderer: Renderer) -> dict[str, np.ndarray]:
    """The picture's results as its own machine leaves them, and steps and tests."""
    (part,) = [
        event.tile
        for event in renderer.sampler.render_tiles(
            FramePlan(renderer.settings, renderer.camera, SIZE, layers=("steps", "tests"))
        )
        if isinstance(event, TileDone)
    ]
    with renderer.device.current():
        left = {name: part.machine.read(name) for name in ("hit", "radiance")}
        calls = part.machine.calls()
    return {**left, "steps": calls["traverse"], "tests": calls["intersect"]}


@pytest.fixture(scope="module")
def picture(renderer: Renderer) -> dict[str, np.ndarray]:
    return streams(renderer)


def chosen(picture: dict[str, np.ndarray]) -> dict[str, list[tuple[int, int]]]:
    """Pixels (x, y) of every kind, spread over the picture, and the dearest of all."""
    hit, box = picture["hit"]["triangle"] >= 0, picture["steps"] > 0
    kinds = {"hit": hit, "miss": box & ~hit, "beside": ~box, "dearest": picture["tests"] == picture["tests"].max()}
    found = {}
    for kind, where in kinds.items():
        y, x = np.nonzero(where)
        assert len(y), kind
        spread = np.linspace(0, len(y) - 1, min(len(y), 6)).astype(int)
        found[kind] = [(int(x[k]), int(y[k])) for k in spread]
    return found


@pytest.fixture(scope="module")
def probes(renderer: Renderer, picture: dict[str, np.ndarray]) -> dict[str, list[Probe]]:
    return {
        kind: [probe(renderer, renderer.camera, SIZE, pixel) for pixel in pixels]
        for kind, pixels in chosen(picture).items()
    }


def every(probes: dict[str, list[Probe]]) -> list[Probe]:
    return [found for kind in probes.values() for found in kind]


def assert_same(found: Probe, picture: dict[str, np.ndarray]) -> None:
    x, y = found.pixel
    assert found.complete
    for name, record in (("hit", HIT), ("radiance", RADIANCE)):
        for field in record.fields:
            assert found.results[name][field.name].tobytes() == picture[name][y, x][field.name].tobytes(), found.pixel
    assert (found.steps, found.tests) == (picture["steps"][y, x], picture["tests"][y, x])


def test_the_ray_ends_as_in_the_picture_bit_for_bit(probes: dict, picture: dict) -> None:
    for found in every(probes):
        assert_same(found, picture)


def test_the_history_is_as_long_as_the_counts(probes: dict) -> None:
    for found in every(probes):
        states = [row.state for row in found.rows]
        assert found.calls == {state: states.count(state) for state in found.calls}
        assert found.tests == sum(row.triangle is not None for row in found.rows)
        (segment,) = found.segments
        assert (found.steps, found.tests) == (len(segment.visits), len(segment.tests))
        assert [row.number for row in found.rows] == list(range(1, len(found.rows) + 1))
    assert [row.state for row in probes["beside"][0].rows] == ["eye", "setup", "shade"]


def test_the_way_is_through_the_voxels_of_the_grid(renderer: Renderer, probes: dict) -> None:
    grid, corners = renderer.prepared.structure.built, renderer.prepared.triangles.corners()
    origins, directions = renderer.camera.rays(*SIZE)
    for found in every(probes):
        (segment,) = found.segments
        x, y = found.pixel
        # float32 of a unit vector that the camera has in float64
        assert np.abs(segment.direction - directions[y, x]).max() < 2e-7
        assert np.array_equal(segment.origin, origins[y, x].astype(np.float32))
        tested = []
        scale = float(np.abs(segment.origin).max()) + max(
            (float(np.abs(visit.box).max()) for visit in segment.visits), default=0.0
        )
        for visit, after in zip_longest(segment.visits, segment.visits[1:]):
            i, j, k = visit.cell
            assert np.array_equal(
                visit.box[0], grid.low.astype(float) + np.multiply(visit.cell, grid.voxel.astype(float))
            )
            middle = segment.at((visit.t_enter + visit.t_exit) / 2)
            # distances are float32, of numbers up to the scale: a few roundings of 6e-8
            assert (middle > visit.box[0] - 1e-6 * scale).all() and (middle < visit.box[1] + 1e-6 * scale).all()
            if after is not None:
                assert after.t_enter == visit.t_exit
                assert np.abs(np.subtract(after.cell, visit.cell)).sum() == 1
            address = int(grid.pointers[k, j, i])
            members = []
            while address >= 0 and grid.lists[address] >= 0:
                members.append(int(grid.lists[address]))
                address += 1
            assert visit.candidates == len(members)
            tested += members
        assert [test.triangle for test in segment.tests] == tested
        for test in segment.tests:
            assert np.array_equal(test.corners, corners[test.triangle])
    assert sum(len(segment.visits) for segment in found.segments) == found.steps
    assert sum(len(segment.tests) for segment in found.segments) == found.tests


def test_in_pieces_and_again(renderer: Renderer, picture: dict) -> None:
    pixel = chosen(picture)["dearest"][0]
    lengths = []
    for found in probing(renderer, renderer.camera, SIZE, pixel):
        lengths.append(len(found.rows))
        if len(lengths) == 5:
            break
    assert lengths == [1, 2, 3, 4, 5] and not found.complete
    before = renderer.device.compiled
    assert_same(probe(renderer, renderer.camera, SIZE, pixel), picture)
    assert renderer.device.compiled == before  # the kernels were there already
    forget(renderer)
    assert_same(probe(renderer, renderer.camera, SIZE, pixel), picture)
    assert renderer.device.compiled > before


@pytest.mark.parametrize("pixel", [(-1, 0), (64, 0), (0, 48)])
def test_a_pixel_beside_the_picture(renderer: Renderer, pixel: tuple[int, int]) -> None:
    with pytest.raises(ViewerError, match="not in a picture of 64 x 48"):
        probe(renderer, renderer.camera, SIZE, pixel)


@pytest.mark.parametrize("traversal", ["octants", "escape"])
def test_the_way_through_a_tree(device: Any, traversal: str) -> None:
    """Nodes visited, boxes hit or missed, and the leaves' triangles in their order, against the tree itself."""
    renderer = framed(device, accel="bvh", traversal=traversal, machine="multipass", fuse="none")
    picture, tree, corners = streams(renderer), renderer.prepared.structure.built, renderer.prepared.triangles.corners()
    kinds = {kind: pixels[:2] for kind, pixels in chosen({**picture, "steps": picture["steps"] - 1}).items()}
    for pixel in (pixel for pixels in kinds.values() for pixel in pixels):
        found = probe(renderer, renderer.camera, SIZE, pixel)
        assert_same(found, picture)
        (segment,) = found.segments
        assert segment.visits[0].cell == (0,)
        tested = []
        for visit in segment.visits:
            (node,) = visit.cell
            assert (visit.box[0] <= tree.low[node]).all() and (visit.box[1] >= tree.high[node]).all()
            if visit.candidates:
                assert tree.second[node] < 0 and visit.candidates == tree.count[node]
                assert visit.t_enter <= visit.t_exit
                tested += list(tree.order[tree.first[node] : tree.first[node] + tree.count[node]])
        assert [test.triangle for test in segment.tests] == tested
        for test in segment.tests:
            np.testing.assert_array_equal(test.corners, corners[test.triangle])


def test_two_levels_are_drawn_where_the_objects_stand(device: Any) -> None:
    """Boxes and triangles are an object's own; brought to the world, the ray hits there what the renderer says."""
    renderer = framed(device, accel="two-level-bvh")
    found = probe(renderer, renderer.camera, SIZE, (32, 30))
    origin, direction = (rays[30, 32] for rays in renderer.camera.rays(*SIZE))
    depth = renderer.render(SIZE, layers=("depth",)).layers["depth"][30, 32]
    hit = [segment for segment in found.segments if segment.t_hit is not None]
    assert hit and len(found.segments) >= 1
    nearest = min(hit, key=lambda segment: segment.t_hit)
    point = nearest.hit_point
    np.testing.assert_allclose(nearest.world(point), origin + depth * direction, atol=1e-4)
    assert nearest.t_hit == pytest.approx(depth, rel=1e-6)
    (test,) = [test for test in nearest.tests if test.nearest][-1:]
    corners = nearest.world(test.corners)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    away = np.dot(nearest.world(point) - corners[0], normal) / np.linalg.norm(normal)
    assert away == pytest.approx(0, abs=1e-4)  # scene units; it is 20 units away
    for segment in found.segments:
        for visit in segment.visits:
            if visit.t_enter <= visit.t_exit:
                middle = segment.at((visit.t_enter + visit.t_exit) / 2)
                assert (middle >= visit.box[0] - 1e-4).all() and (middle <= visit.box[1] + 1e-4).all()


@pytest.mark.parametrize("accel", ["grid", "two-level-bvh"])
def test_quadrics_are_told_by_their_numbers(device: Any, accel: str) -> None:
    """What is drawn of the triangle in a quadric's place has no area."""
    meshes = [raystream.load("cornell").meshes[0], Quadric.sphere((278, 278, 278), 100.0)]
    scene = raystream.Scene(meshes, [Instance(0), Instance(1, name="ball")], [Material()] * 9)
    camera = Camera((278, 278, -800), (278, 278, 278), fov=30)
    renderer = Renderer(scene, device=device, camera=camera, accel=accel, program="cast")
    found = probe(renderer, camera, SIZE, (32, 24))
    assert found.complete and found.surface is not None
    assert (found.surface.name, found.surface.triangle) == ("ball", len(meshes[0].triangles))
    tests = [test for segment in found.segments for test in segment.tests]
    hit = [test for test in tests if test.nearest]
    assert len(hit) == 1
    assert all(test.triangle == (0 if accel.startswith("two") else found.surface.triangle) for test in hit)
    assert all(not np.ptp(test.corners, axis=0).any() for test in hit)
