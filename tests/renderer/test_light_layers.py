"""Layers of light: together they are the picture, and each is what its name says."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest

import raystream
from raystream.base.errors import ViewerError
from raystream.film.layers import LIGHT_LAYERS
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling import sampler
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Scene

SIZE = (32, 24)
ROUNDING = 4e-6  # relative to the brightest of what is added up


def rendered(device: Any, scene: Any, spp: int = 16, size: tuple[int, int] = SIZE, **options: Any) -> Any:
    return places.picture(scene, size, spp, "light", program="path", device=device, **options)


def assert_whole(picture: Any) -> None:
    """The layers' sum is the picture."""
    total = sum(picture.layers[name].astype(np.float64) for name in LIGHT_LAYERS)
    scale = np.maximum(np.abs(picture.linear).max(axis=-1, keepdims=True), 1e-3)
    assert (np.abs(total - picture.linear) / scale).max() < ROUNDING and picture.linear.mean() > 0.01
    assert all((picture.layers[name] >= 0).all() for name in LIGHT_LAYERS)


def glossy_room() -> Scene:
    """A room of matte walls with a lamp, a coated sphere of glass and one of metal, a Phong box, and a mirror."""
    metal = Material("metal", (0.9, 0.7, 0.4, 1.0), metallic=1.0, roughness=0.3, kind="principled")
    glass = Material("glass", (1, 1, 1, 1), kind="principled", transmission=1.0, roughness=0.2, clearcoat=0.5)
    plastic = Material("plastic", (0.2, 0.6, 0.3, 1.0), kind="principled", roughness=0.4)
    phong = Material("phong", (0.4, 0.3, 0.3, 1.0), kind="phong", specular=0.3, exponent=20.0, reflectivity=0.2)
    mirror = Material("mirror", (0.9, 0.9, 0.9, 1.0), kind="mirror")
    clear = Material("clear", (1, 1, 1, 1), kind="dielectric")
    ball = places.sphere(3)
    spots = [(-0.5, -0.5, -0.2), (0.4, -0.6, 0), (0, 0.3, -0.3), (-0.6, 0.4, -0.3), (0.6, 0.3, -0.2), (0.1, -0.2, 0.2)]
    meshes = [places.flat(places.box(True)), places.flat(places.LAMP, 1)]
    meshes += [places.flat(0.25 * ball + np.array(spot), 2 + k) for k, spot in enumerate(spots)]
    leaf = Material("leaf", (0.5, 0.7, 0.3, 1.0), kind="principled", diffuse_transmission=0.6)
    meshes.append(places.flat(0.4 * places.LAMP + np.array([0.3, 0.2, 0.0], np.float32), 8))  # under the lamp
    materials = [places.material(0.6), places.material(0.1, 8.0), metal, glass, plastic, phong, mirror, clear, leaf]
    return places.scene(meshes, materials, Camera((0, 0, 0.98), (0, 0, 0), fov=85.0))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"machine": "singlepass"},
        {"accel": "two-level-bvh", "aperture": 0.05},
        {"strategy": "bsdf", "clamp": 0.5},
        {"light_sampler": "tree", "roulette": "auto"},
    ],
    ids=str,
)
def test_the_layers_together_are_the_picture(device, options) -> None:
    picture = rendered(device, glossy_room(), **options)
    assert_whole(picture)
    assert all(picture.layers[name].max() > 0.01 for name in LIGHT_LAYERS)


@pytest.mark.parametrize("scene", ["cornell", "ring", "prism", "glass_ball"])
def test_of_builtin_scenes_too(device, scene) -> None:
    assert_whole(rendered(device, scene, spp=4))


def test_adaptive_pictures_and_films_that_go_on(device) -> None:
    renderer = Renderer("cornell", program="path", device=device, depth=3)
    picture = renderer.render((48, 48), spp=128, error=0.06, layers="light,samples")
    assert picture.layers["samples"].min() < picture.layers["samples"].max()
    assert_whole(picture)
    first = renderer.render((48, 48), spp=3)
    assert_whole(renderer.render((48, 48), spp=8, layers="light", film=first.film))
    renderer.release()


def seen_over_a_floor(**options: Any) -> dict[str, Any]:
    """Options of a picture before a backdrop."""
    return {"environment": "sky", "ground": "shadow", "background": "gradient"} | options


def gloss_and_lamp() -> Scene:
    """A coated sphere, and a smaller one beside it that shines, both on the floor."""
    gloss = Material("gloss", (0.6, 0.3, 0.2, 1.0), kind="principled", roughness=0.3)
    ball = 0.5 * places.sphere(2)
    lamp = 0.3 * places.sphere(2) + np.array([0.9, -0.2, 0.0], np.float32)
    meshes = [places.flat(ball), places.flat(lamp, 1)]
    return places.scene(meshes, [gloss, places.material(0.1, 2.0)], Camera((0.5, 1.2, 2.5), (0.3, 0, 0), fov=50.0))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"background": "environment"},
        {"background": "1,1,1", "ground": "none"},
        {"background": "blur=20", "ground": "none"},
        {"background": "transparent"},
        {"fisheye": 150.0, "ground": "none", "background": "environment"},
        {"clamp": 0.2},
        {"eye_rays": "shared", "ground": "none"},
    ],
    ids=str,
)
def test_backdrops_and_what_a_floor_mirrors_are_in_layers(device, options) -> None:
    renderer = Renderer(gloss_and_lamp(), program="path", device=device, **seen_over_a_floor(**options))
    plain = renderer.render(SIZE, spp=6)
    picture = renderer.render(SIZE, spp=6, layers="light")
    assert picture.linear.tobytes() == plain.linear.tobytes()
    assert_whole(picture)
    again = renderer.render(SIZE, spp=6, layers="light", film=plain.film)  # its paths are traced once more
    for name in LIGHT_LAYERS:
        assert np.abs(again.layers[name] - picture.layers[name]).max() <= ROUNDING * picture.linear.max(), name
    renderer.release()


def test_what_a_floor_mirrors_is_glossy(device) -> None:
    """Of the floor itself nothing is matte, and what is left of the backdrop is seen itself."""
    scene, options = gloss_and_lamp(), seen_over_a_floor(background="0.5,0.5,0.5", pixel_filter="point")
    renderer = Renderer(scene, program="path", device=device, **options)
    layers = renderer.render(SIZE, spp=16, layers="light,triangle").layers
    floor = layers["triangle"] < 0
    assert layers["direct_glossy"][floor].max() > 0.02 and layers["indirect_glossy"][floor].max() > 1e-3
    for name in ("direct_diffuse", "indirect_diffuse", "direct_transmission", "indirect_transmission"):
        assert not layers[name][floor].any(), name
    seen = layers["emission"][floor]
    assert (seen <= 0.5 + 1e-6).all() and seen.min() < 0.4 and layers["emission"][~floor].max() > 1.9
    renderer.release()


def test_paths_are_sorted_as_they_are_traced(device) -> None:
    """A new picture with layers of light traces its paths once; one of a film that is there traces them again."""
    renderer = Renderer("cornell", program="path", device=device)
    tried = []
    light = renderer.sampler.light_layers
    renderer.sampler.light_layers = lambda *args: tried.append(1) or light(*args)
    picture = renderer.render((24, 24), spp=3, layers="light")
    assert not tried
    again = renderer.render((24, 24), spp=3, layers="light", film=renderer.render((24, 24), spp=3).film)
    assert tried
    assert all(again.layers[name].tobytes() == picture.layers[name].tobytes() for name in LIGHT_LAYERS)
    renderer.release()


def test_paths_are_sorted_by_a_single_pass_whose_first_hits_are_rays(device, monkeypatch) -> None:
    renderer = Renderer("cornell", program="path", device=device)
    settings, camera = renderer.settings, renderer.camera
    assert renderer.sampler.sorts_light(settings, camera)
    assert not renderer.sampler.sorts_light(settings.replace(eye_rays="shared"), camera)
    monkeypatch.setattr(sampler, "resolved_settings", lambda device, settings: settings.replace(machine="multipass"))
    assert not renderer.sampler.sorts_light(settings, camera)
    renderer.release()


def test_a_matte_wall_under_one_light_is_direct_and_diffuse(device) -> None:
    wall = places.alone(
        places.quads(np.array([[[-3, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]]])), places.material(0.5)
    )
    wall.lights = [Light("point", intensity=(7.0, 7.0, 7.0), position=(0.4, 0.3, 2.0))]
    picture = rendered(device, wall, 1, pixel_filter="point", environment="none")
    origins, directions = picture_rays(wall)
    point = origins - directions * (origins[..., 2] / directions[..., 2])[..., None]
    towards = np.array([0.4, 0.3, 2.0]) - point
    square = (towards**2).sum(-1)
    expected = 0.5 / np.pi * 7.0 * towards[..., 2] / square**1.5
    found = picture.layers
    assert np.abs(found["direct_diffuse"] - expected[..., None]).max() < 2e-5 * expected.max()
    for name in set(LIGHT_LAYERS) - {"direct_diffuse"}:
        assert not found[name].any(), name


def picture_rays(scene: Scene) -> tuple[Any, Any]:
    return scene.camera().rays(*SIZE)


def test_a_furnace_gives_each_lobe_its_albedo(device) -> None:
    """Under an even sky a convex thing's direct layers are what each lobe scatters of it."""
    sky = {"environment": "1,1,1"}
    matte = rendered(device, places.alone(places.sphere(2), places.material(0.3)), 64, **sky).layers
    inside = (slice(8, 16), slice(12, 20))
    assert np.allclose(matte["direct_diffuse"][inside].mean(), 0.3, atol=0.004)
    assert not matte["direct_glossy"].any() and not matte["direct_transmission"].any()
    assert (matte["emission"][0] == 1).all()  # the sky itself
    mirror = Material("mirror", (0.7, 0.7, 0.7, 1.0), kind="mirror")
    found = rendered(device, places.alone(places.sphere(2), mirror), 4, **sky).layers
    assert np.allclose(found["direct_glossy"][inside], 0.7, atol=1e-5) and not found["direct_diffuse"].any()
    polished = Material("polished", (0.3, 0.3, 0.3, 1.0), kind="phong", reflectivity=0.5)
    found = rendered(device, places.alone(places.sphere(2), polished), 64, **sky).layers
    assert found["direct_diffuse"][inside].mean() == pytest.approx(0.3, abs=0.01)
    assert found["direct_glossy"][inside].mean() == pytest.approx(0.5, abs=0.01)
    thin = Material("thin", (1, 1, 1, 1), kind="principled", transmission=1.0, roughness=0.0)
    pane = places.quads(np.array([[[-3, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]]]))
    found = rendered(device, places.alone(pane, thin), 64, **sky).layers
    both = found["direct_glossy"][inside].mean(), found["direct_transmission"][inside].mean()
    assert both[0] == pytest.approx(0.04, abs=0.01) and both[1] == pytest.approx(0.96, abs=0.01)
    assert not found["direct_diffuse"].any()
    plastic = Material("plastic", (0.5, 0.5, 0.5, 1.0), kind="principled", roughness=0.5)
    found = rendered(device, places.alone(places.sphere(2), plastic), 64, **sky).layers
    diffuse, glossy = found["direct_diffuse"][inside].mean(), found["direct_glossy"][inside].mean()
    assert 0.45 < diffuse < 0.5 and 0.03 < glossy < 0.1


def test_indirect_light_is_of_longer_paths(device) -> None:
    """The same as the layers of path lengths, which other runs make."""
    renderer = Renderer(glossy_room(), program="path", device=device, depth=4)
    picture = renderer.render(SIZE, spp=4, layers="light,bounce")
    found = {name: layer.astype(np.float64) for name, layer in picture.layers.items()}
    scale = max(1e-3, picture.linear.max())
    direct, indirect = (sum(found[name] for name in LIGHT_LAYERS if name.startswith(way)) for way in ("direct", "indi"))
    longer = sum(found[f"bounce.{number}"] for number in range(2, 5))
    for own, other in ((found["emission"], found["bounce.0"]), (direct, found["bounce.1"]), (indirect, longer)):
        assert np.abs(own - other).max() < ROUNDING * scale
    renderer.release()


def test_layers_without_light_have_the_picture_s_own_bits(device) -> None:
    renderer = Renderer(raystream.load("cornell"), program="path", device=device)
    plain = renderer.render((24, 24), spp=3)
    assert renderer.render((24, 24), spp=3, layers="all").linear.tobytes() == plain.linear.tobytes()
    renderer.release()


@pytest.mark.parametrize("program", ["cast", "whitted", "shadow", "photon"])
def test_other_programs_have_none(device, program) -> None:
    renderer = Renderer("cornell", program=program, device=device)
    with pytest.raises(ViewerError, match=f"program {program} traces no paths"):
        renderer.render((8, 8), layers="direct_glossy")
    if program == "cast":
        assert "emission" not in renderer.render((8, 8), layers="all").layers
    renderer.release()
