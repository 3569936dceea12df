"""What the camera sees behind a scene, and light on a floor that only what falls on it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import places
import pytest
from pictures import disc_above_a_speck

from raystream import Renderer, Scene
from raystream.base.errors import ViewerError
from raystream.lighting.backdrop import GRADIENT_HIGH, GRADIENT_LOW, floor_light, floor_shares
from raystream.scene import builtin
from raystream.scene.builtin.parts.shapes import boxes
from raystream.scene.camera import Camera
from raystream.scene.environment import IRRADIANCE, ConstantEnvironment, ImageEnvironment, studio
from raystream.scene.light import LUMINANCE, Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance
from raystream.scene.texture import Image, Texture, linear_from_srgb

SIZE, SPP = (24, 20), 8
COLOR = (0.8, 0.3, 0.1)


def picture_of_sky() -> ImageEnvironment:
    """Bright above, with a spot."""
    pixels = np.linspace(2.0, 0.2, 16, dtype=np.float32)[:, None, None] * np.ones((1, 32, 3), np.float32)
    pixels[4, 20] = 30.0
    return ImageEnvironment(pixels)


def box() -> Scene:
    """A box of height 1 on y = 0."""
    cube = boxes((-0.5, 0, -0.5), (0.5, 1, 0.5))
    scene = Scene.from_triangles(cube.positions, cube.triangles, base_color=(0.6, 0.5, 0.4))
    scene.cameras.append(Camera((1.5, 2.0, 2.5), (0.0, 0.4, 0.0), fov=50))
    return scene


@pytest.fixture(scope="module")
def renderer(device: Any) -> Iterator[Renderer]:
    made = Renderer(box(), device=device, machine="singlepass", environment=picture_of_sky())
    yield made
    made.release()


def linear(renderer: Renderer, **changes: Any) -> np.ndarray:
    renderer.update(**{"background": None, "ground": None, "program": "path", **changes})
    return renderer.render(size=SIZE, spp=SPP).linear


@pytest.mark.parametrize("program", ["path", "whitted", "shadow", "photon"])
@pytest.mark.parametrize("ground", [None, "shadow"])
def test_a_colour_is_what_a_transparent_picture_is_composited_over(
    renderer: Renderer, program: str, ground: str | None
) -> None:
    over = linear(renderer, background=COLOR, ground=ground, program=program)
    renderer.update(background="transparent")
    made = renderer.render(size=SIZE, spp=SPP)
    assert made.alpha is not None and made.alpha.max() == 1 and (made.alpha == 0).any()
    composited = made.linear + (1 - made.alpha[..., None]) * np.array(COLOR, np.float32)
    assert np.allclose(composited, over, rtol=1e-5, atol=1e-6)
    assert ((made.alpha > 0.02) & (made.alpha < 0.98)).sum() > 10  # edges, and shadows


@pytest.mark.parametrize("background", [COLOR, "gradient", "blur=20", "transparent"])
@pytest.mark.parametrize("program", ["path", "whitted"])
def test_it_lights_nothing(renderer: Renderer, background: Any, program: str) -> None:
    plain = linear(renderer, program=program)
    renderer.update(background="transparent")
    inside = renderer.render(size=SIZE, spp=SPP).alpha == 1
    assert inside.sum() > 40
    for ground in (None, "shadow"):
        seen = linear(renderer, background=background, program=program, ground=ground)
        assert np.allclose(seen[inside], plain[inside], rtol=1e-5)
        assert not np.allclose(seen, plain, rtol=1e-3)


def test_a_gradient_goes_up(renderer: Renderer) -> None:
    renderer.update(camera=Camera((0.0, 9.0, 0.0), (3.0, 12.0, 0.0), fov=150))
    made = linear(renderer, background="gradient")
    renderer.update(camera=None)
    column = made[:, SIZE[0] // 2]
    assert np.all(np.diff(column[:, 1]) >= -1e-6) and np.ptp(column[:, 1]) > 0.2
    assert np.allclose(column[0], GRADIENT_HIGH, rtol=1e-5) and np.all(column <= np.array(GRADIENT_LOW) + 1e-6)


def test_a_blurred_environment_is_what_the_twin_says(renderer: Renderer) -> None:
    from raystream.lighting.backdrop import blurred

    view = Camera((0.0, 9.0, 0.0), (3.0, 9.5, 1.0), fov=70)
    renderer.update(camera=view, pixel_filter="point", environment_rotation=40.0)
    made = linear(renderer, background="blur=15")
    sharp = linear(renderer)
    right, up, forward = view.basis()
    x, y = np.meshgrid(2 * (np.arange(SIZE[0]) + 0.5) / SIZE[0] - 1, 1 - 2 * (np.arange(SIZE[1]) + 0.5) / SIZE[1])
    slope = np.tan(np.radians(35.0))
    towards = forward + (x * slope * SIZE[0] / SIZE[1])[..., None] * right + (y * slope)[..., None] * up
    towards /= np.linalg.norm(towards, axis=-1, keepdims=True)
    twin = ImageEnvironment(blurred(picture_of_sky(), 15.0)).rotated(40.0)
    assert np.allclose(made.reshape(-1, 3), twin.radiance(towards.reshape(-1, 3)), rtol=2e-3)
    assert np.ptp(sharp) > 2 * np.ptp(made)
    renderer.update(camera=None, pixel_filter="box", environment_rotation=0.0)


@pytest.mark.parametrize("program", ["path", "whitted"])
def test_a_shadow_is_the_ratio_of_arriving_light(device: Any, program: str) -> None:
    """Under the middle of a disc a sky of one radiance loses its form factor, r^2 / (r^2 + h^2)."""
    camera = Camera((0.0, 1.0, 0.0), (0.0, 0.0, 0.001), fov=2.0)
    chosen: dict[str, Any] = {"machine": "singlepass", "program": program, "environment": (0.3, 0.5, 0.7)}
    chosen["sampler"] = "sobol"
    made = Renderer(
        disc_above_a_speck(), device=device, camera=camera, ground="shadow", background=(2.0, 1.0, 0.5), **chosen
    )
    found = made.render(size=(8, 8), spp=256).linear.mean(axis=(0, 1), dtype=np.float64)
    floor = made.prepared.lighting.backdrop.floor.height
    made.release()
    expected = 1 - 1 / (1 + (2.0 - floor) ** 2)
    assert np.allclose(found / (2.0, 1.0, 0.5), expected, atol=0.02)


def test_the_floor_itself_is_not_seen(device: Any) -> None:
    """Where nothing shades it a pixel is the background, to the bit, under light of every kind."""
    for environment in ("studio", "sky", (1, 1, 1), "none"):
        made = Renderer(box(), device=device, machine="singlepass", environment=environment, background=COLOR)
        plain = made.render(size=SIZE, spp=2).linear
        made.update(ground="shadow", camera=Camera((0.0, 2.0, 40.0), (0.0, 1.9, 80.0), fov=60))  # looks away
        away = made.render(size=SIZE, spp=2).linear
        assert np.array_equal(away, np.broadcast_to(np.float32(COLOR), away.shape))
        made.update(camera=None)
        assert np.array_equal(made.render(size=SIZE, spp=2).linear[0], plain[0])
        made.release()


def test_the_floor_mirrors_what_stands_on_it(renderer: Renderer) -> None:
    """In part, in the box's own light, and less of what is higher."""
    low = Camera((0.0, 0.5, 4.0), (0.0, 0.0, 0.6), fov=40)
    renderer.update(camera=low)
    linear(renderer, background="transparent", ground="shadow")
    made = renderer.render(size=(9, 40), spp=64)
    renderer.update(camera=None)
    column = made.linear[:, 4].mean(axis=-1)
    floor = (made.alpha[:, 4] < 0.99) & (made.alpha[:, 4] > 0)
    first = int(np.flatnonzero(made.alpha[:, 4] == 1).max()) + 1
    assert floor[first] and 0.01 < column[first + 1] < 0.5
    # Five sixths of the reach, 0.5, are seen at atan(1 / 3.5), in row 27.
    assert 0 <= column[27] < 0.3 * column[first + 1] and not column[-3:].any()


def test_a_floor_stays_while_the_model_moves(renderer: Renderer) -> None:
    linear(renderer, ground="shadow")
    before = renderer.prepared.lighting.backdrop
    lifted = np.eye(4)
    lifted[1, 3] = 0.5
    renderer.move({0: lifted})
    assert renderer.prepared.lighting.backdrop == before
    renderer.move({0: np.eye(4)})


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_the_floor_is_under_the_whole_of_an_animation(device: Any, accel: str) -> None:
    scene, found = builtin.build("balls"), set()
    for seconds in np.linspace(0, scene.duration, 4).tolist():
        renderer = Renderer(scene.posed(seconds), device=device, accel=accel, ground="shadow")
        found.add(renderer.prepared.lighting.backdrop.floor)
        renderer.update(scene.posed(0.3 * scene.duration))
        found.add(renderer.prepared.lighting.backdrop.floor)
        renderer.release()
    (floor,) = found
    assert floor.height < scene.motion_bounds()[0, 1] and len(scene.instances) == len(scene.posed(0.0).instances)


def test_machines_agree(device: Any) -> None:
    made = []
    for machine, fuse in (("singlepass", "ray"), ("multipass", "none"), ("multipass", "ray"), ("multipass", "surface")):
        shown = {"machine": machine, "fuse": fuse, "ground": "shadow", "background": "gradient"}
        made.append(places.picture(box(), (12, 10), 2, device=device, **shown).linear)
    assert all(np.array_equal(made[0], each) for each in made[1:])


def test_features_have_the_background_and_the_floor(renderer: Renderer) -> None:
    linear(renderer, background=COLOR, ground="shadow")
    layers = renderer.render(size=SIZE, spp=2, layers=("depth", "normal")).layers
    floor = np.isinf(layers["depth"])
    assert floor.sum() > 100 and not layers["normal"][floor].any()  # not of the scene
    renderer.update(denoise="shader")
    clean = renderer.render(size=SIZE, spp=4).linear
    renderer.update(denoise="auto")
    assert np.allclose(clean[0], COLOR, rtol=0.05)


def test_a_shadow_is_denoised(renderer: Renderer) -> None:
    """Also where all samples came through, or none, by chance, so that their spread is 0."""
    size = 64, 52
    linear(renderer, background=COLOR, ground="shadow")
    floor = np.isinf(renderer.render(size=size, spp=1, layers=("depth",)).layers["depth"])
    converged = renderer.render(size=size, spp=192).linear
    rough = renderer.render(size=size, spp=8).linear
    renderer.update(denoise="shader")
    clean = renderer.render(size=size, spp=8).linear
    renderer.update(denoise="auto")
    before, behind = (np.square(each - converged)[floor].mean() ** 0.5 for each in (rough, clean))
    assert behind < 0.42 * before


@pytest.mark.parametrize("layers", [("depth",), ("albedo",)])
def test_layers_leave_the_denoised_picture_as_it_is(renderer: Renderer, layers: tuple[str, ...]) -> None:
    """They have no floor, which is not seen; the denoiser has it all the same."""
    linear(renderer, background=COLOR, ground="shadow")
    renderer.update(denoise="shader")
    alone, beside = (renderer.render(size=SIZE, spp=4, layers=each).linear for each in ((), layers))
    renderer.update(denoise="auto")
    np.testing.assert_array_equal(beside, alone)


@pytest.mark.parametrize(
    "value", ["blur=0", "blur=91", "blur=", "1,2", "1,2,-3", "1,2,nan", "transparrent", "", "blur", True, 4, (1, 2)]
)
def test_bad_values_are_one_line(renderer: Renderer, value: Any) -> None:
    with pytest.raises(ViewerError, match="background") as found:
        renderer.update(background=value)
    assert "\n" not in str(found.value)


def test_a_film_of_another_background_is_not_gone_on_from(renderer: Renderer, tmp_path: Any) -> None:
    linear(renderer, background=COLOR)
    renderer.render(size=SIZE, spp=2).save(tmp_path / "a.exr")
    renderer.update(background="gradient")
    with pytest.raises(ViewerError, match="background"):
        renderer.render(size=SIZE, spp=4, resume=str(tmp_path / "a.exr"))
    renderer.update(background=COLOR)
    again = renderer.render(size=SIZE, spp=4, resume=str(tmp_path / "a.exr")).linear
    assert np.array_equal(again, renderer.render(size=SIZE, spp=4).linear)


@pytest.mark.parametrize("background", [None, "blur=20"])
def test_a_rotation_makes_no_table_anew(device: Any, background: Any) -> None:
    """Of an image that its owner may write to; the picture is that of one who comes at that rotation."""
    pixels = np.random.default_rng(4).uniform(0.1, 2.0, (8, 16, 3)).astype(np.float32)
    given = {"device": device, "machine": "singlepass", "ground": "shadow", "background": background}
    turned = Renderer(box(), environment=ImageEnvironment(pixels), **given)
    before = [module.memories for module in turned.prepared.lighting._backdrop_modules]
    turned.update(environment_rotation=70.0)
    after = [module.memories for module in turned.prepared.lighting._backdrop_modules]
    assert any(before)
    for held, found in zip(before, after, strict=True):
        assert all(one is other for one, other in zip(held, found, strict=True))
    fresh = Renderer(box(), environment=ImageEnvironment(pixels), environment_rotation=70.0, **given)
    assert turned.render((24, 16), 2).linear.tobytes() == fresh.render((24, 16), 2).linear.tobytes()


RADIUS, HEIGHT = 1.0, 2.0  # of a disc over the floor
SCREEN, SCREEN_HALF = np.array([2.5, 4.0, 1.0]), 0.2  # the middle of a square that shines, and half of its side
LAMPS = (
    Light("point", "lamp", (2.5, 4.0, 1.0), intensity=(9.0, 12.0, 4.0)),
    Light("point", "cellar", (0.0, -3.0, 1.0), intensity=(50.0, 50.0, 50.0)),
)


def spotted(rotation: float = 0.0) -> ImageEnvironment:
    """A dim picture, bright to one side, with a square of light high up, and one below that a floor does not see."""
    pixels = np.linspace(0.4, 0.1, 24, dtype=np.float32)[:, None, None] * np.ones((1, 48, 3), np.float32)
    pixels[:, :12] *= 3
    pixels[3:6, 30:36] = (6.0, 5.0, 4.0)
    pixels[16:20, 4:9] = 20.0
    return ImageEnvironment(pixels).rotated(rotation)


def directions(across: int = 1200, down: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Of the upper half, evenly by their cosine: (N, 3), and the weight of each."""
    u, v = np.meshgrid((np.arange(across) + 0.5) / across * 2 * np.pi, (np.arange(down) + 0.5) / down)
    radius = np.sqrt(v)
    found = np.stack([radius * np.cos(u), np.sqrt(1 - v), radius * np.sin(u)], axis=-1).reshape(-1, 3)
    return found, np.full(len(found), np.pi / len(found))


def passes(at: np.ndarray, towards: np.ndarray, length: Any = np.inf) -> np.ndarray:
    """Which ways (N, 3) from a point miss the disc."""
    t = (HEIGHT - at[1]) / towards[..., 1]
    return (np.hypot(*(at[axis] + t * towards[..., axis] for axis in (0, 2))) > RADIUS) | (t > length)


def expected(at: np.ndarray, environment: ImageEnvironment, lights: tuple[Light, ...]) -> float:
    """The share of the light on the floor that comes through."""
    ways, weights = directions()
    light = environment.radiance(ways) @ LUMINANCE * weights
    all_of, through = light.sum(), light[passes(at, ways)].sum()
    for lamp in lights:
        way = np.array(lamp.position) - at
        far = np.linalg.norm(way)
        arriving = max(way[1] / far, 0.0) / far**2 * float(np.array(lamp.intensity) @ LUMINANCE)
        all_of, through = all_of + arriving, through + arriving * bool(passes(at, way / far, far))
    return float(through / all_of)


@pytest.mark.parametrize("lights", [(), LAMPS], ids=["environment alone", "beside lamps"])
def test_shadows_are_those_of_all_directions(device: Any, lights: tuple[Light, ...]) -> None:
    environment = spotted(40.0)
    made = Renderer(
        disc_above_a_speck(RADIUS, HEIGHT, 256, lights), device=device, machine="singlepass", environment=environment
    )
    made.update(ground="shadow", background=(1.0, 1.0, 1.0))
    floor, shares = made.prepared.lighting.backdrop.floor.height, []
    for x, z in ((0.0, 0.0), (-1.6, 0.3), (1.1, 1.2), (-0.6, -1.8)):
        made.update(camera=Camera((x, 1.0, z), (x, 0.0, z + 0.001), fov=1.0))
        found = made.render(size=(8, 8), spp=256).linear.mean(dtype=np.float64)
        wanted = expected(np.array([x, floor, z]), environment, lights)
        shares.append(wanted)
        assert found == pytest.approx(wanted, abs=0.008)
    assert np.ptp(shares) > 0.12
    made.release()


def beside_a_screen() -> tuple[Scene, np.ndarray, np.ndarray]:
    """The disc and a small square that shines down through a texture; middles (N, 3) of its texels, and luminance times
    area of each (N,)."""
    texels = np.random.default_rng(4).integers(200, 256, (4, 4, 4), np.uint8)
    corners = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]]) * SCREEN_HALF + SCREEN
    uvs = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    scene = disc_above_a_speck(RADIUS, HEIGHT, 256)
    faces, kinds = np.int32([[0, 1, 2], [0, 2, 3]]), np.full(2, len(scene.materials), np.int32)
    shining = Material("screen", (0.0, 0.0, 0.0, 1.0), emission=(160.0, 140.0, 120.0), emission_texture=0)
    scene.meshes = [*scene.meshes, Mesh(np.float32(corners), faces, kinds, uvs=np.float32(uvs))]
    scene.materials, scene.instances = [*scene.materials, shining], [*scene.instances, Instance(len(scene.instances))]
    scene.textures = [Texture(Image(texels, "screen"), nearest=True)]
    places = (np.arange(4) + 0.5) / 2 - 1
    middles = np.stack(np.broadcast_arrays(places[None], 0.0, places[:, None]), axis=-1).reshape(-1, 3)
    light = (linear_from_srgb(texels[..., :3] / 255) * shining.emission) @ LUMINANCE
    return scene, middles * SCREEN_HALF + SCREEN, light.ravel() * SCREEN_HALF**2 / 4


def test_a_shining_texture_brings_light_to_the_floor(device: Any) -> None:
    """Beside the environment, whose light the screen takes as the disc does."""
    environment, (scene, middles, light) = spotted(40.0), beside_a_screen()
    made = Renderer(scene, device=device, machine="singlepass", environment=environment)
    made.update(ground="shadow", background=(1.0, 1.0, 1.0))
    floor, apart = made.prepared.lighting.backdrop.floor.height, []
    ways, weights = directions()
    around = environment.radiance(ways) @ LUMINANCE * weights
    for x, z in ((0.0, 0.0), (-1.6, 0.3), (1.1, 1.2)):
        at = np.array([x, floor, z])
        met = abs(at + ways * ((SCREEN[1] - floor) / ways[:, 1:2]) - SCREEN).max(axis=1) < SCREEN_HALF
        way = middles - at
        far = np.linalg.norm(way, axis=1)
        arriving = light * (way[:, 1] / far) ** 2 / far**2
        through = around[passes(at, ways) & ~met].sum() + arriving[passes(at, way / far[:, None], far)].sum()
        wanted = through / (around.sum() + arriving.sum())
        apart.append(wanted - around[passes(at, ways) & ~met].sum() / around.sum())
        made.update(camera=Camera((x, 1.0, z), (x, 0.0, z + 0.001), fov=1.0))
        assert made.render(size=(8, 8), spp=256).linear.mean(dtype=np.float64) == pytest.approx(wanted, abs=0.01)
    assert np.abs(apart).max() > 0.05
    made.release()


def test_the_table_is_the_light_from_above() -> None:
    """Its sum by the studio's own, and by hand under an even sky; nothing of what is below, or of a dark one."""
    assert floor_shares(studio()).irradiance == pytest.approx(IRRADIANCE, rel=2e-3)
    even = ImageEnvironment(np.full((5, 8, 3), 2.0, np.float32))
    assert floor_shares(even).irradiance == pytest.approx(2 * np.pi, rel=1e-6)
    assert floor_light(ConstantEnvironment((2.0, 2.0, 2.0))).uniforms["floor_irradiance"][1] == pytest.approx(2 * np.pi)
    below = np.zeros((6, 8, 3), np.float32)
    below[4:] = 3.0
    dark = floor_shares(ImageEnvironment(below))
    assert dark.irradiance == 0 and np.isfinite(dark.table.data["up_to"]).all()
    assert floor_shares(ImageEnvironment(below[::-1].copy())).irradiance > 0
