"""What scenes with lights of their own have beside them, and how bright pictures by the defaults are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import places
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import raystream
from raystream.lighting import backdrop
from raystream.lighting.emitters import emitters
from raystream.renderer.inputs import lighting
from raystream.renderer.inputs.lighting import DefaultEnvironment, default_environment, irradiance, white_radiance
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.renderer import Renderer
from raystream.scene.environment import IRRADIANCE, SCALE, studio, sunlight
from raystream.scene.light import LUMINANCE, Light
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene

UP = np.array([[0.0, 1.0, 0.0]])


def ball(**changes: Any) -> Scene:
    """A grey sphere of radius 1 in the middle, and lights."""
    return places.alone(places.sphere(3), places.material(0.5)).with_parts(**{"cameras": [], "fills": True, **changes})


def lamp(place: Any, strength: float, name: str = "lamp") -> Light:
    return Light("point", name, place, intensity=(strength, strength, strength))


KEY, FILL = lamp((4.0, 4.0, 5.0), 300.0, "key"), lamp((-4.0, -1.0, 6.0), 120.0, "fill")
LOW = lamp((4.0, -5.0, 3.0), 120.0, "low")


def test_irradiance_of_lights() -> None:
    """By hand: a point 2 above, at 60 degrees, in the middle of a spot and beyond it; from below nothing comes."""
    origin = np.zeros((1, 3))
    aside = (2 * math.sin(math.pi / 3), 2 * math.cos(math.pi / 3), 0.0)
    spot = Light("spot", "spot", (0, 2, 0), (0, -1, 0), (8.0, 8.0, 8.0), 0.1, 0.2)
    sun = Light("directional", "sun", direction=(0, -1, -1), intensity=(3.0, 3.0, 3.0))
    for lights, expected in (
        ([lamp((0, 2, 0), 8.0)], 2.0),
        ([lamp(aside, 8.0)], 1.0),
        ([lamp((0, -2, 0), 8.0)], 0.0),
        ([spot], 2.0),
        ([sun], 3.0 / math.sqrt(2)),
        ([sun, lamp((0, 2, 0), 8.0)], 2.0 + 3.0 / math.sqrt(2)),
    ):
        assert irradiance(origin, UP, lights, None)[0] == pytest.approx(expected)
    assert irradiance(np.array([[1.0, 0, 0]]), UP, [spot], None)[0] == 0


@pytest.mark.parametrize("both", [False, True])
def test_irradiance_of_surfaces(both: bool) -> None:
    """A small square 3 above of radiance 5, and a sphere: E = L A cos cos' / d^2; and from behind only where both
    sides shine."""
    side = 0.1
    square = np.array([[[-side, 0, -side], [side, 0, -side], [side, 0, side], [-side, 0, side]]])  # faces down
    scene = Scene(
        [places.flat(places.quads(square))],
        [Instance(0, np.array([[1.0, 0, 0, 0], [0, 1, 0, 3], [0, 0, 1, 0], [0, 0, 0, 1]]))],
        [places.material(0.0, shines=5.0, double_sided=both)],
    )
    below, above = np.zeros((1, 3)), np.array([[0.0, 6.0, 0.0]])
    expected = 5 * (2 * side) ** 2 / 9
    assert irradiance(below, UP, [], emitters(scene))[0] == pytest.approx(expected, rel=0.01)
    assert irradiance(above, -UP, [], emitters(scene))[0] == pytest.approx(expected * both, rel=0.01)
    round_ = Scene([Quadric.sphere((0, 3, 0), 0.1)], [Instance(0)], [places.material(0.0, shines=5.0)])
    assert irradiance(below, UP, [], emitters(round_))[0] == pytest.approx(5 * math.pi * 0.01 / 9, rel=0.01)


@pytest.mark.parametrize(
    ("lights", "name"),
    [
        ([KEY, FILL, LOW], "none"),
        ([KEY], "studio"),  # its shade is black
        ([lamp((4.0, 4.0, 5.0), 1e-4), lamp((-4.0, -1.0, 6.0), 4e-5)], "studio"),  # too faint to see by
        ([lamp((0.0, 0.9, 0.9), 300.0), lamp((0.0, 0.0, 1.0), 300.0)], "studio"),  # its own lamps
        ([Light("directional", "behind", direction=(0.5, 0.2, 1.0), intensity=(3.0, 3.0, 3.0))], "studio"),
    ],
    ids=("lit", "key alone", "faint", "own", "from behind"),
)
def test_what_an_object_has_beside_its_lights(lights: list[Light], name: str) -> None:
    found = default_environment(ball(lights=lights))
    assert found is not None and found.name == name


def test_lamps_within_an_object_are_none_of_its_lighting() -> None:
    """The same lights around a ball light it, and are lamps of a thing that reaches beyond them."""
    scene = ball(lights=[KEY, FILL, LOW])
    ends = []
    for place in ((9.0, 9.0, 9.0), (-9.0, -9.0, -9.0)):
        end = np.diag([0.05, 0.05, 0.05, 1.0])
        end[:3, 3] = place
        ends.append(Instance(0, end))
    front = raystream.Camera((6.0, 4.0, 12.0), (0.0, 0.0, 0.0))
    wide = scene.with_parts(instances=[Instance(0), *ends], cameras=[front])
    lit = default_environment(scene)
    assert lit is not None and lit.name == "none"
    found = default_environment(wide)
    assert found is not None and found.name == "studio"


def test_the_studio_is_the_fill_to_the_scene_s_own_key() -> None:
    """Level with four times as strong a lamp; of a faint one it is as it is without any."""
    one, four, faint = (
        default_environment(ball(lights=[lamp((4.0, 4.0, 5.0), strength)])) for strength in (100.0, 400.0, 1e-3)
    )
    assert one is not None and four is not None and faint == DefaultEnvironment("studio", 1.0)
    assert four.level == pytest.approx(4 * one.level) and four.tone == pytest.approx(4 * one.tone)
    white = 100.0 / 6.55**2 / math.pi + one.level * IRRADIANCE / math.pi  # the brightest of both lights
    assert 0.7 < one.tone * (IRRADIANCE / math.pi) / white < 1.1
    assert 0.12 < one.level < 0.25 * 100 / 6.55**2 / math.pi * 2**0.125  # it is 6.55 away, and met squarely at best


@pytest.mark.parametrize(("metallic", "name"), [(0.0, "none"), (1.0, "studio")])
def test_metals_do_not_show_lamps(metallic: float, name: str) -> None:
    scene = ball(lights=[KEY, FILL, LOW])
    shiny = places.material(0.5, kind="principled", metallic=metallic)
    found = default_environment(scene.with_parts(materials=[shiny]))
    assert found is not None and found.name == name


def room(height: float, sides: str = "wens") -> list[Mesh]:
    """Walls around a floor of 4 x 4, those named by the points of the compass, without a roof."""
    corners = {
        "floor": [[-2, 0, -2], [-2, 0, 2], [2, 0, 2], [2, 0, -2]],
        "w": [[-2, 0, -2], [-2, height, -2], [-2, height, 2], [-2, 0, 2]],
        "e": [[2, 0, -2], [2, 0, 2], [2, height, 2], [2, height, -2]],
        "n": [[-2, 0, -2], [2, 0, -2], [2, height, -2], [-2, height, -2]],
        "s": [[-2, 0, 2], [-2, height, 2], [2, height, 2], [2, 0, 2]],
    }
    return [places.flat(places.quads(np.array([corners[each]], float))) for each in ("floor", *sides)]


def of_meshes(meshes: list[Mesh], **parts: Any) -> Scene:
    return Scene(
        meshes, [Instance(number) for number in range(len(meshes))], [places.material(0.5)], fills=True, **parts
    )


def test_a_room_that_a_sun_lights_has_its_sky() -> None:
    """Where the sun is, and as bright as it is, and so has a place in the open; with any other lamp there is none."""
    sun = Light("directional", "sun", direction=(-1.0, -1.0, 0.0), intensity=(9.0, 9.0, 9.0))
    eye = raystream.Camera((0.0, 1.5, 1.5), (0.0, 1.5, 0.0), fov=60.0)
    walled, open_ = (of_meshes(room(4.0, sides), lights=[sun], cameras=[eye]) for sides in ("wens", "w"))
    found = default_environment(walled)
    assert found is not None and found.name == "sky" and found.sun == pytest.approx((45.0, 90.0))
    own = float(sunlight(math.radians(45)) @ (0.2126, 0.7152, 0.0722)) * SCALE
    assert found.level == pytest.approx(9.0 / own)
    assert default_environment(open_) == found
    assert default_environment(walled.with_parts(lights=[sun, lamp((0, 3, 0), 20.0)])) is None
    lighting = prepare(walled).lighting
    assert lighting.environment.name == "sky" and "a sun outside" in lighting.notes[0]


def test_a_gradient_stands_behind_a_place_in_the_open(device: Any) -> None:
    """As bright as a white surface under the scene's own lights: nothing else changes, and darkness is left where it is
    asked for."""
    eye = raystream.Camera((0.0, 1.5, 9.0), (0.0, 1.5, 0.0), fov=60.0)
    lamps = [lamp((0.0, 3.5, 6.0), 400.0), lamp((3.0, 3.0, 5.0), 200.0)]
    place = of_meshes(room(2.0, "n"), lights=lamps, cameras=[eye])
    renderer = Renderer(place, device=device, program="path", machine="singlepass")
    lighting, beside = renderer.prepared.lighting, default_environment(place)
    assert beside is not None and beside.name == "none" and lighting.environment.flux == 0
    assert lighting.backdrop is not None and lighting.backdrop.floor is None
    assert "a gradient stands behind it" in lighting.notes[0]
    behind = renderer.render((32, 32), 2).linear
    four = default_environment(place.with_parts(lights=[lamp(each.position, 4 * each.intensity[0]) for each in lamps]))
    assert four is not None and four.tone == pytest.approx(4 * beside.tone)
    renderer.update(environment="none")
    dark = renderer.render((32, 32), 2).linear
    seen = dark.any(axis=-1)
    assert 0.05 < seen.mean() < 0.9 and (behind[~seen] > 0).all()
    inner = seen & np.roll(seen, 1, 0) & np.roll(seen, -1, 0) & np.roll(seen, 1, 1) & np.roll(seen, -1, 1)
    np.testing.assert_array_equal(behind[inner], dark[inner])
    renderer.update(environment=None, background=(0.1, 0.2, 0.3))
    assert renderer.prepared.lighting.backdrop.color == (0.1, 0.2, 0.3) and not renderer.prepared.lighting.notes


def test_the_environment_of_a_scene(device: Any) -> None:
    """With a note, at the level that was found, at a rotation; explicit ones, and scenes that are lit, keep theirs; it
    stays while the lamp is moved."""
    weak = ball(lights=[KEY])
    renderer = Renderer(weak, device=device, program="path", machine="singlepass")
    found, beside = renderer.prepared.lighting.environment, default_environment(weak)
    assert beside is not None and (found.pixels == studio(level=beside.level).pixels).all()
    assert "the studio's fill beside them (--environment none" in renderer.notes[-1]
    assert np.allclose(renderer.prepared.lighting.backdrop.tones[0], beside.tone * np.array(backdrop.GRADIENT_LOW))
    renderer.update(weak.with_parts(lights=[lamp((0.0, 9.0, 0.5), 1.0)]))
    assert renderer.prepared.lighting.environment is found
    renderer.update(environment_rotation=90.0)
    assert renderer.prepared.lighting.environment.rotation == 90.0
    renderer.update(environment="none", environment_rotation=0.0)
    assert renderer.prepared.lighting.environment.flux == 0 and renderer.prepared.lighting.backdrop is None
    renderer.update(ball(lights=[KEY, FILL, LOW]), environment=None)
    assert renderer.prepared.lighting.environment.flux == 0
    renderer.update(ball(lights=[]))
    assert (renderer.prepared.lighting.environment.pixels == studio().pixels).all()


OPTIONS = {"program": "path", "machine": "singlepass"}
LANDSCAPE, PORTRAIT = (64, 48), (48, 64)


def shapes() -> Scene:
    """A white ball beside a box, as high as wide."""
    ball, cube = places.sphere(4), places.box() * (0.6, 1.0, 0.6) + (1.4, 0.0, 0.0)
    return white(np.concatenate([ball, cube.astype(np.float32)]))


def white(corners: np.ndarray) -> Scene:
    """Without a camera of its own."""
    return places.alone(corners, places.material(0.8)).with_parts(cameras=[])


def codes(scene: Any, device: Any) -> tuple[np.ndarray, np.ndarray]:
    """Luminance of 8-bit codes, means of 3 x 3 pixels, (H - 2, W - 2), and where all nine show the model."""
    renderer = Renderer(scene, device=device, **OPTIONS)
    picture = renderer.render(size=(96, 72), spp=24, layers="instance")
    assert renderer.prepared.lighting.environment.name == "studio"
    windows = sliding_window_view(picture.srgb8() @ LUMINANCE, (3, 3))
    return windows.mean(axis=(2, 3)), sliding_window_view(picture.layers["instance"] >= 0, (3, 3)).all(axis=(2, 3))


def test_white_spans_a_third_of_the_range(device: Any, shared_scenes: Any) -> None:
    """The bunny's from 2 to 98 % of its pixels; not burnt, and in the light brighter than all that is behind it, which
    is light itself."""
    shown, model = codes(raystream.load(shared_scenes / "bunny.ply"), device)
    low, high = np.quantile(shown[model], [0.02, 0.98])
    assert high - low > 256 / 3 and 190 < high < 235 and low > 60
    middle, brightest = np.quantile(shown[~model], [0.5, 0.98])
    assert brightest + 12 < high and middle > 155


@pytest.mark.parametrize("size", [LANDSCAPE, PORTRAIT, (48, 48)])
def test_the_model_fills_the_smaller_side(device: Any, size: tuple[int, int]) -> None:
    """Within a pixel to each side, and lies in the middle."""
    renderer = Renderer(shapes(), device=device, program="cast", machine="singlepass")
    hit = renderer.render(size=size, layers="triangle").layers["triangle"] >= 0
    sides = []
    for axis in (0, 1):
        found = np.flatnonzero(hit.any(axis=axis))
        sides.append((found[-1] - found[0] + 1) / hit.shape[1 - axis])
        assert abs(found[0] + found[-1] + 1 - hit.shape[1 - axis]) <= 3
    assert 0.72 <= max(sides) <= 0.8


FLOOR = [(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)]


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        (DefaultEnvironment("sky", 0.25, (40.0, 30.0), tone=8.0), 0.25),  # as bright as the sky
        (DefaultEnvironment("studio", 0.25, tone=0.5), 0.5),  # by the gradient's factor
        (DefaultEnvironment("none", 0.0, tone=2.0), 2.0),
    ],
)
def test_white_beside_lights(monkeypatch: pytest.MonkeyPatch, beside: DefaultEnvironment, expected: float) -> None:
    scene = Scene.from_triangles(FLOOR, [(0, 1, 2), (0, 2, 3)])
    scene.lights, scene.fills = [Light("point", position=(0, 1, 0))], True
    monkeypatch.setattr(lighting, "default_environment", lambda scene: beside)
    assert white_radiance(scene) == expected


def test_white_under_an_environment_that_is_given() -> None:
    """Its own radiance for a single object, whatever lights it has."""
    scene = Scene.from_triangles(FLOOR, [(0, 1, 2), (0, 2, 3)])
    assert lighting.is_single_object(scene) and white_radiance(scene, 0.75) == 0.75
