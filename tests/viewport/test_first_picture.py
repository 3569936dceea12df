"""What is seen of a scene from the moment its file has been read until the session has a picture of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer
from raystream.base.errors import ViewerError
from raystream.denoise.upsampling import SHOWN
from raystream.film.tonemap import stops
from raystream.formats.named import load
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.headlight import SHEEN, Headlight, headlight_scene
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.gl.stream import Stream
from raystream.viewport import scene_loader
from raystream.viewport.canvas import CanvasView
from raystream.viewport.preferences import Preferences
from raystream.viewport.scene_loader import MAX_RADIANCE, Glance

SIZE = 64, 48
PATIENCE = 600.0
CHOSEN: dict[str, Any] = {"program": "path", "machine": "singlepass", "exposure": 0.0, "tonemap": "none"}


def drawn(device: Any, scene: Scene, camera: Camera, background: Any = None, white: float = 1.0) -> np.ndarray:
    """(H, W, 4): colours and nearness of a first picture."""
    headlight, target = Headlight(device), Stream(device, SHOWN, SIZE)
    headlight.load(headlight_scene(scene, background, white))
    headlight.draw(camera, target)
    headlight.release()
    return np.frombuffer(target.textures[0].read(), np.float32).reshape(SIZE[1], SIZE[0], 4)


@pytest.mark.parametrize("name", ["cornell", "glass_ball"])
def test_it_shows_the_surfaces_that_rays_meet(device: Any, name: str) -> None:
    renderer = Renderer(name, device=device, program="cast", machine="singlepass")
    found = drawn(device, renderer.scene, renderer.camera)
    depth = renderer.render(SIZE, layers=("depth",)).layers["depth"].reshape(SIZE[1], SIZE[0])
    hit = np.isfinite(depth)
    assert ((found[..., 3] > 0) == hit).mean() > 0.98  # what turns around an axis is made of triangles
    along = (renderer.camera.rays(*SIZE)[1] @ renderer.camera.basis()[2]).reshape(hit.shape)
    both = hit & (found[..., 3] > 0)
    near = np.abs(1 / found[..., 3][both] / along[both] / depth[both] - 1)
    assert np.quantile(near, 0.95) < 0.01


@pytest.mark.filterwarnings("ignore:the scene")
@pytest.mark.parametrize("name", ["hall", "palace", "cornell", "ring", "glass_ball", "balls", "helicopter"])
def test_its_exposure_is_that_of_the_traced_picture(device: Any, name: str) -> None:
    """Within half a stop of what is displayed, which nobody takes for another light; rooms, lamps, suns."""
    renderer = Renderer(name, device=device, program="path", machine="singlepass")
    glance = Glance(load(name), Settings())
    first = drawn(device, load(name), renderer.camera, glance.headlight_scene.background, glance.headlight_scene.white)[
        ..., :3
    ]
    traced = renderer.render(SIZE, spp=16).linear
    light = [np.clip(2.0 ** stops("auto", each) * each, 0, 1).mean() for each in (first, traced)]
    assert abs(np.log2(light[0] / light[1])) < 0.5


def test_a_surface_is_brighter_the_more_it_faces_the_eye(device: Any) -> None:
    """With vertex normals, and without."""
    ball = places.sphere(4)
    smooth = Mesh(ball.reshape(-1, 3), np.arange(3 * len(ball)).reshape(-1, 3), normals=ball.reshape(-1, 3))
    rough = Mesh(smooth.positions, smooth.triangles)
    squeezed = np.diag([1.0, -1.0, 1.0, 1.0])  # and mirrored
    for mesh in (smooth, rough):
        for transform in (np.eye(4), squeezed):
            scene = Scene([mesh], [Instance(0, transform)], [Material(base_color=(0.8, 0.4, 0.2, 1.0))])
            found = drawn(device, scene, places.FRONT)
            middle, edge = found[24, 32, :3], found[24, np.flatnonzero(found[24, :, 3] > 0)[0], :3]
            np.testing.assert_allclose(middle, (0.8, 0.4, 0.2), rtol=0.02)
            assert 0.05 < edge[0] < 0.6
            assert not found[0, 0].any()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"background": "gradient"},
        {"background": "0.2,0.3,0.4"},
        {"environment": "studio", "background": "environment", "environment_rotation": 50.0},
        {"environment": "sky", "environment_rotation": -20.0},
        {"environment": "none"},
        {"environment": (0.5, 1.0, 1.5)},
        {"sun": "20,30"},
    ],
)
def test_it_stands_before_the_background_that_comes(device: Any, options: dict[str, Any]) -> None:
    """From the floor to the zenith, so that nothing flashes; suns apart."""
    triangle = Mesh(np.eye(3, dtype=np.float32) - 50, np.arange(3, dtype=np.int32)[None])
    scene = Scene([triangle], [Instance(0)])
    found = Glance(scene, Settings(**options)).headlight_scene.background
    camera = Camera((0.0, 0.0, 0.0), (0.0, 0.0, -1.0), fov=120.0)
    seen = drawn(device, scene, camera, found)[..., :3]
    renderer = Renderer(scene, device=device, program="path", ground="none", camera=camera, **options)
    wanted = renderer.render(SIZE, spp=1).linear
    wanted = np.minimum(wanted, MAX_RADIANCE)
    assert np.abs(seen - wanted).mean() < 0.12 * max(1e-3, float(wanted.mean()))


def test_materials_vertex_colours_and_textures_are_seen(device: Any) -> None:
    quad = places.quads(
        [[(-1, -1, 0), (0, -1, 0), (0, 1, 0), (-1, 1, 0)], [(0, -1, 0), (1, -1, 0), (1, 1, 0), (0, 1, 0)]]
    )
    mesh = places.flat(quad, np.array([0, 0, 1, 1]))
    mesh.uvs = np.full((12, 2), 0.25, np.float32)
    mesh.colors = np.tile(np.array([0.5, 1.0, 1.0, 1.0], np.float32), (12, 1))
    texels = np.zeros((2, 2, 4), np.uint8)
    texels[0, 0] = 0, 255, 0, 255
    materials = [Material(base_color=(1.0, 1.0, 1.0, 1.0), texture=0), Material(base_color=(1.0, 0.3, 0.1, 1.0))]
    clear = Material(base_color=(1.0, 1.0, 1.0, 0.2), alpha_mode="blend")
    before = Instance(0, np.block([[np.eye(3), np.array([[0], [0], [1]])], [np.zeros((1, 3)), 1]]), material=2)
    scene = Scene([mesh], [Instance(0), before], [*materials, clear], textures=[Texture(Image(texels))])
    found = drawn(device, scene, places.FRONT)
    np.testing.assert_allclose(found[24, 22, :3], (0.1, 1.0, 0.2), atol=0.05)
    np.testing.assert_allclose(found[24, 42, :3], (0.5, 0.44, 0.28), atol=0.05)


def quad(z: float, material: int, side: float = 1.0) -> tuple[Mesh, Instance]:
    """A square before the camera of `places.FRONT`, its texture coordinates from 0 to 1."""
    mesh = places.flat(places.quads([[(-side, -side, z), (side, -side, z), (side, side, z), (-side, side, z)]]))
    mesh.uvs = np.asarray((mesh.positions[:, :2] / side + 1) / 2, np.float32)
    return mesh, Instance(0, material=material)


def before_another(front: Material, texels: Any = None, back: Any = (0.0, 0.0, 1.0, 1.0)) -> Scene:
    """A square of one material before a larger one."""
    (near, _), (far, _) = quad(0.0, 0), quad(-0.1, 1, 2.0)
    textures = [] if texels is None else [Texture(Image(texels))]
    return Scene([near, far], [Instance(0, material=0), Instance(1, material=1)], [front, Material(base_color=back)],
                 textures=textures)  # fmt: skip


@pytest.mark.parametrize(
    ("texel", "linear"),
    [
        (np.uint8([51, 255, 0, 255]), (0.0331, 1, 0)),
        (np.uint16([13107, 65535, 0, 65535]), (0.0331, 1, 0)),  # a fifth, and all
        (np.float16([0.25, 1, 0, 1]), (0.25, 1, 0)),
    ],
    ids=["uint8", "uint16", "float16"],
)
def test_textures_of_every_type_are_as_bright(device: Any, texel: Any, linear: tuple[float, ...]) -> None:
    scene = before_another(Material(base_color=(1.0, 0.5, 1.0, 1.0), texture=0), np.broadcast_to(texel, (2, 2, 4)))
    found = drawn(device, scene, places.FRONT)[24, 32, :3]
    np.testing.assert_allclose(found, np.multiply(linear, (1, 0.5, 1)), atol=0.01)


def test_alpha_is_cut_or_blended(device: Any) -> None:
    """By base colour and texture; what is opaque by its mode has none."""
    texels = np.full((8, 8, 4), 255, np.uint8)
    texels[:, 4:, 3] = 64
    for mode, left, right in (
        ("opaque", (1, 0, 0), (1, 0, 0)),
        ("mask", (1, 0, 0), (0, 0, 1)),
        ("blend", (0.8, 0, 0.2), (0.2, 0, 0.8)),
    ):
        front = Material(base_color=(1.0, 0.0, 0.0, 0.8), texture=0, alpha_mode=mode)
        found = drawn(device, before_another(front, texels), places.FRONT)
        np.testing.assert_allclose(found[24, 26, :3], left, atol=0.06, err_msg=mode)
        np.testing.assert_allclose(found[24, 38, :3], right, atol=0.06, err_msg=mode)
        assert found[24, 38, 3] > 0


def test_glass_is_seen_through_in_its_colour(device: Any) -> None:
    for glass in (
        Material(kind="principled", base_color=(0.2, 1.0, 0.5, 1.0), transmission=1.0),
        Material(kind="dielectric", base_color=(0.2, 1.0, 0.5, 1.0)),
    ):
        found = drawn(device, before_another(glass, back=(1.0, 0.5, 0.0, 1.0)), places.FRONT)[24, 32, :3]
        np.testing.assert_allclose(found, (0.2, 0.5, 0.0), atol=0.1)


def test_glass_looks_the_same_in_any_order_of_its_triangles(device: Any) -> None:
    """Both sides of a ball: no triangle hides another of what is seen through."""
    ball = Quadric.sphere(radius=0.8).tessellated(16)
    pictures = []
    for triangles in (ball.triangles, ball.triangles[::-1]):
        mesh = replace(ball, triangles=np.ascontiguousarray(triangles))
        scene = Scene([mesh], [Instance(0, material=0)], [Material(kind="dielectric")])
        pictures.append(drawn(device, scene, places.FRONT))
    np.testing.assert_allclose(*pictures, atol=1e-6)  # sums in another order
    assert pictures[0][24, 32, 0] > 0.1


def test_sheen_and_emission_are_seen(device: Any) -> None:
    """Cloth whose base is black is as red as its sheen; what shines does so from aside, too."""
    cloth = Material(kind="principled", base_color=(0.0, 0.0, 0.0, 1.0), sheen_color=(1.0, 0.0, 0.0))
    found = drawn(device, before_another(cloth), places.FRONT)[24, 32, :3]
    np.testing.assert_allclose(found, (SHEEN, 0, 0), atol=0.02)
    lamp = Material(base_color=(0.0, 0.0, 0.0, 1.0), emission=(9.0, 0.5, 0.0))
    np.testing.assert_allclose(drawn(device, before_another(lamp), places.FRONT)[24, 32, :3], (1, 0.5, 0), atol=0.02)


@pytest.fixture
def held(device: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., CanvasView]]:
    """Opens views whose worker, once a file is read, prepares nothing until ``go`` is set."""
    go, failing, made = threading.Event(), [], []

    def work(*arguments: Any, **options: Any) -> Any:
        assert go.wait(PATIENCE)
        if failing:
            raise ViewerError("scene", "cannot be built", "mend it")
        return prepared(*arguments, **options)

    prepared = scene_loader.prepare_in_worker
    monkeypatch.setattr(scene_loader, "prepare_in_worker", work)

    def open_view(source: Any = "cornell", fails: bool = False, **chosen: Any) -> CanvasView:
        failing.extend([True] * fails)
        made.append(CanvasView(source, SIZE, preferences=Preferences(path=Path("none")), **{**CHOSEN, **chosen}))
        return made[-1]

    open_view.go = go  # type: ignore[attr-defined]
    yield open_view
    go.set()
    for view in made:
        view.release()


def until(view: CanvasView, condition: Callable[[list[np.ndarray]], bool]) -> list[np.ndarray]:
    """The bitmaps until something holds, of those that there are."""
    found: list[np.ndarray] = []
    end = time.monotonic() + PATIENCE
    while not condition(found):
        assert time.monotonic() < end
        made = view.advance()
        found += [] if made is None else [made]
        time.sleep(0.001)
    return found


def first_of(view: CanvasView) -> np.ndarray:
    """The next bitmap."""
    return until(view, bool)[0]


def test_it_comes_before_anything_is_built_and_follows_the_camera(held: Any) -> None:
    view = held()
    seen = first_of(view)
    assert view.view.renderer is None and view.session.pictures == 0
    assert len(np.unique(seen.reshape(-1, 4), axis=0)) > 20, "the room, not a plain"
    camera = view.camera
    for kind, x, more in (("down", 30, {"button": 1}), ("move", 40, {"button": 0}), ("up", 40, {"button": 1})):
        view.handle({"event_type": f"pointer_{kind}", "x": x, "y": 20, "modifiers": (), **more})
    turned = first_of(view)
    assert view.camera != camera and not np.array_equal(turned, seen)
    moved = view.camera
    held.go.set()
    until(view, lambda _: view.session.complete and view.session.samples > 0)
    assert view.camera == moved == view.view.renderer.camera, "the camera stays in the hand"
    view.advance()
    assert not view.scene_loader.first_picture.shown


def test_a_camera_asked_for_meanwhile_is_taken(held: Any) -> None:
    view = held()
    first_of(view)
    asked = Camera((0.0, 1.0, 3.0), (0.0, 1.0, 0.0), fov=40.0)
    view.update(camera=asked)
    held.go.set()
    view.wait()
    assert view.camera.origin == asked.origin and view.camera.fov == 40.0


def test_it_goes_where_loading_is_cancelled_or_fails(held: Any) -> None:
    view = held()
    first_of(view)
    assert view.view.controller is not None
    view.scene_loader.cancel()
    assert view.view.controller is None and not view.scene_loader.first_picture.shown
    other = held(fails=True)
    first_of(other)
    held.go.set()
    with pytest.raises(ViewerError, match="cannot be built"):
        other.wait()
    assert other.view.controller is None and not other.scene_loader.first_picture.shown


def test_it_is_exposed_as_those_to_come(held: Any) -> None:
    """By its own light, so that the picture is as bright before and after."""
    ball = places.sphere(4)
    mesh = Mesh(ball.reshape(-1, 3), np.arange(3 * len(ball)).reshape(-1, 3), normals=ball.reshape(-1, 3))
    dark = Scene([mesh], [Instance(0)], [Material(base_color=(0.02, 0.02, 0.02, 1.0))])
    view = held(dark, exposure="auto", environment="1,1,1")
    before = first_of(view)
    assert view.view.tone.metered != 0.0 and view.view.renderer is None
    held.go.set()
    after = until(view, lambda found: bool(found) and view.session.complete and view.session.samples > 1)[-1]
    assert np.abs(before.astype(float).mean(axis=(0, 1)) - after.mean(axis=(0, 1))).max() < 12


@pytest.mark.parametrize("fails", [False, True])
def test_pictures_are_rehearsed_while_the_first_scene_is_prepared(held: Any, fails: bool) -> None:
    """A step in each turn, once the scene is seen; the loop does not wait meanwhile. No longer than that takes."""
    view, steps = held(), list[int]()
    loader: Any = view.scene_loader

    def rehearsal(device: Any) -> Iterator[float]:
        while True:
            steps.append(len(steps))
            yield 0.5
            if fails:
                raise ViewerError("a.glsl", "is wrong")

    view.session.rehearse = rehearsal  # type: ignore[method-assign]
    first_of(view)
    assert len(steps) <= 1
    for _ in range(3):
        view.advance()
    assert len(steps) == 1 if fails else len(steps) >= 3
    assert loader.rehearsing is not fails and not view.view.message.is_error
    held.go.set()
    until(view, lambda _: view.view.renderer is not None)
    assert not loader.rehearsing
