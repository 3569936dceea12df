"""Depth and segments of raystream.pyrender, beside a rasteriser's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from rasteriser import at, at_edges, ball, box, rasterise, square

from raystream import ViewerError, pyrender
from raystream.pyrender import (
    GLTF,
    Camera,
    IntrinsicsCamera,
    Mesh,
    OrthographicCamera,
    PerspectiveCamera,
    Primitive,
    RenderFlags,
    Scene,
)

SIZE = 80, 60
CAMERAS = {
    "perspective": lambda: PerspectiveCamera(1.0),
    "aspect": lambda: PerspectiveCamera(0.9, znear=0.01, zfar=50.0, aspectRatio=1.7),
    "orthographic": lambda: OrthographicCamera(1.0, 1.4),
    "intrinsics": lambda: IntrinsicsCamera(fx=70.0, fy=82.0, cx=33.3, cy=26.6),
}


@pytest.fixture(params=CAMERAS)
def scene(request, things):
    return things(CAMERAS[request.param]())


def test_depth_is_the_rasteriser_s(scene, offscreen):
    """Along the view, of all cameras; a pixel may differ beside another surface alone."""
    depth = offscreen(*SIZE).render(scene, RenderFlags.DEPTH_ONLY)
    wanted, owner = rasterise(scene, SIZE)
    assert depth.dtype == np.float32 and depth.shape == SIZE[::-1]
    assert 0.1 < (wanted > 0).mean() < 0.9 and len(np.unique(owner)) == 4
    away = ~at_edges(owner, wanted, 0.05)
    np.testing.assert_allclose(depth[away], wanted[away], rtol=2e-6)
    assert ((depth > 0) != (wanted > 0)).mean() < 0.002


def test_segments_are_the_rasteriser_s(scene, offscreen):
    """A colour for each node; without one a node is not there, and what is behind it is seen."""
    nodes, renderer = list(scene.mesh_nodes), offscreen(*SIZE)
    color, depth = renderer.render(scene, RenderFlags.SEG, {node: 20 * (k + 1) for k, node in enumerate(nodes)})
    wanted, owner = rasterise(scene, SIZE)
    assert color.dtype == np.uint8 and color.shape == (*SIZE[::-1], 3) and depth.dtype == np.float32
    away = ~at_edges(owner, wanted, 0.05)
    assert np.array_equal(color[away], np.repeat(20 * (owner[away, None] + 1), 3, axis=1))
    assert (color[..., 0] != 20 * (owner + 1)).mean() < 0.004

    color, depth = renderer.render(scene, RenderFlags.SEG | RenderFlags.RGBA, {nodes[2]: (9, 8, 7)})
    for node in nodes[:2]:
        scene.remove_node(node)
    wanted, owner = rasterise(scene, SIZE)
    away = ~at_edges(owner, wanted, 0.05)
    assert np.array_equal(color[away], np.where(owner[away, None] >= 0, (9, 8, 7, 255), (0, 0, 0, 255)))
    np.testing.assert_allclose(depth[away], wanted[away], rtol=1e-5)


def test_rays_follow_the_camera(offscreen):
    """Of one renderer: its pose, its lens, its planes and the picture's size."""
    scene = Scene()
    scene.add(square(9.0), pose=at(0, 0, -5, (0.3, 0.2, 0.0)))
    camera = PerspectiveCamera(0.5)
    node = scene.add(camera)
    renderer = offscreen(6, 4)
    changes = (
        lambda: None,
        lambda: scene.set_pose(node, at(0.1, 0.2, 0.3)),
        lambda: setattr(camera, "yfov", 0.7),
        lambda: setattr(camera, "znear", 0.5),
        lambda: setattr(camera, "zfar", 4.6),
        lambda: setattr(renderer, "viewport_width", 8),
    )
    for change in changes:
        change()
        wanted, _ = rasterise(scene, (renderer.viewport_width, 4))
        far = np.inf if camera.zfar is None else camera.zfar
        found = renderer.render(scene, RenderFlags.DEPTH_ONLY)
        np.testing.assert_allclose(found, np.where(wanted < far, wanted, 0), rtol=2e-6)


def test_writes_into_a_pose_are_seen(offscreen):
    """As scripts do: ``node.matrix[2, 3] = ...``; a pose that was asked for, or given, is the script's own."""
    scene, given = Scene(), at(0, 0, -5)
    node = scene.add(square(9.0), pose=given)
    scene.add(PerspectiveCamera(0.5))
    renderer = offscreen(2, 2)
    node.matrix[2, 3] = -3.0
    scene.get_pose(node)[2, 3] = given[2, 3] = -4.0
    np.testing.assert_allclose(renderer.render(scene, RenderFlags.DEPTH_ONLY), 3.0, rtol=1e-6)
    before = node.matrix
    node.translation = [0, 0, -9]
    assert before[2, 3] == -3
    node.matrix[:3, 3] = 0, 0, -2
    np.testing.assert_allclose(renderer.render(scene, RenderFlags.DEPTH_ONLY), 2.0, rtol=1e-6)


def test_back_faces(offscreen):
    """They are culled, but of materials of two sides, and where a flag says so."""
    scene = Scene()
    scene.add(square(1.0), pose=at(0, 0, -2, (0, np.pi, 0)))
    both = square(1.0)
    both.primitives[0].material.doubleSided = True
    scene.add(both, pose=at(0, 0, -3, (0, np.pi, 0)))
    scene.add(PerspectiveCamera(1.0))
    renderer = offscreen(9, 9)
    assert renderer.render(scene, RenderFlags.DEPTH_ONLY)[4, 4] == pytest.approx(3.0)
    assert renderer.render(scene, RenderFlags.DEPTH_ONLY | RenderFlags.SKIP_CULL_FACES)[4, 4] == pytest.approx(2.0)


def test_points_are_squares(offscreen):
    """Of the size in pixels, at the points' own depth, whatever it is."""
    scene = Scene()
    places = np.array([[-0.5, 0.25, 0.0], [0.5, 0.0, -2.0]])
    scene.add(Mesh.from_points(places), pose=at(0, 0, -2))
    scene.add(PerspectiveCamera(np.pi / 2))
    depth = offscreen(64, 64, 6.0).render(scene, RenderFlags.DEPTH_ONLY)
    for place, away in ((places[0], 2.0), (places[1], 4.0)):
        x, y = 32 + 32 * place[0] / away, 32 - 32 * place[1] / away
        wanted = np.zeros((64, 64), bool)
        inside = [np.abs(np.arange(64) + 0.5 - middle) < 3 for middle in (x, y)]
        wanted[np.ix_(inside[1], inside[0])] = True
        assert np.allclose(depth[wanted], away) and (np.isclose(depth, away) == wanted).all()


def test_points_of_parallel_rays_are_as_large_at_any_depth(offscreen):
    scene = Scene()
    scene.add(Mesh.from_points([[-0.5, 0.0, -1.0], [0.5, 0.0, -4.0]]))
    scene.add(OrthographicCamera(1.0, 1.0))
    depth = offscreen(32, 32, 4.0).render(scene, RenderFlags.DEPTH_ONLY)
    assert [np.isclose(depth, away).sum() for away in (1, 4)] == [16, 16] and (depth > 0).sum() == 32


def test_poses_build_nothing(offscreen, things):
    """Between pictures nodes and the camera move: the structure stays, and the picture is that of a new renderer."""
    scene, renderer = things(PerspectiveCamera(1.0)), offscreen(*SIZE)
    before = renderer.render(scene, RenderFlags.DEPTH_ONLY)
    (shown,) = renderer._renderers.values()
    structure = shown.renderer.prepared.structure
    nodes = [*list(scene.mesh_nodes)[:2], scene.main_camera_node]
    for node, pose in zip(nodes, (at(0.3, 0, -3), at(-0.2, 0.3, -0.5), at(0, 0.2, 0.4)), strict=True):
        scene.set_pose(node, pose)
        moved = renderer.render(scene, RenderFlags.DEPTH_ONLY)
        assert shown.renderer.prepared.structure.built is structure.built and not np.array_equal(moved, before)
        before = moved
    assert np.array_equal(moved, offscreen(*SIZE).render(scene, RenderFlags.DEPTH_ONLY))


def test_other_vertices_are_seen(offscreen):
    scene = Scene()
    node = scene.add(ball(0.5), pose=at(0, 0, -3))
    scene.add(PerspectiveCamera(1.0))
    renderer = offscreen(9, 9)
    assert renderer.render(scene, RenderFlags.DEPTH_ONLY)[4, 4] == pytest.approx(2.5, abs=0.01)
    node.mesh.primitives[0].positions = node.mesh.primitives[0].positions * 2
    assert renderer.render(scene, RenderFlags.DEPTH_ONLY)[4, 4] == pytest.approx(2.0, abs=0.02)


class Projected(Camera):
    """A camera as scripts derive it, by its matrix alone; ``znear`` and ``zfar`` are not its planes."""

    def __init__(self, rows):
        super().__init__(znear=0.05, zfar=1000.0)
        self.matrix = np.eye(4)
        self.matrix[: len(rows)] = rows

    def get_projection_matrix(self, width=None, height=None):
        return self.matrix


def test_weak_perspective(offscreen):
    """Parallel around the eye, and moved aside: the near plane lies one unit behind, from where depth counts."""
    size = 40, 30
    scene = Scene(bg_color=[0, 0, 0, 0])
    scene.add(box(0.8), pose=at(0.1, -0.1, 0.2, (0.5, 0.3, 0.0)))
    scene.add(Projected([[0.75, 0, 0, 0.2], [0, 1.0, 0, -0.1], [0, 0, -1, 0]]), pose=at(0.05, 0.0, 0.0))
    renderer = offscreen(*size, spp=8)
    color, depth = renderer.render(scene, RenderFlags.RGBA)
    wanted, owner = rasterise(scene, size)
    away = ~at_edges(owner, wanted, 1.0) & (owner >= 0)
    assert away.sum() > 100 and wanted[away].min() < 0 < depth[away].min()
    np.testing.assert_allclose(depth[away], wanted[away] + 1, rtol=1e-5)
    assert ((color[..., 3] > 127) != (owner >= 0)).mean() < 0.02
    scene.main_camera_node.camera.matrix[0, 0] = 0.5
    with pytest.raises(ViewerError, match=r"^camera: pixels of a parallel projection are not square"):
        renderer.render(scene)


def test_planes_of_a_projection(offscreen):
    """They are its matrix's."""
    scene = Scene()
    scene.add(square(9.0), pose=at(0, 0, -5))
    near, far = 1.0, 4.0
    depths = [(far + near) / (near - far), 2 * far * near / (near - far)]
    scene.add(Projected([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, *depths], [0, 0, -1, 0]]))
    renderer = offscreen(4, 4)
    assert not renderer.render(scene, RenderFlags.DEPTH_ONLY).any()
    node = next(iter(scene.mesh_nodes))
    for place in (2.0, 3.9):
        scene.set_pose(node, at(0, 0, -place))
        np.testing.assert_allclose(renderer.render(scene, RenderFlags.DEPTH_ONLY), place, rtol=1e-5)
    scene.set_pose(node, at(0, 0, -0.9))
    assert not renderer.render(scene, RenderFlags.DEPTH_ONLY).any()


# At the pixel centres (4, 94), (144, 94), (144, 174) of a picture of 200 x 200 from -1 to 1.
CORNERS = [[-0.955, 0.055, 0], [0.445, 0.055, 0], [0.445, -0.745, 0]]


@pytest.mark.parametrize(
    ("mode", "indices", "sides"),
    [
        (GLTF.LINES, [0, 1], (1, 0, 0)),
        (GLTF.LINES, [0, 1, 1], (1, 0, 0)),
        (GLTF.LINE_STRIP, [0, 1, 2], (1, 1, 0)),
        (GLTF.LINE_STRIP, None, (1, 1, 0)),
        (GLTF.LINE_LOOP, None, (1, 1, 1)),
        (GLTF.LINE_STRIP, [2], (0, 0, 0)),
    ],
)
@pytest.mark.parametrize("parallel", [True, False])
def test_lines_are_a_pixel_wide(mode, indices, sides, parallel, offscreen):
    scene = Scene()
    scene.add(Mesh([Primitive(CORNERS, indices=indices, mode=mode)]), pose=at(0, 0, -2))
    scene.add(OrthographicCamera(1, 1) if parallel else PerspectiveCamera(2 * np.arctan(0.5)))
    depth = offscreen(200, 200).render(scene, RenderFlags.DEPTH_ONLY)
    rows, columns = np.nonzero(depth)
    np.testing.assert_allclose(depth[rows, columns], 2.0, rtol=1e-5)
    row, column, diagonal = rows == 94, columns == 144, abs(rows - 94 - (columns - 4) * 80 / 140) < 0.6
    assert (row | column | diagonal).all()
    assert abs(row.sum() - 140 * sides[0]) <= 4 and abs(column.sum() - 80 * sides[1]) <= 4
    # Of the slope of 4 to 7, nine pixel centres in seven columns lie within half a pixel.
    assert abs(len(rows) - np.dot([140, 80, 180], sides)) <= 6


def test_lines_begin_at_the_near_plane(offscreen):
    """One that comes from behind the eye, beside its points by the projection; one that stays there is not seen."""
    ends = np.array([[0.9, 0.3, 1.0], [-0.6, -0.3, -3.0]])
    scene = Scene()
    scene.add(Mesh([Primitive([*ends, [-0.3, 0, 1], [-0.3, 0, 2]], mode=GLTF.LINES)]))
    scene.add(PerspectiveCamera(np.pi / 2, znear=0.5))
    depth = offscreen(100, 100).render(scene, RenderFlags.DEPTH_ONLY)
    points = ends[0] + np.linspace(0, 1, 20001)[:, None] * (ends[1] - ends[0])
    points = points[points[:, 2] <= -0.5]
    places = 50 + 50 * points[:, :2] / -points[:, 2:] * (1, -1)
    rows, columns = np.nonzero(depth)
    distances = np.hypot(*(np.stack([columns, rows], axis=1)[:, None] + 0.5 - places).transpose(2, 0, 1))
    assert len(rows) > 20 and (distances.min(axis=1) < 0.51).all()
    np.testing.assert_allclose(depth[rows, columns], -points[distances.argmin(axis=1), 2], rtol=0.05)
    assert (distances.min(axis=0) < 1).all()


def test_wireframes(offscreen):
    """Edges of the faces that are seen from before, for colour and its depth; depth alone is that of surfaces."""
    scene = Scene(bg_color=[0, 0, 0, 0])
    mesh = box(1.0)
    node = scene.add(mesh, pose=at(0, 0, -3, (0.4, 0.5, 0.0)))
    scene.add(PerspectiveCamera(0.6))
    renderer = offscreen(90, 90, spp=1)
    whole = (renderer.render(scene, RenderFlags.FLAT)[1] > 0).sum()

    def seen(flags):
        return int((renderer.render(scene, RenderFlags.FLAT | flags)[1] > 0).sum())

    edges = seen(RenderFlags.ALL_WIREFRAME)
    assert 0.05 * whole < edges < 0.25 * whole
    mesh.primitives[0].material.wireframe = True
    assert seen(0) == edges == seen(RenderFlags.ALL_WIREFRAME)
    assert seen(RenderFlags.FLIP_WIREFRAME) == whole == seen(RenderFlags.ALL_SOLID)
    assert np.count_nonzero(renderer.render(scene, RenderFlags.DEPTH_ONLY)) == whole
    assert np.count_nonzero(renderer.render(scene, RenderFlags.SEG, {node: 1})[0][..., 0]) == whole
    assert 1.2 * edges < seen(RenderFlags.SKIP_CULL_FACES)
    mesh.primitives[0].material.doubleSided = True
    assert 1.2 * edges < seen(0)


@pytest.mark.parametrize("size", [0, -1, 100_000, float("nan"), "a", None, np.eye(2)], ids=str)
def test_sizes_that_are_none(size, offscreen):
    for side in ("viewport_width", "viewport_height"):
        with pytest.raises(ViewerError, match=rf"^{side}=.*: expected a whole number from 1 to 32768 pixels$"):
            offscreen(**{"viewport_width": 8, "viewport_height": 8, side: size})
        with pytest.raises(ViewerError, match=side):
            setattr(offscreen(8, 8), side, size)


@pytest.mark.parametrize("mode", [GLTF.TRIANGLES, GLTF.LINE_STRIP])
@pytest.mark.parametrize("indices", [[[0, 1, 3]], [[0, 1, -1]], [0, 1, 1 << 40]], ids=str)
def test_indices_of_vertices_that_there_are_not(indices, mode, offscreen):
    scene = Scene()
    scene.add(PerspectiveCamera(1.0))
    scene.add(Mesh([Primitive(CORNERS, indices=indices, mode=mode)]))
    with pytest.raises(ViewerError, match=r"^indices: go from .*, and there are 3 vertices, from 0 on$"):
        offscreen(8, 8).render(scene)


def test_faults_are_one_line(offscreen):
    scene, renderer = Scene(), offscreen(4, 4)
    with pytest.raises(ViewerError, match=r"^scene: has no camera \(scene\.add"):
        renderer.render(scene)
    scene.add(PerspectiveCamera(1.0))
    with pytest.raises(ViewerError, match=r"^seg_node_map: 256 is no colour"):
        renderer.render(scene, RenderFlags.SEG, {scene.add(box()): 256})


def _scene(indices: Any = None) -> pyrender.Scene:
    scene, pose = pyrender.Scene(), np.eye(4)
    pose[2, 3] = 3
    scene.add(pyrender.Mesh([pyrender.Primitive(CORNERS, indices=indices)]))
    scene.add(pyrender.PerspectiveCamera(yfov=1.0), pose=pose)
    scene.add(pyrender.DirectionalLight(intensity=3.0), pose=pose)
    return scene


def test_six_threads_use_one_renderer() -> None:
    """Without the fixture that keeps the device in this thread."""
    renderer, scene = pyrender.OffscreenRenderer(16, 16, spp=2), _scene()
    color, depth = renderer.render(scene)
    with ThreadPoolExecutor(6) as threads:
        for each_color, each_depth in threads.map(lambda _: renderer.render(scene), range(12)):
            np.testing.assert_array_equal(each_color, color)
            np.testing.assert_array_equal(each_depth, depth)
    renderer.delete()
