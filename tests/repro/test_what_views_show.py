"""Windows, views and frames that misled: what is cut off, what is probed, what stays of another scene or light."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import places
import pytest

import raystream
from raystream.renderer.renderer import Renderer
from raystream.renderer.sequence import render_frames
from raystream.scene.scene import Scene
from raystream.viewport.canvas import CanvasView
from raystream.viewport.debug_views.probe import probe
from raystream.window.panels.debug_views import surface_text
from tests.viewport.test_canvas_view import event, opened, rest
from tests.window.test_files import SMALL_TRIANGLE

OPTIONS = {"program": "cast", "machine": "singlepass"}
PORTRAIT, LANDSCAPE = (20, 50), (50, 20)


@pytest.fixture
def wide() -> Scene:
    """A box three times as wide as high, without a camera of its own."""
    return Scene.from_triangles(
        places.box().reshape(-1, 3) * (3.0, 1.0, 1.0), np.arange(36).reshape(-1, 3), name="wide"
    )


def whole(hit: np.ndarray) -> bool:
    """Whether something is hit, nothing of it in the outermost pixels, and it takes a good part of one side."""
    inside = hit.any() and not (hit[0].any() or hit[-1].any() or hit[:, 0].any() or hit[:, -1].any())
    return bool(inside and max(hit.any(axis=0).mean(), hit.any(axis=1).mean()) > 0.3)


@pytest.mark.parametrize("size", [PORTRAIT, LANDSCAPE, (30, 30)])
def test_a_picture_has_all_of_it(device: Any, wide: Scene, size: tuple[int, int]) -> None:
    """Portrait pictures and narrow windows cut off the sides of a model that Raystream itself had framed."""
    renderer = Renderer(wide, device=device, **OPTIONS)
    camera = renderer.camera
    picture = renderer.render(size=size, layers="triangle")
    assert whole(picture.layers["triangle"] >= 0)
    assert renderer.camera == camera == wide.camera(), "it is that of pictures of this shape alone"
    frame = next(render_frames(wide, range(2), turntable=True, render={"size": size, "layers": "triangle"}, **OPTIONS))
    assert whole(frame.picture.layers["triangle"] >= 0)


@pytest.mark.parametrize("size", [PORTRAIT, (30, 30)])
def test_a_turntable_has_all_of_it_in_every_frame(device: Any, size: tuple[int, int]) -> None:
    """A model far from round, whose side is much wider than its front."""
    deep = Scene.from_triangles(places.box().reshape(-1, 3) * (0.4, 1.0, 4.0), np.arange(36).reshape(-1, 3))
    render = {"size": size, "layers": "triangle"}
    for frame in render_frames(deep, range(8), turntable=True, render=render, device=device, **OPTIONS):
        hit = frame.picture.layers["triangle"] >= 0
        assert hit.any() and not (hit[0].any() or hit[-1].any() or hit[:, 0].any() or hit[:, -1].any())


@pytest.mark.usefixtures("device")
def test_an_exposure_is_the_open_scene_s(tmp_path: Path) -> None:
    """Read anew the scene keeps it, the next one does not; a key goes back to auto at once."""
    for name in ("a.ply", "b.ply"):
        (tmp_path / name).write_bytes(SMALL_TRIANGLE)
    view = opened(str(tmp_path / "a.ply"), exposure="auto")

    def press(key: str) -> Any:
        view.handle(event("key_down", key=key))
        rest(view)
        return view.view.tone.exposure

    rest(view)
    first = view.view.tone.stops
    assert press("+") == view.view.tone.stops == first + 0.25
    assert press("F5") == first + 0.25
    before = view.read()
    assert press("0") == "auto" and view.value("exposure") == "auto" and view.view.tone.stops == pytest.approx(first)
    assert (view.read() != before).any()
    assert press("+") == pytest.approx(first + 0.25)
    assert press("ArrowRight") == "auto" and view.scene_loader.shown_path.endswith("b.ply")
    view.update(exposure=2.0)
    view.park()
    view.wait()
    assert view.view.tone.exposure == 2.0, "the same scene comes back"
    view.release()


@pytest.fixture
def view(device) -> CanvasView:
    """An unlit ball in the studio, at rest."""
    scene = places.alone(places.sphere(3), places.material(0.5))
    made = opened(scene, (96, 64), program="path", spp=2)
    rest(made)
    yield made
    made.release()


def test_a_scene_without_light_is_black_at_once(view: CanvasView) -> None:
    """Switched off, the environment went on lighting what was seen: pictures were blended with those of the light
    before. Pressed twice, J switched it off twice."""
    assert view.read()[..., :3].mean() > 30
    view.perform("environment.toggle")
    made = [each[..., :3].max() for each in rest(view)]
    first = made.index(0)
    assert made[first:] == [0] * len(made[first:]), "old light comes back"


SIZE = (24, 18)
SCENE = raystream.load("cornell")


@pytest.fixture(scope="module")
def layers(device: Any) -> dict[str, np.ndarray]:
    """What the middles of the pixels show."""
    caster = Renderer(SCENE, device=device, program="cast", machine="singlepass")
    return caster.render(SIZE, layers=("triangle", "instance", "depth")).layers


@pytest.mark.parametrize(
    ("program", "choices"),
    [("path", {"pixel_filter": "gaussian", "aperture": 60.0, "focus": 900.0}), ("shadow", {"accel": "grid"})],
)
def test_a_probed_surface_is_the_one_that_the_pixel_shows(
    device: Any, layers: dict[str, np.ndarray], program: str, choices: dict[str, Any]
) -> None:
    """The probe of a program with samples said "hits nothing" of every pixel, and followed the first sample's ray,
    which filter and lens may take past the surface that the pixel shows; in flight it told of another picture's
    pixel."""
    pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
    renderer = Renderer(SCENE, device=device, program=program, machine="singlepass", depth=1, **choices)
    triangle = layers["triangle"]
    y, x = np.nonzero(triangle != np.roll(triangle, 1, axis=1))  # at edges samples go astray
    pixels = [(int(x[k]), int(y[k])) for k in range(0, len(x), max(1, len(x) // 10))]
    assert len(pixels) >= 8
    for column, row in [(0, 0), *pixels]:
        found = probe(renderer, renderer.camera, SIZE, (column, row))
        number, instance = layers["triangle"][row, column], layers["instance"][row, column]
        if number < 0:
            assert found.surface is None and surface_text(found) == "nothing"
        else:
            assert found.surface is not None
            assert (found.surface.triangle, found.surface.instance) == (number, instance)
            assert found.surface.name == SCENE.instances[instance].name or SCENE.meshes[instance].name
            # The scene's units are hundreds; float32, by another structure.
            assert found.surface.distance == pytest.approx(layers["depth"][row, column], rel=1e-5)
            assert surface_text(found).startswith(f"{found.surface.name}, triangle {number} at ")
