"""What is seen of a scene from the moment its file has been read until the session has a picture of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import places
import pytest

from viewer import Camera, Renderer
from viewer.base.errors import ViewerError
from viewer.cameras.backdrop import HIGH, LOW
from viewer.denoise.upsampling import SHOWN
from viewer.renderer.inputs.prepared import prepare
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.preview.headlight import BACKGROUND, Headlight, headlight_scene
from viewer.scene.light import Light
from viewer.scene.material import Material
from viewer.scene.mesh import Mesh
from viewer.scene.scene import Instance, Scene
from viewer.scene.texture import Image, Texture
from viewer.stream.gl.stream import Stream
from viewer.viewport import scene_loader
from viewer.viewport.canvas.canvas_view import CanvasView
from viewer.viewport.first_picture import Glance
from viewer.viewport.preferences import Preferences

SIZE = 64, 48
PATIENCE = 600.0
CHOSEN: dict[str, Any] = {"program": "path", "machine": "singlepass", "exposure": 0.0, "tonemap": "none"}


def drawn(device: Any, scene: Scene, camera: Camera, stops: float = 0.0) -> np.ndarray:
    """(H, W, 4): colours and nearness of a first picture."""
    headlight, target = Headlight(device), Stream(device, SHOWN, SIZE)
    headlight.load(headlight_scene(scene))
    headlight.draw(camera, target, stops)
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
            np.testing.assert_allclose(found[0, 0, :3], BACKGROUND)


def test_it_stands_before_the_background_that_is_chosen(device: Any) -> None:
    quad = places.flat(places.quads([[(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]]))
    headlight, target = Headlight(device), Stream(device, SHOWN, SIZE)
    tones = np.mean([LOW, HIGH], axis=0)
    for background, wanted in (("environment", BACKGROUND), ("gradient", tones), ("0.2,0.3,0.4", None)):
        headlight.load(Glance(Scene([quad], [Instance(0)]), Settings(background=background)).drawn)
        headlight.draw(places.FRONT, target, 1.0)
        found = np.frombuffer(target.textures[0].read(), np.float32).reshape(SIZE[1], SIZE[0], 4)[0, 0, :3]
        np.testing.assert_allclose(found, (np.array((0.2, 0.3, 0.4)) if wanted is None else wanted) / 2, rtol=1e-6)
    headlight.release()
    target.release()


@pytest.mark.parametrize("options", [{}, {"environment": "studio"}, {"environment": "sky"}, {"background": "1,0,0"}])
@pytest.mark.parametrize("own", [{}, {"lights": [Light("point", "lamp", (0.0, 5.0, 0.0), intensity=(9.0, 9.0, 9.0))]}])
def test_it_stands_before_the_background_that_comes(options: dict[str, Any], own: dict[str, Any]) -> None:
    """So that nothing flashes."""
    scene = places.alone(places.sphere(3), places.material(0.5)).with_parts(cameras=[], **own)
    settings = Settings(**options)
    backdrop = prepare(scene, settings).lighting.backdrop
    tones = None if backdrop is None else backdrop.tones
    found = Glance(scene, settings).drawn.background
    np.testing.assert_allclose(found, (BACKGROUND,) * 3 if tones is None else np.mean(tones, axis=0))


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
    np.testing.assert_allclose(found[24, 22, :3], (0.0, 1.0, 0.0), atol=0.05)
    np.testing.assert_allclose(found[24, 42, :3], (0.5, 0.3, 0.1), atol=0.05)


@pytest.mark.parametrize(
    ("texel", "linear"),
    [
        (np.uint8([51, 255, 0, 255]), (0.2**2.2, 1, 0)),
        (np.uint16([13107, 65535, 0, 65535]), (0.2**2.2, 1, 0)),  # a fifth, and all
        (np.float16([0.25, 1, 0, 1]), (0.25, 1, 0)),
    ],
    ids=["uint8", "uint16", "float16"],
)
def test_textures_of_every_type_are_as_bright(texel: Any, linear: tuple[float, ...]) -> None:
    mesh = places.flat(places.box())
    mesh.uvs = np.zeros((36, 2), np.float32)
    image = Image(np.broadcast_to(texel, (2, 2, 4)))
    scene = Scene(
        [mesh], [Instance(0)], [Material(base_color=(1.0, 0.5, 1.0, 1.0), texture=0)], textures=[Texture(image)]
    )
    (made,) = headlight_scene(scene).groups.meshes
    np.testing.assert_allclose(made.attributes["tint"], np.tile(np.multiply(linear, (1, 0.5, 1)), (36, 1)), rtol=1e-6)


def test_it_is_displayed_alike_at_every_exposure(device: Any) -> None:
    scene = Scene([places.flat(places.box())], [Instance(0)])
    plain, darker = (drawn(device, scene, places.FRONT, stops) for stops in (0.0, -3.0))
    np.testing.assert_allclose(darker[..., :3], 8 * plain[..., :3], rtol=1e-5)


@pytest.fixture
def held(device: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., CanvasView]]:
    """Opens views whose worker, once a file is read, prepares nothing until ``go`` is set."""
    go, failing, made = threading.Event(), [], []

    def work(*arguments: Any, **options: Any) -> Any:
        assert go.wait(PATIENCE)
        if failing:
            raise ViewerError("scene", "cannot be built", "mend it")
        return prepared(*arguments, **options)

    prepared = scene_loader.work
    monkeypatch.setattr(scene_loader, "work", work)

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
